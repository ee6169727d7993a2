//! Runners: registering them, and what they do with builds. Tokens say who they are; there is no user.

mod artifacts;
mod assignment;
mod coverage;
pub mod manage;
mod request;
mod trace;
mod update;
mod variables;

pub use artifacts::{
    Receiving, authorize_artifacts, begin_artifacts, open_artifacts, remove_artifacts,
};
pub use assignment::{Assignment, Earlier};
pub use request::request;
pub use trace::{Appended, append_trace};
pub use update::{Report, update};
pub use variables::{BuildVariable, Server, variables};

use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::build::{Build, Tags};
use hexforge_domain::ci::status::Status;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::{BuildId, RunnerId};
use hexforge_domain::ports::store::Tx;
use hexforge_domain::runner::{NewRunner, Runner, RunnerInfo};
use hexforge_domain::text::{Secret, TooLong, limit};

use crate::app::App;
use crate::ci_token;
use crate::error::{Error, ForbiddenReason, Thing};

/// A build is written down as heard of, and a runner as seen, no more often than this.
const HEARD_EVERY: TimeDelta = TimeDelta::seconds(60);

/// What a runner says when it registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// What its owner says of it.
    pub description: String,
    /// What it has.
    pub tags: Tags,
    /// Whether it takes builds without tags.
    pub run_untagged: bool,
    /// Whether it stays with its projects.
    pub locked: bool,
    /// What it says of itself.
    pub info: RunnerInfo,
}

/// A runner that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// Its id.
    pub id: RunnerId,
    /// By which it speaks from now on.
    pub token: Secret,
}

/// Registers a runner: for all projects by the token of the service, for one by the token of that project.
pub fn register(app: &App, token: &str, new: Registration) -> Result<Registered, Error> {
    let runner = app.store.write(|tx| {
        let project = match ci_token::is_of_service(app, token, tx.runners().rotations()?) {
            true => None,
            false => {
                let found = tx.runners().project_by_token(token)?;
                Some(found.ok_or(Error::Forbidden(None))?)
            }
        };
        // Such a runner would take nothing.
        if !new.run_untagged && new.tags.is_empty() {
            return Err(Error::NotFound(Thing::Nameless));
        }
        let new = NewRunner {
            description: new.description,
            shared: project.is_none(),
            run_untagged: new.run_untagged,
            locked: new.locked,
            tags: new.tags,
            info: new.info,
            at: app.clock.now(),
        };
        new.check()?;
        let runner = tx.runners().insert(new)?;
        if let Some(project) = project {
            tx.runners().bind(runner.id, project)?;
        }
        Ok(runner)
    })?;
    Ok(Registered { id: runner.id, token: ci_token::of_runner(app, &runner) })
}

/// Removes the runner of a token. What it was running fails when nothing is heard of it.
pub fn delete(app: &App, token: &str) -> Result<(), Error> {
    app.store.write(|tx| {
        let runner = identify(app, tx, token)?;
        Ok(tx.runners().delete(runner.id)?)
    })
}

/// The runner of a token.
fn identify(app: &App, tx: &mut dyn Tx, token: &str) -> Result<Runner, Error> {
    let found = match ci_token::claimed_id(token) {
        Some(id) => tx.runners().find(RunnerId(id))?,
        None => None,
    };
    let found = found.filter(|runner| ci_token::is_of_runner(app, runner, token));
    found.ok_or(Error::Forbidden(None))
}

/// The job of that id, for whoever has its token.
fn by_token(app: &App, tx: &mut dyn Tx, id: BuildId, token: &str) -> Result<Build, Error> {
    let found = tx.builds().find(id)?.filter(|build| build.kind.is_job());
    let build = found.ok_or(Error::NotFound(Thing::Nameless))?;
    if !ci_token::is_of_build(app, &build, token) {
        return Err(Error::Forbidden(None));
    }
    match build.erased_at {
        Some(_) => Err(Error::Forbidden(Some(ForbiddenReason::BuildErased))),
        None => Ok(build),
    }
}

/// Like [`by_token`], for a build that runs: the token of a finished build changes nothing any more.
fn running(app: &App, tx: &mut dyn Tx, id: BuildId, token: &str) -> Result<Build, Error> {
    let build = by_token(app, tx, id, token)?;
    match build.status {
        Status::Running => Ok(build),
        Status::Created
        | Status::Pending
        | Status::Success
        | Status::Failed
        | Status::Canceled
        | Status::Skipped => Err(Error::Forbidden(Some(ForbiddenReason::BuildNotRunning))),
    }
}

/// Like [`by_token`]; until the transaction ends nobody else changes the build or its files.
fn lock_by_token(app: &App, tx: &mut dyn Tx, id: BuildId, token: &str) -> Result<Build, Error> {
    let found = by_token(app, tx, id, token)?;
    tx.pipelines().lock(found.pipeline)?.ok_or(Error::NotFound(Thing::Nameless))?;
    by_token(app, tx, id, token)
}

/// Checks how long a log would become, in bytes.
fn within_log(length: u64) -> Result<(), Error> {
    if length > limit::LOG as u64 {
        return Err(FieldErrors::one("trace", TooLong(limit::LOG)).into());
    }
    Ok(())
}

/// Whether it is time to write down that something was heard of a running build.
fn is_due(build: &Build, now: Timestamp) -> bool {
    build.status == Status::Running && now - build.updated_at >= HEARD_EVERY
}
