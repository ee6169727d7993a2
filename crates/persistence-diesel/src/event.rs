//! Activity events.

use chrono::{NaiveDate, NaiveDateTime};
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::event::port::Events;
use hexforge_domain::event::query::{EventFeed, EventSelection};
use hexforge_domain::event::{Event, EventAction, EventTarget, NewEvent};
use hexforge_domain::id::{EventId, IssueId, MergeRequestId, ProjectId, SnippetId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::note::Noteable;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::query::Viewer;
use hexforge_domain::push::Push;

use crate::database::json;
use crate::database::schema::events;
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::access;
use crate::query::among::AmongValues;
use crate::query::sql::Sql;

#[derive(Queryable)]
struct EventRow {
    id: i64,
    project_id: i64,
    author_id: i64,
    action: String,
    target_type: Option<String>,
    target_id: Option<i64>,
    target_title: Option<String>,
    data: Option<String>,
    created_at: NaiveDateTime,
    issue_id: Option<i64>,
    merge_request_id: Option<i64>,
    snippet_id: Option<i64>,
}

impl TryFrom<EventRow> for Event {
    type Error = StoreError;

    fn try_from(row: EventRow) -> Result<Self, StoreError> {
        let (id, title) = (row.target_id, row.target_title);
        let issue = row.issue_id.map(|id| Noteable::Issue(IssueId(id)));
        let merge_request = row.merge_request_id.map(|id| MergeRequestId(id).into());
        let snippet = row.snippet_id.map(|id| SnippetId(id).into());
        let belongs_to = issue.or(merge_request).or(snippet);
        Ok(Event {
            id: EventId(row.id),
            project: ProjectId(row.project_id),
            author: UserId(row.author_id),
            action: EventAction::parse(&row.action).ok_or(StoreError::Corrupt("event action"))?,
            target: row.target_type.map(|kind| EventTarget { kind, id, title, belongs_to }),
            push: row.data.as_deref().map(read_push).transpose()?,
            created_at: to_utc(row.created_at),
        })
    }
}

fn read_push(data: &str) -> Result<Box<Push>, StoreError> {
    json::from_text(data).map(Box::new).ok_or(StoreError::Corrupt("push of an event"))
}

impl Events for DieselTx<'_> {
    fn insert(&mut self, new: NewEvent) -> Result<Event, StoreError> {
        let target = new.target.as_ref();
        let belongs_to = target.and_then(|target| target.belongs_to);
        let issuable = belongs_to.and_then(Noteable::issuable);
        let values = (
            events::project_id.eq(new.project.0),
            events::author_id.eq(new.author.0),
            events::action.eq(new.action.as_str()),
            events::target_type.eq(target.map(|target| target.kind.as_str())),
            events::target_id.eq(target.and_then(|target| target.id)),
            events::target_title.eq(target.and_then(|target| target.title.as_deref())),
            events::issue_id.eq(issuable.and_then(Issuable::issue).map(|id| id.0)),
            events::merge_request_id.eq(issuable.and_then(Issuable::merge_request).map(|id| id.0)),
            events::snippet_id.eq(belongs_to.and_then(Noteable::snippet).map(|id| id.0)),
            events::data.eq(new.push.as_deref().map(json::to_text)),
            events::created_at.eq(to_naive(new.at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(events::table).values(values).returning(events::id).get_result(conn)
        })?;
        Ok(Event {
            id: EventId(id),
            project: new.project,
            author: new.author,
            action: new.action,
            target: new.target,
            push: new.push,
            created_at: new.at,
        })
    }

    /// Two queries, and one for the total unless the page shows the end of the list.
    fn authored_by(
        &mut self,
        author: UserId,
        viewer: Viewer,
        clearance: Clearance,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Event>, StoreError> {
        // `CROSS JOIN` fixes the join order: the query reads events newest first, and looks up their projects.
        let ctes =
            [Some(access::authorized_cte(viewer, today)), access::reported_cte(clearance, today)];
        let conditions = [
            Some(Sql::new("projects.id = events.project_id")),
            Some(Sql::new("events.author_id = ").id(author.0)),
            Some(access::visible(viewer)),
            issue_visible_to(clearance),
            snippet_visible_to(clearance, today),
        ];
        let visible = Sql::with(ctes.into_iter().flatten())
            .sql("SELECT events.id FROM events CROSS JOIN projects")
            .filter(conditions.into_iter().flatten());
        let name = format!("events of {author} for {viewer:?} {clearance:?} on {today}");
        self.page_of_events(&name, visible, page)
    }

    /// Two or three queries, like [`authored_by`](Events::authored_by).
    fn of_project(
        &mut self,
        project: ProjectId,
        clearance: Clearance,
        today: NaiveDate,
        page: Page,
    ) -> Result<Paged<Event>, StoreError> {
        let inside = Sql::new("events.project_id = ").id(project.0);
        let visible = Sql::with(access::reported_cte(clearance, today))
            .sql("SELECT events.id FROM events")
            .filter(
                [Some(inside), issue_visible_to(clearance), snippet_visible_to(clearance, today)]
                    .into_iter()
                    .flatten(),
            );
        self.page_of_events(&format!("events in {project} {clearance:?} on {today}"), visible, page)
    }

    fn select(&mut self, selection: &EventSelection, page: Page) -> Result<Vec<Event>, StoreError> {
        let selected = selected(selection, None);
        let ids = self.ids(selected.sql(" ORDER BY events.id DESC").page(page))?;
        self.events_by_ids(&ids)
    }

    fn times(
        &mut self,
        selection: &EventSelection,
        since: Timestamp,
        limit: u32,
    ) -> Result<Vec<Timestamp>, StoreError> {
        let selected = selected(selection, Some(since)).sql(" ORDER BY events.id DESC LIMIT ");
        let ids = selected.id(limit.into());
        let times: Vec<NaiveDateTime> = self.run(|conn| {
            let rows = events::table.filter(events::id.within(ids)).order(events::id.desc());
            rows.select(events::created_at).load(conn)
        })?;
        Ok(times.into_iter().map(to_utc).collect())
    }
}

/// Selects the ids of the events of a selection, with `since` only newer ones.
fn selected(selection: &EventSelection, since: Option<Timestamp>) -> Sql {
    let EventSelection { feed, viewer, clearance, today } = *selection;
    let ctes =
        [Some(access::authorized_cte(viewer, today)), access::reported_cte(clearance, today)];
    let in_feed = match feed {
        EventFeed::Author(author) => Sql::new("events.author_id = ").id(author.0),
        EventFeed::Namespace(namespace) => {
            Sql::new("events.project_id IN (SELECT id FROM projects WHERE namespace_id = ")
                .id(namespace.0)
                .sql(")")
        }
        EventFeed::AuthorizedFor(user) => {
            Sql::new("events.project_id IN (").then(access::authorized(user, today)).sql(")")
        }
    };
    let conditions = [
        Some(Sql::new("projects.id = events.project_id")),
        Some(in_feed),
        since.map(|since| Sql::new("events.created_at >= ").moment(to_naive(since))),
        Some(access::visible(viewer)),
        issue_visible_to(clearance),
        snippet_visible_to(clearance, today),
    ];
    // `CROSS JOIN` fixes the join order, as in `authored_by`.
    Sql::with(ctes.into_iter().flatten())
        .sql("SELECT events.id FROM events CROSS JOIN projects")
        .filter(conditions.into_iter().flatten())
}

/// The condition that the viewer may see the issue of a row of `events`, if it has one.
fn issue_visible_to(clearance: Clearance) -> Option<Sql> {
    let issue_condition = access::may_see_issue(clearance)?;
    let issue = Sql::new("SELECT 1 FROM issues WHERE issues.id = events.issue_id AND ");
    let is_seen = access::returns_row(issue.then(issue_condition));
    Some(Sql::new("(events.issue_id IS NULL OR ").then(is_seen).sql(")"))
}

/// The condition that the events of the snippet of a row of `events` are included, if it has one: the snippet is
/// public, or the viewer is in the team of its project.
fn snippet_visible_to(clearance: Clearance, today: NaiveDate) -> Option<Sql> {
    let visible = match clearance {
        Clearance::All => return None,
        Clearance::Own(user) | Clearance::ByRole(user) => {
            Sql::new("(snippets.visibility_level = 20 OR ")
                .then(access::is_authorized(user, today))
                .sql(")")
        }
        Clearance::Nothing => Sql::new("snippets.visibility_level = 20"),
    };
    // `CROSS JOIN` fixes the join order: the one snippet is looked up first, and then its project.
    Some(
        Sql::new(
            "(events.snippet_id IS NULL OR EXISTS \
             (SELECT 1 FROM snippets CROSS JOIN projects WHERE snippets.id = events.snippet_id \
             AND projects.id = snippets.project_id AND projects.snippets_enabled AND ",
        )
        .then(visible)
        .sql("))"),
    )
}

impl DieselTx<'_> {
    fn page_of_events(
        &mut self,
        name: &str,
        matching: Sql,
        page: Page,
    ) -> Result<Paged<Event>, StoreError> {
        let name = || name.to_owned();
        let (ids, total) = self.page_of(matching, " ORDER BY events.id DESC", page, name)?;
        Ok(Paged { items: self.events_by_ids(&ids)?, total })
    }

    /// Loads the events with these ids, newest first.
    fn events_by_ids(&mut self, ids: &[i64]) -> Result<Vec<Event>, StoreError> {
        let rows: Vec<EventRow> = self.by_ids(ids, |conn, ids| {
            events::table.filter(events::id.among(ids)).order(events::id.desc()).load(conn)
        })?;
        self.convert_rows(rows)
    }
}
