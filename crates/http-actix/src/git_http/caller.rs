//! The caller of a git request.

use std::sync::Arc;

use actix_web::{HttpRequest, web};
use hexforge_application::app::App;
use hexforge_application::basic::{self as app_basic, BuildCaller};
use hexforge_application::error::Error;
use hexforge_application::session::Attempt;
use hexforge_application::sign_in::{self, Credentials};
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller as PermitHolder;
use hexforge_domain::policy::Actor;

use super::answer::Answer;
use crate::api;
use crate::client::client_address;
use crate::params::{Params, basic, credentials};
use crate::shared::Shared;
use crate::work;

/// The maximum number of attempts if a transaction conflicts with others.
const TRIES: u32 = 4;

/// The caller.
#[derive(Clone, Copy, Debug)]
pub(super) struct Caller {
    pub(super) actor: Actor,
    /// Whether the credentials allow reading only.
    pub(super) reads_only: bool,
    /// The project of a build that works for nobody, which reads nothing else.
    pub(super) own: Option<ProjectId>,
}

/// Who asks, by headers alone: addresses of repositories have no parameters. Whoever shows something that is
/// worth nothing is asked again, also where nothing had to be shown.
pub(super) async fn identify(
    request: &HttpRequest,
    shared: &web::Data<Shared>,
) -> Result<Caller, Answer> {
    let credentials = Credentials { sudo: None, ..credentials(request, &Params::default()) };
    let address = client_address(request);
    let attempt = basic(request).map(|(login, password)| Attempt { login, password, address });
    let nobody = Caller { actor: Actor::Anonymous, reads_only: false, own: None };
    if credentials == Credentials::default() && attempt.is_none() {
        return Ok(nobody);
    }
    let shown = attempt.clone();
    let from = shared.known_callers.caller_of(&shared.app, request, &Params::default());
    let has_header = credentials != Credentials::default();
    let known =
        blocking(shared, from, move |app| by_tokens(app, &credentials, shown.as_ref())).await?;
    if let Some(caller) = known {
        if !has_header && let Some(attempt) = &attempt {
            shared.known_callers.remember_password(&shared.app, &attempt.password, caller.actor);
        }
        return Ok(caller);
    }
    // Builds have no password, and those that have ended go on asking: that is no guessing.
    let attempt = attempt.filter(|attempt| attempt.login.trim() != app_basic::BUILD);
    let Some(attempt) = attempt else { return Err(Answer::Challenge) };
    // Passwords are slow, and whoever floods us with them must not hold up those who are known.
    let unknown = PermitHolder::unknown(address);
    let turn = api::permit(&shared.limiter.sign_ins, unknown).await?;
    let app = Arc::clone(&shared.app);
    let check = move || repeated(&app, |app| app_basic::by_password(app, &attempt));
    match work::sign_in(&shared.limiter, turn, check).await?? {
        Actor::Anonymous => Err(Answer::Challenge),
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
        actor => Some(Caller { actor, reads_only, own: None }),
    };
    let actor = match sign_in::identify(app, credentials) {
        Err(Error::StaleToken(_)) => Actor::Anonymous,
        outcome => outcome?,
    };
    if let Some(known) = caller(actor, false) {
        return Ok(Some(known));
    }
    let Some(attempt) = attempt else { return Ok(None) };
    if let Some(known) = caller(app_basic::by_token(app, attempt)?, false) {
        return Ok(Some(known));
    }
    match app_basic::by_build(app, attempt)? {
        Some(BuildCaller::User(actor)) => return Ok(caller(actor, true)),
        Some(BuildCaller::Project(project)) => {
            let own = Some(project);
            return Ok(Some(Caller { actor: Actor::Anonymous, reads_only: true, own }));
        }
        None => (),
    }
    Ok(caller(app_basic::by_any_token(app, attempt)?, true))
}

/// Does something short. What others were in the way of is tried again.
pub(super) async fn blocking<T: Send + 'static, E: Into<Answer> + Send + 'static>(
    shared: &web::Data<Shared>,
    holder: PermitHolder,
    task: impl Fn(&App) -> Result<T, E> + Send + 'static,
) -> Result<T, Answer> {
    let permit = api::permit(&shared.limiter.reads, holder).await?;
    let app = Arc::clone(&shared.app);
    work::short(&shared.limiter, permit, move || repeated(&app, task)).await?
}

fn repeated<T, E: Into<Answer>>(
    app: &App,
    task: impl Fn(&App) -> Result<T, E>,
) -> Result<T, Answer> {
    let mut tries = 1;
    loop {
        match task(app).map_err(Into::into) {
            Err(Answer::Busy) if tries < TRIES => tries += 1,
            outcome => return outcome,
        }
    }
}
