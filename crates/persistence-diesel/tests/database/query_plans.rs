//! SQLite reads the pages of lists from an index in list order, without sorting.

use crate::support::connect;
use crate::support::plans::{PAGE, assert_goes_by, plans, plans_in};
use diesel::connection::SimpleConnection;
use hexforge_domain::award::Awardable;
use hexforge_domain::branch::BranchName;
use hexforge_domain::build::{BuildFilter, Silence, StatusFilter};
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::delivery::{DeliveryKey, HookRef, NewDelivery};
use hexforge_domain::deployment::Deployment;
use hexforge_domain::group::{GroupFilter, GroupOrder, GroupScope};
use hexforge_domain::id::{
    BoardId, EnvironmentId, IssueId, LabelId, MergeRequestId, MilestoneId, NamespaceId, NoteId,
    PipelineId, ProjectId, SnippetId, UserId,
};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issue::NewIssue;
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::issue::query::{IssueFilter, IssueOrder, IssueScope, LabelFilter};
use hexforge_domain::member::request::RequestSource;
use hexforge_domain::milestone::MilestoneFilter;
use hexforge_domain::note::Noteable;
use hexforge_domain::note::port::NoteReader;
use hexforge_domain::notification::NotificationScope;
use hexforge_domain::paging::Page;
use hexforge_domain::pipeline::PipelineScope;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::project::query::{
    ListAudience, ProjectFilter, ProjectOrder, ProjectScope, Viewer,
};
use hexforge_domain::todo::{TodoAction, TodoFilter, TodoKind, TodoState};
use hexforge_domain::user::UserFilter;
use hexforge_domain::visibility::Visibility;
use hexforge_domain_testing::builders::{
    a_branch, a_build, a_day, a_definition, a_deployment, a_group, a_milestone, a_moment,
    a_pipeline, a_project, a_system_hook, a_tag, a_user, an_environment, an_issue, home_of,
    insert_label,
};
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::connection::DbConn;
use hexforge_persistence_diesel::testing::TestDatabase;

fn list_users(filter: UserFilter) -> impl FnOnce(&mut dyn Tx) -> Result<(), StoreError> + Send {
    // On an empty store, only the queries for the total and the ids run.
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
        assert_goes_by(index, list_users(filter));
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
        assert_goes_by("SCAN users_search VIRTUAL TABLE INDEX", list_users(filter));
    }
}

#[test]
fn what_belongs_to_a_user_is_listed_by_the_index_of_its_owner() {
    let user = UserId(1);
    assert_goes_by("keys_of_user", |tx| tx.keys().list(user, PAGE).map(|_| ()));
    assert_goes_by("keys_of_user", |tx| tx.deploy_keys().all(PAGE).map(|_| ()));
    assert_goes_by("emails_secondary", |tx| tx.emails().list(user, PAGE).map(|_| ()));
    assert_goes_by("group_members_of_user", |tx| tx.group_members().all_of_user(user).map(|_| ()));
    assert_goes_by("project_members_of_user", |tx| {
        tx.project_members().all_of_user(user).map(|_| ())
    });
    assert_goes_by("tokens_of_user", |tx| tx.tokens().list(user, PAGE).map(|_| ()));
    assert_goes_by("tokens_by_end", |tx| tx.tokens().ended_sessions(a_moment(), 9).map(|_| ()));
    assert_goes_by("browser_sessions_of_user", |tx| tx.browser_sessions().list(user).map(|_| ()));
    assert_goes_by("browser_sessions_by_use", |tx| {
        tx.browser_sessions().remove_unused(false, a_moment(), 9).map(|_| ())
    });
    let viewer = Viewer { user, external: false };
    assert_goes_by("events_of_author", |tx| {
        tx.events().authored_by(user, viewer, Clearance::All, a_day(), PAGE).map(|_| ())
    });
}

#[test]
fn snippets_are_listed_by_the_index_of_their_level_and_owner() {
    let (user, project) = (UserId(1), ProjectId(1));
    for (lowest, index) in [
        (Visibility::Private, "snippets_of_project"),
        (Visibility::Internal, "internal_snippets_of_project"),
        (Visibility::Public, "public_snippets_of_project"),
    ] {
        assert_goes_by(index, |tx| tx.snippets().of_project(project, lowest, PAGE).map(|_| ()));
    }
    assert_goes_by("personal_snippets", |tx| tx.snippets().personal(user, PAGE).map(|_| ()));
    assert_goes_by("public_snippets", |tx| tx.snippets().public(PAGE).map(|_| ()));
    let on = Noteable::Snippet(SnippetId(1));
    assert_goes_by("notes_of_snippet", |tx| tx.notes().list(on, None, PAGE).map(|_| ()));
}

