//! The dependent rows of removed entities are deleted in batches, and none is left.

use std::collections::BTreeSet;

use crate::support::databases;
use hexforge_domain::award::Awardable;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::deployment::NewDeployment;
use hexforge_domain::id::{EnvironmentId, IssueId, PipelineId, ProjectId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::member::request::RequestSource;
use hexforge_domain::merge_request::NewVersion;
use hexforge_domain::merge_request::version::VersionCommits;
use hexforge_domain::note::Noteable;
use hexforge_domain::notification::{NotificationChange, NotificationScope};
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::ports::vault::Sealed;
use hexforge_domain::project::{CoverageExpression, Starred};
use hexforge_domain::refs::Ref;
use hexforge_domain::removal::Step;
use hexforge_domain::service::ServiceKind;
use hexforge_domain::subscription::Subscribed;
use hexforge_domain::variable::VariableKey;
use hexforge_domain_testing::builders::{
    a_build, a_definition, a_deployment, a_group, a_hook, a_key, a_member, a_merge_request,
    a_milestone, a_moment, a_note, a_pipeline, a_project, a_protection, a_release, a_runner,
    a_service, a_share, a_snippet, a_todo, a_user, an_award, an_environment, an_event, an_import,
    an_issue, home_of, insert_label,
};
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_persistence_diesel::{DatabaseUrl, Options};

const STEPS: &str = include_str!("../../src/removal/steps.rs");
/// The number of rows in each of the large tables.
const MANY: i64 = 5_000;
const LIMIT: u32 = 700;

/// Returns the tables whose rows the database deletes by cascade with rows of this table.
fn cascading_tables(database: &TestDatabase, table: &str) -> Vec<String> {
    database.texts(&match database.url {
        DatabaseUrl::Sqlite(_) => format!(
            "SELECT tables.name FROM sqlite_master AS tables \
             JOIN pragma_foreign_key_list(tables.name) AS refers \
             WHERE tables.type = 'table' AND refers.\"table\" = '{table}' AND refers.on_delete = 'CASCADE'"
        ),
        DatabaseUrl::Postgres(_) => format!(
            "SELECT conrelid::regclass::text FROM pg_constraint \
             WHERE contype = 'f' AND confdeltype = 'c' AND confrelid = '{table}'::regclass"
        ),
    })
}

/// Otherwise the database would delete all rows of the table at once, by cascade.
#[test]
fn every_table_below_a_root_is_removed_in_steps() {
    for database in databases() {
        drop(database.open(Options::default()));
        for root in ["project_roots", "namespace_roots", "user_roots"] {
            let (mut seen, mut next) = (BTreeSet::new(), vec![root.to_owned()]);
            while let Some(table) = next.pop() {
                for found in cascading_tables(&database, &table) {
                    let is_named = STEPS.contains(&format!("\"{found}\""));
                    assert!(is_named, "`{found}` is below `{table}`");
                    if seen.insert(found.clone()) {
                        next.push(found);
                    }
                }
            }
            assert!(!seen.is_empty(), "{root}");
        }
    }
}

/// Inserts at least one row into each table that references a project.
fn insert_one_of_each(
    tx: &mut dyn Tx,
    project: ProjectId,
    user: UserId,
) -> Result<(IssueId, PipelineId), StoreError> {
    let label = insert_label(tx, project, "bug")?;
    tx.milestones().insert(a_milestone(project, "1.0"))?;
    let issue = tx.issues().insert(an_issue(project, user, "an issue"))?.id;
    tx.issues().set_labels(issue, &[label.id])?;
    let note = tx.notes().insert(a_note(project, issue, user, "a note"))?.id;
    for on in [note.into(), Awardable::Issue(issue)] {
        tx.awards().insert(an_award(on, user, "tada"))?;
    }
    tx.todos().insert(&[a_todo(project, issue, user)])?;
    tx.events().insert(an_event(project, user))?;
    let request = tx.merge_requests().insert(a_merge_request(project, user, "a request"))?.id;
    tx.merge_requests().set_labels(request, &[label.id])?;
    let commits = VersionCommits::default();
    let version = NewVersion { request, commits, size: None, at: a_moment() };
    tx.merge_requests().insert_version(version)?;
    tx.issuables().subscribe(request.into(), user, Subscribed::Yes)?;
    tx.issuables().participate(request.into(), user)?;
    tx.notes().insert(a_note(project, request, user, "a note"))?;
    let commit = Noteable::Commit { project, id: ObjectId::ZERO };
    tx.notes().insert(a_note(project, commit, user, "a note"))?;
    let snippet = tx.snippets().insert(a_snippet(Some(project), user))?.id;
    tx.notes().insert(a_note(project, snippet, user, "a note"))?;
    let board = tx.boards().insert(project)?;
    tx.boards().insert_list(board.id, label.id, a_moment())?;
    let pipeline = tx.pipelines().insert(a_pipeline(project))?;
    let definition = tx.builds().define(pipeline.id, &a_definition())?;
    let build = tx.builds().insert(a_build(&pipeline, definition, "test"))?;
    let environment = tx.environments().insert(an_environment(project, "production"))?;
    let by_user = NewDeployment { user: Some(user), ..a_deployment(&environment, &build) };
    tx.deployments().insert(by_user)?;
    let trigger = tx.triggers().insert(project, a_moment())?.id;
    tx.triggers().record_use(trigger, pipeline.id, &Sealed(vec![1]), a_moment())?;
    let runner = tx.runners().insert(a_runner("a runner"))?;
    tx.runners().bind(runner.id, project)?;
    tx.project_hooks().insert(project, a_hook("http://example.com"), a_moment())?;
    if let Some(slack) = ServiceKind::slack() {
        tx.services().insert(project, slack, a_service(), a_moment())?;
    }
    let deploy_key = tx.deploy_keys().insert(a_key(1), a_moment())?;
    tx.deploy_keys().attach(deploy_key.id, project)?;
    tx.protections().put(project, &a_protection("master"))?;
    tx.releases().insert(project, &a_release("v1", "text"), a_moment())?;
    tx.stars().put(project, user, Starred::Yes, a_moment())?;
    tx.project_members().insert(project, a_member(user, AccessLevel::Master))?;
    tx.access_requests().insert(RequestSource::Project(project), user, a_moment())?;
    let scope = NotificationScope::Project(project);
    tx.notification_settings().change(user, scope, &NotificationChange::default())?;
    tx.repository_tasks().insert(project, &an_import(user), a_moment())?;
    tx.variables().insert(project, &VariableKey::stored("A".into()), &Sealed(vec![1]))?;
    let coverage = CoverageExpression::stored("[0-9]+".into());
    tx.projects().set_coverage_expression(project, Some(&coverage))?;
    let (object, pack) = (ObjectId::from_bytes([1; 20]), PackName::from_bytes([1; 32]));
    tx.refs().lock(project)?;
    tx.refs()
        .put(project, &[Ref { name: "refs/heads/master".into(), target: object, peeled: None }])?;
    tx.packs().add(project, &[Pack { name: pack, bytes: 100, objects: 1 }], a_moment())?;
    let group = a_group("team").insert(tx)?;
    tx.shares().insert(a_share(project, group.id, AccessLevel::Guest))?;
    Ok((issue, pipeline.id))
}

/// Inserts many rows into the tables in which a project may have many.
fn insert_many(database: &TestDatabase, project: ProjectId, issue: IssueId, pipeline: PipelineId) {
    let now = "CURRENT_TIMESTAMP";
    let numbers = format!(
        "WITH RECURSIVE numbers (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM numbers WHERE i < {MANY})"
    );
    let user = format!("(SELECT author_id FROM issues WHERE id = {issue})");
    for (table, columns, values) in [
        (
            "issues",
            "project_id, iid, author_id, title, state, confidential, created_at, updated_at",
            format!("{project}, i, {user}, 'many', 'opened', FALSE, {now}, {now}"),
        ),
        (
            "notes",
            "project_id, issue_id, author_id, body, system, created_at, updated_at",
            format!("{project}, {issue}, {user}, 'many', FALSE, {now}, {now}"),
        ),
        (
            "merge_requests",
            "project_id, iid, source_project_id, source_branch, target_branch, author_id, title, state, \
             merge_status, seen_source, seen_target, created_at, updated_at",
            format!(
                "{project}, i, {project}, 'a' || i, 'b', {user}, 'many', 'opened', 'unchecked', 0, 0, {now}, {now}"
            ),
        ),
        (
            "events",
            "project_id, author_id, action, created_at",
            format!("{project}, {user}, 'created', {now}"),
        ),
        (
            "refs",
            "project_id, name, target",
            format!(
                "{project}, 'refs/heads/many/' || i, \
                 (SELECT target FROM refs WHERE project_id = {project})"
            ),
        ),
        (
            "deployments",
            "project_id, iid, environment_id, build_id, reference, sha, created_at",
            format!(
                "{project}, i, (SELECT id FROM environments WHERE project_id = {project}), \
                 (SELECT id FROM builds WHERE project_id = {project}), 'master', '', {now}"
            ),
        ),
        (
            "build_definitions",
            "pipeline_id, commands, options, variables",
            format!("{pipeline}, '', '{{}}', '[]'"),
        ),
    ] {
        database.execute(&format!(
            "INSERT INTO {table} ({columns}) {numbers} SELECT {values} FROM numbers"
        ));
    }
    database.execute(&format!(
        "INSERT INTO awards (note_id, user_id, name, created_at) \
         SELECT id, author_id, 'many', {now} FROM notes WHERE body = 'many'; \
         INSERT INTO todos \
         (user_id, project_id, issue_id, author_id, action, note_id, state, created_at) \
         SELECT author_id, project_id, issue_id, author_id, 'mentioned', id, 'done', {now} \
         FROM notes WHERE body = 'many'"
    ));
    for (table, columns, values) in [
        ("merge_request_versions", "merge_request_id, created_at", format!("id, {now}")),
        ("merge_request_participants", "merge_request_id, user_id", "id, author_id".to_owned()),
    ] {
        database.execute(&format!(
            "INSERT INTO {table} ({columns}) SELECT {values} FROM merge_requests WHERE title = 'many'"
        ));
    }
    database.execute(&format!(
        "INSERT INTO issue_labels (issue_id, label_id, author_id) \
         SELECT issues.id, labels.id, issues.author_id \
         FROM issues JOIN labels ON labels.project_id = issues.project_id WHERE issues.id <> {issue}; \
         INSERT INTO fork_counts (project_id, forks) VALUES ({project}, 1); \
         INSERT INTO copied_repositories (project_id) VALUES ({project})"
    ));
}

/// Counts the rows of all tables that depend on projects.
fn count_rows(database: &TestDatabase) -> i64 {
    let mut tables: BTreeSet<String> = ["project_roots"].map(str::to_owned).into();
    let mut next = vec!["project_roots".to_owned()];
    while let Some(table) = next.pop() {
        let found = cascading_tables(database, &table);
        next.extend(found.into_iter().filter(|table| tables.insert(table.clone())));
    }
    tables.iter().map(|table| database.number(&format!("SELECT count(*) FROM {table}"))).sum()
}

#[test]
fn no_step_removes_more_than_it_may_and_nothing_is_left() {
    for database in databases() {
        let store = database.open(Options::default());
        let store: &dyn Store = &store;
        let ada = a_user("ada").stored_in(store).id;
        let project = a_project("site", home_of(store, ada), ada).stored_in(store).id;
        let empty = count_rows(&database) - 1;
        let (issue, pipeline) = store
            .write::<_, StoreError>(|tx| insert_one_of_each(tx, project, ada))
            .expect("all of it fits");
        insert_many(&database, project, issue, pipeline);
        let of_project = |table: &String| {
            database.number(&format!("SELECT count(*) FROM {table} WHERE project_id = {project}"))
        };
        let tables = database.tables_with("project_id");
        let missing: Vec<&String> = tables.iter().filter(|table| of_project(table) == 0).collect();
        assert!(missing.is_empty(), "the project has no row in {missing:?}");

        store.write::<_, StoreError>(|tx| tx.projects().delete(project)).expect("it can go");
        let mut left = count_rows(&database);
        assert!(left > 4 * MANY, "{left} rows are left");
        let mut steps = 0;
        loop {
            let step = store.write::<_, StoreError>(|tx| tx.removals().step(LIMIT));
            let now = count_rows(&database);
            let removed = left - now;
            assert!((0..=i64::from(LIMIT) + 1).contains(&removed), "a step removed {removed} rows");
            left = now;
            steps += 1;
            match step.expect("nobody is in the way") {
                Step::Rows => (),
                Step::Project(gone) => {
                    assert_eq!(gone, project);
                    break;
                }
                Step::LfsNetwork(_) | Step::Nothing => panic!("the project was not finished"),
            }
        }
        assert!(steps > 4 * MANY / i64::from(LIMIT), "{steps} steps");
        // The rows of packs are deleted later than the project.
        let (now, later) = (a_moment(), a_moment() + chrono::TimeDelta::seconds(1));
        let forgotten = store.write(|tx| tx.packs().forget_retired(now, later, 10));
        assert_eq!(forgotten.expect("retired packs can be forgotten"), 1);
        assert_eq!(count_rows(&database), empty);
        for table in &tables {
            assert_eq!(of_project(table), 0, "{table}");
        }
    }
}

/// A request that deletes an environment deletes a bounded number of rows. Steps delete the others.
#[test]
fn an_environment_with_many_deployments_is_removed_in_steps() {
    for database in databases() {
        let store = database.open(Options::default());
        let store: &dyn Store = &store;
        let ada = a_user("ada").stored_in(store).id;
        let project = a_project("site", home_of(store, ada), ada).stored_in(store).id;
        let (issue, pipeline) = store
            .write::<_, StoreError>(|tx| insert_one_of_each(tx, project, ada))
            .expect("all of it fits");
        insert_many(&database, project, issue, pipeline);
        let environment = database.number("SELECT id FROM environments");
        let left = || database.number("SELECT count(*) FROM deployments");
        let mut before = left();
        assert_eq!(before, MANY);
        let delete = |tx: &mut dyn Tx| tx.environments().delete(EnvironmentId(environment));
        store.write::<_, StoreError>(delete).expect("it can go");
        assert!((1..=1_000).contains(&(before - left())), "{} rows were left", left());
        while store.read::<_, StoreError>(|tx| tx.removals().pending()).expect("readable") {
            before = left();
            store.write::<_, StoreError>(|tx| tx.removals().step(LIMIT)).expect("a step");
            assert!(before - left() <= i64::from(LIMIT), "a step removed {}", before - left());
        }
        assert_eq!((left(), database.number("SELECT count(*) FROM environments")), (0, 0));
    }
}
