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
use crate::database::time::{stored, stored_opt};
use crate::database::tx::DieselTx;
use crate::hooks::delivery_claim::{Kind, OF_WHAT_IS_THERE};
use crate::query::sql::Sql;

/// The number of rows that one statement inserts.
const AT_ONCE: usize = 1000;

/// Without default values, because diesel opens a separate transaction for them on SQLite.
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
pub(crate) fn number(count: u32) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

impl Deliveries for DieselTx<'_> {
    fn insert_payload(&mut self, body: &str, at: Timestamp) -> Result<PayloadId, StoreError> {
        let values = (
            hook_payloads::body.eq(backend::storable(body)),
            hook_payloads::created_at.eq(stored(at)),
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
        let lanes = self.lanes_of(new)?;
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
                    due_at: Some(stored(new.at)),
                    since: stored(new.at),
                    created_at: stored(new.at),
                })
            })
            .collect();
        for rows in rows.chunks(AT_ONCE) {
            self.run(|conn| {
                each_backend!(conn, c => diesel::insert_into(deliveries::table).values(rows).execute(c))
            })?;
        }
        self.wake(lanes.into_values().collect())
    }

    fn any_due(&mut self, now: Timestamp) -> Result<bool, StoreError> {
        let due = Sql::new("SELECT task.id FROM hook_lanes AS task WHERE task.due_at <= ")
            .moment(stored(now))
            .sql(OF_WHAT_IS_THERE);
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
        self.read_letters(ids.iter().map(|id| id.0).collect(), most)
    }

    fn settle(&mut self, done: &[Settlement]) -> Result<(), StoreError> {
        let ids: Vec<i64> = done.iter().map(|settlement| settlement.lane.0).collect();
        let held = self.hold_lanes(&ids)?;
        let mut given_back = Vec::new();
        let mut sent = Vec::new();
        for settlement in done {
            let Some(lane) = held.get(&settlement.lane.0) else { continue };
            if !lane.claimed || lane.claims != settlement.number {
                continue;
            }
            sent.extend(&settlement.sent);
            if lane.health() != settlement.health {
                self.put_health(settlement.lane.0, settlement.health)?;
            }
            given_back.push(settlement.lane.0);
        }
        self.put_sent(&sent)?;
        self.give_back(given_back)
    }
}

impl DieselTx<'_> {
    /// Returns the lanes of the deliveries' hooks, creates missing lanes, and locks them, so that no other
    /// transaction looks for due deliveries while rows are inserted.
    fn lanes_of(&mut self, new: &[NewDelivery]) -> Result<BTreeMap<HookRef, i64>, StoreError> {
        let mut project = Vec::new();
        let mut system = Vec::new();
        for new in new {
            match new.hook {
                HookRef::Project(id) => project.push(id.0),
                HookRef::System(id) => system.push(id.0),
            }
        }
        for ids in [&mut project, &mut system] {
            ids.sort_unstable();
            ids.dedup();
        }
        let mut lanes = BTreeMap::new();
        for (kind, ids) in [(Kind::Project, project), (Kind::System, system)] {
            if !ids.is_empty() {
                self.execute(kind.make(ids.clone()))?;
                lanes.extend(self.lanes_of_kind(kind, ids)?);
            }
        }
        self.hold_lanes(&lanes.values().copied().collect::<Vec<_>>())?;
        Ok(lanes)
    }

    fn put_health(&mut self, lane: i64, health: Health) -> Result<(), StoreError> {
        let values = (
            hook_lanes::failures.eq(number(health.failures)),
            hook_lanes::failing_since.eq(stored_opt(health.failing_since)),
            hook_lanes::rest_until.eq(stored_opt(health.rest_until)),
        );
        self.run(|conn| diesel::update(hook_lanes::table.find(lane)).set(values).execute(conn))?;
        Ok(())
    }
}
