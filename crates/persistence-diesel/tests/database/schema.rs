//! `schema.rs` declares exactly the tables, columns, types and nullability of both databases.

use std::collections::BTreeMap;

use crate::support::connect;
use diesel::prelude::*;
use diesel::sql_types::{Bool, Text};
use hexforge_persistence_diesel::connection::DbConn;
use hexforge_persistence_diesel::migrations;
use hexforge_persistence_diesel::testing::TestDatabase;

/// The type and nullability of each column, by table and column.
type Columns = BTreeMap<(String, String), (String, Nulls)>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Nulls {
    Allowed,
    Refused,
}

/// The columns that `schema.rs` declares, parsed from its text, so that no table is missing.
fn declared_columns() -> Columns {
    let mut columns = Columns::new();
    let mut table = "";
    for line in include_str!("../../src/database/schema.rs").lines().map(str::trim) {
        if let Some((name, _)) = line.strip_suffix(") {").and_then(|line| line.split_once(" (")) {
            table = name;
        } else if let Some((column, kind)) = line.split_once(" -> ")
            && let Some(kind) = kind.strip_suffix(',')
        {
            let nullable = kind.strip_prefix("Nullable<").and_then(|kind| kind.strip_suffix('>'));
            let nulls = if nullable.is_some() { Nulls::Allowed } else { Nulls::Refused };
            let kind = nullable.unwrap_or(kind).to_owned();
            columns.insert((table.to_owned(), column.to_owned()), (kind, nulls));
        }
    }
    columns
}

#[derive(QueryableByName)]
struct Column {
    #[diesel(sql_type = Text)]
    table_name: String,
    #[diesel(sql_type = Text)]
    column_name: String,
    #[diesel(sql_type = Text)]
    kind: String,
    #[diesel(sql_type = Bool)]
    nullable: bool,
}

/// The columns of a migrated database, with the type names of `schema.rs`.
fn actual_columns(database: &TestDatabase) -> Columns {
    let mut conn = connect(&database.url);
    migrations::run(&mut conn).expect("an empty database can be migrated");
    let columns: Vec<Column> = match &mut conn {
        // The full-text indexes consist of tables that `schema.rs` does not declare.
        DbConn::Sqlite(conn) => diesel::sql_query(
            "SELECT tables.name AS table_name, columns.name AS column_name, \
                 CASE WHEN columns.pk > 0 AND columns.type = 'INTEGER' THEN 'BIGINT' \
                      ELSE columns.type END AS kind, \
                 columns.\"notnull\" = 0 AS nullable \
             FROM sqlite_master AS tables JOIN pragma_table_xinfo(tables.name) AS columns \
             WHERE tables.type IN ('table', 'view') AND tables.name NOT LIKE 'sqlite_%' \
                 AND tables.name NOT LIKE '%\\_search%' ESCAPE '\\' \
                 AND tables.name <> '__diesel_schema_migrations'",
        )
        .load(conn),
        DbConn::Postgres(conn) => diesel::sql_query(
            "SELECT table_name::text, column_name::text, upper(data_type::text) AS kind, \
                 is_nullable = 'YES' AS nullable \
             FROM information_schema.columns \
             WHERE table_schema = current_schema() AND table_name NOT LIKE '%\\_search%' \
                 AND table_name <> '__diesel_schema_migrations'",
        )
        .load(conn),
    }
    .expect("every database can describe itself");
    let described = columns.into_iter().map(|column| {
        let nulls = if column.nullable { Nulls::Allowed } else { Nulls::Refused };
        ((column.table_name, column.column_name), (diesel_type(&column.kind), nulls))
    });
    described.collect()
}

/// Returns the name in `schema.rs` of a type of either database.
fn diesel_type(kind: &str) -> String {
    match kind {
        "BIGINT" => "BigInt",
        "INTEGER" => "Integer",
        "TEXT" => "Text",
        "BOOLEAN" => "Bool",
        "DATE" => "Date",
        "TIMESTAMP" | "TIMESTAMP WITHOUT TIME ZONE" => "Timestamp",
        "BLOB" | "BYTEA" => "Binary",
        other => other,
    }
    .to_owned()
}

#[test]
fn the_text_of_the_schema_is_understood() {
    let declared = declared_columns();
    let column = |table: &str, column: &str| declared.get(&(table.to_owned(), column.to_owned()));
    assert_eq!(column("users", "id"), Some(&("BigInt".to_owned(), Nulls::Refused)));
    assert_eq!(column("users", "bio"), Some(&("Text".to_owned(), Nulls::Allowed)));
    assert_eq!(column("tokens", "hash"), Some(&("Binary".to_owned(), Nulls::Refused)));
    assert_eq!(column("stars", "user_id"), Some(&("BigInt".to_owned(), Nulls::Refused)));
    let arrows = include_str!("../../src/database/schema.rs").matches(" -> ").count();
    let joins = include_str!("../../src/database/schema.rs").matches("joinable!").count();
    assert_eq!(declared.len(), arrows - joins);
}

#[test]
fn sqlite_has_what_the_schema_says_and_nothing_else() {
    assert_eq!(actual_columns(&TestDatabase::sqlite()), declared_columns());
}

#[test]
fn postgres_has_what_the_schema_says_and_nothing_else() {
    let Some(database) = TestDatabase::postgres() else { return };
    assert_eq!(actual_columns(&database), declared_columns());
}
