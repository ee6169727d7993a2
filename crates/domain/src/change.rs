//! The outcome of a transition that may find nothing to do.

/// What a command did. Asking for a state that already holds is a success, not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<T> {
    /// The command changed something; this is how it is now.
    Applied(T),
    /// Everything was already as asked for.
    Unchanged,
}
