//! Packs: immutable files of git objects. A pack is named by the SHA-256 of its bytes. It belongs to
//! each repository that has a row for it, so repositories can share a pack.

pub mod port;

use std::fmt;

use crate::hex;

/// The number of live packs at which the small packs of a repository are merged.
pub const MERGE_THRESHOLD: usize = 24;

/// The name of a pack: the SHA-256 of its bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PackName([u8; 32]);

impl PackName {
    /// Wraps the bytes of a name.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes of the name.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Parses a name of 64 lower-case hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        let is_lower = !text.contains(|c: char| c.is_ascii_uppercase());
        hex::parse(text).filter(|_| is_lower).map(Self)
    }
}

impl fmt::Display for PackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for PackName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A pack of a repository.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pack {
    /// The name of the pack.
    pub name: PackName,
    /// The size of the pack in bytes, without its index.
    pub bytes: u64,
    /// The number of objects in the pack.
    pub objects: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_read_as_it_is_written() {
        let name = PackName::from_bytes(std::array::from_fn(|at| (at * 8) as u8));
        assert_eq!(PackName::parse(&name.to_string()), Some(name));
        let text = name.to_string();
        for wrong in
            [&text[1..], &text.to_uppercase(), &text.replace('f', "g"), &format!("{text}0")]
        {
            assert_eq!(PackName::parse(wrong), None, "{wrong}");
        }
    }
}
