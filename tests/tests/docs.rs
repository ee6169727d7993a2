//! The docs agree with the program: lists and figures in them are compared with the code, and their commands are run.
//!
//! `HEXFORGE_WRITE_LISTS=1 cargo test -p hexforge-tests --test docs` writes the generated parts again.

#[path = "docs/calls.rs"]
mod calls;
#[path = "docs/facts.rs"]
mod facts;
#[path = "docs/pages.rs"]
mod pages;
#[path = "docs/tour.rs"]
mod tour;

use std::path::{Path, PathBuf};

/// The folder of the repository.
fn root() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// Reads a file of the repository.
fn page(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// Compares a page with what it should be, or writes it with `HEXFORGE_WRITE_LISTS=1`.
fn assert_page(path: &str, expected: &str) {
    let found = page(path);
    if found == expected {
        return;
    }
    if std::env::var_os("HEXFORGE_WRITE_LISTS").is_some() {
        std::fs::write(root().join(path), expected).expect("the page can be written");
        return;
    }
    let differs = found.lines().zip(expected.lines()).find(|(found, expected)| found != expected);
    panic!("{path} is not up to date, run this test with HEXFORGE_WRITE_LISTS=1: {differs:#?}");
}

/// Returns a page whose part between two markers is replaced.
fn with_generated(path: &str, name: &str, lines: &[String]) -> String {
    let text = page(path);
    let (begin, end) = (format!("<!-- begin {name} -->\n"), format!("<!-- end {name} -->\n"));
    let (before, rest) = text.split_once(&begin).unwrap_or_else(|| panic!("{path}: no {begin}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("{path}: no {end}"));
    format!("{before}{begin}{}\n{end}{after}", lines.join("\n"))
}

/// All files below a folder of the repository, as paths from its root, without build results.
fn files_below(folder: &str, found: &mut Vec<String>) {
    for entry in std::fs::read_dir(root().join(folder)).expect("a folder of ours").flatten() {
        let path: PathBuf = Path::new(folder).join(entry.file_name());
        let path = path.to_str().expect("names of ours are UTF-8").to_owned();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && entry.file_name() != "target" => files_below(&path, found),
            Ok(kind) if kind.is_file() => found.push(path),
            _ => (),
        }
    }
}

/// All files of the repository that docs may name.
fn files() -> Vec<String> {
    let mut found = Vec::new();
    for folder in [".ci", ".cargo", "crates", "deploy", "docs", "migrations", "tests"] {
        files_below(folder, &mut found);
    }
    let top =
        ["README.md", "CONTRIBUTING.md", "SECURITY.md", "Cargo.toml", "Cargo.lock", "deny.toml"];
    found.extend(top.map(str::to_owned));
    found.extend(["LICENSE-MIT", "LICENSE-APACHE"].map(str::to_owned));
    found
}

/// All pages for readers.
fn all_pages() -> Vec<String> {
    let mut found = Vec::new();
    files_below("docs", &mut found);
    found.retain(|path| path.ends_with(".md"));
    found.extend(["README.md", "CONTRIBUTING.md", "SECURITY.md"].map(str::to_owned));
    found.sort();
    found
}

/// The lines of a page outside of fenced blocks, with their numbers.
fn prose(text: &str) -> Vec<(usize, &str)> {
    let mut fenced = false;
    let mut lines = Vec::new();
    for (at, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            fenced = !fenced;
        } else if !fenced {
            lines.push((at + 1, line));
        }
    }
    lines
}

/// The inline code of a line.
fn code_spans(line: &str) -> impl Iterator<Item = &str> {
    line.split('`').skip(1).step_by(2)
}
