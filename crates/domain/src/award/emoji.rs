//! The names of emoji.

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::field_errors::{FieldErrors, FieldProblem};
use crate::text::Blank;

/// The main name of a known emoji, such as `tada`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmojiName(String);

crate::text::stored_text!(EmojiName);

/// The emoji that counts as a vote for an issue or merge request.
pub const THUMBS_UP: &str = "thumbsup";
/// The emoji that counts as a vote against an issue or merge request.
pub const THUMBS_DOWN: &str = "thumbsdown";

/// The known emoji, one per line: the main name, then its aliases. These are the shortcodes that GitHub publishes, with
/// the names `thumbsup`, `thumbsdown` and `archery` as the API reference has them.
const TABLE: &str = include_str!("emoji.txt");

/// The main name for each name and alias.
static MAIN_NAMES: LazyLock<HashMap<&str, &str>> = LazyLock::new(|| {
    let mut names = HashMap::new();
    for line in TABLE.lines() {
        let main = line.split(' ').next().unwrap_or(line);
        names.extend(line.split(' ').map(|name| (name, main)));
    }
    names
});

impl EmojiName {
    /// Parses a name or an alias, without colons.
    /// # Errors
    /// The problems of the name, under `name`.
    pub fn parse(given: &str) -> Result<Self, FieldErrors> {
        if let Some(name) = Self::find(given) {
            return Ok(name);
        }
        let mut errors = FieldErrors::default();
        if given.trim().is_empty() {
            errors.add("name", Blank);
        }
        errors.add("name", FieldProblem::NotInList);
        Err(errors)
    }

    /// Parses a note that consists of a single emoji: a name such as `:tada:`, or a thumb character. One blank may follow.
    /// Returns `None` for any other note.
    pub fn from_note(note: &str) -> Option<Self> {
        let note = note.strip_suffix(char::is_whitespace).unwrap_or(note);
        let thumb = note.trim_end_matches(|tone| ('\u{1F3FB}'..='\u{1F3FF}').contains(&tone));
        match thumb {
            "👍" => return Self::find(THUMBS_UP),
            "👎" => return Self::find(THUMBS_DOWN),
            _ => {}
        }
        Self::find(note.strip_prefix(':')?.strip_suffix(':')?)
    }

    /// Returns whether the emoji counts as a vote.
    pub fn is_vote(&self) -> bool {
        matches!(self.as_str(), THUMBS_UP | THUMBS_DOWN)
    }

    /// Returns the main name for a name or an alias.
    fn find(given: &str) -> Option<Self> {
        MAIN_NAMES.get(given).map(|main| Self((*main).to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn aliases_become_the_main_name() {
        for (given, name) in [
            ("tada", Ok("tada")),
            ("+1", Ok("thumbsup")),
            ("thumbsup", Ok("thumbsup")),
            ("-1", Ok("thumbsdown")),
            ("thumbsdown", Ok("thumbsdown")),
            ("archery", Ok("bow_and_arrow")),
            ("bow_and_arrow", Ok("bow_and_arrow")),
            ("satisfied", Ok("laughing")),
            ("8ball", Ok("8ball")),
            ("", Err("name can't be blank, is not included in the list")),
            (" ", Err("name can't be blank, is not included in the list")),
            (":tada:", Err("name is not included in the list")),
            ("Tada", Err("name is not included in the list")),
            ("nothing", Err("name is not included in the list")),
        ] {
            let parsed = EmojiName::parse(given);
            let parsed = parsed.as_ref().map(EmojiName::as_str).map_err(ToString::to_string);
            assert_eq!(parsed, name.map_err(str::to_owned), "{given}");
        }
    }

    #[test]
    fn every_name_of_the_table_means_one_emoji() {
        let names: Vec<&str> = TABLE.lines().flat_map(|line| line.split(' ')).collect();
        assert_eq!(MAIN_NAMES.len(), names.len(), "a name stands in two lines");
        assert!(names.len() > 1900, "{}", names.len());
        let is_plain = |name: &str| {
            name.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b"_+-".contains(&byte)
            })
        };
        for name in names {
            assert!(!name.is_empty() && is_plain(name), "{name:?}");
            let main = EmojiName::parse(name).expect("a name of the table");
            assert_eq!(EmojiName::parse(main.as_str()).as_ref(), Ok(&main), "{name}");
        }
    }

    #[test]
    fn an_emoji_stands_alone_between_colons() {
        for (note, name) in [
            (":+1:", Some(THUMBS_UP)),
            (":thumbsup:", Some(THUMBS_UP)),
            (":-1:\n", Some(THUMBS_DOWN)),
            (":thumbsdown: ", Some(THUMBS_DOWN)),
            ("👍", Some(THUMBS_UP)),
            ("👍\u{1F3FD}", Some(THUMBS_UP)),
            ("👎", Some(THUMBS_DOWN)),
            (":tada:", Some("tada")),
            (":100:", Some("100")),
            (":tada:  ", None),
            (" :tada:", None),
            (":30:", None),
            (":nothing:", None),
            ("::", None),
            (":", None),
            ("", None),
            (":Tada:", None),
            (":a b:", None),
            (":tada: :tada:", None),
            ("so :tada:", None),
            ("tada", None),
        ] {
            let found = EmojiName::from_note(note);
            assert_eq!(found.as_ref().map(EmojiName::as_str), name, "{note:?}");
        }
    }

    #[test]
    fn thumbs_are_votes() {
        for (name, is_vote) in [("+1", true), ("thumbsdown", true), ("tada", false)] {
            assert_eq!(EmojiName::parse(name).map(|name| name.is_vote()), Ok(is_vote), "{name}");
        }
    }
}
