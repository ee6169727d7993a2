//! Versions of merge requests: reads their commits and changes, and makes new ones.

use std::sync::Arc;

use hexforge_domain::Timestamp;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::id::{MergeRequestId, MergeRequestVersionId, ProjectId};
use hexforge_domain::limiter::Caller;
use hexforge_domain::merge_request::version::{FileCount, VersionCommits};
use hexforge_domain::merge_request::{
    Ends, MergeRequest, MergeStatus, NewVersion, SeenVersions, Version,
};
use hexforge_domain::pack::Pack;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::ports::git::{GitError, Repository};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::refs::Snapshot;
use hexforge_domain::refs::reserved::kept_ref;
use hexforge_domain::repository::FileDiff;

use super::head::HeadCommit;
use super::update::has_source;
use crate::access;
use crate::app::App;
use crate::error::{Entity, Error, Refusal};
use crate::repository::{self, hidden, open, packs};
use crate::view::merge_request::{self as view, MergeRequestView};

/// The maximum number of commits of a version that are listed.
const MAX_COMMITS: usize = 10_000;

/// A version with the target repository, from which its commits and changes are read.
pub struct OpenVersion {
    repository: Box<dyn Repository>,
    version: Option<Version>,
}

impl OpenVersion {
    /// Opens the target repository of a version.
    pub(super) fn open(
        app: &App,
        actor: Actor,
        target: ProjectId,
        version: Option<Version>,
    ) -> Result<Self, Error> {
        let repository = open::open_for(app, target, Caller::new(actor, None))?;
        Ok(Self { repository, version })
    }

    /// The version; `None` when the request has none.
    pub fn version(&self) -> Option<&Version> {
        self.version.as_ref()
    }

    /// Reads the commits, newest first.
    pub fn commits(&self) -> Result<Vec<Commit>, Error> {
        match &self.version {
            Some(version) => read_commits(&*self.repository, &version.commits),
            None => Ok(vec![]),
        }
    }

    /// Reads the changes, ordered by path.
    pub fn diffs(&self) -> Result<Vec<FileDiff>, Error> {
        match &self.version {
            Some(version) => read_diffs(&*self.repository, version),
            None => Ok(vec![]),
        }
    }

    /// Reads the first bytes of a file after the changes; `None` when there is no such file.
    pub fn head_of_file(&self, path: &str, length: usize) -> Result<Option<Vec<u8>>, Error> {
        let head = self.version.as_ref().and_then(|version| version.commits.head);
        let Some(head) = head else { return Ok(None) };
        let Some(blob) = self.repository.blob_at(head, path)? else { return Ok(None) };
        repository::read_head(&*self.repository, blob.id, length).map(Some)
    }
}

impl OpenVersion {
    /// Reads up to `limit` commits with their changes, oldest first.
    pub fn patches(&self, limit: usize) -> Result<Vec<(Commit, Vec<FileDiff>)>, Error> {
        let commits = self.commits()?;
        let oldest = commits.into_iter().rev().take(limit);
        let patch = |commit: Commit| {
            let diffs = self.repository.commit_diff(commit.id)?;
            Ok::<_, Error>((commit, diffs))
        };
        oldest.map(patch).collect()
    }
}

/// Returns a merge request with its newest version.
pub fn open_newest(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
) -> Result<(MergeRequestView, OpenVersion), Error> {
    let user = access::own_account(actor)?;
    let (shown, version) = app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let request = tracker.merge_request(tx, MergeRequestAbility::Read, id)?;
        let version = tx.merge_requests().newest_version(id)?;
        Ok::<_, Error>((view::load(tx, user, &tracker.project, request)?, version))
    })?;
    let version = OpenVersion::open(app, actor, shown.request.project(), version)?;
    Ok((shown, version))
}

