//! One call: its parameters, its caller, and the only bridge from async handlers to the synchronous use cases.

use std::collections::HashMap;
use std::future::Future;
use std::marker::PhantomData;
use std::net::IpAddr;
use std::ops::Deref;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use actix_web::dev::Payload;
use actix_web::{FromRequest, HttpRequest, web};
use hexforge_application::app::App;
use hexforge_application::basic_auth;
use hexforge_application::error::Error;
use hexforge_application::limiter::Limiter;
use hexforge_application::retry;
use hexforge_application::session::Attempt;
use hexforge_application::sign_in::{self, Credentials};
use hexforge_domain::id::UserId;
use hexforge_domain::limiter::{Caller, Permit, PermitPool};
use hexforge_domain::policy::Actor;
use hexforge_domain::text::Secret;
use percent_encoding::percent_decode_str;
use tokio::time::timeout;

use crate::dialect::Dialect;
use crate::error::{ApiError, ApiResult};
use crate::known_callers;
use crate::limits::Usage;
use crate::params::{
    BodyStream, BodyUse, FilePart, MaxSize, Parameters, Params, SizeLimit, WantedFile, basic,
    credentials, too_slow,
};
use crate::shared::Shared;
use hexforge_http_edge::client::client_address;
use hexforge_http_edge::conditional::IfNoneMatch;
use hexforge_http_edge::links::Links;
use hexforge_http_edge::permit;
use hexforge_http_edge::work;
use hexforge_http_edge::work::{Outcome, erase, restore};

/// Timeout for the request body. Git data and uploaded files have their own limits.
const TIME_FOR_BODY: Duration = Duration::from_secs(60);

/// A call as handlers get it, with the type of its parameters: parsed, but the caller is not signed in and the
/// parameters are not read.
pub struct Api<P = ()> {
    request: ApiRequest,
    parameters: PhantomData<fn() -> P>,
}

/// The part of a call that does not depend on its parameters.
pub struct ApiRequest {
    shared: web::Data<Shared>,
    call: Arc<Call>,
}

/// The parsed request, before any look-up.
struct Call {
    params: Params,
    in_path: HashMap<String, String>,
    dialect: Dialect,
    credentials: Credentials,
    basic: Option<(String, Secret)>,
    path: String,
    peer: Option<IpAddr>,
    if_none_match: IfNoneMatch,
    changes_things: bool,
}

impl<P> Deref for Api<P> {
    type Target = ApiRequest;

    fn deref(&self) -> &ApiRequest {
        &self.request
    }
}

impl<P> FromRequest for Api<P> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move { Ok(read(&request, payload, |_| BodyUse::default()).await?.0) })
    }
}

/// A GET whose parameters may come as a form: a client sends them so.
pub struct ApiWithForm<P = ()>(pub Api<P>);

impl<P> FromRequest for ApiWithForm<P> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let body = |_: &Shared| BodyUse { of_get: true, ..BodyUse::default() };
            Ok(Self(read(&request, payload, body).await?.0))
        })
    }
}

/// A call that takes a file, in the parameter `file`. The file is not read yet, so all other parameters, tokens among
/// them, have to come before it. The artifacts of a build have their own size limit.
pub struct ApiWithFile<P = (), const ARTIFACTS: bool = false>(pub Api<P>, pub Option<FilePart>);

/// Like [`ApiWithFile`], for the artifacts of a build.
pub type ApiWithArtifacts<P = ()> = ApiWithFile<P, true>;

impl<P, const ARTIFACTS: bool> FromRequest for ApiWithFile<P, ARTIFACTS> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let (api, file) = read(&request, payload, |Shared { edge, .. }| {
                let limit = if ARTIFACTS { SizeLimit::Artifacts } else { SizeLimit::Attachment };
                let settings = Arc::clone(&edge.app.application_settings);
                let max = MaxSize { limit, settings };
                let file = WantedFile { field: "file", max, transfer: edge.limiter.transfer };
                BodyUse { file: Some(file), ..BodyUse::default() }
            })
            .await?;
            Ok(Self(api, file))
        })
    }
}

/// A call whose body is not read yet. The handler reads it block by block, as long as the client is fast enough.
pub struct ApiWithStream<P = ()>(pub Api<P>, pub BodyStream);

impl<P> FromRequest for ApiWithStream<P> {
    type Error = ApiError;
    type Future = Pin<Box<dyn Future<Output = Result<Self, ApiError>>>>;

    fn from_request(request: &HttpRequest, payload: &mut Payload) -> Self::Future {
        let (request, payload) = (request.clone(), payload.take());
        Box::pin(async move {
            let shared = shared_of(&request).await?;
            let params = Params::of_query(&request)?;
            let body = BodyStream::new(payload, shared.edge.limiter.transfer);
            Ok(Self(Api::new(&request, shared, params), body))
        })
    }
}

