//! Rate limits.

use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::middleware::Next;
use actix_web::{Error, HttpRequest, ResponseError, web};
use hexforge_domain::token::TokenHash;

use crate::health;
use crate::limits::LimitState;
use crate::params::{Params, basic, credentials};
use crate::routes;
use crate::shared::Shared;
use hexforge_http_edge::client::client_address;
use hexforge_http_edge::session_cookie;

/// Refuses requests above the rate limit, before anything is read or looked up for them. All other responses show the
/// state of the limit in headers. Health checks and metrics are not counted.
pub async fn limit(
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    let Some(state) = count_request(request.request()) else {
        return Ok(next.call(request).await?.map_into_boxed_body());
    };
    let mut response = if state.is_over {
        request.into_response(state.refusal().error_response())
    } else {
        next.call(request).await?.map_into_boxed_body()
    };
    state.put_on(response.headers_mut());
    Ok(response)
}

/// Counts a request; `None` if it is not limited.
fn count_request(request: &HttpRequest) -> Option<LimitState> {
    let shared = request.app_data::<web::Data<Shared>>()?;
    let usage = shared.usage.as_ref()?;
    // The calls of runners count for their tokens, which are often in the body: `Api::run_for_runner` counts them.
    let path = request.path();
    if health::is_for_operators(path) || path.starts_with(routes::RUNNERS) {
        return None;
    }
    let (mut tokens, now) = (tokens_of(request, shared), shared.edge.app.clock.now());
    if let Some(user) = session_cookie::known_user(&shared.edge, request) {
        // All sessions of a user share one counter.
        let counter = shared.edge.app.secrets.digest(&format!("sessions of user {user}"));
        usage.remember(counter, now);
        tokens.push(counter);
    }
    usage.count(&tokens, client_address(request), now)
}

/// The tokens in headers and in the query. The body is not read for this.
fn tokens_of(request: &HttpRequest, shared: &Shared) -> Vec<TokenHash> {
    let params = Params::of_query(request).unwrap_or_default();
    let credentials = credentials(request, &params);
    let password = basic(request).map(|(_, password)| password.reveal().to_owned());
    let tokens = [credentials.private_token, credentials.bearer_token, password];
    tokens.into_iter().flatten().map(|token| shared.edge.app.secrets.digest(&token)).collect()
}
