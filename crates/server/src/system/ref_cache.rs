//! The cache of refs, in bounded memory.

use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::ref_cache::RefCache;
use hexforge_domain::refs::Snapshot;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

/// The number of refs in the cache, of all repositories together: some 80 MB.
const CACHED_REFS: u64 = 400_000;

/// The number of repositories that the cache expects.
const REPOSITORIES: usize = 10_000;

/// Keeps the refs of the repositories that were used last.
pub struct MemoryRefCache(Cache<ProjectId, Arc<Snapshot>, ByRefs>);

#[derive(Clone)]
struct ByRefs;

impl Weighter<ProjectId, Arc<Snapshot>> for ByRefs {
    fn weight(&self, _: &ProjectId, refs: &Arc<Snapshot>) -> u64 {
        // An empty snapshot takes room too.
        4 + refs.len() as u64
    }
}

impl Default for MemoryRefCache {
    fn default() -> Self {
        // One shard: a repository is kept only if it fits into a shard.
        let options = OptionsBuilder::new()
            .shards(1)
            .estimated_items_capacity(REPOSITORIES)
            .weight_capacity(CACHED_REFS)
            .build()
            .expect("all options are given");
        Self(Cache::with_options(
            options,
            ByRefs,
            DefaultHashBuilder::default(),
            DefaultLifecycle::default(),
        ))
    }
}

impl RefCache for MemoryRefCache {
    fn get(&self, project: ProjectId) -> Option<Arc<Snapshot>> {
        self.0.get(&project)
    }

    fn put(&self, project: ProjectId, refs: Arc<Snapshot>) {
        self.0.insert(project, refs);
    }
}
