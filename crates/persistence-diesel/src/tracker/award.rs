//! Awards of issues, merge requests, snippets and notes.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::award::port::Awards;
use hexforge_domain::award::{Award, Awardable, EmojiName, NewAward};
use hexforge_domain::id::{AwardId, IssueId, MergeRequestId, NoteId, SnippetId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

use crate::database::schema::awards;
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::sql::Sql;

#[derive(Queryable)]
struct AwardRow {
    id: i64,
    issue_id: Option<i64>,
    user_id: i64,
    name: String,
    created_at: NaiveDateTime,
    merge_request_id: Option<i64>,
    note_id: Option<i64>,
    snippet_id: Option<i64>,
}

impl TryFrom<AwardRow> for Award {
    type Error = StoreError;

    fn try_from(row: AwardRow) -> Result<Self, StoreError> {
        let AwardRow { issue_id, merge_request_id, note_id, snippet_id, .. } = row;
        let on = match (issue_id, merge_request_id, note_id, snippet_id) {
            (Some(issue), None, None, None) => Awardable::Issue(IssueId(issue)),
            (None, Some(request), None, None) => Awardable::MergeRequest(MergeRequestId(request)),
            (None, None, Some(note), None) => Awardable::Note(NoteId(note)),
            (None, None, None, Some(snippet)) => Awardable::Snippet(SnippetId(snippet)),
            _ => return Err(StoreError::Corrupt("target of an award")),
        };
        Ok(Award {
            id: AwardId(row.id),
            on,
            user: UserId(row.user_id),
            name: EmojiName::stored(row.name),
            created_at: to_utc(row.created_at),
        })
    }
}

/// Selects the ids of the awards of a target.
fn awards_of(on: Awardable) -> Sql {
    let query = Sql::new("SELECT awards.id FROM awards WHERE ");
    match on {
        Awardable::Issue(issue) => query.sql("awards.issue_id = ").id(issue.0),
        Awardable::MergeRequest(request) => query.sql("awards.merge_request_id = ").id(request.0),
        Awardable::Snippet(snippet) => query.sql("awards.snippet_id = ").id(snippet.0),
        Awardable::Note(note) => query.sql("awards.note_id = ").id(note.0),
    }
}

impl DieselTx<'_> {
    fn awards_by_id(&mut self, ids: &[i64]) -> Result<Vec<Award>, StoreError> {
        let mut rows: Vec<AwardRow> =
            self.by_ids(ids, |conn, ids| awards::table.filter(awards::id.among(ids)).load(conn))?;
        page::arrange(&mut rows, ids, |row| row.id);
        self.convert_rows(rows)
    }

    /// Returns the award that a query selects.
    fn one_award(&mut self, query: Sql) -> Result<Option<Award>, StoreError> {
        let ids = self.ids(query)?;
        Ok(self.awards_by_id(&ids)?.into_iter().next())
    }
}

impl Awards for DieselTx<'_> {
    /// Two queries, and one for the total unless the page shows the end of the list.
    fn list(&mut self, on: Awardable, page: Page) -> Result<Paged<Award>, StoreError> {
        let all = awards_of(on);
        let (ids, total) =
            self.page_of(all, " ORDER BY awards.id", page, || format!("awards of {on:?}"))?;
        Ok(Paged { items: self.awards_by_id(&ids)?, total })
    }

    fn of_discussion(
        &mut self,
        on: Awardable,
        notes: &[NoteId],
        limit: u32,
    ) -> Result<Vec<Award>, StoreError> {
        let limit = i64::from(limit);
        let first = |all: Sql, limit| {
            let first = Sql::new("SELECT own.id FROM (").then(all);
            first.sql(" ORDER BY awards.id LIMIT ").id(limit).sql(") AS own")
        };
        let mut ids = first(awards_of(on), limit);
        if !notes.is_empty() {
            let notes: Vec<i64> = notes.iter().map(|note| note.0).collect();
            let of_notes = Sql::new("SELECT awards.id FROM awards WHERE awards.note_id IN (");
            let of_notes = of_notes.few_ids(&notes).sql(")");
            ids = ids.sql(" UNION ALL ").then(first(of_notes, limit * 10));
        }
        self.read_rows(|conn| -> QueryResult<Vec<AwardRow>> {
            awards::table.filter(awards::id.within(ids)).order(awards::id).load(conn)
        })
    }

    fn find(&mut self, on: Awardable, id: AwardId) -> Result<Option<Award>, StoreError> {
        let found = self.awards_by_id(&[id.0])?.into_iter().next();
        Ok(found.filter(|award| award.on == on))
    }

    fn find_given(
        &mut self,
        on: Awardable,
        user: UserId,
        name: &EmojiName,
    ) -> Result<Option<Award>, StoreError> {
        let same = awards_of(on).sql(" AND awards.name = ").text(name.as_str().to_owned());
        self.one_award(same.sql(" AND awards.user_id = ").id(user.0))
    }

    fn insert(&mut self, new: NewAward) -> Result<Award, StoreError> {
        let NewAward { on, user, name, at } = new;
        let (issue, request, note, snippet) = match on {
            Awardable::Issue(issue) => (Some(issue.0), None, None, None),
            Awardable::MergeRequest(request) => (None, Some(request.0), None, None),
            Awardable::Note(note) => (None, None, Some(note.0), None),
            Awardable::Snippet(snippet) => (None, None, None, Some(snippet.0)),
        };
        let row = (
            awards::issue_id.eq(issue),
            awards::merge_request_id.eq(request),
            awards::note_id.eq(note),
            awards::snippet_id.eq(snippet),
            awards::user_id.eq(user.0),
            awards::name.eq(name.as_str()),
            awards::created_at.eq(to_naive(at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(awards::table).values(row).returning(awards::id).get_result(conn)
        })?;
        Ok(Award { id: AwardId(id), on, user, name, created_at: at })
    }

    fn delete(&mut self, id: AwardId) -> Result<(), StoreError> {
        self.write(|conn| diesel::delete(awards::table.find(id.0)).execute(conn))
    }
}
