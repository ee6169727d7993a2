//! Titles of labels.

use crate::field_errors::FieldErrors;
use crate::text::{self, Blank, limit};

/// The title of a label: not blank, at most [`limit::SHORT`] characters, without commas because
/// they separate the titles in a list of labels.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LabelTitle(String);

crate::text::stored_text!(LabelTitle);

/// Error for a title with a forbidden character.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is invalid")]
pub struct InvalidTitle;

impl LabelTitle {
    /// Parses a title. HTML tags are removed and HTML entities are decoded.
    /// # Errors
    /// All errors of the title, under `title`.
    pub fn parse(given: &str) -> Result<Self, FieldErrors> {
        let plain = text::strip_tags(given);
        let title = text::decode_entities(&plain);
        let mut errors = FieldErrors::default();
        if title.trim().is_empty() {
            errors.add("title", Blank);
        }
        if title.trim().is_empty() || title.contains([',', '\0']) {
            errors.add("title", InvalidTitle);
        }
        errors.check("title", text::within(&title, limit::SHORT));
        errors.into_result_with(|| Some(Self(title.into_owned())))
    }

    /// Converts into the title as a string.
    pub fn into_string(self) -> String {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_plain_texts_without_commas() {
        let long = "ü".repeat(limit::SHORT);
        for (given, title) in [
            ("bug", "bug"),
            ("Foo & Bar", "Foo & Bar"),
            ("Foo &amp; Bar", "Foo & Bar"),
            ("<b>bug</b>", "bug"),
            ("a?b~c", "a?b~c"),
            ("a &lt; b", "a < b"),
            ("&#65;&#x42;", "AB"),
            ("&unknown; &amp", "&unknown; &amp"),
            (" bug ", " bug "),
            (long.as_str(), long.as_str()),
        ] {
            assert_eq!(LabelTitle::parse(given).map(LabelTitle::into_string), Ok(title.to_owned()));
        }
    }

    #[test]
    fn all_errors_of_a_title_are_reported() {
        let long = "x".repeat(limit::SHORT + 1);
        let too_long = "is too long (maximum is 255 characters)";
        for (given, messages) in [
            (long.as_str(), vec![too_long]),
            (format!("{long},").as_str(), vec!["is invalid", too_long]),
            ("", vec!["can't be blank", "is invalid"]),
            ("  ", vec!["can't be blank", "is invalid"]),
            ("<br>", vec!["can't be blank", "is invalid"]),
            ("a,b", vec!["is invalid"]),
            ("a&#44;b", vec!["is invalid"]),
            ("a&#0;b", vec!["is invalid"]),
        ] {
            let errors = LabelTitle::parse(given).expect_err("no title");
            assert_eq!(errors.messages("title"), messages, "{given}");
        }
    }
}
