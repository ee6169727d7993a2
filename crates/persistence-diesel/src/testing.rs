//! Empty stores on real databases, for tests.

mod postgres;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use diesel::connection::SimpleConnection;
use diesel::{Connection, PgConnection, RunQueryDsl};
use hexforge_domain_testing::OpenStore;
use hexforge_domain_testing::fakes::FakeVault;

pub use postgres::DedicatedPostgres;

use crate::DatabaseUrl;
use crate::DieselStore;
use crate::Options;
use crate::database::connection::Role;

/// A separate database for one test. Dropping this value removes it.
pub struct TestDatabase {
    /// The URL of the database.
    pub url: DatabaseUrl,
    _guard: Guard,
}

enum Guard {
    Folder { _folder: tempfile::TempDir },
    Database { server: String, name: String },
}

impl TestDatabase {
    /// Creates an empty SQLite file.
    pub fn sqlite() -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let url = DatabaseUrl::Sqlite(folder.path().join("test.db"));
        Self { url, _guard: Guard::Folder { _folder: folder } }
    }

    /// Creates an SQLite file with the complete schema and no data.
    pub fn migrated_sqlite() -> Self {
        static MIGRATED: OnceLock<Vec<u8>> = OnceLock::new();
        let migrated = MIGRATED.get_or_init(|| {
            let model = Self::sqlite();
            drop(model.open(Options::default()));
            let DatabaseUrl::Sqlite(path) = &model.url else { return Vec::new() };
            std::fs::read(path).expect("a closed database is a file")
        });
        let database = Self::sqlite();
        if let DatabaseUrl::Sqlite(path) = &database.url {
            std::fs::write(path, migrated).expect("the folder is ours");
        }
        database
    }

    /// Creates an empty database on the PostgreSQL server for tests. Without a server it prints a warning and
    /// returns `None`, or panics if `HEXFORGE_REQUIRE_POSTGRES` is set.
    pub fn postgres() -> Option<Self> {
        Self::postgres_from("template1")
    }

    /// Like [`postgres`](Self::postgres), with the complete schema and no data.
    pub fn migrated_postgres() -> Option<Self> {
        static MIGRATED: OnceLock<Option<TestDatabase>> = OnceLock::new();
        let model = MIGRATED.get_or_init(|| {
            let model = Self::postgres()?;
            drop(model.open(Options::default()));
            Some(model)
        });
        match &model.as_ref()?._guard {
            Guard::Database { name, .. } => Self::postgres_from(name),
            Guard::Folder { .. } => None,
        }
    }

    fn postgres_from(model: &str) -> Option<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let server = postgres::server()?;
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("hexforge_test_{}_{number}", std::process::id());
        let admin = server.database("postgres");
        // Copying files is faster than writing them through the WAL. These databases need not survive a crash.
        let copy = format!("CREATE DATABASE {name} TEMPLATE {model} STRATEGY file_copy");
        administer(&admin, &copy);
        let url = DatabaseUrl::Postgres(server.database(&name));
        Some(Self { url, _guard: Guard::Database { server: admin, name } })
    }

    /// Opens the store. If the test gives no vault, it uses one that does not encrypt.
    pub fn open(&self, mut options: Options) -> DieselStore {
        options.vault.get_or_insert_with(|| Arc::new(FakeVault));
        DieselStore::open(&self.url, options).expect("an empty database can be migrated")
    }
}

impl TestDatabase {
    /// Updates the planner statistics of PostgreSQL, which a server does by itself in time. SQLite gathers none by
    /// itself, so it is left alone: measured after an `ANALYZE`, its short reads take twice as long.
    pub fn gather_statistics(&self) {
        match &self.url {
            DatabaseUrl::Sqlite(_) => (),
            DatabaseUrl::Postgres(url) => administer(url, "VACUUM ANALYZE"),
        }
    }

    /// Runs SQL statements, for test data that ports would insert too slowly.
    pub fn execute(&self, statements: &str) {
        let mut conn = self.url.connect(Role::Writer).expect("the database for tests answers");
        if matches!(self.url, DatabaseUrl::Sqlite(_)) {
            // The data need not survive a crash.
            conn.batch_execute("PRAGMA synchronous = OFF").expect("a pragma of SQLite");
        }
        conn.batch_execute(statements).expect("the statements are good");
    }

    /// Returns the number that a query selects.
    pub fn number(&self, query: &str) -> i64 {
        let mut conn = self.url.connect(Role::Reader).expect("the database for tests answers");
        let number = diesel::dsl::sql::<diesel::sql_types::BigInt>(query);
        each_backend!(&mut conn, c => number.get_result(c)).expect("the query is good")
    }

    /// Returns the texts that a query selects.
    pub fn texts(&self, query: &str) -> Vec<String> {
        let mut conn = self.url.connect(Role::Reader).expect("the database for tests answers");
        let texts = diesel::dsl::sql::<diesel::sql_types::Text>(query);
        each_backend!(&mut conn, c => texts.load(c)).expect("the query is good")
    }

    /// Returns the names of all tables with a column of this name, from the database catalogue.
    pub fn tables_with(&self, column: &str) -> Vec<String> {
        self.texts(&match self.url {
            DatabaseUrl::Sqlite(_) => format!(
                "SELECT tables.name FROM sqlite_master AS tables JOIN pragma_table_info(tables.name) AS columns \
                 WHERE tables.type = 'table' AND columns.name = '{column}' ORDER BY tables.name"
            ),
            DatabaseUrl::Postgres(_) => format!(
                "SELECT table_name::text FROM information_schema.columns \
                 WHERE table_schema = current_schema() AND column_name = '{column}' ORDER BY table_name"
            ),
        })
    }

    /// Returns the process ids of the other sessions on this database; none on SQLite.
    pub fn processes(&self) -> Vec<u32> {
        let DatabaseUrl::Postgres(url) = &self.url else { return Vec::new() };
        let mut conn = PgConnection::establish(url).expect("the PostgreSQL for tests answers");
        let pids: Vec<i32> = diesel::dsl::sql::<diesel::sql_types::Integer>(
            "SELECT pid FROM pg_stat_activity \
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        .load(&mut conn)
        .expect("a server knows its processes");
        pids.into_iter().map(i32::unsigned_abs).collect()
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        if let Guard::Database { server, name } = self {
            administer(server, &format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
        }
    }
}

/// Asserts that SQLite's integrity check of a closed file passes.
pub fn assert_sound(url: &DatabaseUrl) {
    if let DatabaseUrl::Sqlite(_) = url {
        let mut conn = url.connect(Role::Reader).expect("the database opens");
        let checked = diesel::dsl::sql::<diesel::sql_types::Text>("PRAGMA integrity_check");
        let found: String = checked.get_result(&mut conn).expect("SQLite can check itself");
        assert_eq!(found, "ok");
    }
}

fn administer(server: &str, statement: &str) {
    let mut conn = PgConnection::establish(server).expect("the PostgreSQL for tests answers");
    conn.batch_execute(statement).expect("the PostgreSQL for tests lets us make databases");
}

/// Opens an empty store on SQLite.
pub fn fresh_sqlite() -> OpenStore {
    let database = TestDatabase::migrated_sqlite();
    OpenStore::guarded(database.open(Options::default()), database)
}

/// Opens an empty store on PostgreSQL; see [`TestDatabase::postgres`].
pub fn fresh_postgres() -> Option<OpenStore> {
    let database = TestDatabase::migrated_postgres()?;
    Some(OpenStore::guarded(database.open(Options::default()), database))
}
