//! PostgreSQL: each table as lines of JSON, read in one transaction from one snapshot.

use std::io::BufRead;

use diesel::PgConnection;
use diesel::connection::{AnsiTransactionManager, SimpleConnection, TransactionManager};
use diesel::pg::PgRowByRowLoadingMode;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};

use super::{BackupError, Parts};
use crate::database::connection::DatabaseUrl;
use crate::database::migrations;

/// The prefix of a part's name, before the name of the table.
const TABLE: &str = "database/table/";
/// The part with the last value of each sequence.
const SEQUENCES: &str = "database/sequences";

/// The table of applied migrations. It is not part of the backup, because the restore runs the migrations.
const MIGRATIONS: &str = "__diesel_schema_migrations";

/// The size of one INSERT statement, in bytes and in rows.
const BYTES_AT_ONCE: usize = 1024 * 1024;
const ROWS_AT_ONCE: usize = 1000;

#[derive(QueryableByName)]
struct Line {
    #[diesel(sql_type = Text)]
    line: String,
}

#[derive(QueryableByName)]
struct Sequence {
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = BigInt)]
    last: i64,
}

#[derive(QueryableByName)]
struct Constraint {
    #[diesel(sql_type = Text)]
    of: String,
    #[diesel(sql_type = Text)]
    name: String,
    #[diesel(sql_type = Text)]
    definition: String,
}

/// Begins a read transaction on one snapshot, without timeouts.
pub(super) fn begin(conn: &mut PgConnection) -> QueryResult<()> {
    disable_timeouts(conn)?;
    conn.batch_execute("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT 1;")
}

/// Disables the timeouts of a connection, because a backup or restore takes long.
fn disable_timeouts(conn: &mut PgConnection) -> QueryResult<()> {
    conn.batch_execute("SET statement_timeout = 0; SET idle_in_transaction_session_timeout = 0;")
}

/// Returns the names of all tables, except those of extensions.
fn tables(conn: &mut PgConnection) -> QueryResult<Vec<String>> {
    let query = diesel::sql_query(
        "SELECT pg_class.relname::text AS line FROM pg_class \
         WHERE pg_class.relkind = 'r' AND pg_class.relnamespace = current_schema()::regnamespace \
         AND NOT EXISTS (SELECT FROM pg_depend WHERE pg_depend.objid = pg_class.oid \
         AND pg_depend.deptype = 'e') ORDER BY pg_class.relname",
    );
    Ok(query.load::<Line>(conn)?.into_iter().map(|row| row.line).collect())
}

/// Quotes an identifier. The names of hexforge need no quotes, but this does not rely on it.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

pub(super) fn write_parts(
    conn: &mut PgConnection,
    parts: &mut dyn Parts,
) -> Result<(), BackupError> {
    for table in tables(conn)? {
        if table == MIGRATIONS {
            continue;
        }
        let query = format!("SELECT to_json(row)::text AS line FROM {} AS row", quoted(&table));
        parts.receive_part(&format!("{TABLE}{table}"), &mut |to| {
            // Rows are streamed from the server one at a time.
            let rows = diesel::sql_query(&query).load_iter::<Line, PgRowByRowLoadingMode>(conn)?;
            for row in rows {
                to.write_all(row?.line.as_bytes())?;
                to.write_all(b"\n")?;
            }
            Ok(())
        })?;
    }
    parts.receive_part(SEQUENCES, &mut |to| {
        let query = diesel::sql_query(
            "SELECT sequencename::text AS name, last_value AS last FROM pg_sequences \
             WHERE schemaname = current_schema() AND last_value IS NOT NULL ORDER BY sequencename",
        );
        for Sequence { name, last } in query.load::<Sequence>(conn)? {
            writeln!(to, "{last} {name}")?;
        }
        Ok(())
    })
}

/// Fills the tables in one transaction.
pub struct PostgresRestore {
    conn: PgConnection,
    /// The foreign keys. They are dropped, and added again when all tables are full.
    constraints: Vec<Constraint>,
    tables: Vec<String>,
}

