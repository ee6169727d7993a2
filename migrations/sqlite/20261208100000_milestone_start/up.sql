-- The date on which work on a milestone starts.
ALTER TABLE milestones ADD COLUMN start_date DATE;
