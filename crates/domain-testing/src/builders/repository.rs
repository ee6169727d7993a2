//! Builders of branches, tags, releases and repository tasks.

use hexforge_domain::branch::protection::DeveloperRights;
use hexforge_domain::branch::{BranchName, Protection};
use hexforge_domain::id::UserId;
use hexforge_domain::repository::task::TaskKind;
use hexforge_domain::tag::{Release, TagName};
use hexforge_domain::text::Secret;

/// Parses the name of a branch. Panics if it is invalid.
pub fn a_branch(name: &str) -> BranchName {
    BranchName::parse(name).expect("tests use valid names of branches")
}

/// Parses the name of a tag. Panics if it is invalid.
pub fn a_tag(name: &str) -> TagName {
    TagName::parse(name).expect("tests use valid names of tags")
}

/// A branch protection that gives developers no rights.
pub fn a_protection(pattern: &str) -> Protection {
    Protection { pattern: pattern.to_owned(), developers: DeveloperRights::default() }
}

/// A release of this tag.
pub fn a_release(tag: &str, description: &str) -> Release {
    Release { tag: a_tag(tag), description: description.to_owned() }
}

/// An import from a URL with credentials.
pub fn an_import(user: UserId) -> TaskKind {
    TaskKind::Import { url: Secret::new("https://ada:secret42@example.com/site.git"), user }
}
