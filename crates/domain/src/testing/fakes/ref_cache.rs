//! Refs that were used last, without a limit.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use crate::id::ProjectId;
use crate::ports::ref_cache::RefCache;
use crate::refs::Snapshot;

/// Keeps all refs.
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
