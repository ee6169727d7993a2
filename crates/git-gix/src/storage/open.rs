//! Repositories that are open: folders with links to packs of the store.
//!
//! The folder is derived from rows: it links each pack of the repository, and is made again when it is missing.

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
use crate::error::{failed, io};
use crate::protocol::upload::packs::OpenPacks;
use crate::storage::refs::Derived;
use crate::storage::scratch::ScratchFolder;
use crate::storage::store::folders;

/// How many handles to one repository are kept for the next requests.
const IDLE_HANDLES: usize = 8;

/// The size of the cache in each repository that tells whether the target of a tag leads to a commit.
const MOST_TAGS: usize = 100_000;

/// The number of packs of one repository that are fetched at once.
const FETCHED_AT_ONCE: usize = 4;

/// How often a pack is asked for that is dropped before it is linked.
const LINK_TRIES: u32 = 5;

/// Links older than this to packs that the repository does not have were left by a stopped process. A younger link may
/// belong to a push that this request does not know: a request with old refs ends sooner.
const LEFTOVER: Duration = Duration::from_secs(24 * 60 * 60);

/// A repository that is open.
pub(crate) struct OpenRepository {
    opened: gix::ThreadSafeRepository,
    idle: Mutex<Vec<gix::Repository>>,
    /// Data derived from the refs of one version.
    derived: Mutex<Option<Arc<Derived>>>,
    /// Packs that running fetches read from.
    pub(crate) packs: OpenPacks,
    /// Whether objects that tags point to lead to a commit. That never changes.
    tags: Mutex<HashMap<gix::ObjectId, bool>>,
    /// How many packs the handles can know.
    slots: usize,
    /// The newest version of the repository whose packs are linked and loaded.
    version: AtomicI64,
    linked: Mutex<LinkedPacks>,
    /// The folder of a staged repository goes with it.
    _scratch: Option<ScratchFolder>,
    /// The repository whose objects a staged one sees. While somebody has it, its links stay.
    base: Option<Arc<OpenRepository>>,
}

/// The packs of a repository that are linked and loaded.
#[derive(Default)]
struct LinkedPacks {
    names: HashSet<PackName>,
    /// Whether leftovers were looked for.
    is_clean: bool,
}

/// The outcome of linking packs.
pub(crate) enum Linked {
    /// All packs are linked and loaded.
    All,
    /// The repository must be opened again.
    OpenAnew,
}

impl OpenRepository {
    /// Opens the repository in a folder, which will have at least so many packs.
    pub(crate) fn open(folder: &Path, packs: usize) -> Result<Self, GitError> {
        let slots = slots_for(packs.max(count_packs(folder)));
        Ok(Self::with(open_with(folder, Slots::Given(slots))?, slots.into(), None, None))
    }

    /// Opens the repository in a scratch folder, which goes with it, sees the objects of `base` and gets so many packs.
    pub(crate) fn in_scratch(
        folder: ScratchFolder,
        base: Option<Arc<OpenRepository>>,
        packs: usize,
    ) -> Result<Self, GitError> {
        let slots = Slots::AsNeededByDiskState { multiplier: 2.0, minimum: 64 + 2 * packs };
        Ok(Self::with(open_with(folder.path(), slots)?, usize::MAX, Some(folder), base))
    }

