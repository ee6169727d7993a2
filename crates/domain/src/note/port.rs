//! The port to the stored notes.

use super::{NewNote, Note};
use crate::id::{IssueId, NoteId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;

/// The notes on all issues. Whoever changes one holds the project. The number of notes that people
/// wrote on an issue is kept right by the same calls.
pub trait Notes {
    /// Notes on an issue, oldest first.
    fn list(&mut self, issue: IssueId, page: Page) -> Result<Paged<Note>, StoreError>;

    /// The note of that id, if it is on that issue.
    fn find(&mut self, issue: IssueId, id: NoteId) -> Result<Option<Note>, StoreError>;

    /// The notes of these ids, in no particular order.
    fn find_all(&mut self, ids: &[NoteId]) -> Result<Vec<Note>, StoreError>;

    /// Writes a note.
    fn insert(&mut self, new: NewNote) -> Result<Note, StoreError>;

    /// Stores what a note says, who changed it and when.
    fn update(&mut self, note: &Note) -> Result<(), StoreError>;

    /// Removes a note with the events about it.
    fn delete(&mut self, note: &Note) -> Result<(), StoreError>;
}
