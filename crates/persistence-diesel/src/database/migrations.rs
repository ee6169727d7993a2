//! The schema's history, compiled in for each database.

use diesel::connection::SimpleConnection;
use diesel::migration::{Migration, MigrationSource};
use diesel::pg::Pg;
use diesel::sql_types::Text;
use diesel::sqlite::Sqlite;
use diesel::{PgConnection, QueryResult, RunQueryDsl, SqliteConnection};
use diesel_migrations::{EmbeddedMigrations, MigrationHarness, embed_migrations};

use crate::database::connection::{DatabaseUrl, DbConn};
use crate::query::sql::Sql;

/// For SQLite.
pub const SQLITE: EmbeddedMigrations = embed_migrations!("../../migrations/sqlite");
/// For PostgreSQL.
pub const POSTGRES: EmbeddedMigrations = embed_migrations!("../../migrations/postgresql");

type BoxedError = Box<dyn std::error::Error + Send + Sync>;

/// Brings the schema up to date and names what was done.
pub fn run(conn: &mut DbConn) -> Result<Vec<String>, BoxedError> {
    match conn {
        DbConn::Sqlite(conn) => alone_on_sqlite(conn, |conn| {
            Ok(conn.run_pending_migrations(SQLITE)?.iter().map(ToString::to_string).collect())
        }),
        DbConn::Postgres(conn) => alone_on_postgres(conn, |conn| {
            Ok(conn.run_pending_migrations(POSTGRES)?.iter().map(ToString::to_string).collect())
        }),
    }
}

/// Takes back everything, newest first.
pub fn revert_all(conn: &mut DbConn) -> Result<(), BoxedError> {
    match conn {
        DbConn::Sqlite(conn) => conn.revert_all_migrations(SQLITE).map(drop),
        DbConn::Postgres(conn) => conn.revert_all_migrations(POSTGRES).map(drop),
    }
}

/// The names of what is still to be done.
pub fn pending(conn: &mut DbConn) -> Result<Vec<String>, BoxedError> {
    fn names<DB: diesel::backend::Backend>(found: Vec<Box<dyn Migration<DB>>>) -> Vec<String> {
        found.iter().map(|migration| migration.name().to_string()).collect()
    }
    match conn {
        DbConn::Sqlite(conn) => Ok(names::<Sqlite>(conn.pending_migrations(SQLITE)?)),
        DbConn::Postgres(conn) => Ok(names::<Pg>(conn.pending_migrations(POSTGRES)?)),
    }
}

/// The same for a connection that only reads: diesel's own question makes a table where there is none.
pub(crate) fn missing(conn: &mut DbConn) -> Result<Vec<String>, BoxedError> {
    fn names<DB: diesel::backend::Backend>(
        found: Vec<Box<dyn Migration<DB>>>,
        applied: &[String],
    ) -> Vec<String> {
        let names = found.iter().map(Migration::name);
        let missing = names.filter(|name| !applied.contains(&name.version().to_string()));
        missing.map(ToString::to_string).collect()
    }
    let applied = applied(conn)?;
    match conn {
        DbConn::Sqlite(_) => Ok(names::<Sqlite>(SQLITE.migrations()?, &applied)),
        DbConn::Postgres(_) => Ok(names::<Pg>(POSTGRES.migrations()?, &applied)),
    }
}

/// The versions of those that were applied, oldest first. Unlike diesel's own question this makes no table.
pub(crate) fn applied(conn: &mut DbConn) -> QueryResult<Vec<String>> {
    let query = Sql::new("SELECT version FROM __diesel_schema_migrations ORDER BY version");
    query.rows::<Text>().load(conn)
}

/// The versions of all there are for a database.
pub(crate) fn known(url: &DatabaseUrl) -> Result<Vec<String>, BoxedError> {
    fn versions<DB: diesel::backend::Backend>(found: Vec<Box<dyn Migration<DB>>>) -> Vec<String> {
        found.iter().map(|migration| migration.name().version().to_string()).collect()
    }
    match url {
        DatabaseUrl::Sqlite(_) => Ok(versions::<Sqlite>(SQLITE.migrations()?)),
        DatabaseUrl::Postgres(_) => Ok(versions::<Pg>(POSTGRES.migrations()?)),
    }
}

/// Applies those of these versions to an empty database.
pub(crate) fn run_these(conn: &mut PgConnection, wanted: &[String]) -> Result<(), BoxedError> {
    // Asking makes the table in which they are recorded.
    conn.applied_migrations()?;
    for migration in MigrationSource::<Pg>::migrations(&POSTGRES)? {
        if wanted.contains(&migration.name().version().to_string()) {
            conn.run_migration(&*migration)?;
        }
    }
    Ok(())
}

/// Several processes may start at once on one database: they migrate one after the other.
fn alone_on_sqlite<T>(
    conn: &mut SqliteConnection,
    work: impl FnOnce(&mut SqliteConnection) -> Result<T, BoxedError>,
) -> Result<T, BoxedError> {
    conn.immediate_transaction(work)
}

/// See [`alone_on_sqlite`].
fn alone_on_postgres<T>(
    conn: &mut PgConnection,
    work: impl FnOnce(&mut PgConnection) -> Result<T, BoxedError>,
) -> Result<T, BoxedError> {
    conn.batch_execute("SELECT pg_advisory_lock(7239401)")?;
    let outcome = work(conn);
    conn.batch_execute("SELECT pg_advisory_unlock(7239401)")?;
    outcome
}

/// The names of all migrations for both databases, in their order.
pub fn names() -> Result<(Vec<String>, Vec<String>), BoxedError> {
    let sqlite: Vec<Box<dyn Migration<Sqlite>>> = SQLITE.migrations()?;
    let postgres: Vec<Box<dyn Migration<Pg>>> = POSTGRES.migrations()?;
    Ok((
        sqlite.iter().map(|migration| migration.name().to_string()).collect(),
        postgres.iter().map(|migration| migration.name().to_string()).collect(),
    ))
}
