//! The schema migrations of each database, embedded in the binary.

use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::sql_types::Text;
use diesel::sqlite::Sqlite;
use diesel::{PgConnection, QueryResult, RunQueryDsl, SqliteConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::database::connection::{DatabaseUrl, DbConn};
use crate::query::sql::Sql;

/// The migrations for SQLite.
pub const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");
/// The migrations for PostgreSQL.
pub const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgresql");

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// Applies pending migrations and returns their names.
pub fn run(conn: &mut DbConn) -> Result<Vec<String>, BoxedError> {
    match conn {
        DbConn::Sqlite(conn) => with_sqlite_lock(conn, |conn| {
            Ok(conn.run_pending_migrations(SQLITE)?.iter().map(ToString::to_string).collect())
        }),
        DbConn::Postgres(conn) => with_postgres_lock(conn, |conn| {
            Ok(conn.run_pending_migrations(POSTGRES)?.iter().map(ToString::to_string).collect())
        }),
    }
}

/// Reverts all migrations, newest first.
pub fn revert_all(conn: &mut DbConn) -> Result<(), BoxedError> {
    match conn {
        DbConn::Sqlite(conn) => conn.revert_all_migrations(SQLITE).map(drop),
        DbConn::Postgres(conn) => conn.revert_all_migrations(POSTGRES).map(drop),
    }
}

/// Returns the names of the migrations that are not applied yet.
pub fn pending(conn: &mut DbConn) -> Result<Vec<String>, BoxedError> {
    fn names<DB: diesel::backend::Backend>(found: Vec<Box<dyn Migration<DB>>>) -> Vec<String> {
        found.iter().map(|migration| migration.name().to_string()).collect()
    }
    match conn {
        DbConn::Sqlite(conn) => Ok(names::<Sqlite>(conn.pending_migrations(SQLITE)?)),
        DbConn::Postgres(conn) => Ok(names::<Pg>(conn.pending_migrations(POSTGRES)?)),
    }
}

/// Like [`pending`], for a read-only connection. diesel's own query, which [`pending`] uses, would create the
/// migrations table if it is missing.
pub(crate) fn pending_read_only(conn: &mut DbConn) -> Result<Vec<String>, BoxedError> {
    fn names<DB: diesel::backend::Backend>(
        found: Vec<Box<dyn Migration<DB>>>,
        applied: &[String],
    ) -> Vec<String> {
        let names = found.iter().map(Migration::name);
        let missing = names.filter(|name| !applied.contains(&name.version().to_string()));
        missing.map(ToString::to_string).collect()
    }
    let applied = applied_versions(conn)?;
    match conn {
        DbConn::Sqlite(_) => Ok(names::<Sqlite>(SQLITE.migrations()?, &applied)),
        DbConn::Postgres(_) => Ok(names::<Pg>(POSTGRES.migrations()?, &applied)),
    }
}

/// Returns the versions of the applied migrations, oldest first. Unlike diesel's own query it creates no table.
pub(crate) fn applied_versions(conn: &mut DbConn) -> QueryResult<Vec<String>> {
    let query = Sql::new("SELECT version FROM __diesel_schema_migrations ORDER BY version");
    query.rows::<Text>().load(conn)
}

/// Returns the versions of all embedded migrations for a database.
pub(crate) fn embedded_versions(url: &DatabaseUrl) -> Result<Vec<String>, BoxedError> {
    fn versions<DB: diesel::backend::Backend>(found: Vec<Box<dyn Migration<DB>>>) -> Vec<String> {
        found.iter().map(|migration| migration.name().version().to_string()).collect()
    }
    match url {
        DatabaseUrl::Sqlite(_) => Ok(versions::<Sqlite>(SQLITE.migrations()?)),
        DatabaseUrl::Postgres(_) => Ok(versions::<Pg>(POSTGRES.migrations()?)),
    }
}

/// Applies the migrations with these versions to an empty database.
pub(crate) fn run_versions(conn: &mut PgConnection, wanted: &[String]) -> Result<(), BoxedError> {
    // This query creates the table that records applied migrations.
    conn.applied_migrations()?;
    for migration in MigrationSource::<Pg>::migrations(&POSTGRES)? {
        if wanted.contains(&migration.name().version().to_string()) {
            conn.run_migration(&*migration)?;
        }
    }
    Ok(())
}

/// Runs `work` under a database-wide lock, so that processes that start at once migrate one after the other.
fn with_sqlite_lock<T>(
    conn: &mut SqliteConnection,
    work: impl FnOnce(&mut SqliteConnection) -> Result<T, BoxedError>,
) -> Result<T, BoxedError> {
    conn.immediate_transaction(work)
}

/// See [`with_sqlite_lock`].
fn with_postgres_lock<T>(
    conn: &mut PgConnection,
    work: impl FnOnce(&mut PgConnection) -> Result<T, BoxedError>,
) -> Result<T, BoxedError> {
    conn.batch_execute("SELECT pg_advisory_lock(7239401)")?;
    let outcome = work(conn);
    let unlocked = conn.batch_execute("SELECT pg_advisory_unlock(7239401)");
    // An error of the work says more than one of the unlock that follows it.
    outcome.and_then(|done| unlocked.map(|()| done).map_err(BoxedError::from))
}

/// Returns the names of all migrations of SQLite and of PostgreSQL, in order.
pub fn names() -> Result<(Vec<String>, Vec<String>), BoxedError> {
    let sqlite: Vec<Box<dyn Migration<Sqlite>>> = SQLITE.migrations()?;
    let postgres: Vec<Box<dyn Migration<Pg>>> = POSTGRES.migrations()?;
    Ok((
        sqlite.iter().map(|migration| migration.name().to_string()).collect(),
        postgres.iter().map(|migration| migration.name().to_string()).collect(),
    ))
}
