//! Compares merge bases of random histories with wrong dates with those of git.

use std::fmt::Write;

use super::{Scratch, id, open};
use crate::support::{FIRST_COMMIT, Random};

const COMMITS: usize = 30;
const PAIRS: usize = 40;

#[test]
fn the_base_is_one_of_git_s_newest_whatever_dates_say() {
    for seed in 1..=10 {
        let mut random = Random::new(seed);
        let scratch = Scratch::new();
        let commits = import(&scratch, &mut random);
        if seed.is_multiple_of(2) {
            scratch.git(&["commit-graph", "write", "--reachable"]);
        }
        for _ in 0..PAIRS {
            let (one, two) = (random.pick(&commits), random.pick(&commits));
            let ours = super::super::merge_base(&open(&scratch), id(one), id(two));
            let ours = ours.expect("both exist").map(|base| base.to_string());
            let (_, bases, _) = scratch.try_git(&["merge-base", "--all", one, two], b"");
            let bases = String::from_utf8(bases).expect("names of commits");
            let date = |base: &str| -> i64 {
                let date = scratch.git(&["show", "--no-patch", "--format=%ct", base]);
                date.trim().parse().expect("a number")
            };
            let newest = bases.lines().map(date).max();
            let is_right = match &ours {
                Some(base) => bases.lines().any(|line| line == base) && Some(date(base)) == newest,
                None => newest.is_none(),
            };
            assert!(is_right, "seed {seed}: {one} {two}: {ours:?} of {bases:?}");
        }
    }
}

/// Creates empty commits, many of them merges, with random dates.
fn import(scratch: &Scratch, random: &mut Random) -> Vec<String> {
    let mut stream = String::new();
    for mark in 1..=COMMITS {
        let date = FIRST_COMMIT + random.below(1000) as i64;
        let _ = write!(stream, "commit refs/heads/b{mark}\nmark :{mark}\n");
        let _ = write!(stream, "committer Grace <grace@example.com> {date} +0000\ndata 2\nx\n");
        let mut parents: Vec<usize> =
            (0..2).map(|_| mark.saturating_sub(1 + random.below(6))).collect();
        parents.retain(|parent| *parent > 0);
        parents.dedup();
        for (at, parent) in parents.iter().enumerate() {
            let _ = writeln!(stream, "{} :{parent}", if at == 0 { "from" } else { "merge" });
        }
        stream.push('\n');
    }
    scratch.git_bytes(&["fast-import", "--quiet", "--force"], stream.as_bytes());
    (1..=COMMITS)
        .map(|mark| scratch.git(&["rev-parse", &format!("b{mark}")]).trim().into())
        .collect()
}
