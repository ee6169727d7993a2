//! Measures todos and award emoji in a world with few and in one with many of both.

use anyhow::Result;
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::testing::TestDatabase;

use super::bulk::Bulk;
use super::lists::{Costs, Line, Plan, at_both_sizes};
use super::load::{Call, measure_alone};
use super::seed;
use super::tracker_world::{post, sign_up};
use hexforge_tests::program::Program;

/// The number of users who cause todos and give awards, equal in both worlds.
const AUTHORS: usize = 50;

/// The most that a call may cost in the large world, as a multiple of its cost in the small one.
pub const GOAL: f64 = 1.5;

/// Measures all calls on one kind of database. Returns `None` if that database is not available.
pub fn compare(
    database: impl Fn() -> Option<TestDatabase>,
    plan: &Plan<'_>,
) -> Result<Option<Vec<Line>>> {
    at_both_sizes(plan.sizes, |todos| {
        let Some(database) = database() else { return Ok(None) };
        costs(&database, plan, todos).map(Some)
    })
}

#[allow(clippy::print_stderr, reason = "who waits for minutes wants to know for what")]
fn costs(database: &TestDatabase, plan: &Plan<'_>, todos: usize) -> Result<Costs> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(plan.program, folder.path(), &database.url)?;
    let (user, token) = sign_up(&program, "busy")?;
    seed::users(&database.open(Options::default()), AUTHORS)?;
    let project = post(&program, "/projects", &[("name", "busy"), ("public", "true")])?;
    eprintln!("filling a database with {todos} todos and as many awards");
    fill(database, [project, user], todos);
    let mut costs = Vec::new();
    for call in calls(project, user, &token) {
        if !call.name.contains(plan.only) {
            continue;
        }
        // The database starts its processes with the first request.
        if costs.is_empty() {
            measure_alone(program.address, &[], &call, std::time::Duration::ZERO);
        }
        let mut pids = database.processes();
        pids.push(program.pid());
        let cost = measure_alone(program.address, &pids, &call, plan.time);
        costs.push((call.name, cost));
    }
    Ok(costs)
}

/// The read requests. The first issue has half of the awards.
fn calls(project: i64, user: i64, token: &str) -> Vec<Call> {
    let issues = format!("/projects/{project}/issues");
    let author = user + 1;
    let paths = [
        "/todos".to_owned(),
        "/todos?page=10".to_owned(),
        "/todos?state=done".to_owned(),
        "/todos?state=done&page=10".to_owned(),
        "/todos?action=mentioned".to_owned(),
        "/todos?type=Issue".to_owned(),
        format!("/todos?project_id={project}"),
        format!("/todos?author_id={author}"),
        format!("{issues}/1/award_emoji"),
        format!("{issues}/1/award_emoji?page=10"),
        format!("{issues}/2/award_emoji"),
        format!("{issues}/1"),
        issues,
    ];
    let call = |path: String| Call {
        target: format!("/api/v3{path}"),
        name: path,
        token: token.to_owned(),
    };
    paths.into_iter().map(call).collect()
}

/// Inserts issues, for each of them a pending todo and a done one, an award for each, and as many awards for the first.
fn fill(database: &TestDatabase, [project, user]: [i64; 2], todos: usize) {
    let bulk = Bulk(database);
    let at = bulk.moment("i * 7");
    let issues = todos / 2;
    // The ids of the authors follow that of the user.
    let author = format!("{user} + 1 + i % {AUTHORS}");
    bulk.rows(
        "issues",
        "id, project_id, iid, author_id, title, description, state, confidential, user_notes_count, \
         created_at, updated_at",
        issues,
        &format!(
            "i + 1, {project}, i + 1, {author}, 'Issue ' || CAST(i AS TEXT), 'It does not work', 'opened', \
             FALSE, 0, {at}, {at}"
        ),
    );
    bulk.rows(
        "todos",
        "user_id, project_id, issue_id, author_id, action, state, created_at",
        issues * 2,
        &format!(
            "{user}, {project}, i / 2 + 1, {user} + 1 + i / 2 % {AUTHORS}, \
             CASE WHEN i % 4 < 2 THEN 'mentioned' ELSE 'assigned' END, \
             CASE WHEN i % 2 = 0 THEN 'pending' ELSE 'done' END, {at}"
        ),
    );
    let columns = "issue_id, user_id, name, created_at";
    bulk.rows("awards", columns, issues, &format!("i + 1, {author}, 'thumbsup', {at}"));
    // Names of their own, because a user gives an emoji to an issue once.
    bulk.rows(
        "awards",
        columns,
        issues,
        &format!("1, {author}, 'emoji_' || CAST(i AS TEXT), {at}"),
    );
    bulk.execute(&format!(
        "UPDATE projects SET open_issues_count = {issues} WHERE id = {project}; \
         DELETE FROM iids WHERE project_id = {project}; \
         INSERT INTO iids (project_id, issues) VALUES ({project}, {issues});"
    ));
    bulk.finish();
}
