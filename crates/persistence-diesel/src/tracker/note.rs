//! Notes on issues, merge requests and commits.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{IssueId, MergeRequestId, NoteId, ProjectId, SnippetId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::note::port::{NoteReader, Notes};
use hexforge_domain::note::{
    NewNote, Note, NoteBody, NoteLine, NotePosition, NoteSource, Noteable,
};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

use crate::database::schema::{issues, merge_requests, notes};
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
    issue_id: Option<i64>,
    author_id: i64,
    updated_by_id: Option<i64>,
    body: String,
    system: bool,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
    source_project_id: Option<i64>,
    source_issue_id: Option<i64>,
    source_commit: Option<String>,
    merge_request_id: Option<i64>,
    commit_id: Option<String>,
    path: Option<String>,
    line: Option<i64>,
    source_merge_request_id: Option<i64>,
    snippet_id: Option<i64>,
    old_line: Option<i64>,
}

impl NoteRow {
    fn noteable(&self) -> Option<Noteable> {
        if let Some(snippet) = self.snippet_id {
            return Some(Noteable::Snippet(SnippetId(snippet)));
        }
        match (self.issue_id, self.merge_request_id, &self.commit_id) {
            (Some(issue), None, None) => Some(Noteable::Issue(IssueId(issue))),
            (None, Some(request), None) => Some(Noteable::MergeRequest(MergeRequestId(request))),
            (None, None, Some(commit)) => {
                let project = ProjectId(self.project_id);
                ObjectId::parse(commit).map(|id| Noteable::Commit { project, id })
            }
            _ => None,
        }
    }

    fn source(&self) -> Option<NoteSource> {
        let project = ProjectId(self.source_project_id?);
        match (self.source_issue_id, self.source_merge_request_id) {
            (Some(issue), _) => Some(NoteSource::Issue { project, issue: IssueId(issue) }),
            (None, Some(request)) => {
                let merge_request = MergeRequestId(request);
                Some(NoteSource::MergeRequest { project, merge_request })
            }
            (None, None) => {
                let id = ObjectId::parse(self.source_commit.as_deref()?)?;
                Some(NoteSource::Commit { project, id })
            }
        }
    }

    fn position(&self) -> Option<NotePosition> {
        let line = match self.line {
            Some(number) => NoteLine::Added(u32::try_from(number).ok()?),
            None => NoteLine::Removed(self.old_line.and_then(|number| u32::try_from(number).ok())),
        };
        Some(NotePosition { path: self.path.clone()?, line })
    }
}

impl TryFrom<NoteRow> for Note {
    type Error = StoreError;

    fn try_from(row: NoteRow) -> Result<Self, StoreError> {
        Ok(Note {
            on: row.noteable().ok_or(StoreError::Corrupt("subject of a note"))?,
            position: row.position(),
            source: row.source(),
            id: NoteId(row.id),
            project: ProjectId(row.project_id),
            author: UserId(row.author_id),
            updated_by: row.updated_by_id.map(UserId),
            body: NoteBody::stored(row.body),
            system: row.system,
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
        })
    }
}

