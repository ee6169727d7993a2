//! Files, links and tests that pages name exist.

use std::path::{Component, Path, PathBuf};

use crate::{all_pages, code_spans, files, page, prose, root};

/// The maximum line length. Longer lines are hard to read beside code and in diffs.
const LONGEST_LINE: usize = 120;

/// Names that look like files of the repository but are not.
const ELSEWHERE: [&str; 4] = [
    // Settings files in the data folder.
    "hexforge.toml",
    "built-in-runner.toml",
    // The configuration that `hexforge runner register` writes.
    "runner.toml",
    // The example of docs/adding-an-endpoint.md.
    "tests/tests/api/repositories/languages.rs",
];

const ENDINGS: [&str; 8] = [".rs", ".txt", ".sh", ".toml", ".md", ".sql", ".svg", ".service"];
const FOLDERS: [&str; 5] = ["crates/", "tests/", "docs/", "deploy/", "migrations/"];

/// Whether a code span names a file or a folder of the repository. The first parts of the path may be missing.
fn names_a_path(code: &str) -> bool {
    let is_of_a_path = |c: char| c.is_ascii_alphanumeric() || "_-./".contains(c);
    let is_in_a_crate = code.contains("/src/") || code.contains("/tests/");
    code.chars().all(is_of_a_path)
        && (ENDINGS.iter().any(|ending| code.ends_with(ending) && code != *ending)
            || FOLDERS.iter().any(|folder| code.starts_with(folder))
            || is_in_a_crate)
}

#[test]
fn files_that_docs_name_exist() {
    let files = files();
    let exists = |code: &str| {
        let code = code.trim_start_matches("../").trim_end_matches('/');
        let (end, inside) = (format!("/{code}"), format!("{code}/"));
        let within = format!("/{inside}");
        files.iter().any(|file| {
            file == code
                || file.ends_with(&end)
                || file.starts_with(&inside)
                || file.contains(&within)
        })
    };
    let mut missing = Vec::new();
    for path in all_pages() {
        for (at, line) in prose(&page(&path)) {
            let named = code_spans(line).filter(|code| names_a_path(code));
            let unknown = named.filter(|code| !ELSEWHERE.contains(code) && !exists(code));
            missing.extend(unknown.map(|code| format!("{path}:{at}: `{code}`")));
        }
    }
    assert!(missing.is_empty(), "there are no such files:\n{}", missing.join("\n"));
}

/// The targets of the links in a line.
fn links(line: &str) -> impl Iterator<Item = &str> {
    line.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(target, _)| target)
}

/// The anchor of a heading.
fn anchor(heading: &str) -> String {
    let text = heading.trim_start_matches('#').trim().to_lowercase();
    let kept = text.chars().filter(|c| c.is_alphanumeric() || " -_".contains(*c));
    kept.map(|c| if c == ' ' { '-' } else { c }).collect()
}

/// The path of a link, from the root of the repository.
fn resolve(from: &str, target: &str) -> PathBuf {
    let mut path = PathBuf::from(from);
    path.pop();
    for part in Path::new(target).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    path
}

#[test]
fn links_between_pages_lead_somewhere() {
    let mut broken = Vec::new();
    for path in all_pages() {
        for (at, line) in prose(&page(&path)) {
            for link in links(line).filter(|link| !link.contains("://")) {
                let (target, wanted) = link.split_once('#').unwrap_or((link, ""));
                let file = match target {
                    "" => PathBuf::from(&path),
                    target => resolve(&path, target),
                };
                let there = root().join(&file).exists();
                let found = there && (wanted.is_empty() || has_anchor(&file, wanted));
                if !found {
                    broken.push(format!("{path}:{at}: {link}"));
                }
            }
        }
    }
    assert!(broken.is_empty(), "these links lead nowhere:\n{}", broken.join("\n"));
}

fn has_anchor(file: &Path, wanted: &str) -> bool {
    let text = page(file.to_str().expect("names of ours are UTF-8"));
    prose(&text).iter().any(|(_, line)| line.starts_with('#') && anchor(line) == wanted)
}

/// Whether a code span is the name of a test. No other names are that long.
fn names_a_test(code: &str) -> bool {
    let name = code.rsplit("::").next().unwrap_or(code);
    name.matches('_').count() >= 3
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Names of items such as `Builds::next_for`, without arguments.
fn names_an_item(code: &str) -> bool {
    let is_name = |part: &str| {
        !part.is_empty() && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
    };
    code.contains("::") && code.split("::").all(is_name)
}

/// Whether a text has a name as a whole word.
fn has_word(text: &str, name: &str) -> bool {
    let is_outside = |c: Option<char>| c.is_none_or(|c| !c.is_ascii_alphanumeric() && c != '_');
    text.match_indices(name).any(|(at, _)| {
        is_outside(text[..at].chars().next_back())
            && is_outside(text[at + name.len()..].chars().next())
    })
}

#[test]
fn tests_and_items_that_docs_name_exist() {
    let is_source = |path: &String| [".rs", ".sql", ".sh"].iter().any(|end| path.ends_with(end));
    let is_of_these_tests = |path: &String| path.starts_with("tests/tests/docs");
    let files = files();
    let sources = files.iter().filter(|path| is_source(path) && !is_of_these_tests(path));
    let sources: String = sources.map(|path| page(path)).collect();
    let mut missing = Vec::new();
    for path in all_pages() {
        for (at, line) in prose(&page(&path)) {
            for code in code_spans(line).filter(|code| names_a_test(code) || names_an_item(code)) {
                let name = code.rsplit("::").next().unwrap_or(code);
                // Logs contain module names of libraries.
                let is_elsewhere = code.starts_with("actix_http::");
                if !is_elsewhere && !has_word(&sources, name) {
                    missing.push(format!("{path}:{at}: `{code}`"));
                }
            }
        }
    }
    assert!(missing.is_empty(), "no source has these names:\n{}", missing.join("\n"));
}

#[test]
fn lines_of_docs_are_short() {
    let mut long = Vec::new();
    for path in all_pages() {
        for (at, line) in prose(&page(&path)) {
            let is_table = line.trim_start().starts_with('|');
            if !is_table && line.chars().count() > LONGEST_LINE {
                long.push(format!("{path}:{at}"));
            }
        }
    }
    assert!(long.is_empty(), "longer than {LONGEST_LINE} characters:\n{}", long.join("\n"));
}

#[test]
fn every_page_is_reached_from_another() {
    let pages = all_pages();
    let linked: Vec<PathBuf> = pages
        .iter()
        .flat_map(|path| {
            let text = page(path);
            let targets: Vec<PathBuf> = prose(&text)
                .iter()
                .flat_map(|(_, line)| links(line))
                .map(|link| resolve(path, link.split('#').next().unwrap_or(link)))
                .collect();
            targets
        })
        .collect();
    let is_linked = |path: &Path| linked.iter().any(|link| link == path);
    let alone: Vec<&String> = pages
        .iter()
        .filter(|path| *path != "README.md" && !path.starts_with("docs/adr/"))
        .filter(|path| !is_linked(Path::new(path)))
        .collect();
    assert!(alone.is_empty(), "no page links to {alone:?}");
}
