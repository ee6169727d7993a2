//! Queries composed of SQL fragments, where diesel's types are not flexible enough: optional conditions that
//! contain unions.

use std::marker::PhantomData;

use chrono::{NaiveDate, NaiveDateTime};
use diesel::QueryResult;
use diesel::query_builder::{AstPass, Query, QueryFragment, QueryId};
use diesel::query_dsl::RunQueryDsl;
use diesel::sql_types::{BigInt, Binary, Date, Integer, Nullable, Text, Timestamp};
use hexforge_domain::paging::Page;

use crate::database::connection::{DbConn, MultiBackend};
use crate::query::page::Span;

/// A query or a part of one. The SQL text is static, and values are bind parameters.
#[derive(Clone)]
pub(crate) struct Sql(Vec<Piece>);

#[derive(Clone)]
enum Piece {
    Sql(&'static str),
    Id(i64),
    Number(i32),
    Day(NaiveDate),
    Moment(NaiveDateTime),
    Text(String),
    Bytes(Option<Vec<u8>>),
    /// Written into the SQL text, because the number of parameters is limited. Integers need no escaping.
    Ids(Vec<i64>),
    Uncached,
}

/// Up to this number, [`Sql::few_ids`] binds ids as parameters. More ids are written into the SQL text.
const FEW_IDS: usize = 64;

impl Sql {
    pub fn new(sql: &'static str) -> Self {
        Self(vec![Piece::Sql(sql)])
    }

    /// Begins a query with common table expressions. Each runs once, and the rest of the query refers to its ids by
    /// name. For a subquery in a condition, PostgreSQL assumes many runs and chooses a worse plan.
    pub fn with(queries: impl IntoIterator<Item = (&'static str, Sql)>) -> Self {
        let mut word = "WITH ";
        queries.into_iter().fold(Self(vec![]), |sql, (name, query)| {
            sql.sql(std::mem::replace(&mut word, ", "))
                .sql(name)
                .sql(" (id) AS MATERIALIZED (")
                .then(query)
                .sql(") ")
        })
    }

    /// Begins a statement whose text differs each time, so that its prepared form is not cached.
    pub fn uncached() -> Self {
        Self(vec![Piece::Uncached])
    }

    /// Appends SQL text.
    pub fn sql(self, sql: &'static str) -> Self {
        self.add(Piece::Sql(sql))
    }

    /// Appends a 64-bit integer parameter.
    pub fn id(self, id: i64) -> Self {
        self.add(Piece::Id(id))
    }

    /// Appends a 32-bit integer parameter.
    pub fn number(self, number: i32) -> Self {
        self.add(Piece::Number(number))
    }

    pub fn day(self, day: NaiveDate) -> Self {
        self.add(Piece::Day(day))
    }

    pub fn moment(self, moment: NaiveDateTime) -> Self {
        self.add(Piece::Moment(moment))
    }

    pub fn text(self, text: String) -> Self {
        self.add(Piece::Text(text))
    }

    pub fn bytes(self, bytes: Option<&[u8]>) -> Self {
        self.add(Piece::Bytes(bytes.map(<[u8]>::to_vec)))
    }

    /// Appends ids separated by commas, for `IN`.
    pub fn ids(self, ids: Vec<i64>) -> Self {
        self.add(Piece::Ids(ids))
    }

    /// Like [`ids`](Self::ids), but binds a small number of ids as parameters, so that the prepared statement is
    /// cached: PostgreSQL takes longer to plan a large statement than to run it. The list is padded by repeating
    /// the last id, as in [`crate::query::among`].
    pub fn few_ids(self, ids: &[i64]) -> Self {
        let (Some(last), true) = (ids.last(), ids.len() <= FEW_IDS) else {
            return self.ids(ids.to_vec());
        };
        (0..ids.len().next_power_of_two()).fold(self, |sql, at| {
            let sql = if at == 0 { sql } else { sql.sql(", ") };
            sql.id(*ids.get(at).unwrap_or(last))
        })
    }

    /// Appends another fragment.
    pub fn then(mut self, part: Sql) -> Self {
        self.0.extend(part.0);
        self
    }

    /// Appends `WHERE` and the conditions joined by `AND`, if there are any.
    pub fn filter(self, conditions: impl IntoIterator<Item = Sql>) -> Self {
        let mut word = " WHERE ";
        conditions.into_iter().fold(self, |sql, condition| {
            sql.sql(std::mem::replace(&mut word, " AND ")).then(condition)
        })
    }

    /// Appends `LIMIT` and `OFFSET` for the page.
    pub fn page(self, page: Page) -> Self {
        self.span(Span::forward(page))
    }

    /// Appends `LIMIT` and `OFFSET` for the span.
    pub fn span(self, Span { offset, limit, .. }: Span) -> Self {
        let number = |count: u64| i64::try_from(count).unwrap_or(i64::MAX);
        self.sql(" LIMIT ").id(number(limit)).sql(" OFFSET ").id(number(offset))
    }

    /// Wraps the query into `count(*)`. With a limit, counting stops there.
    pub fn counted(self, limit: Option<i64>) -> Self {
        let rows = Self::new("SELECT count(*) FROM (").then(self);
        let rows = match limit {
            Some(limit) => rows.sql(" LIMIT ").id(limit),
            None => rows,
        };
        rows.sql(") AS counted")
    }

    /// Returns a query that diesel can load, with rows of this type.
    pub fn rows<T>(self) -> Rows<T> {
        Rows(self, PhantomData)
    }

    fn add(mut self, piece: Piece) -> Self {
        self.0.push(piece);
        self
    }
}

impl QueryFragment<MultiBackend> for Sql {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        for piece in &self.0 {
            match piece {
                Piece::Sql(sql) => out.push_sql(sql),
                Piece::Id(id) => out.push_bind_param::<BigInt, _>(id)?,
                Piece::Number(number) => out.push_bind_param::<Integer, _>(number)?,
                Piece::Day(day) => out.push_bind_param::<Date, _>(day)?,
                Piece::Moment(moment) => out.push_bind_param::<Timestamp, _>(moment)?,
                Piece::Text(text) => out.push_bind_param::<Text, _>(text)?,
                Piece::Bytes(bytes) => out.push_bind_param::<Nullable<Binary>, _>(bytes)?,
                Piece::Uncached => out.unsafe_to_cache_prepared(),
                Piece::Ids(ids) => {
                    // The text differs each time, so the prepared statement is not cached.
                    out.unsafe_to_cache_prepared();
                    let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
                    let ids = ids.join(", ");
                    // PostgreSQL has no empty list.
                    out.push_sql(if ids.is_empty() { "NULL" } else { &ids });
                }
            }
        }
        Ok(())
    }
}

/// A query with rows of the type `T`.
pub(crate) struct Rows<T>(Sql, PhantomData<T>);

/// Two values of the same type may be different statements, so the type gives no query id.
impl<T> QueryId for Rows<T> {
    type QueryId = ();
    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<T> Query for Rows<T> {
    type SqlType = T;
}

impl<T> RunQueryDsl<DbConn> for Rows<T> {}

impl<T> QueryFragment<MultiBackend> for Rows<T> {
    fn walk_ast<'b>(&'b self, out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        self.0.walk_ast(out)
    }
}
