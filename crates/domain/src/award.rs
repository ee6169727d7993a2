//! Awards: emoji that users give to issues, merge requests, snippets and the notes on them.

pub mod emoji;
pub mod port;

pub use emoji::EmojiName;

use crate::Timestamp;
use crate::id::{AwardId, IssueId, MergeRequestId, NoteId, SnippetId, UserId};
use crate::issuable::Issuable;

/// The target of an award.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Awardable {
    /// An issue.
    Issue(IssueId),
    /// A merge request.
    MergeRequest(MergeRequestId),
    /// A snippet of a project.
    Snippet(SnippetId),
    /// A note on an issue, merge request or snippet.
    Note(NoteId),
}

impl Awardable {
    /// The global id, which is unique among the targets of the same type.
    pub fn id(self) -> i64 {
        match self {
            Awardable::Issue(issue) => issue.0,
            Awardable::MergeRequest(merge_request) => merge_request.0,
            Awardable::Snippet(snippet) => snippet.0,
            Awardable::Note(note) => note.0,
        }
    }

    /// The name of the type in the API.
    pub fn type_name(self) -> &'static str {
        match self {
            Awardable::Issue(_) => "Issue",
            Awardable::MergeRequest(_) => "MergeRequest",
            Awardable::Snippet(_) => "Snippet",
            Awardable::Note(_) => "Note",
        }
    }
}

impl From<Issuable> for Awardable {
    fn from(issuable: Issuable) -> Self {
        match issuable {
            Issuable::Issue(issue) => Awardable::Issue(issue),
            Issuable::MergeRequest(merge_request) => Awardable::MergeRequest(merge_request),
        }
    }
}

impl From<SnippetId> for Awardable {
    fn from(snippet: SnippetId) -> Self {
        Awardable::Snippet(snippet)
    }
}

impl From<NoteId> for Awardable {
    fn from(note: NoteId) -> Self {
        Awardable::Note(note)
    }
}

/// An award as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Award {
    /// Assigned by the store, never reused.
    pub id: AwardId,
    /// The awarded issue, merge request, snippet or note.
    pub on: Awardable,
    /// The user who gave the award.
    pub user: UserId,
    /// The emoji. A user can give each emoji once to a target.
    pub name: EmojiName,
    /// The creation time.
    pub created_at: Timestamp,
}

/// The input for a new award.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAward {
    /// See [`Award::on`].
    pub on: Awardable,
    /// See [`Award::user`].
    pub user: UserId,
    /// See [`Award::name`].
    pub name: EmojiName,
    /// See [`Award::created_at`].
    pub at: Timestamp,
}

/// The votes for and against an issue or merge request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Votes {
    /// The number of [`emoji::THUMBS_UP`] awards.
    pub up: u32,
    /// The number of [`emoji::THUMBS_DOWN`] awards.
    pub down: u32,
}
