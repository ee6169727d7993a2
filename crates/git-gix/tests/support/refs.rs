//! Refs of bare repositories. Git stores them in files, and the store gets them as a snapshot.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::pack::Pack;
use hexforge_domain::ports::git::{GitError, GitStore, RefChange, Repository};
use hexforge_domain::ports::git_transport::{DisconnectSignal, Proposal, ReceivedPush};
use hexforge_domain::refs::{Atomicity, ChangedRefs, Ref, RepositoryState, Snapshot};
use hexforge_git_gix::refs::disk;
use hexforge_git_gix::{GixStore, PushLimits};
use hexforge_pack_store::FolderPacks;

use super::{git_command, run_command};

/// The last version. Snapshots of different refs have different versions; only missing repositories have version 0.
static LAST_VERSION: AtomicI64 = AtomicI64::new(0);

/// The packs of repositories, which the server stores as rows of the database.
static PACKS: LazyLock<Mutex<HashMap<PathBuf, Vec<Pack>>>> = LazyLock::new(Mutex::default);

/// The last snapshot of each repository. Refs that did not change keep their version, as they do in the database.
static LAST: LazyLock<Mutex<HashMap<PathBuf, Arc<Snapshot>>>> = LazyLock::new(Mutex::default);

/// Reads the ref files in a folder. A folder without a repository has no refs.
pub fn refs_of(folder: &Path) -> Arc<Snapshot> {
    if !folder.join("HEAD").exists() {
        return Arc::new(Snapshot::empty());
    }
    let read = disk::read(folder).expect("the refs can be read");
    assert_eq!(read.wrong, Vec::<String>::new(), "all refs of {} are read", folder.display());
    let packs = packs_of(folder);
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = last.get(folder)
        && known.head() == read.head
        && known.iter().eq(&read.refs)
        && known.packs() == packs
    {
        return Arc::clone(known);
    }
    let snapshot = Arc::new(new_snapshot(read.head, &read.refs, &packs));
    last.insert(folder.to_owned(), Arc::clone(&snapshot));
    snapshot
}

fn new_snapshot(head: String, refs: &[Ref], packs: &[Pack]) -> Snapshot {
    let refs_version = LAST_VERSION.fetch_add(1, Ordering::Relaxed) + 1;
    Snapshot::new(&RepositoryState { head, refs_version, packs_version: 0 }, refs, packs)
}

fn packs_of(folder: &Path) -> Vec<Pack> {
    let packs = PACKS.lock().unwrap_or_else(PoisonError::into_inner);
    packs.get(folder).cloned().unwrap_or_default()
}

/// Creates a store in a data folder.
pub fn store(data: &Path) -> GixStore {
    store_within(data, PushLimits::default())
}

/// Like [`store`], with push limits.
pub fn store_within(data: &Path, limits: PushLimits) -> GixStore {
    let packs = Arc::new(FolderPacks::new(data.join("packs")));
    GixStore::with_limits(data, packs, limits, |folder: &Path| std::fs::remove_dir_all(folder))
}

/// Adds packs of the store to the repository of a project, as a transaction does.
pub fn add_packs(store: &GixStore, project: ProjectId, new: &[Pack]) {
    let folder = store.layout().repository(project);
    let refs = refs_of(&folder);
    let mut packs = packs_of(&folder);
    packs.extend(new.iter().filter(|pack| refs.packs().iter().all(|one| one.name != pack.name)));
    PACKS.lock().unwrap_or_else(PoisonError::into_inner).insert(folder, packs.clone());
    let refs: Vec<Ref> = refs.iter().cloned().collect();
    let snapshot = new_snapshot(RepositoryState::FIRST_HEAD.to_owned(), &refs, &packs);
    store.open(project, Arc::new(snapshot), Caller::BACKGROUND).expect("packs can be linked");
}

/// Removes all packs of the store from a repository whose objects git has written to its own files.
pub fn forget_packs(folder: &Path) {
    PACKS.lock().unwrap_or_else(PoisonError::into_inner).remove(folder);
}

/// Replaces all packs of the repository of a project.
pub fn replace_packs(store: &GixStore, project: ProjectId, packs: &[Pack]) {
    forget_packs(&store.layout().repository(project));
    add_packs(store, project, packs);
}

