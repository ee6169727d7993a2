//! Names of branches and tags: the rules of git, and stricter rules for new names.

use std::fmt;

use crate::text::limit;

/// The maximum length of a name in bytes.
const LONGEST: usize = limit::REF_NAME;

/// The maximum length of each part between slashes in bytes. All file systems can store such parts.
const LONGEST_PART: usize = 250;

/// Checks a name without `refs/heads/` or `refs/tags/` by the rules of git.
fn check(name: &str) -> Result<(), InvalidRefName> {
    if name.is_empty() || name.len() > LONGEST || name.ends_with('.') {
        return Err(InvalidRefName);
    }
    if name.contains("..") || name.contains("@{") {
        return Err(InvalidRefName);
    }
    let forbidden = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    if name.contains(forbidden) {
        return Err(InvalidRefName);
    }
    let is_bad_part = |part: &str| {
        let is_bad_length = !(1..=LONGEST_PART).contains(&part.len());
        is_bad_length || part.starts_with('.') || part.ends_with(".lock")
    };
    if name.split('/').any(is_bad_part) { Err(InvalidRefName) } else { Ok(()) }
}

/// Checks the name of a new ref. Some names that the rules of git allow are refused, because git
/// commands read them as an option or as another ref.
fn check_new(name: &str) -> Result<(), InvalidRefName> {
    if name.starts_with('-') || name == "@" || name == "HEAD" {
        return Err(InvalidRefName);
    }
    check(name)
}

/// Error for an invalid branch or tag name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is not a valid branch or tag name")]
pub struct InvalidRefName;

/// Implements the name of one kind of refs. `$folder` is the prefix of their full names.
macro_rules! ref_name {
    ($name:ident, $folder:literal) => {
        crate::text::stored_text!($name);

        impl $name {
            /// The prefix of the full names.
            pub const FOLDER: &'static str = $folder;

            /// Parses a name that git allows.
            pub fn parse(name: &str) -> Result<Self, InvalidRefName> {
                check(name).map(|()| Self(name.to_owned()))
            }

            /// Parses a name that a new ref may have.
            pub fn parse_new(name: &str) -> Result<Self, InvalidRefName> {
                check_new(name).map(|()| Self(name.to_owned()))
            }

            /// The full name, with [`FOLDER`](Self::FOLDER).
            pub fn full(&self) -> String {
                format!("{}{}", Self::FOLDER, self.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

/// The name of a branch, without `refs/heads/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchName(String);

ref_name!(BranchName, "refs/heads/");

/// The name of a tag, without `refs/tags/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagName(String);

ref_name!(TagName, "refs/tags/");

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_rules_of_git() {
        let longest = "x".repeat(LONGEST_PART);
        for good in ["master", "feature/x", "with.1.2.3", "ünï", "a@b", "refs/heads/x", &longest]
        {
            assert!(BranchName::parse_new(good).is_ok(), "{good}");
        }
        let too_long = "x".repeat(LONGEST_PART + 1);
        let too_deep = "x/".repeat(LONGEST / 2) + "x";
        for bad in [
            "", "..", "a..b", "a b", "a~b", "a^b", "a:b", "a?b", "a*b", "a[b", "a\\b", "a\u{7f}b",
            "a\nb", "a\0b", "/a", "a/", "a//b", "a.", "a.lock", "a.lock/b", ".a", "a/.b", "a@{b",
            &too_long, &too_deep,
        ] {
            assert_eq!(TagName::parse(bad), Err(InvalidRefName), "{bad:?}");
        }
    }

    #[test]
    fn new_names_are_not_read_as_options_or_other_refs() {
        for name in ["-x", "@", "HEAD"] {
            assert!(BranchName::parse(name).is_ok(), "{name}");
            assert_eq!(BranchName::parse_new(name), Err(InvalidRefName), "{name}");
        }
    }
}
