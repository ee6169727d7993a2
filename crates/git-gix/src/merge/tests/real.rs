//! Replays merges of real repositories.

use std::env;
use std::path::Path;

use super::{merge, merge_with_git, number, open};
use crate::support::git_command;

#[test]
fn merges_of_real_histories_are_those_of_git() {
    let Ok(folders) = env::var("HEXFORGE_TEST_REPOSITORIES") else { return };
    for folder in folders.split(':').filter(|folder| !folder.is_empty()) {
        let folder = Path::new(folder);
        let (mut clean, mut differences) = (0, Vec::new());
        let merges = merges_in(folder);
        let repo = open(&git_dir(folder));
        for [ours, theirs] in &merges {
            let (found, expected) =
                (merge(&repo, ours, theirs), merge_with_git(folder, ours, theirs));
            clean += usize::from(found.is_some());
            if found != expected {
                differences.push(format!("{ours} {theirs}: {found:?} instead of {expected:?}"));
            }
        }
        let count = merges.len();
        assert!(
            differences.is_empty(),
            "{}: {} of {count} differ ({clean} merge without conflict):\n{}",
            folder.display(),
            differences.len(),
            differences.join("\n")
        );
    }
}

fn git_dir(folder: &Path) -> std::path::PathBuf {
    let inner = folder.join(".git");
    if inner.exists() { inner } else { folder.to_owned() }
}

/// The parents of the newest merges with two parents.
fn merges_in(folder: &Path) -> Vec<[String; 2]> {
    let most = number("HEXFORGE_TEST_MERGES", 200).to_string();
    let mut git = git_command();
    git.current_dir(folder);
    git.args(["log", "--all", "--min-parents=2", "--max-parents=2", "--format=%P", "-n", &most]);
    let output = git.output().expect("git starts");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let parents = text.lines().filter_map(|line| line.split_once(' '));
    parents.map(|(ours, theirs)| [ours.to_owned(), theirs.to_owned()]).collect()
}
