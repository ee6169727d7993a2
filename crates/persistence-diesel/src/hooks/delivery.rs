//! Deliveries of hook messages.

use std::collections::BTreeMap;

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::delivery::lane::{Claim, ClaimLimits, Health, Settlement};
use hexforge_domain::delivery::port::Deliveries;
use hexforge_domain::delivery::{HookRef, HookRequest, NewDelivery};
use hexforge_domain::id::{DeliveryId, PayloadId};
use hexforge_domain::ports::store::StoreError;

use crate::database::backend;
use crate::database::schema::{deliveries, hook_lanes, hook_payloads};
use crate::database::time::{to_naive, to_naive_opt};
use crate::database::tx::DieselTx;
use crate::hooks::delivery_claim::{HookKind, PROJECT_EXISTS};
use crate::query::sql::Sql;

/// The number of rows that one statement inserts.
const AT_ONCE: usize = 1000;

/// A new row of `deliveries`. `None` is written as null, not as the column's default: for defaults, diesel opens a
/// separate transaction on SQLite.
#[derive(Insertable)]
#[diesel(table_name = deliveries, treat_none_as_default_value = false)]
struct NewRow<'a> {
    lane_id: i64,
    payload_id: i64,
    key: &'a str,
    event: &'a str,
    state: &'static str,
    tries: i32,
    due_at: Option<NaiveDateTime>,
    since: NaiveDateTime,
    created_at: NaiveDateTime,
}

/// Converts a count to the type of its column.
pub(crate) fn to_i32(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

impl Deliveries for DieselTx<'_> {
    fn insert_payload(&mut self, body: &str, at: Timestamp) -> Result<PayloadId, StoreError> {
        let values = (
            hook_payloads::body.eq(backend::without_nul(body)),
            hook_payloads::created_at.eq(to_naive(at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(hook_payloads::table)
                .values(values)
                .returning(hook_payloads::id)
                .get_result(conn)
        })?;
        Ok(PayloadId(id))
    }

    fn insert(&mut self, new: &[NewDelivery]) -> Result<(), StoreError> {
        let lanes = self.lock_lanes_of(new)?;
        let rows: Vec<NewRow<'_>> = new
            .iter()
            .filter_map(|new| {
                Some(NewRow {
                    lane_id: *lanes.get(&new.hook)?,
                    payload_id: new.payload.0,
                    key: new.key.as_str(),
                    event: &new.event,
                    state: "pending",
                    tries: 0,
                    due_at: Some(to_naive(new.at)),
                    since: to_naive(new.at),
                    created_at: to_naive(new.at),
                })
            })
            .collect();
        for rows in rows.chunks(AT_ONCE) {
            self.run(|conn| {
                each_backend!(conn, c => diesel::insert_into(deliveries::table).values(rows).execute(c))
            })?;
        }
        self.reschedule_unclaimed(lanes.into_values().collect())
    }

    fn any_due(&mut self, now: Timestamp) -> Result<bool, StoreError> {
        let due = Sql::new("SELECT task.id FROM hook_lanes AS task WHERE task.due_at <= ")
            .moment(to_naive(now))
            .sql(PROJECT_EXISTS);
        Ok(!self.ids(due.sql(" LIMIT 1"))?.is_empty())
    }

    fn claim(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        limits: ClaimLimits,
    ) -> Result<Vec<Claim>, StoreError> {
        self.claim_lanes(now, until, limits)
    }

    fn requests(
        &mut self,
        ids: &[DeliveryId],
        most: u32,
    ) -> Result<Vec<(DeliveryId, HookRequest)>, StoreError> {
        self.read_requests(ids.iter().map(|id| id.0).collect(), most)
    }

    fn settle(&mut self, done: &[Settlement]) -> Result<(), StoreError> {
        let ids: Vec<i64> = done.iter().map(|settlement| settlement.lane.0).collect();
        let held = self.lock_lanes(&ids)?;
        let mut given_back = Vec::new();
        let mut sent = Vec::new();
        for settlement in done {
            let Some(lane) = held.get(&settlement.lane.0) else { continue };
            if !lane.claimed || lane.claims != settlement.number {
                continue;
            }
            sent.extend(&settlement.sent);
            if lane.health() != settlement.health {
                self.write_health(settlement.lane.0, settlement.health)?;
            }
            given_back.push(settlement.lane.0);
        }
        self.write_outcomes(&sent)?;
        self.release_lanes(given_back)
    }
}

impl DieselTx<'_> {
    /// Locks the lanes of the deliveries' hooks, and creates missing lanes. With the lock, no other transaction looks
    /// for due deliveries while rows are inserted.
    fn lock_lanes_of(&mut self, new: &[NewDelivery]) -> Result<BTreeMap<HookRef, i64>, StoreError> {
        let mut project = Vec::new();
        let mut system = Vec::new();
        let mut services = Vec::new();
        for new in new {
            match new.hook {
                HookRef::Project(id) => project.push(id.0),
                HookRef::System(id) => system.push(id.0),
                HookRef::Service(id) => services.push(id.0),
            }
        }
        for ids in [&mut project, &mut system, &mut services] {
            ids.sort_unstable();
            ids.dedup();
        }
        if !services.is_empty() {
            self.lock_services(&services)?;
        }
        let mut lanes = BTreeMap::new();
        for (kind, ids) in [
            (HookKind::Project, project),
            (HookKind::System, system),
            (HookKind::Service, services),
        ] {
            if !ids.is_empty() {
                self.execute(kind.insert_lanes(ids.clone()))?;
                lanes.extend(self.find_lanes(kind, ids)?);
            }
        }
        self.lock_lanes(&lanes.values().copied().collect::<Vec<_>>())?;
        Ok(lanes)
    }

    fn write_health(&mut self, lane: i64, health: Health) -> Result<(), StoreError> {
        let values = (
            hook_lanes::failures.eq(to_i32(health.failures)),
            hook_lanes::failing_since.eq(to_naive_opt(health.failing_since)),
            hook_lanes::rest_until.eq(to_naive_opt(health.rest_until)),
        );
        self.write(|conn| diesel::update(hook_lanes::table.find(lane)).set(values).execute(conn))
    }
}
