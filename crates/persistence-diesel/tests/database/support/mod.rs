//! Databases for tests, and connections that bypass the store.

pub mod counted;
pub mod plans;

use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection, SqliteConnection};
use hexforge_persistence_diesel::DatabaseUrl;
use hexforge_persistence_diesel::connection::DbConn;
use hexforge_persistence_diesel::testing::TestDatabase;

/// Creates an empty database of each kind, without PostgreSQL if no server is available.
pub fn databases() -> Vec<TestDatabase> {
    [Some(TestDatabase::sqlite()), TestDatabase::postgres()].into_iter().flatten().collect()
}

/// Opens a connection that bypasses the store.
pub fn connect(url: &DatabaseUrl) -> DbConn {
    match url {
        DatabaseUrl::Sqlite(path) => {
            let path = path.to_str().expect("tests have paths in UTF-8");
            let mut conn = SqliteConnection::establish(path).expect("the folder exists");
            conn.batch_execute("PRAGMA foreign_keys = ON").expect("a known setting");
            DbConn::Sqlite(conn)
        }
        DatabaseUrl::Postgres(url) => {
            DbConn::Postgres(PgConnection::establish(url).expect("the database was just made"))
        }
    }
}
