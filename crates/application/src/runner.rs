//! Runners: registers them, and serves their calls about builds. Runners authenticate with tokens, not as users.

pub mod administer;
mod artifacts;
mod assignment;
mod checksum;
mod coverage;
pub mod manage;
mod request;
mod trace;
mod update;
mod variables;

pub use artifacts::{
    ArtifactsUpload, authorize_artifacts, begin_artifacts, open_artifacts, remove_artifacts,
};
pub(crate) use assignment::load as load_assignment;
pub use assignment::{Assignment, EarlierBuild};
pub use request::request;
pub use trace::{Appended, append_trace, authorize_trace};
pub use update::{Report, Update, Updated, authorize_update, update};
pub use variables::{BuildVariable, Server, variables};

use std::borrow::Cow;

use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::build::{Build, Tags};
use hexforge_domain::ci::status::Status;
use hexforge_domain::id::{BuildId, RunnerId};
use hexforge_domain::ports::store::Tx;
use hexforge_domain::runner::{NewRunner, Runner, RunnerInfo};
use hexforge_domain::text::{Secret, limit};

use crate::app::App;
use crate::build::expiry;
use crate::ci_token;
use crate::error::{Entity, Error, ForbiddenReason};

/// The minimum interval between stored updates of a running build, and between stored contacts of a runner.
const CONTACT_INTERVAL: TimeDelta = TimeDelta::seconds(60);

/// The fields of a registration request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registration {
    /// The description by the owner of the runner.
    pub description: String,
    /// The tags of the runner.
    pub tags: Tags,
    /// Whether the runner takes builds without tags.
    pub run_untagged: bool,
    /// Whether the runner is restricted to its projects.
    pub locked: bool,
    /// The system information that the runner reports.
    pub info: RunnerInfo,
}

/// A registered runner.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registered {
    /// The id of the runner.
    pub id: RunnerId,
    /// The token with which the runner authenticates from now on.
    pub token: Secret,
}

