//! The store of all repositories of a data folder.

use std::collections::HashMap;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::ports::files::{FilesError, ProjectFiles};
use hexforge_domain::ports::git::{GitError, GitStore, MergedPacks, Repository};
use hexforge_domain::ports::pack_store::{PackError, PackStore};
use hexforge_domain::refs::Snapshot;
use hexforge_domain::repository::Comparison;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::content::annotation::{self, PeeledTag};
use crate::content::archive::cache::{self, ArchiveCache};
use crate::content::blob::cache::BlobCache;
use crate::content::commit;
use crate::error::{failed, io_failed};
use crate::history::browse::BrowseCaches;
use crate::history::contributors::ContributorIndex;
use crate::history::lineage::Lineages;
use crate::history::reachable::WalkCache;
use crate::protocol::copy;
use crate::protocol::limits::{MemoryBudget, PushLimits};
use crate::protocol::receive::fsck::AcceptedFaults;
use crate::protocol::upload::{CompressedObjects, PackOrders, PartCache, Plans};
use crate::storage::layout::Layout;
use crate::storage::maintenance;
use crate::storage::open::{LinkOutcome, OpenRepository};
use crate::storage::open_repositories::OpenRepositories;
use crate::storage::pack_summary::{PackSummary, Unusable};
use crate::storage::refs::export;
use crate::storage::repository::GixRepository;
use crate::storage::scratch::ScratchPool;

/// The maximum number of cached open repositories.
const OPEN_REPOSITORIES: usize = 256;

/// The maximum number of cached commits, parsed.
const COMMITS: usize = 50_000;

/// The maximum number of cached annotated tags, parsed.
const ANNOTATIONS: usize = 10_000;

/// The maximum number of cached ids of root trees, by commit.
const ROOTS: usize = 20_000;

/// The maximum size of cached comparisons, in bytes.
const COMPARISONS: u64 = 32 * 1024 * 1024;

/// Commits and tags with longer messages are not cached, which keeps the cache within some tens of MB.
const LONGEST_CACHED_MESSAGE: usize = 2000;

/// The number of attempts to open a repository while its packs change.
const TRIES: u32 = 10;

/// The pack folder in a repository.
const PACKS: &str = "objects/pack";

/// The git store: all repositories of one data folder.
#[derive(Clone)]
pub struct GixStore {
    shared: Arc<Shared>,
}

/// Caches and configuration shared by all requests. The caches may lose entries at any time.
pub(crate) struct Shared {
    pub(crate) layout: Layout,
    pub(crate) archives: ArchiveCache,
    pub(crate) contributors: ContributorIndex,
    pub(crate) limits: PushLimits,
    /// The memory budget of pushes and imports while objects are indexed.
    pub(crate) memory: Arc<MemoryBudget>,
    discard: Box<Discard>,
    pub(crate) packs: Arc<dyn PackStore>,
    scratch_pool: ScratchPool,
    /// Staged repositories by project and new pack. No committed row names these packs yet.
    staged: Mutex<HashMap<(ProjectId, PackName), Weak<OpenRepository>>>,
    open: Cache<ProjectId, Arc<OpenRepository>>,
    /// All open repositories, including those that the `open` cache evicted.
    open_repositories: OpenRepositories,
    commits: Cache<(ProjectId, gix::ObjectId), Arc<Commit>>,
    annotations: Cache<(ProjectId, gix::ObjectId), Arc<PeeledTag>>,
    roots: Cache<(ProjectId, gix::ObjectId), gix::ObjectId>,
    pub(crate) files: BlobCache,
    pub(crate) plans: Plans,
    pub(crate) parts: PartCache,
    pub(crate) pack_orders: Arc<PackOrders>,
    pub(crate) compressed: CompressedObjects,
    pub(crate) lineages: Lineages,
    pub(crate) walks: WalkCache,
    pub(crate) browsing: BrowseCaches,
    verify_fetches: AtomicBool,
    accepted_faults: OnceLock<AcceptedFaults>,
    pub(crate) comparisons: Cache<(ProjectId, ObjectId, ObjectId), Arc<Comparison>, BySize>,
}

/// Weighs comparisons by their approximate size in memory.
#[derive(Clone)]
pub(crate) struct BySize;

