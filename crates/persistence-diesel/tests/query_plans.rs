//! How SQLite finds the pages of lists: by an index that has them in order, without sorting.

mod support;

use std::cell::RefCell;

use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use diesel::prelude::*;
use diesel::sql_types::Text;
use hexforge_domain::id::UserId;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::user::UserFilter;
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::connection::DbConn;
use hexforge_persistence_diesel::testing::TestDatabase;
use support::connect;

const PAGE: Page = Page::Numbered { number: 2, size: 20 };

thread_local! {
    /// The queries that this thread ran.
    static SEEN: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

fn remember() -> Option<Box<dyn Instrumentation>> {
    Some(Box::new(|event: InstrumentationEvent<'_>| {
        if let InstrumentationEvent::StartQuery { query, .. } = event {
            let query = query.to_string();
            if query.starts_with("SELECT") {
                SEEN.with_borrow_mut(|seen| seen.push(query));
            }
        }
    }))
}

#[derive(QueryableByName)]
struct Step {
    #[diesel(sql_type = Text)]
    detail: String,
}

/// The plans of the queries that some reading of an empty store runs.
fn plans(read: impl FnOnce(&mut dyn Tx) -> Result<(), StoreError>) -> Vec<String> {
    set_default_instrumentation(remember).expect("no thread panics while it sets this");
    let database = TestDatabase::sqlite();
    let store = database.open(Options::default());
    SEEN.take();
    let store: &dyn Store = &store;
    store.read(read).expect("an empty store can be read");
    let queries = SEEN.take();
    let DbConn::Sqlite(mut conn) = connect(&database.url) else { panic!("a SQLite database") };
    let plan = |query: &String| {
        let steps: Vec<Step> = diesel::sql_query(format!("EXPLAIN QUERY PLAN {query}"))
            .load(&mut conn)
            .expect("what was run can be explained");
        steps.into_iter().map(|step| step.detail).collect::<Vec<_>>().join("; ")
    };
    queries.iter().map(plan).collect()
}

/// Checks that each query of a list, its total and its page, goes by the index.
fn assert_goes_by(index: &str, read: impl FnOnce(&mut dyn Tx) -> Result<(), StoreError>) {
    let plans = plans(read);
    assert!(!plans.is_empty());
    for plan in plans {
        assert!(plan.contains(index), "{index}: {plan}");
        assert!(!plan.contains("USE TEMP B-TREE"), "{index}: {plan}");
    }
}

fn list(filter: UserFilter) -> impl FnOnce(&mut dyn Tx) -> Result<(), StoreError> {
    // Of an empty store no rows are read, so only the total and the ids are asked for.
    move |tx| tx.users().list(&filter, PAGE).map(|_| ())
}

#[test]
fn lists_of_users_go_by_the_index_of_their_filter() {
    let none = UserFilter::default;
    for (filter, index) in [
        (none(), "users_all"),
        (UserFilter { active: true, ..none() }, "users_active"),
        (UserFilter { blocked: true, ..none() }, "users_blocked"),
        (UserFilter { external: true, ..none() }, "users_external"),
    ] {
        assert_goes_by(index, list(filter));
    }
}

#[test]
fn searches_go_by_the_full_text_index() {
    let none = UserFilter::default;
    let search = || Some("lovelace".to_owned());
    for filter in [
        UserFilter { search: search(), ..none() },
        UserFilter { search: search(), active: true, ..none() },
        UserFilter { search: search(), external: true, ..none() },
    ] {
        assert_goes_by("SCAN users_search VIRTUAL TABLE INDEX", list(filter));
    }
}

#[test]
fn what_belongs_to_a_user_is_listed_by_the_index_of_its_owner() {
    let user = UserId(1);
    assert_goes_by("keys_of_user", |tx| tx.keys().list(user, PAGE).map(|_| ()));
    assert_goes_by("emails_secondary", |tx| tx.emails().list(user, PAGE).map(|_| ()));
    assert_goes_by("tokens_of_user", |tx| tx.tokens().list(user, PAGE).map(|_| ()));
    assert_goes_by("events_of_author", |tx| tx.events().authored_by(user, PAGE).map(|_| ()));
}
