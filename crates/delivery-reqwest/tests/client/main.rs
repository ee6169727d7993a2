//! Tests of the client against local servers.

mod answers;
mod guarded;
mod server;
