//! The caller of a git request.

use std::sync::Arc;

use actix_web::{HttpRequest, web};
use hexforge_application::app::App;
use hexforge_application::basic_auth::{self, BuildCaller, BuildSource};
use hexforge_application::error::Error;
use hexforge_application::retry;
use hexforge_application::session::Attempt;
use hexforge_application::sign_in::{self, Credentials};
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::{Caller as PermitHolder, PermitPool};
use hexforge_domain::policy::Actor;

use super::answer::ErrorAnswer;
use crate::known_callers;
use crate::params::{Params, basic, credentials};
use crate::shared::Shared;
use hexforge_http_edge::client::client_address;
use hexforge_http_edge::permit;
use hexforge_http_edge::work;

/// The caller, and the restrictions of its credentials.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    pub(super) actor: Actor,
    /// Whether the credentials allow reading only.
    pub(super) reads_only: bool,
    /// The running build whose token the credentials are.
    pub(super) build: Option<BuildSource>,
}

impl Caller {
    /// The project of a build without a user. Its token allows reading this project only.
    pub(super) fn own(&self) -> Option<ProjectId> {
        self.build.filter(|_| self.actor == Actor::Anonymous).map(|build| build.project)
    }
}

/// Identifies the caller by headers only, because URLs of repositories have no parameters. Invalid credentials are
/// answered with a challenge, even where none are needed.
pub(super) async fn identify(
    request: &HttpRequest,
    shared: &web::Data<Shared>,
) -> Result<Caller, ErrorAnswer> {
    let credentials = Credentials { sudo: None, ..credentials(request, &Params::default()) };
    let address = client_address(request);
    let attempt = basic(request).map(|(login, password)| Attempt { login, password, address });
    let nobody = Caller { actor: Actor::Anonymous, reads_only: false, build: None };
    if credentials == Credentials::default() && attempt.is_none() {
        return Ok(nobody);
    }
    let basic_attempt = attempt.clone();
    let from = known_callers::caller_of(&shared.edge, request, &Params::default());
    let has_header = credentials != Credentials::default();
    let known =
        blocking(shared, from, move |app| by_tokens(app, &credentials, basic_attempt.as_ref()))
            .await?;
    if let Some(caller) = known {
        if !has_header && let Some(attempt) = &attempt {
            known_callers::remember_password(&shared.edge, &attempt.password, caller.actor);
        }
        return Ok(caller);
    }
    // Builds have no password. Requests of a build that has ended are not counted as guesses of a password.
    let attempt = attempt.filter(|attempt| attempt.login.trim() != basic_auth::BUILD_LOGIN);
    let Some(attempt) = attempt else { return Err(ErrorAnswer::Challenge) };
    // Checking passwords is slow, so it has its own permits: a flood of sign-ins must not delay other callers.
    let anonymous = PermitHolder::anonymous(address);
    let permit = permit::wait(&shared.edge.limiter.sign_ins, anonymous).await?;
    let app = Arc::clone(&shared.edge.app);
    let check = move || with_retries(&app, |app| basic_auth::by_password(app, &attempt));
    match work::run_sign_in(&shared.edge.limiter, permit, check).await?? {
        Actor::Anonymous => Err(ErrorAnswer::Challenge),
        actor => Ok(Caller { actor, ..nobody }),
    }
}

fn by_tokens(
    app: &App,
    credentials: &Credentials,
    attempt: Option<&Attempt>,
) -> Result<Option<Caller>, Error> {
    let caller = |actor, reads_only| match actor {
        Actor::Anonymous => None,
        actor => Some(Caller { actor, reads_only, build: None }),
    };
    let actor = match sign_in::identify(app, credentials) {
        Err(Error::StaleToken(_)) => Actor::Anonymous,
        outcome => outcome?,
    };
    if let Some(known) = caller(actor, false) {
        return Ok(Some(known));
    }
    let Some(attempt) = attempt else { return Ok(None) };
    if let Some(known) = caller(basic_auth::by_token(app, attempt)?, false) {
        return Ok(Some(known));
    }
    if let Some(BuildCaller { user, source }) = basic_auth::by_build(app, attempt)? {
        let actor = user.unwrap_or(Actor::Anonymous);
        return Ok(Some(Caller { actor, reads_only: true, build: Some(source) }));
    }
    Ok(caller(basic_auth::by_any_token(app, attempt)?, true))
}

/// Runs a short task on the blocking thread pool, and retries it if it conflicts with others.
pub(super) async fn blocking<T: Send + 'static, E: Into<ErrorAnswer> + Send + 'static>(
    shared: &web::Data<Shared>,
    holder: PermitHolder,
    task: impl Fn(&App) -> Result<T, E> + Send + 'static,
) -> Result<T, ErrorAnswer> {
    let permit = permit::wait(&shared.edge.limiter.reads, holder).await?;
    let app = Arc::clone(&shared.edge.app);
    work::run_short(&shared.edge.limiter, permit, move || with_retries(&app, task)).await?
}

/// Runs a long task with a permit of this pool, and retries it if it conflicts with others.
pub(super) async fn run_long<T: Send + 'static, E: Into<ErrorAnswer> + Send + 'static>(
    shared: &web::Data<Shared>,
    pool: &PermitPool,
    holder: PermitHolder,
    task: impl Fn(&App) -> Result<T, E> + Send + 'static,
) -> Result<T, ErrorAnswer> {
    let permit = permit::wait(pool, holder).await?;
    let app = Arc::clone(&shared.edge.app);
    work::run_long(&shared.edge.limiter, permit, move || with_retries(&app, task)).await?
}

fn with_retries<T, E: Into<ErrorAnswer>>(
    app: &App,
    task: impl Fn(&App) -> Result<T, E>,
) -> Result<T, ErrorAnswer> {
    let is_busy = |error: &ErrorAnswer| matches!(error, ErrorAnswer::Busy);
    retry::while_busy(retry::TRIES, is_busy, || task(app).map_err(Into::into))
}
