//! The `Range` header of downloads, with which clients resume.

use std::ops::Range;

/// The part of a content that a header asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Wanted {
    /// All of it. Headers that are not understood, or that name several ranges, are ignored, as HTTP allows.
    Whole,
    /// This part, which is not empty.
    Part(Range<u64>),
    /// A range that begins after the end.
    Unsatisfiable,
}

impl Wanted {
    /// Reads the header of a request for a content of this size.
    pub(super) fn parse(header: Option<&str>, size: u64) -> Self {
        match header.and_then(|header| parse(header, size)) {
            None => Wanted::Whole,
            Some(range) if range.is_empty() => Wanted::Unsatisfiable,
            Some(range) => Wanted::Part(range),
        }
    }
}

/// Parses `bytes=<first>-<last>`, `bytes=<first>-` or `bytes=-<length>`.
fn parse(header: &str, size: u64) -> Option<Range<u64>> {
    let (unit, range) = header.split_once('=')?;
    if !unit.trim().eq_ignore_ascii_case("bytes") {
        return None;
    }
    let (first, last) = range.trim().split_once('-')?;
    match (first, last) {
        ("", length) => Some(size.saturating_sub(number(length)?)..size),
        (first, "") => Some(number(first)?..size),
        (first, last) => {
            let (first, last) = (number(first)?, number(last)?);
            (first <= last).then(|| first..last.saturating_add(1).min(size))
        }
    }
}

fn number(digits: &str) -> Option<u64> {
    let are_digits = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    // A number that does not fit is larger than every content.
    are_digits.then(|| digits.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_a_content_of_ten_bytes() {
        for (header, expected) in [
            ("bytes=0-", Wanted::Part(0..10)),
            ("bytes=4-", Wanted::Part(4..10)),
            ("Bytes = 4-6", Wanted::Part(4..7)),
            ("bytes=9-9", Wanted::Part(9..10)),
            ("bytes=4-100", Wanted::Part(4..10)),
            ("bytes=4-99999999999999999999999", Wanted::Part(4..10)),
            ("bytes=-3", Wanted::Part(7..10)),
            ("bytes=-100", Wanted::Part(0..10)),
            ("bytes=10-", Wanted::Unsatisfiable),
            ("bytes=10-20", Wanted::Unsatisfiable),
            ("bytes=99999999999999999999999-", Wanted::Unsatisfiable),
            ("bytes=-0", Wanted::Unsatisfiable),
            ("bytes=6-4", Wanted::Whole),
            ("bytes=0-1,4-5", Wanted::Whole),
            ("bytes=a-", Wanted::Whole),
            ("bytes=--1", Wanted::Whole),
            ("bytes=-", Wanted::Whole),
            ("bytes", Wanted::Whole),
            ("lines=0-1", Wanted::Whole),
        ] {
            assert_eq!(Wanted::parse(Some(header), 10), expected, "{header}");
        }
        assert_eq!(Wanted::parse(None, 10), Wanted::Whole);
        assert_eq!(Wanted::parse(Some("bytes=0-"), 0), Wanted::Unsatisfiable);
    }
}