/// Registers a runner: for all projects with the token of the service, or for one project with the token of that
/// project.
pub fn register(app: &App, token: &str, new: Registration) -> Result<Registered, Error> {
    let runner = app.store.write(|tx| {
        let project = match ci_token::is_service_token(app, token, tx.runners().rotations()?) {
            true => None,
            false => {
                let found = tx.runners().project_by_token(token)?;
                Some(found.ok_or(Error::Forbidden(None))?)
            }
        };
        // A runner without tags that takes no untagged builds would never get a build.
        if !new.run_untagged && new.tags.is_empty() {
            return Err(Error::NotFound(Entity::Unnamed));
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
    Ok(Registered { id: runner.id, token: ci_token::runner_token(app, &runner) })
}

/// Registers a runner for all projects that the server itself starts.
pub fn register_built_in(app: &App, description: &str) -> Result<Registered, Error> {
    let new = NewRunner {
        description: description.to_owned(),
        shared: true,
        run_untagged: true,
        locked: false,
        tags: Tags::default(),
        info: RunnerInfo::default(),
        at: app.clock.now(),
    };
    let runner = app.store.write(|tx| Ok::<_, Error>(tx.runners().insert(new)?))?;
    Ok(Registered { id: runner.id, token: ci_token::runner_token(app, &runner) })
}

/// Returns whether a runner has this token.
pub fn is_registered(app: &App, token: &str) -> Result<bool, Error> {
    app.store.read(|tx| match identify_runner(app, tx, token) {
        Ok(_) => Ok(true),
        Err(Error::Forbidden(None)) => Ok(false),
        Err(error) => Err(error),
    })
}

/// Removes the runner with this token. The builds that it runs fail.
pub fn delete(app: &App, token: &str) -> Result<(), Error> {
    let left = app.store.write(|tx| {
        let runner = identify_runner(app, tx, token)?;
        remove_runner(tx, runner.id)
    })?;
    expiry::fail_abandoned_builds(app, &left)?;
    Ok(())
}

/// Removes a runner, and returns the builds that it runs. The caller fails them after the commit, one transaction for
/// each, because each locks its pipeline.
fn remove_runner(tx: &mut dyn Tx, id: RunnerId) -> Result<Vec<Build>, Error> {
    let left = tx.builds().running_on(id)?;
    tx.runners().delete(id)?;
    Ok(left)
}

/// Returns the runner with this token.
fn identify_runner(app: &App, tx: &mut dyn Tx, token: &str) -> Result<Runner, Error> {
    let found = match ci_token::claimed_id(token) {
        Some(id) => tx.runners().find(RunnerId(id))?,
        None => None,
    };
    let found = found.filter(|runner| ci_token::is_runner_token(app, runner, token));
    found.ok_or(Error::Forbidden(None))
}

/// Returns the job with this id, if the token is that of the job.
fn build_by_token(app: &App, tx: &mut dyn Tx, id: BuildId, token: &str) -> Result<Build, Error> {
    let found = tx.builds().find(id)?.filter(|build| build.kind.is_job());
    let build = found.ok_or(Error::NotFound(Entity::Unnamed))?;
    if !ci_token::is_build_token(app, &build, token) {
        return Err(Error::Forbidden(None));
    }
    match build.erased_at {
        Some(_) => Err(Error::Forbidden(Some(ForbiddenReason::BuildErased))),
        None => Ok(build),
    }
}

/// Like [`build_by_token`], for running builds only: the token of a finished build allows no changes.
fn running_build(app: &App, tx: &mut dyn Tx, id: BuildId, token: &str) -> Result<Build, Error> {
    let build = build_by_token(app, tx, id, token)?;
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

/// Like [`build_by_token`], with the pipeline locked, so that no other transaction changes the build or its files.
fn lock_build(app: &App, tx: &mut dyn Tx, id: BuildId, token: &str) -> Result<Build, Error> {
    let found = build_by_token(app, tx, id, token)?;
    tx.pipelines().lock(found.pipeline)?.ok_or(Error::NotFound(Entity::Unnamed))?;
    build_by_token(app, tx, id, token)
}

/// The length at which a log is cut. The line that says so fits behind it.
const LOG_ROOM: usize = limit::LOG - 200;

/// The last line of a log that was cut.
fn cut_line() -> String {
    format!("\nThe log is longer than {LOG_ROOM} bytes: the rest was not stored.\n")
}

/// Returns whether a log of this length was cut at the size limit. A cut log takes no more pieces.
fn is_cut(length: u64) -> bool {
    length > LOG_ROOM as u64
}

/// Cuts `piece`, which begins at the offset `length` of a log, and adds the line that says so, if it is too long.
fn cut_piece(length: u64, piece: &[u8]) -> Cow<'_, [u8]> {
    let room = (LOG_ROOM as u64).saturating_sub(length);
    match usize::try_from(room) {
        Ok(room) if piece.len() > room => {
            let mut cut = piece[..room].to_vec();
            cut.extend_from_slice(cut_line().as_bytes());
            Cow::Owned(cut)
        }
        _ => Cow::Borrowed(piece),
    }
}

/// Returns whether the time of the last update of a running build has to be stored again. With a short silence in the
/// settings it is stored more often. The first report of its runner is always stored.
fn is_update_due(app: &App, build: &Build, now: Timestamp) -> bool {
    let interval = CONTACT_INTERVAL.min(app.settings.runner_silence / 4);
    build.status == Status::Running
        && (now - build.updated_at >= interval || !is_acknowledged(build))
}

/// Returns whether the runner of a running build has reported anything about it.
pub(crate) fn is_acknowledged(build: &Build) -> bool {
    build.started_at.is_none_or(|started| build.updated_at > started)
}

/// Returns whether a runner reports about a new build at once, so that an assignment which it does not acknowledge was
/// lost on its way. Older runners may first prepare for minutes.
pub(crate) fn acknowledges(runner: &Runner) -> bool {
    runner.info.name.as_deref() == Some("hexforge-runner")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_cut_with_a_line_that_says_so() {
        assert_eq!(cut_piece(5, b"short"), b"short".as_slice());
        assert_eq!(cut_piece(LOG_ROOM as u64 - 3, b"abc"), b"abc".as_slice());
        let cut = cut_piece(LOG_ROOM as u64 - 3, b"abcd").into_owned();
        assert_eq!(cut, [b"abc".as_slice(), cut_line().as_bytes()].concat());
        assert!(is_cut(LOG_ROOM as u64 - 3 + cut.len() as u64));
        assert!(LOG_ROOM + cut.len() <= limit::LOG && !is_cut(LOG_ROOM as u64));
        assert_eq!(cut_piece(LOG_ROOM as u64, b"x"), cut_line().as_bytes());
    }
}
