//! Compares counts with the output of git.

mod counts;
mod fixture;
mod index;
