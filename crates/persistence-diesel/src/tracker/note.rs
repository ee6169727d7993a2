//! Notes.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{IssueId, NoteId, ProjectId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::note::port::{NoteReader, Notes};
use hexforge_domain::note::{NewNote, Note, NoteBody, NoteSource};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

use crate::database::schema::{events, issues, notes};
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::access;
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::sql::Sql;

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
    source_project_id: Option<i64>,
    source_issue_id: Option<i64>,
    source_commit: Option<String>,
}

impl From<NoteRow> for Note {
    fn from(row: NoteRow) -> Self {
        let project = row.source_project_id.map(ProjectId);
        let commit = row.source_commit.as_deref().and_then(ObjectId::parse);
        let source = project.and_then(|project| match (row.source_issue_id, commit) {
            (Some(issue), _) => Some(NoteSource::Issue { project, issue: IssueId(issue) }),
            (None, Some(id)) => Some(NoteSource::Commit { project, id }),
            (None, None) => None,
        });
        Note {
            source,
            id: NoteId(row.id),
            project: ProjectId(row.project_id),
            issue: IssueId(row.issue_id),
            author: UserId(row.author_id),
            updated_by: row.updated_by_id.map(UserId),
            body: NoteBody::stored(row.body),
            system: row.system,
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
        }
    }
}

impl DieselTx<'_> {
    fn notes_by_id(&mut self, ids: &[i64]) -> Result<Vec<Note>, StoreError> {
        let mut rows: Vec<NoteRow> =
            self.by_ids(ids, |conn, ids| notes::table.filter(notes::id.among(ids)).load(conn))?;
        page::arrange(&mut rows, ids, |row| row.id);
        Ok(rows.into_iter().map(Note::from).collect())
    }

    /// Adds to an issue's counter of user notes.
    fn count_notes(&mut self, issue: IssueId, more: i32) -> Result<(), StoreError> {
        let value = issues::user_notes_count.eq(issues::user_notes_count + more);
        self.write(|conn| diesel::update(issues::table.find(issue.0)).set(value).execute(conn))
    }
}

fn source_issue(source: NoteSource) -> Option<i64> {
    match source {
        NoteSource::Issue { issue, .. } => Some(issue.0),
        NoteSource::Commit { .. } => None,
    }
}

fn source_commit(source: NoteSource) -> Option<String> {
    match source {
        NoteSource::Issue { .. } => None,
        NoteSource::Commit { id, .. } => Some(id.to_string()),
    }
}

/// Selects the ids of the notes that match a condition. If a note refers to a source issue or commit, it must exist
/// and be visible to the reader.
fn with_visible_source(which: Sql, reader: Option<NoteReader>) -> Sql {
    let clearance = reader.map(|reader| Clearance::ByRole(reader.viewer.user));
    let ctes = reader.into_iter().flat_map(|NoteReader { viewer, today }| {
        let authorized = access::authorized_cte(viewer, today);
        let reported = access::reported_cte(Clearance::ByRole(viewer.user), today);
        [Some(authorized), reported].into_iter().flatten()
    });
    let mut issue = Sql::new(
        "SELECT 1 FROM projects CROSS JOIN issues WHERE issues.id = notes.source_issue_id \
         AND projects.id = issues.project_id",
    );
    let mut commit = Sql::new("SELECT 1 FROM projects WHERE projects.id = notes.source_project_id");
    if let Some(NoteReader { viewer, .. }) = reader {
        issue = issue.sql(" AND projects.issues_enabled AND ").then(access::visible(viewer));
        commit = commit.sql(" AND ").then(access::code_visible(viewer));
    }
    if let Some(issue_condition) = clearance.and_then(access::may_see_issue) {
        issue = issue.sql(" AND ").then(issue_condition);
    }
    Sql::with(ctes)
        .sql("SELECT notes.id FROM notes WHERE ")
        .then(which)
        .sql(" AND (notes.source_project_id IS NULL OR CASE WHEN notes.source_issue_id IS NULL THEN EXISTS (")
        .then(commit)
        .sql(") ELSE EXISTS (")
        .then(issue)
        .sql(") END)")
}

impl Notes for DieselTx<'_> {
    /// Three queries: the total, the ids, the rows.
    fn list(
        &mut self,
        issue: IssueId,
        reader: Option<NoteReader>,
        page: Page,
    ) -> Result<Paged<Note>, StoreError> {
        let all = with_visible_source(Sql::new("notes.issue_id = ").id(issue.0), reader);
        let total = self.total(&format!("notes on {issue} for {reader:?}"), &all)?;
        let ids = self.ids(all.sql(" ORDER BY notes.id").page(page))?;
        Ok(Paged { items: self.notes_by_id(&ids)?, total })
    }

    fn find(
        &mut self,
        issue: IssueId,
        id: NoteId,
        reader: Option<NoteReader>,
    ) -> Result<Option<Note>, StoreError> {
        let this_note = Sql::new("notes.id = ").id(id.0).sql(" AND notes.issue_id = ").id(issue.0);
        let ids = self.ids(with_visible_source(this_note, reader))?;
        Ok(self.notes_by_id(&ids)?.into_iter().next())
    }

    fn mentioned_by(
        &mut self,
        source: NoteSource,
        issues: &[IssueId],
    ) -> Result<Vec<IssueId>, StoreError> {
        let query = match source {
            NoteSource::Issue { issue, .. } => {
                Sql::new("SELECT issue_id FROM notes WHERE source_issue_id = ").id(issue.0)
            }
            NoteSource::Commit { project, id } => {
                Sql::new("SELECT issue_id FROM notes WHERE source_commit = ")
                    .text(id.to_string())
                    .sql(" AND source_project_id = ")
                    .id(project.0)
            }
        };
        let issues = issues.iter().map(|issue| issue.0).collect();
        let ids = self.ids(query.sql(" AND issue_id IN (").ids(issues).sql(")"))?;
        Ok(ids.into_iter().map(IssueId).collect())
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
            notes::source_project_id.eq(new.source.map(|source| source.project().0)),
            notes::source_issue_id.eq(new.source.and_then(source_issue)),
            notes::source_commit.eq(new.source.and_then(source_commit)),
            notes::created_at.eq(to_naive(new.created_at)),
            notes::updated_at.eq(to_naive(new.at)),
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
            source: new.source,
            created_at: new.created_at,
            updated_at: new.at,
        })
    }

    fn update(&mut self, note: &Note) -> Result<(), StoreError> {
        let values = (
            notes::body.eq(note.body.as_str()),
            notes::updated_by_id.eq(note.updated_by.map(|user| user.0)),
            notes::updated_at.eq(to_naive(note.updated_at)),
        );
        self.write(|conn| diesel::update(notes::table.find(note.id.0)).set(values).execute(conn))
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
