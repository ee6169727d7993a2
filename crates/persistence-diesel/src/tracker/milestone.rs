//! Milestones.

use std::cmp::Reverse;

use chrono::{NaiveDate, NaiveDateTime};
use diesel::prelude::*;
use hexforge_domain::id::{MilestoneId, ProjectId};
use hexforge_domain::milestone::port::Milestones;
use hexforge_domain::milestone::{Milestone, MilestoneFilter, MilestoneState, NewMilestone, Title};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::text::LongText;

use crate::database::backend;
use crate::database::schema::milestones;
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::sql::Sql;

/// A row of `milestones`, without the counters, which only totals of issues read.
#[derive(Queryable, Selectable)]
#[diesel(table_name = milestones)]
struct MilestoneRow {
    id: i64,
    project_id: i64,
    iid: i64,
    title: String,
    description: Option<String>,
    state: String,
    start_date: Option<NaiveDate>,
    due_date: Option<NaiveDate>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<MilestoneRow> for Milestone {
    type Error = StoreError;

    fn try_from(row: MilestoneRow) -> Result<Self, StoreError> {
        let description = row.description.map(|text| LongText::parse(&text)).transpose();
        Ok(Milestone {
            id: MilestoneId(row.id),
            iid: row.iid,
            project: ProjectId(row.project_id),
            title: Title::stored(row.title),
            description: description.map_err(|_| StoreError::Corrupt("description"))?,
            state: MilestoneState::parse(&row.state)
                .ok_or(StoreError::Corrupt("state of a milestone"))?,
            start_date: row.start_date,
            due_date: row.due_date,
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
        })
    }
}

impl DieselTx<'_> {
    fn milestones_by_id(&mut self, ids: &[i64]) -> Result<Vec<Milestone>, StoreError> {
        let mut rows: Vec<MilestoneRow> = self.by_ids(ids, |conn, ids| {
            milestones::table
                .filter(milestones::id.among(ids))
                .select(MilestoneRow::as_select())
                .load(conn)
        })?;
        page::arrange(&mut rows, ids, |row| row.id);
        self.convert_rows(rows)
    }

    /// Lists the milestones of the projects that a condition selects, newest first.
    fn list_milestones(
        &mut self,
        name: &str,
        within: Sql,
        filter: &MilestoneFilter,
        page: Page,
    ) -> Result<Paged<Milestone>, StoreError> {
        let conditions = [
            Some(within),
            filter.state.map(|state| Sql::new("state = ").text(state.as_str().to_owned())),
            filter.iids.as_ref().map(|iids| Sql::new("iid IN (").few_ids(iids).sql(")")),
        ];
        let fitting =
            Sql::new("SELECT id FROM milestones").filter(conditions.into_iter().flatten());
        let shown = fitting.clone().sql(" ORDER BY id DESC").page(page);
        let mut rows: Vec<MilestoneRow> = self.run(|conn| {
            let rows = milestones::table.filter(milestones::id.within(shown));
            rows.select(MilestoneRow::as_select()).load(conn)
        })?;
        rows.sort_unstable_by_key(|row| Reverse(row.id));
        let name = || format!("milestones of {name} {filter:?}");
        let total = self.total_beside(page, rows.len(), name, &fitting)?;
        Ok(Paged { items: self.convert_rows(rows)?, total })
    }

    /// Returns the next `iid` of a project's issues or milestones. `first` and `next` are the parts of the statement
    /// before and after the project id.
    pub(crate) fn next_iid(
        &mut self,
        project: ProjectId,
        (first, next): (&'static str, &'static str),
    ) -> Result<i64, StoreError> {
        let numbers = self.ids(Sql::new(first).id(project.0).sql(next))?;
        numbers.into_iter().next().ok_or_else(|| self.fail(StoreError::Corrupt("counter")))
    }
}

/// Like the constant in `issue.rs`, for milestones.
const NEXT_IID: (&str, &str) = (
    "INSERT INTO iids (project_id, milestones) VALUES (",
    ", 1) ON CONFLICT (project_id) DO UPDATE SET milestones = iids.milestones + 1 \
     RETURNING milestones",
);

