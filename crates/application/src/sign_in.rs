//! From what a request shows to who is asking.

use hexforge_domain::id::UserId;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::token::{TokenHolder, TokenKind, TokenValidity, extended_end};

use crate::app::App;
use crate::error::{Error, ForbiddenReason, StaleToken, Thing};

/// What a request shows of its caller.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Credentials {
    /// The parameter `private_token` or the header of that name.
    pub private_token: Option<String>,
    /// The bearer token, from its header or parameter.
    pub bearer_token: Option<String>,
    /// As whom an administrator wants to act: an id or a username.
    pub sudo: Option<String>,
}

/// Who is asking: [`Actor::Anonymous`] when nothing that was shown is worth anything.
/// # Errors
/// A bearer token that was good once, and a sudo that may not be or leads nowhere, end the request.
pub fn identify(app: &App, credentials: &Credentials) -> Result<Actor, Error> {
    let found: Option<(Actor, TokenHolder)> = app.store.glance(|tx| {
        let Some(caller) = caller(app, tx, credentials)? else { return Ok::<_, Error>(None) };
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

/// Lets a session last longer because it is being used; written at most once an hour. A failure does not fail the
/// request, which may only read: the next use tries again.
pub(crate) fn extend_session(app: &App, caller: &TokenHolder) {
    let now = app.clock.now();
    if let Some(end) = extended_end(caller.kind, caller.life, now, app.settings.session) {
        let _ = app.store.write::<_, StoreError>(|tx| tx.tokens().extend(caller.token, end));
    }
}

fn caller(
    app: &App,
    tx: &mut dyn Tx,
    credentials: &Credentials,
) -> Result<Option<TokenHolder>, Error> {
    let now = app.clock.now();
    if let Some(token) = &credentials.private_token
        && let Some(holder) = tx.tokens().holder(&app.secrets.digest(token))?
        // A block ends sessions: their tokens are those of a blocked user first, and revoked second.
        && (!holder.state.may_act() || holder.life.at(now) == TokenValidity::Active)
    {
        return Ok(usable(holder));
    }
    if let Some(token) = &credentials.bearer_token
        && let Some(holder) = tx.tokens().holder(&app.secrets.digest(token))?
    {
        return match holder.life.at(now) {
            _ if !holder.state.may_act() => Ok(None),
            TokenValidity::Active => Ok(usable(holder)),
            TokenValidity::Expired => Err(Error::StaleToken(StaleToken::Expired)),
            TokenValidity::Revoked => Err(Error::StaleToken(StaleToken::Revoked)),
        };
    }
    Ok(None)
}

/// A blocked user is nobody.
fn usable(holder: TokenHolder) -> Option<TokenHolder> {
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
        // An id too large to be one belongs to nobody.
        match target.parse() {
            Ok(id) => tx.users().find(UserId(id))?,
            Err(_) => None,
        }
    } else {
        tx.users().find_by_username(target)?
    };
    let user = found.ok_or_else(|| Error::NotFound(Thing::SudoTarget(target.to_owned())))?;
    if user.state.may_act() {
        Ok(Actor::of(user.id, &user.privileges))
    } else {
        Ok(Actor::Anonymous)
    }
}
