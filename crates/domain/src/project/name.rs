//! The name and the path of a project.

use crate::group::name::is_dash;
use crate::namespace::is_well_formed;
use crate::text::{Blank, TooLong, limit, within};

/// The display name of a project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectName(String);

crate::text::stored_text!(ProjectName);

impl ProjectName {
    /// Parses a name: it begins with a letter or digit of any script, `_` or an emoji, and continues with these,
    /// dashes, `.` and spaces.
    pub fn parse(name: &str) -> Result<Self, ProjectNameError> {
        if name.trim().is_empty() {
            return Err(Blank.into());
        }
        within(name, limit::SHORT)?;
        let mut chars = name.chars();
        let starts_well = chars.next().is_some_and(may_start_name);
        let continues_well =
            chars.all(|c| may_start_name(c) || is_dash(c) || matches!(c, '.' | ' '));
        if starts_well && continues_well {
            Ok(Self(name.to_owned()))
        } else {
            Err(ProjectNameError::Format)
        }
    }
}

fn may_start_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || ('\u{a9}'..='\u{1f9c0}').contains(&c)
}

/// Why a text is not a valid project name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProjectNameError {
    /// The name is blank.
    #[error(transparent)]
    Blank(#[from] Blank),
    /// Too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The name contains a character that is not allowed, or not allowed at the beginning.
    #[error(
        "can contain only letters, digits, emojis, '_', '.', dash, space. \
         It must start with letter, digit, emoji or '_'."
    )]
    Format,
}

/// The name of a project in URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectPath(String);

crate::text::stored_text!(ProjectPath);

impl ProjectPath {
    /// Parses a path: letters, digits, `_`, `-` and `.`; it must not begin with `-` nor end in `.git` or `.atom`.
    pub fn parse(path: &str) -> Result<Self, ProjectPathError> {
        if path.trim().is_empty() {
            return Err(Blank.into());
        }
        within(path, limit::SHORT)?;
        // A URL segment must not be `.` or `..`.
        let is_valid = is_well_formed(path) && path.chars().any(|c| c != '.');
        if is_valid { Ok(Self(path.to_owned())) } else { Err(ProjectPathError::Format) }
    }

    /// Derives a path from a name: transliterated to ASCII, in lower case, with one dash for each run of other
    /// characters.
    pub fn from_name(name: &str) -> Result<Self, ProjectPathError> {
        let mut path = String::with_capacity(name.len());
        for c in name.chars() {
            for c in transliterate(c).chars() {
                if c.is_ascii_alphanumeric() || c == '_' {
                    path.push(c.to_ascii_lowercase());
                } else if !path.ends_with('-') {
                    path.push('-');
                }
            }
        }
        Self::parse(path.trim_matches('-'))
    }

    /// The path in lower case, in which form it is unique.
    pub fn folded(&self) -> String {
        self.0.to_ascii_lowercase()
    }
}

/// Why a text is not a valid project path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProjectPathError {
    /// The path is blank.
    #[error(transparent)]
    Blank(#[from] Blank),
    /// Too long.
    #[error(transparent)]
    TooLong(#[from] TooLong),
    /// The path contains a character, a beginning or an ending that is not allowed.
    #[error(
        "can contain only letters, digits, '_', '-' and '.'. \
         Cannot start with '-', end in '.git' or end in '.atom'"
    )]
    Format,
}

/// Latin letters with diacritics, and their ASCII transliteration.
const LATIN: [(&str, &str); 24] = [
    ("ÀÁÂÃÄÅĀĂĄ", "A"),
    ("àáâãäåāăą", "a"),
    ("ÇĆĈĊČçćĉċč", "c"),
    ("ÐĎĐðďđ", "d"),
    ("ÈÉÊËĒĔĖĘĚèéêëēĕėęě", "e"),
    ("ĜĞĠĢĝğġģ", "g"),
    ("ĤĦĥħ", "h"),
    ("ÌÍÎÏĨĪĬĮİìíîïĩīĭįı", "i"),
    ("Ĵĵ", "j"),
    ("Ķķĸ", "k"),
    ("ĹĻĽĿŁĺļľŀł", "l"),
    ("ÑŃŅŇŊñńņňŉŋ", "n"),
    ("ÒÓÔÕÖØŌŎŐòóôõöøōŏő", "o"),
    ("ŔŖŘŕŗř", "r"),
    ("ŚŜŞŠśŝşšſ", "s"),
    ("ŢŤŦţťŧ", "t"),
    ("ÙÚÛÜŨŪŬŮŰŲùúûüũūŭůűų", "u"),
    ("Ŵŵ", "w"),
    ("ÝŶŸýÿŷ", "y"),
    ("ŹŻŽźżž", "z"),
    ("Ææ", "ae"),
    ("Œœ", "oe"),
    ("Þþ", "th"),
    ("ß", "ss"),
];

/// Transliterates a character to ASCII. A character without a transliteration becomes `-`.
fn transliterate(c: char) -> String {
    if c.is_ascii() {
        return c.to_string();
    }
    let found = LATIN.iter().find(|(letters, _)| letters.contains(c));
    found.map_or_else(|| "-".to_owned(), |(_, plain)| (*plain).to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_begin_with_letter_digit_emoji_or_underscore() {
        for name in ["Foo", "7up", "_x", "🦀 crab", "日本語", "a - b.c", "Ünïcode"] {
            assert!(ProjectName::parse(name).is_ok(), "{name}");
        }
        for name in ["-a", ".a", "a/b", "a\nb", "<b>", " a", "a&b"] {
            assert_eq!(ProjectName::parse(name), Err(ProjectNameError::Format), "{name}");
        }
    }

    #[test]
    fn paths_are_derived_from_names() {
        for (name, path) in [
            ("Foo Bar 2.0", "foo-bar-2-0"),
            ("My_Lib", "my_lib"),
            ("camelCase", "camelcase"),
            ("Größe", "grosse"),
            ("a & b", "a-b"),
            ("a - b", "a-b"),
            ("🦀 crab", "crab"),
        ] {
            let made = ProjectPath::from_name(name);
            assert_eq!(made.as_ref().map(ProjectPath::as_str), Ok(path), "{name}");
        }
        assert_eq!(ProjectPath::from_name("日本語"), Err(ProjectPathError::Blank(Blank)));
    }

    #[test]
    fn paths_follow_the_rules_of_the_reference() {
        for path in ["a", ".a", "a.", "_", "camelCasePath", "a-b.c_d"] {
            assert!(ProjectPath::parse(path).is_ok(), "{path}");
        }
        for path in ["-a", "a.git", "a.atom", "a/b", "a b", "ä", ".", ".."] {
            assert_eq!(ProjectPath::parse(path), Err(ProjectPathError::Format), "{path}");
        }
    }
}
