//! `IN` with a list of values, in few different SQL texts, so that the prepared statement is cached. diesel's own
//! `eq_any` is prepared at each call, which takes longer than running it, and costs PostgreSQL two round trips.

use diesel::expression::{AppearsOnTable, Expression, SelectableExpression, ValidGrouping};
use diesel::query_builder::{AstPass, QueryFragment, QueryId};
use diesel::serialize::ToSql;
use diesel::sql_types::{Bool, HasSqlType};
use diesel::{QueryResult, QuerySource};

use crate::database::connection::MultiBackend;
use crate::query::sql::Sql;

/// Statements with longer lists are not cached: they are rare, and would need too many different texts.
const MAX_CACHED_LENGTH: usize = 128;

/// The condition that a column has one of several values.
pub(crate) struct Among<'a, C, T> {
    column: C,
    values: &'a [T],
}

/// The condition that a column has one of the values that a query selects.
pub(crate) struct Within<C> {
    column: C,
    query: Sql,
}

/// Adds [`among`](Self::among) and [`within`](Self::within) to columns.
pub(crate) trait AmongValues: Sized {
    /// The condition that the column has one of the values that a query selects.
    fn within(self, query: Sql) -> Within<Self> {
        Within { column: self, query }
    }

    /// The condition that the column has one of these values.
    fn among<T>(self, values: &[T]) -> Among<'_, Self, T> {
        Among { column: self, values }
    }
}

impl<C: Expression> AmongValues for C {}

impl<C: Expression, T> Expression for Among<'_, C, T> {
    type SqlType = Bool;
}

impl<S, C: AppearsOnTable<S>, T> AppearsOnTable<S> for Among<'_, C, T> {}
impl<S: QuerySource, C: SelectableExpression<S>, T> SelectableExpression<S> for Among<'_, C, T> {}

impl<G, C: ValidGrouping<G>, T> ValidGrouping<G> for Among<'_, C, T> {
    type IsAggregate = C::IsAggregate;
}

impl<C, T> QueryId for Among<'_, C, T> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<C, T> QueryFragment<MultiBackend> for Among<'_, C, T>
where
    C: Expression + QueryFragment<MultiBackend>,
    T: ToSql<C::SqlType, MultiBackend>,
    MultiBackend: HasSqlType<C::SqlType>,
{
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        let Some(last) = self.values.last() else {
            out.push_sql("1 = 0");
            return Ok(());
        };
        let length = match self.values.len() {
            // The list is padded by repeating its last value.
            length if length <= MAX_CACHED_LENGTH => length.next_power_of_two(),
            length => {
                out.unsafe_to_cache_prepared();
                length
            }
        };
        self.column.walk_ast(out.reborrow())?;
        for place in 0..length {
            out.push_sql(if place == 0 { " IN (" } else { ", " });
            out.push_bind_param::<C::SqlType, T>(self.values.get(place).unwrap_or(last))?;
        }
        out.push_sql(")");
        Ok(())
    }
}

impl<C: Expression> Expression for Within<C> {
    type SqlType = Bool;
}

impl<S, C: AppearsOnTable<S>> AppearsOnTable<S> for Within<C> {}
impl<S: QuerySource, C: SelectableExpression<S>> SelectableExpression<S> for Within<C> {}

impl<G, C: ValidGrouping<G>> ValidGrouping<G> for Within<C> {
    type IsAggregate = C::IsAggregate;
}

/// Queries differ in their text, so the type gives no query id.
impl<C> QueryId for Within<C> {
    type QueryId = ();

    const HAS_STATIC_QUERY_ID: bool = false;
}

impl<C: QueryFragment<MultiBackend>> QueryFragment<MultiBackend> for Within<C> {
    fn walk_ast<'b>(&'b self, mut out: AstPass<'_, 'b, MultiBackend>) -> QueryResult<()> {
        self.column.walk_ast(out.reborrow())?;
        out.push_sql(" IN (");
        self.query.walk_ast(out.reborrow())?;
        out.push_sql(")");
        Ok(())
    }
}
