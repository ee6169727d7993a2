//! A task that has failed for good keeps no URL, which may contain a password. The port does not show this.

use crate::support::{connect, databases};
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Nullable, Text};
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain_testing::builders::{a_moment, a_project, a_user, an_import, at, home_of};
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::connection::DbConn;
use hexforge_persistence_diesel::testing::TestDatabase;

#[derive(QueryableByName)]
struct TaskRow {
    #[diesel(sql_type = BigInt)]
    id: i64,
    #[diesel(sql_type = Nullable<Text>)]
    url: Option<String>,
}

/// Returns the id of each task, and whether its URL is stored.
fn tasks_with_url(database: &TestDatabase) -> Vec<(i64, bool)> {
    let query = diesel::sql_query("SELECT id, url FROM repository_tasks ORDER BY id");
    let rows: Vec<TaskRow> = match &mut connect(&database.url) {
        DbConn::Sqlite(conn) => query.load(conn),
        DbConn::Postgres(conn) => query.load(conn),
    }
    .expect("the table is there");
    rows.into_iter().map(|row| (row.id, row.url.is_some())).collect()
}

#[test]
fn a_task_that_is_given_up_keeps_no_password() {
    for database in databases() {
        let store = database.open(Options::default());
        let store: &dyn Store = &store;
        let ada = a_user("ada").stored_in(store).id;
        let site = a_project("site", home_of(store, ada), ada).stored_in(store).id;
        let add = || -> Result<_, StoreError> {
            store.write(|tx| tx.repository_tasks().insert(site, &an_import(ada), a_moment()))
        };
        let (first, second) = (add().expect("a task"), add().expect("another"));
        let fail = |again| -> Result<(), StoreError> {
            store.write(|tx| tx.repository_tasks().fail(first, "no answer", again))
        };
        fail(Some(at(1))).expect("it is tried again");
        assert_eq!(tasks_with_url(&database), [(first.0, true), (second.0, true)]);
        fail(None).expect("it is given up");
        assert_eq!(tasks_with_url(&database), [(first.0, false), (second.0, true)]);
    }
}
