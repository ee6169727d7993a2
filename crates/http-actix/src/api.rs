//! One call: its parameters, its caller, and the one bridge from here to the use cases.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::web::Bytes;
use actix_web::{FromRequest, HttpRequest, web};
use hexforge_application::app::App;
use hexforge_application::basic as app_basic;
use hexforge_application::error::Error;
use hexforge_application::session::Attempt;
use hexforge_application::sign_in::{self, Credentials};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::text::Secret;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

use crate::conditional::Known;
use crate::dialect::Dialect;
use crate::entities::links::Links;
use crate::error::{ApiError, ApiResult};
use crate::lane::{Place, Who};
use crate::limits::Usage;
use crate::params::{FilePart, Params, WantedFile, basic, credentials, read_whole, too_slow};
use crate::shared::Shared;

/// How long a caller may take to send its body. Git data and uploaded files have their own limits.
const TIME_FOR_BODY: Duration = Duration::from_secs(60);

/// How long a call that changes things waits for its turn.
const TIME_FOR_TURN: Duration = Duration::from_secs(30);

/// How often a use case is tried that others are in the way of.
const TRIES: u32 = 4;

/// A call as handlers get it: parsed, not yet signed in.
pub struct Api {
    shared: web::Data<Shared>,
    call: Arc<Call>,
}

/// What is known of a call before anything is looked up.
struct Call {
    params: Params,
    credentials: Credentials,
    basic: Option<(String, Secret)>,
    path: String,
    peer: Option<IpAddr>,
    known: Known,
    changes_things: bool,
}

impl FromRequest for Api {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move { Ok(read(&request, payload, |_| None).await?.0) })
    }
}

/// A call that takes a file, in the parameter `file`. All other parameters, tokens among them, have to
/// come before the file, which is not read yet.
pub struct ApiWithFile(pub Api, pub Option<FilePart>);

impl FromRequest for ApiWithFile {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let wanted = |shared: &Shared| {
                Some(WantedFile { field: "file", max: shared.settings.max_upload })
            };
            let (api, file) = read(&request, payload, wanted).await?;
            Ok(ApiWithFile(api, file))
        })
    }
}

/// A call that brings the artifacts of a build, in the parameter `file`; otherwise like [`ApiWithFile`].
pub struct ApiWithArtifacts(pub Api, pub Option<FilePart>);

impl FromRequest for ApiWithArtifacts {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let wanted = |shared: &Shared| {
                Some(WantedFile { field: "file", max: shared.settings.max_artifacts })
            };
            let (api, file) = read(&request, payload, wanted).await?;
            Ok(ApiWithArtifacts(api, file))
        })
    }
}

/// A call whose body is no parameters but bytes of whatever type, of bounded length.
pub struct ApiWithBytes(pub Api, pub Bytes);

impl FromRequest for ApiWithBytes {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let shared = shared(&request).await?;
            let params = Params::of_query(&request)?;
            let bytes = read_whole(payload, shared.settings.max_body);
            let bytes = timeout(TIME_FOR_BODY, bytes).await.map_err(|_| too_slow())??;
            Ok(ApiWithBytes(Api { call: call(&request, params), shared }, bytes))
        })
    }
}

async fn shared(request: &HttpRequest) -> ApiResult<web::Data<Shared>> {
    let shared = web::Data::<Shared>::extract(request).await;
    shared.map_err(|_| ApiError::internal(&"the server is not put together"))
}

fn call(request: &HttpRequest, params: Params) -> Arc<Call> {
    Arc::new(Call {
        credentials: credentials(request, &params),
        basic: basic(request),
        path: request.path().to_owned(),
        peer: request.peer_addr().map(|address| address.ip()),
        known: Known::of(request.headers()),
        changes_things: !request.method().is_safe(),
        params,
    })
}

async fn read(
    request: &HttpRequest,
    payload: Payload,
    wanted: fn(&Shared) -> Option<WantedFile>,
) -> ApiResult<(Api, Option<FilePart>)> {
    let shared = shared(request).await?;
    let params = Params::read(request, payload, shared.settings.max_body, wanted(&shared));
    let (params, file) = timeout(TIME_FOR_BODY, params).await.map_err(|_| too_slow())??;
    Ok((Api { call: call(request, params), shared }, file))
}

