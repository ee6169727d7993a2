//! Assigns builds to runners that poll for them.
//!
//! Most polls find nothing and cost two or three small reads; each runner polls every few seconds. Two runners never
//! get the same build, because the assignment locks the pipeline and then checks that the build is still pending.

use hexforge_domain::Timestamp;
use hexforge_domain::build::Build;
use hexforge_domain::ci::status::{Status, Transition};
use hexforge_domain::id::BuildId;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::runner::{Runner, RunnerInfo};

use super::assignment::{self, Assignment};
use super::{CONTACT_INTERVAL, identify_runner};
use crate::app::App;
use crate::error::{Entity, Error};
use crate::pipeline::progress::Progress;

/// The number of candidate builds that are read, to find one whose pipeline is not locked.
const CANDIDATES: u32 = 8;

/// The number of retries after another runner took the build. The runner polls again soon, so no build is lost.
const TRIES: usize = 8;

/// Assigns a build to the runner with this token and sets it to running. Returns `None` when there is no build for it.
pub fn request(
    app: &App,
    token: &str,
    info: Option<RunnerInfo>,
) -> Result<Option<Assignment>, Error> {
    let now = app.clock.now();
    let (runner, candidates) = app.store.read(|tx| {
        let runner = identify_runner(app, tx, token)?;
        if !runner.active {
            return Err(Error::NotFound(Entity::Unnamed));
        }
        let candidates = tx.builds().next_for(&runner, CANDIDATES)?;
        Ok((runner, candidates))
    })?;
    if let Some(info) = &info {
        info.check()?;
    }
    store_contact(app, &runner, info, now)?;
    if candidates.is_empty() {
        return Ok(None);
    }
    let taker = BuildTaker { app, runner: &runner, now };
    let first = app.store.write(|tx| taker.take_unlocked(tx, &candidates))?;
    let taken = retry_while_late(first, || app.store.write(|tx| taker.take_best(tx)))?;
    Ok(taken.map(|assignment| *assignment))
}

enum Outcome<T = Box<Assignment>> {
    Taken(T),
    /// Other runners took the builds first.
    TooLate,
    Nothing,
}

/// Tries again while other runners were faster, at most [`TRIES`] times. The outcome of the last try counts: its build
/// is committed as running and must reach the runner.
fn retry_while_late<T, E>(
    mut outcome: Outcome<T>,
    mut retry: impl FnMut() -> Result<Outcome<T>, E>,
) -> Result<Option<T>, E> {
    for _ in 0..TRIES {
        if !matches!(outcome, Outcome::TooLate) {
            break;
        }
        outcome = retry()?;
    }
    Ok(match outcome {
        Outcome::Taken(taken) => Some(taken),
        Outcome::TooLate | Outcome::Nothing => None,
    })
}

/// Stores the time of contact and the info of a runner, at most once per [`CONTACT_INTERVAL`] unless the info changed.
/// What a runner does not report stays as it was.
fn store_contact(
    app: &App,
    runner: &Runner,
    info: Option<RunnerInfo>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let is_recent = runner.contacted_at.is_some_and(|then| now - then < CONTACT_INTERVAL);
    let info = info.filter(|info| info.clone().or(&runner.info) != runner.info);
    if is_recent && info.is_none() {
        return Ok(());
    }
    app.store.write(|tx| {
        let Some(mut runner) = tx.runners().lock(runner.id)? else { return Ok(()) };
        runner.contacted_at = Some(now);
        runner.info = info.unwrap_or_default().or(&runner.info);
        tx.runners().update(&runner)
    })
}

/// A runner that takes a build.
struct BuildTaker<'a> {
    app: &'a App,
    runner: &'a Runner,
    now: Timestamp,
}

impl BuildTaker<'_> {
    /// Takes the first build whose pipeline is not locked.
    fn take_unlocked(&self, tx: &mut dyn Tx, candidates: &[Build]) -> Result<Outcome, Error> {
        for candidate in candidates {
            if let Some(progress) = Progress::try_lock(tx, candidate.pipeline)? {
                return self.take(tx, progress, candidate.id);
            }
        }
        Ok(Outcome::TooLate)
    }

    /// Waits for the lock on the pipeline of the best build, and then takes the best pending build of that pipeline.
    fn take_best(&self, tx: &mut dyn Tx) -> Result<Outcome, Error> {
        let Some(best) = tx.builds().next_for(self.runner, 1)?.pop() else {
            return Ok(Outcome::Nothing);
        };
        let Some(progress) = Progress::lock(tx, best.pipeline)? else {
            return Ok(Outcome::TooLate);
        };
        let now_best = tx.builds().next_for(self.runner, CANDIDATES)?;
        match now_best.into_iter().find(|build| build.pipeline == best.pipeline) {
            Some(build) => self.take(tx, progress, build.id),
            None => Ok(Outcome::TooLate),
        }
    }

    fn take(&self, tx: &mut dyn Tx, mut progress: Progress, id: BuildId) -> Result<Outcome, Error> {
        // The runner may have been removed or paused meanwhile.
        let runner = tx.runners().find(self.runner.id)?.filter(|runner| runner.active);
        let Some(runner) = runner else { return Ok(Outcome::Nothing) };
        let waits = progress.build(id).is_some_and(|build| build.status == Status::Pending);
        if !waits || !progress.step(id, Transition::Run, self.now) {
            return Ok(Outcome::TooLate);
        }
        if let Some(build) = progress.build_mut(id) {
            build.runner = Some(runner.id);
        }
        let done = progress.store(tx, self.now)?;
        let assignment = assignment::load(self.app, tx, &done.pipeline, &done.builds, id)?;
        Ok(Outcome::Taken(Box::new(assignment)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_of_the_last_try_reaches_the_runner() {
        for (late, expected) in [(0, true), (1, true), (TRIES, true), (TRIES + 1, false)] {
            let mut outcomes = (0..late)
                .map(|_| Outcome::TooLate)
                .chain([Outcome::Taken(()), Outcome::Nothing])
                .collect::<Vec<_>>()
                .into_iter();
            let mut next = || outcomes.next().ok_or("more tries than outcomes");
            let first = next().expect("there is a first outcome");
            let taken = retry_while_late(first, next).expect("there are outcomes enough");
            assert_eq!(taken.is_some(), expected, "{late} runners were faster");
        }
    }
}
