//! Opens repositories with their refs and packs, which are rows of the database.

use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::Repository;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectHeader;
use hexforge_domain::refs::{RepositoryState, Snapshot};

use crate::app::App;
use crate::error::Error;

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
    Ok(app.git.open(project, refs(app, project)?, caller)?)
}

/// Like [`open_for`], with the repository version that was read together with the project. Needs no query when the
/// cache has this version.
pub(crate) fn open_by_header(
    app: &App,
    header: &ProjectHeader,
    caller: Caller,
) -> Result<Box<dyn Repository>, Error> {
    let refs = refs_since(app, header.id, header.repository_version)?;
    Ok(app.git.open(header.id, refs, caller)?)
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
