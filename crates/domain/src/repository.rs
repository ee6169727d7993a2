//! The content of a repository at one commit or between two commits, and background tasks of a
//! repository.

pub mod archive;
pub mod browse;
pub mod compare;
pub mod contributor;
pub mod log;
pub mod path;
pub mod port;
pub mod task;
pub mod tree;
pub mod write;

pub use archive::{Archive, ArchiveFormat};
pub use browse::{BLAME_LINES, Blame, BlameRun, Divergence, FILE_PATHS, FilePaths, LastCommits};
pub use compare::{ChangedLine, CommitStats, Comparison, FileDiff, LineSide, ShownDiffs};
pub use contributor::{Contributor, Contributors};
pub use log::LogQuery;
pub use tree::{EntryKind, TreeEntry};
pub use write::{
    ChangeError, CommitOutcome, CommitText, FileChange, FileMode, MAX_FOLDERS, MergeOutcome,
    PathEntry, PickOutcome, WrittenCommit,
};