#[test]
fn the_requests_that_mention_an_issue_are_found_without_a_scan_of_its_notes() {
    let (on, project) = (Noteable::Issue(IssueId(1)), ProjectId(1));
    let viewer = Viewer { user: UserId(1), external: false };
    for reader in [None, Some(NoteReader { viewer, today: a_day() })] {
        let index = "INDEX notes_of_issue_by_merge_request (issue_id=?)";
        let found = plans(|tx| tx.notes().mentioning_requests(on, project, reader, 20).map(drop));
        let (query, plan) =
            found.iter().find(|(query, _)| query.contains("ORDER BY")).expect("ids");
        assert!(
            plan.contains(index) && !plan.contains("USE TEMP B-TREE FOR ORDER BY"),
            "{plan}\n{query}"
        );
    }
}

#[test]
fn notes_on_lines_are_found_without_a_scan_of_the_notes_of_their_request() {
    let request = MergeRequestId(1);
    assert_goes_by("notes_on_lines", |tx| tx.notes().on_lines(request, 20).map(|_| ()));
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
    assert_goes_by("services_with_url", |tx| tx.services().receivers_of(&[project]).map(|_| ()));
    assert_goes_by("PRIMARY KEY (project_id=?)", |tx| {
        tx.deploy_keys().list(project, PAGE).map(|_| ())
    });
    assert_goes_by("PRIMARY KEY (project_id=?)", |tx| {
        tx.project_members().list(project, None, PAGE).map(|_| ())
    });
    let team = plans(|tx| tx.project_members().team(project, None, a_day(), PAGE).map(|_| ()));
    for (query, plan) in team {
        for step in ["PRIMARY KEY (project_id=?)", "PRIMARY KEY (group_id=?)"] {
            assert!(plan.contains(step), "{step}: {plan}\n{query}");
        }
        for table in ["users", "project_members", "members", "shares", "projects"] {
            assert!(!plan.contains(&format!("SCAN {table}")), "{table}: {plan}\n{query}");
        }
    }
    for (source, index) in [
        (RequestSource::Group(group), "(group_id=?)"),
        (RequestSource::Project(project), "(project_id=?)"),
    ] {
        assert_goes_by(index, move |tx| tx.access_requests().list(source, PAGE).map(|_| ()));
    }
    for query in [None, Some("ada"), Some("a")] {
        assert_goes_by("PRIMARY KEY (group_id=?)", move |tx| {
            tx.group_members().list(group, query, PAGE).map(|_| ())
        });
    }
}

#[test]
fn awards_are_listed_by_the_index_of_their_target() {
    for (on, index) in [
        (Awardable::Issue(IssueId(1)), "awards_on_issue"),
        (Awardable::MergeRequest(MergeRequestId(1)), "awards_on_merge_request"),
        (Awardable::Snippet(SnippetId(1)), "awards_on_snippet"),
        (Awardable::Note(NoteId(1)), "awards_on_note"),
    ] {
        assert_goes_by(index, move |tx| tx.awards().list(on, PAGE).map(drop));
    }
}

#[test]
fn todos_are_listed_by_the_index_of_their_user_project_or_author() {
    let user = UserId(1);
    let reader = NoteReader { viewer: Viewer { user, external: false }, today: a_day() };
    for reader in [None, Some(reader)] {
        let pending =
            TodoFilter { state: Some(TodoState::Pending), ..TodoFilter::all_of(user, reader) };
        let done = TodoFilter { state: Some(TodoState::Done), ..pending.clone() };
        let (project, author) = (Some(ProjectId(1)), Some(UserId(2)));
        let (action, kind) = (TodoAction::Marked, Some(TodoKind::Issue));
        for (filter, index) in [
            (pending.clone(), "todos_of_user (user_id=? AND state=?)"),
            (done, "todos_of_user (user_id=? AND state=?)"),
            (TodoFilter { actions: vec![action], ..pending.clone() }, "todos_of_user"),
            (TodoFilter { kind, ..pending.clone() }, "todos_of_user"),
            (TodoFilter { project, ..pending.clone() }, "todos_of_project"),
            (TodoFilter { author, ..pending.clone() }, "todos_of_author"),
        ] {
            assert_goes_by(index, move |tx| tx.todos().list(&filter, PAGE).map(drop));
        }
    }
}

