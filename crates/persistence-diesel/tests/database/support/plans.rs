//! The query plans of SQLite.

use std::cell::RefCell;

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use diesel::prelude::*;
use diesel::sql_types::Text;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::connection::DbConn;
use hexforge_persistence_diesel::testing::TestDatabase;

use super::connect;

/// A page that is not the first one.
pub const PAGE: Page = Page::Numbered { number: 2, size: 20 };

thread_local! {
    /// The queries that this thread ran.
    static QUERIES: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn record_queries() -> Option<Box<dyn Instrumentation>> {
    Some(Box::new(|event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            let query = query.to_string();
            if query.starts_with("SELECT") || query.starts_with("WITH") {
                QUERIES.with_borrow_mut(|queries| queries.push(query));
            }
        }
    }))
}

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    detail: String,
}

/// Returns the queries that `read` runs on an empty store, with their plans.
pub fn plans(
    read: impl FnOnce(&mut dyn Tx) -> Result<(), StoreError> + Send,
) -> Vec<(String, String)> {
    plans_in(&TestDatabase::sqlite(), read)
}

/// Like [`plans`], on an existing database.
pub fn plans_in(
    database: &TestDatabase,
    read: impl FnOnce(&mut dyn Tx) -> Result<(), StoreError> + Send,
) -> Vec<(String, String)> {
    set_default_instrumentation(record_queries).expect("no thread panics while it sets this");
    let store = database.open(Options::default());
    QUERIES.take();
    let store: &dyn Store = &store;
    store.read(read).expect("a store can be read");
    let queries = QUERIES.take();
    let DbConn::Sqlite(mut conn) = connect(&database.url) else { panic!("a SQLite database") };
    let plan = |query: String| {
        let steps: Vec<Step> = diesel::sql_query(format!("EXPLAIN QUERY PLAN {query}"))
            .load(&mut conn)
            .expect("what was run can be explained");
        let steps = steps.into_iter().map(|step| step.detail).collect::<Vec<_>>().join("; ");
        (query, steps)
    };
    queries.into_iter().map(plan).collect()
}

/// Checks that all queries of a list, for its total and its page, use the index and do not sort.
pub fn assert_goes_by(
    index: &str,
    read: impl FnOnce(&mut dyn Tx) -> Result<(), StoreError> + Send,
) {
    let plans = plans(read);
    assert!(!plans.is_empty());
    // The query for the change counter does not read the list.
    for (_, plan) in plans.into_iter().filter(|(query, _)| !query.contains("list_changes")) {
        assert!(plan.contains(index), "{index}: {plan}");
        assert!(!plan.contains("USE TEMP B-TREE"), "{index}: {plan}");
    }
}
