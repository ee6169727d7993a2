//! The port to the stored notes.

use super::{NewNote, Note, NoteSource, Noteable};
use crate::id::{MergeRequestId, NoteId, ProjectId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;
use crate::project::query::Viewer;
use chrono::NaiveDate;

/// A reader whose view of notes is restricted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoteReader {
    /// The viewer.
    pub viewer: Viewer,
    /// The date on which memberships and shares must be in force.
    pub today: NaiveDate,
}

/// The notes on all issues, merge requests and commits. The caller locks the project before a
/// change. Each change also updates the note count of the issue or merge request.
pub trait Notes {
    /// Returns a page of the notes on an issue, merge request or commit, oldest first. With a reader,
    /// notes about a mention are left out if the reader may not see the source of the mention: its
    /// project, and in that project the mentioning issue, the mentioning merge request or the code.
    fn list(
        &mut self,
        on: Noteable,
        reader: Option<NoteReader>,
        page: Page,
    ) -> Result<Paged<Note>, StoreError>;

    /// Returns the note with this id if it is on this subject and the reader may see it as in
    /// [`list`](Self::list).
    fn find(
        &mut self,
        on: Noteable,
        id: NoteId,
        reader: Option<NoteReader>,
    ) -> Result<Option<Note>, StoreError>;

    /// Returns those of these subjects that already have a note about a mention by `source`.
    fn mentioned_by(
        &mut self,
        source: NoteSource,
        among: &[Noteable],
    ) -> Result<Vec<Noteable>, StoreError>;

    /// Returns up to `limit` merge requests of a project that mentioned a subject and that the reader may see, those
    /// that mentioned it last first.
    fn mentioning_requests(
        &mut self,
        on: Noteable,
        project: ProjectId,
        reader: Option<NoteReader>,
        limit: u32,
    ) -> Result<Vec<MergeRequestId>, StoreError>;

    /// Returns up to `limit` notes on lines of the changes of a merge request, newest first.
    fn on_lines(&mut self, request: MergeRequestId, limit: u32) -> Result<Vec<Note>, StoreError>;

    /// Returns the notes with these ids, in no particular order.
    fn find_all(&mut self, ids: &[NoteId]) -> Result<Vec<Note>, StoreError>;

    /// Creates a note.
    /// # Errors
    /// [`StoreError::Duplicate`]`("source")` when the subject already has a note about a mention by
    /// the same source. [`StoreError::Gone`] when the issue or merge request does not exist.
    fn insert(&mut self, new: NewNote) -> Result<Note, StoreError>;

    /// Stores the text, the editor and the update time of a note.
    fn update(&mut self, note: &Note) -> Result<(), StoreError>;

    /// Deletes a note with its awards and the events about it.
    fn delete(&mut self, note: &Note) -> Result<(), StoreError>;
}