    fn with(
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

    /// Links and loads the packs of these refs, by one thread at a time: while two threads load the same index, gix may
    /// miss an object for a moment.
    pub(crate) fn link(&self, store: &dyn PackStore, refs: &Snapshot) -> Result<Linked, GitError> {
        let is_committed = refs.version() != Snapshot::UNCOMMITTED;
        let is_done = || is_committed && refs.version() <= self.version.load(Ordering::Acquire);
        if is_done() {
            return Ok(Linked::All);
        }
        // Packs may have to be fetched or checked first. Nobody else waits for that.
        self.fetch(store, refs)?;
        let mut linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        if is_done() {
            return Ok(Linked::All);
        }
        let is_missing = |pack: &&Pack| !linked.names.contains(&pack.name);
        let missing: Vec<&Pack> = refs.packs().iter().filter(is_missing).collect();
        if (linked.names.len() + missing.len()) * 4 > self.slots.saturating_mul(3) {
            return Ok(Linked::OpenAnew);
        }
        for pack in &missing {
            self.link_pack(store, pack)?;
        }
        linked.names.extend(missing.iter().map(|pack| pack.name));
        if !is_committed {
            if !missing.is_empty() {
                self.load_packs();
            }
            return Ok(Linked::All);
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
        Ok(if retired.is_empty() { Linked::All } else { Linked::OpenAnew })
    }

    /// Has the store get those packs of these refs that are not linked.
    fn fetch(&self, store: &dyn PackStore, refs: &Snapshot) -> Result<(), GitError> {
        let linked = self.linked.lock().unwrap_or_else(PoisonError::into_inner);
        let is_missing = |pack: &&Pack| !linked.names.contains(&pack.name);
        let missing: Vec<&Pack> = refs.packs().iter().filter(is_missing).collect();
        drop(linked);
        let next = AtomicUsize::new(0);
        let fetch_all = || -> Result<(), GitError> {
            while let Some(pack) = missing.get(next.fetch_add(1, Ordering::Relaxed)) {
                store.local(pack)?;
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
                let broken = |_| Err(GitError::Failed("a pack was not fetched".into()));
                outcome = outcome.and(other.join().unwrap_or_else(broken));
            }
            outcome
        })
    }

    /// Links a pack of the store.
    pub(crate) fn link_pack(&self, store: &dyn PackStore, pack: &Pack) -> Result<(), GitError> {
        let to = self.pack_path(pack.name);
        for _ in 0..LINK_TRIES {
            let from = store.local(pack)?;
            // A pack counts once its index is there, so that comes last.
            let linked = link(&from, &to)
                .and_then(|()| link(&from.with_extension("idx"), &to.with_extension("idx")));
            match linked {
                // A store that caches packs may have dropped this one meanwhile.
                Err(error) if error.kind() == ErrorKind::NotFound => (),
                linked => return linked.map_err(io),
            }
        }
        Err(GitError::Busy)
    }

    /// Returns whether a staged repository sees the objects of another.
    pub(crate) fn has_base(&self) -> bool {
        self.base.is_some()
    }

    /// The link to a pack.
    pub(crate) fn pack_path(&self, name: PackName) -> PathBuf {
        self.git_dir().join("objects/pack").join(format!("pack-{name}.pack"))
    }

    /// Removes the link to a pack. The index goes first: without it git ignores the pack.
    fn unlink(&self, name: PackName) -> Result<(), GitError> {
        let path = self.pack_path(name);
        for file in [path.with_extension("idx"), path] {
            match fs::remove_file(file) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(io(error)),
                Ok(()) | Err(_) => (),
            }
        }
        Ok(())
    }

    /// Removes old links to packs that the repository does not have.
    fn remove_leftovers(&self, names: &HashSet<PackName>) -> Result<(), GitError> {
        for file in folders(&self.git_dir().join("objects/pack")) {
            let name = file.file_stem().and_then(|stem| stem.to_str()?.strip_prefix("pack-"));
            let is_temporary =
                file.file_name().is_some_and(|name| name.to_string_lossy().starts_with(".tmp"));
            if is_temporary && is_leftover(&file) {
                // A folder stays: it takes no room.
                let _ = fs::remove_file(&file);
            }
            let Some(name) = name.and_then(PackName::parse) else { continue };
            if !names.contains(&name) && is_leftover(&file) {
                self.unlink(name)?;
            }
        }
        Ok(())
    }

    /// Loads the indexes of all packs.
    fn load_packs(&self) {
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

    /// The git directory.
    pub(crate) fn git_dir(&self) -> &Path {
        self.opened.path()
    }

    /// The handle that threads share.
    pub(crate) fn shared(&self) -> &gix::ThreadSafeRepository {
        &self.opened
    }
}

/// Returns whether a link is older than [`LEFTOVER`].
fn is_leftover(file: &Path) -> bool {
    let Ok(found) = fs::metadata(file) else { return false };
    // The time of the last change of the file or of its links.
    let changed = Duration::from_secs(found.ctime().try_into().unwrap_or(0));
    let changed = SystemTime::UNIX_EPOCH + changed;
    changed.elapsed().is_ok_and(|age| age > LEFTOVER)
}

/// Gives a file a second name, in place of another file of that name. Where links are not possible, the file is copied.
fn link(from: &Path, to: &Path) -> std::io::Result<()> {
    match fs::hard_link(from, to) {
        Ok(()) => return Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => return Err(error),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => (),
        // On another disk, or with too many links.
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
        // A copy that was made before.
        Err(_) if one.len() == other.len() => Ok(()),
        Err(_) => copy(from, to),
    }
}

/// Copies a file. Nobody sees half of it.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    let mut copy = NamedTempFile::new_in(to.parent().unwrap_or(Path::new(".")))?;
    std::io::copy(&mut fs::File::open(from)?, &mut copy)?;
    copy.persist(to)?;
    Ok(())
}

/// Opens the repository in a folder, for somebody alone.
pub(crate) fn open_folder(folder: &Path) -> Result<gix::ThreadSafeRepository, GitError> {
    // Packs may come while it is open.
    open_with(folder, Slots::AsNeededByDiskState { multiplier: 2.0, minimum: 64 })
}

fn open_with(folder: &Path, slots: Slots) -> Result<gix::ThreadSafeRepository, GitError> {
    // The git configuration of the machine and of the user is ignored.
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
