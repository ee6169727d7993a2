//! Names of branches and tags: what git allows, and what could be taken for something else.

use std::fmt;

use crate::text::limit;

/// The longest name, and the longest part of one between slashes, that file systems are sure to keep.
const LONGEST: usize = limit::REF_NAME;
const LONGEST_PART: usize = 250;

/// Checks what follows `refs/heads/` or `refs/tags/` by the rules of git.
fn check(name: &str) -> Result<(), BadRefName> {
    if name.is_empty() || name.len() > LONGEST || name.ends_with('.') {
        return Err(BadRefName);
    }
    if name.contains("..") || name.contains("@{") {
        return Err(BadRefName);
    }
    let forbidden = |c: char| c.is_ascii_control() || " ~^:?*[\\".contains(c);
    if name.contains(forbidden) {
        return Err(BadRefName);
    }
    let bad_part = |part: &str| {
        let length = !(1..=LONGEST_PART).contains(&part.len());
        length || part.starts_with('.') || part.ends_with(".lock")
    };
    if name.split('/').any(bad_part) { Err(BadRefName) } else { Ok(()) }
}

/// Checks a name for something new: git's own commands would take some names that it allows for an option
/// or for another thing.
fn check_new(name: &str) -> Result<(), BadRefName> {
    if name.starts_with('-') || name == "@" || name == "HEAD" {
        return Err(BadRefName);
    }
    check(name)
}

/// No name for a branch or a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("is no name of a branch or tag")]
pub struct BadRefName;

/// The name of a branch, without `refs/heads/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BranchName(String);

impl BranchName {
    /// Where git keeps branches.
    pub const FOLDER: &'static str = "refs/heads/";

    /// Takes a name that git allows.
    pub fn parse(name: &str) -> Result<Self, BadRefName> {
        check(name).map(|()| Self(name.to_owned()))
    }

    /// Takes a name that a new branch may have.
    pub fn parse_new(name: &str) -> Result<Self, BadRefName> {
        check_new(name).map(|()| Self(name.to_owned()))
    }

    /// The name of one that is there already.
    pub fn of_stored(name: String) -> Self {
        Self(name)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as git knows it.
    pub fn full(&self) -> String {
        format!("{}{}", Self::FOLDER, self.0)
    }
}

impl fmt::Display for BranchName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The name of a tag, without `refs/tags/`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TagName(String);

impl TagName {
    /// Where git keeps tags.
    pub const FOLDER: &'static str = "refs/tags/";

    /// Takes a name that git allows.
    pub fn parse(name: &str) -> Result<Self, BadRefName> {
        check(name).map(|()| Self(name.to_owned()))
    }

    /// Takes a name that a new tag may have.
    pub fn parse_new(name: &str) -> Result<Self, BadRefName> {
        check_new(name).map(|()| Self(name.to_owned()))
    }

    /// The name of one that is there already.
    pub fn of_stored(name: String) -> Self {
        Self(name)
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name as git knows it.
    pub fn full(&self) -> String {
        format!("{}{}", Self::FOLDER, self.0)
    }
}

impl fmt::Display for TagName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

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
            assert_eq!(TagName::parse(bad), Err(BadRefName), "{bad:?}");
        }
    }

    #[test]
    fn new_names_cannot_be_taken_for_something_else() {
        for name in ["-x", "@", "HEAD"] {
            assert!(BranchName::parse(name).is_ok(), "{name}");
            assert_eq!(BranchName::parse_new(name), Err(BadRefName), "{name}");
        }
    }
}
