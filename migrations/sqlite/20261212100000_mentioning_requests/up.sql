-- The merge requests that mention an issue are found without a scan of all notes on it.
CREATE INDEX notes_of_issue_by_merge_request ON notes (issue_id, id)
    WHERE issue_id IS NOT NULL AND source_merge_request_id IS NOT NULL;
