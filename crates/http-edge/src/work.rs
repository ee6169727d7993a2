//! Runs work on other threads than those that serve connections. Everything that uses ports needs this, because ports
//! are synchronous.
//!
//! Every use case of every call and page passes through here, each with its own type of work and outcome. The bodies of
//! these functions are compiled once, for erased types: otherwise each of several hundred handlers has its own copy of
//! the thread pool's machinery.

use std::any::Any;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use actix_web::web;
use hexforge_application::error::Error;
use hexforge_application::limiter::Limiter;
use hexforge_domain::limiter::{Caller, Permit};
use tokio::sync::oneshot;

use crate::meter::Meter;
use crate::permit;

/// The outcome of work whose type only the caller knows.
pub type Outcome = Box<dyn Any + Send>;

/// Hides the type of an outcome.
pub fn erase<T: Send + 'static>(outcome: T) -> Outcome {
    Box::new(outcome)
}

/// Returns an outcome that [`erase`] hid, for a caller that knows its type.
/// # Panics
/// The outcome has another type.
#[must_use]
pub fn restore<T: 'static>(outcome: Outcome) -> T {
    *outcome.downcast().expect("work and caller agree on the type of the outcome")
}

/// Work whose types are erased.
type Work = Box<dyn FnOnce() -> Outcome + Send>;

fn erased<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Work {
    Box::new(move || erase(work()))
}

/// Runs short work on the blocking thread pool. The permit is returned when the work is done, also if the future was
/// dropped before.
pub async fn run_short<T: Send + 'static>(
    limiter: &Arc<Limiter>,
    permit: Permit,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    run_short_erased(limiter, permit, erased(work)).await.map(restore)
}

async fn run_short_erased(
    limiter: &Arc<Limiter>,
    permit: Permit,
    work: Work,
) -> Result<Outcome, Error> {
    let (limiter, span) = (Arc::clone(limiter), tracing::Span::current());
    // All processor time of a request is charged to one caller, even if a permit belongs to another.
    let payer = Meter::current().map_or(permit.caller().holder(), |meter| meter.account().1);
    let done = web::block(move || {
        let _entered = span.enter();
        // The permit is part of the result, so that the connection's thread returns it: the next call often belongs to
        // the same thread, which then does not have to be woken a second time.
        (limiter.run_call(payer, work), permit)
    });
    let (outcome, _permit) = done.await.map_err(internal)?;
    Ok(outcome)
}

/// Runs long work and waits for its outcome. The work continues if the future is dropped.
pub async fn run_long<T: Send + 'static>(
    limiter: &Limiter,
    permit: Permit,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    run_long_erased(limiter, permit, erased(work)).await.map(restore)
}

async fn run_long_erased(limiter: &Limiter, permit: Permit, work: Work) -> Result<Outcome, Error> {
    let (job, outcome) = job_with_outcome(work);
    wait_for_outcome(limiter.start(permit, job), outcome).await
}

/// How long a search may continue.
const TIME_FOR_SEARCH: Duration = Duration::from_secs(10);

/// Continues a use case that has to search a history, with a permit for searches. Each attempt continues the search
/// of the one before.
pub async fn run_search<T: Send + 'static, E: From<Error> + Send + 'static>(
    limiter: &Limiter,
    client: Option<IpAddr>,
    is_unfinished: fn(&E) -> bool,
    attempt: impl Fn() -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    let permit = permit::wait(&limiter.searches, Caller::anonymous(client)).await?;
    let work = move || {
        let until = Instant::now() + TIME_FOR_SEARCH;
        loop {
            match attempt() {
                Err(error) if is_unfinished(&error) && Instant::now() < until => (),
                outcome => return outcome,
            }
        }
    };
    run_long(limiter, permit, work).await?
}

/// Runs the check of a password and waits for its outcome.
pub async fn run_sign_in<T: Send + 'static>(
    limiter: &Limiter,
    permit: Permit,
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Error> {
    let (job, outcome) = job_with_outcome(erased(work));
    wait_for_outcome(limiter.start_sign_in(permit, job), outcome).await.map(restore)
}

/// Creates a job that runs the work and sends its outcome to the receiver.
fn job_with_outcome(work: Work) -> (impl FnOnce() + Send + 'static, oneshot::Receiver<Outcome>) {
    let ((sender, outcome), span) = (oneshot::channel(), tracing::Span::current());
    (move || drop(sender.send(span.in_scope(work))), outcome)
}

/// Waits for the outcome of a job, if it was started.
async fn wait_for_outcome(
    started: io::Result<()>,
    outcome: oneshot::Receiver<Outcome>,
) -> Result<Outcome, Error> {
    started.map_err(internal)?;
    outcome.await.map_err(internal)
}

fn internal(cause: impl std::fmt::Display) -> Error {
    Error::Internal(cause.to_string())
}
