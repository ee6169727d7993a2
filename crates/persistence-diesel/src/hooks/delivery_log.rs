//! The log of deliveries, for the administrators of hooks.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Nullable, Text, Timestamp as Moment};
use hexforge_domain::Timestamp;
use hexforge_domain::delivery::port::DeliveryLog;
use hexforge_domain::delivery::{
    Attempt, Delivery, DeliveryKey, DeliveryState, FailingHook, HookRef, MAX_SHOWN_BODY, QueueSize,
};
use hexforge_domain::hook::HookUrl;
use hexforge_domain::id::{
    DeliveryId, PayloadId, ProjectHookId, ProjectId, ServiceId, SystemHookId,
};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::unique::sorted_unique;

use crate::database::schema::{deliveries, hook_lanes};
use crate::database::seal::{Purpose, Seals};
use crate::database::time::{to_naive, to_utc, to_utc_opt};
use crate::database::tx::DieselTx;
use crate::hooks::delivery::to_i32;
use crate::hooks::delivery_claim::HookKind;
use crate::query::sql::Sql;

#[derive(Queryable, Selectable)]
#[diesel(table_name = deliveries)]
struct DeliveryRow {
    id: i64,
    payload_id: i64,
    key: String,
    event: String,
    state: String,
    tries: i32,
    due_at: Option<NaiveDateTime>,
    created_at: NaiveDateTime,
    tried_at: Option<NaiveDateTime>,
    url: Option<String>,
    millis: Option<i32>,
    status: Option<i32>,
    answer: Option<String>,
    error: Option<String>,
}

impl DeliveryRow {
    fn read(self, body: (String, bool), seals: &Seals) -> Result<Delivery, StoreError> {
        let corrupt = || StoreError::Corrupt("delivery");
        let status = self.status.map(u16::try_from).transpose().map_err(|_| corrupt())?;
        let url = self.url.map(|url| seals.open(Purpose::HookUrl, &url)).transpose()?;
        let last = self.tried_at.map(|at| Attempt {
            at: to_utc(at),
            url: url.unwrap_or_default(),
            millis: self.millis.unwrap_or_default().unsigned_abs(),
            status,
            answer: self.answer,
            error: self.error,
        });
        Ok(Delivery {
            id: DeliveryId(self.id),
            key: DeliveryKey::stored(self.key),
            event: self.event,
            state: DeliveryState::parse(&self.state, to_utc_opt(self.due_at))
                .ok_or_else(corrupt)?,
            tries: self.tries.unsigned_abs(),
            created_at: to_utc(self.created_at),
            body,
            last,
        })
    }
}

impl DieselTx<'_> {
    fn lane_of(&mut self, hook: HookRef) -> Result<Option<i64>, StoreError> {
        let (kind, id) = match hook {
            HookRef::Project(id) => (HookKind::Project, id.0),
            HookRef::System(id) => (HookKind::System, id.0),
            HookRef::Service(id) => (HookKind::Service, id.0),
        };
        Ok(self.find_lanes(kind, vec![id])?.into_values().next())
    }

    /// Adds the beginning of the payload body to each row.
    fn with_bodies(&mut self, rows: Vec<DeliveryRow>) -> Result<Vec<Delivery>, StoreError> {
        let ids = sorted_unique(rows.iter().map(|row| row.payload_id));
        let query = Sql::new("SELECT id, substr(body, 1, ")
            .number(to_i32(MAX_SHOWN_BODY as u32))
            .sql("), length(body) FROM hook_payloads WHERE id IN (")
            .ids(ids)
            .sql(")");
        // `length` is a 32-bit integer on PostgreSQL and a 64-bit integer on SQLite.
        let bodies: Vec<(i64, String, i32)> =
            self.run(|conn| query.rows::<(BigInt, Text, Integer)>().load(conn))?;
        let mut whole = Vec::with_capacity(rows.len());
        for row in rows {
            let body = bodies.iter().find(|(id, ..)| *id == row.payload_id);
            let body = body.map_or((String::new(), false), |(_, body, length)| {
                (body.clone(), *length as usize > MAX_SHOWN_BODY)
            });
            whole.push(self.fail_on_error(row.read(body, self.seals))?);
        }
        Ok(whole)
    }
}

