//! Signing in for one request by a name with a password or a token, as git and browsers do.

use hexforge_domain::ci::status::Status;
use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::policy::Actor;
use hexforge_domain::token::TokenValidity;

use crate::app::App;
use crate::ci_token;
use crate::error::Error;
use crate::session::{self, Attempt};

/// Who shows this name with one of its tokens. [`Actor::Anonymous`] when it is no token of that user's:
/// it may be a password then.
pub fn by_token(app: &App, attempt: &Attempt) -> Result<Actor, Error> {
    let hash = app.secrets.digest(attempt.password.reveal());
    app.store.glance(|tx| {
        let holder = tx.tokens().holder(&hash)?;
        let holder = holder.filter(|holder| {
            holder.state.may_act() && holder.life.at(app.clock.now()) == TokenValidity::Active
        });
        let Some(holder) = holder else { return Ok(Actor::Anonymous) };
        let named = tx.users().find_by_login(attempt.login.trim())?;
        match named {
            Some((user, _)) if user.id == holder.user => {
                Ok(Actor::of(holder.user, &holder.privileges))
            }
            Some(_) | None => Ok(Actor::Anonymous),
        }
    })
}

/// The name under which a token is shown without the name of whose it is. What is shown so may only read.
pub const ANY_HOLDER: &str = "oauth2";

/// Whose token this is, if it is shown under the name for all of them.
pub fn by_any_token(app: &App, attempt: &Attempt) -> Result<Actor, Error> {
    if attempt.login.trim() != ANY_HOLDER {
        return Ok(Actor::Anonymous);
    }
    let hash = app.secrets.digest(attempt.password.reveal());
    app.store.glance(|tx| {
        let holder = tx.tokens().holder(&hash)?.filter(|holder| {
            holder.state.may_act() && holder.life.at(app.clock.now()) == TokenValidity::Active
        });
        Ok(holder.map_or(Actor::Anonymous, |holder| Actor::of(holder.user, &holder.privileges)))
    })
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
