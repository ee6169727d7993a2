//! One connection to either database, and the addresses by which they are chosen.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::result::DatabaseErrorKind;
use diesel::{
    Connection, ConnectionError, ConnectionResult, PgConnection, QueryResult, SqliteConnection,
};

/// The length of the WAL in pages, from which on SQLite runs a checkpoint within a commit: 64 MiB. The WAL gets so long
/// only if the thread of `database/checkpoints.rs` fails.
const LONGEST_WAL: i32 = 16 * 1024;

/// A connection to whichever database was chosen.
#[derive(diesel::MultiConnection)]
pub enum DbConn {
    /// The embedded database.
    Sqlite(SqliteConnection),
    /// The database server.
    Postgres(PgConnection),
}

/// Where the data is.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file of the embedded database.
    Sqlite(PathBuf),
    /// The address of a PostgreSQL database, as libpq reads it.
    Postgres(String),
}

/// An address of no database we know.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a database address is `sqlite:PATH` or `postgres://...`")]
pub struct UnknownDatabase;

impl DatabaseUrl {
    /// Chooses the database by the scheme and by nothing else, so that a mistyped address never
    /// becomes a file of that name.
    pub fn parse(url: &str) -> Result<Self, UnknownDatabase> {
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("//").unwrap_or(path);
            return if path.is_empty() {
                Err(UnknownDatabase)
            } else {
                Ok(Self::Sqlite(path.into()))
            };
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Self::Postgres(url.to_owned()));
        }
        Err(UnknownDatabase)
    }

    pub(crate) fn connect(&self, role: Role) -> ConnectionResult<DbConn> {
        match self {
            Self::Sqlite(path) => {
                let path = path.to_str().ok_or_else(|| {
                    ConnectionError::BadConnection("the path of the database is not UTF-8".into())
                })?;
                let mut conn = SqliteConnection::establish(path)?;
                set_up_sqlite(&mut conn, role)
                    .map_err(ConnectionError::CouldntSetupConfiguration)?;
                Ok(DbConn::Sqlite(conn))
            }
            Self::Postgres(url) => {
                let mut conn = PgConnection::establish(&patient(url))?;
                require_untranslated_messages(&mut conn)?;
                let set_up = conn.batch_execute(POSTGRES_SETTINGS).and_then(|()| match role {
                    Role::Reader => conn.batch_execute("SET default_transaction_read_only = on"),
                    Role::Writer => Ok(()),
                });
                set_up.map_err(ConnectionError::CouldntSetupConfiguration)?;
                Ok(DbConn::Postgres(conn))
            }
        }
    }
}

/// What libpq would wait for as long as the system does, which is hours: a server that does not answer when it is
/// called, and one that is gone without a word. Whoever wrote the address may know better.
const POSTGRES_TIMEOUTS: [(&str, &str); 3] =
    [("connect_timeout", "5"), ("tcp_user_timeout", "30000"), ("keepalives_idle", "30")];

fn patient(url: &str) -> String {
    let mut url = url.to_owned();
    for (name, value) in POSTGRES_TIMEOUTS {
        if !url.contains(name) {
            url.push(if url.contains('?') { '&' } else { '?' });
            url.push_str(&format!("{name}={value}"));
        }
    }
    url
}

/// Never shows the password that an address may carry.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => {
                let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
                // A password may also be given as a parameter, so none is shown.
                let rest = rest.split_once('?').map_or(rest, |(before, _)| before);
                let rest = rest.rsplit_once('@').map_or(rest, |(_, after)| after);
                write!(f, "{scheme}://{rest}")
            }
        }
    }
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Nobody waits for ever: not for a lock, not for a statement, not for a caller of ours that hangs. One
/// statement works on one core: starting more takes longer than all but the longest of them, and there
/// are as many requests at once as there are cores. Compiling a statement takes longer than running it.
const POSTGRES_SETTINGS: &str = "SET timezone = 'UTC'; SET client_min_messages = error; \
     SET lock_timeout = '10s'; SET statement_timeout = '60s'; \
     SET idle_in_transaction_session_timeout = '60s'; \
     SET max_parallel_workers_per_gather = 0; SET jit = off;";