async fn shared_of(request: &HttpRequest) -> ApiResult<web::Data<Shared>> {
    let shared = web::Data::<Shared>::extract(request).await;
    shared.map_err(|_| ApiError::internal(&"the shared state of the server is missing"))
}

async fn read<P>(
    request: &HttpRequest,
    payload: Payload,
    body: fn(&Shared) -> BodyUse,
) -> ApiResult<(Api<P>, Option<FilePart>)> {
    let shared = shared_of(request).await?;
    let params = Params::read(request, payload, &shared, body(&shared));
    let (params, file) = timeout(TIME_FOR_BODY, params).await.map_err(|_| too_slow())??;
    Ok((Api::new(request, shared, params), file))
}

impl<P> Api<P> {
    fn new(request: &HttpRequest, shared: web::Data<Shared>, params: Params) -> Self {
        let decoded = |text| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let in_path = request.match_info().iter();
        let call = Call {
            credentials: credentials(request, &params),
            basic: basic(request),
            path: request.path().to_owned(),
            peer: client_address(request),
            if_none_match: IfNoneMatch::of(request.headers()),
            changes_things: !request.method().is_safe(),
            in_path: in_path.map(|(name, text)| (name.to_owned(), decoded(text))).collect(),
            dialect: shared.settings.dialect,
            params,
        };
        let request = ApiRequest { shared, call: Arc::new(call) };
        Self { request, parameters: PhantomData }
    }
}

impl<P: Parameters + 'static> Api<P> {
    /// Signs the caller in, reads the parameters and runs one use case. Anonymous callers are refused.
    pub async fn run<T: Send + 'static, E>(
        &self,
        use_case: impl Fn(&App, Actor, P) -> Result<T, E> + Send + 'static,
    ) -> ApiResult<T>
    where
        ApiError: From<E>,
    {
        self.run_unread(move |app, actor, unread| Ok(use_case(app, actor, unread.read()?)?)).await
    }

    /// Like [`run`](Self::run), for use cases that check the caller's permission before the parameters are read.
    pub async fn run_unread<T: Send + 'static>(
        &self,
        use_case: impl Fn(&App, Actor, Unread<'_, P>) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let use_case = move |app: &App, actor: Actor, call: &Call| {
            use_case(app, actor, Unread::of(call)).map(erase)
        };
        self.run_signed_in(Box::new(use_case)).await.map(restore)
    }

    /// Runs a use case that checks the caller itself: a runner, or a client with the token of a build. The call counts
    /// for that token once it was accepted, and for the address before.
    pub async fn run_for_runner<T: Send + 'static, E>(
        &self,
        token: String,
        use_case: impl Fn(&App, P) -> Result<T, E> + Send + 'static,
    ) -> ApiResult<T>
    where
        ApiError: From<E>,
    {
        self.count_runner_token(&token)?;
        let permit = self.call_permit().await?;
        let done = self.run_blocking(permit, move |app, call| Ok(use_case(app, call.read()?)?));
        let done = done.await?;
        self.remember_runner_token(&token);
        Ok(done)
    }

    /// Runs a sign-in, which needs no caller. Checking passwords is slow, so sign-ins have their own permits: a flood
    /// of them must not delay other callers.
    pub async fn run_sign_in<T: Send + 'static, E>(
        &self,
        use_case: impl Fn(&App, P) -> Result<T, E> + Send + 'static,
    ) -> ApiResult<T>
    where
        ApiError: From<E>,
    {
        let permit = self.sign_in_permit().await?;
        self.check_password(permit, move |app, call| Ok(use_case(app, call.read()?)?)).await
    }

    /// Reads the parameters without a sign-in.
    pub fn read(&self) -> ApiResult<P> {
        self.call.read()
    }
}

/// Parameters that are not read yet.
pub struct Unread<'a, P> {
    call: &'a Call,
    parameters: PhantomData<fn() -> P>,
}

impl<'a, P: Parameters> Unread<'a, P> {
    fn of(call: &'a Call) -> Self {
        Self { call, parameters: PhantomData }
    }

    /// Reads the parameters.
    /// # Errors
    /// The parameters are invalid.
    pub fn read(&self) -> ApiResult<P> {
        self.call.read()
    }
}

/// A use case of a call that needs a signed-in caller. The type of its result is erased, so that the bridge is compiled
/// once for all calls.
type SignedInUseCase = Box<dyn Fn(&App, Actor, &Call) -> ApiResult<Outcome> + Send>;

/// A use case of a call, likewise.
type UseCase = Box<dyn Fn(&App, &Call) -> ApiResult<Outcome> + Send>;

