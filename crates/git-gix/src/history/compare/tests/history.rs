//! Compares random histories with git, for many pairs of their commits.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Write;

use super::{Scratch, compare, id, open, same_as_git};
use crate::support::{FIRST_COMMIT, Random};

const COMMITS: usize = 40;
const PAIRS: usize = 25;

#[test]
fn random_histories_are_compared_as_git_does() {
    for seed in 1..=8 {
        check(seed);
    }
}

fn check(seed: u64) {
    let mut random = Random::new(seed);
    let scratch = Scratch::new();
    let commits = import(&scratch, &mut random);
    if seed.is_multiple_of(2) {
        scratch.git(&["commit-graph", "write", "--reachable"]);
    }
    for _ in 0..PAIRS {
        let (from, to) = (random.pick(&commits), random.pick(&commits));
        let expected = scratch.git(&["rev-list", to, &format!("^{from}")]);
        let comparison = compare(&scratch, from, to);
        let ours: BTreeSet<String> =
            comparison.commits.iter().map(|commit| commit.id.to_string()).collect();
        let theirs: BTreeSet<String> = expected.lines().map(str::to_owned).collect();
        assert_eq!(ours, theirs, "seed {seed}: {from}..{to}");
        assert!(comparison.commits.is_sorted_by_key(|commit| commit.committer.at));
        for (at, commit) in comparison.commits.iter().enumerate() {
            let later = &comparison.commits[at..];
            assert!(later.iter().all(|later| !commit.parents.contains(&later.id)));
        }
        if has_one_best_base(&scratch, from, to) {
            same_as_git(&scratch, from, to);
        }
        let (ancestor, _, _) = scratch.try_git(&["merge-base", "--is-ancestor", from, to], b"");
        let ours = super::super::is_ancestor(&open(&scratch), id(from), id(to));
        assert_eq!(ours.expect("both exist"), ancestor);
    }
}

/// Returns whether the newest merge base is unique. Of several bases with the same date git takes any.
fn has_one_best_base(scratch: &Scratch, from: &str, to: &str) -> bool {
    let (_, bases, _) = scratch.try_git(&["merge-base", "--all", from, to], b"");
    let bases = String::from_utf8(bases).expect("names of commits");
    let mut args = vec!["show", "--no-patch", "--format=%ct"];
    args.extend(bases.lines());
    let dates = scratch.git(&args);
    let mut dates = dates.lines();
    bases.lines().count() < 2 || dates.next() != dates.next()
}

#[derive(Clone)]
struct File {
    mode: &'static str,
    lines: Vec<Vec<u8>>,
}

type Tree = BTreeMap<String, File>;

/// Creates commits on three branches, which are sometimes merged into each other.
fn import(scratch: &Scratch, random: &mut Random) -> Vec<String> {
    let mut stream = Vec::new();
    let mut branches: Vec<(Tree, usize)> = Vec::new();
    let mut date = FIRST_COMMIT;
    for mark in 1..=COMMITS {
        // Some commits have the same date.
        date += [0, 1, 60][random.below(3)];
        let at = random.below(3).min(branches.len());
        let (mut tree, mut parents) = (Tree::new(), Vec::new());
        if let Some((from, parent)) = branches.get(at).or(branches.last()) {
            (tree, parents) = (from.clone(), vec![*parent]);
        }
        if random.one_in(5) && !branches.is_empty() {
            let (other, parent) = random.pick(&branches).clone();
            if !parents.contains(&parent) {
                tree.extend(other);
                parents.push(parent);
            }
        }
        for _ in 0..if parents.is_empty() { 30 } else { 1 + random.below(6) } {
            edit(&mut tree, random);
        }
        write_commit(&mut stream, mark, date, &parents, &tree);
        if at < branches.len() {
            branches[at] = (tree, mark);
        } else {
            branches.push((tree, mark));
        }
    }
    for (at, (_, mark)) in branches.iter().enumerate() {
        let _ = writeln!(stream, "reset refs/heads/b{at}\nfrom :{mark}\n");
    }
    let marks = scratch.path().join("marks");
    let export = format!("--export-marks={}", marks.display());
    scratch.git_bytes(&["fast-import", "--quiet", "--force", &export], &stream);
    let marks = std::fs::read_to_string(marks).expect("git wrote it");
    let ids: HashMap<&str, &str> = marks.lines().filter_map(|line| line.split_once(' ')).collect();
    (1..=COMMITS).map(|mark| ids[&*format!(":{mark}")].to_owned()).collect()
}

