//! Compares the counts with those of git.

use std::cell::Cell;
use std::time::Duration;

use gix::ObjectId;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::Contributors;

use super::super::count::{CountObserver, CountOutcome, count_up_to};
use super::super::new_commits::find_new_commits;
use super::super::stored::StoredCount;
use super::fixture::{Commit, Files, Fixture, Random};

/// Pauses a count after this number of chunks.
struct After(Cell<usize>);

impl CountObserver for After {
    fn report(&self, so_far: Contributors) {
        assert!(!so_far.complete);
    }

    fn pause(&self, _: Duration) -> bool {
        self.0.set(self.0.get().saturating_sub(1));
        self.0.get() == 0
    }
}

fn count(fixture: &Fixture, tip: ObjectId) -> Result<Contributors, GitError> {
    let (ended, stored) = count_up_to(&fixture.open(), tip, &After(Cell::new(usize::MAX)))?;
    assert_eq!((ended, stored.tip), (CountOutcome::Complete, Some(tip)));
    assert_eq!(StoredCount::read(fixture.path()), stored);
    Ok(stored.totals.contributors(true))
}

fn forget(fixture: &Fixture) {
    std::fs::remove_dir_all(fixture.path().join("hexforge")).ok();
}

const AUTHORS: [&[u8]; 8] = [
    b"Ada <ada@example.com>",
    b"Ada L. <ada@example.com>",
    b"Ada <Ada@example.com>",
    b"<ada@example.com>",
    b"Bob <>",
    b"J\xf6rg <joerg@example.com>",
    "Jörg <j\u{f6}rg@example.com>".as_bytes(),
    b"Odd <\xff\xfe@example.com>",
];
const PATHS: [&[u8]; 9] =
    [b"a", b"a.b", b"a/b", b"a/c/d", b"a0", b"z/y/x/w", b"z/y", b"\xff\n\t", b"long"];

fn line(random: &mut Random) -> Vec<u8> {
    let end = random.pick(&[&b"\n"[..], b"\n", b"\n", b"\r\n"]);
    let text = random.pick(&[&b""[..], b"{", b"}", b"one", b"two", b"\xff", b"\t"]);
    [text, end].concat()
}

