//! Open repositories: folders with hard links to packs of the pack store.
//!
//! The folder is derived from database rows: it links each pack of the repository, and is created again when it is
//! missing.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use gix::odb::store::init::Slots;
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::pack_store::PackStore;
use hexforge_domain::refs::Snapshot;
use tempfile::NamedTempFile;

use crate::content::peel::to_commit;
use crate::error::{failed, io_failed};
use crate::protocol::upload::packs::OpenPacks;
use crate::storage::refs::DerivedRefs;
use crate::storage::scratch::ScratchFolder;
use crate::storage::store::list_folder;

/// The maximum number of idle handles kept per repository.
const IDLE_HANDLES: usize = 8;

/// The maximum number of entries in the cache of [`OpenRepository::peels_to_commit`], per repository.
const MAX_TAGS: usize = 100_000;

/// The maximum number of packs of one repository that are fetched in parallel.
const FETCHED_AT_ONCE: usize = 4;

/// The number of attempts to link a pack that the store may drop from its cache meanwhile.
const LINK_TRIES: u32 = 5;

/// The age from which a link to a pack that is not in the refs snapshot is a leftover of a stopped process. A younger
/// link may belong to a newer push: a request with an old snapshot ends sooner than this.
const LEFTOVER: Duration = Duration::from_secs(24 * 60 * 60);

/// An open repository.
pub(crate) struct OpenRepository {
    opened: gix::ThreadSafeRepository,
    idle: Mutex<Vec<gix::Repository>>,
    /// Data derived from one version of the refs.
    derived: Mutex<Option<Arc<DerivedRefs>>>,
    /// Packs that running fetches read.
    pub(crate) packs: OpenPacks,
    /// Whether the target of a tag peels to a commit. Objects never change, so entries never become stale.
    tags: Mutex<HashMap<gix::ObjectId, bool>>,
    /// The maximum number of packs that the gix handles can load.
    slots: usize,
    /// The newest version of the repository whose packs are linked and loaded.
    version: AtomicI64,
    linked: Mutex<LinkedPacks>,
    /// The folder of a staged repository, which is released on drop.
    _scratch: Option<ScratchFolder>,
    /// The repository whose objects a staged repository reads as alternates. This reference keeps its links.
    base: Option<Arc<OpenRepository>>,
}

/// The packs of a repository that are linked and loaded.
#[derive(Default)]
struct LinkedPacks {
    names: HashSet<PackName>,
    /// Whether leftovers were removed.
    is_clean: bool,
}

/// The outcome of linking packs.
pub(crate) enum LinkOutcome {
    /// All packs are linked and loaded.
    All,
    /// The repository must be opened again: it has unlinked files mapped, or too few free slots.
    Reopen,
}

impl OpenRepository {
    /// Opens the repository in a folder, with slots for at least `packs` packs.
    pub(crate) fn open(folder: &Path, packs: usize) -> Result<Self, GitError> {
        let slots = slots_for(packs.max(count_packs(folder)));
        Ok(Self::new(open_with(folder, Slots::Given(slots))?, slots.into(), None, None))
    }

    /// Opens a staged repository with slots for `packs` packs. It owns its scratch folder and reads the objects of
    /// `base`.
    pub(crate) fn in_scratch(
        folder: ScratchFolder,
        base: Option<Arc<OpenRepository>>,
        packs: usize,
    ) -> Result<Self, GitError> {
        let slots = Slots::AsNeededByDiskState { multiplier: 2.0, minimum: 64 + 2 * packs };
        Ok(Self::new(open_with(folder.path(), slots)?, usize::MAX, Some(folder), base))
    }

    fn new(
        opened: gix::ThreadSafeRepository,
        slots: usize,
        scratch: Option<ScratchFolder>,
        base: Option<Arc<OpenRepository>>,
    ) -> Self {
        Self {
            opened,
            idle: Mutex::default(),
            derived: Mutex::default(),
            packs: OpenPacks::default(),
            tags: Mutex::default(),
            slots,
            version: AtomicI64::new(i64::MIN),
            linked: Mutex::default(),
            _scratch: scratch,
            base,
        }
    }

