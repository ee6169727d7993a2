//! Issues, and the counters of projects and labels that change with them.

use chrono::{NaiveDate, NaiveDateTime};
use diesel::prelude::*;
use hexforge_domain::id::{IssueId, LabelId, MilestoneId, ProjectId, UserId};
use hexforge_domain::issue::port::Issues;
use hexforge_domain::issue::query::IssueFilter;
use hexforge_domain::issue::{Issue, IssueState, NewIssue, Title};
use hexforge_domain::label::LabelTitle;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::text::LongText;
use hexforge_domain::unique::sorted_unique;

use crate::database::schema::{issue_labels, issues, labels, projects};
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::sql::Sql;

#[derive(Queryable)]
struct IssueRow {
    id: i64,
    project_id: i64,
    iid: i64,
    author_id: i64,
    assignee_id: Option<i64>,
    milestone_id: Option<i64>,
    updated_by_id: Option<i64>,
    moved_to_id: Option<i64>,
    title: String,
    description: Option<String>,
    state: String,
    confidential: bool,
    due_date: Option<NaiveDate>,
    user_notes_count: i32,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<IssueRow> for Issue {
    type Error = StoreError;

    fn try_from(row: IssueRow) -> Result<Self, StoreError> {
        let description = row.description.map(|text| LongText::parse(&text)).transpose();
        Ok(Issue {
            id: IssueId(row.id),
            iid: row.iid,
            project: ProjectId(row.project_id),
            author: UserId(row.author_id),
            assignee: row.assignee_id.map(UserId),
            milestone: row.milestone_id.map(MilestoneId),
            updated_by: row.updated_by_id.map(UserId),
            moved_to: row.moved_to_id.map(IssueId),
            title: Title::stored(row.title),
            description: description.map_err(|_| StoreError::Corrupt("description"))?,
            state: IssueState::parse(&row.state).ok_or(StoreError::Corrupt("state of an issue"))?,
            confidential: row.confidential,
            due_date: row.due_date,
            user_notes_count: row.user_notes_count.unsigned_abs(),
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
        })
    }
}

/// The properties that decide which counter of a label an issue belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
struct CounterKind {
    open: bool,
    confidential: bool,
}

impl CounterKind {
    fn of(issue: &Issue) -> Self {
        Self { open: issue.state.is_open(), confidential: issue.confidential }
    }

    /// Begins a statement that increments or decrements the counter. The ids of the labels and `)` have to follow.
    fn update_counter(self, more: bool) -> Sql {
        Sql::new(match (self.open, self.confidential, more) {
            (true, false, true) => "UPDATE labels SET open_issues = open_issues + 1",
            (true, false, false) => "UPDATE labels SET open_issues = open_issues - 1",
            (false, false, true) => "UPDATE labels SET closed_issues = closed_issues + 1",
            (false, false, false) => "UPDATE labels SET closed_issues = closed_issues - 1",
            (true, true, true) => "UPDATE labels SET open_confidential = open_confidential + 1",
            (true, true, false) => "UPDATE labels SET open_confidential = open_confidential - 1",
            (false, true, true) => {
                "UPDATE labels SET closed_confidential = closed_confidential + 1"
            }
            (false, true, false) => {
                "UPDATE labels SET closed_confidential = closed_confidential - 1"
            }
        })
        .sql(" WHERE id IN (")
    }
}

/// The statement that increments and returns a project's counter of issues: the parts before and after the project id.
const NEXT_IID: (&str, &str) = (
    "INSERT INTO iids (project_id, issues) VALUES (",
    ", 1) ON CONFLICT (project_id) DO UPDATE SET issues = iids.issues + 1 RETURNING issues",
);

impl DieselTx<'_> {
    /// Returns the issues with these ids, in the order of the ids.
    pub(crate) fn issues_by_id(&mut self, ids: &[i64]) -> Result<Vec<Issue>, StoreError> {
        self.cached_rows(
            ids,
            |cache| &mut cache.issues,
            |issue: &Issue| issue.id.0,
            |tx, ids| {
                let mut rows: Vec<IssueRow> = tx.by_ids(ids, |conn, ids| {
                    issues::table.filter(issues::id.among(ids)).load(conn)
                })?;
                page::arrange(&mut rows, ids, |row| row.id);
                tx.convert_rows(rows)
            },
        )
    }

    /// Adds to a project's counter of open issues.
    fn add_to_open_issues(&mut self, project: ProjectId, more: i32) -> Result<(), StoreError> {
        let value = projects::open_issues_count.eq(projects::open_issues_count + more);
        self.write(|conn| diesel::update(projects::table.find(project.0)).set(value).execute(conn))
    }

