//! `GET /projects/:id/repository/contributors` against `git log --numstat`: reference section 4.6.

use std::collections::BTreeMap;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use super::checks::{Checks, same_set};
use super::oracle::Oracle;
use super::server::Server;

/// The timeout for counting.
const PATIENCE: Duration = Duration::from_secs(300);

/// Commits, added lines and removed lines.
type Counts = [u64; 3];

/// Compares the numbers of each author of the default branch.
pub fn check(server: &Server<'_>, oracle: &Oracle<'_>, checks: &mut Checks) {
    checks.check("contributors", || {
        let shown = complete_answer(server)?;
        let shown = shown.as_array().map(Vec::as_slice).unwrap_or_default();
        let number = |row: &Value, field: &str| row[field].as_u64().unwrap_or(u64::MAX);
        let shown: Vec<String> = shown
            .iter()
            .map(|row| {
                let counts = ["commits", "additions", "deletions"].map(|field| number(row, field));
                line(row["email"].as_str().unwrap_or("?"), counts)
            })
            .collect();
        let expected = counted_by_git(oracle);
        let expected: Vec<String> =
            expected.iter().map(|(email, counts)| line(email, *counts)).collect();
        same_set("contributors", &shown, &expected)
    });
}

fn line(email: &str, [commits, additions, deletions]: Counts) -> String {
    format!("{email}: {commits} commits +{additions} -{deletions}")
}

/// Waits for the response after everything is counted.
fn complete_answer(server: &Server<'_>) -> Result<Value, String> {
    let started = Instant::now();
    loop {
        let answer = server.get("contributors", &[])?;
        if answer.header("X-Hexforge-Partial").is_none() {
            return Ok(answer.json());
        }
        if started.elapsed() > PATIENCE {
            return Err(format!("the answer is still partial after {PATIENCE:?}"));
        }
        thread::sleep(Duration::from_millis(200));
    }
}

fn counted_by_git(oracle: &Oracle<'_>) -> BTreeMap<String, Counts> {
    let log = oracle.lines(&[
        "log",
        "--no-merges",
        "--no-renames",
        "--numstat",
        "--format=author %ae",
        &oracle.default_branch,
    ]);
    let mut counted: BTreeMap<String, Counts> = BTreeMap::new();
    let mut email = "";
    for line in log.iter().filter(|line| !line.is_empty()) {
        if let Some(author) = line.strip_prefix("author ") {
            email = author;
            counted.entry(email.to_owned()).or_default()[0] += 1;
            continue;
        }
        let counts = counted.entry(email.to_owned()).or_default();
        // Binary files have `-` instead of numbers.
        for (at, number) in line.split('\t').take(2).enumerate() {
            counts[at + 1] += number.parse().unwrap_or(0);
        }
    }
    counted
}