    /// Links and loads the packs of a refs snapshot. Only one thread at a time does so: while two threads load the same
    /// index, gix may miss an object for a moment.
    pub(crate) fn link(
        &self,
        store: &dyn PackStore,
        refs: &Snapshot,
    ) -> Result<LinkOutcome, GitError> {
        let is_committed = refs.version() != Snapshot::UNCOMMITTED;
        let is_done = || is_committed && refs.version() <= self.version.load(Ordering::Acquire);
        if is_done() {
            return Ok(LinkOutcome::All);
        }
        // Fetching or checking packs is slow, so it happens before the lock is taken.
        self.fetch(store, refs)?;
        let mut linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        if is_done() {
            return Ok(LinkOutcome::All);
        }
        let is_missing = |pack: &&Pack| !linked.names.contains(&pack.name);
        let missing: Vec<&Pack> = refs.packs().iter().filter(is_missing).collect();
        if (linked.names.len() + missing.len()) * 4 > self.slots.saturating_mul(3) {
            return Ok(LinkOutcome::Reopen);
        }
        for pack in &missing {
            self.link_pack(store, pack)?;
        }
        linked.names.extend(missing.iter().map(|pack| pack.name));
        if !is_committed {
            if !missing.is_empty() {
                self.load_packs();
            }
            return Ok(LinkOutcome::All);
        }
        self.load_packs();
        let names: HashSet<PackName> = refs.packs().iter().map(|pack| pack.name).collect();
        let retired: Vec<PackName> = linked.names.difference(&names).copied().collect();
        for name in &retired {
            self.unlink(*name)?;
        }
        if !std::mem::replace(&mut linked.is_clean, true) {
            self.remove_leftovers(&names)?;
        }
        linked.names = names;
        self.version.store(refs.version(), Ordering::Release);
        Ok(if retired.is_empty() { LinkOutcome::All } else { LinkOutcome::Reopen })
    }

    /// Makes the store fetch the packs of these refs that are not linked yet.
    fn fetch(&self, store: &dyn PackStore, refs: &Snapshot) -> Result<(), GitError> {
        let linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_missing = |pack: &&Pack| !linked.names.contains(&pack.name);
        let missing: Vec<&Pack> = refs.packs().iter().filter(is_missing).collect();
        drop(linked);
        let next = AtomicUsize::new(0);
        let fetch_all = || -> Result<(), GitError> {
            while let Some(pack) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                store.local_path(pack)?;
            }
            Ok(())
        };
        if missing.len() < 2 {
            return fetch_all();
        }
        std::thread::scope(|scope| {
            let threads = FETCHED_AT_ONCE.min(missing.len()) - 1;
            let others: Vec<_> = (0..threads).map(|_| scope.spawn(fetch_all)).collect();
            let mut outcome = fetch_all();
            for other in others {
                let broken =
                    |_| Err(GitError::Failed("a thread that fetches packs panicked".into()));
                outcome = outcome.and(other.join().unwrap_or_else(broken));
            }
            outcome
        })
    }

    /// Hard-links a pack of the store and its index into the repository.
    pub(crate) fn link_pack(&self, store: &dyn PackStore, pack: &Pack) -> Result<(), GitError> {
        let to = self.pack_path(pack.name);
        for _ in 0..LINK_TRIES {
            let from = store.local_path(pack)?;
            // git sees a pack once its index exists, so the index is linked last.
            let linked = link(&from, &to)
                .and_then(|()| link(&from.with_extension("idx"), &to.with_extension("idx")));
            match linked {
                // A store that caches packs may have dropped this one meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => (),
                linked => return linked.map_err(io_failed),
            }
        }
        Err(GitError::Busy)
    }

    /// Returns whether this is a staged repository that reads the objects of another.
    pub(crate) fn has_base(&self) -> bool {
        self.base.is_some()
    }

    /// The path of the link to a pack.
    pub(crate) fn pack_path(&self, name: PackName) -> PathBuf {
        self.git_dir().join("objects/pack").join(format!("pack-{name}.pack"))
    }

    /// Removes the link to a pack. The index goes first: without it git ignores the pack.
    fn unlink(&self, name: PackName) -> Result<(), GitError> {
        let path = self.pack_path(name);
        for file in [path.with_extension("idx"), path] {
            match fs::remove_file(file) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(io_failed(error)),
                Ok(()) | Err(_) => (),
            }
        }
        Ok(())
    }

    /// Removes leftover temporary files, and leftover links to packs that the repository does not have.
    fn remove_leftovers(&self, names: &HashSet<PackName>) -> Result<(), GitError> {
        for file in list_folder(&self.git_dir().join("objects/pack")) {
            let name = file.file_stem().and_then(|stem| stem.to_str()?.strip_prefix("pack-"));
            let is_temporary =
                file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp"));
            if is_temporary && is_leftover(&file) {
                // Removing a folder fails; it may stay because it takes no space.
                let _ = fs::remove_file(&file);
            }
            let Some(name) = name.and_then(PackName::parse) else { continue };
            if !names.contains(&name) && is_leftover(&file) {
                self.unlink(name)?;
            }
        }
        Ok(())
    }

    /// Makes gix load the indexes of all packs.
    fn load_packs(&self) {
        let handle = self.handle();
        // A lookup of an unknown object searches every index and then scans the folder for new ones.
        let _ = handle.has_object(gix::ObjectId::null(gix::hash::Kind::Sha1));
        self.return_handle(handle);
    }

    /// Takes an idle handle or creates one, for one request.
    pub(crate) fn handle(&self) -> gix::Repository {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        idle.unwrap_or_else(|| self.opened.to_thread_local())
    }

    /// Puts a handle back into the pool of idle handles.
    pub(crate) fn return_handle(&self, mut handle: gix::Repository) {
        handle.object_cache_size(None);
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < IDLE_HANDLES {
            idle.push(handle);
        }
    }

    /// The data derived from these refs. The cache holds the data of one version; uncommitted refs are not cached.
    pub(crate) fn derived(&self, refs: &Snapshot) -> Arc<DerivedRefs> {
        if refs.version() == Snapshot::UNCOMMITTED {
            return Arc::new(DerivedRefs::of(refs));
        }
        let mut kept = self.derived.lock().unwrap_or_else(PoisonError::into_inner);
        match &*kept {
            Some(kept) if kept.version == refs.version() => Arc::clone(kept),
            _ => Arc::clone(kept.insert(Arc::new(DerivedRefs::of(refs)))),
        }
    }

    /// Returns whether the target of a tag peels to a commit, `false` when an object cannot be read.
    pub(crate) fn peels_to_commit(&self, repo: &gix::Repository, target: gix::ObjectId) -> bool {
        let known = self.tags.lock().unwrap_or_else(PoisonError::into_inner).get(&target).copied();
        known.unwrap_or_else(|| {
            let peels = match to_commit(repo, target) {
                Ok(commit) => commit.is_some(),
                // Read errors are not cached: the object may be readable later.
                Err(_) => return false,
            };
            let mut tags = self.tags.lock().unwrap_or_else(PoisonError::into_inner);
            if tags.len() >= MAX_TAGS {
                tags.clear();
            }
            tags.insert(target, peels);
            peels
        })
    }

    /// The git directory.
    pub(crate) fn git_dir(&self) -> &Path {
        self.opened.path()
    }

    /// The gix repository that threads share.
    pub(crate) fn shared(&self) -> &gix::ThreadSafeRepository {
        &self.opened
    }
}

