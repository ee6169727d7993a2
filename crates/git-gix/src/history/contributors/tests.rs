//! Against git itself.

mod counts;
mod fixture;
mod index;
