//! Parses the fields of a commit object that the count needs.

use gix::ObjectId;

use crate::text;

/// The header of a commit. The parser is lenient, because git also counts malformed commits.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) tree: ObjectId,
    pub(crate) parents: Vec<ObjectId>,
    /// The author's email address as raw bytes.
    pub(crate) email: Vec<u8>,
    /// The author's name as text.
    pub(crate) name: String,
    /// The committer time in seconds; 0 when it cannot be parsed.
    pub(crate) date: i64,
}

impl Header {
    /// Parses a commit object. Returns `None` when it is not a commit.
    pub(crate) fn parse(commit: &[u8]) -> Option<Self> {
        let mut tree = None;
        let mut parents = Vec::new();
        let (mut author, mut committer, mut encoding) = (None, None, None);
        for line in commit.split(|byte| *byte == b'\n').take_while(|line| !line.is_empty()) {
            if let Some(id) = line.strip_prefix(b"parent ") {
                parents.push(ObjectId::from_hex(id).ok()?);
            } else if let Some(id) = line.strip_prefix(b"tree ") {
                tree = tree.or(Some(ObjectId::from_hex(id).ok()?));
            } else if let Some(person) = line.strip_prefix(b"author ") {
                author = author.or(Some(person));
            } else if let Some(person) = line.strip_prefix(b"committer ") {
                committer = committer.or(Some(person));
            } else if let Some(label) = line.strip_prefix(b"encoding ") {
                encoding = encoding.or(Some(label));
            }
        }
        let (name, email) = author.map(parse_person).unwrap_or_default();
        Some(Self {
            tree: tree?,
            parents,
            email: email.to_vec(),
            name: text::decode_as(name, encoding),
            date: committer.map_or(0, parse_time),
        })
    }

    pub(crate) fn is_merge(&self) -> bool {
        self.parents.len() > 1
    }
}

/// Splits an author line into the name before the first `<` and the email address up to the next `>`.
fn parse_person(line: &[u8]) -> (&[u8], &[u8]) {
    let Some(open) = line.iter().position(|byte| *byte == b'<') else { return (b"", b"") };
    let (name, rest) = (&line[..open], &line[open + 1..]);
    match rest.iter().position(|byte| *byte == b'>') {
        Some(close) => (name.trim_ascii(), &rest[..close]),
        None => (b"", b""),
    }
}

/// The time at the end of an author or committer line.
fn parse_time(line: &[u8]) -> i64 {
    let after = line.iter().rposition(|byte| *byte == b'>').map_or(line, |at| &line[at + 1..]);
    let digits = after.trim_ascii_start().split(|byte| !byte.is_ascii_digit()).next();
    digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse().ok()).unwrap_or(0)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test that panics has failed")]
mod tests {
    use super::*;

    fn parse(author: &str, committer: &str) -> Header {
        let tree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        let commit = format!(
            "tree {tree}\nparent {tree}\nauthor {author}\ncommitter {committer}\n\nauthor X <x> 1\n"
        );
        Header::parse(commit.as_bytes()).unwrap()
    }

    #[test]
    fn authors_are_read_as_git_reads_them() {
        for (line, name, email) in [
            ("A B <a@b> 1 +0000", "A B", "a@b"),
            ("  A   < a@b > 1 +0000", "A", " a@b "),
            ("<a@b> 1 +0000", "", "a@b"),
            ("A <<a@b>> 1 +0000", "A", "<a@b"),
            ("A <> 1 +0000", "A", ""),
            ("A a@b 1 +0000", "", ""),
        ] {
            let header = parse(line, "C <c> 1 +0000");
            assert_eq!((header.name.as_str(), header.email.as_slice()), (name, email.as_bytes()));
        }
    }

    #[test]
    fn times_that_cannot_be_read_are_the_beginning() {
        for (line, date) in [
            ("C <c> 1700000000 +0200", 1_700_000_000),
            ("C <c>  7", 7),
            ("C <c> soon", 0),
            ("C <c>", 0),
            ("C <c> 99999999999999999999 +0000", 0),
        ] {
            assert_eq!(parse("A <a> 1 +0000", line).date, date, "{line}");
        }
        assert_eq!(Header::parse(b"blob"), None);
    }
}
