//! The differences between SQLite and PostgreSQL that Rust code handles.

use diesel::connection::SimpleConnection;
use diesel::{QueryResult, RunQueryDsl};
use hexforge_domain::ports::store::Mode;

use crate::database::connection::DbConn;

/// Compiles its body once per database, for statements that diesel cannot express for both at once.
macro_rules! each_backend {
    ($conn:expr, $c:ident => $body:expr) => {
        match $conn {
            $crate::database::connection::DbConn::Sqlite($c) => $body,
            $crate::database::connection::DbConn::Postgres($c) => $body,
        }
    };
}

/// The database that a query is built for.
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

/// Begins a transaction. A write transaction on SQLite takes the write lock at once: if it read first, another
/// transaction could write before it gets the lock. A read transaction sees one snapshot on both databases.
/// `Mode::Autocommit` begins no transaction: each statement commits by itself, which saves two of three round trips to
/// PostgreSQL.
pub(crate) fn begin(conn: &mut DbConn, mode: Mode) -> QueryResult<()> {
    match (conn, mode) {
        (DbConn::Sqlite(_) | DbConn::Postgres(_), Mode::Autocommit) => Ok(()),
        (DbConn::Sqlite(conn), Mode::Read) => conn.batch_execute("BEGIN DEFERRED"),
        (DbConn::Sqlite(conn), Mode::Write) => conn.batch_execute("BEGIN IMMEDIATE"),
        (DbConn::Postgres(conn), Mode::Read) => {
            conn.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        }
        (DbConn::Postgres(conn), Mode::Write) => conn.batch_execute("BEGIN"),
    }
}

/// Takes an advisory lock on `name` until the transaction ends. It protects entities that may not have a row yet.
/// SQLite needs no lock because it has one writer at a time.
pub(crate) fn lock_name(conn: &mut DbConn, name: &str) -> QueryResult<()> {
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

/// Like [`lock_name`], but does not wait. Returns false if another transaction holds the lock.
pub(crate) fn try_lock_name(conn: &mut DbConn, name: &str) -> QueryResult<bool> {
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

/// Loads at most one row and locks it until the transaction ends. SQLite needs no row lock because it has one
/// writer at a time.
///
/// On PostgreSQL all transactions lock rows in the same order, so that they cannot deadlock: users (by this macro),
/// namespaces, projects by ascending id, rows that belong to projects, and last the key lock of a user's row, for
/// foreign keys to it or to delete the user.
///
/// By default the lock is `FOR NO KEY UPDATE`: other transactions can still insert foreign keys to the row. A user is
/// locked like this because a transaction that holds a project's lock may record the user as author. Groups and
/// projects are locked with `exclusive` (`FOR UPDATE`), so that renaming them needs no further lock. `skip_locked` does
/// not wait: a row that another transaction holds is treated as missing.
macro_rules! load_locked {
    ($conn:expr, $query:expr, $row:ty) => {
        load_locked!($conn, $query, $row, for_no_key_update)
    };
    ($conn:expr, $query:expr, $row:ty, exclusive) => {
        load_locked!($conn, $query, $row, for_update)
    };
    ($conn:expr, $query:expr, $row:ty, skip_locked) => {
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

/// The end of a query that claims rows of the table alias `task`: each row goes to one transaction, and other
/// transactions skip it. SQLite needs no lock because it has one writer at a time.
pub(crate) fn skip_locked_clause(backend: Backend) -> &'static str {
    match backend {
        Backend::Sqlite => "",
        Backend::Postgres => " FOR UPDATE OF task SKIP LOCKED",
    }
}

/// Returns true if a text contains NUL. PostgreSQL can neither store such a text nor accept it as a parameter, so a
/// search for it finds nothing.
pub(crate) fn contains_nul(text: &str) -> bool {
    text.contains('\0')
}

/// Removes NUL characters from a text that is stored but never searched for.
pub(crate) fn without_nul(text: &str) -> String {
    text.replace('\0', "")
}

/// Returns the `LIKE` pattern that matches `text` anywhere, with wildcards in `text` escaped. Use it on lower-cased
/// columns only: SQLite's `LIKE` ignores ASCII case, PostgreSQL's does not.
pub(crate) fn like_pattern(text: &str) -> String {
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
        assert_eq!(like_pattern(r"50%_a\b"), r"%50\%\_a\\b%");
    }
}
