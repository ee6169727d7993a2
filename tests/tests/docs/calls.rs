//! The calls in docs/api.md are those that the program serves, and the rows of docs/dialects.md those of the code.

use std::collections::HashMap;

use hexforge_http_actix::{Dialect, openapi};

use crate::{assert_page, code_spans, page};

const ENDPOINTS: &str = include_str!("../../endpoints.txt");
const SPECIFICATION: &str = include_str!("../../specification.txt");

/// Sections of a list of calls, each with its calls as docs name them.
fn sections(list: &str) -> Vec<(&str, Vec<String>)> {
    let mut sections: Vec<(&str, Vec<String>)> = Vec::new();
    // The first paragraph is about the list itself.
    for line in list.lines().skip_while(|line| !line.is_empty()) {
        if let Some(section) = line.strip_prefix("# ") {
            sections.push((section, Vec::new()));
        } else if let Some((method, path)) = line.split_once(' ') {
            let (_, calls) = sections.last_mut().expect("calls are below sections");
            calls.push(format!("{method} {}", path.trim()));
        }
    }
    sections
}

fn count(list: &str) -> usize {
    sections(list).iter().map(|(_, calls)| calls.len()).sum()
}

#[test]
fn the_numbers_of_calls_are_right() {
    let (all, specified) = (count(ENDPOINTS), count(SPECIFICATION));
    let more = all - specified;
    for (path, sentence) in [
        (
            "README.md",
            format!("All {specified} calls of the specification are served, and {more} more."),
        ),
        ("docs/api.md", format!("serves {all} calls: the {specified} of the specification")),
        ("docs/api.md", format!("and {more} more.")),
    ] {
        assert!(page(path).contains(&sentence), "{path} does not say: {sentence}");
    }
}

/// The summary of each call, as the description of the interface has it.
fn summaries() -> HashMap<String, String> {
    let document = openapi::document(Dialect::Specification);
    let paths = document["paths"].as_object().expect("the description has paths");
    let mut found = HashMap::new();
    for (path, operations) in paths {
        let path = path.replace('{', ":").replace('}', "");
        for (method, operation) in operations.as_object().into_iter().flatten() {
            let summary = operation["summary"].as_str().unwrap_or_default();
            found.insert(format!("{} {path}", method.to_uppercase()), summary.to_owned());
        }
    }
    found
}

/// One table for each section of `endpoints.txt`, with one row for each call, in the same order. A new call gets a row
/// with its summary; who may call it is written by hand.
#[test]
fn the_tables_of_calls_have_all_calls() {
    const PATH: &str = "docs/api.md";
    let text = page(PATH);
    let sections = sections(ENDPOINTS);
    let first = format!("### {}\n", sections[0].0);
    let (before, rest) = text.split_once(&first).expect("the page has the first section");
    let (tables, after) = rest.split_once("## Conventions\n").expect("conventions follow");
    let summaries = summaries();
    let mut rows = HashMap::new();
    let mut remarks: HashMap<&str, Vec<&str>> = HashMap::new();
    let mut section = sections[0].0;
    for line in tables.lines() {
        if let Some(name) = line.strip_prefix("### ") {
            section = name;
        } else if line.starts_with("| `") {
            rows.insert(code_spans(line).next().unwrap_or_default(), line);
        } else if !line.starts_with('|') {
            remarks.entry(section).or_default().push(line);
        }
    }
    let mut expected = before.to_owned();
    for (section, calls) in &sections {
        expected += &format!("### {section}\n\n");
        let remark = remarks.get(section).map(|lines| lines.join("\n")).unwrap_or_default();
        if !remark.trim().is_empty() {
            expected += &format!("{}\n\n", remark.trim());
        }
        expected += "| Call | For | Answers |\n|---|---|---|\n";
        for call in calls {
            let summary = summaries.get(call).map(String::as_str).unwrap_or_default();
            let new = format!("| `{call}` | | {summary} |");
            expected += rows.get(call.as_str()).copied().unwrap_or(&new);
            expected.push('\n');
        }
        expected.push('\n');
    }
    expected += &format!("## Conventions\n{after}");
    let unfinished: Vec<&str> = expected.lines().filter(|line| line.contains("` | | ")).collect();
    assert_page(PATH, &expected);
    assert!(unfinished.is_empty(), "say who may call: {unfinished:#?}");
}

/// `docs/dialects.md` has the rows 1, 2, 3 …, each with its function, and names every function of the dialect.
#[test]
fn every_row_of_the_dialects_has_its_function() {
    let source = page("crates/http-actix/src/dialect.rs");
    let body = source.split("\n#[cfg(test)]").next().unwrap_or(&source);
    let functions: Vec<&str> = body
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub fn ")?.split('(').next())
        .filter(|name| *name != "as_str")
        .collect();
    let text = page("docs/dialects.md");
    let rows: Vec<&str> =
        text.lines().filter(|line| line.starts_with("| ") && line.contains("`Dialect::")).collect();
    let mut named = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        assert!(row.starts_with(&format!("| {} | ", at + 1)), "rows are numbered: {row}");
        let function = row.rsplit("`Dialect::").next().and_then(|rest| rest.split('`').next());
        named.push(function.expect("the row names a function"));
    }
    let (mut functions, mut sorted) = (functions, named);
    functions.sort_unstable();
    // Several rows may have one function.
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted, functions, "the rows, and the functions of the code");
    let changelog = page("docs/changelog.md");
    let sentence = format!("all {} rows", rows.len());
    assert!(changelog.contains(&sentence), "docs/changelog.md does not say: {sentence}");
}

/// rest_of_v3.md 17: the 14 calls that are left out, each with the reason.
#[test]
fn the_calls_that_are_left_out_are_listed_with_the_reason() {
    let text = page("docs/api.md");
    let (_, rest) =
        text.split_once("## Calls that are left out\n").expect("the page has the section");
    let section = rest.split("\n## ").next().unwrap_or(rest);
    assert!(section.contains("had 14 more calls"), "{section}");
    let rows: Vec<&str> = section.lines().filter(|line| line.starts_with("| ")).skip(1).collect();
    let calls = [
        "seven below `/internal`",
        "`GET /sidekiq/queue_metrics`, `process_metrics`, `job_stats` and `compound_metrics`",
        "`POST /ci/api/v1/builds/:id/artifacts/authorize`",
        "`POST /ci/api/v1/projects/:id/refs/:ref/trigger`",
        "`POST /projects/:id/services/:name/trigger`",
    ];
    for call in calls {
        let row = rows.iter().find(|row| row.starts_with(&format!("| {call} | ")));
        let reason = row.and_then(|row| row.split(" | ").nth(1)).unwrap_or_default();
        assert!(reason.len() > 20, "{call} is not listed with the reason");
    }
    assert_eq!(rows.len(), calls.len(), "7 + 4 + 1 + 1 + 1 calls");
}
