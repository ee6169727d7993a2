DROP INDEX projects_by_star_count;
