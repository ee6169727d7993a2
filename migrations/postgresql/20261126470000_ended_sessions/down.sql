DROP INDEX tokens_by_end;
