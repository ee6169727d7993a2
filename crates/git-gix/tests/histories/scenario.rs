//! Runs a list of operations against a server, and shrinks the list if it fails.

use std::panic::{AssertUnwindSafe, catch_unwind};

use crate::client::Client;
use crate::history::History;
use crate::operation::{Action, Operation};
use crate::oracle::{Failure, Oracle, UnderTest};
use crate::server::Server;
use crate::support::Random;

/// How often a failing list runs again to shrink it.
const MOST_RUNS: usize = 300;

/// A callback that runs after each push and before each fetch.
pub type Callback<'a> = &'a dyn Fn(&Operation, &History, &mut Server) -> Result<(), Failure>;

/// Runs operations from the first to the last.
pub fn run_fetches(operations: &[Operation], under_test: UnderTest) -> Result<(), Failure> {
    run_fetches_with(operations, under_test, &|_, _, _| Ok(()))
}

/// Runs operations from the first to the last, with a callback.
pub fn run_fetches_with(
    operations: &[Operation],
    under_test: UnderTest,
    callback: Callback<'_>,
) -> Result<(), Failure> {
    let history = History::of(operations);
    if history.pushed.iter().all(std::collections::BTreeMap::is_empty) {
        return Ok(());
    }
    let mut server = Server::new(&history);
    let mut client = Client::default();
    let mut pushes = history.pushed.iter();
    for operation in operations {
        let mut random = operation.random();
        match operation.action {
            Action::Push => {
                server.push(&history, pushes.next().expect("one for each push"));
                callback(operation, &history, &mut server)?;
            }
            Action::Maintain(how) => server.maintain(how, operation.branch % 2 == 0),
            Action::StartClient => client = Client::start(&history, &mut random),
            Action::Fetch if !server.refs.is_empty() => {
                callback(operation, &history, &mut server)?;
                let request = client.plan(&history, &server, &mut random);
                let oracle = Oracle { history: &history, server: &server, under_test };
                oracle.fetch(&mut client, &request, &mut random)?;
            }
            // All other operations were applied when the history was built.
            _ => {}
        }
    }
    Ok(())
}

/// Generates the operations of a scenario.
pub type Generate = fn(&mut Random) -> Vec<Operation>;

/// A run of one kind of scenario.
pub type Run<'a> = &'a (dyn Fn(&[Operation]) -> Result<(), Failure> + Sync);

/// Runs the scenario of a seed. If it fails, returns the report of the shortest list that still fails.
pub fn check_seed(seed: u64, generate: Generate, run: Run<'_>) -> Option<String> {
    let operations = generate(&mut Random::new(seed));
    let failure = run_caught(&operations, run).err()?;
    let (operations, failure) = shrink(operations, failure, run);
    let list: String = operations.iter().map(|operation| format!("    {operation:?}\n")).collect();
    let Failure { request, difference, script } = failure;
    Some(format!(
        "seed {seed}\n\n== difference\n{difference}\n\n== request\n{request}\n\n\
         == operations\n{list}\n== script\n{script}"
    ))
}

fn run_caught(operations: &[Operation], run: Run<'_>) -> Result<(), Failure> {
    catch_unwind(AssertUnwindSafe(|| run(operations))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
        let difference = format!("panic: {}", text.unwrap_or_default());
        Err(Failure { request: String::new(), difference, script: String::new() })
    })
}

/// Removes operations, first many at once and then single ones, as long as the rest still fails.
fn shrink(
    mut operations: Vec<Operation>,
    mut failure: Failure,
    run: Run<'_>,
) -> (Vec<Operation>, Failure) {
    let mut runs = 0;
    let mut size = operations.len().div_ceil(2);
    loop {
        let mut was_shortened = false;
        let mut at = 0;
        while at < operations.len() && runs < MOST_RUNS {
            let mut shorter = operations.clone();
            shorter.drain(at..(at + size).min(operations.len()));
            runs += 1;
            match run_caught(&shorter, run) {
                Err(found) if is_same_kind(&found, &failure) => {
                    (operations, failure, was_shortened) = (shorter, found, true);
                }
                _ => at += size,
            }
        }
        if runs >= MOST_RUNS || (size == 1 && !was_shortened) {
            return (operations, failure);
        }
        size = if size > 1 { size.div_ceil(2) } else { 1 };
    }
}

/// Whether two failures begin with the same words. Without this check, shrinking could end at another bug.
fn is_same_kind(one: &Failure, other: &Failure) -> bool {
    let words = |failure: &Failure| failure.difference.chars().take(8).collect::<String>();
    words(one) == words(other)
}
