//! Fake of the notes.

use super::access::is_open;
use super::tx::{FakeTx, Tables};
use hexforge_domain::id::{MergeRequestId, NoteId, ProjectId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::note::port::{NoteReader, Notes};
use hexforge_domain::note::{NewNote, Note, NoteSource, Noteable};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::Project;

impl Tables {
    /// Counts the notes of users on an issue, merge request or commit.
    pub fn count_user_notes(&self, on: Noteable) -> u32 {
        let notes = self.notes.iter().filter(|note| note.on == on && !note.system);
        u32::try_from(notes.count()).unwrap_or(u32::MAX)
    }

    /// Returns whether a reader may see the code of a project.
    pub fn sees_code(&self, project: &Project, NoteReader { viewer, today }: NoteReader) -> bool {
        let role = self.role(project, viewer.user, today);
        is_open(project.visibility, viewer.external)
            || role.owner
            || role.level >= Some(AccessLevel::Reporter)
    }

    /// Returns whether a reader may see the source of a note about a mention. Other notes are
    /// always visible.
    fn may_see_source(&self, reader: Option<NoteReader>, note: &Note) -> bool {
        let Some(source) = note.source else { return true };
        let Some(project) = self.projects.get(&source.project()) else { return false };
        let sees_code = |reader| self.sees_code(project, reader);
        match source {
            NoteSource::Commit { .. } => reader.is_none_or(sees_code),
            NoteSource::Issue { issue, .. } => {
                let issue = self.issues.iter().find(|other| other.id == issue);
                issue.is_some_and(|issue| {
                    reader.is_none_or(|NoteReader { viewer, today }| {
                        let clearance = Clearance::ByRole(viewer.user);
                        project.features.issues
                            && self.sees(viewer, project, today)
                            && self.is_cleared(issue, clearance, today)
                    })
                })
            }
            NoteSource::MergeRequest { merge_request, .. } => {
                let found = self.merge_requests.iter().find(|other| other.id == merge_request);
                found.is_some_and(|found| {
                    reader.is_none_or(|reader| {
                        project.features.merge_requests
                            && (found.concerns(reader.viewer.user) || sees_code(reader))
                    })
                })
            }
        }
    }
}

impl Notes for FakeTx {
    fn list(
        &mut self,
        on: Noteable,
        reader: Option<NoteReader>,
        page: Page,
    ) -> Result<Paged<Note>, StoreError> {
        let oldest_first = self.tables.notes.iter().filter(|note| note.on == on);
        let followed = oldest_first.filter(|note| self.tables.may_see_source(reader, note));
        Ok(page.slice(followed.cloned().collect()))
    }

    fn find(
        &mut self,
        on: Noteable,
        id: NoteId,
        reader: Option<NoteReader>,
    ) -> Result<Option<Note>, StoreError> {
        let mut all = self.tables.notes.iter();
        let found = all.find(|note| note.on == on && note.id == id);
        Ok(found.filter(|note| self.tables.may_see_source(reader, note)).cloned())
    }

    fn mentioned_by(
        &mut self,
        source: NoteSource,
        among: &[Noteable],
    ) -> Result<Vec<Noteable>, StoreError> {
        let matching = self.tables.notes.iter().filter(|note| note.source == Some(source));
        Ok(matching.map(|note| note.on).filter(|on| among.contains(on)).collect())
    }

    fn mentioning_requests(
        &mut self,
        on: Noteable,
        project: ProjectId,
        reader: Option<NoteReader>,
        limit: u32,
    ) -> Result<Vec<MergeRequestId>, StoreError> {
        let newest_first = self.tables.notes.iter().rev().filter(|note| note.on == on);
        let visible = newest_first.filter(|note| self.tables.may_see_source(reader, note));
        let requests = visible.filter_map(|note| match note.source {
            Some(NoteSource::MergeRequest { project: source, merge_request })
                if source == project =>
            {
                Some(merge_request)
            }
            Some(
                NoteSource::MergeRequest { .. }
                | NoteSource::Issue { .. }
                | NoteSource::Commit { .. },
            )
            | None => None,
        });
        Ok(requests.take(limit as usize).collect())
    }

    fn on_lines(&mut self, request: MergeRequestId, limit: u32) -> Result<Vec<Note>, StoreError> {
        let on = Noteable::from(request);
        let newest_first = self.tables.notes.iter().rev();
        let found = newest_first.filter(|note| note.on == on && note.position.is_some());
        Ok(found.take(limit as usize).cloned().collect())
    }

    fn find_all(&mut self, ids: &[NoteId]) -> Result<Vec<Note>, StoreError> {
        let all = self.tables.notes.iter();
        Ok(all.filter(|note| ids.contains(&note.id)).cloned().collect())
    }

    fn insert(&mut self, new: NewNote) -> Result<Note, StoreError> {
        self.require_user(new.author)?;
        match (new.on.issuable(), new.on.snippet()) {
            (Some(issuable), _) => self.require_issuable(issuable)?,
            (None, Some(snippet)) if self.find_snippet(snippet).is_none() => {
                return self.refuse(StoreError::Gone);
            }
            (None, _) => self.require_project(new.project)?,
        }
        if let Some(source) = new.source
            && !self.mentioned_by(source, &[new.on])?.is_empty()
        {
            return self.refuse(StoreError::Duplicate("source"));
        }
        let note = Note {
            id: NoteId(self.next_id()),
            project: new.project,
            on: new.on,
            position: new.position,
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

impl FakeTx {
    /// Fails like a foreign key if a note does not exist.
    pub(super) fn require_note(&mut self, id: NoteId) -> Result<(), StoreError> {
        let exists = self.tables.notes.iter().any(|note| note.id == id);
        if exists { Ok(()) } else { self.refuse(StoreError::Gone) }
    }
}
