//! Fake of the ref cache, without a size limit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::ref_cache::RefCache;
use hexforge_domain::refs::Snapshot;

/// Caches all snapshots.
#[derive(Default)]
pub struct FakeRefCache(Mutex<HashMap<ProjectId, Arc<Snapshot>>>);

impl RefCache for FakeRefCache {
    fn get(&self, project: ProjectId) -> Option<Arc<Snapshot>> {
        self.0.lock().expect("nobody panics in here").get(&project).cloned()
    }

    fn put(&self, project: ProjectId, refs: Arc<Snapshot>) {
        self.0.lock().expect("nobody panics in here").insert(project, refs);
    }
}
