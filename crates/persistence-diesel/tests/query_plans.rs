//! How SQLite finds the pages of lists: by an index that has them in order, without sorting.

mod support;

use std::cell::RefCell;

use diesel::connection::SimpleConnection;
use diesel::connection::{Instrumentation, InstrumentationEvent, set_default_instrumentation};
use diesel::prelude::*;
use diesel::sql_types::Text;
use hexforge_domain::group::{GroupFilter, GroupOrder, GroupScope};
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::project::query::{ProjectFilter, ProjectOrder, ProjectScope, Viewer};
use hexforge_domain::testing::builders::a_day;
use hexforge_domain::user::UserFilter;
use hexforge_domain::visibility::Visibility;
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
            if query.starts_with("SELECT") || query.starts_with("WITH") {
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

/// The queries that some reading of an empty store runs, with their plans.
fn plans(read: impl FnOnce(&mut dyn Tx) -> Result<(), StoreError>) -> Vec<(String, String)> {
    plans_in(&TestDatabase::sqlite(), read)
}

/// The same for a store that is there.
fn plans_in(
    database: &TestDatabase,
    read: impl FnOnce(&mut dyn Tx) -> Result<(), StoreError>,
) -> Vec<(String, String)> {
    set_default_instrumentation(remember).expect("no thread panics while it sets this");
    let store = database.open(Options::default());
    SEEN.take();
    let store: &dyn Store = &store;
    store.read(read).expect("a store can be read");
    let queries = SEEN.take();
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

/// Checks that each query of a list, its total and its page, goes by the index.
fn assert_goes_by(index: &str, read: impl FnOnce(&mut dyn Tx) -> Result<(), StoreError>) {
    let plans = plans(read);
    assert!(!plans.is_empty());
    for (_, plan) in plans {
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
    let viewer = Viewer { user, external: false };
    assert_goes_by("events_of_author", |tx| {
        tx.events().authored_by(user, viewer, Clearance::All, a_day(), PAGE).map(|_| ())
    });
}

#[test]
fn what_belongs_to_a_project_or_group_is_listed_by_the_index_of_its_owner() {
    let (project, group) = (ProjectId(1), NamespaceId(1));
    assert_goes_by("events_of_project", |tx| {
        tx.events().of_project(project, Clearance::All, a_day(), PAGE).map(|_| ())
    });
    assert_goes_by("project_hooks_of_project", |tx| {
        tx.project_hooks().list(project, PAGE).map(|_| ())
    });
    assert_goes_by("PRIMARY KEY (project_id=?)", |tx| {
        tx.project_members().list(project, None, PAGE).map(|_| ())
    });
    for query in [None, Some("ada"), Some("a")] {
        assert_goes_by("PRIMARY KEY (group_id=?)", move |tx| {
            tx.group_members().list(group, query, PAGE).map(|_| ())
        });
    }
}

#[test]
fn lists_of_groups_go_by_the_index_of_their_order() {
    let user = UserId(1);
    for (order, index) in
        [(GroupOrder::Name, "groups_by_name"), (GroupOrder::Path, "groups_by_path")]
    {
        for scope in [GroupScope::All, GroupScope::AvailableTo { user, external: false }] {
            for descending in [false, true] {
                let filter = GroupFilter { scope, skip: vec![], search: None, order, descending };
                let plans = plans(|tx| tx.groups().list(&filter, a_day(), PAGE).map(|_| ()));
                assert_page_goes_by(index, &plans);
            }
        }
    }
}

/// Checks that the page itself, whatever its total, is read in the order of the index.
fn assert_page_goes_by(index: &str, plans: &[(String, String)]) {
    let (query, plan) = plans
        .iter()
        .find(|(query, _)| query.contains("ORDER BY"))
        .expect("the ids of a page have an order");
    assert!(plan.contains(&format!("INDEX {index}")), "{index}: {plan}\n{query}");
    assert!(!plan.contains("USE TEMP B-TREE"), "{index}: {plan}\n{query}");
}

/// A store with so many projects that lists of them are read in their order.
fn with_many_projects() -> TestDatabase {
    let database = TestDatabase::sqlite();
    database.open(Options::default());
    let DbConn::Sqlite(mut conn) = connect(&database.url) else { panic!("a SQLite database") };
    conn.batch_execute(
        "INSERT INTO namespaces (id, path, path_folded, name, name_folded)
         VALUES (1, 'team', 'team', 'team', 'team');
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 6000)
         INSERT INTO projects (namespace_id, name, path, path_folded, visibility_level, archived,
             issues_enabled, merge_requests_enabled, wiki_enabled, builds_enabled, snippets_enabled,
             container_registry_enabled, shared_runners_enabled, public_builds,
             merge_only_if_build_succeeds, merge_only_if_discussions_resolved,
             request_access_enabled, runners_token, created_at, updated_at, last_activity_at,
             search_text)
         SELECT 1, 'Project ' || n, 'project-' || n, 'project-' || n, n % 3 * 10, n % 2, 1, 1, 1, 1,
             0, 1, 1, 1, 0, 0, 0, 'token', '2016-09-22 10:30:00', '2016-09-22 10:30:00',
             '2016-09-22 10:30:00', 'project ' || n || char(1) || 'project-' || n
         FROM numbers;",
    )
    .expect("the columns are those of the schema");
    database
}

fn projects(scope: ProjectScope) -> ProjectFilter {
    ProjectFilter {
        scope,
        archived: None,
        visibility: None,
        search: None,
        order: ProjectOrder::CreatedAt,
        descending: true,
        builds_first: false,
        today: a_day(),
    }
}

#[test]
fn long_lists_of_projects_are_read_in_the_order_of_an_index() {
    let viewer = Viewer { user: UserId(1), external: false };
    let orders = [
        (ProjectOrder::Name, "projects_by_name"),
        (ProjectOrder::Path, "projects_by_path"),
        (ProjectOrder::CreatedAt, "projects_by_created_at"),
        (ProjectOrder::UpdatedAt, "projects_by_updated_at"),
        (ProjectOrder::LastActivityAt, "projects_by_last_activity_at"),
    ];
    let (fresh, analyzed) = (with_many_projects(), with_many_projects());
    analyzed.gather_statistics();
    for database in [fresh, analyzed] {
        for scope in [ProjectScope::All, ProjectScope::VisibleTo(viewer)] {
            let all = || projects(scope);
            for filter in [
                all(),
                ProjectFilter { archived: Some(false), ..all() },
                ProjectFilter { archived: Some(true), ..all() },
                ProjectFilter { visibility: Some(Visibility::Public), ..all() },
                ProjectFilter { search: Some("project".into()), ..all() },
                ProjectFilter { search: Some("p".into()), ..all() },
            ] {
                for (order, index) in orders {
                    for descending in [false, true] {
                        let filter = ProjectFilter { order, descending, ..filter.clone() };
                        let read = |tx: &mut dyn Tx| tx.projects().list(&filter, PAGE).map(|_| ());
                        let plans = plans_in(&database, read);
                        assert_page_goes_by(index, &plans);
                    }
                }
            }
        }
    }
}

#[test]
fn searches_among_all_projects_go_by_the_full_text_indexes() {
    let viewer = Viewer { user: UserId(1), external: false };
    for scope in [ProjectScope::All, ProjectScope::VisibleTo(viewer)] {
        let filter = ProjectFilter { search: Some("lovelace".into()), ..projects(scope) };
        let plans = plans(|tx| tx.projects().list(&filter, PAGE).map(|_| ()));
        let (_, plan) = plans.first().expect("what is searched for is looked up first");
        for index in ["projects_search", "namespaces_search"] {
            let index = format!("SCAN {index} VIRTUAL TABLE INDEX");
            assert!(plan.contains(&index), "{index}: {plan}");
        }
    }
}

#[test]
fn lists_of_what_is_something_to_a_user_go_by_the_indexes_of_that() {
    let user = UserId(1);
    let viewer = Viewer { user, external: false };
    let group = NamespaceId(1);
    let database = with_many_projects();
    for (scope, index) in [
        (ProjectScope::AuthorizedFor(user), "project_members_of_user"),
        (ProjectScope::AuthorizedFor(user), "group_members_of_user"),
        (ProjectScope::AuthorizedFor(user), "project_shares_of_group"),
        (ProjectScope::OwnedBy(user), "group_members_of_user"),
        (ProjectScope::StarredBy(viewer), "stars_of_user"),
        (ProjectScope::SharedWith { group, viewer: None }, "project_shares_of_group"),
    ] {
        for (query, plan) in
            plans_in(&database, |tx| tx.projects().list(&projects(scope), PAGE).map(|_| ()))
        {
            assert!(plan.contains(index), "{index}: {plan}\n{query}");
            assert!(!plan.contains("SCAN projects"), "{scope:?}: {plan}\n{query}");
        }
    }
}