/// Returns whether a file is older than [`LEFTOVER`].
fn is_leftover(file: &Path) -> bool {
    let Ok(found) = fs::metadata(file) else { return false };
    // The ctime also changes when a hard link is added or removed.
    let changed = Duration::from_secs(found.ctime().try_into().unwrap_or(0));
    let changed = SystemTime::UNIX_EPOCH + changed;
    changed.elapsed().is_ok_and(|age| age > LEFTOVER)
}

/// Hard-links a file, and replaces an existing file at `to`. Copies the file where hard links are not possible.
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(error),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => (),
        // The target is on another file system, or the file has too many links.
        Err(_) => return copy(from, to),
    }
    let (one, other) = (fs::metadata(from)?, fs::metadata(to)?);
    if (one.dev(), one.ino()) == (other.dev(), other.ino()) {
        return Ok(());
    }
    let beside = tempfile::tempdir_in(to.parent().unwrap_or(Path::new(".")))?;
    let new = beside.path().join("new");
    match fs::hard_link(from, &new) {
        Ok(()) => fs::rename(new, to),
        // An earlier call made a copy.
        Err(_) if one.len() == other.len() => Ok(()),
        Err(_) => copy(from, to),
    }
}

/// Copies a file atomically: readers see the complete copy or none.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut copy = NamedTempFile::new_in(to.parent().unwrap_or(Path::new(".")))?;
    std::io::copy(&mut fs::File::open(from)?, &mut copy)?;
    copy.persist(to)?;
    Ok(())
}

/// Opens the repository in a folder for exclusive use.
pub(crate) fn open_folder(folder: &Path) -> Result<gix::ThreadSafeRepository, GitError> {
    // The repository may get packs while it is open.
    open_with(folder, Slots::AsNeededByDiskState { multiplier: 2.0, minimum: 64 })
}

fn open_with(folder: &Path, slots: Slots) -> Result<gix::ThreadSafeRepository, GitError> {
    // The git configuration of the machine and of the user is ignored.
    let options = gix::open::Options::isolated().open_path_as_is(true).object_store_slots(slots);
    // Replace refs (`refs/replace/`) are ignored, so that an object id always yields its own object.
    let options = options.config_overrides(["core.useReplaceRefs=false"]);
    gix::ThreadSafeRepository::open_opts(folder, options).map_err(failed)
}

/// The number of slots for packs. An open gix repository loads new packs only while it has free slots.
fn slots_for(packs: usize) -> u16 {
    u16::try_from(packs * 2).unwrap_or(u16::MAX).clamp(LEAST_SLOTS, MOST_SLOTS)
}

const LEAST_SLOTS: u16 = 256;
/// The maximum that gix allows.
const MOST_SLOTS: u16 = (1 << 15) - 1;

fn count_packs(git_dir: &Path) -> usize {
    let is_index = |file: &PathBuf| file.extension().is_some_and(|extension| extension == "idx");
    list_folder(&git_dir.join("objects").join("pack")).iter().filter(|file| is_index(file)).count()
}
