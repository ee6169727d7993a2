//! Users, and how they are known.

pub(crate) mod email;
pub(crate) mod identity;
pub(crate) mod key;
pub(crate) mod sign_in;
pub(crate) mod token;
pub(crate) mod user;