impl Api {
    /// Signs the caller in, which has to be somebody, then runs one use case.
    pub async fn run<T: Send + 'static>(
        &self,
        use_case: impl Fn(&App, Actor, &Params) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let permit = self.turn(&self.shared.writers).await?;
        let usage = self.shared.usage.clone();
        self.run_blocking(permit, move |app, call| {
            match sign_in::identify(app, &call.credentials)? {
                Actor::Anonymous => Err(Error::Unauthenticated.into()),
                actor => {
                    if let Some(usage) = &usage {
                        call.remember_token(app, usage);
                    }
                    use_case(app, actor, &call.params)
                }
            }
        })
        .await
    }

    /// Runs a use case that asks by itself who calls: a runner, or whoever has the token of a build.
    pub async fn run_for_runner<T: Send + 'static>(
        &self,
        use_case: impl Fn(&App, &Params) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let permit = self.turn(&self.shared.writers).await?;
        self.run_blocking(permit, move |app, call| use_case(app, &call.params)).await
    }

    /// Runs a sign-in, which needs no caller. These have a lane of their own: passwords are slow, and
    /// whoever floods us with them must not hold up those who are known.
    pub async fn run_sign_in<T: Send + 'static>(
        &self,
        use_case: impl Fn(&App, &Params) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let permit = self.turn(&self.shared.sign_ins).await?;
        self.run_blocking(permit, move |app, call| use_case(app, &call.params)).await
    }

    /// Runs a use case that reads, for whoever asks: the holder of a token, of a name with its token or
    /// password, or nobody. There is no sudo here. What the caller may not see is not found.
    pub async fn run_for_anyone<T: Send + 'static>(
        &self,
        use_case: impl Fn(&App, Actor) -> Result<T, Error> + Clone + Send + 'static,
    ) -> ApiResult<T> {
        let first = use_case.clone();
        let found = self.run_blocking(None, move |app, call| {
            let actor = call.reader(app)?;
            match (first(app, actor), actor, &call.basic) {
                // The only road on which a password can help, and the same one for what is missing.
                (Err(Error::NotFound(_)), Actor::Anonymous, Some(_)) => Ok(None),
                (outcome, _, _) => Ok(Some(outcome?)),
            }
        });
        if let Some(found) = found.await? {
            return Ok(found);
        }
        let permit = Some(turn_in(&self.shared.sign_ins).await?);
        self.run_blocking(permit, move |app, call| {
            let actor = match call.attempt() {
                Some(attempt) => app_basic::by_password(app, &attempt)?,
                None => Actor::Anonymous,
            };
            Ok(use_case(app, actor)?)
        })
        .await
    }

    /// Runs a step of a use case that takes several, for a caller who was let in before. It is not tried
    /// again.
    pub async fn run_step<T: Send + 'static>(
        &self,
        step: impl FnOnce(&App) -> Result<T, Error> + Send + 'static,
    ) -> ApiResult<T> {
        let permit = self.turn(&self.shared.writers).await?;
        self.block(permit, move |app, _| Ok(step(app)?)).await
    }

    /// Waits until one more large answer may be written for this caller.
    pub(crate) async fn turn_to_stream(&self, actor: Actor) -> ApiResult<Place> {
        let place = self.shared.streams.enter(Who::of(actor, self.call.peer)).await;
        place.ok_or_else(|| ApiError::from(Error::Store(StoreError::Busy)))
    }

    /// Calls that change things take turns.
    async fn turn(&self, lane: &Arc<Semaphore>) -> ApiResult<Option<OwnedSemaphorePermit>> {
        if self.call.changes_things { turn_in(lane).await.map(Some) } else { Ok(None) }
    }

    /// A use case is one transaction; one that others were in the way of kept nothing and is tried
    /// again.
    async fn run_blocking<T: Send + 'static>(
        &self,
        permit: Option<OwnedSemaphorePermit>,
        work: impl Fn(&App, &Call) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        self.block(permit, move |app, call| {
            let mut tries = 1;
            loop {
                match work(app, call) {
                    Err(error) if error.is_busy() && tries < TRIES => tries += 1,
                    outcome => return outcome,
                }
            }
        })
        .await
    }

    /// The ports are synchronous: what uses them runs on threads made for waiting.
    async fn block<T: Send + 'static>(
        &self,
        permit: Option<OwnedSemaphorePermit>,
        work: impl FnOnce(&App, &Call) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let (app, call) = (Arc::clone(&self.shared.app), Arc::clone(&self.call));
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

    /// Which states the caller knows.
    pub fn known(&self) -> Known {
        self.call.known.clone()
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

/// Waits for a turn.
pub(crate) async fn turn_in(lane: &Arc<Semaphore>) -> ApiResult<OwnedSemaphorePermit> {
    let permit = timeout(TIME_FOR_TURN, Arc::clone(lane).acquire_owned()).await;
    let permit = permit.map_err(|_| ApiError::from(Error::Store(StoreError::Busy)))?;
    permit.map_err(|error| ApiError::internal(&error))
}

impl Call {
    /// Who reads, as far as tokens tell it.
    fn reader(&self, app: &App) -> Result<Actor, Error> {
        let credentials = Credentials { sudo: None, ..self.credentials.clone() };
        let actor = match sign_in::identify(app, &credentials) {
            // Once good is as bad as never: outside the interface a token shows somebody or nobody.
            Err(Error::StaleToken(_)) => Actor::Anonymous,
            outcome => outcome?,
        };
        match (actor, self.attempt()) {
            (Actor::Anonymous, Some(attempt)) => app_basic::by_token(app, &attempt),
            (actor, _) => Ok(actor),
        }
    }

    /// The token has signed somebody in. Where two were shown it is not known which.
    fn remember_token(&self, app: &App, usage: &Usage) {
        let Credentials { private_token, bearer_token, .. } = &self.credentials;
        if let (Some(token), None) | (None, Some(token)) = (private_token, bearer_token) {
            usage.remember(app.secrets.digest(token), app.clock.now());
        }
    }

    fn attempt(&self) -> Option<Attempt> {
        let (login, password) = self.basic.clone()?;
        Some(Attempt { login, password, address: self.peer })
    }
}
