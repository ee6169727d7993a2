//! Caches plans, so that clients with the same request share one.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use gix::ObjectId;
use hexforge_domain::limiter::{Caller, PermitPool, QueueFull};
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::depth::ShallowBoundary;
use super::filter::Filter;
use super::output::Output;
use super::plan::Plan;
use super::refs::Listing;
use super::request::Request;
use crate::block::{processor_permits, wait_for};
use crate::error::failed;

/// The most bytes of plans that are cached.
const CACHED_BYTES: usize = 48 << 20;

/// How often a waiting thread wakes up to send a keep-alive to its client.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_millis(500);

/// The plans in use and the cached ones.
pub(crate) struct Plans {
    state: Mutex<State>,
    computed: Condvar,
    permits: PermitPool,
}

#[derive(Default)]
struct State {
    /// `None` while a thread computes the plan.
    plans: HashMap<ObjectId, Option<Weak<Plan>>>,
    /// In order of use; the most recently used plan is last.
    cached: VecDeque<(ObjectId, Arc<Plan>)>,
    weight: usize,
}

impl Default for Plans {
    fn default() -> Self {
        Self { state: Mutex::default(), computed: Condvar::new(), permits: processor_permits() }
    }
}

impl Plans {
    /// Returns the plan for a request, and computes it if it is not cached.
    pub(super) fn get_or_compute<'to>(
        &self,
        request: ObjectId,
        caller: Caller,
        output: &mut Output<'to>,
        make: impl FnOnce(&mut Output<'to>) -> Result<Plan, GitError>,
    ) -> Result<Arc<Plan>, GitError> {
        let mut permit = self.permits.wait_for_permit(caller);
        loop {
            let state = match self.find(request, self.lock()) {
                Lookup::Plan(plan) => return Ok(plan),
                Lookup::Missing(state) => state,
                Lookup::InProgress(state) => {
                    // A caller that waits for the plan of another caller gives up its own permit.
                    permit = self.permits.wait_for_permit(caller);
                    drop(self.computed.wait_timeout(state, KEEP_ALIVE_INTERVAL));
                    output.keep_alive(waiting_message)?;
                    continue;
                }
            };
            drop(state);
            // A plan is announced as being computed only once its caller has a permit. Otherwise
            // other callers would wait for the share of that caller.
            let permit = match wait_for(&mut permit, KEEP_ALIVE_INTERVAL) {
                Some(Ok(permit)) => permit,
                Some(Err(QueueFull)) => return Err(GitError::Busy),
                None => {
                    output.keep_alive(waiting_message)?;
                    continue;
                }
            };
            let Lookup::Missing(mut state) = self.find(request, self.lock()) else {
                drop(permit);
                return self.get_or_compute(request, caller, output, make);
            };
            state.plans.insert(request, None);
            drop(state);
            let mut in_progress = PlanInProgress { plans: self, request, plan: None };
            let plan = make(output)?;
            return Ok(Arc::clone(in_progress.plan.insert(Arc::new(plan))));
        }
    }

    /// Looks up the plan of a request.
    fn find<'a>(&self, request: ObjectId, mut state: MutexGuard<'a, State>) -> Lookup<'a> {
        match state.plans.get(&request) {
            Some(None) => Lookup::InProgress(state),
            Some(Some(plan)) => match plan.upgrade() {
                Some(plan) => {
                    state.add_to_cache(request, &plan);
                    Lookup::Plan(plan)
                }
                None => Lookup::Missing(state),
            },
            None => Lookup::Missing(state),
        }
    }

    /// Computes a plan once a permit is free, because each computation takes memory and a processor.
    pub(super) fn compute<'to, T>(
        &self,
        caller: Caller,
        output: &mut Output<'to>,
        make: impl FnOnce(&mut Output<'to>) -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        let mut permit = self.permits.wait_for_permit(caller);
        loop {
            match wait_for(&mut permit, KEEP_ALIVE_INTERVAL) {
                Some(Ok(_permit)) => return make(output),
                Some(Err(QueueFull)) => return Err(GitError::Busy),
                None => output.keep_alive(waiting_message)?,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A poisoned lock is usable: no code that can panic runs while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn waiting_message() -> String {
    "Waiting for other fetches\r".to_owned()
}

impl State {
    /// Moves a plan to the end of the cache, or adds it and evicts the oldest plans beyond the capacity.
    fn add_to_cache(&mut self, request: ObjectId, plan: &Arc<Plan>) {
        if let Some(at) = self.cached.iter().position(|(cached, _)| *cached == request) {
            if let Some(cached) = self.cached.remove(at) {
                self.cached.push_back(cached);
            }
            return;
        }
        if plan.weight() > CACHED_BYTES {
            return;
        }
        self.weight += plan.weight();
        self.cached.push_back((request, Arc::clone(plan)));
        while self.weight > CACHED_BYTES {
            let Some((_, left)) = self.cached.pop_front() else { return };
            self.weight -= left.weight();
        }
    }
}

/// The result of a lookup, with the lock where the caller has to act under it.
enum Lookup<'a> {
    Plan(Arc<Plan>),
    InProgress(MutexGuard<'a, State>),
    Missing(MutexGuard<'a, State>),
}

/// Publishes the result when it is dropped, also after an error or panic, and wakes up the waiting threads.
struct PlanInProgress<'a> {
    plans: &'a Plans,
    request: ObjectId,
    plan: Option<Arc<Plan>>,
}

impl Drop for PlanInProgress<'_> {
    fn drop(&mut self) {
        let mut state = self.plans.lock();
        state.plans.retain(|_, plan| plan.as_ref().is_none_or(|plan| plan.strong_count() > 0));
        match &self.plan {
            Some(plan) => {
                state.plans.insert(self.request, Some(Arc::downgrade(plan)));
                state.add_to_cache(self.request, plan);
            }
            None => {
                state.plans.remove(&self.request);
            }
        }
        drop(state);
        self.plans.computed.notify_all();
    }
}

/// Returns the cache key for a request of a client without objects: a hash of everything that
/// decides which objects are sent and from which packs.
pub(super) fn request_key(
    source: &Source,
    listing: &Listing,
    request: &Request,
    ends: &ShallowBoundary,
) -> Result<ObjectId, GitError> {
    let mut hasher = gix::hash::hasher(gix::hash::Kind::Sha1);
    let mut part = |name: &str, ids: &mut dyn Iterator<Item = ObjectId>| {
        let mut ids: Vec<ObjectId> = ids.collect();
        ids.sort_unstable();
        hasher.update(format!("{name} {}\n", ids.len()).as_bytes());
        ids.iter().for_each(|id| hasher.update(id.as_slice()));
    };
    part("wants", &mut request.wants.iter().copied());
    part("ends", &mut ends.all.iter().copied());
    if request.include_tag {
        part("refs", &mut listing.refs().map(|one| one.target));
    }
    hasher.update(format!("{:?} {}\n", request.filter, request.ofs_delta).as_bytes());
    if request.filter != Filter::All {
        // The effect of a filter on wanted trees depends on their order.
        request.wants.iter().for_each(|id| hasher.update(id.as_slice()));
    }
    for (_, pack) in source.packs.all() {
        hasher.update(pack.index.path().file_name().unwrap_or_default().as_encoded_bytes());
        // Objects are taken from the first readable pack, so the key depends on which packs are readable.
        hasher.update(if pack.data().is_some() { b" open\n" } else { b" gone\n" });
    }
    hasher.try_finalize().map_err(failed)
}
