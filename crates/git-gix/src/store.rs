//! All repositories of a data folder.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use gix::odb::store::init::Slots;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::files::{FilesError, ProjectFiles};
use hexforge_domain::ports::git::{GitError, GitStore, Repository};
use hexforge_domain::refs::Snapshot;
use hexforge_domain::repository::Comparison;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use crate::annotation::{self, Pinned};
use crate::archive::cache::{self, ArchiveCache};
use crate::blob::kept::KeptFiles;
use crate::commit;
use crate::contributors::ContributorIndex;
use crate::durable::{sync_file, sync_folder};
use crate::error::{failed, io};
use crate::layout::Layout;
use crate::limits::{MemoryBudget, PushLimits};
use crate::lineage::Lineages;
use crate::maintenance::{self, MANY_PACKS, Tidying};
use crate::peel::to_commit;
use crate::place;
use crate::reachable::Walks;
use crate::receive::fsck::AcceptedFaults;
use crate::refs::Derived;
use crate::repository::GixRepository;
use crate::upload::packs::OpenPacks;
use crate::upload::{CompressedObjects, Plans};

/// How many repositories are kept open.
const OPEN_REPOSITORIES: usize = 256;

/// How many handles to one repository are kept for the next requests.
const IDLE_HANDLES: usize = 8;

/// Of how many objects of a repository is kept whether they lead to a commit.
const MOST_TAGS: usize = 100_000;

/// How many commits are kept in the form in which they are shown.
const COMMITS: usize = 50_000;

/// How many annotated tags are kept in that form.
const ANNOTATIONS: usize = 10_000;

/// Of how many commits the name of their folder is kept.
const ROOTS: usize = 20_000;

/// How many bytes of comparisons are kept.
const COMPARISONS: u64 = 32 * 1024 * 1024;

/// Longer messages are read anew each time, so that the kept commits stay within some tens of MB.
const LONGEST_KEPT_MESSAGE: usize = 2000;

/// The repositories of one data folder.
#[derive(Clone)]
pub struct GixStore {
    shared: Arc<Shared>,
}

/// What all requests share. Everything in it may be lost at any time.
pub(crate) struct Shared {
    pub(crate) layout: Layout,
    pub(crate) archives: ArchiveCache,
    pub(crate) contributors: ContributorIndex,
    pub(crate) tidying: Tidying,
    pub(crate) limits: PushLimits,
    /// What pushes and imports may hold while objects are indexed.
    pub(crate) memory: Arc<MemoryBudget>,
    discard: Box<Discard>,
    open: Cache<ProjectId, Arc<OpenRepository>>,
    commits: Cache<(ProjectId, gix::ObjectId), Arc<Commit>>,
    annotations: Cache<(ProjectId, gix::ObjectId), Arc<Pinned>>,
    roots: Cache<(ProjectId, gix::ObjectId), gix::ObjectId>,
    pub(crate) files: KeptFiles,
    pub(crate) plans: Plans,
    pub(crate) compressed: CompressedObjects,
    pub(crate) lineages: Lineages,
    pub(crate) walks: Walks,
    verify_fetches: AtomicBool,
    accepted_faults: OnceLock<AcceptedFaults>,
    pub(crate) comparisons: Cache<(ProjectId, ObjectId, ObjectId), Arc<Comparison>, BySize>,
}

/// Weighs comparisons by the memory they take, roughly.
#[derive(Clone)]
pub(crate) struct BySize;

impl Weighter<(ProjectId, ObjectId, ObjectId), Arc<Comparison>> for BySize {
    fn weight(&self, _: &(ProjectId, ObjectId, ObjectId), comparison: &Arc<Comparison>) -> u64 {
        let texts: usize = comparison.diffs.iter().map(|diff| diff.text.len() + 300).sum();
        let commits: usize =
            comparison.commits.iter().map(|commit| commit.message.len() + 500).sum();
        (texts + commits) as u64 + 100
    }
}

type Discard = dyn Fn(&Path) -> std::io::Result<()> + Send + Sync;

/// A repository that is open.
pub(crate) struct OpenRepository {
    opened: gix::ThreadSafeRepository,
    idle: Mutex<Vec<gix::Repository>>,
    /// What follows from its refs.
    derived: Mutex<Option<Arc<Derived>>>,
    /// Those of its packs that are being sent from.
    pub(crate) packs: OpenPacks,
    /// Which of the objects that tags hold lead to commits. That never changes.
    tags: Mutex<HashMap<gix::ObjectId, bool>>,
    /// How many packs the handles can know.
    slots: usize,
    /// The newest version of refs whose packs are loaded.
    loaded: AtomicI64,
    loading: Mutex<()>,
}

