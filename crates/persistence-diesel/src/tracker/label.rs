//! Labels.

use std::collections::HashMap;

use diesel::prelude::*;
use diesel::sql_types::{BigInt, Bool};
use hexforge_domain::Timestamp;
use hexforge_domain::id::{LabelId, ProjectId, UserId};
use hexforge_domain::label::port::Labels;
use hexforge_domain::label::{
    Color, Label, LabelCounts, LabelDescription, LabelTitle, NewLabel, Priority, VisibleCounts,
};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::subscription::Subscribed;

use crate::database::backend;
use crate::database::schema::{label_subscriptions, labels};
use crate::database::time::to_naive;
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::sql::Sql;
use crate::query::title_start;

#[derive(Queryable, Selectable)]
#[diesel(table_name = labels)]
struct LabelRow {
    id: i64,
    project_id: i64,
    title: String,
    color: String,
    description: Option<String>,
    priority: Option<i64>,
    open_issues: i32,
    closed_issues: i32,
    open_confidential: i32,
    closed_confidential: i32,
    group_label_id: Option<i64>,
}

impl TryFrom<LabelRow> for Label {
    type Error = StoreError;

    fn try_from(row: LabelRow) -> Result<Self, StoreError> {
        let description = row.description.map(|text| LabelDescription::parse(&text)).transpose();
        let priority = row.priority.map(Priority::parse).transpose();
        Ok(Label {
            id: LabelId(row.id),
            project: ProjectId(row.project_id),
            of_group: row.group_label_id.map(LabelId),
            title: LabelTitle::stored(row.title),
            color: Color::stored(row.color),
            description: description.map_err(|_| StoreError::Corrupt("description"))?,
            priority: priority.map_err(|_| StoreError::Corrupt("priority"))?,
            counts: LabelCounts {
                open: row.open_issues.unsigned_abs(),
                closed: row.closed_issues.unsigned_abs(),
                open_confidential: row.open_confidential.unsigned_abs(),
                closed_confidential: row.closed_confidential.unsigned_abs(),
            },
        })
    }
}

