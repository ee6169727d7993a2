//! Git LFS: large files that a repository refers to by a pointer. Their content is an LFS object, which is stored
//! outside of the repository and belongs to the fork network of the project that it was uploaded to.

pub mod port;
pub mod reservation;

use std::fmt;

use crate::hex;

/// The name of an LFS object: the SHA-256 of its content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LfsOid([u8; 32]);

impl LfsOid {
    /// Wraps the bytes of a name.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The bytes of the name.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Parses a name of 64 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        hex::parse(text).map(Self)
    }
}

impl fmt::Display for LfsOid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl fmt::Debug for LfsOid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An LFS object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct LfsObject {
    /// The name of the object.
    pub oid: LfsOid,
    /// The size of its content in bytes.
    pub size: u64,
}

/// The direction in which LFS objects are transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LfsOperation {
    /// From the server to a client.
    Download,
    /// From a client to the server.
    Upload,
}

impl LfsOperation {
    /// Parses the word of the protocol.
    pub fn parse(text: &str) -> Option<Self> {
        match text {
            "download" => Some(LfsOperation::Download),
            "upload" => Some(LfsOperation::Upload),
            _ => None,
        }
    }

    /// The word of the protocol.
    pub fn as_str(self) -> &'static str {
        match self {
            LfsOperation::Download => "download",
            LfsOperation::Upload => "upload",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_64_hexadecimal_digits() {
        let oid = LfsOid::from_bytes(std::array::from_fn(|at| (at * 8) as u8));
        let text = oid.to_string();
        assert_eq!(LfsOid::parse(&text), Some(oid));
        assert_eq!(LfsOid::parse(&text.to_uppercase()), Some(oid));
        for wrong in ["", &text[1..], &text.replace('f', "g"), &format!("{text}0")] {
            assert_eq!(LfsOid::parse(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn operations_are_named_as_in_the_protocol() {
        for operation in [LfsOperation::Download, LfsOperation::Upload] {
            assert_eq!(LfsOperation::parse(operation.as_str()), Some(operation));
        }
        for wrong in ["", "verify", "Download", "download "] {
            assert_eq!(LfsOperation::parse(wrong), None, "{wrong}");
        }
    }
}
