//! The schema's history: up, down and up again on both databases.

use std::sync::Barrier;
use std::thread;

use crate::support::{connect, databases};
use diesel::prelude::*;
use diesel::sql_types::Text;
use diesel_migrations::MigrationHarness;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::issuable::Issuable;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::member::request::RequestSource;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::note::Noteable;
use hexforge_domain::notification::{NotificationChange, NotificationScope};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::ports::vault::Sealed;
use hexforge_domain::project::Starred;
use hexforge_domain::repository::task::TaskKind;
use hexforge_domain::service::ServiceKind;
use hexforge_domain::variable::VariableKey;
use hexforge_domain_testing::builders::{
    a_branch, a_broadcast, a_build, a_definition, a_deployment, a_group, a_hook, a_key, a_member,
    a_merge_request, a_moment, a_note, a_pipeline, a_project, a_protection, a_release,
    a_request_branch, a_runner, a_service, a_share, a_snippet, a_system_hook, a_todo, a_user,
    an_award, an_environment, an_event, an_import, an_issue, home_of,
};
use hexforge_persistence_diesel::connection::DbConn;
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_persistence_diesel::{DieselStore, Options, migrations, store};

#[derive(QueryableByName)]
struct Named {
    #[diesel(sql_type = Text)]
    name: String,
}

/// Returns the names of all objects in a database, except diesel's table of applied migrations.
fn schema_objects(conn: &mut DbConn) -> Vec<String> {
    let query = match conn {
        DbConn::Sqlite(_) => {
            "SELECT name FROM sqlite_master WHERE name NOT LIKE 'sqlite_%' \
             AND tbl_name <> '__diesel_schema_migrations' ORDER BY name"
        }
        DbConn::Postgres(_) => {
            "SELECT relname::text AS name FROM pg_class \
             WHERE relnamespace = current_schema()::regnamespace \
             AND relname NOT LIKE '\\_\\_diesel%' ORDER BY relname"
        }
    };
    let found: Vec<Named> = match conn {
        DbConn::Sqlite(conn) => diesel::sql_query(query).load(conn),
        DbConn::Postgres(conn) => diesel::sql_query(query).load(conn),
    }
    .expect("every database can list what is in it");
    found.into_iter().map(|object| object.name).collect()
}

#[test]
fn both_databases_have_the_same_history() {
    let (sqlite, postgres) = migrations::names().expect("the migrations are compiled in");
    assert_eq!(sqlite, postgres);
    assert!(!sqlite.is_empty());
    assert!(sqlite.is_sorted(), "applied in the order of their stamps: {sqlite:?}");
    let stamp = |name: &String| name.split('_').next().map(str::to_owned);
    let mut stamps: Vec<Option<String>> = sqlite.iter().map(stamp).collect();
    stamps.dedup();
    assert_eq!(stamps.len(), sqlite.len(), "two migrations have the same stamp: {sqlite:?}");
}

#[test]
fn everything_is_pending_before_the_first_run_and_nothing_after_it() {
    let (names, _) = migrations::names().expect("the migrations are compiled in");
    for database in databases() {
        let mut conn = connect(&database.url);
        let pending = |conn: &mut DbConn| migrations::pending(conn).expect("a readable history");
        assert_eq!(pending(&mut conn), names);
        assert_eq!(migrations::run(&mut conn).expect("an empty database").len(), names.len());
        assert!(pending(&mut conn).is_empty());
        assert!(store::pending_migrations(&database.url).expect("reachable").is_empty());
        assert!(migrations::run(&mut conn).expect("nothing to do").is_empty());
    }
}

#[test]
fn the_history_can_be_taken_back_and_applied_again() {
    for database in databases() {
        let mut conn = connect(&database.url);
        migrations::run(&mut conn).expect("an empty database can be migrated");
        let first = schema_objects(&mut conn);
        assert!(first.iter().any(|name| name == "users"), "{first:?}");
        // The tables have rows, because other rows may reference them.
        fill(&database);
        migrations::revert_all(&mut conn).expect("every migration can be taken back");
        assert_eq!(schema_objects(&mut conn), Vec::<String>::new(), "nothing is left");
        migrations::run(&mut conn).expect("an emptied database can be migrated");
        assert_eq!(schema_objects(&mut conn), first);
        fill(&database);
    }
}

