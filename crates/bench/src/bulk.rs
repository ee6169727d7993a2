//! Very many rows: one statement each, in which the database counts by itself.

use hexforge_persistence_diesel::DatabaseUrl;
use hexforge_persistence_diesel::testing::TestDatabase;

use super::progress::Bar;

/// Rows in one statement.
const ROWS: usize = 100_000;

/// Tables that get ids of ours, so that the next ones of PostgreSQL come after them.
const NUMBERED: [&str; 10] = [
    "users",
    "namespaces",
    "projects",
    "labels",
    "issues",
    "events",
    "notes",
    "pipelines",
    "build_definitions",
    "builds",
];

/// Writes to one database. Nothing is checked on the way: what is written has to be right.
pub struct Bulk<'a>(pub &'a TestDatabase);

impl Bulk<'_> {
    /// Adds `count` rows. `values` are expressions in which `i` counts from 0.
    pub fn rows(&self, table: &str, columns: &str, count: usize, values: &str) {
        let mut bar = Bar::new(&format!("rows of {table}"), count);
        for start in (0..count).step_by(ROWS) {
            let last = (start + ROWS).min(count) - 1;
            self.execute(&format!(
                "INSERT INTO {table} ({columns}) \
                 WITH RECURSIVE numbers (i) AS ( \
                     SELECT CAST({start} AS BIGINT) UNION ALL SELECT i + 1 FROM numbers WHERE i < {last} \
                 ) SELECT {values} FROM numbers;"
            ));
            bar.at(last + 1);
        }
    }

    /// Runs statements.
    pub fn execute(&self, statements: &str) {
        let settings = match self.0.url {
            DatabaseUrl::Sqlite(_) => "PRAGMA foreign_keys = OFF; PRAGMA cache_size = -1000000;",
            DatabaseUrl::Postgres(_) => {
                "SET session_replication_role = replica; SET synchronous_commit = off; \
                 SET statement_timeout = 0;"
            }
        };
        self.0.execute(&format!("{settings} BEGIN; {statements} COMMIT;"));
    }

    /// So many seconds after some day.
    pub fn moment(&self, seconds: &str) -> String {
        match self.0.url {
            DatabaseUrl::Sqlite(_) => format!("datetime(1451606400 + {seconds}, 'unixepoch')"),
            DatabaseUrl::Postgres(_) => {
                format!("to_timestamp(1451606400 + {seconds}) AT TIME ZONE 'UTC'")
            }
        }
    }

    /// Lets the database go on after the ids that are taken, and know what it holds.
    pub fn finish(&self) {
        // Triggers do so on SQLite.
        for (table, roots) in [
            ("projects", "project_roots"),
            ("namespaces", "namespace_roots"),
            ("users", "user_roots"),
        ] {
            self.execute(&format!(
                "INSERT INTO {roots} (id) SELECT id FROM {table} WHERE id NOT IN (SELECT id FROM {roots});"
            ));
        }
        if let DatabaseUrl::Postgres(_) = self.0.url {
            for table in NUMBERED {
                self.execute(&format!(
                    "SELECT setval(pg_get_serial_sequence('{table}', 'id'), \
                         (SELECT coalesce(max(id), 0) + 1 FROM {table}), FALSE);"
                ));
            }
        }
        self.0.gather_statistics();
    }
}
