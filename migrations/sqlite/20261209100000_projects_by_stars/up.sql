CREATE INDEX projects_by_star_count ON projects (star_count, id);
