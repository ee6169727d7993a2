//! What pages show, through the port, compared with the real git.

use std::ops::RangeInclusive;

use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::{GitError, Repository};
use hexforge_domain::repository::{BLAME_LINES, BlameRun, Divergence};
use tempfile::TempDir;

use crate::support::{Scratch, refs};

const PROJECT: ProjectId = ProjectId(7);

/// A repository with two branches and a renamed file of 2,500 lines.
fn a_world() -> (Scratch, TempDir, Box<dyn Repository>) {
    let scratch = Scratch::new();
    let lines = |from: u32, to: u32| (from..to).map(|line| format!("{line}\n")).collect::<String>();
    scratch.write("docs/old", lines(0, 2400));
    scratch.write("docs/more/deep", "x");
    scratch.write("README", "x");
    scratch.commit("first");
    scratch.git(&["mv", "docs/old", "docs/new"]);
    scratch.write("docs/new", lines(0, 2500));
    scratch.commit("second");
    scratch.git(&["branch", "side", "HEAD~1"]);
    scratch.write("README", "y");
    scratch.commit("third");
    scratch.git(&["checkout", "--quiet", "side"]);
    scratch.write("side", "x");
    scratch.commit("fourth");
    let data = tempfile::tempdir().expect("a temporary folder can be made");
    let store = refs::store(data.path());
    let bare = store.layout().repository(PROJECT);
    std::fs::create_dir_all(bare.parent().expect("it has a folder")).expect("it can be made");
    scratch.git(&["clone", "-q", "--mirror", ".", &bare.to_string_lossy()]);
    (scratch, data, refs::open(&store, PROJECT))
}

fn commit(scratch: &Scratch, revision: &str) -> ObjectId {
    ObjectId::parse(&scratch.git(&["rev-parse", revision])).expect("git prints ids")
}

#[test]
fn the_last_commits_of_a_folder_are_found() {
    let (scratch, _data, repository) = a_world();
    let master = commit(&scratch, "master");
    for (folder, expected) in [
        ("", vec![("README", "master"), ("docs", "master~1")]),
        ("docs", vec![("docs/more", "master~2"), ("docs/new", "master~1")]),
        ("docs/", vec![("docs/more", "master~2"), ("docs/new", "master~1")]),
        ("README", vec![]),
        ("missing", vec![]),
    ] {
        // The second call is answered from the cache.
        for _ in 0..2 {
            let found = repository.last_commits(master, folder).expect("the commit exists");
            let expected =
                expected.iter().map(|(path, at)| ((*path).to_owned(), commit(&scratch, at)));
            assert_eq!(found.entries, expected.collect::<Vec<_>>(), "{folder}");
            assert!(found.is_complete);
        }
    }
    let missing = repository.last_commits(ObjectId::ZERO, "");
    assert!(matches!(missing, Err(GitError::Missing)));
    let blob = repository.last_commits(commit(&scratch, "master:README"), "");
    assert!(matches!(blob, Err(GitError::Missing)));
}

#[test]
fn a_blame_has_the_lines_that_were_asked_for_and_no_more_than_the_limit() {
    let (scratch, _data, repository) = a_world();
    let [first, second, master] =
        ["master~2", "master~1", "master"].map(|revision| commit(&scratch, revision));
    let run = |number, count, commit, path: &str, previous| BlameRun {
        first: number,
        count,
        commit,
        path: path.to_owned(),
        original: number,
        previous,
    };
    let before = Some((first, "docs/old".to_owned()));
    for (lines, expected) in [
        (
            2399..=2402,
            vec![
                run(2399, 2, first, "docs/old", None),
                run(2401, 2, second, "docs/new", before.clone()),
            ],
        ),
        (1..=u32::MAX, vec![run(1, BLAME_LINES, first, "docs/old", None)]),
        (0..=2, vec![run(1, 2, first, "docs/old", None)]),
        (2500..=2600, vec![run(2500, 1, second, "docs/new", before.clone())]),
        (2501..=2600, vec![]),
        (RangeInclusive::new(5, 4), vec![]),
    ] {
        for _ in 0..2 {
            let found = repository.blame(master, "docs/new", lines.clone());
            let found = found.expect("the commit exists").expect("the file exists");
            assert_eq!((found.lines, &found.runs), (2500, &expected), "{lines:?}");
        }
    }
    for path in ["docs/old", "docs", "missing", "", "docs/new/"] {
        assert!(matches!(repository.blame(master, path, 1..=9), Ok(None)), "{path}");
    }
    let missing = repository.blame(ObjectId::ZERO, "docs/new", 1..=9);
    assert!(matches!(missing, Err(GitError::Missing)));
}