/// Inserts rows into most tables. The database must be empty and its schema complete.
fn fill(database: &TestDatabase) {
    let store = database.open(Options::default());
    let store: &dyn Store = &store;
    let ada = a_user("ada").stored_in(store);
    store.write(|tx| tx.keys().insert(ada.id, a_key(1), a_moment())).expect("a key of hers");
    let team = a_group("team").owner(ada.id).stored_in(store);
    let source = a_project("compiler", team.id, ada.id).stored_in(store);
    a_project("compiler", home_of(store, ada.id), ada.id).forked_from(source.id).stored_in(store);
    let filled: Result<(), StoreError> = store.write(|tx| {
        let snippet = tx.snippets().insert(a_snippet(Some(source.id), ada.id))?.id;
        tx.notes().insert(a_note(source.id, snippet, ada.id, "a note"))?;
        if let Some(slack) = ServiceKind::slack() {
            tx.services().insert(source.id, slack, a_service(), a_moment())?;
        }
        let deploy_key = tx.deploy_keys().insert(a_key(2), a_moment())?;
        tx.deploy_keys().attach(deploy_key.id, source.id)?;
        tx.stars().put(source.id, ada.id, Starred::Yes, a_moment())?;
        let asked = RequestSource::Project(source.id);
        tx.access_requests().insert(asked, ada.id, a_moment())?;
        tx.project_members().insert(source.id, a_member(ada.id, AccessLevel::Master))?;
        tx.shares().insert(a_share(source.id, team.id, AccessLevel::Guest))?;
        tx.project_hooks().insert(source.id, a_hook("http://example.com"), a_moment())?;
        tx.system_hooks().insert(a_system_hook("http://example.com"), a_moment())?;
        tx.broadcasts().insert(a_broadcast("text"))?;
        tx.projects().set_default_branch(source.id, Some(&a_branch("master")))?;
        tx.protections().put(source.id, &a_protection("master"))?;
        tx.releases().insert(source.id, &a_release("v1", "text"), a_moment())?;
        tx.repository_tasks().insert(source.id, &an_import(ada.id), a_moment())?;
        let pipeline = tx.pipelines().insert(a_pipeline(source.id))?;
        let definition = tx.builds().define(pipeline.id, &a_definition())?;
        let build = tx.builds().insert(a_build(&pipeline, definition, "rspec"))?;
        let environment = tx.environments().insert(an_environment(source.id, "production"))?;
        tx.deployments().insert(a_deployment(&environment, &build))?;
        let runner = tx.runners().insert(a_runner("one"))?;
        tx.runners().bind(runner.id, source.id)?;
        let trigger = tx.triggers().insert(source.id, a_moment())?;
        let sealed = Sealed(vec![1]);
        tx.triggers().record_use(trigger.id, pipeline.id, &sealed, a_moment())?;
        tx.variables().insert(source.id, &VariableKey::stored("A".into()), &sealed)?;
        let issue = tx.issues().insert(an_issue(source.id, ada.id, "an issue"))?.id;
        let request =
            tx.merge_requests().insert(a_merge_request(source.id, ada.id, "a request"))?;
        let commit = Noteable::Commit { project: source.id, id: ObjectId::ZERO };
        for on in [issue.into(), request.id.into(), commit] {
            let note = tx.notes().insert(a_note(source.id, on, ada.id, "a note"))?;
            tx.awards().insert(an_award(note.id, ada.id, "+1"))?;
            tx.todos().insert(&[a_todo(source.id, on, ada.id)])?;
        }
        let on_request = an_award(Issuable::from(request.id), ada.id, "+1");
        for award in [an_award(Issuable::from(issue), ada.id, "+1"), on_request] {
            tx.awards().insert(award)?;
        }
        for scope in [
            NotificationScope::Global,
            NotificationScope::Group(team.id),
            NotificationScope::Project(source.id),
        ] {
            let change = NotificationChange::default();
            tx.notification_settings().change(ada.id, scope, &change)?;
        }
        let branch = a_request_branch("master");
        let task = TaskKind::MergeAutomatically { branch, head: ObjectId::ZERO };
        tx.repository_tasks().insert(source.id, &task, a_moment())?;
        tx.events().insert(an_event(source.id, ada.id)).map(drop)
    });
    filled.expect("something in every table");
}

