//! Plans that several clients share.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use gix::ObjectId;
use hexforge_domain::limiter::{Caller, Lane, QueueFull};
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::depth::Ends;
use super::output::Output;
use super::plan::Plan;
use super::refs::Listing;
use super::request::Request;
use crate::block::{processors, wait_for};
use crate::error::failed;

/// How many bytes of plans are kept for those who ask next.
const KEPT: usize = 48 << 20;

/// Who waits looks up this often, to tell the client so.
const LOOK_UP: Duration = Duration::from_millis(500);

/// The plans that are carried out, and the last ones that were.
pub(crate) struct Plans {
    state: Mutex<State>,
    made: Condvar,
    making: Lane,
}

#[derive(Default)]
struct State {
    /// `None` while somebody makes one.
    plans: HashMap<ObjectId, Option<Weak<Plan>>>,
    /// The ones that were asked for last are at the end.
    kept: VecDeque<(ObjectId, Arc<Plan>)>,
    weight: usize,
}

impl Default for Plans {
    fn default() -> Self {
        Self { state: Mutex::default(), made: Condvar::new(), making: processors() }
    }
}

impl Plans {
    /// The plan for a request, made if there is none yet.
    pub(super) fn get_or_make<'to>(
        &self,
        request: ObjectId,
        caller: Caller,
        output: &mut Output<'to>,
        make: impl FnOnce(&mut Output<'to>) -> Result<Plan, GitError>,
    ) -> Result<Arc<Plan>, GitError> {
        let mut permit = self.making.enter(caller);
        loop {
            let state = match self.find(request, self.lock()) {
                Found::Plan(plan) => return Ok(plan),
                Found::Nothing(state) => state,
                Found::Making(state) => {
                    // Whoever waits for the plan of another caller holds no permit meanwhile.
                    permit = self.making.enter(caller);
                    drop(self.made.wait_timeout(state, LOOK_UP));
                    output.tick(waiting)?;
                    continue;
                }
            };
            drop(state);
            // Only a plan that has its permit is waited for by others: they do not wait for the share of its caller.
            let permit = match wait_for(&mut permit, LOOK_UP) {
                Some(Ok(permit)) => permit,
                Some(Err(QueueFull)) => return Err(GitError::Busy),
                None => {
                    output.tick(waiting)?;
                    continue;
                }
            };
            let Found::Nothing(mut state) = self.find(request, self.lock()) else {
                drop(permit);
                return self.get_or_make(request, caller, output, make);
            };
            state.plans.insert(request, None);
            drop(state);
            let mut made = Making { plans: self, request, plan: None };
            let plan = make(output)?;
            return Ok(Arc::clone(made.plan.insert(Arc::new(plan))));
        }
    }

    /// What is known of a request.
    fn find<'a>(&self, request: ObjectId, mut state: MutexGuard<'a, State>) -> Found<'a> {
        match state.plans.get(&request) {
            Some(None) => Found::Making(state),
            Some(Some(plan)) => match plan.upgrade() {
                Some(plan) => {
                    state.keep(request, &plan);
                    Found::Plan(plan)
                }
                None => Found::Nothing(state),
            },
            None => Found::Nothing(state),
        }
    }

    /// Makes a plan when it is its turn: each takes memory and a processor meanwhile.
    pub(super) fn make<'to, T>(
        &self,
        caller: Caller,
        output: &mut Output<'to>,
        make: impl FnOnce(&mut Output<'to>) -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        let mut permit = self.making.enter(caller);
        loop {
            match wait_for(&mut permit, LOOK_UP) {
                Some(Ok(_permit)) => return make(output),
                Some(Err(QueueFull)) => return Err(GitError::Busy),
                None => output.tick(waiting)?,
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing that could panic is done while the lock is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn waiting() -> String {
    "Waiting for others\r".to_owned()
}

impl State {
    /// Keeps a plan as the one that was asked for last, and as many others as there is room for.
    fn keep(&mut self, request: ObjectId, plan: &Arc<Plan>) {
        if let Some(at) = self.kept.iter().position(|(kept, _)| *kept == request) {
            if let Some(kept) = self.kept.remove(at) {
                self.kept.push_back(kept);
            }
            return;
        }
        if plan.weight() > KEPT {
            return;
        }
        self.weight += plan.weight();
        self.kept.push_back((request, Arc::clone(plan)));
        while self.weight > KEPT {
            let Some((_, left)) = self.kept.pop_front() else { return };
            self.weight -= left.weight();
        }
    }
}

/// What is known of a request, with the lock where something is to be done about it.
enum Found<'a> {
    Plan(Arc<Plan>),
    Making(MutexGuard<'a, State>),
    Nothing(MutexGuard<'a, State>),
}

/// Tells those who wait what became of it, whatever that is.
struct Making<'a> {
    plans: &'a Plans,
    request: ObjectId,
    plan: Option<Arc<Plan>>,
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        let mut state = self.plans.lock();
        state.plans.retain(|_, plan| plan.as_ref().is_none_or(|plan| plan.strong_count() > 0));
        match &self.plan {
            Some(plan) => {
                state.plans.insert(self.request, Some(Arc::downgrade(plan)));
                state.keep(self.request, plan);
            }
            None => {
                state.plans.remove(&self.request);
            }
        }
        drop(state);
        self.plans.made.notify_all();
    }
}

/// What a request of a client that has nothing is known by: all that decides what is sent, and from which
/// packs.
pub(super) fn name_of(
    source: &Source,
    listing: &Listing,
    request: &Request,
    ends: &Ends,
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
    for (_, pack) in source.packs.all() {
        hasher.update(pack.index.path().file_name().unwrap_or_default().as_encoded_bytes());
        // Objects are taken from the first pack that can be read.
        hasher.update(if pack.data().is_some() { b" open\n" } else { b" gone\n" });
    }
    hasher.try_finalize().map_err(failed)
}
