//! Claims and releases lanes, the delivery queues of hooks.

use std::collections::BTreeMap;

use chrono::NaiveDateTime;
use diesel::prelude::*;
use diesel::sql_types::{BigInt, Integer, Timestamp as Moment};
use hexforge_domain::Timestamp;
use hexforge_domain::delivery::HookRef;
use hexforge_domain::delivery::lane::{Claim, ClaimLimits, Claimed, Health};
use hexforge_domain::id::{DeliveryId, LaneId, ProjectHookId, ServiceId, SystemHookId};
use hexforge_domain::ports::store::StoreError;

use crate::database::backend;
use crate::database::schema::hook_lanes;
use crate::database::time::{to_naive, to_utc, to_utc_opt};
use crate::database::tx::DieselTx;
use crate::query::among::AmongValues;
use crate::query::sql::Sql;

/// A row of `hook_lanes`.
#[derive(Clone, Debug, Queryable, Selectable)]
#[diesel(table_name = hook_lanes)]
pub(crate) struct LaneRow {
    pub id: i64,
    pub claimed: bool,
    pub claims: i64,
    failures: i32,
    failing_since: Option<NaiveDateTime>,
    rest_until: Option<NaiveDateTime>,
}

impl LaneRow {
    pub fn health(&self) -> Health {
        Health {
            failures: self.failures.unsigned_abs(),
            failing_since: to_utc_opt(self.failing_since),
            rest_until: to_utc_opt(self.rest_until),
        }
    }
}

/// The kind of hook that a lane belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HookKind {
    Project,
    System,
    Service,
}

impl HookKind {
    /// The statement that inserts the lanes of hooks that have none. A service without a URL gets no lane, because its
    /// deliveries could not be sent.
    pub(crate) fn insert_lanes(self, hooks: Vec<i64>) -> Sql {
        let statement = match self {
            HookKind::Project => {
                "INSERT INTO hook_lanes (project_hook_id) SELECT id FROM project_hooks WHERE id IN ("
            }
            HookKind::System => {
                "INSERT INTO hook_lanes (system_hook_id) SELECT id FROM system_hooks WHERE id IN ("
            }
            HookKind::Service => {
                "INSERT INTO hook_lanes (service_id) SELECT id FROM services \
                 WHERE url IS NOT NULL AND id IN ("
            }
        };
        Sql::new(statement).ids(hooks).sql(") ORDER BY id ON CONFLICT DO NOTHING")
    }
}

/// The condition that a lane does not belong to a removed project.
pub(crate) const PROJECT_EXISTS: &str = " AND (task.project_hook_id IS NULL OR EXISTS \
     (SELECT 1 FROM project_hooks JOIN projects ON projects.id = project_hooks.project_id \
     WHERE project_hooks.id = task.project_hook_id)) AND (task.service_id IS NULL OR EXISTS \
     (SELECT 1 FROM services JOIN projects ON projects.id = services.project_id \
     WHERE services.id = task.service_id))";

