//! Environments of projects.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::branch::BranchName;
use hexforge_domain::environment::port::Environments;
use hexforge_domain::environment::{
    Environment, EnvironmentName, EnvironmentState, ExternalUrl, NewEnvironment,
};
use hexforge_domain::id::{EnvironmentId, ProjectId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

use crate::database::backend;
use crate::database::schema::environments;
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::sql::Sql;

/// A row of `environments` that is not removed.
#[derive(Queryable, Selectable)]
#[diesel(table_name = environments)]
struct EnvironmentRow {
    id: i64,
    project_id: i64,
    name: String,
    external_url: Option<String>,
    state: String,
    stop_branch: Option<String>,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
}

impl TryFrom<EnvironmentRow> for Environment {
    type Error = StoreError;

    fn try_from(row: EnvironmentRow) -> Result<Self, StoreError> {
        let state = EnvironmentState::parse(&row.state);
        Ok(Environment {
            id: EnvironmentId(row.id),
            project: ProjectId(row.project_id),
            name: EnvironmentName::stored(row.name),
            external_url: row.external_url.map(ExternalUrl::stored),
            state: state.ok_or(StoreError::Corrupt("state of an environment"))?,
            stop_branch: row.stop_branch,
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
        })
    }
}

impl DieselTx<'_> {
    fn environments_by_id(&mut self, ids: &[i64]) -> Result<Vec<Environment>, StoreError> {
        let mut rows: Vec<EnvironmentRow> = self.by_ids(ids, |conn, ids| {
            environments::table
                .filter(environments::id.among(ids))
                .filter(environments::removed.eq(false))
                .select(EnvironmentRow::as_select())
                .load(conn)
        })?;
        page::arrange(&mut rows, ids, |row| row.id);
        self.convert_rows(rows)
    }
}

impl Environments for DieselTx<'_> {
    /// Two queries, and one for the total unless the page shows the end of the list.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Environment>, StoreError> {
        let fitting = Sql::new("SELECT id FROM environments WHERE NOT removed AND project_id = ");
        let fitting = fitting.id(project.0);
        let (ids, total) =
            self.page_of(fitting, " ORDER BY id", page, || format!("environments of {project}"))?;
        Ok(Paged { items: self.environments_by_id(&ids)?, total })
    }

    fn find(
        &mut self,
        project: ProjectId,
        id: EnvironmentId,
    ) -> Result<Option<Environment>, StoreError> {
        self.read_row(|conn| -> QueryResult<Option<EnvironmentRow>> {
            environments::table
                .find(id.0)
                .filter(environments::project_id.eq(project.0))
                .filter(environments::removed.eq(false))
                .select(EnvironmentRow::as_select())
                .get_result(conn)
                .optional()
        })
    }

    fn find_all(&mut self, ids: &[EnvironmentId]) -> Result<Vec<Environment>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        self.environments_by_id(&ids)
    }

    fn find_by_name(
        &mut self,
        project: ProjectId,
        name: &str,
    ) -> Result<Option<Environment>, StoreError> {
        if backend::contains_nul(name) {
            return Ok(None);
        }
        self.read_row(|conn| -> QueryResult<Option<EnvironmentRow>> {
            environments::table
                .filter(environments::project_id.eq(project.0))
                .filter(environments::name.eq(name))
                .filter(environments::removed.eq(false))
                .select(EnvironmentRow::as_select())
                .get_result(conn)
                .optional()
        })
    }

    fn find_by_url(
        &mut self,
        project: ProjectId,
        url: &str,
    ) -> Result<Option<Environment>, StoreError> {
        if backend::contains_nul(url) {
            return Ok(None);
        }
        self.read_row(|conn| -> QueryResult<Option<EnvironmentRow>> {
            environments::table
                .filter(environments::project_id.eq(project.0))
                .filter(environments::external_url.eq(url))
                .filter(environments::removed.eq(false))
                .select(EnvironmentRow::as_select())
                .get_result(conn)
                .optional()
        })
    }

    fn to_stop(
        &mut self,
        project: ProjectId,
        branches: &[BranchName],
        limit: u32,
    ) -> Result<Vec<Environment>, StoreError> {
        let Some((first, others)) = branches.split_first() else { return Ok(vec![]) };
        let mut query = Sql::new(
            "SELECT id FROM environments \
             WHERE state = 'available' AND stop_branch IS NOT NULL AND project_id = ",
        )
        .id(project.0)
        .sql(" AND stop_branch IN (")
        .text(first.as_str().to_owned());
        // The number of names varies, so the prepared statement is not cached.
        let mut names = Sql::uncached();
        for other in others {
            names = names.sql(", ").text(other.as_str().to_owned());
        }
        if !others.is_empty() {
            query = query.then(names);
        }
        // Without an order, the query ends at the limit.
        let ids = self.ids(query.sql(") LIMIT ").id(i64::from(limit)))?;
        if ids.is_empty() { Ok(vec![]) } else { self.environments_by_id(&ids) }
    }

    fn insert(&mut self, new: NewEnvironment) -> Result<Environment, StoreError> {
        let state = EnvironmentState::Available;
        let values = (
            environments::project_id.eq(new.project.0),
            environments::name.eq(new.name.as_str()),
            environments::external_url.eq(new.external_url.as_ref().map(ExternalUrl::as_str)),
            environments::state.eq(state.as_str()),
            environments::created_at.eq(to_naive(new.at)),
            environments::updated_at.eq(to_naive(new.at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(environments::table)
                .values(values)
                .returning(environments::id)
                .get_result(conn)
        })?;
        Ok(Environment {
            id: EnvironmentId(id),
            project: new.project,
            name: new.name,
            external_url: new.external_url,
            state,
            stop_branch: None,
            created_at: new.at,
            updated_at: new.at,
        })
    }

    fn update(&mut self, environment: &Environment) -> Result<(), StoreError> {
        let url = environment.external_url.as_ref().map(ExternalUrl::as_str);
        let values = (
            environments::name.eq(environment.name.as_str()),
            environments::external_url.eq(url),
            environments::state.eq(environment.state.as_str()),
            environments::stop_branch.eq(environment.stop_branch.as_deref()),
            environments::updated_at.eq(to_naive(environment.updated_at)),
        );
        let row = environments::table.find(environment.id.0);
        self.write(|conn| diesel::update(row).set(values).execute(conn))
    }

    /// Deletes the environment and its deployments, if they are few. Otherwise marks the environment, and
    /// [`Removals::step`](hexforge_domain::removal::port::Removals::step) deletes the rows.
    fn delete(&mut self, id: EnvironmentId) -> Result<(), StoreError> {
        self.subtract_deployments(id)?;
        if self.remove_environment_rows(id.0)? {
            return Ok(());
        }
        // The name and the URL become free. No environment has a name with a colon.
        let values = (
            environments::removed.eq(true),
            environments::name.eq(format!("removed:{id}")),
            environments::external_url.eq(None::<&str>),
            environments::stop_branch.eq(None::<&str>),
        );
        let row = environments::table.find(id.0);
        self.write(|conn| diesel::update(row).set(values).execute(conn))
    }
}
