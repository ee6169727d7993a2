//! A push: the change of a branch or tag, as event feeds and hook payloads show it.

use chrono::{DateTime, FixedOffset};

use crate::branch::BranchName;
use crate::commit::ObjectId;
use crate::event::action::EventAction;
use crate::id::{ProjectId, UserId};
use crate::refs::reserved::is_reserved;
use crate::tag::TagName;
use crate::visibility::Visibility;

/// The maximum number of commits in an event.
pub const EVENT_COMMITS: usize = 20;

/// The maximum number of paths per kind and commit in an event.
pub const EVENT_PATHS: usize = 1000;

/// The maximum number of bytes of a message, name or annotation in an event.
pub const EVENT_TEXT_BYTES: usize = 64 * 1024;

/// Truncates a text to the length that events show.
pub fn truncated_for_event(text: String) -> String {
    truncate(text, EVENT_TEXT_BYTES)
}

/// Truncates a text to at most `longest` bytes, at a character boundary.
pub fn truncate(mut text: String, longest: usize) -> String {
    let mut end = longest.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text.shrink_to_fit();
    text
}

/// The change of one ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Push {
    /// The full name of the ref, with `refs/`.
    pub reference: String,
    /// The previous object id; zeros when the ref was created.
    pub before: ObjectId,
    /// The new object id; zeros when the ref was deleted.
    pub after: ObjectId,
    /// The commit that the ref points to after the change.
    pub checkout: Option<ObjectId>,
    /// The annotation of a new tag.
    pub message: Option<String>,
    /// The user who changed the ref.
    pub user: Pusher,
    /// The project.
    pub project: PushedProject,
    /// The newest of the pushed commits, oldest first.
    pub commits: Vec<PushedCommit>,
    /// The number of pushed commits, including those left out of `commits`.
    pub total_commits: u64,
    /// The hooks that receive the event.
    pub reach: HookScope,
}

/// The hooks that receive the event of a ref change.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HookScope {
    /// Project hooks and system hooks.
    #[default]
    Everywhere,
    /// Project hooks only. System hooks never received events of tags that were deleted through the
    /// API.
    Project,
}

/// The user who changed a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pusher {
    /// The user id.
    pub id: UserId,
    /// The display name.
    pub name: String,
    /// The primary e-mail address.
    pub email: String,
    /// File name of the uploaded avatar.
    pub avatar: Option<String>,
}

/// The project of a push at the time of the push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedProject {
    /// Its id.
    pub id: ProjectId,
    /// Its name.
    pub name: String,
    /// The description.
    pub description: Option<String>,
    /// File name of the uploaded avatar.
    pub avatar: Option<String>,
    /// The name of its namespace.
    pub namespace: String,
    /// The visibility level.
    pub visibility: Visibility,
    /// The full path.
    pub path_with_namespace: String,
    /// The default branch.
    pub default_branch: Option<String>,
}

/// A commit of a push.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PushedCommit {
    /// The object id.
    pub id: ObjectId,
    /// The message, truncated by [`truncated_for_event`].
    pub message: String,
    /// The commit time.
    pub at: DateTime<FixedOffset>,
    /// The author's name.
    pub author_name: String,
    /// The author's e-mail address.
    pub author_email: String,
    /// The files that the commit changed.
    pub paths: ChangedPaths,
}

/// The files that a commit changed, compared with its first parent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedPaths {
    /// New files, and the new paths of renamed files.
    pub added: Vec<String>,
    /// Files whose content or mode changed.
    pub modified: Vec<String>,
    /// Deleted files.
    pub removed: Vec<String>,
}

/// The kind of a ref.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RefKind {
    /// A branch.
    Branch(BranchName),
    /// A tag.
    Tag(TagName),
    /// A ref that only the service itself changes, such as the head of a merge request. Its changes create no events.
    Reserved,
    /// Any other ref. Its changes create no events.
    Other,
}

impl RefKind {
    /// Classifies a ref by its full name.
    pub fn of(full_name: &str) -> Self {
        if let Some(name) = full_name.strip_prefix(BranchName::FOLDER) {
            return BranchName::parse(name).map_or(RefKind::Other, RefKind::Branch);
        }
        if let Some(name) = full_name.strip_prefix(TagName::FOLDER) {
            return TagName::parse(name).map_or(RefKind::Other, RefKind::Tag);
        }
        if is_reserved(full_name) { RefKind::Reserved } else { RefKind::Other }
    }
}

impl Push {
    /// The action of the push in event feeds.
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
        for (text, longest, expected) in [("abc", 3, "abc"), ("abc", 2, "ab"), ("aß", 2, "a")] {
            assert_eq!(truncate(text.to_owned(), longest), expected);
        }
        assert_eq!(truncated_for_event("ß".repeat(EVENT_TEXT_BYTES)).len(), EVENT_TEXT_BYTES);
    }

    #[test]
    fn kinds_of_refs() {
        let branch = BranchName::parse("a/b").expect("a name");
        assert_eq!(RefKind::of("refs/heads/a/b"), RefKind::Branch(branch));
        let tag = TagName::parse("v1").expect("a name");
        assert_eq!(RefKind::of("refs/tags/v1"), RefKind::Tag(tag));
        for reserved in ["refs/merge-requests/1/head", "refs/keep-around/x"] {
            assert_eq!(RefKind::of(reserved), RefKind::Reserved, "{reserved}");
        }
        for other in ["refs/notes/x", "refs/heads/", "refs/heads/a b", "HEAD", ""] {
            assert_eq!(RefKind::of(other), RefKind::Other, "{other}");
        }
    }
}