impl PostgresRestore {
    pub(super) fn begin(
        mut conn: PgConnection,
        url: &DatabaseUrl,
        applied: &[String],
    ) -> Result<Self, BackupError> {
        disable_timeouts(&mut conn)?;
        if !tables(&mut conn)?.is_empty() {
            return Err(BackupError::Refused(format!("the database {url} is not empty")));
        }
        // Uses the transaction manager instead of a `BEGIN` statement: migrations begin transactions too, and these
        // must be nested in this one.
        AnsiTransactionManager::begin_transaction(&mut conn)?;
        migrations::run_versions(&mut conn, applied).map_err(BackupError::Database)?;
        let mut tables = tables(&mut conn)?;
        tables.retain(|table| table != MIGRATIONS);
        let constraints = diesel::sql_query(
            "SELECT conrelid::regclass::text AS of, conname::text AS name, \
             pg_get_constraintdef(oid) AS definition FROM pg_constraint \
             WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY oid",
        );
        let constraints: Vec<Constraint> = constraints.load(&mut conn)?;
        for Constraint { of, name, .. } in &constraints {
            conn.batch_execute(&format!("ALTER TABLE {of} DROP CONSTRAINT {}", quoted(name)))?;
        }
        for table in &tables {
            let table = quoted(table);
            // The backup contains the rows that migrations inserted, in their later state.
            conn.batch_execute(&format!(
                "ALTER TABLE {table} DISABLE TRIGGER USER; DELETE FROM {table};"
            ))?;
        }
        Ok(Self { conn, constraints, tables })
    }

    pub(super) fn restore_part(
        &mut self,
        name: &str,
        content: &mut dyn BufRead,
    ) -> Result<(), BackupError> {
        if name == SEQUENCES {
            return self.restore_sequences(content);
        }
        let table = name.strip_prefix(TABLE).filter(|table| self.tables.iter().any(|t| t == table));
        let Some(table) = table else {
            return Err(BackupError::Refused(format!("the backup has an unknown part `{name}`")));
        };
        self.restore_table(table, content)
    }

    fn restore_table(&mut self, table: &str, content: &mut dyn BufRead) -> Result<(), BackupError> {
        // Generated columns cannot be inserted.
        let columns = diesel::sql_query(
            "SELECT column_name::text AS line FROM information_schema.columns \
             WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER' \
             ORDER BY ordinal_position",
        );
        let columns: Vec<Line> = columns.bind::<Text, _>(table).load(&mut self.conn)?;
        let columns: Vec<String> = columns.iter().map(|column| quoted(&column.line)).collect();
        let (columns, table) = (columns.join(", "), quoted(table));
        let statement = format!(
            "INSERT INTO {table} ({columns}) OVERRIDING SYSTEM VALUE \
             SELECT {columns} FROM json_populate_recordset(NULL::{table}, $1::json)"
        );
        let mut rows = String::from("[");
        let mut count = 0;
        let mut line = String::new();
        loop {
            line.clear();
            let read = content.read_line(&mut line)?;
            if count > 0 && (read == 0 || count == ROWS_AT_ONCE || rows.len() > BYTES_AT_ONCE) {
                rows.push(']');
                diesel::sql_query(&statement).bind::<Text, _>(&rows).execute(&mut self.conn)?;
                (rows, count) = ("[".to_owned(), 0);
            }
            if read == 0 {
                return Ok(());
            }
            if count > 0 {
                rows.push(',');
            }
            rows.push_str(line.trim_end());
            count += 1;
        }
    }

    fn restore_sequences(&mut self, content: &mut dyn BufRead) -> Result<(), BackupError> {
        for line in content.lines() {
            let line = line?;
            let parts =
                line.split_once(' ').and_then(|(last, name)| Some((last.parse().ok()?, name)));
            let (last, name): (i64, &str) = parts.ok_or_else(|| {
                BackupError::Refused(
                    "the part `database/sequences` of the backup is invalid".into(),
                )
            })?;
            diesel::sql_query("SELECT setval($1::regclass, $2)")
                .bind::<Text, _>(quoted(name))
                .bind::<BigInt, _>(last)
                .execute(&mut self.conn)?;
        }
        Ok(())
    }

    pub(super) fn finish(mut self) -> Result<(), BackupError> {
        for table in &self.tables {
            let table = quoted(table);
            self.conn.batch_execute(&format!("ALTER TABLE {table} ENABLE TRIGGER USER"))?;
        }
        for Constraint { of, name, definition } in &self.constraints {
            let name = quoted(name);
            let statement = format!("ALTER TABLE {of} ADD CONSTRAINT {name} {definition}");
            self.conn.batch_execute(&statement)?;
        }
        AnsiTransactionManager::commit_transaction(&mut self.conn)?;
        // Updates the planner statistics for the first queries.
        Ok(self.conn.batch_execute("ANALYZE")?)
    }
}
