//! Contributors: the authors of the commits in a repository.

/// An author with the number of commits and changed lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contributor {
    /// The name, from the newest commit that has one.
    pub name: String,
    /// The e-mail address, which identifies the author.
    pub email: String,
    /// The number of commits.
    pub commits: u64,
    /// The number of added lines.
    pub additions: u64,
    /// The number of removed lines.
    pub deletions: u64,
}

/// All authors of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contributors {
    /// The authors, ordered by their newest commit, newest first.
    pub authors: Vec<Contributor>,
    /// Whether all commits have been counted.
    pub complete: bool,
}
