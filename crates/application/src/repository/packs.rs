//! Adds, copies and merges the packs of repositories, and removes stored packs that no repository refers to.

use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::id::ProjectId;
use hexforge_domain::pack::{MERGE_THRESHOLD, Pack, PackName};
use hexforge_domain::ports::git::{GitError, MergedPacks};
use hexforge_domain::ports::pack_store::PackError;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::refs::Snapshot;

use super::open;
use crate::app::App;
use crate::error::Error;

/// The number of packs that one transaction removes.
const BATCH: usize = 500;

/// The time in which a process may remove packs after it condemned them. It is shorter than [`ABANDONED`].
const LEASE: TimeDelta = TimeDelta::minutes(10);

/// The process that condemned packs longer ago than this was stopped. Another process removes these packs.
const ABANDONED: TimeDelta = TimeDelta::hours(1);

/// Adds new packs to a repository, whose state is locked and whose refs and packs are `before`.
/// # Errors
/// [`GitError::TooLarge`] when the repository would be larger than the limit.
pub(crate) fn add(
    app: &App,
    tx: &mut dyn Tx,
    project: ProjectId,
    before: &Snapshot,
    packs: &[Pack],
) -> Result<(), Error> {
    let is_new = |pack: &&Pack| before.packs().iter().all(|known| known.name != pack.name);
    let new: Vec<Pack> = packs.iter().filter(is_new).copied().collect();
    if new.is_empty() {
        return Ok(());
    }
    let bytes: u64 = new.iter().map(|pack| pack.bytes).sum();
    if before.bytes().saturating_add(bytes) > app.settings.repository_bytes {
        return Err(GitError::TooLarge.into());
    }
    insert(app, tx, project, &new)
}

/// Inserts the rows of stored packs of a repository, whose state is locked.
/// # Errors
/// [`StoreError::Busy`] when a pack is not stored any more: it has to be stored again.
pub fn insert(app: &App, tx: &mut dyn Tx, project: ProjectId, packs: &[Pack]) -> Result<(), Error> {
    tx.packs().add(project, packs, app.clock.now())?;
    // The sweep may have removed an old pack of the same name after this one was stored. Once the row exists, no
    // process condemns the pack.
    for pack in packs {
        if app.packs.stored_at(pack.name).map_err(GitError::from)?.is_none() {
            return Err(StoreError::Busy.into());
        }
    }
    Ok(())
}

/// Copies the refs and packs of a repository to a new one.
pub(crate) fn copy(
    app: &App,
    tx: &mut dyn Tx,
    source: ProjectId,
    target: ProjectId,
) -> Result<(), Error> {
    match tx.refs().state(source)? {
        None => return Ok(()),
        Some(state) if state.is_in_files() => return Err(open::not_migrated().into()),
        Some(_) => (),
    }
    let state = tx.refs().lock(target)?;
    if state.version() != 0 {
        return Ok(());
    }
    // Refs are read first: later packs still contain every object that these refs lead to.
    tx.refs().copy(source, target)?;
    let packs = tx.packs().live(source)?;
    tx.packs().add(target, &packs, app.clock.now())?;
    let (state, refs) = (tx.refs().lock(target)?, tx.refs().list(target)?);
    let default = Snapshot::new(&state, &refs, &packs).default_branch();
    Ok(tx.projects().set_default_branch(target, default.as_ref())?)
}

/// Does the slow work after a change of a repository: merges small packs, and writes the refs into the repository
/// folder for people who inspect it with git.
pub fn maintain(app: &App, project: ProjectId) -> Result<(), Error> {
    merge(app, project)?;
    Ok(app.git.export_refs(project, &*super::refs(app, project)?)?)
}

