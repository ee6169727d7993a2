//! The program is killed while it removes very many rows.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::{self, Program, ROOT};
use hexforge_tests::random::number_from_env;
use hexforge_tests::recount::Auditor;

use super::kills::serve;
use super::worker::id_of;

/// The number of issues, notes and events that are removed: `HEXFORGE_TEST_REMOVED_ROWS`, 4,000 by default.
static MANY: LazyLock<i64> = LazyLock::new(|| {
    number_from_env("HEXFORGE_TEST_REMOVED_ROWS")
        .map_or(4_000, |rows| i64::try_from(rows).unwrap_or(i64::MAX))
});

/// The timeout for the removal of all rows.
const PATIENCE: Duration = Duration::from_secs(600);

/// The limit of memory for a removal, in megabytes. All rows together would take more.
const MEMORY: f64 = 64.0;

#[test]
fn a_large_project_is_gone_at_once_and_its_rows_after_a_kill_on_sqlite() {
    a_large_project_is_removed(&TestDatabase::sqlite());
}

#[test]
fn a_large_project_is_gone_at_once_and_its_rows_after_a_kill_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        a_large_project_is_removed(&database);
    }
}

#[test]
fn a_group_with_a_large_project_is_gone_at_once_and_its_rows_after_a_kill_on_sqlite() {
    a_large_group_is_removed(&TestDatabase::sqlite());
}

#[test]
fn a_group_with_a_large_project_is_gone_at_once_and_its_rows_after_a_kill_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        a_large_group_is_removed(&database);
    }
}

#[test]
fn what_a_removed_user_wrote_goes_with_all_counters_after_a_kill_on_sqlite() {
    a_busy_user_is_removed(&TestDatabase::sqlite());
}

#[test]
fn what_a_removed_user_wrote_goes_with_all_counters_after_a_kill_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        a_busy_user_is_removed(&database);
    }
}

fn new_project(server: &Program, name: &str) -> i64 {
    let form = [("name", name), ("public", "true")];
    id_of(&server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201))
}

fn new_issue(server: &Program, project: i64, title: &str) -> i64 {
    let path = format!("/projects/{project}/issues");
    let form = [("title", title), ("labels", "bug")];
    id_of(&server.request("POST", &path).token(ROOT).form(&form).send().expect(201))
}

/// Adds many issues of a user with a label, notes on one issue, and events.
fn fill(database: &TestDatabase, project: i64, issue: i64, user: i64) {
    let (now, many) = ("CURRENT_TIMESTAMP", *MANY);
    let numbers = format!(
        "WITH RECURSIVE numbers (i) AS (SELECT 101 UNION ALL SELECT i + 1 FROM numbers WHERE i < {many} + 100)"
    );
    let label = format!("(SELECT id FROM labels WHERE project_id = {project})");
    database.execute(&format!(
        "INSERT INTO issues (project_id, iid, author_id, title, state, confidential, created_at, updated_at) \
         {numbers} SELECT {project}, i, {user}, 'many', 'opened', FALSE, {now}, {now} FROM numbers; \
         INSERT INTO issue_labels (issue_id, label_id, author_id) \
         SELECT id, {label}, {user} FROM issues WHERE project_id = {project} AND title = 'many'; \
         INSERT INTO notes (project_id, issue_id, author_id, body, system, created_at, updated_at) \
         {numbers} SELECT {project}, {issue}, {user}, 'many', FALSE, {now}, {now} FROM numbers; \
         INSERT INTO events (project_id, author_id, action, created_at) \
         {numbers} SELECT {project}, {user}, 'created', {now} FROM numbers; \
         UPDATE projects SET open_issues_count = open_issues_count + {many} WHERE id = {project}; \
         UPDATE labels SET open_issues = open_issues + {many} WHERE project_id = {project}; \
         UPDATE issues SET user_notes_count = user_notes_count + {many} WHERE id = {issue};"
    ));
}

/// The number of rows in these tables that meet a condition.
fn count_rows(database: &TestDatabase, tables: &[String], condition: &str) -> i64 {
    let count = |table: &String| format!("(SELECT count(*) FROM {table} WHERE {condition})");
    let counts: Vec<String> = tables.iter().map(count).collect();
    database.number(&format!("SELECT {}", counts.join(" + ")))
}

