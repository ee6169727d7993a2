//! Tracks the size and the last use of packs in a local folder.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use hexforge_domain::pack::PackName;

/// The names of the packs in a local folder, with a limit on their total size.
pub(crate) struct CachedNames {
    limit: u64,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    packs: HashMap<PackName, CachedPack>,
    bytes: u64,
    /// A logical clock that advances with each use.
    clock: u64,
    /// Bytes to free because the disk is full, even below the limit.
    wanted: u64,
}

struct CachedPack {
    bytes: u64,
    last_use: u64,
}

impl CachedNames {
    pub(crate) fn new(limit: u64) -> Self {
        Self { limit, state: Mutex::default() }
    }

    /// Records that a pack of this size, index included, is in the folder and in use now.
    pub(crate) fn record(&self, name: PackName, bytes: u64) {
        let mut state = self.lock();
        state.clock += 1;
        let last_use = state.clock;
        let before = state.packs.insert(name, CachedPack { bytes, last_use });
        state.bytes = state.bytes + bytes - before.map_or(0, |before| before.bytes);
    }

    /// Records a use of a pack. Returns whether it is in the folder.
    pub(crate) fn touch(&self, name: PackName) -> bool {
        let mut state = self.lock();
        state.clock += 1;
        let last_use = state.clock;
        state.packs.get_mut(&name).map(|used| used.last_use = last_use).is_some()
    }

    /// Records that a pack is no longer in the folder.
    pub(crate) fn forget(&self, name: PackName) {
        let mut state = self.lock();
        let bytes = state.packs.remove(&name).map_or(0, |used| used.bytes);
        state.bytes -= bytes;
        state.wanted = state.wanted.saturating_sub(bytes);
    }

    /// Requests that this number of bytes be freed, even below the limit, because the disk is full.
    pub(crate) fn request_space(&self, bytes: u64) {
        let mut state = self.lock();
        state.wanted = state.wanted.max(bytes);
    }

    /// Cancels the request of [`CachedNames::want`].
    pub(crate) fn clear_wanted(&self) {
        self.lock().wanted = 0;
    }

    /// The number of bytes to free.
    pub(crate) fn excess(&self) -> u64 {
        let state = self.lock();
        state.bytes.saturating_sub(self.limit).max(state.wanted)
    }

    /// All packs, the least recently used first.
    pub(crate) fn oldest_first(&self) -> Vec<PackName> {
        let state = self.lock();
        let mut packs: Vec<(u64, PackName)> =
            state.packs.iter().map(|(name, used)| (used.last_use, *name)).collect();
        packs.sort_unstable();
        packs.into_iter().map(|(_, name)| name).collect()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packs_are_counted_once_and_listed_by_last_use() {
        let [one, two, three] = [1, 2, 3].map(|byte| PackName::from_bytes([byte; 32]));
        let names = CachedNames::new(100);
        assert!(!names.touch(one));
        for (name, bytes) in [(one, 60), (two, 30), (three, 50), (two, 40)] {
            names.record(name, bytes);
        }
        assert!(names.touch(one));
        assert_eq!((names.excess(), names.oldest_first()), (50, vec![three, two, one]));
        names.forget(three);
        names.forget(three);
        assert_eq!(names.excess(), 0);
        names.request_space(70);
        assert_eq!(names.excess(), 70);
        names.forget(one);
        assert_eq!(names.excess(), 10);
        names.clear_wanted();
        assert_eq!((names.excess(), names.oldest_first()), (0, vec![two]));
    }
}
