//! Splits a text into plain pieces and names of things: `#7`, `!7`, `@ada`, `~bug`, `%3`, and ids of commits.

use super::commit_reference::{CommitReference, commit_at};
use super::reference::{Reference, is_path_char, reference_at};

/// A piece of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// A text that names nothing.
    Plain(&'a str),
    /// The text of a name, and what it names.
    Named(&'a str, Named<'a>),
}

/// What a piece of a text names. It need not exist.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Named<'a> {
    /// An issue or merge request.
    Thing(Reference),
    /// A commit.
    Commit(CommitReference),
    /// A user, by username.
    User(&'a str),
    /// A label, by title or id.
    Label(&'a str),
    /// A milestone, by title or number in the project.
    Milestone(&'a str),
}

/// The maximum length of the title of a label or milestone.
const LONGEST_TITLE: usize = 255;

/// Splits a text. Runs in linear time. `address` is the base URL of this service without a trailing slash.
pub fn split<'a>(text: &'a str, address: &str) -> Vec<Piece<'a>> {
    let mut pieces = Vec::new();
    let (mut start, mut at, mut before) = (0, 0, None);
    while let Some(c) = text[at..].chars().next() {
        match named_at(&text[at..], before, address) {
            Some((named, length)) => {
                if start < at {
                    pieces.push(Piece::Plain(&text[start..at]));
                }
                pieces.push(Piece::Named(&text[at..at + length], named));
                at += length;
                start = at;
                before = text[..at].chars().next_back();
            }
            None => {
                at += c.len_utf8();
                before = Some(c);
            }
        }
    }
    if start < text.len() {
        pieces.push(Piece::Plain(&text[start..]));
    }
    pieces
}

/// Parses a name at the start of a text; returns it with its length in bytes. `before` is the character in front of it.
fn named_at<'a>(text: &'a str, before: Option<char>, address: &str) -> Option<(Named<'a>, usize)> {
    if before.is_some_and(|c| is_path_char(c) || c == '&') {
        return None;
    }
    let rest = text.get(1..);
    match (text.as_bytes().first()?, rest) {
        (b'@', Some(rest)) => {
            let end = rest.find(|c| c == '/' || !is_path_char(c)).unwrap_or(rest.len());
            let name = rest[..end].trim_end_matches('.');
            let is_name = !name.is_empty() && name.len() <= LONGEST_TITLE;
            is_name.then_some((Named::User(name), 1 + name.len()))
        }
        (b'~', Some(rest)) => title_at(rest).map(|(title, end)| (Named::Label(title), 1 + end)),
        (b'%', Some(rest)) => title_at(rest).map(|(title, end)| (Named::Milestone(title), 1 + end)),
        _ => {
            if let Some((reference, length)) = reference_at(text, address) {
                return Some((Named::Thing(reference), length));
            }
            let (commit, length) = match before {
                Some('@' | '#') => None,
                _ => commit_at(text, address),
            }?;
            Some((Named::Commit(commit), length))
        }
    }
}

/// Parses a title: one word, or any text between quotes; returns it with its length, quotes included.
fn title_at(text: &str) -> Option<(&str, usize)> {
    let (title, length) = match text.strip_prefix('"') {
        Some(quoted) => {
            let end = quoted.find(['"', '\n']).filter(|end| quoted[*end..].starts_with('"'))?;
            (&quoted[..end], end + 2)
        }
        None => {
            let is_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '?' | '&');
            let end = text.find(|c| !is_word(c)).unwrap_or(text.len());
            let word = text[..end].trim_end_matches(['.', '?', '-']);
            (word, word.len())
        }
    };
    (!title.is_empty() && title.len() <= LONGEST_TITLE).then_some((title, length))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> String {
        let piece = |piece: Piece<'_>| match piece {
            Piece::Plain(text) => text.to_owned(),
            Piece::Named(text, named) => match named {
                Named::Thing(_) => format!("[thing {text}]"),
                Named::Commit(_) => format!("[commit {text}]"),
                Named::User(name) => format!("[user {name}]"),
                Named::Label(title) => format!("[label {title}]"),
                Named::Milestone(title) => format!("[milestone {title}]"),
            },
        };
        split(text, "https://forge.test").into_iter().map(piece).collect()
    }

    #[test]
    fn names_are_found_between_plain_texts() {
        for (text, expected) in [
            ("", ""),
            ("see #7, !8.", "see [thing #7], [thing !8]."),
            ("ada/ship#7 C#7", "[thing ada/ship#7] C#7"),
            ("@ada. a@b.c", "[user ada]. a@b.c"),
            ("~bug ~\"two words\" ~ ~~", "[label bug] [label two words] ~ ~~"),
            ("%3 100% x", "[milestone 3] 100% x"),
            ("by 1a2b3c4!", "by [commit 1a2b3c4]!"),
            ("ü#7 &#39;", "ü[thing #7] &#39;"),
            ("~\"open", "~\"open"),
        ] {
            assert_eq!(shown(text), expected, "{text}");
        }
    }

    #[test]
    fn hostile_texts_take_no_longer_than_others() {
        for text in ["~\"", "@", "%", "a/", "#", "~a", "1234567"] {
            let text = text.repeat(200_000);
            assert!(!split(&text, "https://forge.test").is_empty());
        }
    }
}
