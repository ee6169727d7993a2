//! Notes.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::id::{IssueId, NoteId, ProjectId, UserId};
use hexforge_domain::note::port::Notes;
use hexforge_domain::note::{NewNote, Note, NoteBody};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

use crate::page;
use crate::schema::{events, issues, notes};
use crate::sql::Sql;
use crate::time::{moment, stored};
use crate::tx::DieselTx;

#[derive(Queryable)]
struct NoteRow {
    id: i64,
    project_id: i64,
    issue_id: i64,
    author_id: i64,
    updated_by_id: Option<i64>,
    body: String,
    system: bool,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl From<NoteRow> for Note {
    fn from(row: NoteRow) -> Self {
        Note {
            id: NoteId(row.id),
            project: ProjectId(row.project_id),
            issue: IssueId(row.issue_id),
            author: UserId(row.author_id),
            updated_by: row.updated_by_id.map(UserId),
            body: NoteBody::stored(row.body),
            system: row.system,
            created_at: moment(row.created_at),
            updated_at: moment(row.updated_at),
        }
    }
}

impl DieselTx<'_> {
    fn notes_by_id(&mut self, ids: &[i64]) -> Result<Vec<Note>, StoreError> {
        let mut rows: Vec<NoteRow> =
            self.by_ids(ids, |conn, ids| notes::table.filter(notes::id.eq_any(ids)).load(conn))?;
        page::arrange(&mut rows, ids, |row| row.id);
        Ok(rows.into_iter().map(Note::from).collect())
    }

    /// People wrote so many notes more on an issue.
    fn count_notes(&mut self, issue: IssueId, more: i32) -> Result<(), StoreError> {
        let value = issues::user_notes_count.eq(issues::user_notes_count + more);
        self.run(|conn| diesel::update(issues::table.find(issue.0)).set(value).execute(conn))?;
        Ok(())
    }
}

impl Notes for DieselTx<'_> {
    /// Three queries: the total, the ids, the rows.
    fn list(&mut self, issue: IssueId, page: Page) -> Result<Paged<Note>, StoreError> {
        let all = Sql::new("SELECT id FROM notes WHERE issue_id = ").id(issue.0);
        let total = self.total(&format!("notes on {issue}"), &all)?;
        let ids = self.ids(all.sql(" ORDER BY id").page(page))?;
        Ok(Paged { items: self.notes_by_id(&ids)?, total })
    }

    fn find(&mut self, issue: IssueId, id: NoteId) -> Result<Option<Note>, StoreError> {
        let row: Option<NoteRow> = self.run(|conn| {
            notes::table.find(id.0).filter(notes::issue_id.eq(issue.0)).get_result(conn).optional()
        })?;
        Ok(row.map(Note::from))
    }

    fn find_all(&mut self, ids: &[NoteId]) -> Result<Vec<Note>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        self.notes_by_id(&ids)
    }

    fn insert(&mut self, new: NewNote) -> Result<Note, StoreError> {
        let values = (
            notes::project_id.eq(new.project.0),
            notes::issue_id.eq(new.issue.0),
            notes::author_id.eq(new.author.0),
            notes::body.eq(new.body.as_str()),
            notes::system.eq(new.system),
            notes::created_at.eq(stored(new.created_at)),
            notes::updated_at.eq(stored(new.at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(notes::table).values(values).returning(notes::id).get_result(conn)
        })?;
        if !new.system {
            self.count_notes(new.issue, 1)?;
        }
        Ok(Note {
            id: NoteId(id),
            project: new.project,
            issue: new.issue,
            author: new.author,
            updated_by: None,
            body: new.body,
            system: new.system,
            created_at: new.created_at,
            updated_at: new.at,
        })
    }

    fn update(&mut self, note: &Note) -> Result<(), StoreError> {
        let values = (
            notes::body.eq(note.body.as_str()),
            notes::updated_by_id.eq(note.updated_by.map(|user| user.0)),
            notes::updated_at.eq(stored(note.updated_at)),
        );
        self.run(|conn| diesel::update(notes::table.find(note.id.0)).set(values).execute(conn))?;
        Ok(())
    }

    fn delete(&mut self, note: &Note) -> Result<(), StoreError> {
        let about = events::table
            .filter(events::issue_id.eq(note.issue.0))
            .filter(events::target_type.eq("Note"))
            .filter(events::target_id.eq(note.id.0));
        self.run(|conn| diesel::delete(about).execute(conn))?;
        let gone = self.run(|conn| diesel::delete(notes::table.find(note.id.0)).execute(conn))?;
        if gone > 0 && !note.system {
            self.count_notes(note.issue, -1)?;
        }
        Ok(())
    }
}