impl<Key> Weighter<Key, Arc<Comparison>> for BySize {
    fn weight(&self, _: &Key, comparison: &Arc<Comparison>) -> u64 {
        let texts: usize = comparison.diffs.iter().map(|diff| diff.text.len() + 300).sum();
        let commits: usize =
            comparison.commits.iter().map(|commit| commit.message.len() + 500).sum();
        (texts + commits) as u64 + 100
    }
}

type Discard = dyn Fn(&Path) -> std::io::Result<()> + Send + Sync;

impl GixStore {
    /// Creates a store for the repositories of a data folder, with the default push limits. Their objects are in a pack
    /// store. `discard` moves a folder away at once and removes it later.
    pub fn new(
        data: impl Into<PathBuf>,
        packs: Arc<dyn PackStore>,
        discard: impl Fn(&Path) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::with_limits(data, packs, PushLimits::default(), discard)
    }

    /// Like [`GixStore::new`], with custom push limits.
    pub fn with_limits(
        data: impl Into<PathBuf>,
        packs: Arc<dyn PackStore>,
        limits: PushLimits,
        discard: impl Fn(&Path) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let layout = Layout::new(data);
        Self {
            shared: Arc::new(Shared {
                archives: ArchiveCache::new(layout.archives(), cache::BUDGET),
                contributors: ContributorIndex::default(),
                packs,
                scratch_pool: ScratchPool::default(),
                staged: Mutex::default(),
                memory: Arc::new(MemoryBudget::new(limits.memory_bytes)),
                limits,
                discard: Box::new(discard),
                open: Cache::new(OPEN_REPOSITORIES),
                open_repositories: OpenRepositories::default(),
                commits: Cache::new(COMMITS),
                annotations: Cache::new(ANNOTATIONS),
                roots: Cache::new(ROOTS),
                files: BlobCache::default(),
                plans: Plans::default(),
                parts: PartCache::default(),
                pack_orders: Arc::default(),
                compressed: CompressedObjects::default(),
                lineages: Lineages::default(),
                walks: WalkCache::default(),
                browsing: BrowseCaches::default(),
                verify_fetches: AtomicBool::new(cfg!(debug_assertions)),
                accepted_faults: OnceLock::new(),
                comparisons: Cache::with_weighter(100, COMPARISONS, BySize),
                layout,
            }),
        }
    }

    /// Sets whether each fetch response is verified by a walk over the whole history. Debug builds do so by default.
    #[must_use]
    pub fn verify_fetches(self, verify: bool) -> Self {
        self.shared.verify_fetches.store(verify, Ordering::Relaxed);
        self
    }

    /// Sets the fsck errors that pushed and imported objects may have. Only the first call has an effect, and only
    /// before the setting is first read.
    #[must_use]
    pub fn accept_faults(self, faults: AcceptedFaults) -> Self {
        self.shared.accepted_faults.get_or_init(|| faults);
        self
    }

    /// The state shared with all clones of this store and all open repositories.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Removes the pack links of repositories that are not open and whose link folder changed at least `age` ago.
    /// Repositories outside the cache come first, then the oldest. Stops when `go_on` returns `false` after a
    /// repository. Opening a repository links its packs again.
    pub fn unlink_idle(
        &self,
        age: Duration,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<(), GitError> {
        let shared = &self.shared;
        let projects = self.projects().map_err(|error| GitError::Failed(error.to_string()))?;
        let mut idle: Vec<(bool, SystemTime, ProjectId)> = projects
            .filter_map(|project| {
                let links = shared.layout.repository(project).join(PACKS);
                let changed = fs::metadata(links).and_then(|found| found.modified()).ok()?;
                let is_old = changed.elapsed().is_ok_and(|elapsed| elapsed >= age);
                is_old.then(|| (shared.open.contains_key(&project), changed, project))
            })
            .collect();
        idle.sort_unstable();
        for (_, _, project) in idle {
            match shared.unlink(project) {
                Ok(false) => (),
                Ok(true) if go_on() => (),
                Ok(true) => break,
                Err(error) => tracing::warn!(%project, %error, "packs cannot be unlinked"),
            }
        }
        Ok(())
    }

    /// The paths in the data folder.
    pub fn layout(&self) -> &Layout {
        &self.shared.layout
    }
}

impl Shared {
    pub(crate) fn accepted_faults(&self) -> &AcceptedFaults {
        self.accepted_faults.get_or_init(AcceptedFaults::default)
    }

