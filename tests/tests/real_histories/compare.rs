//! `GET /projects/:id/repository/compare` against `git rev-list` and `git diff`: reference section 4.5.

use std::collections::HashMap;

use hexforge_tests::RandomNumbers;
use serde_json::Value;

use super::checks::{Checks, same_list, same_set};
use super::oracle::Oracle;
use super::server::Server;

/// Pairs of commits of the default branch.
const PAIRS_ON_MAIN_LINE: usize = 4;
/// The most commits of the default branch between the two of a pair.
const MOST_BETWEEN: usize = 60;
/// Pairs of commits from anywhere in the history.
const PAIRS_ANYWHERE: usize = 4;
/// The most commits in topological order between the two of such a pair.
const MOST_APART: usize = 400;

/// The empty tree, which every git knows.
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

/// Compares random pairs of commits.
pub fn check(
    server: &Server<'_>,
    oracle: &Oracle<'_>,
    random: &mut RandomNumbers,
    checks: &mut Checks,
) {
    let on_main_line = (0..PAIRS_ON_MAIN_LINE).map(|_| (&oracle.main_line, MOST_BETWEEN));
    let anywhere = (0..PAIRS_ANYWHERE).map(|_| (&oracle.commits, MOST_APART));
    for (list, most_apart) in on_main_line.chain(anywhere) {
        let from = random.below(list.len());
        let to = (from + 1 + random.below(most_apart)).min(list.len() - 1);
        let (from, to) = (list[from].as_str(), list[to].as_str());
        for (from, to) in [(from, to), (to, from)] {
            checks.check(&format!("compare {from} {to}"), || check_one(server, oracle, from, to));
        }
    }
}

fn check_one(server: &Server<'_>, oracle: &Oracle<'_>, from: &str, to: &str) -> Result<(), String> {
    let shown = server.get("compare", &[("from", from), ("to", to)])?.json();
    let commits = shown["commits"].as_array().map(Vec::as_slice).unwrap_or_default();
    let commits: Vec<String> =
        commits.iter().filter_map(|commit| Some(commit["id"].as_str()?.to_owned())).collect();
    check_commits(oracle, from, to, &commits)?;
    let newest = shown["commit"]["id"].as_str();
    if newest != commits.last().map(String::as_str) {
        return Err(format!("`commit` is {newest:?} instead of {:?}", commits.last()));
    }
    if shown["compare_same_ref"] != (from == to) {
        return Err(format!("`compare_same_ref` is {}", shown["compare_same_ref"]));
    }
    let files = shown_files(&shown["diffs"]);
    // Of several merge bases, any is right.
    let bases = oracle.git.run(&oracle.twin, &["merge-base", "--all", from, to]);
    let bases = String::from_utf8_lossy(&bases.stdout).into_owned();
    let mut bases: Vec<&str> = bases.lines().collect();
    if bases.is_empty() {
        bases.push(EMPTY_TREE);
    }
    let results: Vec<_> = bases
        .iter()
        .map(|base| same_set("changed files", &files, &changed_files(oracle, base, to)))
        .collect();
    match results.iter().any(Result::is_ok) {
        true => Ok(()),
        false => results.into_iter().next().expect("there is a base"),
    }
}

/// Checks the commits of a response. Commits of the same second may have any order.
fn check_commits(
    oracle: &Oracle<'_>,
    from: &str,
    to: &str,
    shown: &[String],
) -> Result<(), String> {
    let range = format!("{from}..{to}");
    let expected = oracle.lines(&["rev-list", "--reverse", "--timestamp", &range]);
    let (times, expected): (Vec<String>, Vec<String>) = expected
        .iter()
        .filter_map(|line| line.split_once(' '))
        .map(|(time, id)| (time.to_owned(), id.to_owned()))
        .unzip();
    same_set("commits", shown, &expected)?;
    let time_of: HashMap<&String, &String> = expected.iter().zip(&times).collect();
    let shown_times: Vec<String> = shown.iter().map(|id| time_of[id].clone()).collect();
    same_list("dates of commits", &shown_times, &times)
}

/// The changes in a response, in the format of `git diff --name-status`.
fn shown_files(diffs: &Value) -> Vec<String> {
    let diffs = diffs.as_array().map(Vec::as_slice).unwrap_or_default();
    let change = |diff: &Value| {
        let path = |field: &str| diff[field].as_str().unwrap_or("?").to_owned();
        let is = |field: &str| diff[field] == true;
        match (is("new_file"), is("deleted_file"), is("renamed_file")) {
            (true, false, false) => format!("A {}", path("new_path")),
            (false, true, false) => format!("D {}", path("old_path")),
            (false, false, true) => format!("R {} {}", path("old_path"), path("new_path")),
            (false, false, false) => format!("M {}", path("new_path")),
            flags => format!("? {flags:?} {}", path("new_path")),
        }
    };
    diffs.iter().map(change).collect()
}

/// The changes between two trees, by git.
fn changed_files(oracle: &Oracle<'_>, base: &str, to: &str) -> Vec<String> {
    let arguments = ["diff", "--name-status", "-M50%", "-z", base, to];
    let printed = oracle.git.bytes(&oracle.twin, &arguments);
    let printed = String::from_utf8_lossy(&printed);
    let mut words = printed.split('\0').filter(|word| !word.is_empty());
    let mut changes = Vec::new();
    while let (Some(status), Some(path)) = (words.next(), words.next()) {
        changes.push(match status.chars().next() {
            Some('R') => format!("R {path} {}", words.next().unwrap_or("?")),
            // A file that became a symbolic link is an ordinary change.
            Some('T') => format!("M {path}"),
            _ => format!("{status} {path}"),
        });
    }
    changes
}
