//! Compares blames with those of the real git.
//!
//! `HEXFORGE_TEST_HISTORIES` is the number of generated histories. `HEXFORGE_TEST_REPOSITORIES` names repositories,
//! separated by `:`, whose files are compared too.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use gix::ObjectId;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::{Blame, BlameRun};

use super::{Changed, LIMITS, Span, blame, changes, split};
use crate::history::compare::{Effort, Limits};
use crate::support::{Random, Scratch, git_command};

/// A line of a blame: the commit, its path and the number of the line in it.
type Line = (String, String, u32);

#[test]
fn blames_of_generated_histories_are_those_of_git() {
    let histories = env::var("HEXFORGE_TEST_HISTORIES").ok();
    let histories = histories.and_then(|text| text.parse().ok()).unwrap_or(30_u64);
    let mut equal = Equal::default();
    for seed in 1..=histories {
        let scratch = Scratch::new();
        let tip = generate(&scratch, seed);
        let files = scratch.git(&["ls-tree", "-r", "--name-only", &tip]);
        for path in files.lines() {
            equal.compare(&scratch.git_dir(), &tip, path);
        }
    }
    assert!(equal.lines as u64 > 20 * histories, "{} lines", equal.lines);
    // Git before 2.44 ignores a last line without a line break when it looks for renamed files.
    assert!(equal.other * 100 <= equal.lines, "{} of {} differ", equal.other, equal.lines);
}

/// Counts the lines of blames, and the lines and previous versions that differ from those of git.
#[derive(Default)]
struct Equal {
    lines: usize,
    other: usize,
}

impl Equal {
    fn compare(&mut self, git_dir: &Path, tip: &str, path: &str) {
        let (expected, previous) = blame_by_git(git_dir, tip, path);
        let options = gix::open::Options::isolated().open_path_as_is(true);
        let repo = gix::open_opts(git_dir, options).expect("git made the repository");
        let id = ObjectId::from_hex(tip.as_bytes()).expect("git printed it");
        let limits = Limits { time: Duration::from_secs(600), ..LIMITS };
        let found = blame(&repo, id, path, 0..u32::MAX, &Effort::new(limits));
        let found = found.expect("it can be read").expect("the file exists");
        assert_eq!(found.lines as usize, expected.len(), "{path}");
        let lines = lines_of(&found);
        assert_eq!(lines.len(), expected.len(), "each line once: {path}");
        self.lines += lines.len();
        self.other +=
            lines.iter().zip(&expected).filter(|(found, expected)| found != expected).count();
        for run in &found.runs {
            let version = (run.commit.to_string(), run.path.clone());
            let before =
                run.previous.as_ref().map(|(commit, path)| (commit.to_string(), path.clone()));
            let is_other = previous.get(&version).is_some_and(|expected| *expected != before);
            self.other += usize::from(is_other);
        }
    }
}

/// One entry per line, in the order of the file.
fn lines_of(blame: &Blame) -> Vec<Line> {
    let mut lines = Vec::new();
    for BlameRun { first, count, commit, path, original, .. } in &blame.runs {
        assert_eq!(*first as usize, lines.len() + 1, "runs follow each other");
        lines.extend((0..*count).map(|at| (commit.to_string(), path.clone(), original + at)));
    }
    lines
}

type Previous = BTreeMap<(String, String), Option<(String, String)>>;

