//! Fake of the hook deliveries.

use super::tx::{FakeTx, Tables};
use hexforge_domain::Timestamp;
use hexforge_domain::delivery::lane::{Claim, ClaimLimits, Claimed, Health, Settlement};
use hexforge_domain::delivery::port::{Deliveries, DeliveryLog};
use hexforge_domain::delivery::{
    Attempt, Delivery, DeliveryKey, DeliveryState, FailingHook, HookRef, HookRequest,
    MAX_SHOWN_BODY, NewDelivery, PayloadFormat, QueueSize,
};
use hexforge_domain::hook::HookUrl;
use hexforge_domain::id::{DeliveryId, LaneId, PayloadId, ProjectId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::text::Secret;
use std::cmp::Reverse;

#[derive(Clone, PartialEq)]
pub(super) struct LaneRow {
    pub id: LaneId,
    pub hook: HookRef,
    pub health: Health,
    pub claims: i64,
    pub claimed_until: Option<Timestamp>,
}

#[derive(Clone, PartialEq)]
pub(super) struct DeliveryRow {
    pub id: DeliveryId,
    pub lane: LaneId,
    pub key: DeliveryKey,
    pub event: String,
    pub payload: PayloadId,
    pub state: DeliveryState,
    pub tries: u32,
    pub since: Timestamp,
    pub created_at: Timestamp,
    pub last: Option<Attempt>,
}

/// The receiver of a delivery: the current settings of its hook.
struct Target {
    project: Option<ProjectId>,
    url: HookUrl,
    token: Option<Secret>,
    verify: bool,
    format: PayloadFormat,
}

impl Tables {
    pub fn remove_lane(&mut self, hook: HookRef) {
        let gone = self.lane_of(hook);
        self.lanes.retain(|lane| lane.hook != hook);
        self.deliveries.retain(|delivery| Some(delivery.lane) != gone);
    }

    fn lane_of(&self, hook: HookRef) -> Option<LaneId> {
        self.lanes.iter().find(|lane| lane.hook == hook).map(|lane| lane.id)
    }

    fn target(&self, hook: HookRef) -> Option<Target> {
        match hook {
            HookRef::Project(id) => {
                let hook = self.project_hooks.iter().find(|hook| hook.id == id)?;
                let settings = hook.settings.clone();
                Some(Target {
                    project: Some(hook.project),
                    url: settings.url,
                    token: settings.token,
                    verify: settings.enable_ssl_verification,
                    format: PayloadFormat::Json,
                })
            }
            HookRef::System(id) => {
                let hook = self.system_hooks.iter().find(|hook| hook.id == id)?;
                let settings = hook.settings.clone();
                Some(Target {
                    project: None,
                    url: settings.url,
                    token: settings.token,
                    verify: settings.enable_ssl_verification,
                    format: PayloadFormat::Json,
                })
            }
            HookRef::Service(id) => {
                let service = self.services.iter().find(|service| service.id == id)?;
                Some(Target {
                    project: Some(service.project),
                    url: service.delivery_url()?,
                    token: None,
                    verify: true,
                    format: PayloadFormat::Form,
                })
            }
        }
    }

    fn request(&self, row: &DeliveryRow) -> Option<HookRequest> {
        let hook = self.lanes.iter().find(|lane| lane.id == row.lane)?.hook;
        let target = self.target(hook)?;
        Some(HookRequest {
            key: row.key.clone(),
            event: row.event.clone(),
            body: self.payloads.get(&row.payload)?.clone(),
            format: target.format,
            url: Secret::new(target.url.as_str()),
            token: target.token,
            verify: target.verify,
        })
    }

    fn due_of(&self, lane: LaneId, now: Timestamp) -> impl Iterator<Item = &DeliveryRow> {
        let of_lane = self.deliveries.iter().filter(move |delivery| delivery.lane == lane);
        of_lane.filter(move |delivery| delivery.state.due().is_some_and(|due| due <= now))
    }

    /// Returns since when a lane has been claimable; `None` if it cannot be claimed now.
    fn claimable(&self, lane: &LaneRow, now: Timestamp) -> Option<Timestamp> {
        let open = |until: Option<Timestamp>| until.is_none_or(|until| until <= now);
        if !open(lane.claimed_until) || !open(lane.health.rest_until) {
            return None;
        }
        let first = self.due_of(lane.id, now).filter_map(|delivery| delivery.state.due()).min()?;
        first.max(lane.claimed_until.unwrap_or(first)).into()
    }

    fn delivery_from(&self, row: &DeliveryRow) -> Delivery {
        let body = self.payloads.get(&row.payload).cloned().unwrap_or_default();
        let cut: String = body.chars().take(MAX_SHOWN_BODY).collect();
        let more = cut.len() < body.len();
        Delivery {
            id: row.id,
            key: row.key.clone(),
            event: row.event.clone(),
            state: row.state,
            tries: row.tries,
            created_at: row.created_at,
            body: (cut, more),
            last: row.last.clone(),
        }
    }
}

impl Deliveries for FakeTx {
    fn insert_payload(&mut self, body: &str, _at: Timestamp) -> Result<PayloadId, StoreError> {
        let id = PayloadId(self.next_id());
        self.tables.payloads.insert(id, body.to_owned());
        Ok(id)
    }

    fn insert(&mut self, new: &[NewDelivery]) -> Result<(), StoreError> {
        for new in new {
            if self.tables.target(new.hook).is_none() {
                continue;
            }
            let lane = match self.tables.lane_of(new.hook) {
                Some(lane) => lane,
                None => {
                    let id = LaneId(self.next_id());
                    let health = Health::default();
                    let row =
                        LaneRow { id, hook: new.hook, health, claims: 0, claimed_until: None };
                    self.tables.lanes.push(row);
                    id
                }
            };
            let id = DeliveryId(self.next_id());
            self.tables.deliveries.push(DeliveryRow {
                id,
                lane,
                key: new.key.clone(),
                event: new.event.clone(),
                payload: new.payload,
                state: DeliveryState::Pending { due: new.at },
                tries: 0,
                since: new.at,
                created_at: new.at,
                last: None,
            });
        }
        Ok(())
    }

    fn any_due(&mut self, now: Timestamp) -> Result<bool, StoreError> {
        Ok(self.tables.lanes.iter().any(|lane| self.tables.claimable(lane, now).is_some()))
    }

    fn claim(
        &mut self,
        now: Timestamp,
        until: Timestamp,
        limits: ClaimLimits,
    ) -> Result<Vec<Claim>, StoreError> {
        let lanes = self.tables.lanes.iter();
        let mut waiting: Vec<(Timestamp, LaneId, bool)> = lanes
            .filter_map(|lane| {
                let since = self.tables.claimable(lane, now)?;
                Some((since, lane.id, lane.health.failures == 0))
            })
            .collect();
        waiting.sort_unstable();
        let of_kind = |healthy: bool, limit: u32| {
            let fitting = waiting.iter().filter(move |(.., fares_well)| *fares_well == healthy);
            fitting.take(limit as usize).map(|(_, lane, _)| *lane).collect::<Vec<_>>()
        };
        let chosen = [of_kind(true, limits.healthy), of_kind(false, limits.failing)].concat();
        let mut claims = Vec::new();
        for lane in chosen {
            let due = self.tables.due_of(lane, now).take(limits.each as usize);
            let deliveries =
                due.map(|row| Claimed { id: row.id, tries: row.tries, since: row.since }).collect();
            if let Some(row) = self.tables.lanes.iter_mut().find(|row| row.id == lane) {
                row.claims += 1;
                row.claimed_until = Some(until);
                let (number, health) = (row.claims, row.health);
                claims.push(Claim { lane, number, until, health, deliveries });
            }
        }
        Ok(claims)
    }

    fn requests(
        &mut self,
        ids: &[DeliveryId],
        most: u32,
    ) -> Result<Vec<(DeliveryId, HookRequest)>, StoreError> {
        let tables = &self.tables;
        let waiting = tables.deliveries.iter().filter(|row| row.state.due().is_some());
        let mut requests: Vec<_> = waiting
            .filter(|row| ids.contains(&row.id))
            .filter_map(|row| Some((row.id, tables.request(row)?)))
            .collect();
        requests.sort_by_key(|(id, _)| *id);
        let mut length = 0;
        let fitting = requests.iter().take_while(|(_, request)| {
            length += request.body.chars().count();
            length <= most as usize
        });
        let fitting = fitting.count().max(1);
        requests.truncate(fitting);
        Ok(requests)
    }

    fn settle(&mut self, done: &[Settlement]) -> Result<(), StoreError> {
        for settlement in done {
            let Some(lane) = self.tables.lanes.iter_mut().find(|lane| {
                lane.id == settlement.lane
                    && lane.claims == settlement.number
                    && lane.claimed_until.is_some()
            }) else {
                continue;
            };
            lane.claimed_until = None;
            lane.health = settlement.health;
            for sent in &settlement.sent {
                let mut rows = self.tables.deliveries.iter_mut();
                if let Some(row) = rows.find(|row| row.id == sent.id) {
                    row.tries = sent.tries;
                    row.state = sent.state;
                    row.last = Some(sent.attempt.clone());
                }
            }
        }
        Ok(())
    }
}

impl DeliveryLog for FakeTx {
    fn list(&mut self, hook: HookRef, page: Page) -> Result<Paged<Delivery>, StoreError> {
        let lane = self.tables.lane_of(hook);
        let newest_first = self.tables.deliveries.iter().rev();
        let of_hook = newest_first.filter(|row| Some(row.lane) == lane);
        Ok(page.slice(of_hook.map(|row| self.tables.delivery_from(row)).collect()))
    }

    fn find(&mut self, hook: HookRef, id: DeliveryId) -> Result<Option<Delivery>, StoreError> {
        let lane = self.tables.lane_of(hook);
        let mut rows = self.tables.deliveries.iter();
        let row = rows.find(|row| row.id == id && Some(row.lane) == lane);
        Ok(row.map(|row| self.tables.delivery_from(row)))
    }

    fn retry(&mut self, id: DeliveryId, now: Timestamp) -> Result<(), StoreError> {
        let Some(row) = self.tables.deliveries.iter_mut().find(|row| row.id == id) else {
            return Ok(());
        };
        row.state = DeliveryState::Pending { due: now };
        (row.tries, row.since) = (0, now);
        let lane = row.lane;
        if let Some(lane) = self.tables.lanes.iter_mut().find(|row| row.id == lane) {
            lane.health.rest_until = None;
        }
        Ok(())
    }

    fn queue(&mut self) -> Result<QueueSize, StoreError> {
        let waiting = self.tables.deliveries.iter().filter(|row| row.state.due().is_some());
        let written = waiting.clone().map(|row| row.created_at);
        Ok(QueueSize {
            events: self.tables.outbox.len() as u64,
            deliveries: waiting.count() as u64,
            oldest: written.chain(self.tables.outbox.iter().map(|entry| entry.at)).min(),
        })
    }

    fn failing(&mut self, failures: u32, limit: u32) -> Result<Vec<FailingHook>, StoreError> {
        let tables = &self.tables;
        let mut failing: Vec<(LaneId, FailingHook)> = (tables.lanes.iter())
            .filter(|lane| lane.health.failures >= failures)
            .filter_map(|lane| {
                let target = tables.target(lane.hook)?;
                let tried = tables.deliveries.iter().filter(|row| row.lane == lane.id);
                let last = tried.filter_map(|row| row.last.as_ref()).max_by_key(|last| last.at)?;
                let reason = last.error.clone().unwrap_or_default();
                let hook = FailingHook {
                    hook: lane.hook,
                    project: target.project,
                    host: target.url.host().to_owned(),
                    failures: lane.health.failures,
                    since: lane.health.failing_since?,
                    reason,
                };
                Some((lane.id, hook))
            })
            .collect();
        failing.sort_by_key(|(lane, hook)| (Reverse(hook.failures), *lane));
        Ok(failing.into_iter().take(limit as usize).map(|(_, hook)| hook).collect())
    }

    fn stale(
        &mut self,
        before: Timestamp,
        keep: u32,
        limit: u32,
    ) -> Result<Vec<DeliveryId>, StoreError> {
        let rows = &self.tables.deliveries;
        let newer = |row: &DeliveryRow| {
            let of_lane = rows.iter().filter(|other| other.lane == row.lane && other.id > row.id);
            of_lane.count() as u64
        };
        let stale = rows.iter().filter(|row| {
            row.state.due().is_none() && (row.created_at < before || newer(row) >= u64::from(keep))
        });
        Ok(stale.take(limit as usize).map(|row| row.id).collect())
    }

    fn remove(&mut self, ids: &[DeliveryId]) -> Result<(), StoreError> {
        let waits = |row: &DeliveryRow| row.state.due().is_some();
        self.tables.deliveries.retain(|row| waits(row) || !ids.contains(&row.id));
        Ok(())
    }

    fn unused_payloads(&mut self, limit: u32) -> Result<Vec<PayloadId>, StoreError> {
        let used = |id: &PayloadId| self.tables.deliveries.iter().any(|row| row.payload == *id);
        let unused = self.tables.payloads.keys().filter(|id| !used(id));
        Ok(unused.take(limit as usize).copied().collect())
    }

    fn remove_payloads(&mut self, ids: &[PayloadId]) -> Result<(), StoreError> {
        self.tables.payloads.retain(|id, _| !ids.contains(id));
        Ok(())
    }
}
