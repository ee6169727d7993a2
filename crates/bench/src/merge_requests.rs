//! Measures lists of merge requests in a project with few and in one with many.

use anyhow::Result;
use hexforge_persistence_diesel::testing::TestDatabase;

use super::bulk::Bulk;
use super::lists::{Costs, Line, Plan, at_both_sizes};
use super::load::{Call, measure_alone};
use super::tracker_world::{post, sign_up};
use hexforge_tests::program::{Program, ROOT};

/// The number of labels and of authors, equal in both worlds.
const LABELS: usize = 20;
const AUTHORS: usize = 50;

/// Measures all lists on one kind of database. Returns `None` if that database is not available.
pub fn compare(
    database: impl Fn() -> Option<TestDatabase>,
    plan: &Plan<'_>,
) -> Result<Option<Vec<Line>>> {
    at_both_sizes(plan.sizes, |requests| {
        let Some(database) = database() else { return Ok(None) };
        costs(&database, plan, requests).map(Some)
    })
}

#[allow(clippy::print_stderr, reason = "who waits for minutes wants to know for what")]
fn costs(database: &TestDatabase, plan: &Plan<'_>, requests: usize) -> Result<Costs> {
    let folder = tempfile::tempdir()?;
    let program = Program::start(plan.program, folder.path(), &database.url)?;
    let (_, outsider) = sign_up(&program, "outsider")?;
    super::seed::users(&database.open(hexforge_persistence_diesel::Options::default()), AUTHORS)?;
    let project = post(&program, "/projects", &[("name", "busy"), ("public", "true")])?;
    let milestone = post(&program, &format!("/projects/{project}/milestones"), &[("title", "m")])?;
    eprintln!("filling a database with {requests} merge requests");
    fill(database, [project, milestone], requests);
    let mut costs = Vec::new();
    for (who, token) in [("root", ROOT), ("outsider", outsider.as_str())] {
        for call in calls(project, who, token) {
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
    }
    Ok(costs)
}

fn calls(project: i64, who: &str, token: &str) -> Vec<Call> {
    let call = |filter: &str| {
        let path = format!("/projects/{project}/merge_requests{filter}");
        let target = format!("/api/v3{path}");
        Call { name: format!("{who} {path}"), target, token: token.to_owned() }
    };
    FILTERS.iter().map(|filter| call(filter)).collect()
}

const FILTERS: [&str; 11] = [
    "",
    "?page=4",
    "?state=opened",
    "?state=closed",
    "?state=merged",
    "?state=all",
    "?iid=50",
    "?order_by=created_at&sort=asc",
    "?order_by=updated_at&sort=desc",
    "?order_by=updated_at&sort=asc&state=opened",
    "/50",
];

/// Inserts merge requests of many authors, two of three with an assignee, half with a milestone, each with two labels.
fn fill(database: &TestDatabase, [project, milestone]: [i64; 2], requests: usize) {
    let bulk = Bulk(database);
    let at = bulk.moment("i * 7");
    let moved = bulk.moment("(i * 7919 % 1000003) * 7");
    let head = bulk.bytes("01234567890123456789");
    bulk.rows(
        "labels",
        "id, project_id, title, color, created_at, updated_at",
        LABELS,
        &format!("i + 1, {project}, 'label-' || CAST(i AS TEXT), '#ff0000', {at}, {at}"),
    );
    bulk.rows(
        "merge_requests",
        "id, project_id, iid, source_project_id, source_branch, target_branch, author_id, assignee_id, \
         milestone_id, title, description, state, merge_status, head, seen_source, seen_target, \
         user_notes_count, created_at, updated_at",
        requests,
        &format!(
            "i + 1, {project}, i + 1, {project}, 'topic-' || CAST(i AS TEXT), 'master', 3 + i % {AUTHORS}, \
             CASE WHEN i % 3 > 0 THEN 3 + (i + 7) % {AUTHORS} END, \
             CASE WHEN i % 2 = 0 THEN {milestone} END, 'Change number ' || CAST(i AS TEXT), 'It was time', \
             CASE i % 3 WHEN 0 THEN 'opened' WHEN 1 THEN 'closed' ELSE 'merged' END, 'can_be_merged', {head}, \
             0, 0, 3, {at}, {moved}"
        ),
    );
    for other in [0, 7] {
        bulk.rows(
            "merge_request_labels",
            "merge_request_id, label_id",
            requests,
            &format!("i + 1, 1 + (i + {other}) % {LABELS}"),
        );
    }
    bulk.execute(&format!(
        "UPDATE labels SET open_merge_requests = (SELECT count(*) FROM merge_request_labels \
             JOIN merge_requests ON merge_requests.id = merge_request_id \
             WHERE label_id = labels.id AND state = 'opened'); \
         UPDATE iids SET merge_requests = {requests} WHERE project_id = {project};"
    ));
    bulk.finish();
}