impl ApiRequest {
    /// Signs the caller in and runs one use case. Anonymous callers are refused.
    async fn run_signed_in(&self, use_case: SignedInUseCase) -> ApiResult<Outcome> {
        let permit = self.call_permit().await?;
        let (usage, edge) = (self.shared.usage.clone(), self.shared.edge());
        let work = move |app: &App, call: &Call| match sign_in::identify(app, &call.credentials)? {
            Actor::Anonymous => {
                known_callers::forget(&edge, &call.credentials);
                Err(Error::Unauthenticated.into())
            }
            actor => {
                known_callers::remember(&edge, &call.credentials, actor);
                if let Some(usage) = &usage {
                    call.remember_token(app, usage);
                }
                use_case(app, actor, call)
            }
        };
        self.run_erased(permit, Box::new(work)).await
    }

    /// Runs a use case that only reads, also for anonymous callers. Callers sign in by a token, or by a name with a
    /// token or password. Sudo is ignored. Things that the caller may not see are not found.
    pub async fn run_for_anyone<T: Send + 'static>(
        &self,
        use_case: impl Fn(&App, Actor) -> Result<T, Error> + Clone + Send + 'static,
    ) -> ApiResult<T> {
        let first = use_case.clone();
        let permit = self.call_permit().await?;
        let found = self.run_blocking(permit, move |app, call| {
            let actor = call.token_actor(app)?;
            match (first(app, actor), actor, &call.basic) {
                // The password may allow it. A thing that does not exist takes the same path, so that the response time
                // does not tell whether it exists.
                (Err(Error::NotFound(_)), Actor::Anonymous, Some(_)) => Ok(None),
                (outcome, _, _) => Ok(Some(outcome?)),
            }
        });
        if let Some(found) = found.await? {
            return Ok(found);
        }
        let permit = self.sign_in_permit().await?;
        self.check_password(permit, move |app, call| {
            let actor = match call.attempt() {
                Some(attempt) => basic_auth::by_password(app, &attempt)?,
                None => Actor::Anonymous,
            };
            Ok(use_case(app, actor)?)
        })
        .await
    }

    /// Counts a call of a runner for the rate limits. Its token may be in the body, which the middleware does not read.
    fn count_runner_token(&self, token: &str) -> ApiResult<()> {
        let Some(usage) = &self.shared.usage else { return Ok(()) };
        let app = &self.shared.edge.app;
        let token = app.secrets.digest(token);
        match usage.count(&[token], self.call.peer, app.clock.now()) {
            Some(state) if state.is_over => Err(state.refusal()),
            Some(_) | None => Ok(()),
        }
    }

    /// Gives a token of a runner or a build its own rate limit counter.
    pub(crate) fn remember_runner_token(&self, token: &str) {
        if let Some(usage) = &self.shared.usage {
            let app = &self.shared.edge.app;
            usage.remember(app.secrets.digest(token), app.clock.now());
        }
    }

    /// The maximum size of a body that is read as a whole.
    pub(crate) fn max_body(&self) -> usize {
        self.shared.settings.max_body
    }

    /// Runs one step of a use case that takes several. The caller was authorized before. The step is not retried.
    pub async fn run_step<T: Send + 'static>(
        &self,
        step: impl FnOnce(&App) -> Result<T, Error> + Send + 'static,
    ) -> ApiResult<T> {
        let (permit, app) = (self.call_permit().await?, Arc::clone(&self.shared.edge.app));
        work::run_short(&self.shared.edge.limiter, permit, move || Ok(step(&app)?)).await?
    }

    /// Waits for a permit for long work of this caller.
    pub(crate) async fn permit(
        &self,
        pool: fn(&Limiter) -> &PermitPool,
        actor: Actor,
    ) -> ApiResult<Permit> {
        self.permit_of(pool, actor.user()).await
    }

    /// Like [`permit`](Self::permit), for another user than the caller.
    pub(crate) async fn permit_of(
        &self,
        pool: fn(&Limiter) -> &PermitPool,
        user: Option<UserId>,
    ) -> ApiResult<Permit> {
        let caller = Caller::of_user(user, self.call.peer);
        Ok(permit::wait(pool(&self.shared.edge.limiter), caller).await?)
    }

    /// The permits and threads for long work.
    pub(crate) fn limiter(&self) -> &Limiter {
        &self.shared.edge.limiter
    }

    /// Runs long work that has its permit. The permit is returned when the work is done, even if the client is gone.
    pub(crate) async fn run_permitted<T: Send + 'static>(
        &self,
        permit: Permit,
        work: impl FnOnce() -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        work::run_long(self.limiter(), permit, work).await?
    }

    /// Waits for the permit that every call needs, so that a caller with many calls does not delay the others.
    async fn call_permit(&self) -> ApiResult<Permit> {
        let edge = &self.shared.edge;
        let Limiter { writes, reads, .. } = &*edge.limiter;
        let pool = if self.call.changes_things { writes } else { reads };
        let caller = known_callers::caller(edge, &self.call.credentials, self.call.peer);
        Ok(permit::wait(pool, caller).await?)
    }

    /// Waits for the permit to check a password.
    async fn sign_in_permit(&self) -> ApiResult<Permit> {
        let caller = Caller::anonymous(self.call.peer);
        Ok(permit::wait(&self.shared.edge.limiter.sign_ins, caller).await?)
    }

    /// Runs a use case that checks a password. This is long work, because password hashing is slow by design.
    async fn check_password<T: Send + 'static>(
        &self,
        permit: Permit,
        work: impl Fn(&App, &Call) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let (app, call) = (Arc::clone(&self.shared.edge.app), Arc::clone(&self.call));
        work::run_sign_in(self.limiter(), permit, move || attempt(&work, &app, &call)).await?
    }

    /// Runs a use case on the blocking thread pool. A use case is one transaction: if it conflicts with others it is
    /// rolled back and tried again. A use case that has to search a history continues with a permit for searches.
    async fn run_blocking<T: Send + 'static>(
        &self,
        permit: Permit,
        work: impl Fn(&App, &Call) -> ApiResult<T> + Send + 'static,
    ) -> ApiResult<T> {
        let work = move |app: &App, call: &Call| work(app, call).map(erase);
        self.run_erased(permit, Box::new(work)).await.map(restore)
    }

    async fn run_erased(&self, permit: Permit, work: UseCase) -> ApiResult<Outcome> {
        let (app, call) = (Arc::clone(&self.shared.edge.app), Arc::clone(&self.call));
        let first = move || (attempt(&work, &app, &call), work);
        let (outcome, work) = work::run_short(&self.shared.edge.limiter, permit, first).await?;
        match outcome {
            Err(error) if error.is_unfinished() => (),
            outcome => return outcome,
        }
        let (app, call) = (Arc::clone(&self.shared.edge.app), Arc::clone(&self.call));
        let attempt = move || attempt(&work, &app, &call);
        work::run_search(self.limiter(), self.call.peer, ApiError::is_unfinished, attempt).await
    }

    /// The parameters of the call, before their rules apply.
    pub(crate) fn params(&self) -> &Params {
        &self.call.params
    }

    /// The path of the request.
    pub fn path(&self) -> &str {
        &self.call.path
    }

    /// The client's address.
    pub fn peer(&self) -> Option<IpAddr> {
        self.call.peer
    }

    /// The entity tags of `If-None-Match`.
    pub fn if_none_match(&self) -> IfNoneMatch {
        self.call.if_none_match.clone()
    }

    /// The dialect of the interface.
    pub fn dialect(&self) -> Dialect {
        self.call.dialect
    }

    /// Builds URLs for responses.
    pub fn links(&self) -> &Links {
        &self.shared.edge.links
    }

    /// The revision of the program.
    pub fn revision(&self) -> &str {
        &self.shared.settings.revision
    }
}

