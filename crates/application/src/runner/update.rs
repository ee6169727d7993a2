//! Runners report the progress of a build.

use hexforge_domain::build::Build;
use hexforge_domain::ci::status::{Status, Transition};
use hexforge_domain::id::{BuildId, UserId};

use super::{coverage, cut_piece, identify_runner, is_update_due};
use crate::app::App;
use crate::deployment::{self, Succeeded};
use crate::error::{Entity, Error, ForbiddenReason};
use crate::pipeline::progress::Progress;

/// The progress report of a runner.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// The final transition; `None` while the build goes on.
    pub ended: Option<Transition>,
    /// The whole log.
    pub trace: Option<String>,
}

/// A runner's call about a build.
#[derive(Clone, Copy, Debug)]
pub struct Update<'a> {
    /// The token of the runner.
    pub token: &'a str,
    /// The build.
    pub build: BuildId,
    /// The version and the revision of the server, which are variables of builds.
    pub version: (&'a str, &'a str),
}

/// Checks that the runner with this token runs the build, before a long log is read. Returns the user of the build.
pub fn authorize_update(app: &App, token: &str, id: BuildId) -> Result<Option<UserId>, Error> {
    app.store.read(|tx| {
        let runner = identify_runner(app, tx, token)?;
        let found = tx.builds().find(id)?;
        let runs =
            |build: &Build| build.status == Status::Running && build.runner == Some(runner.id);
        let build = found.filter(runs).ok_or(Error::NotFound(Entity::Record))?;
        Ok(build.user)
    })
}

/// Stores the report about a build that the runner with this token runs. For any other build the runner gets not found,
/// which tells it that the build was canceled. A build that succeeds may be a deployment to an environment.
pub fn update(app: &App, call: Update<'_>, report: &Report) -> Result<(), Error> {
    let Update { token, build: id, version } = call;
    let now = app.clock.now();
    let missing = || Error::NotFound(Entity::Record);
    app.store.write(|tx| {
        let runner = identify_runner(app, tx, token)?;
        let found = tx.builds().find(id)?.ok_or_else(missing)?;
        let target = match report.ended {
            Some(Transition::Succeed) => deployment::lock_target(tx, &found)?,
            Some(_) | None => None,
        };
        let mut progress = Progress::lock(tx, found.pipeline)?.ok_or_else(missing)?;
        let build = progress
            .build(id)
            .filter(|build| build.status == Status::Running && build.runner == Some(runner.id));
        let build = build.ok_or_else(missing)?.clone();
        if build.erased_at.is_some() {
            return Err(Error::Forbidden(Some(ForbiddenReason::BuildErased)));
        }
        if let Some(trace) = &report.trace {
            let trace = cut_piece(0, trace.as_bytes());
            app.build_files.replace_trace(build.project, id, &trace)?;
        }
        match report.ended {
            Some(transition) => {
                let coverage = coverage::extract(app, tx, &build)?;
                progress.step(id, transition, now);
                if let Some(build) = progress.build_mut(id) {
                    build.coverage = coverage.or(build.coverage);
                }
            }
            None if is_update_due(app, &build, now) => {
                if let Some(build) = progress.build_mut(id) {
                    build.updated_at = now;
                }
            }
            None => return Ok(()),
        }
        let stored = &progress.store(tx, now)?;
        match &target {
            Some(target) => {
                let succeeded = Succeeded { stored, build: id, target, version };
                deployment::record(app, tx, &succeeded, now)
            }
            None => Ok(()),
        }
    })
}
