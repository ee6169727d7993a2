//! Snippets: pieces of text with a file name, in a project or of a user alone.

pub mod port;

use crate::Timestamp;
use crate::field_errors::FieldErrors;
use crate::id::{ProjectId, SnippetId, UserId};
use crate::text::{Blank, LongText, ShortText, TooLong, limit, within};
use crate::visibility::Visibility;

/// A snippet without its content, which may be long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Snippet {
    /// Assigned by the store, one sequence for the whole service, never reused.
    pub id: SnippetId,
    /// The project; `None` for a personal snippet.
    pub project: Option<ProjectId>,
    /// The author.
    pub author: UserId,
    /// The title.
    pub title: ShortText,
    /// The name of the file.
    pub file_name: SnippetFileName,
    /// The visibility level, which is independent of that of the project.
    pub visibility: Visibility,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change, notes included.
    pub updated_at: Timestamp,
}

/// The input for a new snippet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSnippet {
    /// See [`Snippet::project`].
    pub project: Option<ProjectId>,
    /// See [`Snippet::author`].
    pub author: UserId,
    /// See [`Snippet::title`].
    pub title: ShortText,
    /// See [`Snippet::file_name`].
    pub file_name: SnippetFileName,
    /// The text of the file.
    pub content: LongText,
    /// See [`Snippet::visibility`].
    pub visibility: Visibility,
    /// See [`Snippet::created_at`].
    pub at: Timestamp,
}

/// The file name of a snippet: letters, digits, `_`, `-`, `@` and `.`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnippetFileName(String);

crate::text::stored_text!(SnippetFileName);

/// Why a file name is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FileNameError {
    /// The name is too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The name has other characters.
    #[error("can contain only letters, digits, '_', '-', '@' and '.'.")]
    Characters,
}

impl SnippetFileName {
    /// Parses a file name. It may be empty.
    pub fn parse(name: &str) -> Result<Self, FileNameError> {
        within(name, limit::SHORT)?;
        let is_allowed = |c: char| c.is_ascii_alphanumeric() || "_-@.".contains(c);
        if !name.chars().all(is_allowed) {
            return Err(FileNameError::Characters);
        }
        Ok(Self(name.to_owned()))
    }
}

/// The text fields of a snippet in a request. `None` means not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnippetTexts<'a> {
    /// See [`Snippet::title`].
    pub title: Option<&'a str>,
    /// See [`Snippet::file_name`].
    pub file_name: Option<&'a str>,
    /// See [`NewSnippet::content`].
    pub content: Option<&'a str>,
}

/// Validated text fields of a snippet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParsedTexts {
    /// See [`Snippet::title`].
    pub title: Option<ShortText>,
    /// See [`Snippet::file_name`].
    pub file_name: Option<SnippetFileName>,
    /// See [`NewSnippet::content`].
    pub content: Option<LongText>,
}

impl SnippetTexts<'_> {
    /// Validates the given fields. Records all problems.
    pub fn parse(&self, errors: &mut FieldErrors) -> ParsedTexts {
        for (field, text) in [("title", self.title), ("content", self.content)] {
            if text.is_some_and(|text| text.trim().is_empty()) {
                errors.add(field, Blank);
            }
        }
        ParsedTexts {
            title: self.title.and_then(|text| errors.check("title", ShortText::parse(text))),
            file_name: (self.file_name)
                .and_then(|name| errors.check("file_name", SnippetFileName::parse(name))),
            content: self.content.and_then(|text| errors.check("content", LongText::parse(text))),
        }
    }
}

/// Parses the number of a visibility level. Administrators are told that an unknown level is not in the list, all others
/// that it is restricted.
/// # Errors
/// The error of the field `visibility_level`.
pub fn parse_visibility(level: i64, is_administrator: bool) -> Result<Visibility, FieldErrors> {
    Visibility::from_level(level).ok_or_else(|| {
        let text = match is_administrator {
            true => "is not included in the list",
            false => "unknown has been restricted by your GitLab administrator",
        };
        FieldErrors::single("visibility_level", text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn file_names_have_few_characters() {
        for (name, expected) in [
            ("", Ok(())),
            ("a.rb", Ok(())),
            ("A-z_0@9..", Ok(())),
            ("a b", Err(FileNameError::Characters)),
            ("a/b", Err(FileNameError::Characters)),
            ("ü", Err(FileNameError::Characters)),
            ("a\n", Err(FileNameError::Characters)),
        ] {
            assert_eq!(SnippetFileName::parse(name).map(drop), expected, "{name:?}");
        }
        assert!(SnippetFileName::parse(&"a".repeat(255)).is_ok());
        assert_eq!(
            SnippetFileName::parse(&"a".repeat(256)),
            Err(FileNameError::TooLong(TooLong(255)))
        );
    }

    #[test]
    fn all_problems_of_texts_are_recorded() {
        let long = "t".repeat(256);
        for (texts, title, file_name, content) in [
            (SnippetTexts::default(), &[][..], &[][..], &[][..]),
            (
                SnippetTexts { title: Some("t"), file_name: Some("f"), content: Some("c") },
                &[],
                &[],
                &[],
            ),
            (
                SnippetTexts { title: Some(" "), file_name: Some("/"), content: Some("\n") },
                &["can't be blank"],
                &["can contain only letters, digits, '_', '-', '@' and '.'."],
                &["can't be blank"],
            ),
            (
                SnippetTexts { title: Some(&long), ..SnippetTexts::default() },
                &["is too long (maximum is 255 characters)"],
                &[],
                &[],
            ),
        ] {
            let mut errors = FieldErrors::default();
            texts.parse(&mut errors);
            assert_eq!(errors.messages("title"), title, "{texts:?}");
            assert_eq!(errors.messages("file_name"), file_name, "{texts:?}");
            assert_eq!(errors.messages("content"), content, "{texts:?}");
        }
    }

    #[test]
    fn unknown_levels_are_refused_in_two_ways() {
        for (level, visibility) in
            [(0, Visibility::Private), (10, Visibility::Internal), (20, Visibility::Public)]
        {
            assert_eq!(parse_visibility(level, false), Ok(visibility));
        }
        for (is_administrator, text) in [
            (true, "is not included in the list"),
            (false, "unknown has been restricted by your GitLab administrator"),
        ] {
            for level in [-1, 5, 21] {
                let error = parse_visibility(level, is_administrator).expect_err("unknown");
                assert_eq!(error.messages("visibility_level"), [text], "{level}");
            }
        }
    }
}
