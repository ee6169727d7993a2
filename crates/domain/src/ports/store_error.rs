//! The error of all ports to stored data. It has its own file because [`store`](super::store) and the ports that it
//! lists both use it.

/// Why a store operation failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// Another row has the same value in this field, which has to be unique.
    #[error("`{0}` is already taken")]
    Duplicate(&'static str),
    /// The row that a new row refers to was deleted concurrently.
    #[error("a row that the new row refers to was deleted concurrently")]
    Gone,
    /// A deadlock or a lock timeout. Nothing was stored; a retry may succeed.
    #[error("concurrent transactions locked the same rows; try again")]
    Busy,
    /// The transaction had already failed when it was to be committed.
    #[error("the transaction was aborted by an earlier error")]
    Aborted,
    /// The disk is full. Nothing was stored; writing works again as soon as there is room.
    #[error("the disk of the database is full")]
    Full(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No connection was available in time, or it was lost. If it was lost during a commit, it is unknown whether the
    /// commit succeeded, so the transaction is not retried.
    #[error("the database is not reachable")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database contains a value that this program does not understand.
    #[error("the database contains an invalid {0}")]
    Corrupt(&'static str),
    /// Anything else.
    #[error("the database failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}
