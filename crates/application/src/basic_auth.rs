//! HTTP basic authentication for a single request: a login with a password or a token, as git and browsers send it.

use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::token::{TokenHash, TokenHolder, TokenValidity};

use crate::app::App;
use crate::ci_token;
use crate::error::Error;
use crate::session::{self, Attempt};
use crate::sign_in::extend_session;

/// Authenticates a login with one of the user's tokens. Returns [`Actor::Anonymous`] when the text is not a token of
/// that user; it may still be the password.
pub fn by_token(app: &App, attempt: &Attempt) -> Result<Actor, Error> {
    let hash = app.secrets.digest(attempt.password.reveal());
    let found: Option<TokenHolder> = app.store.read_autocommit::<_, Error>(|tx| {
        let Some(holder) = active_holder(app, tx, &hash)? else { return Ok(None) };
        let named = tx.users().find_by_login(attempt.login.trim())?;
        Ok(named.filter(|(user, _)| user.id == holder.user).map(|_| holder))
    })?;
    Ok(actor_of_holder(app, found))
}

/// Returns the holder of a token if the token is valid now.
fn active_holder(
    app: &App,
    tx: &mut dyn Tx,
    hash: &TokenHash,
) -> Result<Option<TokenHolder>, StoreError> {
    let now = app.clock.now();
    let holder = tx.tokens().holder(hash)?;
    Ok(holder
        .filter(|holder| holder.state.may_act() && holder.life.at(now) == TokenValidity::Active))
}

/// Returns the actor of a token, and extends the session.
fn actor_of_holder(app: &App, holder: Option<TokenHolder>) -> Actor {
    let Some(holder) = holder else { return Actor::Anonymous };
    extend_session(app, &holder);
    Actor::of(holder.user, &holder.privileges)
}

/// The login for a token without the username of its holder. Requests with this login may only read.
pub const ANY_USER_LOGIN: &str = "oauth2";

/// Authenticates a token under the login [`ANY_USER_LOGIN`].
pub fn by_any_token(app: &App, attempt: &Attempt) -> Result<Actor, Error> {
    if attempt.login.trim() != ANY_USER_LOGIN {
        return Ok(Actor::Anonymous);
    }
    let hash = app.secrets.digest(attempt.password.reveal());
    let found = app.store.read_autocommit::<_, Error>(|tx| Ok(active_holder(app, tx, &hash)?))?;
    Ok(actor_of_holder(app, found))
}

/// Authenticates a login with its password. Returns [`Actor::Anonymous`] when the credentials are wrong. The call is
/// slow, because it hashes the password.
/// # Errors
/// Failures are throttled as for [`session::create`].
pub fn by_password(app: &App, attempt: &Attempt) -> Result<Actor, Error> {
    match session::verify(app, attempt, |_, user| Ok(Actor::of(user.id, &user.privileges))) {
        // For accounts with a second factor the password alone does not authenticate.
        Err(Error::Unauthenticated | Error::SecondFactor) => Ok(Actor::Anonymous),
        outcome => outcome,
    }
}

/// The login for the token of a running build.
pub const BUILD_LOGIN: &str = "gitlab-ci-token";

/// A running build that reads repositories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildCaller {
    /// The user who started the build: it may read what this user may read. Without one, it may read its own project.
    pub user: Option<Actor>,
    /// What the build is about.
    pub source: BuildSource,
}

/// The commit of a running build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildSource {
    /// The project of the build.
    pub project: ProjectId,
    /// The commit, which the build may fetch even if no ref leads to it any more.
    pub commit: ObjectId,
}

/// Authenticates the token of a running build under the login [`BUILD_LOGIN`].
pub fn by_build(app: &App, attempt: &Attempt) -> Result<Option<BuildCaller>, Error> {
    let token = attempt.password.reveal();
    let (BUILD_LOGIN, Some(id)) = (attempt.login.trim(), ci_token::claimed_id(token)) else {
        return Ok(None);
    };
    app.store.read(|tx| {
        let found = tx.builds().find(BuildId(id))?.filter(|build| {
            build.status == Status::Running && ci_token::is_build_token(app, build, token)
        });
        let Some(build) = found else { return Ok(None) };
        // A build is deleted together with its pipeline.
        let pipeline = tx.pipelines().find(build.project, build.pipeline)?;
        let Some(commit) = pipeline.map(|pipeline| pipeline.sha) else { return Ok(None) };
        let source = BuildSource { project: build.project, commit };
        let Some(user) = build.user else { return Ok(Some(BuildCaller { user: None, source })) };
        let user = tx.users().find(user)?.filter(|user| user.state.may_act());
        let user = user.map(|user| Actor::of(user.id, &user.privileges));
        Ok(user.map(|user| BuildCaller { user: Some(user), source }))
    })
}