impl GixStore {
    /// The repositories in a data folder. `discard` takes folders out of the way at once, and removes them
    /// in its own time.
    pub fn new(
        data: impl Into<PathBuf>,
        discard: impl Fn(&Path) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        Self::with_limits(data, PushLimits::default(), discard)
    }

    /// The same, with limits of one's own.
    pub fn with_limits(
        data: impl Into<PathBuf>,
        limits: PushLimits,
        discard: impl Fn(&Path) -> std::io::Result<()> + Send + Sync + 'static,
    ) -> Self {
        let layout = Layout::new(data);
        Self {
            shared: Arc::new(Shared {
                archives: ArchiveCache::new(layout.archives(), cache::BUDGET),
                contributors: ContributorIndex::default(),
                tidying: Tidying::default(),
                memory: Arc::new(MemoryBudget::new(limits.memory_bytes)),
                limits,
                discard: Box::new(discard),
                open: Cache::new(OPEN_REPOSITORIES),
                commits: Cache::new(COMMITS),
                annotations: Cache::new(ANNOTATIONS),
                roots: Cache::new(ROOTS),
                files: KeptFiles::default(),
                plans: Plans::default(),
                compressed: CompressedObjects::default(),
                lineages: Lineages::default(),
                walks: Walks::default(),
                verify_fetches: AtomicBool::new(cfg!(debug_assertions)),
                accepted_faults: OnceLock::new(),
                comparisons: Cache::with_weighter(100, COMPARISONS, BySize),
                layout,
            }),
        }
    }

    /// Sets whether each answer to a fetch is checked by a walk over the whole history. Debug builds do so unless told
    /// otherwise.
    #[must_use]
    pub fn verify_fetches(self, verify: bool) -> Self {
        self.shared.verify_fetches.store(verify, Ordering::Relaxed);
        self
    }

    /// Sets the errors that pushed and imported objects may have, if this is called before anything else.
    #[must_use]
    pub fn accept_faults(self, faults: AcceptedFaults) -> Self {
        self.shared.accepted_faults.get_or_init(|| faults);
        self
    }

    /// What this shares with what works on the same repositories.
    pub(crate) fn shared(&self) -> &Arc<Shared> {
        &self.shared
    }

    /// Where things are on disk.
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

    /// The repository of a project, if anything was ever put into it.
    pub(crate) fn open(&self, project: ProjectId) -> Result<Option<Arc<OpenRepository>>, GitError> {
        if let Some(open) = self.open.get(&project) {
            return Ok(Some(open));
        }
        let folder = self.layout.repository(project);
        if !folder.join("HEAD").exists() {
            return Ok(None);
        }
        let slots = slots_for(count_packs(&folder));
        let open = Arc::new(OpenRepository {
            opened: open_with(&folder, Slots::Given(slots))?,
            idle: Mutex::default(),
            derived: Mutex::default(),
            packs: OpenPacks::default(),
            tags: Mutex::default(),
            slots: slots.into(),
            loaded: AtomicI64::new(0),
            loading: Mutex::default(),
        });
        self.open.insert(project, Arc::clone(&open));
        Ok(Some(open))
    }

    /// The repository of a project, made when there is none yet.
    pub(crate) fn open_or_create(
        &self,
        project: ProjectId,
    ) -> Result<Arc<OpenRepository>, GitError> {
        if let Some(open) = self.open(project)? {
            return Ok(open);
        }
        let made = self.scratch()?;
        init(made.path())?;
        // Somebody else may have been faster: then theirs stays.
        place::put_first(self, made, project)?;
        self.open(project)?
            .ok_or_else(|| GitError::Failed("the new repository is not there".into()))
    }

    /// What a new pack asks for: few enough packs, and that all of them can be known to who is open.
    pub(crate) fn make_room(self: &Arc<Self>, project: ProjectId, open: &OpenRepository) {
        let packs = count_packs(open.git_dir());
        if packs * 4 > open.slots * 3 {
            self.forget_open(project);
        }
        if packs >= MANY_PACKS {
            maintenance::later(self, project);
        }
    }

    /// Opens the repository of a project anew the next time.
    pub(crate) fn forget_open(&self, project: ProjectId) {
        self.open.remove(&project);
    }

