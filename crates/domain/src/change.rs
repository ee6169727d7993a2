//! The result of a state transition that may change nothing.

/// The result of a command. Requesting the current state is a success, not an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<T> {
    /// The command changed something; this is the new state.
    Applied(T),
    /// The requested state already held.
    Unchanged,
}