impl DieselTx<'_> {
    fn notes_by_id(&mut self, ids: &[i64]) -> Result<Vec<Note>, StoreError> {
        let mut rows: Vec<NoteRow> =
            self.by_ids(ids, |conn, ids| notes::table.filter(notes::id.among(ids)).load(conn))?;
        page::arrange(&mut rows, ids, |row| row.id);
        self.convert_rows(rows)
    }

    /// Adds to the counter of user notes of an issue or merge request. Snippets and commits have none.
    fn count_notes(&mut self, on: Noteable, more: i32) -> Result<(), StoreError> {
        match on {
            Noteable::Issue(id) => {
                let value = issues::user_notes_count.eq(issues::user_notes_count + more);
                self.write(|conn| diesel::update(issues::table.find(id.0)).set(value).execute(conn))
            }
            Noteable::MergeRequest(id) => {
                let row = merge_requests::table.find(id.0);
                let value =
                    merge_requests::user_notes_count.eq(merge_requests::user_notes_count + more);
                self.write(|conn| diesel::update(row).set(value).execute(conn))
            }
            Noteable::Snippet(_) | Noteable::Commit { .. } => Ok(()),
        }
    }

    /// Subtracts the notes that match a condition on `notes` from the counters of their issues and merge requests.
    pub(crate) fn subtract_notes(&mut self, removed: Sql) -> Result<(), StoreError> {
        for (update, counted, selected) in [
            (
                "UPDATE issues SET user_notes_count = user_notes_count - ",
                "(SELECT count(*) FROM notes WHERE +notes.issue_id = issues.id AND NOT notes.system AND ",
                ") WHERE id IN (SELECT notes.issue_id FROM notes WHERE NOT notes.system AND ",
            ),
            (
                "UPDATE merge_requests SET user_notes_count = user_notes_count - ",
                "(SELECT count(*) FROM notes WHERE +notes.merge_request_id = merge_requests.id \
                 AND NOT notes.system AND ",
                ") WHERE id IN (SELECT notes.merge_request_id FROM notes WHERE NOT notes.system AND ",
            ),
        ] {
            self.execute(
                Sql::new(update)
                    .sql(counted)
                    .then(removed.clone())
                    .sql(selected)
                    .then(removed.clone())
                    .sql(")"),
            )?;
        }
        Ok(())
    }
}

/// The condition that a note is on this subject.
fn is_on(on: Noteable) -> Sql {
    match on {
        Noteable::Issue(issue) => Sql::new("notes.issue_id = ").id(issue.0),
        Noteable::MergeRequest(request) => Sql::new("notes.merge_request_id = ").id(request.0),
        Noteable::Snippet(snippet) => Sql::new("notes.snippet_id = ").id(snippet.0),
        Noteable::Commit { project, id } => Sql::new("notes.project_id = ")
            .id(project.0)
            .sql(" AND notes.commit_id = ")
            .text(id.to_string()),
    }
}

/// The condition that a note is about a mention by this source.
fn is_mention_by(source: NoteSource) -> Sql {
    match source {
        NoteSource::Issue { issue, .. } => Sql::new("notes.source_issue_id = ").id(issue.0),
        NoteSource::MergeRequest { merge_request, .. } => {
            Sql::new("notes.source_merge_request_id = ").id(merge_request.0)
        }
        NoteSource::Commit { project, id } => Sql::new("notes.source_commit = ")
            .text(id.to_string())
            .sql(" AND notes.source_project_id = ")
            .id(project.0),
    }
}

/// Selects a column of the notes that match a condition. If a note refers to a source issue, merge request or commit,
/// it must exist and be visible to the reader.
fn with_visible_source(column: &'static str, which: Sql, reader: Option<NoteReader>) -> Sql {
    let clearance = reader.map(|reader| Clearance::ByRole(reader.viewer.user));
    let ctes = reader.into_iter().flat_map(|NoteReader { viewer, today }| {
        let authorized = access::authorized_cte(viewer, today);
        let reported = access::reported_cte(Clearance::ByRole(viewer.user), today);
        [Some(authorized), reported].into_iter().flatten()
    });
    // `CROSS JOIN` fixes the join order: the one source is looked up first, and then its project.
    let mut issue = Sql::new(
        "SELECT 1 FROM issues CROSS JOIN projects WHERE issues.id = notes.source_issue_id \
         AND projects.id = issues.project_id",
    );
    let mut merge_request = Sql::new(
        "SELECT 1 FROM merge_requests CROSS JOIN projects \
         WHERE merge_requests.id = notes.source_merge_request_id \
         AND projects.id = merge_requests.project_id",
    );
    let mut commit = Sql::new("SELECT 1 FROM projects WHERE projects.id = notes.source_project_id");
    if let Some(NoteReader { viewer, .. }) = reader {
        issue = issue.sql(" AND projects.issues_enabled AND ").then(access::visible(viewer));
        merge_request = merge_request.sql(" AND ").then(access::may_see_merge_request(viewer));
        commit = commit.sql(" AND ").then(access::code_visible(viewer));
    }
    if let Some(issue_condition) = clearance.and_then(access::may_see_issue) {
        issue = issue.sql(" AND ").then(issue_condition);
    }
    Sql::with(ctes)
        .sql("SELECT ")
        .sql(column)
        .sql(" FROM notes WHERE ")
        .then(which)
        .sql(" AND (notes.source_project_id IS NULL OR CASE WHEN notes.source_issue_id IS NOT NULL THEN ")
        .then(access::returns_row(issue))
        .sql(" WHEN notes.source_merge_request_id IS NOT NULL THEN ")
        .then(access::returns_row(merge_request))
        .sql(" ELSE ")
        .then(access::returns_row(commit))
        .sql(" END)")
}

