//! A connection to either database, and the URLs that select the database.

use std::fmt;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use diesel::connection::SimpleConnection;
use diesel::result::DatabaseErrorKind;
use diesel::{
    Connection, ConnectionError, ConnectionResult, PgConnection, QueryResult, SqliteConnection,
};

/// SQLite runs a checkpoint within a commit when the WAL has this many pages: 64 MiB. The WAL grows so long only if
/// the thread of `database/checkpoints.rs` fails.
const LONGEST_WAL: i32 = 16 * 1024;

/// A connection to the configured database.
#[derive(diesel::MultiConnection)]
pub enum DbConn {
    /// The embedded database.
    Sqlite(SqliteConnection),
    /// The database server.
    Postgres(PgConnection),
}

/// The location of the database.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    /// A file of the embedded database.
    Sqlite(PathBuf),
    /// The address of a PostgreSQL database, as libpq reads it.
    Postgres(String),
}

/// The error for a URL with an unknown scheme.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a database address is `sqlite:PATH` or `postgres://...`")]
pub struct UnknownDatabase;

impl DatabaseUrl {
    /// Parses a URL. Only its scheme selects the database, so that a mistyped URL never creates a file of that name.
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
                let mut conn = PgConnection::establish(&with_timeouts(url))?;
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

/// Timeouts for a server that does not answer a connection attempt, and for a connection that breaks silently.
/// libpq by default waits as long as the operating system does, which is hours. A parameter in the URL takes
/// precedence.
const POSTGRES_TIMEOUTS: [(&str, &str); 3] =
    [("connect_timeout", "5"), ("tcp_user_timeout", "30000"), ("keepalives_idle", "30")];

/// Adds [`POSTGRES_TIMEOUTS`] to a URL.
fn with_timeouts(url: &str) -> String {
    let (_, parameters) = url.split_once('?').unwrap_or_default();
    let is_given = |name| parameters.split('&').any(|one| one.split('=').next() == Some(name));
    let missing = POSTGRES_TIMEOUTS.iter().filter(|(name, _)| !is_given(*name));
    let missing = missing.map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>();
    let separator = if url.contains('?') { '&' } else { '?' };
    if missing.is_empty() {
        url.to_owned()
    } else {
        format!("{url}{separator}{}", missing.join("&"))
    }
}

/// Omits the password that the URL may contain.
impl fmt::Display for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(f, "sqlite:{}", path.display()),
            Self::Postgres(url) => {
                let (scheme, rest) = url.split_once("://").unwrap_or(("postgres", url));
                // A password may also be a query parameter, so all parameters are omitted.
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

/// Limits the time for locks, for statements and for idle transactions. Parallel workers are off: starting them
/// takes longer than most statements, and there are as many concurrent requests as cores. JIT is off: compiling a
/// statement takes longer than running it.
const POSTGRES_SETTINGS: &str = "SET timezone = 'UTC'; SET client_min_messages = error; \
     SET lock_timeout = '10s'; SET statement_timeout = '60s'; \
     SET idle_in_transaction_session_timeout = '60s'; \
     SET max_parallel_workers_per_gather = 0; SET jit = off;";

/// The error text for a server with translated messages, with the command that fixes it.
const TRANSLATED_MESSAGES: &str = "the PostgreSQL server translates its messages, and this user may not choose their \
     language: as a superuser of PostgreSQL run `ALTER ROLE <user> SET lc_messages = 'C'`";

/// Sets the session to untranslated messages, whatever `lc_messages` the server has. diesel hides the SQLSTATE of
/// deadlocks, lock timeouts and full disks, so `error.rs` needs the fixed text that the locale C gives them.
///
/// Only superusers, and users who were granted it, may change `lc_messages`. The server's refusal is a message too,
/// so its text shows whether the session is untranslated already.
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

/// The use of a connection: reading or writing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Reader,
    Writer,
}

/// Sets the pragmas of a connection. WAL lets readers continue during a write; FULL makes an acknowledged commit
/// survive power loss.
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

/// Switches an empty database to WAL, permanently. The busy timeout does not cover this statement, so when several
/// processes create the database at once, each retries until the lock is free.
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
        assert_eq!(with_timeouts(given), format!("{given}&tcp_user_timeout=30000"));
        assert!(
            with_timeouts("postgres://db/forge")
                .starts_with("postgres://db/forge?connect_timeout=5&")
        );
        assert!(with_timeouts("postgres://connect_timeout/forge").contains("?connect_timeout=5&"));
    }

    #[test]
    fn an_address_is_shown_without_its_password() {
        for url in ["postgres://me:hunter2@db/forge", "postgres://db/forge?password=hunter2"] {
            let url = DatabaseUrl::parse(url).expect("a PostgreSQL address");
            assert_eq!(format!("{url} {url:?}"), "postgres://db/forge postgres://db/forge");
        }
    }
}