    pub(crate) fn verifies_fetches(&self) -> bool {
        self.verify_fetches.load(Ordering::Relaxed)
    }

    /// Opens the repository of a project with the packs of its refs. Returns `None` when it never had any objects.
    pub(crate) fn open(
        &self,
        project: ProjectId,
        refs: &Snapshot,
    ) -> Result<Option<Arc<OpenRepository>>, GitError> {
        let open = self.open_committed(project, refs)?;
        match refs.new_packs() {
            [] => Ok(open),
            new => self.open_with_new_packs(project, open.as_ref(), new).map(Some),
        }
    }

    /// Like [`Shared::open`], but without packs that no committed row names yet.
    fn open_committed(
        &self,
        project: ProjectId,
        refs: &Snapshot,
    ) -> Result<Option<Arc<OpenRepository>>, GitError> {
        let folder = self.layout.repository(project);
        for _ in 0..TRIES {
            let open = match self.open.get(&project) {
                Some(open) => open,
                None => {
                    let _lock = self.open_repositories.lock(project);
                    if !folder.join("HEAD").exists() {
                        if refs.packs().is_empty() {
                            return Ok(None);
                        }
                        self.make_folder(&folder)?;
                    }
                    let open = Arc::new(OpenRepository::open(&folder, refs.packs().len())?);
                    self.open_repositories.register(project, &open);
                    self.open.insert(project, Arc::clone(&open));
                    open
                }
            };
            match open.link(&*self.packs, refs)? {
                LinkOutcome::All => return Ok(Some(open)),
                // The open handle has unlinked files mapped, or no free slots for more packs.
                LinkOutcome::Reopen => self.evict_open(project),
            }
        }
        Err(GitError::Busy)
    }

    /// Creates the folder of a repository without packs. Several threads or processes may do so at the same time.
    fn make_folder(&self, folder: &Path) -> Result<(), GitError> {
        let scratch = self.scratch()?;
        init(scratch.path())?;
        let parent = folder
            .parent()
            .ok_or_else(|| GitError::Failed("a repository folder has no parent".into()))?;
        fs::create_dir_all(parent).map_err(io_failed)?;
        match fs::rename(scratch.path(), folder) {
            Ok(()) => {
                // The folder was renamed, so the temporary folder must not be removed on drop.
                let _ = scratch.keep();
                Ok(())
            }
            Err(_) if folder.join("HEAD").exists() => Ok(()),
            Err(error) => Err(io_failed(error)),
        }
    }

    /// Creates a staged repository in a scratch folder, with slots for `packs` packs. It reads the objects of `base`.
    pub(crate) fn stage(
        &self,
        base: Option<&Arc<OpenRepository>>,
        packs: usize,
    ) -> Result<OpenRepository, GitError> {
        let objects = base.map(|base| fs::canonicalize(base.git_dir().join("objects")));
        let objects = objects.transpose().map_err(io_failed)?;
        let folder = self.scratch_pool.take(objects.as_deref(), || self.scratch())?;
        OpenRepository::in_scratch(folder, base.cloned(), packs)
    }

    /// Registers the staged repository of a project for requests that read its new pack.
    pub(crate) fn register_staged(
        &self,
        project: ProjectId,
        pack: PackName,
        staged: &Arc<OpenRepository>,
    ) {
        let mut all = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|_, staged| staged.strong_count() > 0);
        all.insert((project, pack), Arc::downgrade(staged));
    }

    /// Opens a staged repository with these packs, which no committed row names yet, on top of the packs of `base`.
    fn open_with_new_packs(
        &self,
        project: ProjectId,
        base: Option<&Arc<OpenRepository>>,
        packs: &[Pack],
    ) -> Result<Arc<OpenRepository>, GitError> {
        if let [pack] = packs {
            let all = self.staged.lock().unwrap_or_else(PoisonError::into_inner);
            // The staged repository of a first push has no alternates, so it lacks packs that were committed later.
            if let Some(staged) = all.get(&(project, pack.name)).and_then(Weak::upgrade)
                && (base.is_none() || staged.has_base())
            {
                return Ok(staged);
            }
        }
        let staged = self.stage(base, packs.len())?;
        for pack in packs {
            staged.link_pack(&*self.packs, pack)?;
        }
        Ok(Arc::new(staged))
    }

