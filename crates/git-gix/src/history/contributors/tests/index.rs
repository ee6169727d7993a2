//! Tests of requests to the index of contributors.

use std::thread;
use std::time::{Duration, Instant};

use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::GitError;

use super::super::ContributorIndex;
use super::super::stored::StoredCount;
use super::fixture::{Commit, Files, Fixture};

const LONG: Duration = Duration::from_secs(60);

/// A linear history by three authors, in which each commit changes the number of lines.
fn row(from: usize, to: usize) -> Vec<Commit> {
    let commit = |number: usize| Commit {
        author: format!("N{0} <{0}@example.com>", number % 3).into_bytes(),
        date: 1_500_000_000 + number as u64,
        parents: number.checked_sub(1).into_iter().collect(),
        files: Files::from([(b"file".to_vec(), ("100644", b"line\n".repeat(number % 50 + 1)))]),
    };
    (from..to).map(commit).collect()
}

#[test]
fn a_request_counts_what_was_pushed_since_the_last() {
    let mut fixture = Fixture::of(&row(0, 40));
    let index = ContributorIndex::default();
    for end in [40, 41, 90] {
        fixture.add(&row(fixture.commits.len(), end));
        let tip = fixture.tip();
        let expected = fixture.by_git(tip);
        assert_eq!(
            index.contributors(&fixture.open(), tip, LONG, Caller::BACKGROUND).unwrap(),
            expected
        );
        assert_eq!(StoredCount::read(fixture.path()).tip, Some(tip));
        // The result comes from memory, and for another process from the disk.
        for index in [&index, &ContributorIndex::default()] {
            let at_once = index
                .contributors(&fixture.open(), tip, Duration::ZERO, Caller::BACKGROUND)
                .unwrap();
            assert_eq!(at_once, expected);
        }
    }
}

#[test]
fn a_rewritten_history_is_counted_anew() {
    let fixture = Fixture::of(&row(0, 60));
    let index = ContributorIndex::default();
    for number in [59, 30, 45, 0] {
        let tip = fixture.commits[number];
        let counted = index.contributors(&fixture.open(), tip, LONG, Caller::BACKGROUND).unwrap();
        assert_eq!(counted, fixture.by_git(tip));
        assert_eq!(StoredCount::read(fixture.path()).tip, Some(tip));
    }
}

#[test]
fn a_damaged_file_is_replaced() {
    let fixture = Fixture::of(&row(0, 40));
    let (tip, file) = (fixture.tip(), fixture.path().join("hexforge/contributors"));
    let count = || {
        ContributorIndex::default()
            .contributors(&fixture.open(), tip, LONG, Caller::BACKGROUND)
            .unwrap()
    };
    let expected = count();
    let whole = std::fs::read(&file).unwrap();
    for damaged in [&whole[..whole.len() - 1], &whole[..3], b"", b"something else entirely"] {
        std::fs::write(&file, damaged).unwrap();
        assert_eq!(count(), expected);
        assert_eq!(std::fs::read(&file).unwrap(), whole);
    }
}

#[test]
fn who_does_not_wait_gets_what_is_counted_so_far() {
    let mut fixture = Fixture::of(&row(0, 40));
    let index = ContributorIndex::default();
    let first =
        index.contributors(&fixture.open(), fixture.tip(), LONG, Caller::BACKGROUND).unwrap();
    fixture.add(&row(40, 3_000));
    let tip = fixture.tip();
    let so_far =
        index.contributors(&fixture.open(), tip, Duration::ZERO, Caller::BACKGROUND).unwrap();
    assert!(!so_far.complete);
    for (counted, before) in so_far.authors.iter().zip(&first.authors) {
        assert!(counted.commits >= before.commits);
    }
    assert_eq!(so_far.authors.len(), first.authors.len());
    let repository = fixture.open();
    let until = Instant::now() + LONG;
    loop {
        let answer =
            index.contributors(&repository, tip, Duration::ZERO, Caller::BACKGROUND).unwrap();
        if answer.complete {
            assert_eq!(answer, fixture.by_git(tip));
            return;
        }
        assert!(Instant::now() < until, "never complete");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_push_has_it_counted_before_anyone_asks() {
    let fixture = Fixture::of(&row(0, 40));
    let index = ContributorIndex::default();
    index.count_in_background(&fixture.open(), fixture.tip());
    let until = Instant::now() + LONG;
    while StoredCount::read(fixture.path()).tip != Some(fixture.tip()) {
        assert!(Instant::now() < until, "never counted");
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn many_at_once_share_one_count() {
    let fixtures: Vec<Fixture> = (1..6).map(|size| Fixture::of(&row(0, size * 50))).collect();
    let expected: Vec<_> = fixtures.iter().map(|fixture| fixture.by_git(fixture.tip())).collect();
    let index = ContributorIndex::default();
    thread::scope(|scope| {
        for _ in 0..4 {
            for (fixture, expected) in fixtures.iter().zip(&expected) {
                let index = &index;
                scope.spawn(move || {
                    let repository = fixture.open();
                    let counted = index
                        .contributors(&repository, fixture.tip(), LONG, Caller::BACKGROUND)
                        .unwrap();
                    assert_eq!(counted, *expected);
                });
            }
        }
    });
}

#[test]
fn two_tips_asked_for_at_once_are_both_answered() {
    let fixture = Fixture::of(&row(0, 400));
    let index = ContributorIndex::default();
    let repository = fixture.open();
    for number in [200, 399] {
        index.count_in_background(&repository, fixture.commits[number]);
    }
    let tip = fixture.tip();
    assert_eq!(
        index.contributors(&repository, tip, LONG, Caller::BACKGROUND).unwrap(),
        fixture.by_git(tip)
    );
}

#[test]
fn damage_is_told_to_all_who_wait_and_the_next_tries_again() {
    let fixture = Fixture::of(&row(0, 40));
    let index = ContributorIndex::default();
    let packs = fixture.path().join("objects/pack");
    let hidden = fixture.path().join("hidden");
    let blob = fixture.git(&["rev-parse", &format!("{}:file", fixture.commits[0])], &[]);
    let blob = String::from_utf8(blob).unwrap();
    // Unpack all objects, and remove one of them.
    std::fs::rename(&packs, &hidden).unwrap();
    for file in std::fs::read_dir(&hidden).unwrap().map(|file| file.unwrap().path()) {
        if file.extension().is_some_and(|extension| extension == "pack") {
            fixture.git(&["unpack-objects", "-q"], &std::fs::read(file).unwrap());
        }
    }
    let (start, rest) = blob.trim().split_at(2);
    let loose = fixture.path().join("objects").join(start).join(rest);
    let content = std::fs::read(&loose).unwrap();
    std::fs::remove_file(&loose).unwrap();
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let answer =
                    index.contributors(&fixture.open(), fixture.tip(), LONG, Caller::BACKGROUND);
                assert!(matches!(answer, Err(GitError::Corrupt(_))), "{answer:?}");
            });
        }
    });
    std::fs::write(&loose, content).unwrap();
    let counted =
        index.contributors(&fixture.open(), fixture.tip(), LONG, Caller::BACKGROUND).unwrap();
    assert_eq!(counted, fixture.by_git(fixture.tip()));
}