#[test]
fn notification_settings_are_found_by_user_and_scope() {
    for (scope, index) in [
        (NotificationScope::Global, "notification_settings_for_all"),
        (NotificationScope::Group(NamespaceId(1)), "notification_settings_for_group"),
        (NotificationScope::Project(ProjectId(1)), "notification_settings_for_project"),
    ] {
        assert_goes_by(index, move |tx| tx.notification_settings().get(UserId(1), scope).map(drop));
    }
}

#[test]
fn pending_todos_are_found_by_their_target() {
    let user = UserId(1);
    let commit = Noteable::Commit { project: ProjectId(1), id: ObjectId::ZERO };
    for (target, index) in [
        (IssueId(1).into(), "todos_pending_for_issue"),
        (MergeRequestId(1).into(), "todos_pending_for_merge_request"),
        (commit, "todos_pending_for_commit"),
    ] {
        assert_goes_by(index, move |tx| tx.todos().find_pending(user, target).map(drop));
    }
}

#[test]
fn mentioned_users_are_found_by_indexes() {
    let names = ["ada", "team", "all"];
    let found =
        plans(|tx| tx.project_members().mentioned(ProjectId(1), &names, a_day(), 1000).map(drop));
    assert!(!found.is_empty());
    for (query, plan) in found {
        for table in ["users", "namespaces", "members", "project_members", "shares", "projects"] {
            assert!(!plan.contains(&format!("SCAN {table}")), "{table}: {plan}\n{query}");
        }
    }
}

#[test]
fn the_next_task_on_a_repository_is_read_in_the_order_of_an_index() {
    let now = a_moment();
    // An empty store has no task to claim, so nothing is written.
    assert_goes_by("repository_tasks_due", |tx| tx.repository_tasks().claim(now, now).map(drop));
    let plans = plans(|tx| tx.repository_tasks().claim_local(now, now).map(drop));
    for index in ["repository_tasks_of_project", "repository_tasks_of_user"] {
        assert!(plans.iter().any(|(_, plan)| plan.contains(index)), "{index}: {plans:?}");
    }
}

#[test]
fn what_is_known_of_repositories_is_found_by_the_index_of_its_project() {
    let project = ProjectId(1);
    let tags = [a_tag("v1"), a_tag("v2")];
    assert_goes_by("PRIMARY KEY (project_id=?)", |tx| tx.protections().list(project).map(drop));
    assert_goes_by("(project_id=? AND tag=?)", |tx| {
        tx.releases().of_tags(project, &tags.each_ref()).map(drop)
    });
    assert_goes_by("repository_tasks_of_project", |tx| {
        tx.repository_tasks().imports(&[project, ProjectId(2)]).map(drop)
    });
}

#[test]
fn lists_of_groups_go_by_the_index_of_their_order() {
    let user = UserId(1);
    let database = with_many_projects();
    for (order, index) in
        [(GroupOrder::Name, "groups_by_name"), (GroupOrder::Path, "groups_by_path")]
    {
        for scope in [GroupScope::All, GroupScope::AvailableTo { user, external: false }] {
            for descending in [false, true] {
                let filter = GroupFilter { scope, skip: vec![], search: None, order, descending };
                let read = |tx: &mut dyn Tx| tx.groups().list(&filter, a_day(), PAGE).map(|_| ());
                assert_page_goes_by(index, &plans_in(&database, read));
            }
        }
    }
}

/// Checks that the query for the page reads the index in list order. The query for the total is not checked.
fn assert_page_goes_by(index: &str, plans: &[(String, String)]) {
    let (query, plan) = plans
        .iter()
        .find(|(query, _)| query.contains("ORDER BY") && query.contains("OFFSET"))
        .expect("the ids of a page have an order");
    assert!(plan.contains(&format!("INDEX {index}")), "{index}: {plan}\n{query}");
    assert!(!plan.contains("USE TEMP B-TREE"), "{index}: {plan}\n{query}");
}

/// Creates a database with so many projects that their lists are read from an index in list order.
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