/// Why a connection to a server with translated messages is refused, and what to do about it.
const TRANSLATED_MESSAGES: &str = "the PostgreSQL server translates its messages, and this user may not choose their \
     language: as a superuser of PostgreSQL run `ALTER ROLE <user> SET lc_messages = 'C'`";

/// Sets the session to untranslated messages, whatever `lc_messages` the server has. diesel hides the SQLSTATE of
/// deadlocks, lock timeouts and full disks, so `error.rs` needs the fixed text that the locale C gives them.
///
/// Only superusers, and users who were granted it, may change `lc_messages`. The refusal is a message of the server
/// too, so its text shows whether the session is untranslated already.
fn require_untranslated_messages(conn: &mut PgConnection) -> ConnectionResult<()> {
    match conn.batch_execute("SET lc_messages = 'C'") {
        Ok(()) => Ok(()),
        Err(diesel::result::Error::DatabaseError(DatabaseErrorKind::Unknown, info)) => {
            if info.message().starts_with("permission denied to set parameter") {
                Ok(())
            } else {
                Err(ConnectionError::BadConnection(TRANSLATED_MESSAGES.into()))
            }
        }
        Err(error) => Err(ConnectionError::CouldntSetupConfiguration(error)),
    }
}

/// What a connection is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Reader,
    Writer,
}

/// WAL lets readers go on while one writes; FULL makes an acknowledged commit survive power loss.
fn set_up_sqlite(conn: &mut SqliteConnection, role: Role) -> QueryResult<()> {
    conn.batch_execute("PRAGMA busy_timeout = 5000; PRAGMA foreign_keys = ON;")?;
    match role {
        Role::Reader => conn.batch_execute("PRAGMA query_only = ON;"),
        Role::Writer => {
            enter_wal(conn)?;
            let limit = format!("PRAGMA wal_autocheckpoint = {LONGEST_WAL};");
            conn.batch_execute(&format!("PRAGMA synchronous = FULL; {limit}"))
        }
    }
}

/// Switches an empty database to WAL, which it then stays in. The busy time-out does not cover this
/// statement, so when several processes make the database at once, each tries until it is its turn.
fn enter_wal(conn: &mut SqliteConnection) -> QueryResult<()> {
    let deadline = Instant::now() + Duration::from_secs(5);
    loop {
        match conn.batch_execute("PRAGMA journal_mode = WAL;") {
            Err(diesel::result::Error::DatabaseError(_, info))
                if info.message().contains("locked") && Instant::now() < deadline =>
            {
                std::thread::sleep(Duration::from_millis(10));
            }
            outcome => return outcome,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scheme_chooses_the_database() {
        for (url, expected) in [
            ("sqlite:data/x.db", Ok(DatabaseUrl::Sqlite("data/x.db".into()))),
            ("sqlite:/var/x.db", Ok(DatabaseUrl::Sqlite("/var/x.db".into()))),
            ("sqlite:///var/x.db", Ok(DatabaseUrl::Sqlite("/var/x.db".into()))),
            ("postgres://h/d", Ok(DatabaseUrl::Postgres("postgres://h/d".into()))),
            ("postgresql://h/d", Ok(DatabaseUrl::Postgres("postgresql://h/d".into()))),
            ("postgres:x", Err(UnknownDatabase)),
            ("mysql://h/d", Err(UnknownDatabase)),
            ("sqlite:", Err(UnknownDatabase)),
            ("", Err(UnknownDatabase)),
        ] {
            assert_eq!(DatabaseUrl::parse(url), expected, "{url}");
        }
    }

    #[test]
    fn nobody_waits_for_ever_for_a_server() {
        let given = "postgres://db/forge?connect_timeout=1&keepalives_idle=9";
        assert_eq!(patient(given), format!("{given}&tcp_user_timeout=30000"));
        assert!(
            patient("postgres://db/forge").starts_with("postgres://db/forge?connect_timeout=5&")
        );
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for url in ["postgres://me:hunter2@db/forge", "postgres://db/forge?password=hunter2"] {
            let url = DatabaseUrl::parse(url).expect("a PostgreSQL address");
            assert_eq!(format!("{url} {url:?}"), "postgres://db/forge postgres://db/forge");
        }
    }
}
