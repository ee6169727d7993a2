//! Inserts very many rows: each statement generates its rows in the database.

use hexforge_persistence_diesel::DatabaseUrl;
use hexforge_persistence_diesel::testing::TestDatabase;

use super::progress::Bar;

/// The number of rows per statement.
const ROWS: usize = 100_000;

/// Tables that are filled with explicit ids. The sequences of PostgreSQL are moved behind them.
const NUMBERED: [&str; 11] = [
    "users",
    "namespaces",
    "projects",
    "labels",
    "issues",
    "merge_requests",
    "events",
    "notes",
    "pipelines",
    "build_definitions",
    "builds",
];

/// The counters of a project: the column of `iids`, and the rows that it counts.
const PROJECT_TOTALS: [(&str, &str, &str); 7] = [
    ("open_issues", "issues", "state <> 'closed' AND NOT confidential"),
    ("closed_issues", "issues", "state = 'closed' AND NOT confidential"),
    ("open_confidential", "issues", "state <> 'closed' AND confidential"),
    ("closed_confidential", "issues", "state = 'closed' AND confidential"),
    ("open_requests", "merge_requests", "state IN ('opened', 'reopened')"),
    ("closed_requests", "merge_requests", "state = 'closed'"),
    ("merged_requests", "merge_requests", "state = 'merged'"),
];

/// Writes to one database. Foreign keys are not checked, so the rows have to be consistent.
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

    /// Runs statements in a transaction with foreign key checks disabled.
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

    /// An SQL expression for a time: this number of seconds after 2016-01-01.
    pub fn moment(&self, seconds: &str) -> String {
        match self.0.url {
            DatabaseUrl::Sqlite(_) => format!("datetime(1451606400 + {seconds}, 'unixepoch')"),
            DatabaseUrl::Postgres(_) => {
                format!("to_timestamp(1451606400 + {seconds}) AT TIME ZONE 'UTC'")
            }
        }
    }

    /// An expression for a constant column of bytes.
    pub fn bytes(&self, text: &str) -> String {
        match self.0.url {
            DatabaseUrl::Sqlite(_) => format!("CAST('{text}' AS BLOB)"),
            DatabaseUrl::Postgres(_) => format!("CAST('{text}' AS BYTEA)"),
        }
    }

    /// Inserts the rows of the root tables, counts the issues and merge requests of projects, moves the sequences
    /// behind the inserted ids, and gathers statistics.
    pub fn finish(&self) {
        // On SQLite, triggers insert these rows.
        for (table, roots) in [
            ("projects", "project_roots"),
            ("namespaces", "namespace_roots"),
            ("users", "user_roots"),
        ] {
            self.execute(&format!(
                "INSERT INTO {roots} (id) SELECT id FROM {table} WHERE id NOT IN (SELECT id FROM {roots});"
            ));
        }
        self.count_project_totals();
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

    /// Sets the counters that triggers keep otherwise: they do not run while PostgreSQL is filled.
    fn count_project_totals(&self) {
        let counters = PROJECT_TOTALS.map(|(column, table, which)| {
            format!(
                "{column} = (SELECT count(*) FROM {table} \
                 WHERE {table}.project_id = iids.project_id AND {which})"
            )
        });
        self.execute(&format!("UPDATE iids SET {};", counters.join(", ")));
    }
}