    /// Stores a pack durably (synced). The store may keep hard links to the files.
    pub(crate) fn store_pack(
        &self,
        data: &Path,
        index: &Path,
        objects: usize,
    ) -> Result<Pack, GitError> {
        Ok(self.packs.put(data, index, objects as u64)?)
    }

    /// Stores the summary of a pack, if there is one. A failure is only logged: fetches are slower without a summary.
    pub(crate) fn put_summary(&self, pack: &Pack, summary: Option<&PackSummary>) {
        let Some(bytes) = summary.and_then(|summary| summary.encode(pack.name, pack.objects))
        else {
            return;
        };
        if let Err(error) = self.packs.put_summary(pack.name, &bytes) {
            tracing::warn!(pack = %pack.name, %error, "the summary of a pack cannot be stored");
        }
    }

    /// Returns the stored summary of a pack with this number of objects. A summary that is damaged or belongs to another
    /// pack is ignored.
    pub(crate) fn summary(&self, name: PackName, objects: u64) -> Option<PackSummary> {
        let read = || -> Result<Option<PackSummary>, PackError> {
            let Some(bytes) = self.packs.summary(name)? else { return Ok(None) };
            match PackSummary::decode(&bytes, name, objects) {
                Ok(summary) => Ok(Some(summary)),
                Err(Unusable::OtherVersion) => Ok(None),
                Err(Unusable::Wrong) => {
                    let why = "it is damaged or belongs to another pack";
                    Err(PackError::Failed(why.into()))
                }
            }
        };
        read().unwrap_or_else(|error| {
            tracing::warn!(pack = %name, %error, "the summary of a pack cannot be used");
            None
        })
    }

    /// Removes the pack links of a repository unless it is in use. Returns whether there were any.
    fn unlink(&self, project: ProjectId) -> Result<bool, GitError> {
        // This lock keeps others from opening the repository meanwhile.
        let _lock = self.open_repositories.lock(project);
        let cached = self.open.remove(&project).map(|(_, open)| open);
        // The cache itself holds one reference.
        if self.open_repositories.count_references(project) > usize::from(cached.is_some()) {
            if let Some(cached) = cached {
                self.open.insert(project, cached);
            }
            return Ok(false);
        }
        drop(cached);
        let links = list_folder(&self.layout.repository(project).join(PACKS));
        for link in &links {
            let removed =
                if link.is_dir() { fs::remove_dir_all(link) } else { fs::remove_file(link) };
            match removed {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(io_failed(error)),
                Ok(()) | Err(_) => (),
            }
        }
        Ok(!links.is_empty())
    }

    /// Evicts a repository from the cache, so that the next request opens it again.
    pub(crate) fn evict_open(&self, project: ProjectId) {
        self.open.remove(&project);
    }

    /// Returns a parsed commit, from the cache if possible.
    pub(crate) fn commit(
        &self,
        project: ProjectId,
        repo: &gix::Repository,
        id: gix::ObjectId,
    ) -> Result<Commit, GitError> {
        if let Some(commit) = self.commits.get(&(project, id)) {
            return Ok(Commit::clone(&commit));
        }
        let commit = commit::read(repo, id)?;
        if commit.message.len() <= LONGEST_CACHED_MESSAGE {
            self.commits.insert((project, id), Arc::new(commit.clone()));
        }
        Ok(commit)
    }

    /// Peels the target of a tag. Returns `None` if it does not lead to a commit.
    pub(crate) fn peel_tag(
        &self,
        project: ProjectId,
        repo: &gix::Repository,
        id: gix::ObjectId,
    ) -> Result<Option<PeeledTag>, GitError> {
        // An id in the commit cache is a commit, so it need not be read.
        if self.commits.contains_key(&(project, id)) {
            return Ok(Some(PeeledTag { commit: id, message: None }));
        }
        if let Some(peeled) = self.annotations.get(&(project, id)) {
            return Ok(Some(PeeledTag::clone(&peeled)));
        }
        let peeled = annotation::read(repo, id)?;
        if let Some(peeled) = &peeled
            && peeled.message.as_ref().is_some_and(|text| text.len() <= LONGEST_CACHED_MESSAGE)
        {
            self.annotations.insert((project, id), Arc::new(peeled.clone()));
        }
        Ok(peeled)
    }

