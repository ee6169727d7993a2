//! Signing in for one request by a name with a password or a token, as git and browsers do.

use hexforge_domain::ci::status::Status;
use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::token::{TokenHash, TokenHolder, TokenValidity};

use crate::app::App;
use crate::ci_token;
use crate::error::Error;
use crate::session::{self, Attempt};
use crate::sign_in::extend_session;

/// Who shows this name with one of its tokens. [`Actor::Anonymous`] when it is no token of that user's:
/// it may be a password then.
pub fn by_token(app: &App, attempt: &Attempt) -> Result<Actor, Error> {
    let hash = app.secrets.digest(attempt.password.reveal());
    let found: Option<TokenHolder> = app.store.glance::<_, Error>(|tx| {
        let Some(holder) = active_holder(app, tx, &hash)? else { return Ok(None) };
        let named = tx.users().find_by_login(attempt.login.trim())?;
        Ok(named.filter(|(user, _)| user.id == holder.user).map(|_| holder))
    })?;
    Ok(actor(app, found))
}

/// What is to be known of a token that may be used now.
fn active_holder(
    app: &App,
    tx: &mut dyn Tx,
    hash: &TokenHash,
) -> Result<Option<TokenHolder>, StoreError> {
    let now = app.clock.now();
    let holder = tx.tokens().holder(hash)?;
    Ok(holder.filter(|one| one.state.may_act() && one.life.at(now) == TokenValidity::Active))
}

/// Who shows a token; its session lasts longer now.
fn actor(app: &App, holder: Option<TokenHolder>) -> Actor {
    let Some(holder) = holder else { return Actor::Anonymous };
    extend_session(app, &holder);
    Actor::of(holder.user, &holder.privileges)
}

/// The name under which a token is shown without the name of whose it is. What is shown so may only read.
pub const ANY_HOLDER: &str = "oauth2";

/// Whose token this is, if it is shown under the name for all of them.
pub fn by_any_token(app: &App, attempt: &Attempt) -> Result<Actor, Error> {
    if attempt.login.trim() != ANY_HOLDER {
        return Ok(Actor::Anonymous);
    }
    let hash = app.secrets.digest(attempt.password.reveal());
    let found = app.store.glance::<_, Error>(|tx| Ok(active_holder(app, tx, &hash)?))?;
    Ok(actor(app, found))
}

/// Who shows this name with its password, [`Actor::Anonymous`] when nobody does. Hashing is slow.
/// # Errors
/// Guessing is braked as it is for [`session::create`].
pub fn by_password(app: &App, attempt: &Attempt) -> Result<Actor, Error> {
    match session::verify(app, attempt, |_, user| Ok(Actor::of(user.id, &user.privileges))) {
        // With a second factor the password alone shows nobody.
        Err(Error::Unauthenticated | Error::SecondFactor) => Ok(Actor::Anonymous),
        outcome => outcome,
    }
}

/// The name under which the token of a running build is shown.
pub const BUILD: &str = "gitlab-ci-token";

/// For whom a running build works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildCaller {
    /// For whoever started it: it reads what that user may read.
    User(Actor),
    /// For nobody: it reads its own project.
    Project(ProjectId),
}

/// For whom the build works whose token this is, if it is shown under the name for builds and the build runs.
pub fn by_build(app: &App, attempt: &Attempt) -> Result<Option<BuildCaller>, Error> {
    let token = attempt.password.reveal();
    let (BUILD, Some(id)) = (attempt.login.trim(), ci_token::claimed_id(token)) else {
        return Ok(None);
    };
    app.store.read(|tx| {
        let found = tx.builds().find(BuildId(id))?.filter(|build| {
            build.status == Status::Running && ci_token::is_of_build(app, build, token)
        });
        let Some(build) = found else { return Ok(None) };
        let Some(user) = build.user else {
            return Ok(Some(BuildCaller::Project(build.project)));
        };
        let user = tx.users().find(user)?.filter(|user| user.state.may_act());
        Ok(user.map(|user| BuildCaller::User(Actor::of(user.id, &user.privileges))))
    })
}
