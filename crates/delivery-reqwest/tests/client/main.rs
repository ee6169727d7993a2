//! The client against servers of this machine.

mod answers;
mod guarded;
mod server;
