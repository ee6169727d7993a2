//! Runners report the progress of a build.

use hexforge_domain::build::Build;
use hexforge_domain::ci::status::{Status, Transition};
use hexforge_domain::id::{BuildId, UserId};
use hexforge_domain::ports::store::Tx;

use super::{checksum, coverage, cut_piece, identify_runner, is_cut, is_update_due};
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
    /// The length of the whole log, sent in pieces.
    pub length: Option<u64>,
    /// The checksum of the whole log, `crc32:` and eight hexadecimal digits.
    pub checksum: Option<String>,
}

/// The outcome of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Updated {
    /// The report is stored.
    Stored,
    /// The log is not as long as the runner says, so the build goes on: the runner sends the rest and reports again.
    Incomplete {
        /// The length of the stored log.
        length: u64,
    },
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

/// Checks that the runner with this token runs the build, while a report with a long log is read. That the report still
/// arrives counts as a sign of life. Returns the user of the build.
pub fn authorize_update(app: &App, token: &str, id: BuildId) -> Result<Option<UserId>, Error> {
    let call = Update { token, build: id, version: ("", "") };
    let build = app.store.read(|tx| find_reported(app, tx, call))?;
    if is_update_due(app, &build, app.clock.now()) {
        app.store.write(|tx| record_contact(app, tx, call))?;
    }
    Ok(build.user)
}

/// Stores the report about a build that the runner with this token runs. For any other build the runner gets not found,
/// which tells it that the build was canceled. A build that succeeds may be a deployment to an environment.
///
/// The log is written outside of transactions, because other changes of the project would wait for the file. If the
/// process stops in between, the runner reports again.
pub fn update(app: &App, call: Update<'_>, report: &Report) -> Result<Updated, Error> {
    let build = app.store.read(|tx| find_reported(app, tx, call))?;
    if let Some(trace) = &report.trace {
        store_log(app, &build, trace)?;
    }
    match report.ended {
        None if is_update_due(app, &build, app.clock.now()) => {
            app.store.write(|tx| record_contact(app, tx, call))?;
        }
        None => (),
        Some(transition) => {
            let log = compare_log(app, &build, report)?;
            if let StoredLog::Shorter { length } = log {
                return Ok(Updated::Incomplete { length });
            }
            let coverage = app.store.read(|tx| coverage::extract(app, tx, &build))?;
            app.store.write(|tx| end(app, tx, call, (transition, log), coverage))?;
        }
    }
    Ok(Updated::Stored)
}

/// How the stored log compares with what the runner sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoredLog {
    /// It is the same, or was cut, or nobody can tell.
    Whole,
    /// Its end is missing.
    Shorter { length: u64 },
    /// It is something else.
    Damaged,
}

/// The line behind a log that is not what the runner sent.
const DAMAGED: &[u8] = b"\nWARNING: this log is damaged: its checksum is not that of the runner.\n";

/// Compares the stored log with the length and the checksum that the runner reports.
fn compare_log(app: &App, build: &Build, report: &Report) -> Result<StoredLog, Error> {
    let (None, Some(expected)) = (&report.trace, report.length) else {
        return Ok(StoredLog::Whole);
    };
    let length = app.build_files.trace_size(build.project, build.id)?;
    if is_cut(length) {
        return Ok(StoredLog::Whole);
    }
    if length < expected {
        return Ok(StoredLog::Shorter { length });
    }
    let Some(checksum) = &report.checksum else { return Ok(StoredLog::Whole) };
    let log = app.build_files.open_trace(build.project, build.id)?;
    let found = match log {
        Some(log) => checksum::of(log)?,
        None => checksum::of_nothing(),
    };
    Ok(if length == expected && found == *checksum { StoredLog::Whole } else { StoredLog::Damaged })
}

/// Replaces the log of a build.
fn store_log(app: &App, build: &Build, trace: &str) -> Result<(), Error> {
    let trace = cut_piece(0, trace.as_bytes());
    app.build_files.replace_trace(build.project, build.id, &trace)?;
    // No lock was held, so the build may have been erased or deleted meanwhile. A later erasure removes the log itself.
    let found = app.store.read::<_, Error>(|tx| Ok(tx.builds().find(build.id)?))?;
    if found.is_none_or(|build| build.erased_at.is_some()) {
        app.build_files.remove_trace(build.project, build.id)?;
    }
    Ok(())
}

/// Stores that the runner of a build reported.
fn record_contact(app: &App, tx: &mut dyn Tx, call: Update<'_>) -> Result<(), Error> {
    let now = app.clock.now();
    let (mut progress, build) = lock_reported(app, tx, call)?;
    if let Some(build) = progress.build_mut(build.id) {
        build.updated_at = now;
    }
    progress.store(tx, now)?;
    Ok(())
}

/// Ends a build, and records its deployment if it succeeded.
fn end(
    app: &App,
    tx: &mut dyn Tx,
    call: Update<'_>,
    (transition, log): (Transition, StoredLog),
    coverage: Option<f64>,
) -> Result<(), Error> {
    let now = app.clock.now();
    // Only the runner of the build waits for the lock of the project.
    let found = find_reported(app, tx, call)?;
    let target =
        if transition == Transition::Succeed { deployment::lock_target(tx, &found)? } else { None };
    let (mut progress, build) = lock_reported(app, tx, call)?;
    if log == StoredLog::Damaged {
        let length = app.build_files.trace_size(build.project, build.id)?;
        app.build_files.append_trace(build.project, build.id, length, DAMAGED)?;
    }
    progress.step(build.id, transition, now);
    if let Some(build) = progress.build_mut(build.id) {
        build.coverage = coverage.or(build.coverage);
    }
    let stored = &progress.store(tx, now)?;
    match &target {
        Some(target) => {
            let succeeded = Succeeded { stored, build: build.id, target, version: call.version };
            deployment::record(app, tx, &succeeded, now)
        }
        None => Ok(()),
    }
}

/// Returns the build of a call, if the calling runner runs it. Locks nothing.
fn find_reported(app: &App, tx: &mut dyn Tx, call: Update<'_>) -> Result<Build, Error> {
    let runner = identify_runner(app, tx, call.token)?;
    let is_running =
        |build: &Build| build.status == Status::Running && build.runner == Some(runner.id);
    let build = tx.builds().find(call.build)?.filter(is_running).ok_or(MISSING)?;
    match build.erased_at {
        Some(_) => Err(Error::Forbidden(Some(ForbiddenReason::BuildErased))),
        None => Ok(build),
    }
}

/// Like [`find_reported`], with the pipeline locked, so that no other transaction changes the build.
fn lock_reported(app: &App, tx: &mut dyn Tx, call: Update<'_>) -> Result<(Progress, Build), Error> {
    let found = find_reported(app, tx, call)?;
    let progress = Progress::lock(tx, found.pipeline)?.ok_or(MISSING)?;
    // The build may have ended while the transaction waited for the lock.
    let build = find_reported(app, tx, call)?;
    Ok((progress, build))
}

const MISSING: Error = Error::NotFound(Entity::Record);
