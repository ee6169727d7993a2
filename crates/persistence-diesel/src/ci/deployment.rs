//! Deployments of builds to environments.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::deployment::port::Deployments;
use hexforge_domain::deployment::{Deployment, NewDeployment};
use hexforge_domain::id::{BuildId, DeploymentId, EnvironmentId, ProjectId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

use crate::database::backend;
use crate::database::schema::{deployments, environments};
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::page::{self, Span};
use crate::query::sql::Sql;

#[derive(Queryable)]
struct DeploymentRow {
    id: i64,
    project_id: i64,
    iid: i64,
    environment_id: i64,
    build_id: i64,
    reference: String,
    sha: String,
    user_id: Option<i64>,
    on_stop: Option<String>,
    created_at: NaiveDateTime,
}

impl TryFrom<DeploymentRow> for Deployment {
    type Error = StoreError;

    fn try_from(row: DeploymentRow) -> Result<Self, StoreError> {
        Ok(Deployment {
            id: DeploymentId(row.id),
            iid: row.iid,
            project: ProjectId(row.project_id),
            environment: EnvironmentId(row.environment_id),
            build: BuildId(row.build_id),
            reference: row.reference,
            sha: ObjectId::parse(&row.sha).ok_or(StoreError::Corrupt("commit of a deployment"))?,
            user: row.user_id.map(UserId),
            on_stop: row.on_stop,
            created_at: to_utc(row.created_at),
        })
    }
}

/// Like the constant in `issue.rs`, for deployments.
const NEXT_IID: (&str, &str) = (
    "INSERT INTO iids (project_id, deployments) VALUES (",
    ", 1) ON CONFLICT (project_id) DO UPDATE SET deployments = iids.deployments + 1 \
     RETURNING deployments",
);

/// The condition that the environment is not removed, without its end: the id of the project follows. Removed
/// environments keep deployments until all are deleted.
const NOT_REMOVED: &str =
    " AND environment_id NOT IN (SELECT id FROM environments WHERE project_id = ";

impl DieselTx<'_> {
    /// Returns the exact number of deployments of a project, without counting them.
    fn count_deployments(&mut self, project: ProjectId) -> Result<u64, StoreError> {
        let query =
            Sql::new("SELECT deployments - removed_deployments FROM iids WHERE project_id = ");
        let count = self.ids(query.id(project.0))?.into_iter().next();
        Ok(count.map_or(0, i64::unsigned_abs))
    }

    /// Subtracts the deployments of an environment, which is about to be deleted, from the total of its project.
    pub(crate) fn subtract_deployments(
        &mut self,
        environment: EnvironmentId,
    ) -> Result<(), StoreError> {
        self.execute(
            Sql::new(
                "UPDATE iids SET removed_deployments = removed_deployments \
                 + (SELECT count(*) FROM deployments WHERE environment_id = ",
            )
            .id(environment.0)
            .sql(") WHERE project_id = (SELECT project_id FROM environments WHERE id = ")
            .id(environment.0)
            .sql(")"),
        )
    }
}

impl Deployments for DieselTx<'_> {
    /// Three queries: the total, the ids, the rows. The total is exact, so pages near the end, which have the newest
    /// deployments, are read from there.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Deployment>, StoreError> {
        let fitting = Sql::new("SELECT id FROM deployments WHERE project_id = ")
            .id(project.0)
            .sql(NOT_REMOVED)
            .id(project.0)
            .sql(" AND removed)");
        let total = self.count_deployments(project)?;
        let span = Span::backward(page, total).unwrap_or_else(|| Span::forward(page));
        let order = if span.backward { " ORDER BY id DESC" } else { " ORDER BY id" };
        let mut ids = self.ids(fitting.sql(order).span(span))?;
        span.restore(&mut ids);
        let mut rows: Vec<DeploymentRow> = self.by_ids(&ids, |conn, ids| {
            deployments::table.filter(deployments::id.among(ids)).load(conn)
        })?;
        page::arrange(&mut rows, &ids, |row| row.id);
        Ok(Paged { items: self.convert_rows(rows)?, total })
    }

    fn find(
        &mut self,
        project: ProjectId,
        id: DeploymentId,
    ) -> Result<Option<Deployment>, StoreError> {
        self.read_row(|conn| -> QueryResult<Option<DeploymentRow>> {
            let removed = environments::table
                .filter(environments::project_id.eq(project.0))
                .filter(environments::removed.eq(true))
                .select(environments::id);
            deployments::table
                .find(id.0)
                .filter(deployments::project_id.eq(project.0))
                .filter(deployments::environment_id.ne_all(removed))
                .get_result(conn)
                .optional()
        })
    }

    /// Two queries, and one for the total unless the page shows the end of the list.
    fn list_to(
        &mut self,
        environment: EnvironmentId,
        page: Page,
    ) -> Result<Paged<Deployment>, StoreError> {
        let fitting =
            Sql::new("SELECT id FROM deployments WHERE environment_id = ").id(environment.0);
        let (ids, total) = self.page_of(fitting, " ORDER BY id DESC", page, || {
            format!("deployments to {environment}")
        })?;
        let mut rows: Vec<DeploymentRow> = self.by_ids(&ids, |conn, ids| {
            deployments::table.filter(deployments::id.among(ids)).load(conn)
        })?;
        page::arrange(&mut rows, &ids, |row| row.id);
        Ok(Paged { items: self.convert_rows(rows)?, total })
    }

    fn last_to(&mut self, environment: EnvironmentId) -> Result<Option<Deployment>, StoreError> {
        self.read_row(|conn| -> QueryResult<Option<DeploymentRow>> {
            deployments::table
                .filter(deployments::environment_id.eq(environment.0))
                .order(deployments::id.desc())
                .limit(1)
                .get_result(conn)
                .optional()
        })
    }

    fn insert(&mut self, new: NewDeployment) -> Result<Deployment, StoreError> {
        let iid = self.next_iid(new.project, NEXT_IID)?;
        let values = (
            deployments::project_id.eq(new.project.0),
            deployments::iid.eq(iid),
            deployments::environment_id.eq(new.environment.0),
            deployments::build_id.eq(new.build.0),
            deployments::reference.eq(backend::without_nul(&new.reference)),
            deployments::sha.eq(new.sha.to_string()),
            deployments::user_id.eq(new.user.map(|user| user.0)),
            deployments::on_stop.eq(new.on_stop.as_deref().map(backend::without_nul)),
            deployments::created_at.eq(to_naive(new.at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(deployments::table)
                .values(values)
                .returning(deployments::id)
                .get_result(conn)
        })?;
        Ok(Deployment {
            id: DeploymentId(id),
            iid,
            project: new.project,
            environment: new.environment,
            build: new.build,
            reference: new.reference,
            sha: new.sha,
            user: new.user,
            on_stop: new.on_stop,
            created_at: new.at,
        })
    }
}