impl Notes for DieselTx<'_> {
    /// One query, and one for the total unless the page shows the end of the list.
    fn list(
        &mut self,
        on: Noteable,
        reader: Option<NoteReader>,
        page: Page,
    ) -> Result<Paged<Note>, StoreError> {
        let all = with_visible_source("notes.id", is_on(on), reader);
        let shown = all.clone().sql(" ORDER BY notes.id").page(page);
        let mut rows: Vec<NoteRow> =
            self.run(|conn| notes::table.filter(notes::id.within(shown)).load(conn))?;
        rows.sort_unstable_by_key(|row| row.id);
        let name = || format!("notes on {on:?} for {reader:?}");
        let total = self.total_beside(page, rows.len(), name, &all)?;
        Ok(Paged { items: self.convert_rows(rows)?, total })
    }

    fn find(
        &mut self,
        on: Noteable,
        id: NoteId,
        reader: Option<NoteReader>,
    ) -> Result<Option<Note>, StoreError> {
        let this_note = Sql::new("notes.id = ").id(id.0).sql(" AND ").then(is_on(on));
        let ids = self.ids(with_visible_source("notes.id", this_note, reader))?;
        Ok(self.notes_by_id(&ids)?.into_iter().next())
    }

    /// At most three queries, one for each kind of subject.
    fn mentioned_by(
        &mut self,
        source: NoteSource,
        among: &[Noteable],
    ) -> Result<Vec<Noteable>, StoreError> {
        let (mut issues, mut merge_requests) = (Vec::new(), Vec::new());
        let mut others = Vec::new();
        for on in among {
            match *on {
                Noteable::Issue(id) => issues.push(id.0),
                Noteable::MergeRequest(id) => merge_requests.push(id.0),
                Noteable::Snippet(_) | Noteable::Commit { .. } => others.push(*on),
            }
        }
        let select = |column: &'static str, ids: Vec<i64>| {
            let query = Sql::new("SELECT ").sql(column).sql(" FROM notes WHERE ");
            let query = query.then(is_mention_by(source)).sql(" AND ").sql(column);
            query.sql(" IN (").ids(ids).sql(")")
        };
        let mut found = Vec::new();
        if !issues.is_empty() {
            let ids = self.ids(select("notes.issue_id", issues))?;
            found.extend(ids.into_iter().map(|id| Noteable::Issue(IssueId(id))));
        }
        if !merge_requests.is_empty() {
            let ids = self.ids(select("notes.merge_request_id", merge_requests))?;
            found.extend(ids.into_iter().map(|id| Noteable::MergeRequest(MergeRequestId(id))));
        }
        for on in others {
            let query = Sql::new("SELECT notes.id FROM notes WHERE ").then(is_mention_by(source));
            if !self.ids(query.sql(" AND ").then(is_on(on)))?.is_empty() {
                found.push(on);
            }
        }
        Ok(found)
    }

    fn mentioning_requests(
        &mut self,
        on: Noteable,
        project: ProjectId,
        reader: Option<NoteReader>,
        limit: u32,
    ) -> Result<Vec<MergeRequestId>, StoreError> {
        let which = is_on(on)
            .sql(" AND notes.source_merge_request_id IS NOT NULL AND notes.source_project_id = ")
            .id(project.0);
        let query = with_visible_source("notes.source_merge_request_id", which, reader);
        let newest = query.sql(" ORDER BY notes.id DESC LIMIT ").id(i64::from(limit));
        Ok(self.ids(newest)?.into_iter().map(MergeRequestId).collect())
    }

    fn on_lines(&mut self, request: MergeRequestId, limit: u32) -> Result<Vec<Note>, StoreError> {
        let rows: Vec<NoteRow> = self.run(|conn| {
            notes::table
                .filter(notes::merge_request_id.eq(request.0))
                .filter(notes::path.is_not_null())
                .order(notes::id.desc())
                .limit(limit.into())
                .load(conn)
        })?;
        self.convert_rows(rows)
    }

    fn find_all(&mut self, ids: &[NoteId]) -> Result<Vec<Note>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        self.notes_by_id(&ids)
    }

    fn insert(&mut self, new: NewNote) -> Result<Note, StoreError> {
        let subject = Columns::of(new.on);
        let source = new.source.map(|source| Columns::of(source.noteable()));
        let position = new.position.as_ref();
        let values = (
            (
                notes::project_id.eq(new.project.0),
                notes::issue_id.eq(subject.issue),
                notes::merge_request_id.eq(subject.merge_request),
                notes::commit_id.eq(subject.commit),
                notes::snippet_id.eq(new.on.snippet().map(|snippet| snippet.0)),
            ),
            notes::path.eq(position.map(|position| position.path.as_str())),
            notes::line.eq(position.and_then(|position| position.line.number()).map(i64::from)),
            notes::old_line
                .eq(position.and_then(|position| position.line.old_number()).map(i64::from)),
            notes::author_id.eq(new.author.0),
            notes::body.eq(new.body.as_str()),
            notes::system.eq(new.system),
            notes::source_project_id.eq(new.source.map(|source| source.project().0)),
            notes::source_issue_id.eq(source.as_ref().and_then(|source| source.issue)),
            notes::source_merge_request_id
                .eq(source.as_ref().and_then(|source| source.merge_request)),
            notes::source_commit.eq(source.and_then(|source| source.commit)),
            notes::created_at.eq(to_naive(new.created_at)),
            notes::updated_at.eq(to_naive(new.at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(notes::table).values(values).returning(notes::id).get_result(conn)
        })?;
        if !new.system {
            self.count_notes(new.on, 1)?;
        }
        Ok(Note {
            id: NoteId(id),
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
        let belongs = match note.on {
            Noteable::Issue(id) => Sql::new("issue_id = ").id(id.0),
            Noteable::MergeRequest(id) => Sql::new("merge_request_id = ").id(id.0),
            Noteable::Snippet(id) => Sql::new("snippet_id = ").id(id.0),
            // The condition of the index on events about notes on commits.
            Noteable::Commit { .. } => Sql::new("issue_id IS NULL AND merge_request_id IS NULL"),
        };
        self.execute(
            Sql::new("DELETE FROM events WHERE target_type IN ('Note', 'LegacyDiffNote') AND target_id = ")
                .id(note.id.0)
                .sql(" AND ")
                .then(belongs),
        )?;
        let gone = self.run(|conn| diesel::delete(notes::table.find(note.id.0)).execute(conn))?;
        if gone > 0 && !note.system {
            self.count_notes(note.on, -1)?;
        }
        Ok(())
    }
}

/// The values of the columns that refer to the subject or to the source of a note. One of them is not null.
struct Columns {
    issue: Option<i64>,
    merge_request: Option<i64>,
    commit: Option<String>,
}

impl Columns {
    fn of(on: Noteable) -> Self {
        let issuable = on.issuable();
        Self {
            issue: issuable.and_then(Issuable::issue).map(|id| id.0),
            merge_request: issuable.and_then(Issuable::merge_request).map(|id| id.0),
            commit: on.commit().map(|id| id.to_string()),
        }
    }
}
