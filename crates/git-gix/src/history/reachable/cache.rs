//! A cache of walks, which later requests continue.

use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use gix::ObjectId;
use gix::hashtable::HashSet;
use gix::object::Kind;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::GitError;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

use super::{History, Limits, Walk};
use crate::error::failed;

/// The number of ids that are cached for all repositories together, about 100 MB.
const CACHED_IDS: u64 = 2_000_000;

/// The number of ids at which a walk with a time limit stops. The cache does not accept an entry that needs nearly all
/// of its capacity, so this is smaller than [`CACHED_IDS`].
const LONGEST_WALK: usize = 1_800_000;

/// The number of new ids after which the weight of a walk in the cache is updated.
const GROWTH: u64 = 1_000;

/// The pause between two attempts to continue a walk that another caller continues.
const PAUSE: Duration = Duration::from_millis(1);

/// The objects at which a walk starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Scope {
    /// The targets of visible refs.
    Refs,
    /// The targets of visible refs, and commits that hidden refs or pipelines keep.
    RefsAndKept,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Key {
    project: ProjectId,
    scope: Scope,
    with_contents: bool,
}

/// A question about the reachability of objects.
#[derive(Clone, Copy)]
pub(crate) struct ReachabilityQuery<'a> {
    /// The objects at which the walk starts, sorted.
    pub(crate) tips: &'a [ObjectId],
    /// Reachable commits whose trees are read first, because the objects are probably in them.
    pub(crate) first: &'a [ObjectId],
    /// Whether some of the objects are trees or blobs.
    pub(crate) with_contents: bool,
}

#[derive(Clone)]
struct CachedWalk {
    /// The number of ids in the walk when it was last put into the cache.
    weight: u64,
    walk: Arc<Mutex<Walk>>,
    /// The number of ids in the walk now.
    progress: Arc<AtomicUsize>,
}

impl CachedWalk {
    fn new(with_contents: bool) -> Self {
        let walk = Walk::new(with_contents);
        let progress = Arc::clone(&walk.progress);
        Self { weight: 0, walk: Arc::new(Mutex::new(walk)), progress }
    }
}

#[derive(Clone)]
struct ByIds;

impl Weighter<Key, CachedWalk> for ByIds {
    fn weight(&self, _: &Key, cached: &CachedWalk) -> u64 {
        cached.weight + 10
    }
}

/// A cache of the most recently used walks of all repositories.
pub(crate) struct WalkCache(Cache<Key, CachedWalk, ByIds>);

impl Default for WalkCache {
    fn default() -> Self {
        // The capacity is divided among shards, and one of several shards would be too small for a large repository.
        let options = OptionsBuilder::new()
            .estimated_items_capacity(1_000)
            .weight_capacity(CACHED_IDS)
            .shards(1)
            .build()
            .expect("both capacities are given");
        Self(Cache::with_options(
            options,
            ByIds,
            DefaultHashBuilder::default(),
            DefaultLifecycle::default(),
        ))
    }
}

impl WalkCache {
    /// Returns those of `ids` that are not reachable from `tips`.
    /// # Errors
    /// [`GitError::Unfinished`] if the time limit was reached before the walk found out; the next call continues the
    /// walk. [`GitError::Busy`] if the history is too large for a walk with a time limit.
    pub(crate) fn unreachable(
        &self,
        history: History<'_>,
        (project, scope): (ProjectId, Scope),
        mut tips: Vec<ObjectId>,
        ids: impl Iterator<Item = ObjectId>,
        until: Option<Instant>,
    ) -> Result<HashSet<ObjectId>, GitError> {
        tips.sort_unstable();
        tips.dedup();
        let (mut open, mut missing) = (HashSet::default(), HashSet::default());
        let mut with_contents = false;
        for id in ids.filter(|id| tips.binary_search(id).is_err()) {
            match history.repo.try_find_header(id).map_err(failed)?.map(|header| header.kind()) {
                Some(kind) => {
                    with_contents |= matches!(kind, Kind::Tree | Kind::Blob);
                    open.insert(id);
                }
                // An id that does not exist needs no walk.
                None => {
                    missing.insert(id);
                }
            }
        }
        let query = ReachabilityQuery { tips: &tips, first: &[], with_contents };
        self.retain_unreachable(history, (project, scope), query, &mut open, until)?;
        missing.extend(open);
        Ok(missing)
    }

    /// The number of ids that a walk has met. It decreases when the walk starts again.
    pub(crate) fn progress(
        &self,
        (project, scope): (ProjectId, Scope),
        with_contents: bool,
    ) -> usize {
        let cached = self.0.peek(&Key { project, scope, with_contents });
        cached.map_or(0, |cached| cached.progress.load(Ordering::Relaxed))
    }

    /// Removes the reachable objects from `open`, all of which exist.
    /// # Errors
    /// Those of [`WalkCache::unreachable`].
    pub(crate) fn retain_unreachable(
        &self,
        history: History<'_>,
        (project, scope): (ProjectId, Scope),
        query: ReachabilityQuery<'_>,
        open: &mut HashSet<ObjectId>,
        until: Option<Instant>,
    ) -> Result<(), GitError> {
        if open.is_empty() {
            return Ok(());
        }
        let ReachabilityQuery { tips, first, with_contents } = query;
        let key = Key { project, scope, with_contents };
        let new = || CachedWalk::new(with_contents);
        // Concurrent callers wait for this walk instead of starting their own.
        let cached = self.0.get_or_insert_with::<_, Infallible>(&key, || Ok(new()));
        let Ok(cached) = cached;
        let mut walk = lock(&cached.walk, until)?;
        let limits = until.map(|until| Limits { until, ids: LONGEST_WALK });
        let outcome = walk.find(history, tips, first, open, limits);
        if outcome.is_err() {
            // The failed step may have recorded only a part of its objects.
            walk.restart();
        }
        walk.note_progress();
        let weight = walk.len() as u64;
        drop(walk);
        if weight.abs_diff(cached.weight) > GROWTH {
            self.0.insert(key, CachedWalk { weight, ..cached });
        }
        match outcome? {
            true => Ok(()),
            false if weight > LONGEST_WALK as u64 => Err(GitError::Busy),
            false => Err(GitError::Unfinished),
        }
    }
}

/// Waits until no other caller continues the walk.
/// # Errors
/// [`GitError::Unfinished`] if the time limit is reached first.
fn lock(walk: &Mutex<Walk>, until: Option<Instant>) -> Result<MutexGuard<'_, Walk>, GitError> {
    let Some(until) = until else {
        return Ok(walk.lock().unwrap_or_else(PoisonError::into_inner));
    };
    loop {
        match walk.try_lock() {
            Ok(walk) => return Ok(walk),
            Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) if Instant::now() < until => thread::sleep(PAUSE),
            Err(TryLockError::WouldBlock) => return Err(GitError::Unfinished),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_walk_through_a_large_repository_is_kept() {
        let walks = WalkCache::default();
        let key =
            |project| Key { project: ProjectId(project), scope: Scope::Refs, with_contents: true };
        let walk = |weight| CachedWalk { weight, ..CachedWalk::new(true) };
        let longest = LONGEST_WALK as u64 + 50_000;
        walks.0.insert(key(1), walk(longest));
        assert!(walks.0.get(&key(1)).is_some());
        walks.0.insert(key(2), walk(longest));
        let cached = [1, 2].iter().filter(|project| walks.0.get(&key(**project)).is_some());
        assert!(cached.count() < 2, "there is no room for both");
    }
}