fn project_filter(scope: ProjectScope) -> ProjectFilter {
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
        (ProjectOrder::Stars, "projects_by_star_count"),
    ];
    let (fresh, analyzed) = (with_many_projects(), with_many_projects());
    analyzed.gather_statistics();
    for database in [fresh, analyzed] {
        for scope in [ProjectScope::All, ProjectScope::VisibleTo(viewer)] {
            let all = || project_filter(scope);
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
fn searches_for_what_is_rare_go_by_the_full_text_indexes() {
    let viewer = Viewer { user: UserId(1), external: false };
    for text in ["lovelace", "zz", "z"] {
        let tables = match text.len() {
            3.. => ["projects_search", "namespaces_search"],
            _ => ["projects_search_terms", "namespaces_search_terms"],
        };
        for scope in [ProjectScope::All, ProjectScope::VisibleTo(viewer)] {
            let filter = ProjectFilter { search: Some(text.into()), ..project_filter(scope) };
            let plans = plans(|tx| tx.projects().list(&filter, PAGE).map(|_| ()));
            let [_, (_, plan)] = &plans[..] else { panic!("not two queries: {plans:?}") };
            for table in tables {
                let index = format!("SCAN {table} VIRTUAL TABLE INDEX");
                assert!(plan.contains(&index), "{index}: {plan}");
            }
        }
        let filter = GroupFilter {
            scope: GroupScope::All,
            skip: vec![],
            search: Some(text.into()),
            order: GroupOrder::Name,
            descending: false,
        };
        let plans = plans(|tx| tx.groups().list(&filter, a_day(), PAGE).map(|_| ()));
        let [(_, plan)] = &plans[..] else { panic!("not one query: {plans:?}") };
        assert!(plan.contains(tables[1]), "{plan}");
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
        (
            ProjectScope::SharedWith { group, viewer: ListAudience::Unrestricted },
            "project_shares_of_group",
        ),
    ] {
        for (query, plan) in
            plans_in(&database, |tx| tx.projects().list(&project_filter(scope), PAGE).map(|_| ()))
        {
            assert!(plan.contains(index), "{index}: {plan}\n{query}");
            assert!(!plan.contains("SCAN projects"), "{scope:?}: {plan}\n{query}");
        }
    }
}

#[test]
fn memberships_that_have_ended_are_found_by_the_index_of_their_days() {
    assert_goes_by("group_members_ending (expires_at<?)", |tx| {
        tx.group_members().expired(a_day(), 100).map(|_| ())
    });
    assert_goes_by("project_members_ending (expires_at<?)", |tx| {
        tx.project_members().expired(a_day(), 100).map(|_| ())
    });
}

/// The pages of one project's issues are read from an index in list order, and their totals from the project's
/// counters.
#[test]
fn lists_of_issues_go_by_the_index_of_their_order() {
    let project = IssueScope::Project(ProjectId(1));
    for clearance in [Clearance::All, Clearance::Own(UserId(1))] {
        for (order, open, index) in [
            (IssueOrder::CreatedAt, None, "issues_by_created_at"),
            (IssueOrder::UpdatedAt, None, "issues_by_updated_at"),
            (IssueOrder::CreatedAt, Some(true), "issues_open_by_created_at"),
            (IssueOrder::UpdatedAt, Some(true), "issues_open_by_updated_at"),
            (IssueOrder::CreatedAt, Some(false), "issues_closed_by_created_at"),
            (IssueOrder::UpdatedAt, Some(false), "issues_closed_by_updated_at"),
        ] {
            for descending in [false, true] {
                let filter = IssueFilter {
                    order,
                    open,
                    descending,
                    ..IssueFilter::newest_first(project, clearance, a_day())
                };
                let plans = plans(|tx| tx.issues().list(&filter, PAGE).map(|_| ()));
                let [(_, page), (_, total)] = &plans[..] else {
                    panic!("not two queries: {plans:?}")
                };
                assert!(page.contains(index), "{index}: {page}");
                assert!(!page.contains("USE TEMP B-TREE"), "{index}: {page}");
                assert!(!total.contains("SCAN") && !total.contains("issues_by"), "{total}");
                // The viewer's own confidential issues are counted by the indexes on confidential issues.
                for step in total.split("; ").filter(|step| step.starts_with("SEARCH issues")) {
                    assert!(step.contains("issues_confidential_of"), "{step}");
                }
            }
        }
    }
    let viewer = ListAudience::Viewer(Viewer { user: UserId(1), external: false });
    let own = IssueScope::AuthoredBy(UserId(1), viewer);
    for (order, index) in [
        (IssueOrder::CreatedAt, "issues_of_author_by_created_at"),
        (IssueOrder::UpdatedAt, "issues_of_author_by_updated_at"),
    ] {
        let filter =
            IssueFilter { order, ..IssueFilter::newest_first(own, Clearance::All, a_day()) };
        let plans = plans(|tx| tx.issues().list(&filter, PAGE).map(|_| ()));
        assert!(plans[1].1.contains(index), "{index}: {}", plans[1].1);
    }
}

/// Creates a database with an issue in a project of a group. The issue has two labels and a milestone.
fn with_a_labelled_issue() -> TestDatabase {
    let database = TestDatabase::migrated_sqlite();
    let store = database.open(Options::default());
    let store: &dyn Store = &store;
    let made: Result<(), StoreError> = store.write(|tx| {
        let ada = a_user("ada").insert(tx)?.id;
        let group = a_group("team").insert(tx)?.id;
        let project = a_project("site", group, ada).public().insert(tx)?.id;
        assert_eq!((ada, group, project), (UserId(1), NamespaceId(1), ProjectId(1)));
        let goal = tx.milestones().insert(a_milestone(project, "1.0"))?.id;
        let labels = [insert_label(tx, project, "bug")?.id, insert_label(tx, project, "wish")?.id];
        let new = NewIssue { milestone: Some(goal), ..an_issue(project, ada, "an issue") };
        let issue = tx.issues().insert(new)?.id;
        tx.issues().set_labels(issue, &labels)
    });
    made.expect("an empty store can be filled");
    database
}

/// A few issues out of many are found by the index on their label or milestone. The total is read from its counters.
#[test]
fn issues_of_a_label_or_milestone_are_found_by_it_and_counted_without_issues() {
    let database = with_a_labelled_issue();
    let viewer = ListAudience::Viewer(Viewer { user: UserId(1), external: false });
    let labels = Some(LabelFilter::Any(vec!["bug".into()]));
    for (scope, clearance) in [
        (IssueScope::Project(ProjectId(1)), Clearance::All),
        (IssueScope::Group(NamespaceId(1), viewer), Clearance::ByRole(UserId(1))),
    ] {
        let all = IssueFilter::newest_first(scope, clearance, a_day());
        for (filter, index) in [
            (IssueFilter { labels: labels.clone(), ..all.clone() }, "issue_labels_of_label"),
            (IssueFilter { milestone: Some("1.0".into()), ..all }, "issues_of_milestone"),
        ] {
            let plans = plans_in(&database, |tx| tx.issues().list(&filter, PAGE).map(|_| ()));
            // A milestone of a group is looked up first.
            let is_looked_up = filter.milestone.is_some() && matches!(scope, IssueScope::Group(..));
            let plans = &plans[usize::from(is_looked_up)..];
            let (total, page) = (&plans[0].1, &plans[1].1);
            assert!(page.contains(index), "{index}: {page}");
            for plan in [total, page] {
                assert!(!plan.contains("issues_by_created_at"), "{plan}");
                assert!(!plan.contains("SCAN kept"), "{plan}");
            }
            // The viewer's own confidential issues are counted by the indexes on confidential issues.
            for step in total.split("; ").filter(|step| step.starts_with("SEARCH issues")) {
                assert!(step.contains("issues_confidential_of"), "{step}");
            }
        }
    }
}

#[test]
fn own_issues_of_a_label_are_found_by_the_index_of_their_author() {
    let database = with_a_labelled_issue();
    let own = IssueScope::AuthoredBy(UserId(1), ListAudience::Unrestricted);
    let all = IssueFilter::newest_first(own, Clearance::All, a_day());
    let filter = IssueFilter { labels: Some(LabelFilter::All(vec!["bug".into()])), ..all };
    let plans = plans_in(&database, |tx| tx.issues().list(&filter, PAGE).map(|_| ()));
    for (query, plan) in &plans[..3] {
        assert!(plan.contains("issue_labels_of_author (author_id=?"), "{plan}\n{query}");
        assert!(!plan.contains("issues_of_author_by"), "{plan}\n{query}");
    }
}

/// Rows of projects contain their counters, so nothing is counted.
#[test]
fn the_rows_of_a_page_of_projects_count_nothing() {
    let database = with_a_labelled_issue();
    let read = |tx: &mut dyn Tx| {
        tx.projects().find_all(&[ProjectId(1), ProjectId(2)])?;
        tx.projects().find(&ProjectRef::Id(ProjectId(1))).map(drop)
    };
    let plans = plans_in(&database, read);
    assert_eq!(plans.len(), 2);
    for (query, plan) in plans {
        assert!(!query.contains("count(*)"), "{query}");
        assert!(!plan.contains("SCAN"), "{plan}");
    }
}

#[test]
fn the_last_page_of_users_is_read_from_the_end() {
    let database = TestDatabase::migrated_sqlite();
    database.execute(
        "INSERT INTO users (username, name, email, password_hash, state, admin, external, can_create_group,
             projects_limit, theme_id, color_scheme_id, two_factor_enabled, created_at, updated_at, search_text)
         WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 300)
         SELECT 'user' || n, 'User', 'user' || n || '@example.com', '-', 'active', 0, 0, 0, 1, 1, 1, 0,
             '2016-09-22 10:30:00', '2016-09-22 10:30:00', 'user' || n || '@example.com'
         FROM numbers;",
    );
    let last = Page::Numbered { number: 15, size: 20 };
    for search in [None, Some("example".to_owned())] {
        let filter = UserFilter { search, ..UserFilter::default() };
        let plans = plans_in(&database, |tx| {
            let page = tx.users().list(&filter, last)?;
            let ids: Vec<i64> = page.items.iter().map(|user| user.id.0).collect();
            assert_eq!(ids, (1..=20).rev().collect::<Vec<_>>());
            Ok(())
        });
        let page = plans.iter().find(|(query, _)| query.contains("OFFSET")).expect("a page");
        assert!(!page.0.contains("DESC"), "{}", page.0);
        assert!(page.0.ends_with("20, 0]"), "{}", page.0);
        assert!(!page.1.contains("USE TEMP B-TREE"), "{}", page.1);
    }
}