/// Lists the versions of a merge request, newest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
) -> Result<Vec<Version>, Error> {
    access::own_account(actor)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        tracker.merge_request(tx, MergeRequestAbility::Read, id)?;
        Ok(tx.merge_requests().versions(id)?)
    })
}

/// Returns one version of a merge request.
pub fn open_one(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
    version: MergeRequestVersionId,
) -> Result<OpenVersion, Error> {
    access::own_account(actor)?;
    let (project, version) = app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        tracker.merge_request(tx, MergeRequestAbility::Read, id)?;
        let version = tx.merge_requests().version(id, version)?;
        Ok::<_, Error>((tracker.project.id, version.ok_or(Error::NotFound(Entity::Record))?))
    })?;
    OpenVersion::open(app, actor, project, Some(version))
}

/// Returns a merge request that the actor may read, and its newest version.
pub(crate) fn find_newest(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
) -> Result<(MergeRequest, Option<Version>), Error> {
    access::own_account(actor)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let request = tracker.merge_request(tx, MergeRequestAbility::Read, id)?;
        Ok((request, tx.merge_requests().newest_version(id)?))
    })
}

/// Reads the commits of a version from the target repository, newest first.
pub(crate) fn read_commits(
    repository: &dyn Repository,
    commits: &VersionCommits,
) -> Result<Vec<Commit>, Error> {
    let (Some(start), Some(head)) = (commits.start, commits.head) else { return Ok(vec![]) };
    repository.commits_not_in(start, head, MAX_COMMITS).map_err(|error| match error {
        GitError::TooLarge => Error::Refused(Refusal::LargeHistory),
        error => error.into(),
    })
}

/// Reads the changes of a version from the target repository, ordered by path.
fn read_diffs(repository: &dyn Repository, version: &Version) -> Result<Vec<FileDiff>, Error> {
    let VersionCommits { head, start, .. } = version.commits;
    let (Some(start), Some(head)) = (start, head) else { return Ok(vec![]) };
    if !version.has_changes() {
        return Ok(vec![]);
    }
    let comparison = repository.compare(start, head)?;
    let shown = comparison.diffs.iter().take(FileCount::MAX as usize);
    Ok(shown.cloned().collect())
}

/// A new version that is read from the repositories but not stored.
pub(crate) struct VersionDraft {
    commits: VersionCommits,
    size: Option<FileCount>,
    /// The commit of the head.
    pub head: HeadCommit,
    seen: SeenVersions,
    /// The packs with the objects of a fork, which the target repository lacks.
    packs: Vec<Pack>,
}

/// The refs of both repositories of a merge request.
pub(crate) struct EndRefs {
    pub source: Arc<Snapshot>,
    pub target: Arc<Snapshot>,
}

impl EndRefs {
    /// Reads the current refs. A fork that is gone has none.
    pub(crate) fn read(app: &App, ends: &Ends) -> Result<Self, StoreError> {
        let target = open::refs(app, ends.target_project)?;
        let source = if !ends.is_from_fork() {
            Arc::clone(&target)
        } else if app.store.read_autocommit(|tx| has_source(tx, ends))? {
            open::refs(app, ends.source_project)?
        } else {
            Arc::new(Snapshot::empty())
        };
        Ok(Self { source, target })
    }

    /// The tips of both branches: source, then target.
    pub(crate) fn tips(&self, ends: &Ends) -> (Option<ObjectId>, Option<ObjectId>) {
        let source = self.source.target(&ends.source_branch.full());
        (source, self.target.target(&ends.target_branch.full()))
    }
}

impl VersionDraft {
    /// Reads a version with the current branches. Copies the head of a fork into the pack store.
    pub(crate) fn read_current(app: &App, ends: &Ends, caller: Caller) -> Result<Self, Error> {
        let refs = EndRefs::read(app, ends)?;
        let (head, _) = refs.tips(ends);
        Self::read(app, ends, &refs, head, caller)
    }

