//! Git repositories in memory. Commits follow the real rules; each commit has a map of files. Diffs
//! have no text, and an archive is the list of its files.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{Read, Write};
use std::sync::{Arc, Mutex, MutexGuard};

use super::FakePackStore;
use hexforge_domain::Timestamp;
use hexforge_domain::branch::{Branch, BranchName};
use hexforge_domain::commit::signing::SignedBytes;
use hexforge_domain::commit::{Commit, ObjectId, Signature};
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::pack::{Pack, PackName};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::files::{FilesError, ProjectFiles};
use hexforge_domain::ports::git::{
    Blob, Depth, GitError, GitObjects, GitRefs, GitStore, MergedPacks, Repository, Resolved,
};
use hexforge_domain::ports::git_transport::{
    Conversation, DisconnectSignal, GitTransport, ProtocolVersion, ReceivedPush, Service,
};
use hexforge_domain::ports::store::Store;
use hexforge_domain::refs::{Ref, Snapshot};
use hexforge_domain::repository::{EntryKind, TreeEntry};
use hexforge_domain::tag::{Tag, TagName};

/// The repositories of all projects. Refs are stored in a [`Store`].
#[derive(Clone)]
pub struct FakeGit {
    store: Arc<dyn Store>,
    packs: Arc<FakePackStore>,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
pub(super) struct State {
    /// The projects whose repositories have content.
    projects: HashSet<ProjectId>,
    /// The objects of all repositories. Forks share them, as they share packs.
    pub(super) stored: Stored,
    pub(super) made: u64,
    on_tree_read: Option<Arc<dyn Fn() + Send + Sync>>,
    last_caller: Option<Caller>,
}

/// The contents of files by path.
pub(super) type Files = BTreeMap<String, Vec<u8>>;

#[derive(Clone, Default)]
pub(super) struct Stored {
    pub(super) commits: HashMap<ObjectId, (Commit, Files)>,
    annotations: HashMap<ObjectId, (ObjectId, String)>,
}

impl FakeGit {
    /// Creates a store without repositories.
    pub fn new(store: Arc<dyn Store>) -> Self {
        Self { store, packs: Arc::default(), state: Arc::default() }
    }

    /// The fake pack store of the repositories.
    pub fn packs(&self) -> &Arc<FakePackStore> {
        &self.packs
    }

    /// Adds a commit with these files to the tip of a branch. Creates repository and branch if they
    /// are missing.
    pub fn commit(&self, project: ProjectId, branch: &str, files: &[(&str, &str)]) -> ObjectId {
        self.commit_with(project, branch, files, None)
    }

    /// Like [`commit`](Self::commit), with a message and without files.
    pub fn commit_with_message(&self, project: ProjectId, branch: &str, message: &str) -> ObjectId {
        self.commit_with(project, branch, &[], Some(message))
    }

    fn commit_with(
        &self,
        project: ProjectId,
        branch: &str,
        files: &[(&str, &str)],
        message: Option<&str>,
    ) -> ObjectId {
        let name = format!("{}{branch}", BranchName::FOLDER);
        let before = self.store.read(|tx| tx.refs().find(project, &[&name]));
        let before = before.expect("refs in memory can be read");
        let parents: Vec<ObjectId> = before.iter().map(|one| one.target).collect();
        let mut state = self.state();
        state.made += 1;
        let (id, made) = (id_of(state.made), state.made);
        state.projects.insert(project);
        let who = Signature {
            name: "Ada".into(),
            email: "ada@example.com".into(),
            at: Signature::time(1_474_540_200 + i64::try_from(made).unwrap_or(0), 0),
        };
        let message = message.map_or_else(|| format!("Commit {made}\n"), str::to_owned);
        let commit =
            Commit { id, parents, message, author: who.clone(), committer: who, signed: None };
        let files = files.iter().map(|(path, text)| ((*path).to_owned(), text.as_bytes().to_vec()));
        state.stored.commits.insert(id, (commit, files.collect()));
        drop(state);
        let put = self.store.write(|tx| {
            tx.refs().lock(project)?;
            tx.refs().put(project, &[Ref { name, target: id, peeled: None }])
        });
        put.expect("the project is stored");
        id
    }