/// The projects of a large group are read in list order, from an index that begins with the group.
#[test]
fn searches_in_a_large_group_stay_inside_of_it() {
    let database = with_many_projects();
    let viewer = ListAudience::Viewer(Viewer { user: UserId(1), external: false });
    for (order, index) in [
        (ProjectOrder::Name, "sqlite_autoindex_projects"),
        (ProjectOrder::Path, "projects_inside_by_path"),
        (ProjectOrder::CreatedAt, "projects_inside_by_created_at"),
        (ProjectOrder::UpdatedAt, "projects_inside_by_updated_at"),
        (ProjectOrder::LastActivityAt, "projects_inside_by_last_activity_at"),
    ] {
        for descending in [false, true] {
            let scope = ProjectScope::OfGroup { group: NamespaceId(1), viewer };
            let search = Some("project".to_owned());
            let filter = ProjectFilter { search, order, descending, ..project_filter(scope) };
            let read = |tx: &mut dyn Tx| tx.projects().list(&filter, PAGE).map(drop);
            let plans = plans_in(&database, read);
            let page = plans.iter().find(|(query, _)| query.contains("AS inside"));
            let (query, plan) = page.expect("the group is gone through");
            let inside = plan.split("; ").find(|step| step.contains("(namespace_id=?"));
            assert!(inside.is_some_and(|step| step.contains(index)), "{plan}\n{query}");
        }
    }
}