    /// Reads a version with this head, which is in the source repository.
    pub(crate) fn read(
        app: &App,
        ends: &Ends,
        refs: &EndRefs,
        head: Option<ObjectId>,
        caller: Caller,
    ) -> Result<Self, Error> {
        let target = ends.target_project;
        let packs = match head {
            Some(head) if ends.is_from_fork() => {
                let source = (ends.source_project, Arc::clone(&refs.source));
                let target = (target, Arc::clone(&refs.target));
                let copied = app.git.copy_commit(head, source, target, caller);
                copied.map_err(|error| repository_full(error.into()))?
            }
            Some(_) | None => vec![],
        };
        let opened = if packs.is_empty() {
            Arc::clone(&refs.target)
        } else {
            Arc::new(refs.target.proposed([], &packs))
        };
        let repository = app.git.open(target, opened, caller)?;
        let (_, start) = refs.tips(ends);
        let seen = SeenVersions { source: refs.source.version(), target: refs.target.version() };
        Self::read_from(&*repository, head, start, seen, packs)
    }

    /// Reads a version with this head, which is in the target repository.
    pub(crate) fn read_from(
        repository: &dyn Repository,
        head: Option<ObjectId>,
        start: Option<ObjectId>,
        seen: SeenVersions,
        packs: Vec<Pack>,
    ) -> Result<Self, Error> {
        let (base, size) = match (start, head) {
            (Some(start), Some(head)) => {
                (repository.merge_base(head, start)?, count_files(repository, start, head)?)
            }
            (None, _) | (_, None) => (None, None),
        };
        let commit = match head {
            Some(head) => repository.commit(head)?,
            None => None,
        };
        let commits = VersionCommits { head, start, base };
        Ok(Self { commits, size, head: HeadCommit::of(commit), seen, packs })
    }

    /// Reads the commits of the version, newest first.
    pub(crate) fn read_commits(
        &self,
        app: &App,
        target: ProjectId,
        caller: Caller,
    ) -> Result<Vec<Commit>, Error> {
        let refs = Arc::new(open::refs(app, target)?.proposed([], &self.packs));
        read_commits(&*app.git.open(target, refs, caller)?, &self.commits)
    }

    /// The same version, which includes only the pushes before a push to the source branch, and this push. The version is
    /// that of the source repository. Pushes to the target branch with the same version or a later one may still bring
    /// the new head, so they are not included; the versions of a fork say nothing about the order of such pushes.
    pub(crate) fn up_to(self, ends: &Ends, version: i64) -> Self {
        let target = if ends.is_from_fork() { 0 } else { version - 1 };
        Self { seen: SeenVersions { source: version, target }, ..self }
    }

    /// The merge base of both branches.
    pub(crate) fn base(&self) -> Option<ObjectId> {
        self.commits.base
    }

    /// Locks the refs of both repositories, and checks that the branches are still those of the draft. So a concurrent
    /// push either sees the merge request, or the draft is read again.
    /// # Errors
    /// [`StoreError::Busy`] when a branch changed.
    pub(crate) fn check_current(
        &self,
        app: &App,
        tx: &mut dyn Tx,
        ends: &Ends,
    ) -> Result<(), StoreError> {
        let (source, target) = (ends.source_project, ends.target_project);
        // All transactions lock refs in ascending order of the project ids.
        let (first, second) = (source.min(target), source.max(target));
        let locked = open::locked(app, tx, first)?;
        let other =
            if first == second { Arc::clone(&locked) } else { open::locked(app, tx, second)? };
        let refs = if source <= target {
            EndRefs { source: locked, target: other }
        } else {
            EndRefs { source: other, target: locked }
        };
        let VersionCommits { head, start, .. } = self.commits;
        if refs.tips(ends) == (head, start) { Ok(()) } else { Err(StoreError::Busy) }
    }

