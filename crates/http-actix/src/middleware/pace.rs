//! Slows down callers who use more than their share of the processors.

use std::time::Duration;

use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{Error, web};
use tokio::time::sleep;

use crate::health;
use crate::known_callers;
use crate::params::Params;
use crate::shared::Shared;
use hexforge_domain::limiter::Caller;
use hexforge_http_edge::client::client_address;
use hexforge_http_edge::meter::Meter;
use hexforge_http_edge::session_cookie;

/// The longest pause of a request.
const LONGEST: Duration = Duration::from_secs(5);

/// The processor time that a request is charged in advance after a pause, so that requests which paused together do not
/// all continue together.
const RESERVED: Duration = Duration::from_millis(1);

/// Delays a request, before anything is read or looked up for it, while its caller uses more than its share and other
/// threads wait for a processor. Health checks and metrics do not pause.
pub async fn pace(
    request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    if let Some(meter) = Meter::current()
        && let Some(shared) = request.app_data::<web::Data<Shared>>()
    {
        let query = Params::of_query(request.request()).unwrap_or_default();
        let caller = match session_cookie::known_user(&shared.edge, request.request()) {
            Some(user) => Caller::of_user(Some(user), client_address(request.request())),
            None => known_callers::caller_of(&shared.edge, request.request(), &query),
        };
        meter.set_holder(caller.holder());
        if !health::is_for_operators(request.path()) {
            pause(&meter).await;
        }
    }
    next.call(request).await
}

async fn pause(meter: &Meter) {
    let (limiter, holder) = meter.account();
    let mut paused = Duration::ZERO;
    while paused < LONGEST
        && let Some(pause) = limiter.pause(holder)
    {
        sleep(pause).await;
        paused += pause;
    }
    if !paused.is_zero() {
        limiter.charge(holder, RESERVED);
    }
}