/// No query about issues scans a whole table.
#[test]
fn nothing_about_issues_scans_a_table() {
    let (project, user) = (ProjectId(1), UserId(1));
    let labels: Vec<LabelId> = (1..=3).map(LabelId).collect();
    let issues: Vec<IssueId> = (1..=3).map(IssueId).collect();
    let any = Some(LabelFilter::Any(vec!["bug".into(), "wish".into()]));
    let all = Some(LabelFilter::All(vec!["bug".into(), "wish".into()]));
    let group =
        IssueScope::Group(NamespaceId(1), ListAudience::Viewer(Viewer { user, external: false }));
    let scopes = [
        IssueScope::Project(project),
        IssueScope::Milestone(project, MilestoneId(1)),
        IssueScope::AuthoredBy(user, ListAudience::Unrestricted),
        group,
    ];
    let database = with_a_labelled_issue();
    let found = plans_in(&database, |tx| {
        for scope in scopes {
            for labels in [None, any.clone(), all.clone()] {
                for milestone in [None, Some("1.0".to_owned())] {
                    let filter = IssueFilter {
                        labels: labels.clone(),
                        milestone,
                        ..IssueFilter::newest_first(scope, Clearance::ByRole(user), a_day())
                    };
                    tx.issues().list(&filter, PAGE)?;
                }
            }
        }
        tx.issues().labels_of(&issues)?;
        let on: Vec<Issuable> = issues.iter().map(|id| Issuable::from(*id)).collect();
        tx.issuables().details(user, &on)?;
        tx.issuables().subscription(user, on[0])?;
        tx.awards().of_discussion(on[0].into(), &[NoteId(1)], 100)?;
        tx.issues().find_all(&issues)?;
        tx.labels().list(project, PAGE)?;
        tx.labels().subscribed(user, &labels)?;
        tx.labels().count_confidential(project, user, &labels)?;
        tx.labels().find_by_title(project, "bug")?;
        tx.labels().find(project, LabelId(1))?;
        let viewer = Viewer { user, external: false };
        tx.group_labels().list(NamespaceId(1), PAGE)?;
        tx.group_labels().find_by_title(NamespaceId(1), "bug")?;
        tx.group_labels().is_title_used_in_projects(NamespaceId(1), "bug")?;
        tx.group_labels().counts(&labels, ListAudience::Viewer(viewer), a_day())?;
        tx.group_labels().counts(&labels, ListAudience::Unrestricted, a_day())?;
        tx.issues().find_by_iids(project, &[1, 2])?;
        tx.milestones().list(project, &MilestoneFilter::default(), PAGE)?;
        tx.boards().find(project)?;
        tx.boards().lists(BoardId(1), PAGE)?;
        tx.events().of_project(project, Clearance::Own(user), a_day(), PAGE)?;
        let viewer = Viewer { user, external: false };
        tx.events().authored_by(user, viewer, Clearance::ByRole(user), a_day(), PAGE)?;
        Ok(())
    });
    for (query, plan) in found {
        for table in [
            "issues",
            "labels",
            "issue_labels",
            "notes",
            "milestones",
            "boards",
            "board_lists",
            "events",
            "has",
            "kept",
        ] {
            for step in plan.split("; ") {
                let scans =
                    step == format!("SCAN {table}") || step.starts_with(&format!("SCAN {table} "));
                assert!(!scans, "{step}: {query}");
            }
        }
    }
}