    /// Sets a callback that runs before each look-up of a file in a tree.
    pub fn on_tree_read(&self, call: impl Fn() + Send + Sync + 'static) {
        self.state().on_tree_read = Some(Arc::new(call));
    }

    /// The caller for whom a repository was opened last.
    pub fn last_caller(&self) -> Option<Caller> {
        self.state().last_caller
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no test panics while it holds the repositories")
    }
}

/// The id of a blob. Equal contents have the same id.
pub(super) fn blob_id(content: &[u8]) -> ObjectId {
    let mut bytes = [0; 20];
    for (salt, part) in bytes.chunks_mut(8).enumerate() {
        let mut hasher = DefaultHasher::new();
        (salt, content).hash(&mut hasher);
        let length = part.len();
        part.copy_from_slice(&hasher.finish().to_be_bytes()[..length]);
    }
    ObjectId::from_bytes(bytes)
}

pub(super) fn id_of(number: u64) -> ObjectId {
    let mut bytes = [0; 20];
    bytes[..8].copy_from_slice(&number.to_be_bytes());
    bytes[19] = 1;
    ObjectId::from_bytes(bytes)
}

impl ProjectFiles for FakeGit {
    fn projects(&self) -> Result<Box<dyn Iterator<Item = ProjectId>>, FilesError> {
        let projects: Vec<ProjectId> = self.state().projects.iter().copied().collect();
        Ok(Box::new(projects.into_iter()))
    }

    fn remove_project(&self, project: ProjectId) {
        self.state().projects.remove(&project);
    }

    fn remove_leftovers(&self) -> Result<(), FilesError> {
        Ok(())
    }
}

impl GitStore for FakeGit {
    fn open(
        &self,
        _: ProjectId,
        refs: Arc<Snapshot>,
        caller: Caller,
    ) -> Result<Box<dyn Repository>, GitError> {
        self.state().last_caller = Some(caller);
        Ok(Box::new(FakeRepository { git: self.clone(), refs }))
    }

    fn export_refs(&self, _: ProjectId, _: &Snapshot) -> Result<(), GitError> {
        Ok(())
    }

    fn merge_packs(&self, _: ProjectId, _: &[Pack]) -> Result<Option<MergedPacks>, GitError> {
        Ok(None)
    }

    /// All repositories share their objects.
    fn copy_commit(
        &self,
        commit: ObjectId,
        _: (ProjectId, Arc<Snapshot>),
        _: (ProjectId, Arc<Snapshot>),
        _: Caller,
    ) -> Result<Vec<Pack>, GitError> {
        let exists = self.state().stored.commit_of(commit).is_some();
        if exists { Ok(vec![]) } else { Err(GitError::Missing) }
    }
}

pub(super) struct FakeRepository {
    pub(super) git: FakeGit,
    refs: Arc<Snapshot>,
}

impl FakeRepository {
    pub(super) fn stored(&self) -> Stored {
        self.git.state().stored.clone()
    }
}

impl Stored {
    pub(super) fn commit_of(&self, mut id: ObjectId) -> Option<Commit> {
        while let Some((target, _)) = self.annotations.get(&id) {
            id = *target;
        }
        self.commits.get(&id).map(|(commit, _)| commit.clone())
    }

    pub(super) fn reachable(&self, from: &[ObjectId]) -> HashSet<ObjectId> {
        let (mut seen, mut next) = (HashSet::new(), from.to_vec());
        while let Some(id) = next.pop() {
            if seen.insert(id)
                && let Some((commit, _)) = self.commits.get(&id)
            {
                next.extend(&commit.parents);
            }
        }
        seen
    }

    pub(super) fn between(&self, hidden: &[ObjectId], to: ObjectId) -> Vec<Commit> {
        let hidden = self.reachable(hidden);
        let new = self.reachable(&[to]).into_iter().filter(|id| !hidden.contains(id));
        let mut commits: Vec<Commit> = new.filter_map(|id| self.commit_of(id)).collect();
        commits.sort_by_key(|commit| (commit.committer.at, commit.id));
        commits
    }

