//! Measures calls about users under load, in databases of several sizes.

use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result};
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::testing::TestDatabase;

use super::load::{Call, Cost, measure};
use super::seed;
use hexforge_tests::program::{Program, ROOT};

/// The plan of a measurement.
pub struct Plan<'a> {
    pub program: &'a Path,
    /// The numbers of users.
    pub sizes: &'a [usize],
    pub connections: usize,
    pub time: Duration,
}

/// The header of the table.
pub fn heading() -> String {
    format!(
        "{:<11} {:>8}  {:<44} {:>9} {:>9} {:>9} {:>9} {:>7}",
        "database", "users", "call", "per s", "p50 us", "p99 us", "cpu us", "x cpu"
    )
}

/// Measures every call at every size, and reports the rows of the table. The last column is the
/// cost divided by that at the smallest size.
pub fn compare(
    name: &str,
    database: impl Fn() -> Option<TestDatabase>,
    plan: &Plan<'_>,
    report: &mut dyn FnMut(String),
) -> Result<()> {
    let mut smallest: Vec<Cost> = Vec::new();
    for &size in plan.sizes {
        let Some(database) = database() else { return Ok(()) };
        let folder = tempfile::tempdir()?;
        let program = Program::start(plan.program, folder.path(), &database.url)?;
        seed::users(&database.open(Options::default()), size)
            .context("the users cannot be inserted")?;
        database.gather_statistics();
        let idle = program.memory();
        let mut costs = Vec::new();
        for call in calls(size) {
            let cost =
                measure(program.address, &[program.pid()], &call, plan.connections, plan.time);
            let base = smallest.get(costs.len()).unwrap_or(&cost);
            let ratio = cost.cpu.as_secs_f64() / base.cpu.as_secs_f64().max(1e-9);
            report(format!(
                "{name:<11} {size:>8}  {:<44} {:>9.0} {:>9} {:>9} {:>9} {ratio:>7.2}",
                call.name,
                cost.per_second,
                cost.p50.as_micros(),
                cost.p99.as_micros(),
                cost.cpu.as_micros(),
            ));
            costs.push(cost);
        }
        let after = program.memory();
        report(format!("{name:<11} {size:>8}  memory idle {idle:.0} MB, after {after:.0} MB"));
        if smallest.is_empty() {
            smallest = costs;
        }
    }
    Ok(())
}

fn calls(users: usize) -> Vec<Call> {
    let last = users.div_ceil(20);
    let one = format!("/users?search=user-{}", users - 1);
    [
        "/version".to_owned(),
        "/user".to_owned(),
        "/users/2".to_owned(),
        "/users?per_page=20".to_owned(),
        format!("/users?per_page=20&page={last}"),
        "/users?per_page=20&active=true".to_owned(),
        "/users?per_page=20&blocked=true".to_owned(),
        "/users?per_page=20&search=example.com".to_owned(),
        one,
        "/users?username=user-7".to_owned(),
        "/user/keys".to_owned(),
    ]
    .into_iter()
    .map(|path| Call {
        name: format!("GET {path}"),
        target: format!("/api/v3{path}"),
        token: ROOT.to_owned(),
    })
    .collect()
}
