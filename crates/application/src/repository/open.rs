//! Opens repositories with their refs and packs, which are rows of the database.

use std::sync::Arc;

use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::{GitError, Repository};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectHeader;
use hexforge_domain::refs::reserved::build_ref;
use hexforge_domain::refs::{Ref, RepositoryState, Snapshot};

use crate::app::App;
use crate::error::{Entity, Error};

/// Opens the repository of a project with its current refs, for short work.
pub fn open(app: &App, project: ProjectId) -> Result<Box<dyn Repository>, Error> {
    open_for(app, project, Caller::BACKGROUND)
}

/// Opens the repository of a project with its current refs. Long work is charged to the caller.
pub fn open_for(
    app: &App,
    project: ProjectId,
    caller: Caller,
) -> Result<Box<dyn Repository>, Error> {
    let refs = refs(app, project)?;
    Ok(open_files(app, project, refs, caller)?)
}

/// Opens the files of a repository, which may have to be fetched from an object store.
fn open_files(
    app: &App,
    project: ProjectId,
    refs: Arc<Snapshot>,
    caller: Caller,
) -> Result<Box<dyn Repository>, GitError> {
    app.store.release_snapshot();
    app.git.open(project, refs, caller)
}

/// Like [`open_for`], for a Git client whose access was checked before. Errors are those of [`unless_removed`].
pub fn open_for_client(
    app: &App,
    project: ProjectId,
    caller: Caller,
) -> Result<Box<dyn Repository>, Error> {
    let repository = unless_removed(app, project, open_for(app, project, caller))?;
    // The repository of a removed project looks like an empty one.
    if repository.refs().version() == 0 && is_removed(app, project)? {
        return Err(Error::NotFound(Entity::Project));
    }
    Ok(repository)
}

/// Like [`open_for_client`], for a running build. It may also fetch its own commit, from which a forced push or the
/// deletion of a branch may have taken the last ref.
pub fn open_for_build(
    app: &App,
    project: ProjectId,
    commit: ObjectId,
    caller: Caller,
) -> Result<Box<dyn Repository>, Error> {
    let refs = refs(app, project)?;
    if refs.version() == 0 || refs.visible().any(|one| one.target == commit) {
        return open_for_client(app, project, caller);
    }
    let own = Ref { name: build_ref(commit), target: commit, peeled: None };
    let refs = refs.proposed([(own.name.as_str(), Some(&own))], &[]);
    open_with_refs(app, project, Arc::new(refs), caller)
}

/// Like [`open_for_client`], with refs that the client has seen.
pub fn open_with_refs(
    app: &App,
    project: ProjectId,
    refs: Arc<Snapshot>,
    caller: Caller,
) -> Result<Box<dyn Repository>, Error> {
    let opened = open_files(app, project, refs, caller).map_err(Error::from);
    unless_removed(app, project, opened)
}

/// Returns the outcome of work for a Git client. If the work failed because the project was removed meanwhile, the
/// client is told what it would be told about a project that never existed.
/// # Errors
/// [`Error::NotFound`] if the repository cannot be read and the project does not exist; otherwise the error of the
/// work.
pub fn unless_removed<T>(
    app: &App,
    project: ProjectId,
    outcome: Result<T, Error>,
) -> Result<T, Error> {
    match outcome {
        Err(Error::Git(GitError::Corrupt(_) | GitError::Failed(_) | GitError::Missing))
            if is_removed(app, project)? =>
        {
            Err(Error::NotFound(Entity::Project))
        }
        outcome => outcome,
    }
}

fn is_removed(app: &App, project: ProjectId) -> Result<bool, StoreError> {
    Ok(app.store.read_autocommit(|tx| tx.projects().find_all(&[project]))?.is_empty())
}

/// Like [`open_for`], with the repository version that was read together with the project. Needs no query when the
/// cache has this version.
pub(crate) fn open_by_header(
    app: &App,
    header: &ProjectHeader,
    caller: Caller,
) -> Result<Box<dyn Repository>, Error> {
    let refs = refs_since(app, header.id, header.repository_version)?;
    Ok(open_files(app, header.id, refs, caller)?)
}

/// Returns the current refs of a project.
pub fn refs(app: &App, project: ProjectId) -> Result<Arc<Snapshot>, StoreError> {
    let state = app.store.read_autocommit(|tx| tx.refs().state(project))?;
    refs_since(app, project, state.unwrap_or_default().version())
}

/// Returns the refs of this version or a later one, from the cache or the database. Version 0 is an empty repository.
fn refs_since(app: &App, project: ProjectId, version: i64) -> Result<Arc<Snapshot>, StoreError> {
    if version == 0 {
        return Ok(Arc::new(Snapshot::empty()));
    }
    if let Some(refs) = app.refs.get_at_least(project, version) {
        return Ok(refs);
    }
    let refs = app.store.read(|tx| {
        let state = tx.refs().state(project)?.unwrap_or_default();
        read_refs(tx, project, &state)
    })?;
    app.refs.put_if_newer(project, Arc::clone(&refs));
    Ok(refs)
}

/// Locks the state of a repository and returns its refs.
pub(crate) fn locked(
    app: &App,
    tx: &mut dyn Tx,
    project: ProjectId,
) -> Result<Arc<Snapshot>, StoreError> {
    let state = tx.refs().lock(project)?;
    match app.refs.get_at_least(project, state.version()) {
        Some(refs) => Ok(refs),
        None => read_refs(tx, project, &state),
    }
}

/// Returns the proposed refs with the HEAD and the version that the transaction gives them.
pub(crate) fn committed(
    tx: &mut dyn Tx,
    project: ProjectId,
    refs: &Snapshot,
) -> Result<Snapshot, StoreError> {
    Ok(refs.committed(&tx.refs().state(project)?.unwrap_or_default()))
}

/// Reads the refs and packs of a repository in this state.
pub(crate) fn read_refs(
    tx: &mut dyn Tx,
    project: ProjectId,
    state: &RepositoryState,
) -> Result<Arc<Snapshot>, StoreError> {
    if state.is_in_files() {
        return Err(not_migrated());
    }
    // Refs are read first: later packs still contain every object that these refs lead to.
    let refs = tx.refs().list(project)?;
    Ok(Arc::new(Snapshot::new(state, &refs, &tx.packs().live(project)?)))
}

/// The error for a repository that the upgrade could not migrate. The log of the upgrade contains the reason.
pub(crate) fn not_migrated() -> StoreError {
    StoreError::Corrupt("repository: it is still in files of an earlier release")
}