#[test]
fn labels_milestones_and_lists_go_by_the_index_of_their_order() {
    let project = ProjectId(1);
    assert_goes_by("(project_id=?)", |tx| tx.labels().list(project, PAGE).map(|_| ()));
    assert_goes_by("milestones_of_project", |tx| {
        tx.milestones().list(project, &MilestoneFilter::default(), PAGE).map(|_| ())
    });
    assert_goes_by("board_lists", |tx| tx.boards().lists(BoardId(1), PAGE).map(|_| ()));
}

#[test]
fn pipelines_builds_triggers_and_variables_go_by_the_index_of_their_order() {
    let project = ProjectId(1);
    assert_goes_by("pipelines_of_project", |tx| {
        tx.pipelines().list(project, PipelineScope::All, PAGE).map(|_| ())
    });
    assert_goes_by("pipelines_active", |tx| {
        tx.pipelines().list(project, PipelineScope::Active, PAGE).map(|_| ())
    });
    for scope in [PipelineScope::Branches, PipelineScope::Tags] {
        assert_goes_by("ref_pipelines_present", |tx| {
            tx.pipelines().list(project, scope, PAGE).map(|_| ())
        });
    }
    assert_goes_by("pipelines_of_ref", |tx| {
        tx.pipelines().newest_with_status(project, "master", Status::Success).map(|_| ())
    });
    assert_goes_by("pipelines_of_commit", |tx| {
        tx.pipelines().of_commit(project, ObjectId::ZERO).map(|_| ())
    });
    assert_goes_by("builds_of_project", |tx| {
        tx.builds().list(project, &BuildFilter::default(), PAGE).map(|_| ())
    });
    assert_goes_by("builds_of_pipeline", |tx| tx.builds().of_pipeline(PipelineId(1)).map(|_| ()));
    assert_goes_by("builds_waited_for", |tx| {
        let since = Silence { pending: a_moment(), running: a_moment() };
        tx.builds().silent_since(since, 100).map(|_| ())
    });
    assert_goes_by("builds_with_expiring_artifacts", |tx| {
        tx.builds().with_artifacts_expired(a_moment(), 100).map(|_| ())
    });
    assert_goes_by("triggers_of_project", |tx| tx.triggers().list(project, PAGE).map(|_| ()));
    assert_goes_by("variables_of_project", |tx| tx.variables().list(project, PAGE).map(|_| ()));
    assert_goes_by("environments_of_project", |tx| {
        tx.environments().list(project, PAGE).map(|_| ())
    });
    for branches in [&["topic"][..], &["topic", "other", "third"]] {
        let branches: Vec<BranchName> = branches.iter().map(|name| a_branch(name)).collect();
        assert_goes_by("environments_to_stop", |tx| {
            tx.environments().to_stop(project, &branches, 9).map(|_| ())
        });
    }
    assert_goes_by("deployments_of_environment", |tx| {
        tx.deployments().last_to(EnvironmentId(1)).map(|_| ())
    });
}