    /// Returns the id of the root tree of a commit.
    pub(crate) fn root_tree(
        &self,
        project: ProjectId,
        repo: &gix::Repository,
        commit: gix::ObjectId,
    ) -> Result<gix::ObjectId, GitError> {
        if let Some(root) = self.roots.get(&(project, commit)) {
            return Ok(root);
        }
        let found = repo.find_commit(commit).map_err(failed)?;
        let root = found.tree_id().map_err(failed)?.detach();
        self.roots.insert((project, commit), root);
        Ok(root)
    }

    /// Creates an empty temporary folder, in which a repository can be assembled.
    pub(crate) fn scratch(&self) -> Result<tempfile::TempDir, GitError> {
        let scratch = self.layout.scratch();
        fs::create_dir_all(&scratch).map_err(io_failed)?;
        tempfile::tempdir_in(scratch).map_err(io_failed)
    }
}

impl ProjectFiles for GixStore {
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError> {
        let layout = self.shared.layout.clone();
        let shards = (0..=u8::MAX).flat_map(move |shard| list_folder(&layout.shard(shard)));
        let repositories = shards.flat_map(|shard| list_folder(&shard));
        Ok(Box::new(repositories.filter_map(|folder| Layout::project(&folder))))
    }

    fn remove_project(&self, project: ProjectId) {
        let folder = self.shared.layout.repository(project);
        if let Err(error) = (self.shared.discard)(&folder) {
            tracing::warn!(folder = %folder.display(), %error, "a repository cannot be removed");
        }
        self.shared.evict_open(project);
        self.shared.archives.forget(project);
    }

    fn remove_leftovers(&self) -> Result<(), FilesError> {
        // Younger folders may be in use by another process.
        for folder in list_folder(&self.shared.layout.scratch()) {
            if is_old(&folder)
                && let Err(error) = (self.shared.discard)(&folder)
            {
                let folder = folder.display();
                tracing::warn!(%folder, %error, "a leftover folder could not be removed");
            }
        }
        Ok(())
    }
}

/// Returns whether a folder is more than 24 hours old, so that no process can be using it.
pub(crate) fn is_old(folder: &Path) -> bool {
    let changed = fs::metadata(folder).and_then(|metadata| metadata.modified());
    let age = changed.ok().and_then(|changed| changed.elapsed().ok());
    age.is_some_and(|age| age > Duration::from_secs(24 * 60 * 60))
}

impl GitStore for GixStore {
    fn open(
        &self,
        project: ProjectId,
        refs: Arc<Snapshot>,
        caller: Caller,
    ) -> Result<Box<dyn Repository>, GitError> {
        Ok(Box::new(GixRepository::open(Arc::clone(&self.shared), project, refs, caller)?))
    }

    fn export_refs(&self, project: ProjectId, refs: &Snapshot) -> Result<(), GitError> {
        match self.shared.open(project, refs)? {
            Some(open) => export::write(open.git_dir(), refs),
            None => Ok(()),
        }
    }

    fn merge_packs(
        &self,
        project: ProjectId,
        packs: &[Pack],
    ) -> Result<Option<MergedPacks>, GitError> {
        maintenance::merge_packs(&self.shared, project, packs)
    }

    fn copy_commit(
        &self,
        commit: ObjectId,
        source: (ProjectId, Arc<Snapshot>),
        target: (ProjectId, Arc<Snapshot>),
        caller: Caller,
    ) -> Result<Vec<Pack>, GitError> {
        let open =
            |(project, refs)| GixRepository::open(Arc::clone(&self.shared), project, refs, caller);
        copy::copy_commit(commit, open(source)?, &open(target)?)
    }
}

/// Creates the files and folders of an empty repository, without sample hooks and description.
pub(crate) fn init(folder: &Path) -> Result<(), GitError> {
    init_with(folder, &["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"])
}

/// Like [`init`], with these folders.
pub(crate) fn init_with(folder: &Path, parts: &[&str]) -> Result<(), GitError> {
    for part in parts {
        fs::create_dir_all(folder.join(part)).map_err(io_failed)?;
    }
    // Keeps other git programs that repack this repository from making deltas that take much memory to read.
    let config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n\
        \tbigFileThreshold = 8m\n";
    fs::write(folder.join("config"), config).map_err(io_failed)?;
    fs::write(folder.join("HEAD"), "ref: refs/heads/master\n").map_err(io_failed)
}

/// The entries of a folder; empty when it cannot be read.
pub(crate) fn list_folder(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect()
}
