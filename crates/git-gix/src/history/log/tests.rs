//! Compares logs with those of the real git.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

use hexforge_domain::Timestamp;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::LogQuery;

use crate::support::{Random, Scratch};

const PATHS: [&str; 9] = ["a", "b", "c/d", "c/e", "c", "c/", "c/f/g", "missing", "a/"];

#[test]
fn logs_of_generated_histories_are_those_of_git() {
    let histories = std::env::var("HEXFORGE_TEST_HISTORIES").ok();
    let histories = histories.and_then(|text| text.parse().ok()).unwrap_or(25_u64);
    for seed in 1..=histories {
        let scratch = Scratch::new();
        let tip = generate(&scratch, seed);
        let random = &mut Random::new(seed + 1000);
        for _ in 0..12 {
            check(&scratch, seed, random, &tip);
        }
    }
}

/// Compares one random query.
fn check(scratch: &Scratch, seed: u64, random: &mut Random, tip: &str) {
    let date = |random: &mut Random| 1_400_000_000 + random.below(60 * 60) as i64;
    let mut query = LogQuery {
        path: (!random.one_in(4)).then(|| PATHS[random.below(PATHS.len())].to_owned()),
        since: random.one_in(4).then(|| time(date(random))),
        until: random.one_in(4).then(|| time(date(random))),
        skip: if random.one_in(2) { random.below(8) as u64 } else { 0 },
        limit: 1 + random.below(30),
        ..LogQuery::all(ObjectId::parse(tip).expect("git printed it"))
    };
    if random.one_in(3) {
        (query.skip, query.limit) = (0, usize::MAX);
    }
    let mut arguments = vec!["--literal-pathspecs".to_owned(), "log".into(), "--format=%H".into()];
    arguments.push(format!("--skip={}", query.skip));
    if query.limit < usize::MAX {
        arguments.push(format!("--max-count={}", query.limit));
    }
    // Both are exclusive in the arithmetic of git for dates without a zone, so full dates are given.
    arguments.extend(query.since.map(|since| format!("--since=@{}", since.timestamp())));
    arguments.extend(query.until.map(|until| format!("--until=@{}", until.timestamp())));
    arguments.push(tip.to_owned());
    arguments.push("--".into());
    arguments.extend(query.path.clone());
    let expected = String::from_utf8(scratch.git_bytes(&arguments, b"")).expect("ids are text");
    let found = list(scratch, &query).expect("the commit exists");
    let expected: Vec<&str> = expected.lines().collect();
    assert_eq!(found, expected, "seed {seed}: {arguments:?}");
}

fn time(seconds: i64) -> Timestamp {
    Timestamp::from_timestamp(seconds, 0).expect("it is in the calendar")
}

fn list(scratch: &Scratch, query: &LogQuery) -> Result<Vec<String>, GitError> {
    let options = gix::open::Options::isolated().open_path_as_is(true);
    let repo = gix::open_opts(scratch.git_dir(), options).expect("git made the repository");
    let ids = super::list(&repo, query, Instant::now() + Duration::from_secs(60))?;
    Ok(ids.iter().map(ToString::to_string).collect())
}

type Files = BTreeMap<&'static str, usize>;

/// Writes a history with merges of all kinds, reverts, roots and wrong clocks. Returns the last commit.
pub(in crate::history) fn generate(scratch: &Scratch, seed: u64) -> String {
    let random = &mut Random::new(seed);
    let (mut stream, mut trees): (String, Vec<Files>) = (String::new(), Vec::new());
    let count = 5 + random.below(50);
    for at in 0..count {
        let parents = parents(random, at);
        let mut files = match parents.first() {
            Some(&first) => trees[first].clone(),
            None => Files::new(),
        };
        for &parent in parents.iter().skip(1) {
            for path in PATHS {
                // A merge takes some files of each side.
                if random.one_in(2) {
                    match trees[parent].get(path) {
                        Some(&content) => drop(files.insert(path, content)),
                        None => drop(files.remove(path)),
                    }
                }
            }
        }
        if parents.len() < 2 || random.one_in(3) {
            change(random, &mut files, &trees);
        }
        let wrong = if random.one_in(6) { random.below(1800) as i64 - 900 } else { 0 };
        let date = 1_400_000_000 + 60 * (at as i64) * i64::from(!random.one_in(9)) + wrong;
        write_commit(&mut stream, at, date, &parents, &files);
        trees.push(files);
    }
    let _ = write!(stream, "reset refs/heads/tip\nfrom :{count}\n\n");
    scratch.git_bytes(&["fast-import", "--quiet", "--force"], stream.as_bytes());
    scratch.git(&["rev-parse", "tip"])
}

fn parents(random: &mut Random, at: usize) -> Vec<usize> {
    if at == 0 || random.one_in(20) {
        return vec![];
    }
    let near = |random: &mut Random| at - 1 - random.below(at.min(6));
    let mut parents = vec![near(random)];
    for _ in 0..if random.one_in(3) { 1 + random.below(3) } else { 0 } {
        let parent = near(random);
        if !parents.contains(&parent) {
            parents.push(parent);
        }
    }
    parents
}

fn change(random: &mut Random, files: &mut Files, trees: &[Files]) {
    let path = ["a", "b", "c/d", "c/e", "c/f/g"][random.below(5)];
    match random.below(6) {
        0 => drop(files.remove(path)),
        1 if !trees.is_empty() => *files = random.pick(trees).clone(),
        2 => {
            if let Some(content) = files.remove("a") {
                files.insert("b", content);
            }
        }
        3 => (),
        _ => drop(files.insert(path, random.below(5))),
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
    for (path, content) in files {
        let _ = write!(stream, "M 100644 inline {path}\ndata 1\n{content}\n");
    }
    stream.push('\n');
}

#[test]
fn missing_commits_are_refused() {
    let scratch = Scratch::new();
    let tip = generate(&scratch, 3);
    let missing = LogQuery::all(ObjectId::ZERO);
    assert!(matches!(list(&scratch, &missing), Err(GitError::Missing)));
    let tip = LogQuery::all(ObjectId::parse(&tip).expect("git printed it"));
    assert!(list(&scratch, &LogQuery { limit: 0, ..tip }).is_ok_and(|ids| ids.is_empty()));
}
