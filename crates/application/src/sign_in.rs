//! Authenticates requests by their tokens.

use hexforge_domain::id::UserId;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::token::{TokenHolder, TokenKind, TokenValidity, extended_expiry};

use crate::app::App;
use crate::error::{Entity, Error, ForbiddenReason, StaleToken};

/// The credentials that a request carries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The parameter `private_token` or the header of that name.
    pub private_token: Option<String>,
    /// The bearer token, from its header or parameter.
    pub bearer_token: Option<String>,
    /// The user as whom an administrator wants to act: an id or a username.
    pub sudo: Option<String>,
}

/// Returns the actor of a request: [`Actor::Anonymous`] when no credential is valid.
/// # Errors
/// When the bearer token has expired or was revoked, or when the sudo is not permitted or names an unknown user.
pub fn identify(app: &App, credentials: &Credentials) -> Result<Actor, Error> {
    let found: Option<(Actor, TokenHolder)> = app.store.read_autocommit(|tx| {
        let Some(caller) = find_caller(app, tx, credentials)? else { return Ok::<_, Error>(None) };
        // Responses show avatars by the settings, so that each request needs the current ones.
        app.application_settings.at_version(tx, caller.settings_version)?;
        let actor = match credentials.sudo.as_deref() {
            None => Actor::of(caller.user, &caller.privileges),
            Some(target) => sudo(tx, &caller, target)?,
        };
        Ok(Some((actor, caller)))
    })?;
    let Some((actor, caller)) = found else { return Ok(Actor::Anonymous) };
    extend_session(app, &caller);
    Ok(actor)
}

/// Extends the lifetime of the session that made the request, with at most one write per hour. A write error does not
/// fail the request, which may be read-only: the next request tries again.
pub(crate) fn extend_session(app: &App, caller: &TokenHolder) {
    let now = app.clock.now();
    if let Some(end) = extended_expiry(caller.kind, caller.life, now, app.settings.session) {
        let _ = app.store.write::<_, StoreError>(|tx| tx.tokens().extend(caller.token, end));
    }
}

fn find_caller(
    app: &App,
    tx: &mut dyn Tx,
    credentials: &Credentials,
) -> Result<Option<TokenHolder>, Error> {
    let now = app.clock.now();
    if let Some(token) = &credentials.private_token
        && let Some(holder) = tx.tokens().holder(&app.secrets.digest(token))?
        // Blocking a user also revokes the sessions. Such a token counts as that of a blocked user, not as revoked.
        && (!holder.state.may_act() || holder.life.at(now) == TokenValidity::Active)
    {
        return Ok(unless_blocked(holder));
    }
    if let Some(token) = &credentials.bearer_token
        && let Some(holder) = tx.tokens().holder(&app.secrets.digest(token))?
    {
        return match holder.life.at(now) {
            _ if !holder.state.may_act() => Ok(None),
            TokenValidity::Active => Ok(unless_blocked(holder)),
            TokenValidity::Expired => Err(Error::StaleToken(StaleToken::Expired)),
            TokenValidity::Revoked => Err(Error::StaleToken(StaleToken::Revoked)),
        };
    }
    Ok(None)
}

/// Returns the token holder unless the user is blocked.
fn unless_blocked(holder: TokenHolder) -> Option<TokenHolder> {
    holder.state.may_act().then_some(holder)
}

fn sudo(tx: &mut dyn Tx, caller: &TokenHolder, target: &str) -> Result<Actor, Error> {
    if !caller.privileges.admin {
        return Err(Error::Forbidden(Some(ForbiddenReason::SudoNeedsAdmin)));
    }
    match caller.kind {
        TokenKind::Private => (),
        TokenKind::Personal => {
            return Err(Error::Forbidden(Some(ForbiddenReason::SudoNeedsPrivateToken)));
        }
    }
    let found = if target.bytes().all(|b| b.is_ascii_digit()) {
        // A number too large for an id matches no user.
        match target.parse() {
            Ok(id) => tx.users().find(UserId(id))?,
            Err(_) => None,
        }
    } else {
        tx.users().find_by_username(target)?
    };
    let user = found.ok_or_else(|| Error::NotFound(Entity::SudoTarget(target.to_owned())))?;
    if user.state.may_act() {
        Ok(Actor::of(user.id, &user.privileges))
    } else {
        Ok(Actor::Anonymous)
    }
}