fn write_commit(stream: &mut Vec<u8>, mark: usize, date: i64, parents: &[usize], tree: &Tree) {
    let _ = write!(stream, "commit refs/heads/work{mark}\nmark :{mark}\n");
    let _ = write!(stream, "committer Grace <grace@example.com> {date} +0000\ndata 2\nx\n");
    for (at, parent) in parents.iter().enumerate() {
        let _ = writeln!(stream, "{} :{parent}", if at == 0 { "from" } else { "merge" });
    }
    let _ = writeln!(stream, "deleteall");
    for (path, File { mode, lines }) in tree {
        let content = lines.concat();
        let _ = writeln!(stream, "M {mode} inline {path}\ndata {}", content.len());
        stream.extend_from_slice(&content);
        stream.push(b'\n');
    }
}

/// A line from a small set, so that many diffs are possible and git's must be found.
fn line(random: &mut Random) -> Vec<u8> {
    const LINES: [&str; 14] = [
        "",
        "{",
        "}",
        "  {",
        "  }",
        "fn a()",
        "fn b()",
        "\treturn;",
        "    x = 1;",
        "    x = 2;",
        "else",
        "# note",
        " ",
        "end\r",
    ];
    let mut line = match random.below(4) {
        0 => format!("  call({});", random.below(400)),
        _ => (*random.pick(&LINES)).to_owned(),
    };
    line.push('\n');
    line.into_bytes()
}

fn path(random: &mut Random) -> String {
    let folder = random.pick(&["", "", "a/", "b/", "a/c/", "a.b/"]);
    let name = random.pick(&["x", "y", "z", "main.c", "readme"]);
    format!("{folder}{name}{}", random.below(6))
}

fn edit(tree: &mut Tree, random: &mut Random) {
    let paths: Vec<String> = tree.keys().cloned().collect();
    let new_path = path(random);
    match random.below(12) {
        0..=1 => {
            let length = *random.pick(&[0, 1, 3, 10, 40, 40, 200, 600]);
            let mut lines: Vec<Vec<u8>> = (0..length).map(|_| line(random)).collect();
            if random.one_in(8) {
                lines.insert(0, b"\0\n".to_vec());
            }
            tree.entry(new_path).or_insert(File { mode: "100644", lines });
        }
        // Files without a final line break have their own names and lines and are never renamed: git before 2.44
        // ignored that last line in rename detection.
        2 => {
            let number = random.below(3);
            let file = tree
                .entry(format!("unfinished{number}"))
                .or_insert(File { mode: "100644", lines: Vec::new() });
            file.lines.truncate(random.below(6));
            for _ in 0..random.below(4) {
                file.lines.push(format!("{number} unfinished {}\n", random.below(5)).into_bytes());
            }
            let end = if random.one_in(2) { "\n" } else { "" };
            file.lines.push(format!("{number} unfinished{end}").into_bytes());
            if let [.., before, _] = &mut *file.lines
                && !before.ends_with(b"\n")
            {
                before.push(b'\n');
            }
        }
        _ if paths.is_empty() => {}
        action => {
            let path = random.pick(&paths).clone();
            if path.starts_with("unfinished") {
                return;
            }
            match action {
                3 => drop(tree.remove(&path)),
                4..=6 => {
                    if let Some(file) = tree.remove(&path) {
                        tree.entry(new_path.clone()).or_insert(file);
                        change(tree.get_mut(&new_path), random);
                    }
                }
                7 => {
                    if let Some(file) = tree.get_mut(&path) {
                        file.mode = if file.mode == "100644" { "100755" } else { "100644" };
                    }
                }
                _ => change(tree.get_mut(&path), random),
            }
        }
    }
}

/// Adds, removes, replaces, repeats and moves some lines.
fn change(file: Option<&mut File>, random: &mut Random) {
    let Some(File { lines, .. }) = file else { return };
    for _ in 0..*random.pick(&[0, 1, 1, 3, 10, 60]) {
        let at = random.below(lines.len() + 1);
        match random.below(5) {
            0 => lines.insert(at, line(random)),
            1 if at < lines.len() => drop(lines.remove(at)),
            2 if at < lines.len() => lines[at] = line(random),
            3 => {
                let end = (at + random.below(8)).min(lines.len());
                let block = lines[at..end].to_vec();
                lines.splice(end..end, block);
            }
            4 if at < lines.len() => {
                let moved = lines.remove(at);
                let place = random.below(lines.len() + 1);
                lines.insert(place, moved);
            }
            _ => {}
        }
    }
}
