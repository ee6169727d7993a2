//! Who wrote what is there.

/// An author and what came from them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Contributor {
    /// As in their newest commit that has one.
    pub name: String,
    /// By which commits are told apart.
    pub email: String,
    /// How many.
    pub commits: u64,
    /// Lines added by them.
    pub additions: u64,
    /// Lines removed by them.
    pub deletions: u64,
}

/// All authors of a history.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contributors {
    /// In the order of their newest commits, newest first.
    pub authors: Vec<Contributor>,
    /// Whether all commits are counted already.
    pub complete: bool,
}
