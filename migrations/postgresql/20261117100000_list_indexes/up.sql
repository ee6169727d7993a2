-- Goes up with everything that decides which projects and groups are in a list, so a total is exact as long
-- as the sum of these stands still. Each connection counts in a row of its own, so that nobody waits for another.
CREATE TABLE list_changes (
    writer BIGINT PRIMARY KEY,
    changes BIGINT NOT NULL
);
CREATE FUNCTION count_list_change() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO list_changes (writer, changes) VALUES (pg_backend_pid(), 1)
    ON CONFLICT (writer) DO UPDATE SET changes = list_changes.changes + 1;
    RETURN NULL;
END $$;
CREATE TRIGGER list_changes AFTER INSERT OR DELETE OR UPDATE OF namespace_id, visibility_level, archived, search_text
    ON projects
    FOR EACH STATEMENT EXECUTE FUNCTION count_list_change();
CREATE TRIGGER list_changes AFTER INSERT OR DELETE OR UPDATE OF name_folded, path_folded, owner_id, visibility_level, share_with_group_lock
    ON namespaces
    FOR EACH STATEMENT EXECUTE FUNCTION count_list_change();
CREATE TRIGGER list_changes AFTER INSERT OR DELETE OR UPDATE ON group_members
    FOR EACH STATEMENT EXECUTE FUNCTION count_list_change();
CREATE TRIGGER list_changes AFTER INSERT OR DELETE OR UPDATE ON project_members
    FOR EACH STATEMENT EXECUTE FUNCTION count_list_change();
CREATE TRIGGER list_changes AFTER INSERT OR DELETE OR UPDATE ON project_shares
    FOR EACH STATEMENT EXECUTE FUNCTION count_list_change();

-- All parts of one or two letters of what a search looks through, kept apart from the rows, since those change
-- more often.
CREATE FUNCTION short_parts(whole TEXT) RETURNS TEXT[]
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
    SELECT coalesce(array_agg(DISTINCT part COLLATE "C"), ARRAY[]::text[]) FROM (
        SELECT letter AS part FROM unnest(string_to_array(whole, NULL)) AS letter
        UNION ALL
        SELECT letter || lead(letter) OVER (ORDER BY place)
        FROM unnest(string_to_array(whole, NULL)) WITH ORDINALITY AS letters (letter, place)
    ) AS parts
    WHERE part IS NOT NULL
$$;

CREATE TABLE projects_search_parts (
    id BIGINT PRIMARY KEY REFERENCES projects (id) ON DELETE CASCADE,
    parts TEXT[] NOT NULL
);
INSERT INTO projects_search_parts (id, parts) SELECT id, short_parts(search_text) FROM projects;
CREATE INDEX projects_by_search_parts ON projects_search_parts USING gin (parts);
CREATE FUNCTION keep_project_parts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO projects_search_parts (id, parts) VALUES (new.id, short_parts(new.search_text))
    ON CONFLICT (id) DO UPDATE SET parts = excluded.parts;
    RETURN NULL;
END $$;
CREATE TRIGGER search_parts_insert AFTER INSERT ON projects
    FOR EACH ROW EXECUTE FUNCTION keep_project_parts();
CREATE TRIGGER search_parts_update AFTER UPDATE OF search_text ON projects
    FOR EACH ROW WHEN (old.search_text <> new.search_text) EXECUTE FUNCTION keep_project_parts();

CREATE TABLE namespaces_search_parts (
    id BIGINT PRIMARY KEY REFERENCES namespaces (id) ON DELETE CASCADE,
    name_parts TEXT[] NOT NULL,
    path_parts TEXT[] NOT NULL
);
INSERT INTO namespaces_search_parts (id, name_parts, path_parts)
SELECT id, short_parts(name_folded), short_parts(path_folded) FROM namespaces;
CREATE INDEX namespaces_by_search_parts ON namespaces_search_parts
    USING gin (name_parts, path_parts);
CREATE FUNCTION keep_namespace_parts() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    INSERT INTO namespaces_search_parts (id, name_parts, path_parts)
    VALUES (new.id, short_parts(new.name_folded), short_parts(new.path_folded))
    ON CONFLICT (id) DO UPDATE
        SET name_parts = excluded.name_parts, path_parts = excluded.path_parts;
    RETURN NULL;
END $$;
CREATE TRIGGER search_parts_insert AFTER INSERT ON namespaces
    FOR EACH ROW EXECUTE FUNCTION keep_namespace_parts();
CREATE TRIGGER search_parts_update AFTER UPDATE OF name_folded, path_folded ON namespaces
    FOR EACH ROW
    WHEN (old.name_folded <> new.name_folded OR old.path_folded <> new.path_folded)
    EXECUTE FUNCTION keep_namespace_parts();
