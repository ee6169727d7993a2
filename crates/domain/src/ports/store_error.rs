//! The error of all ports to stored data. It has a file of its own because the ports of the aggregates and
//! [`store`](super::store), which lists them, both use it.

/// Why a store operation failed.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// A unique value already exists, in this field.
    #[error("`{0}` is already taken")]
    Duplicate(&'static str),
    /// The row that a new row refers to was removed concurrently.
    #[error("the owner of the row is gone")]
    Gone,
    /// A deadlock or a lock timeout. Nothing was stored; a retry may succeed.
    #[error("others were in the way")]
    Busy,
    /// The transaction had already failed when it was to be committed.
    #[error("the transaction was aborted by an earlier error")]
    Aborted,
    /// The disk is full. Nothing was stored; writing works again as soon as there is room.
    #[error("the disk of the store is full")]
    Full(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// No connection was available in time, or it was lost. If it was lost during a commit, it is unknown whether the
    /// commit succeeded, so the transaction is not retried.
    #[error("the store is not reachable")]
    Unreachable(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// The database contains a value that this program does not understand.
    #[error("the store holds an unknown {0}")]
    Corrupt(&'static str),
    /// Anything else.
    #[error("the store failed")]
    Failed(#[source] Box<dyn std::error::Error + Send + Sync>),
}