impl Milestones for DieselTx<'_> {
    /// One query, and one for the total unless the page shows the end of the list.
    fn list(
        &mut self,
        project: ProjectId,
        filter: &MilestoneFilter,
        page: Page,
    ) -> Result<Paged<Milestone>, StoreError> {
        self.list_milestones(
            &format!("{project}"),
            Sql::new("project_id = ").id(project.0),
            filter,
            page,
        )
    }

    /// As for one project.
    fn list_of(
        &mut self,
        projects: &[ProjectId],
        filter: &MilestoneFilter,
        page: Page,
    ) -> Result<Paged<Milestone>, StoreError> {
        if projects.is_empty() {
            return Ok(Paged { items: vec![], total: 0 });
        }
        let ids: Vec<i64> = projects.iter().map(|project| project.0).collect();
        let within = Sql::new("project_id IN (").few_ids(&ids).sql(")");
        self.list_milestones(&format!("{projects:?}"), within, filter, page)
    }

    fn find(
        &mut self,
        project: ProjectId,
        id: MilestoneId,
    ) -> Result<Option<Milestone>, StoreError> {
        self.read_row(|conn| {
            milestones::table
                .find(id.0)
                .filter(milestones::project_id.eq(project.0))
                .select(MilestoneRow::as_select())
                .get_result(conn)
                .optional()
        })
    }

    fn find_by_title(
        &mut self,
        project: ProjectId,
        title: &str,
    ) -> Result<Option<Milestone>, StoreError> {
        if backend::contains_nul(title) {
            return Ok(None);
        }
        self.read_row(|conn| {
            milestones::table
                .filter(milestones::project_id.eq(project.0))
                .filter(milestones::title.eq(title))
                .select(MilestoneRow::as_select())
                .get_result(conn)
                .optional()
        })
    }

    fn find_all(&mut self, ids: &[MilestoneId]) -> Result<Vec<Milestone>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        self.milestones_by_id(&ids)
    }

    fn insert(&mut self, new: NewMilestone) -> Result<Milestone, StoreError> {
        let iid = self.next_iid(new.project, NEXT_IID)?;
        let state = MilestoneState::Active;
        let values = (
            milestones::project_id.eq(new.project.0),
            milestones::iid.eq(iid),
            milestones::title.eq(new.title.as_str()),
            milestones::description.eq(new.description.as_ref().map(LongText::as_str)),
            milestones::state.eq(state.as_str()),
            milestones::start_date.eq(new.start_date),
            milestones::due_date.eq(new.due_date),
            milestones::created_at.eq(to_naive(new.at)),
            milestones::updated_at.eq(to_naive(new.at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(milestones::table)
                .values(values)
                .returning(milestones::id)
                .get_result(conn)
        })?;
        Ok(Milestone {
            id: MilestoneId(id),
            iid,
            project: new.project,
            title: new.title,
            description: new.description,
            state,
            start_date: new.start_date,
            due_date: new.due_date,
            created_at: new.at,
            updated_at: new.at,
        })
    }

    fn update(&mut self, milestone: &Milestone) -> Result<(), StoreError> {
        let values = (
            milestones::title.eq(milestone.title.as_str()),
            milestones::description.eq(milestone.description.as_ref().map(LongText::as_str)),
            milestones::state.eq(milestone.state.as_str()),
            milestones::start_date.eq(milestone.start_date),
            milestones::due_date.eq(milestone.due_date),
            milestones::updated_at.eq(to_naive(milestone.updated_at)),
        );
        let row = milestones::table.find(milestone.id.0);
        self.write(|conn| diesel::update(row).set(values).execute(conn))
    }

    fn delete(&mut self, id: MilestoneId) -> Result<(), StoreError> {
        let events = "DELETE FROM events WHERE target_type = 'Milestone' AND target_id = ";
        self.execute(Sql::new(events).id(id.0))?;
        self.execute(Sql::new("DELETE FROM milestones WHERE id = ").id(id.0))
    }
}
