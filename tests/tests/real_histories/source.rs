//! The refs of a user's repository that are used. The repository is only read.

use std::path::{Path, PathBuf};

use super::git::Git;
use super::settings::print_progress;

/// The maximum number of branches. All tags are used.
const MOST_BRANCHES: usize = 40;

/// The branch that represents a detached HEAD or a tag of the source.
const MADE_UP: &str = "real-history";

/// The refs of a repository whose objects are complete.
pub struct Source {
    /// Its git folder, which may lack a configuration file.
    pub folder: PathBuf,
    /// The name of the default branch.
    pub default_branch: String,
    /// The ref from which the default branch is created.
    pub default_ref: String,
    /// The full names of other branches.
    pub branches: Vec<String>,
    /// The full names of tags.
    pub tags: Vec<String>,
}

impl Source {
    /// Reads a repository, bare or not. Panics if it has no complete history.
    pub fn read(git: &Git, repository: &Path) -> Self {
        let folder = git.run(repository, &["rev-parse", "--absolute-git-dir"]);
        assert!(folder.success, "{} is no git repository", repository.display());
        let folder = PathBuf::from(String::from_utf8_lossy(&folder.stdout).trim_end());
        let shallow = git.text(&folder, &["rev-parse", "--is-shallow-repository"]);
        assert_eq!(shallow, "false", "{} is a shallow clone", repository.display());
        let all =
            git.lines(&folder, &["for-each-ref", "--format=%(refname)", "refs/heads", "refs/tags"]);
        let connected = connected_refs(git, &folder, all);
        let (default_ref, default_branch) = default_branch(git, &folder, &connected)
            .unwrap_or_else(|| {
                panic!("{} has no branch or tag with all its objects", repository.display())
            });
        let (tags, branches): (Vec<String>, Vec<String>) =
            connected.into_iter().partition(|name| name.starts_with("refs/tags/"));
        let others = branches.into_iter().filter(|name| *name != default_ref).collect();
        let branches = spread(others, MOST_BRANCHES - 1);
        Self { folder, default_branch, default_ref, branches, tags }
    }
}

/// The refs without missing objects. Copies of repositories may lack some.
fn connected_refs(git: &Git, folder: &Path, refs: Vec<String>) -> Vec<String> {
    let is_connected = |refs: &[&str]| {
        let arguments = [&["rev-list", "--objects", "--quiet"], refs, &["--"]].concat();
        refs.is_empty() || git.run(folder, &arguments).success
    };
    let names: Vec<&str> = refs.iter().map(String::as_str).collect();
    if is_connected(&names) {
        return refs;
    }
    let number = refs.len();
    let kept: Vec<String> = refs.into_iter().filter(|name| is_connected(&[name])).collect();
    print_progress(&format!(
        "{}: {} of {number} refs have all their objects; the others are left out",
        folder.display(),
        kept.len()
    ));
    kept
}

/// The ref for the default branch, and the name of that branch: the branch of HEAD, or else the ref with the longest
/// history.
fn default_branch(git: &Git, folder: &Path, connected: &[String]) -> Option<(String, String)> {
    let head = git.run(folder, &["symbolic-ref", "--quiet", "HEAD"]);
    let head = String::from_utf8_lossy(&head.stdout).trim_end().to_owned();
    if head.is_empty() {
        let whole = git.run(folder, &["rev-list", "--objects", "--quiet", "HEAD", "--"]).success;
        return whole.then(|| ("HEAD".to_owned(), MADE_UP.to_owned()));
    }
    let length = |name: &&String| -> u64 {
        let counted = git.run(folder, &["rev-list", "--count", name, "--"]);
        String::from_utf8_lossy(&counted.stdout).trim_end().parse().unwrap_or(0)
    };
    let found =
        if connected.contains(&head) { head } else { connected.iter().max_by_key(length)?.clone() };
    let name = found.strip_prefix("refs/heads/").unwrap_or(MADE_UP).to_owned();
    Some((found, name))
}

/// At most this number of items, evenly spread over the list.
fn spread(list: Vec<String>, most: usize) -> Vec<String> {
    if list.len() <= most {
        return list;
    }
    (0..most).map(|at| list[at * list.len() / most].clone()).collect()
}
