//! Background tasks on repositories, which run after the request that created them.

use std::collections::HashSet;
use std::sync::Arc;

use chrono::TimeDelta;
use hexforge_domain::id::{ProjectId, RepositoryTaskId};
use hexforge_domain::limiter::Caller;
use hexforge_domain::ports::git::RefChange;
use hexforge_domain::ports::git_transport::Proposal;
use hexforge_domain::ports::imports::{ImportError, Imported};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::refs::{self, Atomicity, Ref, RepositoryState, Snapshot};
use hexforge_domain::repository::task::{RepositoryTask, TaskKind, retry_at};

use super::{open, packs};
use crate::app::App;
use crate::branch::merged;
use crate::environment;
use crate::error::Error;
use crate::merge_request::source::SourceRemoval;
use crate::merge_request::{self, automatic, refresh};
use crate::project::avatar::FoundAvatar;
use crate::retry;

/// The lease of a claimed task, unless it is [extended](extend). After a crash, a task waits this long at most.
const LEASE: TimeDelta = TimeDelta::minutes(1);

/// The number of attempts to store the outcome of a task while the store is busy.
const TRIES_TO_STORE: u32 = 10;

/// Selects the tasks to claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskFilter {
    /// All tasks.
    All,
    /// Tasks that do not wait for other servers.
    Local,
}

/// The outcome of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The task is done.
    Done,
    /// The task failed for this reason and will be retried.
    Postponed(String),
    /// The task failed for this reason and will not be retried.
    GivenUp(String),
}

/// Claims the oldest task that is due. No other worker gets it until it is [done](run_claimed) or [released](release),
/// or its lease ends.
pub fn claim(app: &App, filter: TaskFilter) -> Result<Option<RepositoryTask>, Error> {
    let now = app.clock.now();
    let task = app.store.write(|tx| match filter {
        TaskFilter::All => tx.repository_tasks().claim(now, now + LEASE),
        TaskFilter::Local => tx.repository_tasks().claim_local(now, now + LEASE),
    })?;
    Ok(task)
}

/// Extends the lease of a task that is still running. To be called more often than leases end.
pub fn extend(app: &App, id: RepositoryTaskId) -> Result<(), Error> {
    let until = app.clock.now() + LEASE;
    Ok(app.store.write(|tx| tx.repository_tasks().extend(id, until))?)
}

/// Runs the oldest task that is due. Returns whether there was one.
pub fn run_next(app: &App) -> Result<bool, Error> {
    match claim(app, TaskFilter::All)? {
        Some(task) => run_claimed(app, task).map(|_| true),
        None => Ok(false),
    }
}

/// Releases a claimed task that was not finished, so that other workers can claim it.
pub fn release(app: &App, id: RepositoryTaskId) -> Result<(), Error> {
    let now = app.clock.now();
    Ok(app.store.write(|tx| tx.repository_tasks().fail(id, "the server was stopped", Some(now)))?)
}

