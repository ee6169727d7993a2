//! Work on repositories that is done after the request that asked for it.

use chrono::TimeDelta;
use hexforge_domain::id::{ProjectId, RepositoryTaskId};
use hexforge_domain::ports::imports::ImportError;
use hexforge_domain::repository::task::{RepositoryTask, TaskKind, retry_at};

use crate::app::App;
use crate::branch::merged;
use crate::error::Error;

/// How long a task is left to whoever began it.
const LEASE: TimeDelta = TimeDelta::hours(1);

/// Does the oldest task that is due; answers whether there was one.
pub fn work(app: &App) -> Result<bool, Error> {
    let now = app.clock.now();
    let task = app.store.write(|tx| tx.repository_tasks().claim(now, now + LEASE))?;
    match task {
        Some(task) => attempt(app, task).map(|()| true),
        None => Ok(false),
    }
}

/// Does this task now, if nobody does it already; whoever asked for it can wait for it.
pub fn work_on(app: &App, id: RepositoryTaskId) -> Result<(), Error> {
    let now = app.clock.now();
    let task = app.store.write(|tx| tx.repository_tasks().claim_one(id, now, now + LEASE))?;
    match task {
        Some(task) => attempt(app, task),
        None => Ok(()),
    }
}

/// Forgets what was kept so that no change is recorded twice, once it is long settled.
pub fn forget_settled(app: &App) -> Result<(), Error> {
    let before = app.clock.now() - TimeDelta::days(7);
    Ok(app.store.write(|tx| tx.settled_changes().forget_before(before))?)
}

fn attempt(app: &App, task: RepositoryTask) -> Result<(), Error> {
    let done = match &task.kind {
        TaskKind::Copy { source } => copy(app, *source, task.project),
        TaskKind::RemoveMerged { user } => {
            merged::remove(app, task.project, *user).map_err(Failure::from)
        }
        TaskKind::Import { url, .. } => import(app, task.project, url.reveal()),
    };
    app.store.write(|tx| match done {
        Ok(()) => Ok(tx.repository_tasks().finish(task.id)?),
        Err(Failure::Final(reason)) => Ok(tx.repository_tasks().fail(task.id, &reason, None)?),
        Err(Failure::Passing(reason)) => {
            let again = retry_at(task.tries, app.clock.now());
            Ok(tx.repository_tasks().fail(task.id, &reason, again)?)
        }
    })
}

/// Why a task is not done.
enum Failure {
    /// It will not succeed later either.
    Final(String),
    /// It may succeed later.
    Passing(String),
}

impl<E: Into<Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        Failure::Passing(error.into().to_string())
    }
}

fn copy(app: &App, source: ProjectId, target: ProjectId) -> Result<(), Failure> {
    app.git.copy(source, target)?;
    Ok(refresh(app, target)?)
}

fn import(app: &App, project: ProjectId, url: &str) -> Result<(), Failure> {
    app.imports.fetch(project, url).map_err(|error| match error {
        ImportError::Refused(reason) => Failure::Final(reason),
        ImportError::Failed(reason) => Failure::Passing(reason),
    })?;
    Ok(refresh(app, project)?)
}

/// Keeps with the project which branch its repository shows.
pub fn refresh(app: &App, project: ProjectId) -> Result<(), Error> {
    let default = app.git.open(project)?.default_branch()?;
    app.store.write(|tx| Ok(tx.projects().set_default_branch(project, default.as_ref())?))
}