    /// Deletes all issues that match a condition on `issues`, and subtracts them from the counters of labels. The
    /// caller updates the counters of projects, see [`Self::subtract_open_issues`].
    pub(crate) fn remove_issues(&mut self, removed: &Sql) -> Result<(), StoreError> {
        let with = |kind: &'static str| {
            Sql::new(
                "(SELECT count(*) FROM issue_labels AS has JOIN issues ON issues.id = has.issue_id \
                 WHERE +has.label_id = labels.id AND ",
            )
            .sql(kind)
            .sql(" AND ")
            .then(removed.clone())
            .sql(")")
        };
        self.execute(
            Sql::new("UPDATE labels SET open_issues = open_issues - ")
                .then(with("issues.state <> 'closed' AND NOT issues.confidential"))
                .sql(", closed_issues = closed_issues - ")
                .then(with("issues.state = 'closed' AND NOT issues.confidential"))
                .sql(", open_confidential = open_confidential - ")
                .then(with("issues.state <> 'closed' AND issues.confidential"))
                .sql(", closed_confidential = closed_confidential - ")
                .then(with("issues.state = 'closed' AND issues.confidential"))
                .sql(
                    " WHERE id IN (SELECT has.label_id FROM issue_labels AS has \
                     JOIN issues ON issues.id = has.issue_id WHERE ",
                )
                .then(removed.clone())
                .sql(")"),
        )?;
        self.execute(Sql::new("DELETE FROM issues WHERE ").then(removed.clone()))
    }

    /// Subtracts the open issues that match a condition from the counters of their projects.
    pub(crate) fn subtract_open_issues(&mut self, removed: &Sql) -> Result<(), StoreError> {
        self.execute(
            Sql::new("UPDATE projects SET open_issues_count = open_issues_count - ")
            .then(open_in_project(removed.clone()))
            .sql(" WHERE id IN (SELECT issues.project_id FROM issues WHERE issues.state <> 'closed' AND ")
            .then(removed.clone())
            .sql(")"),
        )
    }
}

/// Counts the open issues of a row of `projects` that match a condition on `issues`. The unary plus makes planners
/// use the index of the condition instead of reading all issues of the project.
fn open_in_project(which: Sql) -> Sql {
    Sql::new(
        "(SELECT count(*) FROM issues WHERE +issues.project_id = projects.id \
         AND issues.state <> 'closed' AND ",
    )
    .then(which)
    .sql(")")
}