    /// A commit in the form in which it is shown.
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
        if commit.message.len() <= LONGEST_KEPT_MESSAGE {
            self.commits.insert((project, id), Arc::new(commit.clone()));
        }
        Ok(commit)
    }

    /// What an object that a tag holds leads to, if that is a commit.
    pub(crate) fn pinned(
        &self,
        project: ProjectId,
        repo: &gix::Repository,
        id: gix::ObjectId,
    ) -> Result<Option<Pinned>, GitError> {
        // What is known as a commit is not read again to find that out.
        if self.commits.contains_key(&(project, id)) {
            return Ok(Some(Pinned { commit: id, message: None }));
        }
        if let Some(pinned) = self.annotations.get(&(project, id)) {
            return Ok(Some(Pinned::clone(&pinned)));
        }
        let pinned = annotation::read(repo, id)?;
        if let Some(pinned) = &pinned
            && pinned.message.as_ref().is_some_and(|text| text.len() <= LONGEST_KEPT_MESSAGE)
        {
            self.annotations.insert((project, id), Arc::new(pinned.clone()));
        }
        Ok(pinned)
    }

    /// The name of the folder that has everything of a commit.
    pub(crate) fn root(
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

    /// An empty folder in which a repository can be put together.
    pub(crate) fn scratch(&self) -> Result<tempfile::TempDir, GitError> {
        let scratch = self.layout.scratch();
        fs::create_dir_all(&scratch).map_err(io)?;
        tempfile::tempdir_in(scratch).map_err(io)
    }
}

impl OpenRepository {
    /// Loads the packs to which refs of this version lead, unless that was done.
    pub(crate) fn load_packs_of(&self, refs: &Snapshot) {
        if refs.version() > self.loaded.load(Ordering::Acquire) {
            self.load_packs();
            self.loaded.fetch_max(refs.version(), Ordering::Release);
        }
    }

    /// Loads the indexes of all packs, by one thread at a time: while two threads load the same index, gix may miss an
    /// object for a moment.
    pub(crate) fn load_packs(&self) {
        let _turn = self.loading.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = self.handle();
        // An object that does not exist is looked for in each index, and then in the folder again.
        let _ = handle.has_object(gix::ObjectId::null(gix::hash::Kind::Sha1));
        self.put_back(handle);
    }

    /// A handle for one request.
    pub(crate) fn handle(&self) -> gix::Repository {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| self.opened.to_thread_local())
    }

    /// Keeps a handle for the next request.
    pub(crate) fn put_back(&self, mut handle: gix::Repository) {
        handle.object_cache_size(None);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_HANDLES {
            idle.push(handle);
        }
    }

    /// What follows from these refs, kept until it is asked for other ones.
    pub(crate) fn derived(&self, refs: &Snapshot) -> Arc<Derived> {
        if refs.version() == Snapshot::UNCOMMITTED {
            return Arc::new(Derived::of(refs));
        }
        let mut kept = self.derived.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some(kept) if kept.version == refs.version() => Arc::clone(kept),
            _ => Arc::clone(kept.insert(Arc::new(Derived::of(refs)))),
        }
    }

    /// Whether what a tag holds leads to a commit; what cannot be read does not.
    pub(crate) fn leads_to_commit(&self, repo: &gix::Repository, target: gix::ObjectId) -> bool {
        let known = self.tags.lock().unwrap_or_else(PoisonError::into_inner).get(&target).copied();
        known.unwrap_or_else(|| {
            let leads = match to_commit(repo, target) {
                Ok(commit) => commit.is_some(),
                // It may be there again later.
                Err(_) => return false,
            };
            let mut tags = self.tags.lock().unwrap_or_else(PoisonError::into_inner);
            if tags.len() >= MOST_TAGS {
                tags.clear();
            }
            tags.insert(target, leads);
            leads
        })
    }

    /// Where it is.
    pub(crate) fn git_dir(&self) -> &Path {
        self.opened.path()
    }

    /// What can be shared with other threads.
    pub(crate) fn shared(&self) -> &gix::ThreadSafeRepository {
        &self.opened
    }
}

impl ProjectFiles for GixStore {
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError> {
        let layout = self.shared.layout.clone();
        let shards = (0..=u8::MAX).flat_map(move |shard| folders(&layout.shard(shard)));
        let repositories = shards.flat_map(|shard| folders(&shard));
        Ok(Box::new(repositories.filter_map(|folder| Layout::project(&folder))))
    }

    fn discard(&self, project: ProjectId) {
        let folder = self.shared.layout.repository(project);
        if let Err(error) = (self.shared.discard)(&folder) {
            tracing::warn!(folder = %folder.display(), %error, "a repository cannot be removed");
        }
        self.shared.forget_open(project);
        self.shared.archives.forget(project);
    }

