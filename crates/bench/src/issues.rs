//! Measures issues, labels, boards and feeds in a small and in a large world.

use std::path::Path;
use std::time::Duration;

use anyhow::Result;
use hexforge_persistence_diesel::testing::TestDatabase;

use super::lists::{Costs, Line, at_both_sizes};
use super::load::{Call, measure_alone, measure_each, post_request};
use super::tracker_world::{self as world, World};
use hexforge_tests::program::Program;

/// The number of writes per figure.
const WRITES: usize = 120;

/// The plan of a measurement.
pub struct Plan<'a> {
    /// The path of the server program.
    pub program: &'a Path,
    /// The number of issues in the small and in the large world; there are five times as many events.
    pub sizes: [usize; 2],
    /// The measuring time per figure.
    pub time: Duration,
    /// Measures only calls whose names contain this.
    pub only: &'a str,
}

/// Measures all calls on one kind of database. Returns `None` if that database is not available.
pub fn compare(
    database: impl Fn() -> Option<TestDatabase>,
    plan: &Plan<'_>,
) -> Result<Option<Vec<Line>>> {
    at_both_sizes(plan.sizes, |issues| costs(&database, plan, issues))
}

#[allow(clippy::print_stderr, reason = "who waits for minutes wants to know for what")]
fn costs(
    database: impl Fn() -> Option<TestDatabase>,
    plan: &Plan<'_>,
    issues: usize,
) -> Result<Option<Costs>> {
    let Some(database) = database() else { return Ok(None) };
    let folder = tempfile::tempdir()?;
    let program = Program::start(plan.program, folder.path(), &database.url)?;
    eprintln!("filling a database with {issues} issues");
    let world = world::fill(&program, &database, issues)?;
    let processes = || {
        let mut pids = database.processes();
        pids.push(program.pid());
        pids
    };
    let mut costs = Vec::new();
    let wanted = |name: &str| name.contains(plan.only);
    let calls = world.people.iter().flat_map(|(who, token)| calls(&world, who, token));
    for call in calls.filter(|call| wanted(&call.name)) {
        // The database starts its processes with the first request.
        if costs.is_empty() {
            measure_alone(program.address, &[], &call, Duration::ZERO);
        }
        let cost = measure_alone(program.address, &processes(), &call, plan.time);
        eprintln!("  {:>8} us {}", cost.cpu.as_micros(), call.name);
        costs.push((call.name, cost));
    }
    for (who, token) in &world.people {
        for (what, path, form) in changes(&world) {
            let name = format!("{who} POST {what}");
            if !wanted(&name) {
                continue;
            }
            let headers = format!("PRIVATE-TOKEN: {token}\r\n");
            let one = |number| {
                let form = form.replace("NUMBER", &format!("{who}{number}"));
                post_request(program.address, &format!("/api/v3{path}"), &headers, &form)
            };
            // The first requests open connections and are not measured.
            let requests: Vec<String> = (0..WRITES).map(one).collect();
            let (first, rest) = requests.split_at(WRITES / 6);
            measure_each(program.address, &[], first);
            costs.push((name, measure_each(program.address, &processes(), rest)));
        }
    }
    Ok(Some(costs))
}

/// The read requests of one user.
fn calls(world: &World, who: &str, token: &str) -> Vec<Call> {
    let World { group, project, board, issue, author, milestones: [big, small], .. } = world;
    let project = format!("/projects/{project}");
    let mut paths = vec![
        format!("{project}/labels"),
        format!("{project}/boards"),
        format!("{project}/boards/{board}/lists"),
        format!("{project}/milestones"),
        format!("{project}/milestones/{big}/issues"),
        format!("{project}/milestones/{small}/issues"),
        format!("{project}/issues/{issue}"),
        format!("{project}/issues/{issue}/notes"),
        format!("{project}/events"),
        format!("{project}/issues?iid=301"),
        format!("/users/{author}/events"),
    ];
    for list in
        [format!("{project}/issues"), "/issues".to_owned(), format!("/groups/{group}/issues")]
    {
        paths.extend(FILTERS.map(|filter| format!("{list}{filter}")));
    }
    let call = |path: String| Call {
        name: format!("{who} {path}"),
        target: format!("/api/v3{path}"),
        token: token.to_owned(),
    };
    paths.into_iter().map(call).collect()
}

const FILTERS: [&str; 16] = [
    "",
    "?page=10",
    "?state=opened",
    "?state=closed",
    "?labels=label-0",
    "?labels=label-1",
    "?labels=label-0,label-5",
    "?labels=nothing",
    "?milestone=big",
    "?milestone=small",
    "?state=opened&labels=label-0",
    "?state=opened&milestone=big",
    "?order_by=created_at&sort=asc",
    "?order_by=updated_at&sort=asc",
    "?order_by=updated_at&sort=desc",
    "?labels=label-0&order_by=updated_at&sort=desc",
];

/// The write requests: name, path and form.
fn changes(world: &World) -> [(&'static str, String, &'static str); 2] {
    let project = format!("/projects/{}", world.project);
    [
        ("an issue", format!("{project}/issues"), "title=It+breaks+NUMBER&labels=label-0,label-3"),
        (
            "a note",
            format!("{project}/issues/{}/notes", world.issue),
            "body=It+works+for+me+NUMBER",
        ),
    ]
}
