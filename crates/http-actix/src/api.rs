//! One call: its parameters, its caller, and the one bridge from here to the use cases.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use actix_web::{FromRequest, HttpRequest, web};
use hexforge_application::app::App;
use hexforge_application::error::Error;
use hexforge_application::sign_in::{self, Credentials};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::StoreError;
use tokio::sync::Semaphore;
use tokio::time::timeout;

use crate::dialect::Dialect;
use crate::entities::links::Links;
use crate::error::{ApiError, ApiResult};
use crate::params::{Params, credentials};
use crate::shared::Shared;

/// How long a caller may take to send its body. Git data and uploads have their own limits.
const TIME_FOR_BODY: Duration = Duration::from_secs(60);

/// How long a call that changes things waits for its turn.
const TIME_FOR_TURN: Duration = Duration::from_secs(30);

/// How often a use case is tried that others are in the way of.
const TRIES: u32 = 4;

fn too_slow() -> ApiError {
    ApiError::message(StatusCode::REQUEST_TIMEOUT, "408 Request Timeout")
}

/// A call as handlers get it: parsed, not yet signed in.
pub struct Api {
    shared: web::Data<Shared>,
    call: Arc<Call>,
}

/// What is known of a call before anything is looked up.
struct Call {
    params: Params,
    credentials: Credentials,
    path: String,
    peer: Option<IpAddr>,
    changes_things: bool,
}

impl FromRequest for Api {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let shared = web::Data::<Shared>::extract(&request)
                .await
                .map_err(|_| ApiError::internal(&"the server is not put together"))?;
            let params = Params::read(&request, payload, shared.settings.max_body);
            let params = timeout(TIME_FOR_BODY, params).await.map_err(|_| too_slow())??;
            let call = Call {
                credentials: credentials(&request, &params),
                path: request.path().to_owned(),
                peer: request.peer_addr().map(|address| address.ip()),
                changes_things: !request.method().is_safe(),
                params,
            };
            Ok(Api { shared, call: Arc::new(call) })
        })
    }
}

impl Api {
    /// Signs the caller in, which has to be somebody, then runs one use case.
    pub async fn run<T: Send + 'static>(
        &self,
        use_case: impl Fn(&App, Actor, &Params) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        self.run_blocking(&self.shared.writers, move |app, call| {
            match sign_in::identify(app, &call.credentials)? {
                Actor::Anonymous => Err(Error::Unauthenticated.into()),
                actor => use_case(app, actor, &call.params),
            }
        })
        .await
    }

    /// Runs a sign-in, which needs no caller. These have a lane of their own: passwords are slow, and
    /// whoever floods us with them must not hold up those who are known.
    pub async fn run_sign_in<T: Send + 'static>(
        &self,
        use_case: impl Fn(&App, &Params) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        self.run_blocking(&self.shared.sign_ins, move |app, call| use_case(app, &call.params)).await
    }

    /// The ports are synchronous: use cases run on threads made for waiting. A use case is one
    /// transaction; one that others were in the way of kept nothing and is tried again.
    async fn run_blocking<T: Send + 'static>(
        &self,
        lane: &Arc<Semaphore>,
        work: impl Fn(&App, &Call) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let (app, call) = (Arc::clone(&self.shared.app), Arc::clone(&self.call));
        let permit = if call.changes_things {
            let permit = timeout(TIME_FOR_TURN, Arc::clone(lane).acquire_owned());
            let permit =
                permit.await.map_err(|_| ApiError::from(Error::Store(StoreError::Busy)))?;
            Some(permit.map_err(|error| ApiError::internal(&error))?)
        } else {
            None
        };
        let span = tracing::Span::current();
        let outcome = web::block(move || {
            let _permit = permit;
            span.in_scope(|| {
                let mut tries = 1;
                loop {
                    match work(&app, &call) {
                        Err(error) if error.is_busy() && tries < TRIES => tries += 1,
                        outcome => return outcome,
                    }
                }
            })
        });
        outcome.await.map_err(|error| ApiError::internal(&error))?
    }

    /// The parameters of the call.
    pub fn params(&self) -> &Params {
        &self.call.params
    }

    /// The path of the call, as it was asked for.
    pub fn path(&self) -> &str {
        &self.call.path
    }

    /// From where the call comes.
    pub fn peer(&self) -> Option<IpAddr> {
        self.call.peer
    }

    /// In which dialect to answer.
    pub fn dialect(&self) -> Dialect {
        self.shared.settings.dialect
    }

    /// How to address things in answers.
    pub fn links(&self) -> &Links {
        &self.shared.links
    }

    /// What the program calls itself.
    pub fn revision(&self) -> &str {
        &self.shared.settings.revision
    }
}
