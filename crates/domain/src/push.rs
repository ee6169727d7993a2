//! What a change of a branch or tag was, as feeds and hooks tell it.

use chrono::{DateTime, FixedOffset};

use crate::branch::BranchName;
use crate::commit::ObjectId;
use crate::event::EventAction;
use crate::id::{ProjectId, UserId};
use crate::tag::TagName;
use crate::visibility::Visibility;

/// How many of the commits of a push are told.
pub const TOLD_COMMITS: usize = 20;

/// How many paths of each kind are told of a commit.
pub const TOLD_PATHS: usize = 1000;

/// How many bytes of a message, a name or an annotation are told.
pub const TOLD_TEXT: usize = 64 * 1024;

/// As much of a text as is told.
pub fn told_text(text: String) -> String {
    cut(text, TOLD_TEXT)
}

/// The beginning of a text, of at most so many bytes.
pub fn cut(mut text: String, longest: usize) -> String {
    let mut end = longest.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text.shrink_to_fit();
    text
}

/// One ref that was changed by somebody.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    /// With `refs/`.
    pub reference: String,
    /// What it was; zeros when it did not exist.
    pub before: ObjectId,
    /// What it is; zeros when it is gone.
    pub after: ObjectId,
    /// The commit that is there now.
    pub checkout: Option<ObjectId>,
    /// The annotation of a new tag.
    pub message: Option<String>,
    /// Who did it.
    pub user: Pusher,
    /// Where.
    pub project: PushedProject,
    /// The newest of the commits that came, oldest first.
    pub commits: Vec<PushedCommit>,
    /// How many came in all.
    pub total_commits: u64,
    /// Who hears of it.
    pub reach: Reach,
}

/// Who hears of a change of a ref.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reach {
    /// The project and the service.
    #[default]
    Everywhere,
    /// The project only: system hooks never heard of tags that were removed through the interface.
    Project,
}

/// Who changed a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pusher {
    /// The account.
    pub id: UserId,
    /// Its name.
    pub name: String,
    /// Its primary address.
    pub email: String,
    /// File name of its picture.
    pub avatar: Option<String>,
}

/// The project of a push, as it was then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedProject {
    /// Its id.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// What it is about.
    pub description: Option<String>,
    /// File name of its picture.
    pub avatar: Option<String>,
    /// The name of its namespace.
    pub namespace: String,
    /// Who sees it.
    pub visibility: Visibility,
    /// Its whole path.
    pub path_with_namespace: String,
    /// The branch shown when none is asked for.
    pub default_branch: Option<String>,
}

/// A commit of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedCommit {
    /// Its name.
    pub id: ObjectId,
    /// The message, as far as it is [told](told_text).
    pub message: String,
    /// When it was committed.
    pub at: DateTime<FixedOffset>,
    /// The author's name.
    pub author_name: String,
    /// The author's address.
    pub author_email: String,
    /// What it did to files.
    pub paths: ChangedPaths,
}

/// What a commit did to files, against its first parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedPaths {
    /// New ones, and the new places of moved ones.
    pub added: Vec<String>,
    /// Those with another content or mode.
    pub modified: Vec<String>,
    /// Those that are gone.
    pub removed: Vec<String>,
}

/// What kind of ref it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefKind {
    /// A branch.
    Branch(BranchName),
    /// A tag.
    Tag(TagName),
    /// Anything else, of which nobody is told.
    Other,
}

impl RefKind {
    /// The kind of a ref by its full name.
    pub fn of(full_name: &str) -> Self {
        if let Some(name) = full_name.strip_prefix(BranchName::FOLDER) {
            return BranchName::parse(name).map_or(RefKind::Other, RefKind::Branch);
        }
        if let Some(name) = full_name.strip_prefix(TagName::FOLDER) {
            return TagName::parse(name).map_or(RefKind::Other, RefKind::Tag);
        }
        RefKind::Other
    }
}

impl Push {
    /// The word that feeds have for it.
    pub fn action(&self) -> EventAction {
        match (self.before == ObjectId::ZERO, self.after == ObjectId::ZERO) {
            (true, _) => EventAction::PushedNew,
            (false, true) => EventAction::Deleted,
            (false, false) => EventAction::PushedTo,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_between_characters() {
        for (text, longest, told) in [("abc", 3, "abc"), ("abc", 2, "ab"), ("aß", 2, "a")] {
            assert_eq!(cut(text.to_owned(), longest), told);
        }
        assert_eq!(told_text("ß".repeat(TOLD_TEXT)).len(), TOLD_TEXT);
    }

    #[test]
    fn kinds_of_refs() {
        let branch = BranchName::parse("a/b").expect("a name");
        assert_eq!(RefKind::of("refs/heads/a/b"), RefKind::Branch(branch));
        let tag = TagName::parse("v1").expect("a name");
        assert_eq!(RefKind::of("refs/tags/v1"), RefKind::Tag(tag));
        for other in ["refs/notes/x", "refs/heads/", "refs/heads/a b", "HEAD", ""] {
            assert_eq!(RefKind::of(other), RefKind::Other, "{other}");
        }
    }
}
