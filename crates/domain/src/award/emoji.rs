//! The names of emoji.

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

/// Aliases whose main name differs from the first shortcode of the table, or that the table lacks.
const ALIASES: [(&str, &str); 5] = [
    ("+1", THUMBS_UP),
    (THUMBS_UP, THUMBS_UP),
    ("-1", THUMBS_DOWN),
    (THUMBS_DOWN, THUMBS_DOWN),
    ("archery", "bow_and_arrow"),
];

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
        let alias = ALIASES.iter().find(|(alias, _)| *alias == given).map(|(_, name)| *name);
        let name = alias.or_else(|| emojis::get_by_shortcode(given)?.shortcode())?;
        Some(Self(name.to_owned()))
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
    fn main_names_are_their_own_main_name() {
        for emoji in emojis::iter() {
            for code in emoji.shortcodes() {
                let name = EmojiName::parse(code).expect("a shortcode");
                assert_eq!(EmojiName::parse(name.as_str()).as_ref(), Ok(&name), "{code}");
            }
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