/// Merges small packs of a repository, if there are many. Returns whether anything changed.
fn merge(app: &App, project: ProjectId) -> Result<bool, Error> {
    let refs = super::refs(app, project)?;
    if refs.packs().len() < MERGE_THRESHOLD {
        return Ok(false);
    }
    let Some(MergedPacks { pack, replaced }) = app.git.merge_packs(project, refs.packs())? else {
        return Ok(false);
    };
    let after = app.store.write(|tx| {
        if tx.refs().state(project)?.is_none() {
            return Ok(None);
        }
        let before = open::locked(app, tx, project)?;
        let is_live = |name: &PackName| before.packs().iter().any(|pack| pack.name == *name);
        // Another process may have merged them, or removed the project.
        if !replaced.iter().all(is_live) {
            return Ok(None);
        }
        let now = app.clock.now();
        insert(app, tx, project, &[pack])?;
        let replaced: Vec<PackName> =
            replaced.iter().filter(|name| **name != pack.name).copied().collect();
        tx.packs().retire(project, &replaced, now)?;
        let state = tx.refs().state(project)?.unwrap_or_default();
        open::read_refs(tx, project, &state).map(Some).map_err(Error::from)
    })?;
    let is_merged = after.is_some();
    if let Some(after) = after {
        app.refs.put_if_newer(project, after);
    }
    Ok(is_merged)
}

/// Removes packs that no repository refers to, after the grace period. Returns their number.
pub fn sweep(app: &App, go_on: &dyn Fn() -> bool) -> Result<u64, Error> {
    let before = app.clock.now() - app.settings.sweep_after;
    let limit = u32::try_from(BATCH).unwrap_or(u32::MAX);
    while go_on() {
        let now = app.clock.now();
        let forgotten =
            app.store.write::<_, StoreError>(|tx| tx.packs().forget_retired(now, before, limit))?;
        if forgotten < limit {
            break;
        }
    }
    if app.store.read::<_, StoreError>(|tx| tx.packs().names_after(None, 1))?.is_empty() {
        // A database without packs is more likely the wrong database than an empty installation.
        return Ok(0);
    }
    let mut removed = 0;
    // The process that condemned these packs was stopped before it released them.
    let abandoned = app.clock.now() - ABANDONED;
    let abandoned_packs =
        app.store.read::<_, StoreError>(|tx| tx.packs().condemned_before(abandoned, limit))?;
    removed += remove(app, &abandoned_packs, before)?;
    let mut old = Vec::new();
    let mut failure = None;
    let listed = app.packs.for_each_pack(&mut |name, since| {
        if since < before {
            old.push(name);
        }
        if old.len() >= BATCH {
            match remove(app, &std::mem::take(&mut old), before) {
                Ok(count) => removed += count,
                Err(error) => failure = Some(error),
            }
        }
        if failure.is_some() || !go_on() {
            return Err(PackError::Failed("the sweep of packs was stopped".into()));
        }
        Ok(())
    });
    match (failure, listed) {
        (Some(error), _) => return Err(error),
        (None, Err(error)) if go_on() => return Err(GitError::from(error).into()),
        (None, _) => (),
    }
    Ok(removed + remove(app, &old, before)?)
}

/// Removes the packs that have no row and were stored before `before`. Returns their number.
fn remove(app: &App, names: &[PackName], before: Timestamp) -> Result<u64, Error> {
    let without_row = app.store.read::<_, StoreError>(|tx| tx.packs().without_row(names))?;
    if without_row.is_empty() {
        return Ok(0);
    }
    let begun = app.clock.now();
    let condemned = app
        .store
        .write::<_, StoreError>(|tx| tx.packs().condemn(&without_row, begun, begun - ABANDONED))?;
    let (mut ended, mut removed, mut failure) = (Vec::new(), 0, None);
    for name in condemned {
        if app.clock.now() - begun > LEASE {
            // The lease has expired: another process may soon take over the rest.
            break;
        }
        match remove_condemned(app, name, before) {
            Ok(is_removed) => {
                removed += u64::from(is_removed);
                ended.push(name);
            }
            Err(error) => failure = Some(error),
        }
    }
    app.store.write::<_, StoreError>(|tx| tx.packs().release(&ended, begun))?;
    match failure {
        Some(error) => Err(GitError::from(error).into()),
        None => Ok(removed),
    }
}

/// Removes a condemned pack, unless a push has just stored it again. Returns whether it is removed.
fn remove_condemned(app: &App, name: PackName, before: Timestamp) -> Result<bool, PackError> {
    match app.packs.stored_at(name)? {
        Some(since) if since >= before => Ok(false),
        Some(_) | None => app.packs.remove(name).map(|()| true),
    }
}