impl DeliveryLog for DieselTx<'_> {
    /// Four queries: the lane, the total, the rows, the payloads.
    fn list(&mut self, hook: HookRef, page: Page) -> Result<Paged<Delivery>, StoreError> {
        let Some(lane) = self.lane_of(hook)? else { return Ok(Paged { items: vec![], total: 0 }) };
        let all = Sql::new("SELECT id FROM deliveries WHERE lane_id = ").id(lane);
        let total = self.total(&format!("deliveries of {lane}"), &all)?;
        let rows: Vec<DeliveryRow> = self.run(|conn| {
            deliveries::table
                .filter(deliveries::lane_id.eq(lane))
                .order(deliveries::id.desc())
                .limit(crate::query::page::limit(page))
                .offset(crate::query::page::offset(page))
                .select(DeliveryRow::as_select())
                .load(conn)
        })?;
        Ok(Paged { items: self.with_bodies(rows)?, total })
    }

    fn find(&mut self, hook: HookRef, id: DeliveryId) -> Result<Option<Delivery>, StoreError> {
        let Some(lane) = self.lane_of(hook)? else { return Ok(None) };
        let rows: Vec<DeliveryRow> = self.run(|conn| {
            deliveries::table
                .filter(deliveries::id.eq(id.0))
                .filter(deliveries::lane_id.eq(lane))
                .select(DeliveryRow::as_select())
                .load(conn)
        })?;
        Ok(self.with_bodies(rows)?.pop())
    }

    fn retry(&mut self, id: DeliveryId, now: Timestamp) -> Result<(), StoreError> {
        let lane: Option<i64> = self.run(|conn| {
            deliveries::table.find(id.0).select(deliveries::lane_id).get_result(conn).optional()
        })?;
        let Some(lane) = lane else { return Ok(()) };
        self.lock_lanes(&[lane])?;
        let pending = DeliveryState::Pending { due: now };
        let values = (
            deliveries::state.eq(pending.as_str()),
            deliveries::tries.eq(0),
            deliveries::due_at.eq(Some(to_naive(now))),
            deliveries::since.eq(to_naive(now)),
        );
        self.run(|conn| diesel::update(deliveries::table.find(id.0)).set(values).execute(conn))?;
        let rested = hook_lanes::rest_until.eq(None::<NaiveDateTime>);
        self.run(|conn| diesel::update(hook_lanes::table.find(lane)).set(rested).execute(conn))?;
        self.reschedule_unclaimed(vec![lane])
    }

    fn queue(&mut self) -> Result<QueueSize, StoreError> {
        type Row = (BigInt, BigInt, Nullable<Moment>, Nullable<Moment>);
        type Found = (i64, i64, Option<NaiveDateTime>, Option<NaiveDateTime>);
        let query = Sql::new(
            "SELECT (SELECT count(*) FROM outbox), \
             (SELECT count(*) FROM deliveries WHERE due_at IS NOT NULL), \
             (SELECT created_at FROM outbox ORDER BY id LIMIT 1), \
             (SELECT min(created_at) FROM deliveries WHERE due_at IS NOT NULL)",
        );
        let (events, deliveries, event, delivery): Found =
            self.run(|conn| query.rows::<Row>().get_result(conn))?;
        Ok(QueueSize {
            events: events.unsigned_abs(),
            deliveries: deliveries.unsigned_abs(),
            oldest: [event, delivery].into_iter().flatten().min().map(to_utc),
        })
    }

    fn failing(&mut self, failures: u32, limit: u32) -> Result<Vec<FailingHook>, StoreError> {
        type Row = (
            Nullable<BigInt>,
            Nullable<BigInt>,
            Nullable<BigInt>,
            Nullable<BigInt>,
            Nullable<Text>,
            Integer,
            Nullable<Moment>,
            Nullable<Text>,
        );
        type Found = (
            Option<i64>,
            Option<i64>,
            Option<i64>,
            Option<i64>,
            Option<String>,
            i32,
            Option<NaiveDateTime>,
            Option<String>,
        );
        let query = Sql::new(
            "SELECT hook_lanes.project_hook_id, hook_lanes.system_hook_id, hook_lanes.service_id, \
             coalesce(project_hooks.project_id, services.project_id), \
             coalesce(project_hooks.url, system_hooks.url, services.url), hook_lanes.failures, hook_lanes.failing_since, \
             (SELECT error FROM deliveries WHERE lane_id = hook_lanes.id AND tried_at IS NOT NULL \
              ORDER BY tried_at DESC, id LIMIT 1) \
             FROM hook_lanes LEFT JOIN project_hooks ON project_hooks.id = hook_lanes.project_hook_id \
             LEFT JOIN system_hooks ON system_hooks.id = hook_lanes.system_hook_id \
             LEFT JOIN services ON services.id = hook_lanes.service_id \
             WHERE hook_lanes.failures > 0 AND hook_lanes.failures >= ",
        )
        .number(to_i32(failures))
        .sql(" ORDER BY hook_lanes.failures DESC, hook_lanes.id LIMIT ")
        .id(i64::from(limit));
        let rows: Vec<Found> = self.run(|conn| query.rows::<Row>().load(conn))?;
        let seals = self.seals;
        let read = |(hook, system, service, project, url, failures, since, reason): Found| {
            let hook = match (hook, system, service) {
                (Some(id), ..) => HookRef::Project(ProjectHookId(id)),
                (None, Some(id), _) => HookRef::System(SystemHookId(id)),
                (None, None, Some(id)) => HookRef::Service(ServiceId(id)),
                (None, None, None) => return Ok(None),
            };
            let (Some(url), Some(since)) = (url, since) else { return Ok(None) };
            Ok(Some(FailingHook {
                hook,
                project: project.map(ProjectId),
                host: HookUrl::stored(seals.open(Purpose::HookUrl, &url)?).host().to_owned(),
                failures: failures.unsigned_abs(),
                since: to_utc(since),
                reason: reason.unwrap_or_default(),
            }))
        };
        self.fail_on_error(rows.into_iter().filter_map(|row| read(row).transpose()).collect())
    }

    fn stale(
        &mut self,
        before: Timestamp,
        keep: u32,
        limit: u32,
    ) -> Result<Vec<DeliveryId>, StoreError> {
        let query = Sql::new(
            "SELECT id FROM (SELECT id, due_at, created_at, \
             row_number() OVER (PARTITION BY lane_id ORDER BY id DESC) AS place FROM deliveries) AS placed \
             WHERE due_at IS NULL AND (place > ",
        )
        .id(i64::from(keep))
        .sql(" OR created_at < ")
        .moment(to_naive(before))
        .sql(") ORDER BY id LIMIT ")
        .id(i64::from(limit));
        Ok(self.ids(query)?.into_iter().map(DeliveryId).collect())
    }

    fn remove(&mut self, ids: &[DeliveryId]) -> Result<(), StoreError> {
        let ids = ids.iter().map(|id| id.0).collect();
        self.execute(
            Sql::new("DELETE FROM deliveries WHERE due_at IS NULL AND id IN (").ids(ids).sql(")"),
        )
    }

    fn unused_payloads(&mut self, limit: u32) -> Result<Vec<PayloadId>, StoreError> {
        let unused = Sql::new(
            "SELECT id FROM hook_payloads WHERE NOT EXISTS \
             (SELECT 1 FROM deliveries WHERE deliveries.payload_id = hook_payloads.id) ORDER BY id LIMIT ",
        )
        .id(i64::from(limit));
        Ok(self.ids(unused)?.into_iter().map(PayloadId).collect())
    }

    fn remove_payloads(&mut self, ids: &[PayloadId]) -> Result<(), StoreError> {
        let ids = ids.iter().map(|id| id.0).collect();
        self.execute(Sql::new("DELETE FROM hook_payloads WHERE id IN (").ids(ids).sql(")"))
    }
}