/// Adds all objects of a project to another.
pub fn fork(store: &GixStore, source: ProjectId, target: ProjectId) {
    let packs = store.take_over(&store.layout().repository(source)).expect("packs can be stored");
    add_packs(store, target, &packs);
}

/// Opens the repository of a project with the refs in its files.
pub fn open(store: &GixStore, project: ProjectId) -> Box<dyn Repository> {
    let refs = refs_of(&store.layout().repository(project));
    store.open(project, refs, Caller::BACKGROUND).expect("the repository can be opened")
}

/// Receives a push and changes the refs. Returns the report.
pub fn receive(
    store: &GixStore,
    project: ProjectId,
    from: &mut dyn Read,
    disconnected: &DisconnectSignal,
) -> Result<String, GitError> {
    let push = open(store, project).receive(from, disconnected)?;
    apply_push(store, project, push.expect("there are commands").as_mut())
}

/// Applies a received push to the ref files. Returns the report.
pub fn apply_push(
    store: &GixStore,
    project: ProjectId,
    push: &mut dyn ReceivedPush,
) -> Result<String, GitError> {
    let folder = &store.layout().repository(project);
    let before = refs_of(folder);
    if let Some(mut proposal) = push.store_objects(&before)? {
        add_packs(store, project, &proposal.packs);
        let changed = apply_proposal(folder, &proposal);
        proposal.changes.retain(|change| changed.done.contains(&change.name));
        let expected = proposal.applied(&before);
        let after = refs_of(folder);
        assert!(expected.iter().eq(after.iter()), "{expected:?} is proposed and not {after:?}");
        push.set_outcomes(&changed, &after);
    }
    let mut answer = Vec::new();
    push.write_report(&mut answer)?;
    Ok(String::from_utf8_lossy(&answer).into_owned())
}

/// Changes refs with git, and reports the changes that git refuses as refused.
pub fn apply_proposal(folder: &Path, proposal: &Proposal) -> ChangedRefs {
    let names = |changes: &[RefChange]| changes.iter().map(|change| change.name.clone()).collect();
    if update(folder, &proposal.changes) {
        return ChangedRefs { done: names(&proposal.changes), refused: vec![] };
    }
    if proposal.atomicity == Atomicity::AllOrNone {
        return ChangedRefs { done: vec![], refused: names(&proposal.changes) };
    }
    // Deletions come first, because their names may block new refs.
    let mut ordered: Vec<&RefChange> = proposal.changes.iter().collect();
    ordered.sort_by_key(|change| change.new.is_some());
    let (mut done, mut refused) = (Vec::new(), Vec::new());
    for change in ordered {
        let list =
            if update(folder, std::slice::from_ref(change)) { &mut done } else { &mut refused };
        list.push(change.name.clone());
    }
    ChangedRefs { done, refused }
}

/// Writes these refs to the repository in a folder, and HEAD if it is given.
pub fn write_refs(folder: &Path, head: Option<&str>, refs: &[Ref]) {
    let created =
        |one: &Ref| RefChange { name: one.name.clone(), old: None, new: Some(one.target) };
    let changes: Vec<RefChange> = refs.iter().map(created).collect();
    assert!(update(folder, &changes), "git takes the refs {refs:?}");
    if let Some(head) = head {
        let (is_ok, _, stderr) = git(folder, &["symbolic-ref", "HEAD", head], b"");
        assert!(is_ok, "{}", String::from_utf8_lossy(&stderr));
    }
}

/// Applies all changes or none. Returns whether git applied them.
pub fn update(folder: &Path, changes: &[RefChange]) -> bool {
    let mut lines = String::new();
    for RefChange { name, old, new } in changes {
        let or_zero = |id: &Option<ObjectId>| id.unwrap_or(ObjectId::ZERO);
        let (old, new) = (or_zero(old), or_zero(new));
        // Names may contain characters that git would parse as quotes.
        write!(lines, "update {name}\0{new}\0{old}\0").expect("strings grow");
    }
    git(folder, &["update-ref", "--stdin", "-z"], lines.as_bytes()).0
}

fn git(folder: &Path, arguments: &[&str], input: &[u8]) -> (bool, Vec<u8>, Vec<u8>) {
    let mut git = git_command();
    git.current_dir(folder).args(["-c", "core.fsync=none"]).args(arguments);
    run_command(git, input)
}
