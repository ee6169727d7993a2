ALTER TABLE milestones DROP COLUMN start_date;