/// Runs a claimed task and stores the outcome.
pub fn run_claimed(app: &App, task: RepositoryTask) -> Result<Outcome, Error> {
    let done = match &task.kind {
        TaskKind::Copy { source } => copy(app, *source, task.project),
        TaskKind::RemoveMerged { user } => {
            merged::remove(app, task.project, *user).map_err(Failure::from)
        }
        TaskKind::Import { url, .. } => import(app, task.project, url.reveal()),
        TaskKind::RemoveSourceBranch { branch, head, user } => {
            let removal =
                SourceRemoval { project: task.project, branch: branch.clone(), head: *head };
            removal.run_for(app, *user).map_err(Failure::from)
        }
        TaskKind::RefreshMergeRequests(push) => {
            refresh::run(app, task.project, push).map_err(Failure::from)
        }
        TaskKind::CloseRequestsOfFork { source, user } => {
            merge_request::fork::close_requests(app, *source, *user).map_err(Failure::from)
        }
        TaskKind::StopEnvironments { branches, user } => {
            environment::stop_rest(app, task.project, branches, *user).map_err(Failure::from)
        }
        TaskKind::MergeAutomatically { branch, head } => {
            automatic::run(app, task.project, branch, *head).map_err(Failure::from)
        }
    };
    let (outcome, again) = match done {
        Ok(()) => (Outcome::Done, None),
        Err(Failure::Final(reason)) => (Outcome::GivenUp(reason), None),
        Err(Failure::Passing(reason)) => match retry_at(task.tries, app.clock.now()) {
            Some(again) => (Outcome::Postponed(reason), Some(again)),
            None => (Outcome::GivenUp(reason), None),
        },
    };
    // The work may have taken hours and would be repeated if the outcome were not stored.
    let is_busy = |error: &StoreError| matches!(error, StoreError::Busy);
    retry::while_busy(TRIES_TO_STORE, is_busy, || {
        app.store.write(|tx| match &outcome {
            Outcome::Done => tx.repository_tasks().finish(task.id),
            Outcome::Postponed(reason) | Outcome::GivenUp(reason) => {
                tx.repository_tasks().fail(task.id, reason, again)
            }
        })
    })?;
    Ok(outcome)
}

/// Why a task failed.
enum Failure {
    /// A retry will not succeed.
    Final(String),
    /// A retry may succeed.
    Passing(String),
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Passing(error.into().to_string())
    }
}

fn copy(app: &App, source: ProjectId, target: ProjectId) -> Result<(), Failure> {
    Ok(app.store.write(|tx| packs::copy(app, tx, source, target))?)
}

fn import(app: &App, project: ProjectId, url: &str) -> Result<(), Failure> {
    let imported = app.imports.fetch(url).map_err(|error| match error {
        ImportError::Refused(reason) => Failure::Final(reason),
        ImportError::Failed(reason) => Failure::Passing(reason),
    })?;
    store_import(app, project, imported)?;
    Ok(())
}

/// Adds the imported refs, whose objects are in stored packs. Refs that were pushed meanwhile stay.
fn store_import(app: &App, project: ProjectId, imported: Imported) -> Result<(), Error> {
    let Imported { head, refs, packs } = imported;
    let head = head.unwrap_or_else(|| RepositoryState::FIRST_HEAD.to_owned());
    let new = |one: &Ref| RefChange { name: one.name.clone(), old: None, new: Some(one.target) };
    let changes = refs.iter().map(new).collect();
    let peeled = refs.iter().filter_map(|one| Some((one.target, one.peeled?))).collect();
    let mut proposal = Proposal { changes, peeled, atomicity: Atomicity::Independent, packs };
    let refs_version = Snapshot::UNCOMMITTED;
    let state = RepositoryState { head: head.clone(), refs_version, packs_version: 0 };
    let before = super::refs(app, project)?;
    let proposed = proposal.applied(&before);
    let proposed = Arc::new(proposed.changed(&state, []));
    let repository = app.git.open(project, Arc::clone(&proposed), Caller::BACKGROUND)?;
    let avatar = FoundAvatar::read(&*repository, proposed.default_branch().as_ref())?;
    let after = app.store.write(|tx| {
        let Some(found) = tx.projects().lock(project)? else { return Ok(None) };
        let before = open::locked(app, tx, project)?;
        let Proposal { changes, peeled, atomicity, packs } = &proposal;
        packs::add(app, tx, project, &before, packs)?;
        let made = refs::change(tx, project, changes, peeled, *atomicity)?;
        if before.is_empty() {
            tx.refs().set_head(project, &head)?;
        }
        let refused: HashSet<&str> = made.refused.iter().map(String::as_str).collect();
        proposal.changes.retain(|change| !refused.contains(change.name.as_str()));
        let after = open::committed(tx, project, &proposal.applied(&before))?;
        avatar.store(tx, found, &after)?;
        Ok::<_, Error>(Some(after))
    })?;
    if let Some(after) = after {
        app.refs.put_if_newer(project, Arc::new(after));
        app.maintenance.enqueue(project);
    }
    Ok(())
}
