//! The notes in memory.

use super::tx::FakeTx;
use crate::id::{IssueId, NoteId};
use crate::note::port::Notes;
use crate::note::{NewNote, Note};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;

impl Notes for FakeTx {
    fn list(&mut self, issue: IssueId, page: Page) -> Result<Paged<Note>, StoreError> {
        let oldest_first = self.tables.notes.iter().filter(|note| note.issue == issue);
        Ok(page.cut(oldest_first.cloned().collect()))
    }

    fn find(&mut self, issue: IssueId, id: NoteId) -> Result<Option<Note>, StoreError> {
        let mut all = self.tables.notes.iter();
        Ok(all.find(|note| note.issue == issue && note.id == id).cloned())
    }

    fn find_all(&mut self, ids: &[NoteId]) -> Result<Vec<Note>, StoreError> {
        let all = self.tables.notes.iter();
        Ok(all.filter(|note| ids.contains(&note.id)).cloned().collect())
    }

    fn insert(&mut self, new: NewNote) -> Result<Note, StoreError> {
        self.require(new.author)?;
        if !self.tables.issues.iter().any(|issue| issue.id == new.issue) {
            return self.refuse(StoreError::Gone);
        }
        let note = Note {
            id: NoteId(self.next_id()),
            project: new.project,
            issue: new.issue,
            author: new.author,
            updated_by: None,
            body: new.body,
            system: new.system,
            created_at: new.created_at,
            updated_at: new.at,
        };
        self.tables.notes.push(note.clone());
        Ok(note)
    }

    fn update(&mut self, note: &Note) -> Result<(), StoreError> {
        if let Some(row) = self.tables.notes.iter_mut().find(|row| row.id == note.id) {
            row.body = note.body.clone();
            (row.updated_by, row.updated_at) = (note.updated_by, note.updated_at);
        }
        Ok(())
    }

    fn delete(&mut self, note: &Note) -> Result<(), StoreError> {
        self.tables.remove_note(note.id);
        Ok(())
    }
}
