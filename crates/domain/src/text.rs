//! Texts from users: maximum lengths, the removal of markup, and secrets.

pub mod limit;

use std::borrow::Cow;
use std::fmt;

use crate::field_errors::FieldErrors;

/// Adds the methods that all validated texts of the store share.
macro_rules! stored_text {
    ($text:ident) => {
        impl $text {
            /// Wraps a text that was validated before it was stored.
            pub fn stored(text: String) -> Self {
                Self(text)
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }
    };
}
pub(crate) use stored_text;

/// Text of at most `MAX` characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text<const MAX: usize>(String);

/// Text with the usual length limit of short API fields.
pub type ShortText = Text<{ limit::SHORT }>;

/// Text with the length limit of descriptions and comments.
pub type LongText = Text<{ limit::LONG }>;

impl<const MAX: usize> Text<MAX> {
    /// Parses a text; fails if it is too long.
    pub fn parse(text: &str) -> Result<Self, TooLong> {
        within(text, MAX)?;
        Ok(Self(text.to_owned()))
    }

    /// Like [`parse`](Self::parse), after removing HTML tags.
    pub fn parse_plain(text: &str) -> Result<Self, TooLong> {
        Self::parse(&strip_tags(text))
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Converts into a string.
    pub fn into_string(self) -> String {
        self.0
    }
}

/// Error for a text with too many characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is too long (maximum is {0} characters)")]
pub struct TooLong(pub usize);

/// Checks a length in characters. The time is bounded by `max`, however long the text is.
pub fn within(text: &str, max: usize) -> Result<(), TooLong> {
    // A text of at most `max` bytes has at most `max` characters: the common case needs no count.
    if text.len() > max && text.chars().nth(max).is_some() { Err(TooLong(max)) } else { Ok(()) }
}

/// Like [`within`], with the error under the name of the field.
pub fn within_field(field: &str, text: &str, max: usize) -> Result<(), FieldErrors> {
    within(text, max).map_err(|error| FieldErrors::single(field, error))
}

/// Error for a blank text where a text is required.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("can't be blank")]
pub struct Blank;

/// Parses the words for true and false, in upper or lower case.
pub fn parse_boolean(text: &str) -> Option<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" | "t" | "yes" | "y" | "1" | "on" => Some(true),
        "false" | "f" | "no" | "n" | "0" | "off" => Some(false),
        _ => None,
    }
}

/// The maximum size in bytes of a text in which markup is processed. Longer texts fail the length
/// checks of names and titles anyway.
const LONGEST_MARKED: usize = 64 * 1024;

/// Removes HTML tags and comments, in one pass over the text. A lone `<` stays, as in `1 < 2`, and a text of more than
/// 64 KiB is not changed.
pub fn strip_tags(text: &str) -> Cow<'_, str> {
    if text.len() > LONGEST_MARKED {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let (before, from_bracket) = rest.split_at(start);
        plain.push_str(before);
        let opens_tag = from_bracket[1..]
            .chars()
            .next()
            .is_some_and(|c| c.is_ascii_alphabetic() || matches!(c, '/' | '!' | '?'));
        if !opens_tag {
            plain.push('<');
            rest = &from_bracket[1..];
            continue;
        }
        // The search for `>` starts only at a tag and continues after it, so no part of the text is
        // read twice.
        match from_bracket.find('>') {
            Some(end) => rest = &from_bracket[end + 1..],
            None => {
                rest = from_bracket;
                break;
            }
        }
    }
    plain.push_str(rest);
    plain.into()
}

/// Replaces HTML entities with their characters, in one pass over the text. Unknown entities are
/// kept, and a text of more than 64 KiB is not changed.
pub fn decode_entities(text: &str) -> Cow<'_, str> {
    if text.len() > LONGEST_MARKED {
        return text.into();
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('&') {
        let (before, from_sign) = rest.split_at(start);
        plain.push_str(before);
        match parse_entity(&from_sign[1..]) {
            Some((character, length)) => {
                plain.push(character);
                rest = &from_sign[1 + length..];
            }
            None => {
                plain.push('&');
                rest = &from_sign[1..];
            }
        }
    }
    plain.push_str(rest);
    plain.into()
}

/// Parses an entity without its `&`; returns the character and the length of the entity.
fn parse_entity(text: &str) -> Option<(char, usize)> {
    // The longest entity is `#x10FFFF;`.
    let end = text.bytes().take(10).position(|b| b == b';')?;
    let character = match &text[..end] {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        name => {
            let digits = name.strip_prefix('#')?;
            let number = match digits.strip_prefix(['x', 'X']) {
                Some(digits) => u32::from_str_radix(digits, 16).ok()?,
                None => digits.parse().ok()?,
            };
            char::from_u32(number)?
        }
    };
    Some((character, end + 1))
}

/// A secret text that is never printed to logs.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// Wraps a secret.
    pub fn new(secret: impl Into<String>) -> Self {
        Self(secret.into())
    }

    /// The plain secret, for hashing it or showing it once to its owner.
    pub fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn booleans_are_the_words_for_yes_and_no_in_any_case() {
        for word in ["true", "t", "yes", "y", "1", "on", "TRUE", "Yes", "oN"] {
            assert_eq!(parse_boolean(word), Some(true), "{word}");
        }
        for word in ["false", "f", "no", "n", "0", "off", "FALSE", "No"] {
            assert_eq!(parse_boolean(word), Some(false), "{word}");
        }
        for word in ["", "2", "maybe", "truee"] {
            assert_eq!(parse_boolean(word), None, "{word}");
        }
    }

    #[test]
    fn length_counts_characters_not_bytes() {
        assert!(ShortText::parse(&"ü".repeat(255)).is_ok());
        let error = ShortText::parse(&"ü".repeat(256)).expect_err("one too many");
        assert_eq!(error.to_string(), "is too long (maximum is 255 characters)");
    }

    #[test]
    fn tags_are_removed_and_lone_brackets_stay() {
        for (text, plain) in [
            ("Ada", "Ada"),
            ("<b>Ada</b>", "Ada"),
            ("Ada <script>alert(1)</script>", "Ada alert(1)"),
            ("<!-- x -->Ada", "Ada"),
            ("1 < 2 > 0", "1 < 2 > 0"),
            ("a<", "a<"),
            ("a<b", "a<b"),
            ("<<b>>", "<>"),
            ("a<b<c>d", "ad"),
        ] {
            assert_eq!(strip_tags(text), plain, "{text}");
        }
    }

    #[test]
    fn hostile_markup_costs_no_more_than_its_length() {
        let most = LONGEST_MARKED - 1;
        for part in ["<", "<a", "< >"] {
            let text = part.repeat(most / part.len());
            assert!(strip_tags(&format!("{text}>")).len() <= text.len() + 1);
        }
        let (marked, too_long) = (format!("<b>{}", "a".repeat(most - 2)), "<b>".repeat(most));
        assert_eq!(strip_tags(&marked).len(), most - 2, "the longest text with markup");
        assert_eq!(
            (strip_tags(&too_long), decode_entities(&too_long)),
            (too_long.as_str().into(), too_long.as_str().into())
        );
    }

    #[test]
    fn a_secret_does_not_debug_print() {
        assert_eq!(format!("{:?}", Secret::new("hunter22")), "Secret(..)");
    }
}
