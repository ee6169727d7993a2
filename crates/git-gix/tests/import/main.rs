//! Imports from the real `git http-backend` and from hostile servers.

mod backend;
mod fixture;
mod hostile;
mod real;
#[path = "../support/mod.rs"]
mod support;