/// Sorting is allowed here, because a commit has few builds.
#[test]
fn builds_of_a_commit_scan_no_table() {
    let project = ProjectId(1);
    let commit = ObjectId::ZERO;
    let found = plans(|tx| {
        let one = Some(commit);
        let failed = Some(vec![Status::Failed, Status::Success]);
        for statuses in [None, failed] {
            for commit in [None, one] {
                let filter = BuildFilter { statuses: statuses.clone(), commit };
                tx.builds().list(project, &filter, PAGE)?;
            }
        }
        let all = StatusFilter {
            commit,
            reference: Some("master".into()),
            stage: Some("test".into()),
            name: Some("rspec".into()),
            superseded: false,
        };
        tx.builds().statuses(project, &all, PAGE).map(|_| ())
    });
    for (query, plan) in found {
        for step in plan.split("; ") {
            let scans = ["SCAN builds", "SCAN pipelines"].iter().any(|scan| step.starts_with(scan));
            assert!(!scans, "{step}: {query}");
        }
    }
}

#[test]
fn what_hooks_are_sent_is_found_by_indexes() {
    assert_goes_by("hook_lanes_due", |tx| tx.deliveries().any_due(a_moment()).map(drop));
    let database = TestDatabase::migrated_sqlite();
    let store = database.open(Options::default());
    let store: &dyn Store = &store;
    let hook = store.write(|tx| {
        let hook = a_system_hook("http://a.example");
        let hook = HookRef::System(tx.system_hooks().insert(hook, a_moment())?.id);
        let payload = tx.deliveries().insert_payload("x", a_moment())?;
        let (key, event) = (DeliveryKey::new([1; 16]), "System Hook".to_owned());
        let new = NewDelivery { key, hook, event, payload, at: a_moment() };
        tx.deliveries().insert(&[new])?;
        Ok::<_, StoreError>(hook)
    });
    let hook = hook.expect("a hook can be sent something");
    let plans = plans_in(&database, |tx| {
        tx.delivery_log().list(hook, PAGE)?;
        tx.delivery_log().queue()?;
        Ok(())
    });
    let of_deliveries = plans.iter().filter(|(query, _)| query.contains("deliveries"));
    for (query, plan) in of_deliveries {
        assert!(!plan.contains("USE TEMP B-TREE"), "{query}: {plan}");
        assert!(!plan.contains("SCAN deliveries") || plan.contains("INDEX"), "{query}: {plan}");
    }
}

/// The newest deployments are on the last page. Its query reads the page only, from the end of the index, and the total
/// is not counted.
#[test]
fn the_last_page_of_deployments_is_read_from_the_end() {
    const TOTAL: i64 = 1_000;
    let database = TestDatabase::sqlite();
    let store = database.open(Options::default());
    let store: &dyn Store = &store;
    let ada = a_user("ada").stored_in(store).id;
    let project = a_project("site", home_of(store, ada), ada).stored_in(store).id;
    let made: Result<Vec<Deployment>, StoreError> = store.write(|tx| {
        let pipeline = tx.pipelines().insert(a_pipeline(project))?;
        let definition = tx.builds().define(pipeline.id, &a_definition())?;
        let build = tx.builds().insert(a_build(&pipeline, definition, "deploy"))?;
        let environment = tx.environments().insert(an_environment(project, "production"))?;
        (0..TOTAL).map(|_| tx.deployments().insert(a_deployment(&environment, &build))).collect()
    });
    let made = made.expect("the store takes deployments");
    for (number, skipped) in [(2, 20), (25, 480), (27, 460), (50, 0)] {
        let page = Page::Numbered { number, size: 20 };
        let offset = page.offset() as usize;
        let expected = made[offset..offset + 20].to_vec();
        let found = plans_in(&database, |tx| {
            let listed = tx.deployments().list(project, page)?;
            assert_eq!((listed.items, listed.total), (expected, TOTAL as u64), "{number}");
            Ok(())
        });
        assert!(!found.iter().any(|(query, _)| query.contains("count(*)")), "{found:?}");
        let ids = found.iter().find(|(query, _)| query.contains("ORDER BY id"));
        let (query, plan) = ids.expect("the query of the page");
        assert!(plan.contains("deployments_of_project"), "{plan}");
        assert!(!plan.contains("USE TEMP B-TREE"), "{plan}");
        assert_eq!(query.contains("ORDER BY id DESC"), number > 25, "{query}");
        assert!(query.contains(&format!(", 20, {skipped}]")), "{number}: {query}");
    }
}
