//! Everything that differs between the two databases and can be said in Rust.

use diesel::connection::SimpleConnection;
use diesel::{QueryResult, RunQueryDsl};
use hexforge_domain::ports::store::Mode;

use crate::database::connection::DbConn;

/// Compiles its body once per database, for statements that cannot be written for both at once.
macro_rules! each_backend {
    ($conn:expr, $c:ident => $body:expr) => {
        match $conn {
            $crate::database::connection::DbConn::Sqlite($c) => $body,
            $crate::database::connection::DbConn::Postgres($c) => $body,
        }
    };
}

/// Which of the databases it is, for queries that are put together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Backend {
    Sqlite,
    Postgres,
}

impl Backend {
    pub fn of(conn: &DbConn) -> Self {
        match conn {
            DbConn::Sqlite(_) => Self::Sqlite,
            DbConn::Postgres(_) => Self::Postgres,
        }
    }
}

/// Begins a transaction. A writer on SQLite takes its lock at once: one that first reads and then
/// writes could find that somebody else wrote in between. A reader sees one state on both. For a glance each
/// statement is a transaction by itself, which on PostgreSQL spares two of three times to ask and wait.
pub(crate) fn begin(conn: &mut DbConn, mode: Mode) -> QueryResult<()> {
    match (conn, mode) {
        (DbConn::Sqlite(_) | DbConn::Postgres(_), Mode::Glance) => Ok(()),
        (DbConn::Sqlite(conn), Mode::Read) => conn.batch_execute("BEGIN DEFERRED"),
        (DbConn::Sqlite(conn), Mode::Write) => conn.batch_execute("BEGIN IMMEDIATE"),
        (DbConn::Postgres(conn), Mode::Read) => {
            conn.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        }
        (DbConn::Postgres(conn), Mode::Write) => conn.batch_execute("BEGIN"),
    }
}

/// Keeps others from holding the same name until the transaction ends: a lock for what may not have a
/// row yet. SQLite has one writer at a time anyway.
pub(crate) fn hold(conn: &mut DbConn, name: &str) -> QueryResult<()> {
    match conn {
        DbConn::Sqlite(_) => Ok(()),
        DbConn::Postgres(conn) => {
            diesel::sql_query("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))")
                .bind::<diesel::sql_types::Text, _>(name)
                .execute(conn)
                .map(drop)
        }
    }
}

/// Like [`hold`], but without waiting: answers whether nobody else holds the name.
pub(crate) fn try_hold(conn: &mut DbConn, name: &str) -> QueryResult<bool> {
    match conn {
        DbConn::Sqlite(_) => Ok(true),
        DbConn::Postgres(conn) => {
            let held = diesel::dsl::sql::<diesel::sql_types::Bool>(
                "SELECT pg_try_advisory_xact_lock(hashtextextended(",
            );
            held.bind::<diesel::sql_types::Text, _>(name).sql(", 0))").get_result(conn)
        }
    }
}

/// Loads at most one row so that nobody else changes it before the transaction ends. SQLite has one
/// writer at a time, so there the row is safe as it is.
///
/// On PostgreSQL rows are locked in one order, so that no two transactions wait for each other:
/// users with this, namespaces, projects from the lowest id to the highest, what hangs on projects,
/// and last what a row of a user needs that others refer to. A user is locked so that others may still
/// refer to it: whoever holds a project may write down who did something there. A group or project is
/// locked against that too: whoever then gives it another name needs nothing more.
macro_rules! load_locked {
    ($conn:expr, $query:expr, $row:ty) => {
        load_locked!($conn, $query, $row, for_no_key_update)
    };
    ($conn:expr, $query:expr, $row:ty, alone) => {
        load_locked!($conn, $query, $row, for_update)
    };
    ($conn:expr, $query:expr, $row:ty, in_passing) => {
        match $conn {
            $crate::database::connection::DbConn::Sqlite(c) => {
                $query.get_result::<$row>(c).optional()
            }
            $crate::database::connection::DbConn::Postgres(c) => {
                $query.for_no_key_update().skip_locked().get_result::<$row>(c).optional()
            }
        }
    };
    ($conn:expr, $query:expr, $row:ty, $lock:ident) => {
        match $conn {
            $crate::database::connection::DbConn::Sqlite(c) => {
                $query.get_result::<$row>(c).optional()
            }
            $crate::database::connection::DbConn::Postgres(c) => {
                $query.$lock().get_result::<$row>(c).optional()
            }
        }
    };
}

/// The end of a query for rows called `task` of which each goes to one transaction: others pass over it.
/// SQLite has one writer at a time anyway.
pub(crate) fn skipping_locked(backend: Backend) -> &'static str {
    match backend {
        Backend::Sqlite => "",
        Backend::Postgres => " FOR UPDATE OF task SKIP LOCKED",
    }
}

/// Whether a text cannot be stored, and so cannot be found: PostgreSQL has no NUL in its texts and
/// fails when asked for one.
pub(crate) fn unstorable(text: &str) -> bool {
    text.contains('\0')
}

/// The text without what makes it unstorable, for what nobody has to find again.
pub(crate) fn storable(text: &str) -> String {
    text.replace('\0', "")
}

/// The pattern that finds `text` anywhere, with nothing in it standing for anything else. To be used
/// on lower-cased columns only: SQLite's `LIKE` ignores the case of ASCII, PostgreSQL's does not.
pub(crate) fn containing(text: &str) -> String {
    let mut pattern = String::with_capacity(text.len() + 2);
    pattern.push('%');
    for c in text.chars() {
        if matches!(c, '%' | '_' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
    pattern.push('%');
    pattern
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_every_character_literally() {
        assert_eq!(containing(r"50%_a\b"), r"%50\%\_a\\b%");
    }
}
