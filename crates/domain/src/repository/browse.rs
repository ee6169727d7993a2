//! Parts of the history that pages show beside files and folders.

use crate::commit::ObjectId;

/// The last commits of the entries of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LastCommits {
    /// The path of each entry, from the root of the repository, with the last commit that changed it. Entries whose
    /// commit is not known yet are missing.
    pub entries: Vec<(String, ObjectId)>,
    /// Whether the commits of all entries are known.
    pub is_complete: bool,
}

/// The maximum number of lines of one [`Blame`].
pub const BLAME_LINES: u32 = 2_000;

/// The commits that wrote the lines of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Blame {
    /// The number of lines of the whole file.
    pub lines: u32,
    /// The runs of the requested lines in their order. Together they contain each of these lines once.
    pub runs: Vec<BlameRun>,
}

/// Consecutive lines that one commit wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BlameRun {
    /// The number of the first line, from 1.
    pub first: u32,
    /// The number of lines.
    pub count: u32,
    /// The commit that wrote the lines.
    pub commit: ObjectId,
    /// The path of the file in that commit.
    pub path: String,
    /// The number of the first line in that commit.
    pub original: u32,
    /// The parent of that commit that has the file, with its path there. `None` when the commit added the file.
    pub previous: Option<(ObjectId, String)>,
}

/// How far two commits have diverged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// The number of commits that only the commit has.
    pub ahead: u64,
    /// The number of commits that only the base has.
    pub behind: u64,
}

/// The paths of all files of a commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FilePaths {
    /// The paths of files, links and submodules, in git's order.
    pub paths: Vec<String>,
    /// Whether there are more than one list contains.
    pub is_cut: bool,
}

/// The maximum number of paths in [`FilePaths`].
pub const FILE_PATHS: usize = 50_000;
