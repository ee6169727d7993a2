//! Ids in paths.

use hexforge_domain::id::{EmailId, KeyId, UserId};
use serde::{Deserialize, Deserializer};

/// An id as a path has it. What is no number, or none that an id can be, becomes an id that nothing
/// has, so that it is not found like any other.
#[derive(Clone, Copy)]
pub struct PathId(i64);

const NOBODY: i64 = 0;

impl<'de> Deserialize<'de> for PathId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let digits = text.bytes().all(|b| b.is_ascii_digit());
        Ok(Self(if digits { text.parse().unwrap_or(NOBODY) } else { NOBODY }))
    }
}

macro_rules! from_path {
    ($($id:ident),+) => {$(
        impl From<PathId> for $id {
            fn from(id: PathId) -> Self {
                $id(id.0)
            }
        }
    )+};
}

from_path!(UserId, KeyId, EmailId);
