//! Tracks which repositories are open.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use hexforge_domain::id::ProjectId;

use crate::storage::open::OpenRepository;

/// The number of locks. Projects that share a lock are opened one after the other.
const LOCKS: usize = 64;

/// Weak references to all open repositories. The pack links of a repository that is not open may be removed.
pub(crate) struct OpenRepositories {
    open: Mutex<HashMap<ProjectId, Vec<Weak<OpenRepository>>>>,
    locks: [Mutex<()>; LOCKS],
}

impl Default for OpenRepositories {
    fn default() -> Self {
        Self { open: Mutex::default(), locks: std::array::from_fn(|_| Mutex::default()) }
    }
}

impl OpenRepositories {
    /// Locks a repository: only the holder may open it or remove its links.
    pub(crate) fn lock(&self, project: ProjectId) -> MutexGuard<'_, ()> {
        let place = project.0.unsigned_abs() as usize % LOCKS;
        self.locks[place].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Registers an opened repository.
    pub(crate) fn register(&self, project: ProjectId, opened: &Arc<OpenRepository>) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if open.len() >= open.capacity() {
            open.retain(|_, all| all.iter().any(|one| one.strong_count() > 0));
        }
        let all = open.entry(project).or_default();
        all.retain(|one| one.strong_count() > 0);
        all.push(Arc::downgrade(opened));
    }

    /// The number of strong references to an open repository.
    pub(crate) fn count_references(&self, project: ProjectId) -> usize {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.get(&project).map_or(0, |all| all.iter().map(Weak::strong_count).sum())
    }
}
