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
use tokio::time::timeout;

use crate::dialect::Dialect;
use crate::entities::links::Links;
use crate::error::{ApiError, ApiResult};
use crate::params::{Params, credentials};
use crate::shared::Shared;

/// How long a caller may take to send its body. Git data and uploads have their own limits.
const TIME_FOR_BODY: Duration = Duration::from_secs(60);

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
        use_case: impl FnOnce(&App, Actor, &Params) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        self.run_blocking(|app, call| match sign_in::identify(app, &call.credentials)? {
            Actor::Anonymous => Err(Error::Unauthenticated.into()),
            actor => use_case(app, actor, &call.params),
        })
        .await
    }

    /// Runs a use case that needs no caller.
    pub async fn run_for_anyone<T: Send + 'static>(
        &self,
        use_case: impl FnOnce(&App, &Params) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        self.run_blocking(|app, call| use_case(app, &call.params)).await
    }

    /// The ports are synchronous: use cases run on threads made for waiting.
    async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl FnOnce(&App, &Call) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let (app, call) = (Arc::clone(&self.shared.app), Arc::clone(&self.call));
        let permit = if call.changes_things {
            let writers = Arc::clone(&self.shared.writers);
            Some(writers.acquire_owned().await.map_err(|error| ApiError::internal(&error))?)
        } else {
            None
        };
        let span = tracing::Span::current();
        let outcome = web::block(move || {
            let _permit = permit;
            span.in_scope(|| work(&app, &call))
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
