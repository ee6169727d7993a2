//! Fake of the notes.

use super::access::is_open;
use super::tx::{FakeTx, Tables};
use hexforge_domain::id::{IssueId, NoteId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::note::port::{NoteReader, Notes};
use hexforge_domain::note::{NewNote, Note, NoteSource};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

impl Tables {
    /// Returns whether a reader may see the source of a note about a mention. Other notes are
    /// always visible.
    fn may_see_source(&self, reader: Option<NoteReader>, note: &Note) -> bool {
        let Some(source) = note.source else { return true };
        let Some(project) = self.projects.get(&source.project()) else { return false };
        let issue = match source {
            NoteSource::Commit { .. } => None,
            NoteSource::Issue { issue, .. } => {
                let Some(issue) = self.issues.iter().find(|other| other.id == issue) else {
                    return false;
                };
                Some(issue)
            }
        };
        let Some(NoteReader { viewer, today }) = reader else { return true };
        match issue {
            Some(issue) => {
                let clearance = Clearance::ByRole(viewer.user);
                project.features.issues
                    && self.sees(viewer, project, today)
                    && self.is_cleared(issue, clearance, today)
            }
            None => {
                let role = self.role(project, viewer.user, today);
                is_open(project.visibility, viewer.external)
                    || role.owner
                    || role.level >= Some(AccessLevel::Reporter)
            }
        }
    }
}

impl Notes for FakeTx {
    fn list(
        &mut self,
        issue: IssueId,
        reader: Option<NoteReader>,
        page: Page,
    ) -> Result<Paged<Note>, StoreError> {
        let oldest_first = self.tables.notes.iter().filter(|note| note.issue == issue);
        let followed = oldest_first.filter(|note| self.tables.may_see_source(reader, note));
        Ok(page.slice(followed.cloned().collect()))
    }

    fn find(
        &mut self,
        issue: IssueId,
        id: NoteId,
        reader: Option<NoteReader>,
    ) -> Result<Option<Note>, StoreError> {
        let mut all = self.tables.notes.iter();
        let found = all.find(|note| note.issue == issue && note.id == id);
        Ok(found.filter(|note| self.tables.may_see_source(reader, note)).cloned())
    }

    fn mentioned_by(
        &mut self,
        source: NoteSource,
        issues: &[IssueId],
    ) -> Result<Vec<IssueId>, StoreError> {
        let matching = self.tables.notes.iter().filter(|note| note.source == Some(source));
        Ok(matching.map(|note| note.issue).filter(|issue| issues.contains(issue)).collect())
    }

    fn find_all(&mut self, ids: &[NoteId]) -> Result<Vec<Note>, StoreError> {
        let all = self.tables.notes.iter();
        Ok(all.filter(|note| ids.contains(&note.id)).cloned().collect())
    }

    fn insert(&mut self, new: NewNote) -> Result<Note, StoreError> {
        self.require_user(new.author)?;
        if !self.tables.issues.iter().any(|issue| issue.id == new.issue) {
            return self.refuse(StoreError::Gone);
        }
        if let Some(source) = new.source
            && !self.mentioned_by(source, &[new.issue])?.is_empty()
        {
            return self.refuse(StoreError::Duplicate("source"));
        }
        let note = Note {
            id: NoteId(self.next_id()),
            project: new.project,
            issue: new.issue,
            author: new.author,
            updated_by: None,
            body: new.body,
            system: new.system,
            source: new.source,
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