    /// Stores the version, the refs that keep its commits, and the ref of the request's head. Returns the request as it
    /// is to be stored.
    pub(crate) fn store(
        &self,
        app: &App,
        tx: &mut dyn Tx,
        request: MergeRequest,
        now: Timestamp,
    ) -> Result<StoredVersion, Error> {
        let refs = self.write_refs(app, tx, &request)?;
        let (commits, size) = (self.commits, self.size);
        let new = NewVersion { request: request.id, commits, size, at: now };
        let version = tx.merge_requests().insert_version(new)?;
        let seen = SeenVersions {
            source: request.seen.source.max(self.seen.source),
            target: request.seen.target.max(self.seen.target),
        };
        let (head, merge_status) = (commits.head, MergeStatus::Unchecked);
        let request = MergeRequest { head, seen, merge_status, ..request };
        Ok(StoredVersion { request, version, refs })
    }

    /// Writes the refs of the version: in the target repository the head of the request and refs that keep all commits,
    /// in the repository of a fork a ref that keeps the head.
    fn write_refs(
        &self,
        app: &App,
        tx: &mut dyn Tx,
        request: &MergeRequest,
    ) -> Result<NewRefs, Error> {
        let (source, target) = (request.ends.source_project, request.ends.target_project);
        let in_source = match self.commits.head {
            Some(head) if source != target && has_source(tx, &request.ends)? => Some(head),
            Some(_) | None => None,
        };
        let kept = |commit| (kept_ref(commit), commit);
        let source_refs = in_source.map(|head| (source, vec![kept(head)], &[][..]));
        let head = self.commits.head.map(|head| (request.head_ref(), head));
        let target_refs = self.commits.iter().map(kept).chain(head).collect();
        let mut repositories: Vec<_> =
            source_refs.into_iter().chain([(target, target_refs, &self.packs[..])]).collect();
        // All transactions lock refs in ascending order of the project ids.
        repositories.sort_by_key(|(project, ..)| *project);
        let mut written = Vec::new();
        for (project, names, packs) in repositories {
            let before = open::locked(app, tx, project)?;
            packs::add(app, tx, project, &before, packs).map_err(repository_full)?;
            let new = hidden::put(tx, project, &before, names)?;
            if !(new.is_empty() && packs.is_empty()) {
                let after = hidden::added(&before, &new, packs);
                written.push((project, open::committed(tx, project, &after)?));
            }
        }
        Ok(NewRefs(written))
    }
}

/// Maps the error of objects that do not fit into the target repository to the one that a push has.
fn repository_full(error: Error) -> Error {
    match error {
        Error::Git(GitError::TooLarge) => Error::Refused(Refusal::RepositoryFull),
        error => error,
    }
}

/// Counts the changed files between the branches; `None` when the head has no commits that the start lacks.
fn count_files(
    repository: &dyn Repository,
    start: ObjectId,
    head: ObjectId,
) -> Result<Option<FileCount>, GitError> {
    match repository.compare(start, head) {
        Ok(comparison) if comparison.commits.is_empty() => Ok(None),
        Ok(comparison) => Ok(Some(FileCount::of(comparison.diffs.len()))),
        Err(GitError::TooLarge) => Ok(Some(FileCount::of(usize::MAX))),
        Err(error) => Err(error),
    }
}

/// A version that was stored in a transaction.
pub(crate) struct StoredVersion {
    /// The request with the values of the version, which the caller stores.
    pub request: MergeRequest,
    /// The version.
    pub version: Version,
    /// The refs after the transaction.
    pub refs: NewRefs,
}

/// The refs of repositories after a transaction.
#[must_use = "the cache has to learn the refs after the commit"]
pub(crate) struct NewRefs(Vec<(ProjectId, Snapshot)>);

impl NewRefs {
    /// Puts the refs into the cache. Call it after the commit.
    pub(crate) fn publish(self, app: &App) {
        for (project, refs) in self.0 {
            app.refs.put_if_newer(project, Arc::new(refs));
            app.maintenance.enqueue(project);
        }
    }
}
