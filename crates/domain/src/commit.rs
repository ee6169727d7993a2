//! Git commits.

pub mod signing;

use std::fmt;

use chrono::{DateTime, FixedOffset, TimeZone};

use crate::hex;
use signing::SignatureFormat;

/// The id of a git object: the SHA-1 of its content.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId([u8; 20]);

impl ObjectId {
    /// The null id: the value of a ref before its creation or after its deletion.
    pub const ZERO: ObjectId = ObjectId([0; 20]);

    /// The id with these bytes.
    pub const fn from_bytes(bytes: [u8; 20]) -> Self {
        Self(bytes)
    }

    /// The bytes of the id.
    pub const fn as_bytes(&self) -> &[u8; 20] {
        &self.0
    }

    /// Parses an id of 40 hexadecimal digits.
    pub fn parse(text: &str) -> Option<Self> {
        hex::parse(text).map(Self)
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = [0; 40];
        for (pair, byte) in text.chunks_exact_mut(2).zip(self.0) {
            pair[0] = DIGITS[usize::from(byte >> 4)];
            pair[1] = DIGITS[usize::from(byte & 15)];
        }
        f.write_str(std::str::from_utf8(&text).unwrap_or_default())
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// An author or committer with a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The name from the person's git configuration.
    pub name: String,
    /// The e-mail address from the person's git configuration.
    pub email: String,
    /// The time with the recorded UTC offset.
    pub at: DateTime<FixedOffset>,
}

impl Signature {
    /// Converts a time as git records it: seconds since 1970, and the offset from UTC in seconds. A time outside the
    /// supported calendar range becomes the nearest supported time.
    pub fn time(seconds: i64, offset: i32) -> DateTime<FixedOffset> {
        let utc = || FixedOffset::east_opt(0).expect("zero is an offset");
        let zone = FixedOffset::east_opt(offset).unwrap_or_else(utc);
        // The date format of the API supports the years 0 to 9999.
        let seconds = seconds.clamp(-62_135_596_800, 253_402_214_400);
        zone.timestamp_opt(seconds, 0).single().unwrap_or_else(|| DateTime::UNIX_EPOCH.into())
    }
}

/// A commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// The id.
    pub id: ObjectId,
    /// The parent commits; empty for a root commit.
    pub parents: Vec<ObjectId>,
    /// The full message, as it is stored.
    pub message: String,
    /// The author of the change.
    pub author: Signature,
    /// The committer.
    pub committer: Signature,
    /// The format of its cryptographic signature, if it has one. It was not verified.
    pub signed: Option<SignatureFormat>,
}

impl Commit {
    /// The first line of the message, truncated as the API shows it.
    pub fn title(&self) -> String {
        title_of(&self.message)
    }
}

/// The first line of a message, truncated as the API shows it.
pub fn title_of(message: &str) -> String {
    const LONGEST: usize = 100;
    const SHORTENED: usize = 80;
    let first = message.trim_start_matches('\n').lines().next().unwrap_or_default();
    if first.trim().is_empty() {
        return "--no commit message".to_owned();
    }
    match first.char_indices().nth(LONGEST) {
        None => first.to_owned(),
        Some(_) => first.chars().take(SHORTENED).chain(['…']).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_have_forty_digits() {
        let name = "0b4bc9a49b562e85de7cc9e834518ea6828729b9";
        assert_eq!(ObjectId::parse(name).expect("40 digits").to_string(), name);
        for bad in ["", "0b4b", "0b4bc9a49b562e85de7cc9e834518ea6828729bg", &"é".repeat(20)] {
            assert_eq!(ObjectId::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn titles_are_one_short_line() {
        let commit = |message: &str| Commit {
            id: ObjectId::ZERO,
            parents: vec![],
            message: message.to_owned(),
            author: signature(),
            committer: signature(),
            signed: None,
        };
        let long = "x".repeat(101);
        for (message, title) in [
            ("Fix it\n\nAnd more.\n", "Fix it".to_owned()),
            ("", "--no commit message".to_owned()),
            (" \n", "--no commit message".to_owned()),
            (&"x".repeat(100), "x".repeat(100)),
            (&long, format!("{}…", "x".repeat(80))),
        ] {
            assert_eq!(commit(message).title(), title);
        }
    }

    #[test]
    fn times_outside_of_the_calendar_are_clamped() {
        for seconds in [i64::MIN, i64::MAX, 0] {
            let year = Signature::time(seconds, 99 * 3600).format("%Y").to_string();
            assert_eq!(year.len(), 4, "{year}");
        }
        assert_eq!(
            Signature::time(1_340_801_499, -7 * 3600).to_rfc3339(),
            "2012-06-27T05:51:39-07:00"
        );
    }

    fn signature() -> Signature {
        Signature { name: "a".into(), email: "b".into(), at: Signature::time(0, 0) }
    }
}