#[test]
fn what_was_there_before_projects_is_there_after_them() {
    for database in databases() {
        let store = database.open(Options::default());
        let store: &dyn Store = &store;
        let ada = a_user("Ada").stored_in(store);
        let home = |store: &dyn Store| -> Namespace {
            let found: Result<_, StoreError> = store.read(|tx| tx.namespaces().personal(ada.id));
            found.expect("the schema is complete").expect("every user has one")
        };
        let before = home(store);
        a_project("compiler", before.id, ada.id).stored_in(store);
        a_group("team").owner(ada.id).stored_in(store);
        let (names, _) = migrations::names().expect("the migrations are compiled in");
        let projects = names.iter().position(|name| name.ends_with("_projects"));
        let since = names.len() - projects.expect("they came by a migration");
        (0..since).for_each(|_| revert_last(&database));
        // A new store, because connections cache prepared statements of the old schema.
        let store = database.open(Options::default());
        let store: &dyn Store = &store;
        assert_eq!(home(store), before);
        let found = store.read(|tx| tx.namespaces().list(None, Some("ADA"), Page::Whole));
        let found: Paged<Namespace> = found.expect("the schema is complete");
        assert_eq!((found.items, found.total), (vec![before], 1), "found by its index");
        // The group is gone, so that its name is free again.
        a_group("team").owner(ada.id).stored_in(store);
    }
}

fn revert_last(database: &TestDatabase) {
    match &mut connect(&database.url) {
        DbConn::Sqlite(conn) => conn.revert_last_migration(migrations::SQLITE).map(drop),
        DbConn::Postgres(conn) => conn.revert_last_migration(migrations::POSTGRES).map(drop),
    }
    .expect("the last one can be taken back alone");
}

#[test]
fn projects_outlive_what_is_known_of_their_repositories() {
    for database in databases() {
        let store = database.open(Options::default());
        let store: &dyn Store = &store;
        let ada = a_user("ada").stored_in(store);
        let site = a_project("site", home_of(store, ada.id), ada.id).stored_in(store);
        let filled: Result<(), StoreError> = store.write(|tx| {
            tx.projects().set_default_branch(site.id, Some(&a_branch("master")))?;
            tx.protections().put(site.id, &a_protection("master"))
        });
        filled.expect("the schema is complete");
        let (names, _) = migrations::names().expect("the migrations are compiled in");
        let first = names.iter().position(|name| name.ends_with("_repositories"));
        let since = names.len() - first.expect("they came by a migration");
        (0..since).for_each(|_| revert_last(&database));
        let store = database.open(Options::default());
        let store: &dyn Store = &store;
        let found: Result<_, StoreError> = store.read(|tx| tx.projects().find_all(&[site.id]));
        assert_eq!(found.expect("the schema is complete"), [site]);
    }
}

/// Notes and awards of issues survive the migration to notes on merge requests and commits, and its reversal.
#[test]
fn notes_on_issues_outlive_those_on_merge_requests_and_commits() {
    for database in databases() {
        fill(&database);
        let rows = || {
            let sql = "SELECT body || ' ' || name FROM notes JOIN awards ON awards.issue_id = notes.issue_id";
            database.texts(sql)
        };
        let before = rows();
        assert_eq!(before, ["a note thumbsup"]);
        assert_eq!(database.number("SELECT count(*) FROM notes"), 4);
        let (names, _) = migrations::names().expect("the migrations are compiled in");
        let first = names.iter().position(|name| name.ends_with("_merge_requests"));
        let since = names.len() - first.expect("they came by a migration");
        (0..since).for_each(|_| revert_last(&database));
        assert_eq!(rows(), before);
        assert_eq!(database.number("SELECT count(*) FROM notes"), 1);
        migrations::run(&mut connect(&database.url)).expect("it can be applied again");
        assert_eq!(rows(), before);
    }
}

#[test]
fn a_store_without_its_schema_is_not_ready() {
    for database in databases() {
        let store = database.open(Options::default());
        store.check_ready().expect("just migrated");
        migrations::revert_all(&mut connect(&database.url)).expect("it can be taken back");
        assert!(store.check_ready().is_err());
    }
}

#[test]
fn several_processes_may_open_an_empty_sqlite_at_once() {
    for _ in 0..10 {
        open_at_once(&TestDatabase::sqlite());
    }
}

#[test]
fn several_processes_may_open_an_empty_postgres_at_once() {
    if let Some(database) = TestDatabase::postgres() {
        open_at_once(&database);
    }
}

fn open_at_once(database: &TestDatabase) {
    const PROCESSES: usize = 4;
    let start = Barrier::new(PROCESSES);
    let open = || {
        start.wait();
        DieselStore::open(&database.url, Options::default()).map(|store| store.check_ready())
    };
    thread::scope(|scope| {
        let opening: Vec<_> = (0..PROCESSES).map(|_| scope.spawn(open)).collect();
        for thread in opening {
            let ready = thread.join().expect("no thread panics").expect("every store opens");
            ready.expect("and finds the whole schema");
        }
    });
}
