//! Translation of driver errors into errors of the port.
//!
//! diesel recognises constraint violations, serialization failures and closed connections by SQLSTATE, and names the
//! violated constraint. It hides every other SQLSTATE; those errors are recognised by their untranslated text, which
//! each connection is set to (`require_untranslated_messages` in `connection.rs`). SQLite never translates its texts.

use diesel::result::{DatabaseErrorInformation, DatabaseErrorKind, Error as DieselError};
use hexforge_domain::ports::store::StoreError;

/// The unique constraints: name on SQLite, name on PostgreSQL, field name in the ports.
const UNIQUE: [(&str, &str, &str); 41] = [
    ("users.username", "users_username_key", "username"),
    ("users.email", "users_email_key", "email"),
    ("emails.email", "emails_email_key", "email"),
    ("namespaces.path_folded", "namespaces_path_folded_key", "path"),
    (
        "identities.provider, identities.extern_uid",
        "identities_provider_extern_uid_key",
        "extern_uid",
    ),
    ("identities.user_id, identities.provider", "identities_user_id_provider_key", "provider"),
    ("keys.fingerprint", "keys_fingerprint_key", "fingerprint"),
    ("tokens.hash", "tokens_hash_key", "token"),
    ("browser_sessions.hash", "browser_sessions_hash_key", "token"),
    ("namespaces.name", "groups_name", "name"),
    ("group_members.group_id, group_members.user_id", "group_members_pkey", "member"),
    ("project_members.project_id, project_members.user_id", "project_members_pkey", "member"),
    (
        "access_requests.group_id, access_requests.user_id",
        "access_requests_group_id_user_id_key",
        "access request",
    ),
    (
        "access_requests.project_id, access_requests.user_id",
        "access_requests_project_id_user_id_key",
        "access request",
    ),
    ("projects.namespace_id, projects.name", "projects_namespace_id_name_key", "name"),
    (
        "projects.namespace_id, projects.path_folded",
        "projects_namespace_id_path_folded_key",
        "path",
    ),
    (
        "project_shares.project_id, project_shares.group_id",
        "project_shares_project_id_group_id_key",
        "share",
    ),
    ("releases.project_id, releases.tag", "releases_pkey", "tag"),
    ("labels.project_id, labels.title", "labels_project_id_title_key", "title"),
    ("group_labels.group_id, group_labels.title", "group_labels_group_id_title_key", "title"),
    ("milestones.project_id, milestones.title", "milestones_project_id_title_key", "title"),
    ("notes.source_issue_id, notes.issue_id", "notes_on_issue_by_issue", "source"),
    ("notes.source_issue_id, notes.merge_request_id", "notes_on_merge_request_by_issue", "source"),
    (
        "notes.source_issue_id, notes.project_id, notes.commit_id",
        "notes_on_commit_by_issue",
        "source",
    ),
    ("notes.source_merge_request_id, notes.issue_id", "notes_on_issue_by_merge_request", "source"),
    (
        "notes.source_merge_request_id, notes.merge_request_id",
        "notes_on_merge_request_by_merge_request",
        "source",
    ),
    (
        "notes.source_merge_request_id, notes.project_id, notes.commit_id",
        "notes_on_commit_by_merge_request",
        "source",
    ),
    (
        "notes.source_commit, notes.source_project_id, notes.issue_id",
        "notes_on_issue_by_commit",
        "source",
    ),
    (
        "notes.source_commit, notes.source_project_id, notes.merge_request_id",
        "notes_on_merge_request_by_commit",
        "source",
    ),
    (
        "notes.source_commit, notes.source_project_id, notes.project_id, notes.commit_id",
        "notes_on_commit_by_commit",
        "source",
    ),
    ("awards.issue_id, awards.name, awards.user_id", "awards_issue_id_name_user_id_key", "award"),
    ("awards.merge_request_id, awards.name, awards.user_id", "awards_of_merge_request", "award"),
    ("awards.note_id, awards.name, awards.user_id", "awards_of_note", "award"),
    ("boards.project_id", "boards_project_id_key", "board"),
    ("board_lists.board_id, board_lists.label_id", "board_lists_label", "label_id"),
    ("runners_tokens.proof", "runners_tokens_proof_key", "runners_token"),
    ("variables.project_id, variables.key", "variables_project_id_key_key", "key"),
    ("services.project_id, services.name", "services_project_id_name_key", "service"),
    ("environments.project_id, environments.name", "environments_project_id_name_key", "name"),
    (
        "environments.project_id, environments.external_url",
        "environments_project_id_external_url_key",
        "external_url",
    ),
    ("awards.snippet_id, awards.name, awards.user_id", "awards_of_snippet", "award"),
];