    /// The content of a blob, from any commit that has it.
    fn blob(&self, id: ObjectId) -> Option<Vec<u8>> {
        let mut contents = self.commits.values().flat_map(|(_, files)| files.values());
        contents.find(|content| blob_id(content) == id).cloned()
    }

    pub(super) fn files(&self, commit: ObjectId) -> Files {
        self.commits.get(&commit).map(|(_, files)| files.clone()).unwrap_or_default()
    }

    fn tag(&self, name: &str, target: ObjectId) -> Option<Tag> {
        let message = self.annotations.get(&target).map(|(_, message)| message.clone());
        let commit = self.commit_of(target)?;
        Some(Tag { name: TagName::stored(name.to_owned()), message, commit })
    }
}

impl FakeRepository {
    /// All branches with their commits.
    fn tips(&self) -> impl Iterator<Item = (BranchName, ObjectId)> {
        self.refs.iter().filter_map(|one| {
            let name = one.name.strip_prefix(BranchName::FOLDER)?.to_owned();
            Some((BranchName::stored(name), one.target))
        })
    }
}

impl GitRefs for FakeRepository {
    fn refs(&self) -> &Arc<Snapshot> {
        &self.refs
    }

    fn branches(&self, page: Page) -> Result<Paged<Branch>, GitError> {
        let stored = self.stored();
        let branches = self
            .tips()
            .filter_map(|(name, tip)| Some(Branch { name, commit: stored.commit_of(tip)? }));
        Ok(page.slice(branches.collect()))
    }

    fn branch(&self, name: &BranchName) -> Result<Option<Branch>, GitError> {
        let tip = self.refs.target(&name.full());
        let commit = tip.and_then(|tip| self.stored().commit_of(tip));
        Ok(commit.map(|commit| Branch { name: name.clone(), commit }))
    }

    fn tags(&self, page: Page) -> Result<Paged<Tag>, GitError> {
        let stored = self.stored();
        let tags = self
            .refs
            .iter()
            .filter_map(|one| stored.tag(one.name.strip_prefix(TagName::FOLDER)?, one.target));
        let mut tags: Vec<Tag> = tags.collect();
        tags.reverse();
        Ok(page.slice(tags))
    }

    fn tag(&self, name: &TagName) -> Result<Option<Tag>, GitError> {
        let target = self.refs.target(&name.full());
        Ok(target.and_then(|target| self.stored().tag(name.as_str(), target)))
    }

    fn branches_merged_into(&self, tip: ObjectId) -> Result<Vec<(BranchName, ObjectId)>, GitError> {
        let reachable = self.stored().reachable(&[tip]);
        let is_merged = |(_, id): &(BranchName, ObjectId)| *id != tip && reachable.contains(id);
        Ok(self.tips().filter(is_merged).collect())
    }

    fn first_branch_containing(&self, commit: ObjectId) -> Result<Option<BranchName>, GitError> {
        let stored = self.stored();
        let has = |(_, tip): &(BranchName, ObjectId)| stored.reachable(&[*tip]).contains(&commit);
        Ok(self.tips().find(has).map(|(name, _)| name))
    }

    fn write_tag(
        &self,
        _: &TagName,
        commit: ObjectId,
        _: &Signature,
        message: &str,
    ) -> Result<(ObjectId, Pack), GitError> {
        let mut state = self.git.state();
        state.made += 1;
        let id = id_of(state.made);
        state.stored.annotations.insert(id, (commit, message.to_owned()));
        let mut name = [0; 32];
        name[..20].copy_from_slice(id.as_bytes());
        let name = PackName::from_bytes(name);
        self.git.packs.store(name, Timestamp::default());
        Ok((id, Pack { name, bytes: 1, objects: 1 }))
    }
}

impl GitObjects for FakeRepository {
    fn resolve(&self, revision: &str) -> Result<Option<Resolved>, GitError> {
        let stored = self.stored();
        let places = [TagName::FOLDER, BranchName::FOLDER];
        let named =
            places.iter().find_map(|folder| self.refs.target(&format!("{folder}{revision}")));
        let id = named.or_else(|| ObjectId::parse(revision));
        let through_ref = named.is_some();
        let commit = id.and_then(|id| stored.commit_of(id));
        Ok(commit.map(|commit| Resolved { commit: commit.id, through_ref }))
    }

