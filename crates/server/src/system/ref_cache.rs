//! The cache of refs, in bounded memory.

use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::ref_cache::RefCache;
use hexforge_domain::refs::Snapshot;
use quick_cache::sync::{Cache, DefaultLifecycle};
use quick_cache::{DefaultHashBuilder, OptionsBuilder, Weighter};

/// The number of refs in the cache, of all repositories together: some 80 MB.
const CACHED_REFS: u64 = 400_000;

/// The expected number of repositories in the cache.
const REPOSITORIES: usize = 10_000;

/// Caches the refs of the most recently used repositories.
pub struct MemoryRefCache(Cache<ProjectId, Arc<Snapshot>, ByRefs>);

#[derive(Clone)]
struct ByRefs;

impl Weighter<ProjectId, Arc<Snapshot>> for ByRefs {
    fn weight(&self, _: &ProjectId, refs: &Arc<Snapshot>) -> u64 {
        // An empty snapshot takes memory too.
        4 + refs.len() as u64
    }
}

impl Default for MemoryRefCache {
    fn default() -> Self {
        // One shard: a repository is cached only if it fits into a shard.
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