/// Translates a driver error. Every driver error that leaves this crate passes through this function.
pub(crate) fn translate(error: DieselError) -> StoreError {
    match error {
        DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, info) => {
            match duplicate_field(&*info) {
                Some(field) => StoreError::Duplicate(field),
                None => {
                    failed(DieselError::DatabaseError(DatabaseErrorKind::UniqueViolation, info))
                }
            }
        }
        DieselError::DatabaseError(DatabaseErrorKind::ForeignKeyViolation, _) => StoreError::Gone,
        DieselError::DatabaseError(DatabaseErrorKind::SerializationFailure, _) => StoreError::Busy,
        DieselError::DatabaseError(DatabaseErrorKind::Unknown, info) if is_busy(&*info) => {
            StoreError::Busy
        }
        DieselError::DatabaseError(DatabaseErrorKind::Unknown, info) if is_full(&*info) => {
            StoreError::Full(info.message().into())
        }
        DieselError::DatabaseError(
            DatabaseErrorKind::ClosedConnection | DatabaseErrorKind::UnableToSendCommand,
            info,
        ) => StoreError::Unreachable(info.message().into()),
        DieselError::DatabaseError(DatabaseErrorKind::Unknown, info)
            if is_shutting_down(&*info) =>
        {
            StoreError::Unreachable(info.message().into())
        }
        error @ DieselError::BrokenTransactionManager => StoreError::Unreachable(Box::new(error)),
        error => failed(error),
    }
}

/// Recognises deadlocks (SQLSTATE 40P01), lock timeouts (55P03), and a locked SQLite database.
fn is_busy(info: &(dyn DatabaseErrorInformation + Send + Sync)) -> bool {
    let message = info.message();
    ["deadlock detected", "due to lock timeout", "database is locked"]
        .iter()
        .any(|words| message.contains(words))
}

/// Recognises a full disk or quota (SQLSTATE 53100 on PostgreSQL).
fn is_full(info: &(dyn DatabaseErrorInformation + Send + Sync)) -> bool {
    let message = info.message();
    ["database or disk is full", "No space left on device", "Disk quota exceeded"]
        .iter()
        .any(|words| message.contains(words))
}

/// Recognises a server that is shutting down (SQLSTATE 57P01 to 57P03) and has not closed the connection yet.
fn is_shutting_down(info: &(dyn DatabaseErrorInformation + Send + Sync)) -> bool {
    let message = info.message();
    ["terminating connection", "the database system is", "server closed the connection"]
        .iter()
        .any(|words| message.contains(words))
}

fn failed(error: DieselError) -> StoreError {
    StoreError::Failed(Box::new(error))
}

/// Returns the field whose unique constraint was violated.
fn duplicate_field(info: &(dyn DatabaseErrorInformation + Send + Sync)) -> Option<&'static str> {
    let constraint = info.constraint_name();
    let columns = info.message().strip_prefix("UNIQUE constraint failed: ");
    UNIQUE
        .iter()
        .find(|(sqlite, postgres, _)| columns == Some(sqlite) || constraint == Some(postgres))
        .map(|(_, _, field)| *field)
}
