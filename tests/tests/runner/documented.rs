//! docs/runners.md names a test for every keyword of `.gitlab-ci.yml` and for every way to fail.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn page() -> String {
    fs::read_to_string(root().join("docs/runners.md")).expect("the page is there")
}

/// The rows of the table below a heading, without its head.
fn rows(page: &str, heading: &str) -> Vec<String> {
    let section = page.split_once(heading).expect("the page has the heading").1;
    let section = section.split("\n## ").next().expect("a text has a first part");
    let rows = section.lines().filter(|line| line.starts_with('|'));
    rows.skip(2).map(str::to_owned).collect()
}

/// The texts in backquotes.
fn quoted(text: &str) -> Vec<&str> {
    text.split('`').skip(1).step_by(2).collect()
}

/// All keywords of release 8.14, and the variables that change how a runner works.
const KEYWORDS: &[&str] = &[
    "image",
    "services",
    "stages",
    "types",
    "before_script",
    "after_script",
    "variables",
    "cache:key",
    "cache:untracked",
    "cache:paths",
    "script",
    "stage",
    "type",
    "only",
    "except",
    "refs",
    "triggers",
    "branches",
    "tags",
    "allow_failure",
    "when",
    "on_success",
    "on_failure",
    "always",
    "manual",
    "dependencies",
    "artifacts:paths",
    "artifacts:name",
    "artifacts:untracked",
    "artifacts:when",
    "artifacts:expire_in",
    "environment:name",
    "environment:url",
    "environment:on_stop",
    "environment:action",
    "GIT_STRATEGY",
    "GIT_DEPTH",
    "GIT_SUBMODULE_STRATEGY",
    "GIT_SSL_NO_VERIFY",
    "GIT_LFS_SKIP_SMUDGE",
    "CI_DEBUG_TRACE",
    "build_coverage_regex",
];

#[test]
fn every_keyword_has_a_row() {
    let rows = rows(&page(), "## Keywords of `.gitlab-ci.yml`");
    let cells = rows.iter().filter_map(|row| row.split('|').nth(1));
    let documented: BTreeSet<&str> = cells.flat_map(quoted).collect();
    let missing: Vec<_> = KEYWORDS.iter().filter(|word| !documented.contains(*word)).collect();
    assert!(missing.is_empty(), "without a row: {missing:?}");
}

/// A test is named in backquotes, without its file. Tests that exist once for each executor are named without its name.
#[test]
fn every_named_test_exists() {
    let page = page();
    let mut files = Vec::new();
    for folder in ["tests/tests/runner", "tests/tests/api/ci", "crates/runner/src"] {
        let entries = fs::read_dir(root().join(folder)).expect("the folder is there").flatten();
        files.extend(entries.filter_map(|entry| fs::read_to_string(entry.path()).ok()));
    }
    let code = files.concat();
    let exists = |name: &str| code.contains(&format!("fn {name}("));
    let mut named = 0;
    for heading in
        ["## Keywords of `.gitlab-ci.yml`", "## When something dies", "## What old runners need"]
    {
        for row in rows(&page, heading) {
            let cell = row.trim_end_matches('|').rsplit('|').next().expect("a row has a cell");
            let tests: Vec<&str> = quoted(cell)
                .into_iter()
                .filter(|text| text.matches('_').count() > 1 && !text.contains('.'))
                .collect();
            assert!(!tests.is_empty(), "no test is named: {row}");
            for test in tests {
                named += 1;
                assert!(exists(test), "there is no test {test}");
                let in_each = |executor: &str| exists(&format!("{test}_in_{executor}"));
                assert_eq!(
                    in_each("the_shell"),
                    in_each("a_sandbox"),
                    "{test} is not tested in both"
                );
            }
        }
    }
    assert!(named > 50, "only {named} tests were found");
}
