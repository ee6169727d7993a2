//! The error of all git operations.

/// Why a git operation failed.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// The requested object does not exist.
    #[error("the object does not exist")]
    Missing,
    /// The ref with this full name does not have the expected value.
    #[error("the ref `{0}` conflicts with another ref or was changed concurrently")]
    Conflict(String),
    /// The result is too large to be computed or held in memory.
    #[error("the result is too large")]
    TooLarge,
    /// Too many callers need the same work at once, or it took too long. A later attempt may succeed.
    #[error("the server is busy with other requests for the same work")]
    Busy,
    /// The work takes longer than one call may. Repeating the call continues it.
    #[error("the operation is not finished yet; repeat the request to continue it")]
    Unfinished,
    /// The caller passed a value that cannot be stored.
    #[error("{0}")]
    Invalid(String),
    /// The client violated the git protocol.
    #[error("the client violated the git protocol: {0}")]
    Protocol(String),
    /// The client that was to receive the data disconnected.
    #[error("the client disconnected")]
    ReaderGone(#[source] std::io::Error),
    /// The disk is full. The operation works again as soon as there is room.
    #[error("the disk is full: {0}")]
    Full(String),
    /// The pack store does not respond. A later attempt may succeed.
    #[error("{0}")]
    Unreachable(String),
    /// The repository is damaged.
    #[error("the repository is damaged: {0}")]
    Corrupt(String),
    /// Anything else.
    #[error("git failed: {0}")]
    Failed(String),
}