impl Issues for DieselTx<'_> {
    fn find(&mut self, project: ProjectId, id: IssueId) -> Result<Option<Issue>, StoreError> {
        let found = self.issues_by_id(&[id.0])?;
        Ok(found.into_iter().find(|issue| issue.project == project))
    }

    fn find_all(&mut self, ids: &[IssueId]) -> Result<Vec<Issue>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        self.issues_by_id(&ids)
    }

    fn find_by_iids(&mut self, project: ProjectId, iids: &[i64]) -> Result<Vec<Issue>, StoreError> {
        let rows: Vec<IssueRow> = self.by_ids(iids, |conn, iids| {
            issues::table
                .filter(issues::project_id.eq(project.0))
                .filter(issues::iid.among(iids))
                .load(conn)
        })?;
        let found: Vec<Issue> = self.convert_rows(rows)?;
        if let Some(cache) = self.cache() {
            cache.issues.extend(found.iter().map(|issue| (issue.id.0, Some(issue.clone()))));
        }
        Ok(found)
    }

    fn list(&mut self, filter: &IssueFilter, page: Page) -> Result<Paged<Issue>, StoreError> {
        self.list_issues(filter, page)
    }

    fn count(&mut self, filter: &IssueFilter) -> Result<u64, StoreError> {
        self.count_issues(filter)
    }

    fn insert(&mut self, new: NewIssue) -> Result<Issue, StoreError> {
        let iid = self.next_iid(new.project, NEXT_IID)?;
        let state = IssueState::Opened;
        let values = (
            issues::project_id.eq(new.project.0),
            issues::iid.eq(iid),
            issues::author_id.eq(new.author.0),
            issues::assignee_id.eq(new.assignee.map(|user| user.0)),
            issues::milestone_id.eq(new.milestone.map(|milestone| milestone.0)),
            issues::title.eq(new.title.as_str()),
            issues::description.eq(new.description.as_ref().map(LongText::as_str)),
            issues::state.eq(state.as_str()),
            issues::confidential.eq(new.confidential),
            issues::due_date.eq(new.due_date),
            issues::created_at.eq(to_naive(new.created_at)),
            issues::updated_at.eq(to_naive(new.at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(issues::table).values(values).returning(issues::id).get_result(conn)
        })?;
        self.add_to_open_issues(new.project, 1)?;
        Ok(Issue {
            id: IssueId(id),
            iid,
            project: new.project,
            author: new.author,
            assignee: new.assignee,
            milestone: new.milestone,
            updated_by: None,
            moved_to: None,
            title: new.title,
            description: new.description,
            state,
            confidential: new.confidential,
            due_date: new.due_date,
            user_notes_count: 0,
            created_at: new.created_at,
            updated_at: new.at,
        })
    }

    fn update(&mut self, issue: &Issue) -> Result<(), StoreError> {
        let Some(before) = self.issues_by_id(&[issue.id.0])?.into_iter().next() else {
            return Ok(());
        };
        let values = (
            issues::author_id.eq(issue.author.0),
            issues::assignee_id.eq(issue.assignee.map(|user| user.0)),
            issues::milestone_id.eq(issue.milestone.map(|milestone| milestone.0)),
            issues::updated_by_id.eq(issue.updated_by.map(|user| user.0)),
            issues::moved_to_id.eq(issue.moved_to.map(|issue| issue.0)),
            issues::title.eq(issue.title.as_str()),
            issues::description.eq(issue.description.as_ref().map(LongText::as_str)),
            issues::state.eq(issue.state.as_str()),
            issues::confidential.eq(issue.confidential),
            issues::due_date.eq(issue.due_date),
            issues::created_at.eq(to_naive(issue.created_at)),
            issues::updated_at.eq(to_naive(issue.updated_at)),
        );
        self.run(|conn| diesel::update(issues::table.find(issue.id.0)).set(values).execute(conn))?;
        if before.author != issue.author {
            let its = issue_labels::table.filter(issue_labels::issue_id.eq(issue.id.0));
            let value = issue_labels::author_id.eq(issue.author.0);
            self.run(|conn| diesel::update(its).set(value).execute(conn))?;
        }
        let (old, new) = (CounterKind::of(&before), CounterKind::of(issue));
        if old != new {
            for (kind, more) in [(old, false), (new, true)] {
                let its = Sql::new("SELECT label_id FROM issue_labels WHERE issue_id = ");
                self.execute(kind.update_counter(more).then(its.id(issue.id.0)).sql(")"))?;
            }
        }
        match (old.open, new.open) {
            (true, false) => self.add_to_open_issues(before.project, -1),
            (false, true) => self.add_to_open_issues(before.project, 1),
            (true, true) | (false, false) => Ok(()),
        }
    }

    fn delete(&mut self, id: IssueId) -> Result<(), StoreError> {
        let removed = Sql::new("issues.id = ").id(id.0);
        self.subtract_open_issues(&removed)?;
        self.remove_issues(&removed)
    }

    fn labels_of(
        &mut self,
        issues: &[IssueId],
    ) -> Result<Vec<(IssueId, LabelId, LabelTitle)>, StoreError> {
        let ids: Vec<i64> = issues.iter().map(|id| id.0).collect();
        let rows: Vec<(i64, i64, String)> = self.by_ids(&ids, |conn, ids| {
            issue_labels::table
                .inner_join(labels::table)
                .filter(issue_labels::issue_id.among(ids))
                .order((issue_labels::issue_id, labels::title))
                .select((issue_labels::issue_id, labels::id, labels::title))
                .load(conn)
        })?;
        let label =
            |(issue, label, title)| (IssueId(issue), LabelId(label), LabelTitle::stored(title));
        Ok(rows.into_iter().map(label).collect())
    }

    fn set_labels(&mut self, issue: IssueId, labels: &[LabelId]) -> Result<(), StoreError> {
        let Some(found) = self.issues_by_id(&[issue.0])?.into_iter().next() else {
            return Ok(());
        };
        let kind = CounterKind::of(&found);
        let before: Vec<i64> = self.run(|conn| {
            issue_labels::table
                .filter(issue_labels::issue_id.eq(issue.0))
                .select(issue_labels::label_id)
                .load(conn)
        })?;
        let after = sorted_unique(labels.iter().map(|label| label.0));
        let removed_ids: Vec<i64> =
            before.iter().filter(|id| !after.contains(id)).copied().collect();
        let added_ids: Vec<i64> = after.into_iter().filter(|id| !before.contains(id)).collect();
        if !removed_ids.is_empty() {
            let rows = issue_labels::table
                .filter(issue_labels::issue_id.eq(issue.0))
                .filter(issue_labels::label_id.eq_any(removed_ids.clone()));
            self.run(|conn| diesel::delete(rows).execute(conn))?;
            self.execute(kind.update_counter(false).ids(removed_ids).sql(")"))?;
        }
        if !added_ids.is_empty() {
            let row = |label: &i64| {
                (
                    issue_labels::issue_id.eq(issue.0),
                    issue_labels::label_id.eq(*label),
                    issue_labels::author_id.eq(found.author.0),
                )
            };
            let rows: Vec<_> = added_ids.iter().map(row).collect();
            self.run(|conn| {
                each_backend!(conn, c => diesel::insert_into(issue_labels::table)
                    .values(rows)
                    .execute(c))
            })?;
            self.execute(kind.update_counter(true).ids(added_ids).sql(")"))?;
        }
        Ok(())
    }
}