impl Labels for DieselTx<'_> {
    /// One query, and one for the total unless the page shows the end of the list.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Label>, StoreError> {
        let all = Sql::new("SELECT id FROM labels WHERE project_id = ").id(project.0);
        let items: Vec<_> = self.read_rows(|conn| {
            labels::table
                .filter(labels::project_id.eq(project.0))
                .order((labels::title_start, labels::title))
                .limit(page::limit(page))
                .offset(page::offset(page))
                .select(LabelRow::as_select())
                .load(conn)
        })?;
        let total =
            self.total_beside(page, items.len(), || format!("labels of {project}"), &all)?;
        Ok(Paged { items, total })
    }

    fn list_of(&mut self, projects: &[ProjectId], limit: u32) -> Result<Vec<Label>, StoreError> {
        let ids: Vec<i64> = projects.iter().map(|project| project.0).collect();
        self.read_rows(|conn| {
            labels::table
                .filter(labels::project_id.among(&ids))
                .order((labels::title_start, labels::title, labels::id))
                .limit(limit.into())
                .select(LabelRow::as_select())
                .load(conn)
        })
    }

    fn find(&mut self, project: ProjectId, id: LabelId) -> Result<Option<Label>, StoreError> {
        self.read_row(|conn| {
            let own = labels::id.eq(id.0).and(labels::group_label_id.is_null());
            labels::table
                .filter(labels::project_id.eq(project.0))
                .filter(own.or(labels::group_label_id.eq(Some(id.0)).assume_not_null()))
                .select(LabelRow::as_select())
                .get_result(conn)
                .optional()
        })
    }

    fn find_by_title(
        &mut self,
        project: ProjectId,
        title: &str,
    ) -> Result<Option<Label>, StoreError> {
        if backend::contains_nul(title) {
            return Ok(None);
        }
        self.read_row(|conn| {
            labels::table
                .filter(labels::project_id.eq(project.0))
                .filter(labels::title_start.eq(title_start::prefix(title)))
                .filter(labels::title.eq(title))
                .select(LabelRow::as_select())
                .get_result(conn)
                .optional()
        })
    }

    fn find_by_titles(
        &mut self,
        project: ProjectId,
        titles: &[LabelTitle],
    ) -> Result<Vec<Label>, StoreError> {
        let titles: Vec<&str> = titles.iter().map(LabelTitle::as_str).collect();
        let starts: Vec<&str> = titles.iter().map(|title| title_start::prefix(title)).collect();
        self.read_rows(|conn| {
            labels::table
                .filter(labels::project_id.eq(project.0))
                .filter(labels::title_start.among(&starts))
                .filter(labels::title.among(&titles))
                .order((labels::title_start, labels::title))
                .select(LabelRow::as_select())
                .load(conn)
        })
    }

    fn find_all(&mut self, ids: &[LabelId]) -> Result<Vec<Label>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let rows: Vec<LabelRow> = self.by_ids(&ids, |conn, ids| {
            labels::table.filter(labels::id.among(ids)).select(LabelRow::as_select()).load(conn)
        })?;
        self.convert_rows(rows)
    }

    fn insert_all(
        &mut self,
        project: ProjectId,
        new: Vec<NewLabel>,
    ) -> Result<Vec<Label>, StoreError> {
        let rows: Vec<_> = new
            .iter()
            .map(|new| {
                (
                    labels::project_id.eq(project.0),
                    labels::title.eq(new.title.as_str()),
                    labels::color.eq(new.color.as_str()),
                    labels::description.eq(new.description.as_ref().map(LabelDescription::as_str)),
                    labels::priority.eq(new.priority.map(Priority::number)),
                    labels::created_at.eq(to_naive(new.at)),
                    labels::updated_at.eq(to_naive(new.at)),
                )
            })
            .collect();
        let mut made: Vec<Label> = self.read_rows(|conn| {
            each_backend!(conn, c => diesel::insert_into(labels::table)
                .values(rows)
                .returning(LabelRow::as_returning())
                .get_results(c))
        })?;
        made.sort_by(|a, b| a.title.as_str().cmp(b.title.as_str()));
        Ok(made)
    }

    fn update(&mut self, label: &Label, at: Timestamp) -> Result<(), StoreError> {
        let values = (
            labels::title.eq(label.title.as_str()),
            labels::color.eq(label.color.as_str()),
            labels::description.eq(label.description.as_ref().map(LabelDescription::as_str)),
            labels::priority.eq(label.priority.map(Priority::number)),
            labels::updated_at.eq(to_naive(at)),
        );
        self.write(|conn| diesel::update(labels::table.find(label.id.0)).set(values).execute(conn))
    }

    fn delete(&mut self, id: LabelId) -> Result<(), StoreError> {
        self.close_position_gap(Sql::new("label_id = ").id(id.0))?;
        self.write(|conn| diesel::delete(labels::table.find(id.0)).execute(conn))
    }

    fn subscribed(&mut self, user: UserId, labels: &[LabelId]) -> Result<Vec<LabelId>, StoreError> {
        let ids: Vec<i64> = labels.iter().map(|id| id.0).collect();
        let subscribed: Vec<i64> = self.by_ids(&ids, |conn, ids| {
            label_subscriptions::table
                .filter(label_subscriptions::user_id.eq(user.0))
                .filter(label_subscriptions::label_id.among(ids))
                .select(label_subscriptions::label_id)
                .load(conn)
        })?;
        Ok(subscribed.into_iter().map(LabelId).collect())
    }

    fn subscribe(
        &mut self,
        label: LabelId,
        user: UserId,
        subscribed: Subscribed,
    ) -> Result<(), StoreError> {
        match subscribed {
            Subscribed::Yes => {
                let row = (
                    label_subscriptions::label_id.eq(label.0),
                    label_subscriptions::user_id.eq(user.0),
                );
                self.run(|conn| {
                    each_backend!(conn, c => diesel::insert_into(label_subscriptions::table)
                        .values(row)
                        .on_conflict_do_nothing()
                        .execute(c))
                })?;
            }
            Subscribed::No => {
                let row = label_subscriptions::table.find((label.0, user.0));
                self.run(|conn| diesel::delete(row).execute(conn))?;
            }
        }
        Ok(())
    }

    fn count_confidential(
        &mut self,
        project: ProjectId,
        user: UserId,
        labels: &[LabelId],
    ) -> Result<Vec<(LabelId, VisibleCounts)>, StoreError> {
        if labels.is_empty() {
            return Ok(vec![]);
        }
        let ids: Vec<i64> = labels.iter().map(|label| label.0).collect();
        // Reads the user's few confidential issues first, by two indexes, and then their labels. The planner must
        // not start from the labels, which are few as well.
        let of = |column: &'static str| {
            Sql::new("SELECT id, state FROM issues WHERE confidential AND project_id = ")
                .id(project.0)
                .sql(column)
                .id(user.0)
        };
        let query = Sql::new("SELECT has.label_id, own.state <> 'closed' FROM (")
            .then(of(" AND author_id = "))
            .sql(" UNION ")
            .then(of(" AND assignee_id = "))
            .sql(
                ") AS own CROSS JOIN issue_labels AS has \
                 WHERE has.issue_id = own.id AND +has.label_id IN (",
            )
            .few_ids(&ids)
            .sql(")");
        let rows: Vec<(i64, bool)> = self.run(|conn| query.rows::<(BigInt, Bool)>().load(conn))?;
        let mut counts: HashMap<i64, VisibleCounts> = HashMap::new();
        for (label, open) in rows {
            let count = counts.entry(label).or_default();
            *(if open { &mut count.open } else { &mut count.closed }) += 1;
        }
        Ok(counts.into_iter().map(|(label, count)| (LabelId(label), count)).collect())
    }
}
