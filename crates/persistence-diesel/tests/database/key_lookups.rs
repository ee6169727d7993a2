//! Lists that check the issue of each row look it up by its key on PostgreSQL, too. PostgreSQL evaluates `EXISTS` by
//! reading all issues if it expects many rows.

use std::time::Duration;

use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::note::port::NoteReader;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::project::query::Viewer;
use hexforge_domain::todo::{TodoFilter, TodoState};
use hexforge_domain_testing::builders::{a_day, a_project, a_user, an_issue, home_of};
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::testing::TestDatabase;

/// The number of issues, each with a todo and an event.
const MANY: i64 = 20_000;

const PAGE: Page = Page::Numbered { number: 1, size: 20 };

fn fill(database: &TestDatabase) -> (ProjectId, UserId) {
    let store = database.open(Options::default());
    let store: &dyn Store = &store;
    let ada = a_user("ada").stored_in(store).id;
    let project = a_project("ship", home_of(store, ada), ada).stored_in(store).id;
    let made: Result<_, StoreError> =
        store.write(|tx| tx.issues().insert(an_issue(project, ada, "an issue")));
    made.expect("an issue");
    database.execute(&format!(
        "INSERT INTO issues \
         (project_id, iid, author_id, title, state, confidential, created_at, updated_at) \
         SELECT {project}, i, {ada}, 'many', 'opened', FALSE, now(), now() \
         FROM generate_series(2, {MANY}) AS i; \
         INSERT INTO todos (user_id, project_id, issue_id, author_id, action, state, created_at) \
         SELECT {ada}, {project}, id, {ada}, 'marked', 'pending', now() FROM issues; \
         INSERT INTO events (project_id, author_id, action, created_at, issue_id) \
         SELECT {project}, {ada}, 'created', now(), id FROM issues"
    ));
    database.gather_statistics();
    (project, ada)
}

/// The number of issues that were read without an index, once no other session can still report some.
fn issues_scanned(database: &TestDatabase) -> i64 {
    let others = "SELECT count(*) FROM pg_stat_activity \
                  WHERE datname = current_database() AND pid <> pg_backend_pid()";
    for _ in 0..100 {
        if database.number(others) == 0 {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    database.number(
        "SELECT coalesce(sum(seq_tup_read), 0)::bigint FROM pg_stat_user_tables \
         WHERE relname = 'issues'",
    )
}

#[test]
fn pages_of_todos_and_events_do_not_read_all_issues() {
    let Some(database) = TestDatabase::postgres() else { return };
    let (project, ada) = fill(&database);
    let before = issues_scanned(&database);
    let store = database.open(Options::default());
    let shared: &dyn Store = &store;
    let viewer = Viewer { user: ada, external: false };
    let reader = Some(NoteReader { viewer, today: a_day() });
    let pending = TodoFilter { state: Some(TodoState::Pending), ..TodoFilter::all_of(ada, reader) };
    let lengths: Result<_, StoreError> = shared.read(|tx| {
        let todos = tx.todos().list(&pending, PAGE)?.items.len();
        let clearance = Clearance::ByRole(ada);
        let events = tx.events().of_project(project, clearance, a_day(), PAGE)?.items.len();
        Ok((todos, events))
    });
    assert_eq!(lengths.ok(), Some((20, 20)));
    drop(store);
    let scanned = issues_scanned(&database) - before;
    assert!(scanned < MANY, "{scanned} issues were read to show 20");
}
