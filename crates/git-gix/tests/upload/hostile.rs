//! What no client says.
