//! The port to the stored notes.

use super::{NewNote, Note, NoteSource};
use crate::id::{IssueId, NoteId};
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

/// The notes on all issues. The caller locks the project before a change. Each change also updates
/// the note count of the issue.
pub trait Notes {
    /// Returns a page of the notes on an issue, oldest first. With a reader, notes about a mention
    /// are left out if the reader may not see the source of the mention: its project, and in that
    /// project the mentioning issue or the code.
    fn list(
        &mut self,
        issue: IssueId,
        reader: Option<NoteReader>,
        page: Page,
    ) -> Result<Paged<Note>, StoreError>;

    /// Returns the note with this id if it is on the issue and the reader may see it as in
    /// [`list`](Self::list).
    fn find(
        &mut self,
        issue: IssueId,
        id: NoteId,
        reader: Option<NoteReader>,
    ) -> Result<Option<Note>, StoreError>;

    /// Returns those of these issues that already have a note about a mention by `source`.
    fn mentioned_by(
        &mut self,
        source: NoteSource,
        issues: &[IssueId],
    ) -> Result<Vec<IssueId>, StoreError>;

    /// Returns the notes with these ids, in no particular order.
    fn find_all(&mut self, ids: &[NoteId]) -> Result<Vec<Note>, StoreError>;

    /// Creates a note.
    /// # Errors
    /// [`StoreError::Duplicate`]`("source")` when the issue already has a note about a mention by
    /// the same source.
    fn insert(&mut self, new: NewNote) -> Result<Note, StoreError>;

    /// Stores the text, the editor and the update time of a note.
    fn update(&mut self, note: &Note) -> Result<(), StoreError>;

    /// Deletes a note with the events about it.
    fn delete(&mut self, note: &Note) -> Result<(), StoreError>;
}
