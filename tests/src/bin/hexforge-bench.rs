//! Loads the real program over HTTP and prints what the main calls cost, beside the same calls on a
//! database a thousand times as large. Ratios within one run are what counts.
#![allow(clippy::print_stdout, reason = "the table is what the program is for")]

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Parser;
use hexforge_persistence_diesel::Options;
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::bench::load::{Call, Cost, measure};
use hexforge_tests::bench::seed;
use hexforge_tests::program::{Program, ROOT};

/// Measures hexforge.
#[derive(Parser)]
struct Arguments {
    /// The program to measure.
    #[arg(long, default_value = "target/release/hexforge")]
    program: PathBuf,
    /// Numbers of users to compare.
    #[arg(long, value_delimiter = ',', default_value = "100,100000")]
    sizes: Vec<usize>,
    /// Connections that are busy at the same time.
    #[arg(long, default_value_t = 8)]
    connections: usize,
    /// Seconds for each figure.
    #[arg(long, default_value_t = 4.0)]
    seconds: f64,
}

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    println!(
        "{:<11} {:>8}  {:<44} {:>9} {:>9} {:>9} {:>9} {:>7}",
        "database", "users", "call", "per s", "p50 us", "p99 us", "cpu us", "x cpu"
    );
    compare("sqlite", || Some(TestDatabase::sqlite()), &arguments)?;
    compare("postgresql", TestDatabase::postgres, &arguments)?;
    Ok(())
}

/// Measures every call at every size; the last column is the cost beside the smallest size's.
fn compare(
    name: &str,
    database: impl Fn() -> Option<TestDatabase>,
    arguments: &Arguments,
) -> Result<()> {
    let mut smallest: Vec<Cost> = Vec::new();
    for &size in &arguments.sizes {
        let Some(database) = database() else { return Ok(()) };
        let folder = tempfile::tempdir()?;
        let program = Program::start(&arguments.program, folder.path(), &database.url)?;
        seed::users(&database.open(Options::default()), size).context("seeding")?;
        database.gather_statistics();
        let idle = program.memory();
        let mut costs = Vec::new();
        for call in calls(size) {
            let time = Duration::from_secs_f64(arguments.seconds);
            let cost =
                measure(program.address, &[program.pid()], &call, arguments.connections, time);
            let base = smallest.get(costs.len()).unwrap_or(&cost);
            let ratio = cost.cpu.as_secs_f64() / base.cpu.as_secs_f64().max(1e-9);
            println!(
                "{name:<11} {size:>8}  {:<44} {:>9.0} {:>9} {:>9} {:>9} {ratio:>7.2}",
                call.name,
                cost.per_second,
                cost.p50.as_micros(),
                cost.p99.as_micros(),
                cost.cpu.as_micros(),
            );
            costs.push(cost);
        }
        println!(
            "{name:<11} {size:>8}  memory idle {idle:.0} MB, after {:.0} MB",
            program.memory()
        );
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