/// Waits until a number is at most `at_most`. Other rows may be written meanwhile.
fn wait_for(number: impl Fn() -> i64, at_most: i64) {
    let until = Instant::now() + PATIENCE;
    while number() > at_most {
        assert!(Instant::now() < until, "{} rows are still there", number());
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Asserts that more than this number of rows are left. Only checked within 300 ms, which is less than a removal takes.
#[track_caller]
fn assert_more_rows_than(number: impl Fn() -> i64, more_than: i64, since: Instant) {
    let left = number();
    if since.elapsed() < Duration::from_millis(300) {
        assert!(left > more_than, "{left}");
    }
}

fn a_large_project_is_removed(database: &TestDatabase) {
    what_holds_a_large_project_is_removed(database, |server| {
        let large = new_project(server, "large");
        (large, format!("/projects/{large}"))
    });
}

fn a_large_group_is_removed(database: &TestDatabase) {
    what_holds_a_large_project_is_removed(database, |server| {
        let form = [("name", "team"), ("path", "team")];
        let made = server.request("POST", "/groups").token(ROOT).form(&form).send().expect(201);
        let group = id_of(&made);
        let id = group.to_string();
        let form = [("name", "large"), ("public", "true"), ("namespace_id", id.as_str())];
        let made = server.request("POST", "/projects").token(ROOT).form(&form).send().expect(201);
        (id_of(&made), format!("/groups/{group}"))
    });
}

/// Creates a project with very many rows, and removes it or its group. `make` returns the project and the path to
/// remove. It is called again to show that the name can be reused.
fn what_holds_a_large_project_is_removed(
    database: &TestDatabase,
    make: impl Fn(&Program) -> (i64, String),
) {
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let server = serve(folder.path(), &database.url);
    let ((large, path), other) = (make(&server), new_project(&server, "other"));
    let issue = new_issue(&server, large, "one");
    fill(database, large, issue, 1);
    let tables = database.tables_with("project_id");
    let left = || count_rows(database, &tables, &format!("project_id = {large}"));
    assert!(left() > 3 * *MANY);

    server.reset_peak_memory();
    let before = server.peak_memory();
    let begun = Instant::now();
    server.request("DELETE", &path).token(ROOT).send().expect(200);
    // It is hidden at once, while most of its rows still exist.
    let paths = [path, format!("/projects/{large}"), format!("/projects/{large}/issues")];
    let assert_gone = |server: &Program| {
        for path in &paths {
            server.request("GET", path).token(ROOT).send().expect(404);
        }
    };
    assert_gone(&server);
    let (again, _) = make(&server);
    new_issue(&server, other, "while the rest goes");
    assert_more_rows_than(left, *MANY, begun);
    let own = server.request("GET", "/issues").token(ROOT).send().expect(200);
    assert_eq!(own.as_array().map(Vec::len), Some(1), "{own}");
    wait_for(left, 2 * *MANY);
    let begun = Instant::now();
    let grown = server.peak_memory() - before;
    assert!(grown < MEMORY, "it took {grown} MB");

    program::kill_now(server.pid());
    assert_more_rows_than(left, 0, begun);
    let server = serve(folder.path(), &database.url);
    assert_gone(&server);
    wait_for(left, 0);
    for roots in ["project_roots", "namespace_roots"] {
        wait_for(|| database.number(&format!("SELECT count(*) FROM {roots} WHERE removed")), 0);
    }
    for (project, issues) in [(other, 1), (again, 0)] {
        let auditor = Auditor { address: server.address, token: ROOT };
        assert_eq!(auditor.assert_counts(project).len(), issues);
    }
}

fn a_busy_user_is_removed(database: &TestDatabase) {
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let server = serve(folder.path(), &database.url);
    let form = [
        ("username", "busy"),
        ("name", "busy"),
        ("email", "busy@example.com"),
        ("password", "correct horse"),
    ];
    let add = |server: &Program| {
        id_of(&server.request("POST", "/users").token(ROOT).form(&form).send().expect(201))
    };
    let user = add(&server);
    let project = new_project(&server, "ship");
    let issue = new_issue(&server, project, "one");
    fill(database, project, issue, user);
    let tables = ["issues", "notes", "events"].map(str::to_owned);
    let left = || count_rows(database, &tables, &format!("author_id = {user}"));

    server.reset_peak_memory();
    let before = server.peak_memory();
    let path = format!("/users/{user}");
    let begun = Instant::now();
    server.request("DELETE", &path).token(ROOT).send().expect(200);
    server.request("GET", &path).token(ROOT).send().expect(404);
    assert_more_rows_than(left, *MANY, begun);
    let notes = format!("/projects/{project}/issues/{issue}/notes");
    let notes = server.request("GET", &notes).token(ROOT).send().expect(200);
    assert_eq!(notes.as_array().map(Vec::len), Some(0), "{notes}");
    add(&server);
    new_issue(&server, project, "while the rest goes");
    wait_for(left, 2 * *MANY);
    let begun = Instant::now();
    let grown = server.peak_memory() - before;
    assert!(grown < MEMORY, "it took {grown} MB");

    program::kill_now(server.pid());
    assert_more_rows_than(left, 0, begun);
    let server = serve(folder.path(), &database.url);
    wait_for(left, 0);
    wait_for(|| database.number("SELECT count(*) FROM user_roots WHERE removed"), 0);
    let auditor = Auditor { address: server.address, token: ROOT };
    assert_eq!(auditor.assert_counts(project).len(), 2);
}