/// The lines of a file by git, and the previous version of each version.
fn blame_by_git(git_dir: &Path, tip: &str, path: &str) -> (Vec<Line>, Previous) {
    let mut git = git_command();
    git.arg("--git-dir").arg(git_dir);
    git.args(["-c", "core.quotePath=false", "blame", "--line-porcelain", tip, "--", path]);
    let output = git.output().expect("git starts");
    assert!(output.status.success(), "{path}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let (mut lines, mut versions) = (Vec::new(), Previous::new());
    let (mut header, mut file, mut before) = (None, String::new(), None);
    for line in text.split('\n') {
        if line.starts_with('\t') {
            let (commit, original) = header.take().expect("the header comes first");
            versions.insert((String::clone(&commit), file.clone()), before.take());
            lines.push((commit, file.clone(), original));
        } else if header.is_none() {
            let mut words = line.split(' ');
            let (Some(commit), Some(original)) = (words.next(), words.next()) else { continue };
            header = Some((commit.to_owned(), original.parse().expect("a number")));
        } else if let Some(name) = line.strip_prefix("filename ") {
            name.clone_into(&mut file);
        } else if let Some(version) = line.strip_prefix("previous ") {
            let (commit, path) = version.split_once(' ').expect("commit and path");
            before = Some((commit.to_owned(), path.to_owned()));
        }
    }
    (lines, versions)
}

type Files = BTreeMap<String, Vec<String>>;

/// Writes a history with edits, renames and merges of text files. Returns the last commit.
fn generate(scratch: &Scratch, seed: u64) -> String {
    let random = &mut Random::new(seed);
    let (mut stream, mut trees): (String, Vec<Files>) = (String::new(), Vec::new());
    let count = 5 + random.below(40);
    for at in 0..count {
        let mut parents =
            if at == 0 || random.one_in(25) { vec![] } else { vec![near(random, at)] };
        if !parents.is_empty() && random.one_in(3) {
            for _ in 0..1 + random.below(2) {
                let other = near(random, at);
                if !parents.contains(&other) {
                    parents.push(other);
                }
            }
        }
        let mut files = parents.first().map(|first| trees[*first].clone()).unwrap_or_default();
        for other in parents.iter().skip(1) {
            merge(random, &mut files, &trees[*other]);
        }
        if parents.len() < 2 || random.one_in(3) {
            (0..1 + random.below(3)).for_each(|_| edit(random, &mut files));
        }
        let date = 1_400_000_000 + 60 * at as i64 * i64::from(!random.one_in(9));
        write_commit(&mut stream, at, date, &parents, &files);
        trees.push(files);
    }
    let _ = write!(stream, "reset refs/heads/tip\nfrom :{count}\n\n");
    scratch.git_bytes(&["fast-import", "--quiet", "--force"], stream.as_bytes());
    scratch.git(&["rev-parse", "tip"])
}

fn near(random: &mut Random, at: usize) -> usize {
    at - 1 - random.below(at.min(5))
}

/// Takes some files of another commit, or some of their lines.
fn merge(random: &mut Random, files: &mut Files, other: &Files) {
    for (path, theirs) in other {
        match files.get_mut(path) {
            Some(ours) if random.one_in(2) => {
                let place = random.below(ours.len().min(theirs.len()) + 1);
                ours.truncate(place);
                ours.extend_from_slice(&theirs[place..]);
            }
            Some(ours) if random.one_in(2) => ours.clone_from(theirs),
            None if random.one_in(2) => drop(files.insert(path.clone(), theirs.clone())),
            Some(_) | None => (),
        }
    }
}

const NAMES: [&str; 6] = ["a", "b.rs", "c/d", "c/b.rs", "e/f", "e/a"];

/// Makes one change.
fn edit(random: &mut Random, files: &mut Files) {
    let paths: Vec<String> = files.keys().cloned().collect();
    if paths.is_empty() || random.one_in(8) {
        let lines = (0..random.below(40)).map(|_| line(random)).collect();
        files.insert((*random.pick(&NAMES)).to_owned(), lines);
        return;
    }
    let path = random.pick(&paths).clone();
    if random.one_in(6) {
        if let Some(lines) = files.remove(&path)
            && !random.one_in(5)
        {
            files.insert((*random.pick(&NAMES)).to_owned(), lines);
        }
        return;
    }
    let Some(lines) = files.get_mut(&path) else { return };
    let place = random.below(lines.len() + 1);
    let end = (place + random.below(4)).min(lines.len());
    let new: Vec<String> = match random.below(4) {
        0 => vec![],
        1 => lines[random.below(lines.len() + 1)..].iter().take(3).cloned().collect(),
        _ => (0..1 + random.below(3)).map(|_| line(random)).collect(),
    };
    lines.splice(place..end, new);
}

/// Few different lines, so that there are many ways to compare two texts.
fn line(random: &mut Random) -> String {
    let indent = " ".repeat(2 * random.below(3));
    match random.below(4) {
        0 => String::new(),
        1 => format!("{indent}}}"),
        _ => format!("{indent}line {}", random.below(60)),
    }
}

fn write_commit(stream: &mut String, at: usize, date: i64, parents: &[usize], files: &Files) {
    let _ = write!(stream, "commit refs/heads/c{at}\nmark :{}\n", at + 1);
    let _ = write!(stream, "committer A <a@b> {date} +0000\ndata 1\nx\n");
    for (number, parent) in parents.iter().enumerate() {
        let word = if number == 0 { "from" } else { "merge" };
        let _ = writeln!(stream, "{word} :{}", parent + 1);
    }
    stream.push_str("deleteall\n");
    for (path, lines) in files {
        // Some files have no line break at their end.
        let text = lines.join("\n") + if lines.len() % 3 == 0 { "" } else { "\n" };
        let _ = write!(stream, "M 100644 inline {path}\ndata {}\n{text}\n", text.len());
    }
    stream.push('\n');
}

#[test]
fn blames_of_real_histories_are_mostly_those_of_git() {
    let Ok(folders) = env::var("HEXFORGE_TEST_REPOSITORIES") else { return };
    let files = env::var("HEXFORGE_TEST_FILES").ok().and_then(|text| text.parse().ok());
    for git_dir in folders.split(':').filter(|folder| !folder.is_empty()).map(Path::new) {
        let git = |arguments: &[&str]| {
            let mut git = git_command();
            let output = git.arg("--git-dir").arg(git_dir).args(arguments).output();
            String::from_utf8_lossy(&output.expect("git starts").stdout).into_owned()
        };
        let tip = git(&["rev-parse", "HEAD"]).trim().to_owned();
        // Text files only.
        let listed = git(&["grep", "-z", "--name-only", "-I", "-e", "", &tip, "--"]);
        let all: Vec<&str> = listed
            .split('\0')
            .filter_map(|line| line.split_once(':'))
            .map(|(_, path)| path)
            .collect();
        let step = all.len().div_ceil(files.unwrap_or(25)).max(1);
        let mut equal = Equal::default();
        for path in all.into_iter().step_by(step) {
            equal.compare(git_dir, &tip, path);
        }
        let Equal { lines, other } = equal;
        assert!(other * 50 <= lines, "{}: {other} of {lines} lines differ", git_dir.display());
    }
}

#[test]
fn only_the_lines_that_are_asked_for_are_blamed() {
    let scratch = Scratch::new();
    let tip = generate(&scratch, 4);
    let repo = gix::open(scratch.git_dir()).expect("git made the repository");
    let id = ObjectId::from_hex(tip.as_bytes()).expect("git printed it");
    let files = scratch.git(&["ls-tree", "-r", "--name-only", &tip]);
    for path in files.lines() {
        let lines = |range| blame(&repo, id, path, range, &Effort::new(LIMITS));
        let whole = lines(0..u32::MAX).expect("it can be read").expect("the file exists");
        let all = lines_of(&whole);
        for (start, end) in [(0, 1), (2, 7), (5, 5), (3, u32::MAX), (u32::MAX - 1, u32::MAX)] {
            let part = lines(start..end).expect("it can be read").expect("the file exists");
            assert_eq!(part.lines, whole.lines);
            let first = part.runs.first().map_or(0, |run| run.first - 1);
            let shifted =
                part.runs.iter().map(|run| BlameRun { first: run.first - first, ..run.clone() });
            let found = lines_of(&Blame { lines: 0, runs: shifted.collect() });
            let place = |line: u32| (line as usize).min(all.len());
            assert_eq!(found, all[place(start)..place(end)], "{path} {start}..{end}");
        }
    }
    let missing = blame(&repo, id, "no/such/file", 0..9, &Effort::new(LIMITS));
    assert!(matches!(missing, Ok(None)));
    let none = blame(&repo, ObjectId::null(gix::hash::Kind::Sha1), "a", 0..9, &Effort::new(LIMITS));
    assert!(matches!(none, Err(GitError::Missing)));
    let path = files.lines().next().expect("there are files");
    let no_time = Effort::new(Limits { time: Duration::ZERO, ..LIMITS });
    assert!(matches!(blame(&repo, id, path, 0..9, &no_time), Err(GitError::TooLarge)));
}

#[test]
fn spans_are_split_at_changes() {
    let span = |wanted, start, count| Span { wanted, start, count };
    let change = |before, after| Changed { before, after };
    // Line 2 is new, two lines before line 4 were removed, and lines 6 and 7 replaced one line.
    let changes = [change(2..2, 2..3), change(3..5, 4..4), change(7..8, 6..8)];
    let (passed, kept) = split(vec![span(10, 0, 10)], &changes);
    assert_eq!(kept, [span(12, 2, 1), span(16, 6, 2)]);
    assert_eq!(passed, [span(10, 0, 2), span(13, 2, 1), span(14, 5, 2), span(18, 8, 2)]);
    let (passed, kept) = split(vec![span(0, 4, 1), span(1, 7, 2)], &changes);
    assert_eq!((passed, kept), (vec![span(0, 5, 1), span(2, 8, 1)], vec![span(1, 7, 1)]));
}

#[test]
fn a_common_end_is_not_compared() {
    let end = "same\n".repeat(1000);
    let found = changes(format!("a\n{end}").as_bytes(), format!("b\nc\n{end}").as_bytes());
    let found: Vec<_> = found.into_iter().map(|change| (change.before, change.after)).collect();
    assert_eq!(found, [(0..1, 0..2)]);
}