#[test]
fn divergences_are_counted_as_by_git() {
    let (scratch, _data, repository) = a_world();
    for (base, tip) in
        [("master", "side"), ("side", "master"), ("master", "master~1"), ("side", "side")]
    {
        let range = format!("{base}...{tip}");
        let counts = scratch.git(&["rev-list", "--left-right", "--count", &range]);
        let (behind, ahead) = counts.split_once('\t').expect("git prints two numbers");
        let number = |text: &str| text.parse().expect("git prints numbers");
        let expected = Divergence { ahead: number(ahead), behind: number(behind) };
        for _ in 0..2 {
            let found = repository.divergence(commit(&scratch, base), commit(&scratch, tip));
            assert_eq!(found.expect("both exist"), Some(expected), "{range}");
        }
    }
    let missing = repository.divergence(ObjectId::ZERO, commit(&scratch, "master"));
    assert!(matches!(missing, Err(GitError::Missing)));
}

#[test]
fn all_files_are_listed() {
    let (scratch, _data, repository) = a_world();
    let found = repository.file_paths(commit(&scratch, "side")).expect("the commit exists");
    let expected = scratch.git(&["ls-tree", "-r", "--name-only", "side"]);
    assert_eq!(found.paths, expected.lines().collect::<Vec<_>>());
    assert!(!found.is_cut);
}

#[test]
fn the_files_of_two_commits_are_compared_without_their_merge_base() {
    let (scratch, _data, repository) = a_world();
    for (base, tip) in [("master", "side"), ("side", "master"), ("master~2", "master~1")] {
        let expected = scratch.git(&["diff", "-M", "--name-only", base, tip, "--"]);
        // The second call is answered from the cache.
        for _ in 0..2 {
            let found =
                repository.tree_changes(Some(commit(&scratch, base)), commit(&scratch, tip));
            let found = found.expect("both exist");
            let paths: Vec<&str> = found.diffs.iter().map(|diff| diff.new_path.as_str()).collect();
            assert_eq!(paths, expected.lines().collect::<Vec<_>>(), "{base} {tip}");
            assert!(found.commits.is_empty() && !found.overflow);
        }
    }
    let all = repository.tree_changes(None, commit(&scratch, "master")).expect("it exists");
    assert!(all.diffs.iter().all(|diff| diff.old_mode.is_none()));
    assert_eq!(all.diffs.len(), 3);
    for (base, tip) in [(Some(ObjectId::ZERO), commit(&scratch, "master")), (None, ObjectId::ZERO)]
    {
        assert!(matches!(repository.tree_changes(base, tip), Err(GitError::Missing)));
    }
}

#[test]
fn the_tips_that_contain_a_commit_are_found() {
    let (scratch, _data, repository) = a_world();
    let tree = commit(&scratch, "master^{tree}");
    for (wanted, expected) in [
        ("master~2", [true, true, false]),
        ("master~1", [true, false, false]),
        ("master", [true, false, false]),
        ("side", [false, true, false]),
    ] {
        let tips = [commit(&scratch, "master"), commit(&scratch, "side"), tree];
        let found = repository.tips_containing(commit(&scratch, wanted), &tips);
        assert_eq!(found.expect("it exists"), Some(expected.to_vec()), "{wanted}");
    }
    let missing = repository.tips_containing(ObjectId::ZERO, &[]);
    assert!(matches!(missing, Err(GitError::Missing)));
}