    fn is_reachable(&self, id: ObjectId, kept: &[ObjectId]) -> Result<bool, GitError> {
        let stored = self.stored();
        let held = self.refs.iter().map(|one| one.target);
        let tips = held.chain(kept.iter().copied()).filter_map(|id| stored.commit_of(id));
        let tips: Vec<ObjectId> = tips.map(|commit| commit.id).collect();
        Ok(stored.reachable(&tips).contains(&id))
    }

    fn commit(&self, id: ObjectId) -> Result<Option<Commit>, GitError> {
        Ok(self.stored().commits.get(&id).map(|(commit, _)| commit.clone()))
    }

    fn signed_bytes(&self, _: ObjectId) -> Result<Option<SignedBytes>, GitError> {
        Ok(None)
    }

    fn tree(&self, commit: ObjectId, path: &str, depth: Depth) -> Result<Vec<TreeEntry>, GitError> {
        let folder = path.trim_end_matches('/');
        let prefix = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut entries = BTreeMap::new();
        let files = self.stored().files(commit);
        for path in files.keys() {
            let Some(rest) = path.strip_prefix(&prefix) else { continue };
            for (at, _) in rest.match_indices('/') {
                let shown = depth == Depth::Recursive || !rest[..at].contains('/');
                if shown {
                    entries.insert(format!("{prefix}{}", &rest[..at]), EntryKind::Tree);
                }
            }
            if depth == Depth::Recursive || !rest.contains('/') {
                entries.insert(path.clone(), EntryKind::Blob);
            }
        }
        let entry = |(path, kind): (String, EntryKind)| {
            let mode = if kind == EntryKind::Tree { 0o040_000 } else { 0o100_644 };
            TreeEntry {
                id: files.get(&path).map_or(commit, |content| blob_id(content)),
                kind,
                mode,
                path,
            }
        };
        let mut entries: Vec<TreeEntry> = entries.into_iter().map(entry).collect();
        entries.sort_by_key(|entry| entry.kind);
        Ok(entries)
    }

    fn blob_at(&self, commit: ObjectId, path: &str) -> Result<Option<Blob>, GitError> {
        let on_tree_read = self.git.state().on_tree_read.clone();
        if let Some(call) = on_tree_read {
            call();
        }
        let files = self.stored().files(commit);
        let blob = |content: &Vec<u8>| Blob { id: blob_id(content), size: content.len() as u64 };
        Ok(files.get(path).map(blob))
    }

    fn find_blob(&self, name: &str) -> Result<Option<Blob>, GitError> {
        let id = ObjectId::parse(name);
        let content = id.and_then(|id| self.stored().blob(id));
        Ok(id.zip(content).map(|(id, content)| Blob { id, size: content.len() as u64 }))
    }

    fn write_blob(&self, id: ObjectId, to: &mut dyn Write) -> Result<(), GitError> {
        let content = self.stored().blob(id).ok_or(GitError::Missing)?;
        to.write_all(&content).map_err(GitError::ReaderGone)
    }
}

/// Every call fails: git clients need a real repository.
impl GitTransport for FakeRepository {
    fn advertise(&self, _: Service, _: ProtocolVersion, _: &mut dyn Write) -> Result<(), GitError> {
        Err(no_clients())
    }

    fn upload_pack(
        &self,
        _: ProtocolVersion,
        _: Conversation,
        _: &mut dyn Read,
        _: &mut dyn Write,
    ) -> Result<(), GitError> {
        Err(no_clients())
    }

    fn upload_archive(&self, _: &mut dyn Read, _: &mut dyn Write) -> Result<(), GitError> {
        Err(no_clients())
    }

    fn receive(
        &self,
        _: &mut dyn Read,
        _: &DisconnectSignal,
    ) -> Result<Option<Box<dyn ReceivedPush>>, GitError> {
        Err(no_clients())
    }
}

fn no_clients() -> GitError {
    GitError::Failed("repositories in memory serve no clients".into())
}
