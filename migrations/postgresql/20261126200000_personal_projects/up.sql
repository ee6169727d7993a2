-- How many projects a user has in the own namespace, kept with each change. Of groups nobody asks for it.
ALTER TABLE namespaces ADD COLUMN personal_projects BIGINT NOT NULL DEFAULT 0;
UPDATE namespaces SET personal_projects = (SELECT count(*) FROM projects WHERE projects.namespace_id = namespaces.id)
WHERE owner_id IS NOT NULL;
CREATE FUNCTION count_personal_projects() RETURNS TRIGGER LANGUAGE plpgsql AS $$
BEGIN
    IF tg_op = 'UPDATE' THEN
        -- In the order of their ids, so that no two moves wait for each other.
        PERFORM 1 FROM namespaces WHERE id IN (old.namespace_id, new.namespace_id) AND owner_id IS NOT NULL
            ORDER BY id FOR NO KEY UPDATE;
    END IF;
    IF tg_op <> 'INSERT' THEN
        UPDATE namespaces SET personal_projects = personal_projects - 1
        WHERE id = old.namespace_id AND owner_id IS NOT NULL;
    END IF;
    IF tg_op <> 'DELETE' THEN
        UPDATE namespaces SET personal_projects = personal_projects + 1
        WHERE id = new.namespace_id AND owner_id IS NOT NULL;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER personal_projects AFTER INSERT OR DELETE ON projects
    FOR EACH ROW EXECUTE FUNCTION count_personal_projects();
CREATE TRIGGER personal_projects_move AFTER UPDATE OF namespace_id ON projects
    FOR EACH ROW WHEN (old.namespace_id <> new.namespace_id) EXECUTE FUNCTION count_personal_projects();