/// Runs a use case, again if its transaction conflicts with others.
fn attempt<T>(work: &impl Fn(&App, &Call) -> ApiResult<T>, app: &App, call: &Call) -> ApiResult<T> {
    retry::while_busy(retry::TRIES, ApiError::is_busy, || work(app, call))
}

impl Call {
    fn read<P: Parameters>(&self) -> ApiResult<P> {
        self.params.read_declared(&self.in_path, self.dialect)
    }

    /// Returns the actor that the tokens of the call sign in, or an anonymous one. Ignores sudo.
    fn token_actor(&self, app: &App) -> Result<Actor, Error> {
        let credentials = Credentials { sudo: None, ..self.credentials.clone() };
        let actor = match sign_in::identify(app, &credentials) {
            // A revoked or expired token is treated like no token: outside the API there is no error format for it.
            Err(Error::StaleToken(_)) => Actor::Anonymous,
            outcome => outcome?,
        };
        match (actor, self.attempt()) {
            (Actor::Anonymous, Some(attempt)) => basic_auth::by_token(app, &attempt),
            (actor, _) => Ok(actor),
        }
    }

    /// Gives the token its own rate limit counter, because it has signed a user in.
    fn remember_token(&self, app: &App, usage: &Usage) {
        if let Some(token) = known_callers::single_token(&self.credentials) {
            usage.remember(app.secrets.digest(token), app.clock.now());
        }
    }

    fn attempt(&self) -> Option<Attempt> {
        let (login, password) = self.basic.clone()?;
        Some(Attempt { login, password, address: self.peer })
    }
}
