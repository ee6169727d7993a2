//! Work beside the threads that serve connections. The ports are synchronous, so whatever uses them is such work.

use std::io;
use std::sync::Arc;

use actix_web::web;
use hexforge_application::limiter::Limiter;
use hexforge_domain::limiter::Permit;
use tokio::sync::oneshot;

use crate::error::{ApiError, ApiResult};
use crate::meter::Meter;

/// Does short work on a thread made for waiting. The permit is free again when it is done.
pub(crate) async fn short<T: Send + 'static>(
    limiter: &Arc<Limiter>,
    permit: Permit,
    work: impl FnOnce() -> T + Send + 'static,
) -> ApiResult<T> {
    let (limiter, span) = (Arc::clone(limiter), tracing::Span::current());
    // The request is charged to one caller, whichever one its permits are of.
    let payer = Meter::current().map_or(permit.caller().holder(), |meter| meter.account().1);
    let done = web::block(move || {
        let _entered = span.enter();
        let outcome = limiter.answer(payer, work);
        drop(permit);
        outcome
    });
    done.await.map_err(|error| ApiError::internal(&error))
}

/// Does long work and waits for its outcome. The work goes on if nobody waits any more.
pub(crate) async fn run<T: Send + 'static>(
    limiter: &Limiter,
    permit: Permit,
    work: impl FnOnce() -> T + Send + 'static,
) -> ApiResult<T> {
    let (job, outcome) = answered(work);
    finished(limiter.start(permit, job), outcome).await
}

/// Checks a password and waits for the outcome.
pub(crate) async fn sign_in<T: Send + 'static>(
    limiter: &Limiter,
    permit: Permit,
    work: impl FnOnce() -> T + Send + 'static,
) -> ApiResult<T> {
    let (job, outcome) = answered(work);
    finished(limiter.start_sign_in(permit, job), outcome).await
}

/// Makes a job that does the work and sends its outcome to the receiver.
fn answered<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> (impl FnOnce() + Send + 'static, oneshot::Receiver<T>) {
    let ((sender, outcome), span) = (oneshot::channel(), tracing::Span::current());
    (move || drop(sender.send(span.in_scope(work))), outcome)
}

/// Waits for the outcome of a job, if it was started.
async fn finished<T>(started: io::Result<()>, outcome: oneshot::Receiver<T>) -> ApiResult<T> {
    started.map_err(|error| ApiError::internal(&error))?;
    outcome.await.map_err(|error| ApiError::internal(&error))
}