impl DieselTx<'_> {
    /// Locks services against the removal of their URL, which also deletes their lane. Without the lock, a lane could be
    /// inserted between that removal and its commit. All transactions lock services before their lanes.
    pub(crate) fn lock_services(&mut self, ids: &[i64]) -> Result<(), StoreError> {
        self.lock_rows(
            Sql::new("SELECT id FROM services WHERE id IN (")
                .ids(ids.to_vec())
                .sql(") ORDER BY id FOR SHARE"),
        )
    }

    /// Returns the lanes of these hooks.
    pub(crate) fn find_lanes(
        &mut self,
        kind: HookKind,
        hooks: Vec<i64>,
    ) -> Result<BTreeMap<HookRef, i64>, StoreError> {
        let query = match kind {
            HookKind::Project => {
                "SELECT project_hook_id, id FROM hook_lanes WHERE project_hook_id IN ("
            }
            HookKind::System => {
                "SELECT system_hook_id, id FROM hook_lanes WHERE system_hook_id IN ("
            }
            HookKind::Service => "SELECT service_id, id FROM hook_lanes WHERE service_id IN (",
        };
        let query = Sql::new(query).ids(hooks).sql(")");
        let rows: Vec<(i64, i64)> = self.run(|conn| query.rows::<(BigInt, BigInt)>().load(conn))?;
        let with_hook = |(hook, lane): (i64, i64)| match kind {
            HookKind::Project => (HookRef::Project(ProjectHookId(hook)), lane),
            HookKind::System => (HookRef::System(SystemHookId(hook)), lane),
            HookKind::Service => (HookRef::Service(ServiceId(hook)), lane),
        };
        Ok(rows.into_iter().map(with_hook).collect())
    }

    /// Locks lanes by ascending id, then reads them, so that the data read is committed.
    pub(crate) fn lock_lanes(&mut self, ids: &[i64]) -> Result<BTreeMap<i64, LaneRow>, StoreError> {
        self.lock_rows(
            Sql::new("SELECT id FROM hook_lanes WHERE id IN (")
                .ids(ids.to_vec())
                .sql(") ORDER BY id FOR NO KEY UPDATE"),
        )?;
        self.lanes(ids)
    }

    fn lanes(&mut self, ids: &[i64]) -> Result<BTreeMap<i64, LaneRow>, StoreError> {
        let rows: Vec<LaneRow> = self.by_ids(ids, |conn, ids| {
            hook_lanes::table
                .filter(hook_lanes::id.among(ids))
                .select(LaneRow::as_select())
                .load(conn)
        })?;
        Ok(rows.into_iter().map(|row| (row.id, row)).collect())
    }

    /// See [`Deliveries::claim`](hexforge_domain::delivery::port::Deliveries::claim). A fixed number of statements.
    pub(crate) fn claim_lanes(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        limits: ClaimLimits,
    ) -> Result<Vec<Claim>, StoreError> {
        let mut ids = self.lock_due_lanes(now, " AND task.failures = 0", limits.healthy)?;
        ids.extend(self.lock_due_lanes(now, " AND task.failures > 0", limits.failing)?);
        if ids.is_empty() {
            return Ok(vec![]);
        }
        self.execute(
            Sql::new("UPDATE hook_lanes SET claimed = TRUE, claims = claims + 1, due_at = ")
                .moment(to_naive(until))
                .sql(" WHERE id IN (")
                .ids(ids.clone())
                .sql(")"),
        )?;
        let lanes = self.lanes(&ids)?;
        let mut due = self.due_deliveries(&ids, now, limits.each)?;
        let mut claims = Vec::with_capacity(ids.len());
        let mut empty = Vec::new();
        for id in ids {
            match (lanes.get(&id), due.remove(&id)) {
                (Some(lane), Some(deliveries)) => claims.push(Claim {
                    lane: LaneId(id),
                    number: lane.claims,
                    until,
                    health: lane.health(),
                    deliveries,
                }),
                // The lane has no due deliveries any more.
                (_, None) | (None, _) => empty.push(id),
            }
        }
        self.release_lanes(empty)?;
        Ok(claims)
    }

    /// Locks due lanes that match a condition, and skips those that another transaction holds. Returns their ids.
    fn lock_due_lanes(
        &mut self,
        now: Timestamp,
        condition: &'static str,
        limit: u32,
    ) -> Result<Vec<i64>, StoreError> {
        if limit == 0 {
            return Ok(vec![]);
        }
        let query = Sql::new("SELECT task.id FROM hook_lanes AS task WHERE task.due_at <= ")
            .moment(to_naive(now))
            .sql(condition)
            .sql(PROJECT_EXISTS)
            .sql(" ORDER BY task.due_at, task.id LIMIT ")
            .id(i64::from(limit))
            .sql(backend::skip_locked_clause(self.backend()));
        self.ids(query)
    }

    /// Returns the due deliveries of lanes, oldest first, at most `each` per lane.
    fn due_deliveries(
        &mut self,
        lanes: &[i64],
        now: Timestamp,
        each: u32,
    ) -> Result<BTreeMap<i64, Vec<Claimed>>, StoreError> {
        type Row = (BigInt, BigInt, Integer, Moment);
        let mut word = "SELECT * FROM (";
        let mut query = Sql::new("");
        for lane in lanes {
            query = query
                .sql(word)
                .sql("SELECT lane_id, id, tries, since FROM deliveries WHERE lane_id = ")
                .id(*lane)
                .sql(" AND due_at <= ")
                .moment(to_naive(now))
                .sql(" ORDER BY id LIMIT ")
                .id(i64::from(each))
                .sql(") AS part");
            word = " UNION ALL SELECT * FROM (";
        }
        let rows: Vec<(i64, i64, i32, NaiveDateTime)> =
            self.run(|conn| query.rows::<Row>().load(conn))?;
        let mut due = BTreeMap::<i64, Vec<Claimed>>::new();
        for (lane, id, tries, since) in rows {
            due.entry(lane).or_default().push(Claimed {
                id: DeliveryId(id),
                tries: tries.unsigned_abs(),
                since: to_utc(since),
            });
        }
        for deliveries in due.values_mut() {
            deliveries.sort_unstable_by_key(|delivery| delivery.id);
        }
        Ok(due)
    }

    /// Releases claimed lanes. Each becomes due with its first delivery, but not before `rest_until`.
    pub(crate) fn release_lanes(&mut self, lanes: Vec<i64>) -> Result<(), StoreError> {
        self.reschedule("claimed = FALSE, ", "", lanes)
    }

    /// Reschedules lanes that are not claimed. Claimed lanes are rescheduled when they are released.
    pub(crate) fn reschedule_unclaimed(&mut self, lanes: Vec<i64>) -> Result<(), StoreError> {
        self.reschedule("", "claimed = FALSE AND ", lanes)
    }

    /// Sets the due time of these lanes to that of their first delivery, but not before `rest_until`.
    fn reschedule(
        &mut self,
        set: &'static str,
        condition: &'static str,
        lanes: Vec<i64>,
    ) -> Result<(), StoreError> {
        if lanes.is_empty() {
            return Ok(());
        }
        const FIRST: &str = "(SELECT min(deliveries.due_at) FROM deliveries \
             WHERE deliveries.lane_id = hook_lanes.id AND deliveries.due_at IS NOT NULL)";
        self.execute(
            Sql::new("UPDATE hook_lanes SET ")
                .sql(set)
                .sql("due_at = CASE WHEN rest_until > ")
                .sql(FIRST)
                .sql(" THEN rest_until ELSE ")
                .sql(FIRST)
                .sql(" END WHERE ")
                .sql(condition)
                .sql("id IN (")
                .ids(lanes)
                .sql(")"),
        )
    }
}
