//! The reference side: a copy of the history to push from, and a bare repository that git serves.

use std::path::{Path, PathBuf};

use hexforge_tests::RandomNumbers;

use super::git::Git;
use super::source::Source;

/// The copy of the history, and the twin of hexforge's repository.
pub struct Oracle<'a> {
    pub git: &'a Git,
    /// Bare repository with everything that will be pushed.
    pub full: PathBuf,
    /// Bare repository with everything that was pushed so far, served by git instead of hexforge.
    pub twin: PathBuf,
    /// The name of the default branch.
    pub default_branch: String,
    /// The names of all tags that lead to a commit.
    pub tags: Vec<String>,
    /// All commits, newest first.
    pub commits: Vec<String>,
    /// The first parents of the default branch, oldest first.
    pub main_line: Vec<String>,
}

impl<'a> Oracle<'a> {
    /// Copies the used refs of a repository. Panics if git finds it damaged.
    pub fn copy(git: &'a Git, repository: &Path) -> Self {
        let source = Source::read(git, repository);
        let (full, twin) = (git.new_folder("full.git"), git.new_folder("twin.git"));
        let default_branch = source.default_branch;
        let head = format!("refs/heads/{default_branch}");
        for folder in [&full, &twin] {
            git.text(folder, &["init", "--quiet", "--bare"]);
            git.text(folder, &["symbolic-ref", "HEAD", &head]);
        }
        let from_tag = source.default_ref.starts_with("refs/tags/");
        let copied = source.branches.iter().chain(&source.tags);
        let mut refspecs: Vec<String> = copied.map(|name| format!("+{name}:{name}")).collect();
        if !from_tag {
            refspecs.push(format!("+{}:{head}", source.default_ref));
        }
        let address = source.folder.to_string_lossy();
        let mut fetch = vec!["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", &address];
        fetch.extend(refspecs.iter().map(String::as_str));
        git.text(&full, &fetch);
        if from_tag {
            let commit = format!("{}^{{commit}}", source.default_ref);
            git.text(&full, &["update-ref", &head, &commit]);
        }
        git.text(&full, &["fsck", "--connectivity-only", "--no-dangling"]);
        let commits = git.lines(&full, &["rev-list", "--topo-order", "--branches", "--tags"]);
        let main_line = git.lines(&full, &["rev-list", "--first-parent", "--reverse", &head]);
        let format = "--format=%(objecttype)%(*objecttype) %(refname:short)";
        let tags = git.lines(&full, &["for-each-ref", format, "refs/tags"]);
        let of_commit = |line: &String| {
            let (kinds, name) = line.split_once(' ')?;
            kinds.ends_with("commit").then(|| name.to_owned())
        };
        let tags = tags.iter().filter_map(of_commit).collect();
        Self { git, full, twin, default_branch, tags, commits, main_line }
    }

    /// The newest commit of the default branch.
    pub fn tip(&self) -> &str {
        self.main_line.last().expect("a branch has a commit")
    }

    /// A random commit.
    pub fn random_commit(&self, random: &mut RandomNumbers) -> String {
        self.commits[random.below(self.commits.len())].clone()
    }

    /// A random commit of one of `parts` equal parts of all commits, so that several ones are spread out.
    pub fn random_commit_of_part(
        &self,
        part: usize,
        parts: usize,
        random: &mut RandomNumbers,
    ) -> String {
        let start = self.commits.len() * part / parts;
        let size = (self.commits.len() / parts).max(1);
        self.commits[start + random.below(size)].clone()
    }

    /// A random tag, if there are any.
    pub fn random_tag(&self, random: &mut RandomNumbers) -> Option<String> {
        (!self.tags.is_empty()).then(|| self.tags[random.below(self.tags.len())].clone())
    }

    /// The `file://` URL of a repository.
    pub fn address_of(folder: &Path) -> String {
        format!("file://{}", folder.display())
    }

    /// The output of git in the twin.
    #[track_caller]
    pub fn lines(&self, arguments: &[&str]) -> Vec<String> {
        self.git.lines(&self.twin, arguments)
    }
}
