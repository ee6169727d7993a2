//! Work on repositories that is done after the request that asked for it.

use chrono::TimeDelta;
use hexforge_domain::id::{ProjectId, RepositoryTaskId};
use hexforge_domain::ports::imports::ImportError;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::repository::task::{RepositoryTask, TaskKind, retry_at};

use crate::app::App;
use crate::branch::merged;
use crate::error::Error;
use crate::project::avatar::FoundAvatar;

/// How long a task is left to whoever began it: longer than any takes.
const LEASE: TimeDelta = TimeDelta::hours(1);
/// Imports wait for others, for some hours at most.
const LEASE_OF_IMPORT: TimeDelta = TimeDelta::hours(4);

/// How often what became of a task is tried to be stored while others are in the way.
const TRIES_TO_STORE: u32 = 10;

/// Which tasks are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Any.
    All,
    /// Those that wait for nobody elsewhere.
    Local,
}

/// What became of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It is done.
    Done,
    /// It failed, for this reason, and is tried again.
    Postponed(String),
    /// It failed, for this reason, and is given up.
    GivenUp(String),
}

/// The oldest task that is due; until it is [done](attempt) or [given back](give_back) nobody else gets it.
pub fn next(app: &App, lane: Lane) -> Result<Option<RepositoryTask>, Error> {
    let now = app.clock.now();
    let task = app.store.write(|tx| match lane {
        Lane::All => tx.repository_tasks().claim(now, now + LEASE_OF_IMPORT),
        Lane::Local => tx.repository_tasks().claim_local(now, now + LEASE),
    })?;
    Ok(task)
}

/// Does the oldest task that is due; answers whether there was one.
pub fn work(app: &App) -> Result<bool, Error> {
    match next(app, Lane::All)? {
        Some(task) => attempt(app, task).map(|_| true),
        None => Ok(false),
    }
}

/// Does this task now, if nobody does it already; whoever asked for it can wait for it.
pub fn work_on(app: &App, id: RepositoryTaskId) -> Result<(), Error> {
    let now = app.clock.now();
    let task = app.store.write(|tx| tx.repository_tasks().claim_one(id, now, now + LEASE))?;
    match task {
        Some(task) => attempt(app, task).map(drop),
        None => Ok(()),
    }
}

/// Lets others have a task that was begun and not finished.
pub fn give_back(app: &App, id: RepositoryTaskId) -> Result<(), Error> {
    let now = app.clock.now();
    Ok(app.store.write(|tx| tx.repository_tasks().fail(id, "the server was stopped", Some(now)))?)
}

/// Forgets what was kept so that no change is recorded twice, once it is long settled.
pub fn forget_settled(app: &App) -> Result<(), Error> {
    let before = app.clock.now() - TimeDelta::days(7);
    Ok(app.store.write(|tx| tx.settled_changes().forget_before(before))?)
}

/// Does a task that was given out.
pub fn attempt(app: &App, task: RepositoryTask) -> Result<Outcome, Error> {
    let done = match &task.kind {
        TaskKind::Copy { source } => copy(app, *source, task.project),
        TaskKind::RemoveMerged { user } => {
            merged::remove(app, task.project, *user).map_err(Failure::from)
        }
        TaskKind::Import { url, .. } => import(app, task.project, url.reveal()),
    };
    let (outcome, again) = match done {
        Ok(()) => (Outcome::Done, None),
        Err(Failure::Final(reason)) => (Outcome::GivenUp(reason), None),
        Err(Failure::Passing(reason)) => match retry_at(task.tries, app.clock.now()) {
            Some(again) => (Outcome::Postponed(reason), Some(again)),
            None => (Outcome::GivenUp(reason), None),
        },
    };
    // What was done may have taken hours, and would all be done again.
    let mut tries = 1;
    loop {
        let stored = app.store.write(|tx| match &outcome {
            Outcome::Done => tx.repository_tasks().finish(task.id),
            Outcome::Postponed(reason) | Outcome::GivenUp(reason) => {
                tx.repository_tasks().fail(task.id, reason, again)
            }
        });
        match stored {
            Err(StoreError::Busy) if tries < TRIES_TO_STORE => tries += 1,
            stored => return Ok(stored.map(|()| outcome)?),
        }
    }
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
    refresh(app, target)?;
    Ok(())
}

fn import(app: &App, project: ProjectId, url: &str) -> Result<(), Failure> {
    app.imports.fetch(project, url).map_err(|error| match error {
        ImportError::Refused(reason) => Failure::Final(reason),
        ImportError::Failed(reason) => Failure::Passing(reason),
    })?;
    refresh(app, project)?;
    Ok(())
}

/// Keeps with the project which branch its repository shows, and its picture; answers the picture.
pub fn refresh(app: &App, project: ProjectId) -> Result<Option<String>, Error> {
    let repository = app.git.open(project)?;
    let found = FoundAvatar::read(&*repository, repository.default_branch()?.as_ref())?;
    app.store.write(|tx| {
        // Read once nobody else can store another one.
        let Some(before) = tx.projects().lock(project)? else { return Ok(None) };
        let default = repository.default_branch()?;
        tx.projects().set_default_branch(project, default.as_ref())?;
        let avatar = found.or_stored(&*repository, default.as_ref(), before.avatar.as_deref())?;
        tx.projects().set_avatar(project, avatar.as_deref())?;
        Ok(avatar)
    })
}