    fn tidy(&self) -> Result<(), FilesError> {
        // What is younger may be at work in another process.
        for leftover in [self.shared.layout.scratch()] {
            for folder in folders(&leftover) {
                if is_old(&folder)
                    && let Err(error) = (self.shared.discard)(&folder)
                {
                    tracing::warn!(folder = %folder.display(), %error, "a leftover stays");
                }
            }
        }
        Ok(())
    }
}

/// Whether nobody can be at work on it any more.
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

    fn copy(&self, source: ProjectId, target: ProjectId) -> Result<(), GitError> {
        let source = self.shared.open(source)?.ok_or(GitError::Missing)?;
        let target = self.shared.open_or_create(target)?;
        crate::copy::copy(source.git_dir(), target.git_dir())
    }
}

pub(crate) fn open_folder(folder: &Path) -> Result<gix::ThreadSafeRepository, GitError> {
    // Packs may come while it is open.
    open_with(folder, Slots::AsNeededByDiskState { multiplier: 2.0, minimum: 64 })
}

fn open_with(folder: &Path, slots: Slots) -> Result<gix::ThreadSafeRepository, GitError> {
    // Nothing of the machine's or the user's configuration has a say here.
    let options = gix::open::Options::isolated().open_path_as_is(true).object_store_slots(slots);
    // Each object is what its name says: there are refs that tell git to show others instead.
    let options = options.config_overrides(["core.useReplaceRefs=false"]);
    gix::ThreadSafeRepository::open_opts(folder, options).map_err(failed)
}

/// A repository that is open learns of new packs only as long as there are slots for them.
fn slots_for(packs: usize) -> u16 {
    u16::try_from(packs * 2).unwrap_or(u16::MAX).clamp(LEAST_SLOTS, MOST_SLOTS)
}

const LEAST_SLOTS: u16 = 256;
/// gix has no more.
const MOST_SLOTS: u16 = (1 << 15) - 1;

fn count_packs(git_dir: &Path) -> usize {
    let is_index = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "idx");
    folders(&git_dir.join("objects").join("pack")).iter().filter(|file| is_index(file)).count()
}

/// The bytes of all packs in a folder, with their indexes.
pub(crate) fn size_of_packs(folder: &Path) -> Result<u64, GitError> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(io(error)),
    };
    let mut bytes = 0;
    for entry in entries {
        // Packs may be merged meanwhile.
        if let Ok(metadata) = entry.map_err(io)?.metadata() {
            bytes += metadata.len();
        }
    }
    Ok(bytes)
}

/// What every repository has, and nothing else: no sample hooks, no description.
pub(crate) fn init(folder: &Path) -> Result<(), GitError> {
    init_with(folder, &["objects/info", "objects/pack", "refs/heads", "refs/tags", "info"])
}

/// The same for objects alone, which are put elsewhere soon: each folder takes as long as much of a small push.
pub(crate) fn init_for_objects(folder: &Path) -> Result<(), GitError> {
    init_with(folder, &["objects/info", "objects/pack", "refs"])
}

fn init_with(folder: &Path, parts: &[&str]) -> Result<(), GitError> {
    for part in parts {
        fs::create_dir_all(folder.join(part)).map_err(io)?;
    }
    // Other gits that pack this repository make no deltas that are too large to be read in little memory.
    let config = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = true\n\
        \tbigFileThreshold = 8m\n";
    fs::write(folder.join("config"), config).map_err(io)?;
    fs::write(folder.join("HEAD"), "ref: refs/heads/master\n").map_err(io)
}

/// Makes a pack and its index part of the packs in a folder, on disk.
pub(crate) fn put_pack(data: &Path, index: &Path, packs: &Path) -> Result<(), GitError> {
    for file in [data, index] {
        sync_file(file)?;
    }
    put_synced_pack(data, index, packs)
}

/// The same for files that are on disk already.
pub(crate) fn put_synced_pack(data: &Path, index: &Path, packs: &Path) -> Result<(), GitError> {
    // A pack counts once its index is there, so that comes last.
    for file in [data, index] {
        let name = file.file_name().ok_or_else(|| GitError::Failed("no file".into()))?;
        fs::set_permissions(file, fs::Permissions::from_mode(0o444)).map_err(io)?;
        fs::rename(file, packs.join(name)).map_err(io)?;
    }
    sync_folder(packs)
}

/// What is in a folder; nothing when it cannot be read.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect()
}