/// Changes some lines of a text.
fn edit(random: &mut Random, content: &[u8], most: usize) -> Vec<u8> {
    let mut lines: Vec<Vec<u8>> =
        content.split_inclusive(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect();
    for _ in 0..=random.below(most) {
        let at = random.below(lines.len() + 1);
        match random.below(5) {
            0 | 1 => lines.insert(at, line(random)),
            2 => lines.insert(at, format!("{}\n", random.below(1_000_000)).into_bytes()),
            3 if at < lines.len() => _ = lines.remove(at),
            4 if at < lines.len() => lines[at] = line(random),
            _ => {}
        }
    }
    let mut content = lines.concat();
    if random.below(6) == 0 && content.ends_with(b"\n") {
        content.pop();
    }
    content
}

fn change(random: &mut Random, files: &mut Files) {
    let path = random.pick(&PATHS).to_vec();
    let old = files.remove(&path);
    // A file and a folder cannot have the same name.
    let folder = [&path[..], b"/"].concat();
    files.retain(|other, _| {
        !other.starts_with(&folder) && !path.starts_with(&[&other[..], b"/"].concat())
    });
    let content = old.as_ref().map(|(_, content)| content.clone()).unwrap_or_default();
    let id = |random: &mut Random| format!("{:040x}", 1 + random.below(3)).into_bytes();
    let new = match random.below(12) {
        0 => return,
        1 => ("120000", format!("target{}", random.below(3)).into_bytes()),
        2 => ("160000", id(random)),
        3 => ("100644", [&content[..], b"\0"].concat()),
        4 => ("100755", content),
        5 => {
            // Rename the file without a change.
            let to = random.pick(&[&b"moved"[..], b"moved/too"]).to_vec();
            files.retain(|other, _| !other.starts_with(b"moved"));
            if let Some(old) = old {
                files.insert(to, old);
            }
            return;
        }
        6 => ("100644", edit(random, &content, 400)),
        _ => ("100644", edit(random, &content, 12)),
    };
    files.insert(path, new);
}

/// A random history with merges, renames, links, submodules, binary files and wrong dates.
fn history(seed: u64, length: usize) -> Vec<Commit> {
    let mut random = Random(seed);
    let mut commits: Vec<Commit> = Vec::new();
    let mut date = 1_500_000_000;
    for number in 0..length {
        // Some commits have the same date, and some dates are wrong.
        date += random.below(3) as u64;
        let skew = if random.below(10) == 0 { random.below(100) as u64 } else { 0 };
        let mut parents = Vec::new();
        if number > 0 && random.below(20) > 0 {
            parents.push(number - 1 - random.below(number.min(4)));
            while random.below(5) == 0 {
                let other = random.below(number);
                if !parents.contains(&other) {
                    parents.push(other);
                }
            }
        }
        let mut files =
            parents.first().map(|parent| commits[*parent].files.clone()).unwrap_or_default();
        for _ in 0..random.below(4) {
            change(&mut random, &mut files);
        }
        let author = random.pick(&AUTHORS).to_vec();
        commits.push(Commit { author, date: date - skew, parents, files });
    }
    // The last commit merges all heads, so that every commit is reachable from it.
    let heads = (0..length).filter(|number| !commits.iter().any(|c| c.parents.contains(number)));
    let parents: Vec<usize> = heads.collect();
    let files = commits[parents[0]].files.clone();
    commits.push(Commit { author: AUTHORS[0].to_vec(), date, parents, files });
    commits
}

#[test]
fn random_histories_are_counted_as_git_counts_them() {
    for seed in 0..12 {
        let fixture = Fixture::of(&history(seed, 150));
        assert_eq!(
            count(&fixture, fixture.tip()).unwrap(),
            fixture.by_git(fixture.tip()),
            "{seed}"
        );
    }
}

#[test]
fn a_history_that_grew_or_was_rewritten_is_counted_as_from_nothing() {
    for seed in 20..28 {
        let fixture = Fixture::of(&history(seed, 120));
        let mut random = Random(seed);
        let mut number = 0;
        for _ in 0..12 {
            number = (number + random.below(50)) % fixture.commits.len();
            let tip = fixture.commits[number];
            assert_eq!(count(&fixture, tip).unwrap(), fixture.by_git(tip), "{seed} {number}");
        }
    }
}

#[test]
fn new_commits_are_those_that_git_names() {
    for seed in 30..36 {
        let fixture = Fixture::of(&history(seed, 120));
        let repo = fixture.open().to_thread_local();
        let mut grown = 0;
        for (old, new) in [(119, 120), (60, 120), (100, 119), (20, 90), (3, 50), (120, 60)] {
            let [old, new] = [old, new].map(|number| fixture.commits[number]);
            let list = fixture.git(&["rev-list", &format!("{old}..{new}")], &[]);
            let list = String::from_utf8(list).unwrap();
            let skew = 120 * 100;
            match find_new_commits(&repo, new, old, skew).unwrap() {
                Some(found) => {
                    let listed = list.lines().map(|id| id.parse().unwrap()).collect();
                    assert_eq!(found.commits, listed, "{seed}: {old}..{new}");
                    grown += 1;
                }
                None => {
                    let missing = fixture.git(&["rev-list", &format!("{new}..{old}")], &[]);
                    assert!(!missing.is_empty(), "{seed}: {old}..{new}");
                }
            }
        }
        assert!(grown > 0);
    }
}

/// Only the newest commits of a long history are walked.
#[test]
fn a_history_that_grew_is_not_walked_again() {
    let commit = |number: usize| Commit {
        author: format!("N <{number}@example.com>").into_bytes(),
        date: 1_500_000_000 + number as u64,
        parents: number.checked_sub(1).into_iter().collect(),
        files: Files::new(),
    };
    let fixture = Fixture::of(&(0..100).map(commit).collect::<Vec<_>>());
    let repo = fixture.open().to_thread_local();
    let new =
        find_new_commits(&repo, fixture.commits[99], fixture.commits[95], 0).unwrap().unwrap();
    assert_eq!(new.commits.len(), 4);
    assert_eq!(new.first_authors.authors().len(), 4);
}

#[test]
fn a_count_goes_on_where_it_was_paused() {
    let fixture = Fixture::of(&history(40, 300));
    let mut random = Random(40);
    for tip in [150, 299, 300].map(|number| fixture.commits[number]) {
        let mut last = None;
        loop {
            let pause = After(Cell::new(1 + random.below(3)));
            let (ended, stored) = count_up_to(&fixture.open(), tip, &pause).unwrap();
            assert_eq!(StoredCount::read(fixture.path()), stored);
            if ended == CountOutcome::Complete {
                assert_eq!(stored.totals.contributors(true), fixture.by_git(tip));
                break;
            }
            let unfinished = stored.unfinished.unwrap();
            assert_ne!(last, Some((unfinished.tip, unfinished.done)), "it went on");
            last = Some((unfinished.tip, unfinished.done));
        }
    }
}

#[test]
fn a_paused_count_is_ended_before_a_newer_one() {
    let fixture = Fixture::of(&history(41, 300));
    for (paused, tip) in [(300, 300), (200, 300), (150, 299)] {
        forget(&fixture);
        let [paused, tip] = [paused, tip].map(|number| fixture.commits[number]);
        count_up_to(&fixture.open(), paused, &After(Cell::new(2))).unwrap();
        assert_eq!(count(&fixture, tip).unwrap(), fixture.by_git(tip));
    }
}

/// Long texts with many equal lines, for which git's diff is not the shortest one.
#[test]
fn large_changes_are_counted_as_git_counts_them() {
    let mut random = Random(60);
    let mut commits: Vec<Commit> = Vec::new();
    for number in 0..64 {
        let mut files = Files::new();
        let length = [40, 300, 1_500, 5_000][number % 4];
        let kinds = [3, 30, 400, 100_000][random.below(4)];
        let old = number.checked_sub(4).map(|number| &commits[number].files);
        for name in 0..2 {
            let name = format!("{}-{name}", number % 4).into_bytes();
            let lines: Vec<Vec<u8>> = match old.and_then(|old| old.get(&name)) {
                // Blocks of the old text in another order, mixed with new lines.
                Some((_, old)) if random.below(4) > 0 => {
                    let old: Vec<&[u8]> = old.split_inclusive(|byte| *byte == b'\n').collect();
                    let mut lines = Vec::new();
                    while lines.len() < length {
                        let start = random.below(old.len());
                        let block = 1 + random.below(1 + length / 4);
                        lines.extend(old.iter().skip(start).take(block).map(|line| line.to_vec()));
                        for _ in 0..random.below(20) {
                            lines.push(format!("{}\n", random.below(kinds)).into_bytes());
                        }
                    }
                    lines
                }
                _ => {
                    (0..length).map(|_| format!("{}\n", random.below(kinds)).into_bytes()).collect()
                }
            };
            files.insert(name, ("100644", lines.concat()));
        }
        let author = format!("A <{number}@example.com>").into_bytes();
        let parents = number.checked_sub(4).into_iter().collect();
        commits.push(Commit { author, date: number as u64, parents, files });
    }
    let fixture = Fixture::of(&commits);
    for lane in 0..4 {
        let tip = fixture.commits[60 + lane];
        assert_eq!(count(&fixture, tip).unwrap(), fixture.by_git(tip), "{lane}");
    }
}

#[test]
fn damage_is_told_and_what_was_counted_is_kept() {
    let fixture = Fixture::of(&history(70, 200));
    fixture.git(&["unpack-objects", "-q"], &pack(&fixture));
    let tip = fixture.tip();
    let commit = fixture.commits[0].to_string();
    let loose = fixture.path().join("objects").join(&commit[..2]).join(&commit[2..]);
    let content = std::fs::read(&loose).unwrap();
    let mut permissions = std::fs::metadata(&loose).unwrap().permissions();
    std::os::unix::fs::PermissionsExt::set_mode(&mut permissions, 0o644);
    std::fs::set_permissions(&loose, permissions).unwrap();
    for damaged in [&content[..content.len() / 2], b"", b"nothing that git wrote"] {
        std::fs::write(&loose, damaged).unwrap();
        let error = count(&fixture, tip).unwrap_err();
        assert!(matches!(error, GitError::Corrupt(_)), "{error:?}");
    }
    std::fs::remove_file(&loose).unwrap();
    assert!(matches!(count(&fixture, tip), Err(GitError::Corrupt(_))));
    assert!(
        StoredCount::read(fixture.path()).unfinished.is_some_and(|unfinished| unfinished.done > 0)
    );
    std::fs::write(&loose, content).unwrap();
    assert_eq!(count(&fixture, tip).unwrap(), fixture.by_git(tip));
}

/// Removes the pack of a repository, and returns its content.
fn pack(fixture: &Fixture) -> Vec<u8> {
    let folder = fixture.path().join("objects/pack");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
    let mut pack = Vec::new();
    for file in files {
        if file.extension().is_some_and(|extension| extension == "pack") {
            pack = std::fs::read(&file).unwrap();
        }
        std::fs::remove_file(file).unwrap();
    }
    pack
}
