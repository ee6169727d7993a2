//! Triggers.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{PipelineId, ProjectId, TriggerId, TriggerRequestId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::ports::vault::Sealed;
use hexforge_domain::trigger::port::Triggers;
use hexforge_domain::trigger::{Trigger, TriggerRequest};

use crate::database::schema::{projects, trigger_requests, triggers};
use crate::database::time::{to_naive, to_utc, to_utc_opt};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::page;
use crate::query::sql::Sql;

#[derive(Queryable)]
struct TriggerRow {
    id: i64,
    project_id: i64,
    created_at: NaiveDateTime,
    updated_at: NaiveDateTime,
    last_used_at: Option<NaiveDateTime>,
}

impl From<TriggerRow> for Trigger {
    fn from(row: TriggerRow) -> Self {
        Trigger {
            id: TriggerId(row.id),
            project: ProjectId(row.project_id),
            created_at: to_utc(row.created_at),
            updated_at: to_utc(row.updated_at),
            last_used_at: to_utc_opt(row.last_used_at),
        }
    }
}

#[derive(Queryable)]
struct RequestRow {
    id: i64,
    pipeline_id: i64,
    trigger_id: Option<i64>,
    variables: Vec<u8>,
    created_at: NaiveDateTime,
}

impl Triggers for DieselTx<'_> {
    /// Three queries: the total, the ids, the rows.
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Trigger>, StoreError> {
        let fitting = Sql::new("SELECT id FROM triggers WHERE project_id = ").id(project.0);
        let total = self.total(&format!("triggers of {project}"), &fitting)?;
        let ids = self.ids(fitting.sql(" ORDER BY id").page(page))?;
        let mut rows: Vec<TriggerRow> = self
            .by_ids(&ids, |conn, ids| triggers::table.filter(triggers::id.among(ids)).load(conn))?;
        page::arrange(&mut rows, &ids, |row| row.id);
        Ok(Paged { items: rows.into_iter().map(Trigger::from).collect(), total })
    }

    fn find(&mut self, id: TriggerId) -> Result<Option<Trigger>, StoreError> {
        let its_project = projects::table.filter(projects::id.eq(triggers::project_id));
        let row: Option<TriggerRow> = self.run(|conn| {
            let found = triggers::table.find(id.0).filter(diesel::dsl::exists(its_project));
            found.get_result(conn).optional()
        })?;
        Ok(row.map(Trigger::from))
    }

    fn insert(&mut self, project: ProjectId, at: Timestamp) -> Result<Trigger, StoreError> {
        let values = (
            triggers::project_id.eq(project.0),
            triggers::created_at.eq(to_naive(at)),
            triggers::updated_at.eq(to_naive(at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(triggers::table)
                .values(values)
                .returning(triggers::id)
                .get_result(conn)
        })?;
        let id = TriggerId(id);
        Ok(Trigger { id, project, created_at: at, updated_at: at, last_used_at: None })
    }

    fn delete(&mut self, id: TriggerId) -> Result<(), StoreError> {
        self.write(|conn| diesel::delete(triggers::table.find(id.0)).execute(conn))
    }

    fn record_use(
        &mut self,
        trigger: TriggerId,
        pipeline: PipelineId,
        variables: &Sealed,
        at: Timestamp,
    ) -> Result<TriggerRequest, StoreError> {
        let row = triggers::table.find(trigger.0);
        let used = triggers::last_used_at.eq(to_naive(at));
        self.run(|conn| diesel::update(row).set(used).execute(conn))?;
        let values = (
            trigger_requests::pipeline_id.eq(pipeline.0),
            trigger_requests::trigger_id.eq(trigger.0),
            trigger_requests::variables.eq(&variables.0),
            trigger_requests::created_at.eq(to_naive(at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(trigger_requests::table)
                .values(values)
                .returning(trigger_requests::id)
                .get_result(conn)
        })?;
        Ok(TriggerRequest {
            id: TriggerRequestId(id),
            pipeline,
            trigger: Some(trigger),
            variables: variables.clone(),
            created_at: at,
        })
    }

    fn request_of(&mut self, pipeline: PipelineId) -> Result<Option<TriggerRequest>, StoreError> {
        let row: Option<RequestRow> = self.run(|conn| {
            trigger_requests::table
                .filter(trigger_requests::pipeline_id.eq(pipeline.0))
                .get_result(conn)
                .optional()
        })?;
        Ok(row.map(|row| TriggerRequest {
            id: TriggerRequestId(row.id),
            pipeline: PipelineId(row.pipeline_id),
            trigger: row.trigger_id.map(TriggerId),
            variables: Sealed(row.variables),
            created_at: to_utc(row.created_at),
        }))
    }
}
