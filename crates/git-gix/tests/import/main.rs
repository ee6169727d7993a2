//! Imports from the real `git http-backend` and from servers that nobody should trust.

mod backend;
mod fixture;
mod hostile;
mod real;
#[path = "../support/mod.rs"]
mod support;
