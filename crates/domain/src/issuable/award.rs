//! Awards: emoji reactions of users to an issue or merge request.

use super::Issuable;
use crate::Timestamp;
use crate::id::{AwardId, UserId};

/// The name of an emoji: small letters, digits, `_`, `+` and `-`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EmojiName(String);

crate::text::stored_text!(EmojiName);

/// The emoji that counts as a vote for an issue or merge request.
pub const THUMBS_UP: &str = "thumbsup";
/// The emoji that counts as a vote against an issue or merge request.
pub const THUMBS_DOWN: &str = "thumbsdown";

/// The maximum length of an emoji name.
const LONGEST: usize = 64;

impl EmojiName {
    /// Parses a note that consists of a single emoji: a name such as `:tada:`, or a thumb character.
    /// Returns `None` for any other note.
    pub fn from_note(note: &str) -> Option<Self> {
        let note = note.trim();
        let thumb = note.trim_end_matches(|tone| ('\u{1F3FB}'..='\u{1F3FF}').contains(&tone));
        match thumb {
            "👍" => return Some(Self(THUMBS_UP.to_owned())),
            "👎" => return Some(Self(THUMBS_DOWN.to_owned())),
            _ => {}
        }
        let name = note.strip_prefix(':')?.strip_suffix(':')?;
        let is_allowed =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || matches!(c, '_' | '+' | '-');
        if name.is_empty() || name.len() > LONGEST || !name.chars().all(is_allowed) {
            return None;
        }
        match name {
            "+1" => Some(Self(THUMBS_UP.to_owned())),
            "-1" => Some(Self(THUMBS_DOWN.to_owned())),
            // These are the only emoji names without a letter. Other numbers, such as `:30:`, are part of a time.
            "100" | "1234" => Some(Self(name.to_owned())),
            name => {
                let has_letter = name.chars().any(|c| c.is_ascii_lowercase());
                has_letter.then(|| Self(name.to_owned()))
            }
        }
    }
}

/// An award as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Award {
    /// Assigned by the store, never reused.
    pub id: AwardId,
    /// The awarded issue or merge request.
    pub on: Issuable,
    /// The user who gave the award.
    pub user: UserId,
    /// The emoji. A user can award each emoji once.
    pub name: EmojiName,
    /// The creation time.
    pub created_at: Timestamp,
}

/// The votes for and against an issue or merge request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    /// The number of [`THUMBS_UP`] awards.
    pub up: u32,
    /// The number of [`THUMBS_DOWN`] awards.
    pub down: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_emoji_stands_alone_between_colons() {
        for (note, name) in [
            (":+1:", Some(THUMBS_UP)),
            (":thumbsup:", Some(THUMBS_UP)),
            (" :-1:\n", Some(THUMBS_DOWN)),
            (":thumbsdown:", Some(THUMBS_DOWN)),
            ("👍", Some(THUMBS_UP)),
            ("👍\u{1F3FD}", Some(THUMBS_UP)),
            ("👎", Some(THUMBS_DOWN)),
            (":tada:", Some("tada")),
            (":woman_tone2:", Some("woman_tone2")),
            (":100:", Some("100")),
            (":30:", None),
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
            assert_eq!(found.as_ref().map(EmojiName::as_str), name, "{note}");
        }
        assert_eq!(EmojiName::from_note(&format!(":{}:", "x".repeat(65))), None);
    }
}
