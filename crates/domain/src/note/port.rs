//! The port to the stored notes.

use super::{NewNote, Note, NoteSource};
use crate::id::{IssueId, NoteId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;
use crate::project::query::Viewer;
use chrono::NaiveDate;

/// Somebody who does not see everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoteReader {
    /// Who.
    pub viewer: Viewer,
    /// The day on which memberships and shares have to be in force.
    pub today: NaiveDate,
}

/// The notes on all issues. Whoever changes one holds the project. The number of notes that people
/// wrote on an issue is kept right by the same calls.
pub trait Notes {
    /// Notes on an issue, oldest first. Of those that tell where it was mentioned, a reader gets as many as
    /// it can follow: it sees the project, and there the issue if it is one, or the code.
    fn list(
        &mut self,
        issue: IssueId,
        reader: Option<NoteReader>,
        page: Page,
    ) -> Result<Paged<Note>, StoreError>;

    /// The note of that id, if it is on that issue, and with the same care for a reader.
    fn find(
        &mut self,
        issue: IssueId,
        id: NoteId,
        reader: Option<NoteReader>,
    ) -> Result<Option<Note>, StoreError>;

    /// Of these issues, those on which a note tells already that they were mentioned there.
    fn mentioned_by(
        &mut self,
        source: NoteSource,
        issues: &[IssueId],
    ) -> Result<Vec<IssueId>, StoreError>;

    /// The notes of these ids, in no particular order.
    fn find_all(&mut self, ids: &[NoteId]) -> Result<Vec<Note>, StoreError>;

    /// Writes a note.
    /// # Errors
    /// [`StoreError::Duplicate`]`("source")` when one tells already that the issue was mentioned there.
    fn insert(&mut self, new: NewNote) -> Result<Note, StoreError>;

    /// Stores what a note says, who changed it and when.
    fn update(&mut self, note: &Note) -> Result<(), StoreError>;

    /// Removes a note with the events about it.
    fn delete(&mut self, note: &Note) -> Result<(), StoreError>;
}
