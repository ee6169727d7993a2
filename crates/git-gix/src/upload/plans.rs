//! Plans that several clients share.

use std::collections::HashMap;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use gix::ObjectId;
use hexforge_domain::ports::git::GitError;

use super::Source;
use super::depth::Ends;
use super::output::Output;
use super::plan::Plan;
use super::refs::Listing;
use super::request::Request;
use crate::admission::Admission;
use crate::error::failed;

/// How many bytes of plans are kept for those who ask next.
const KEPT: usize = 48 << 20;

/// Who waits looks up this often, to tell the client so.
const LOOK_UP: Duration = Duration::from_millis(500);

/// The plans that are carried out, and the last ones that were.
pub(crate) struct Plans {
    state: Mutex<State>,
    made: Condvar,
    making: Admission,
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
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self {
            state: Mutex::default(),
            made: Condvar::new(),
            making: Admission::new(2 * processors, LOOK_UP),
        }
    }
}

impl Plans {
    /// The plan for a request, made if there is none yet.
    pub(super) fn get_or_make<'to>(
        &self,
        request: ObjectId,
        output: &mut Output<'to>,
        make: impl FnOnce(&mut Output<'to>) -> Result<Plan, GitError>,
    ) -> Result<Arc<Plan>, GitError> {
        let mut state = self.lock();
        loop {
            match state.plans.get(&request) {
                Some(Some(plan)) => {
                    if let Some(plan) = plan.upgrade() {
                        state.keep(request, &plan);
                        return Ok(plan);
                    }
                    break;
                }
                Some(None) => {}
                None => break,
            }
            state =
                self.made.wait_timeout(state, LOOK_UP).unwrap_or_else(PoisonError::into_inner).0;
            drop(state);
            output.tick(waiting)?;
            state = self.lock();
        }
        state.plans.insert(request, None);
        drop(state);
        let mut made = Making { plans: self, request, plan: None };
        let plan = self.make(output, make)?;
        Ok(Arc::clone(made.plan.insert(Arc::new(plan))))
    }

    /// Makes a plan when it is its turn: each takes memory and a processor meanwhile.
    pub(super) fn make<'to, T>(
        &self,
        output: &mut Output<'to>,
        make: impl FnOnce(&mut Output<'to>) -> Result<T, GitError>,
    ) -> Result<T, GitError> {
        loop {
            match self.making.enter() {
                Ok(_turn) => return make(output),
                Err(GitError::Busy) => output.tick(waiting)?,
                Err(error) => return Err(error),
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
        part("refs", &mut listing.refs.iter().map(|one| one.target));
    }
    hasher.update(format!("{:?} {}\n", request.filter, request.ofs_delta).as_bytes());
    for (_, pack) in source.packs.all() {
        hasher.update(pack.index.path().file_name().unwrap_or_default().as_encoded_bytes());
        // Objects are taken from the first pack that can be read.
        hasher.update(if pack.data().is_some() { b" open\n" } else { b" gone\n" });
    }
    hasher.try_finalize().map_err(failed)
}
