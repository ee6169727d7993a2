//! Finding users by parts of their names, with the index each database has for it.

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Text};
use hexforge_domain::user::{DisplayName, EmailAddress, UserFilter, Username};

use crate::backend::containing;
use crate::connection::DbConn;

/// Three fields of at most 255 characters with something between them: nothing longer is ever found.
const LONGEST: usize = 3 * 255 + 2;

/// Stands between the fields, so that nothing is found across two of them.
const BETWEEN: char = '\u{1}';

/// What a search looks through.
pub(crate) fn text(name: &DisplayName, email: &EmailAddress, username: &Username) -> String {
    format!("{}{BETWEEN}{}{BETWEEN}{}", name.as_str(), email.as_str(), username.as_str())
        .to_lowercase()
}

/// What is searched for, in lower case.
pub(crate) enum Search {
    /// Three characters or more: both databases have an index for them.
    Indexed(String),
    /// Fewer, which so many users have that looking at the newest ones fills a page soon.
    Short(String),
    /// What is in nobody's name.
    Nothing,
}

impl Search {
    pub fn new(text: &str) -> Self {
        // Neither is in any name, and PostgreSQL takes no NUL in a text.
        if text.contains(['\0', BETWEEN]) {
            return Self::Nothing;
        }
        let text = text.to_lowercase();
        match text.chars().count() {
            0..3 => Self::Short(text),
            3..=LONGEST => Self::Indexed(text),
            _ => Self::Nothing,
        }
    }

    /// The pattern for `LIKE`.
    pub fn pattern(&self) -> String {
        match self {
            Self::Indexed(text) | Self::Short(text) => containing(text),
            Self::Nothing => String::new(),
        }
    }
}

/// The switches of a filter as SQL.
pub(crate) fn flag_conditions(filter: &UserFilter) -> impl Iterator<Item = &'static str> {
    [
        (filter.active, "users.state = 'active'"),
        (filter.blocked, "users.state <> 'active'"),
        (filter.external, "users.external"),
    ]
    .into_iter()
    .filter_map(|(wanted, sql)| wanted.then_some(sql))
}

#[derive(QueryableByName)]
struct Id {
    #[diesel(sql_type = BigInt)]
    id: i64,
}

#[derive(QueryableByName)]
struct Count {
    #[diesel(sql_type = BigInt)]
    count: i64,
}

/// A page of ids by SQLite's full-text index, which gives them newest first as it goes, so a page of a
/// search that finds everybody costs a page. `None` where that index has no part in it: PostgreSQL's
/// serves a plain `LIKE`.
pub(crate) fn indexed_ids(
    conn: &mut DbConn,
    filter: &UserFilter,
    search: Option<&Search>,
    limit: i64,
    offset: i64,
) -> Option<QueryResult<Vec<i64>>> {
    let (DbConn::Sqlite(conn), Some(Search::Indexed(text))) = (conn, search) else { return None };
    let sql = format!(
        "SELECT users_search.rowid AS id {} ORDER BY users_search.rowid DESC LIMIT ? OFFSET ?",
        sqlite_source(filter)
    );
    let found = diesel::sql_query(sql)
        .bind::<Text, _>(phrase(text))
        .bind::<BigInt, _>(limit)
        .bind::<BigInt, _>(offset)
        .load::<Id>(conn);
    Some(found.map(|rows| rows.into_iter().map(|row| row.id).collect()))
}

/// How many users fit, counted up to a limit by the same index; `None` where it has no part in it.
pub(crate) fn indexed_count(
    conn: &mut DbConn,
    filter: &UserFilter,
    search: Option<&Search>,
    limit: i64,
) -> Option<QueryResult<i64>> {
    let (DbConn::Sqlite(conn), Some(Search::Indexed(text))) = (conn, search) else { return None };
    let sql = format!("SELECT count(*) AS count FROM (SELECT 1 {} LIMIT ?)", sqlite_source(filter));
    let counted = diesel::sql_query(sql)
        .bind::<Text, _>(phrase(text))
        .bind::<BigInt, _>(limit)
        .get_result::<Count>(conn);
    Some(counted.map(|row| row.count))
}

fn sqlite_source(filter: &UserFilter) -> String {
    let mut sql = String::from("FROM users_search ");
    let flags: Vec<_> = flag_conditions(filter).collect();
    if !flags.is_empty() {
        sql.push_str("JOIN users ON users.id = users_search.rowid ");
    }
    sql.push_str("WHERE users_search MATCH ?");
    for flag in flags {
        sql.push_str(" AND ");
        sql.push_str(flag);
    }
    sql
}

/// The text as one phrase of the full-text language, in which nothing has a meaning of its own.
fn phrase(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
