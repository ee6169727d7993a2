//! Access tokens: created and revoked on the command line, listed and revoked by their owners.

use hexforge_domain::Timestamp;
use hexforge_domain::id::TokenId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::user::AccountAbility;
use hexforge_domain::text::Secret;
use hexforge_domain::token::{NewToken, Token, TokenKind};

use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};

/// Creates a personal access token for a user. The secret is shown only once.
pub fn create(
    app: &App,
    actor: Actor,
    username: &str,
    name: &str,
    expires_at: Option<Timestamp>,
) -> Result<Secret, Error> {
    access::require_account_ability(actor, AccountAbility::Manage)?;
    let secret = app.secrets.token();
    app.store.write(|tx| {
        let user = tx.users().find_by_username(username)?.ok_or(Error::NotFound(Entity::User))?;
        tx.tokens().insert(NewToken {
            user: user.id,
            kind: TokenKind::Personal,
            name: name.to_owned(),
            hash: app.secrets.digest(secret.reveal()),
            expires_at,
            at: app.clock.now(),
        })?;
        Ok(secret)
    })
}

/// Lists the tokens of a user, newest first, without their secrets.
pub fn list(app: &App, actor: Actor, username: &str, page: Page) -> Result<Paged<Token>, Error> {
    access::require_account_ability(actor, AccountAbility::Manage)?;
    app.store.read(|tx| {
        let user = tx.users().find_by_username(username)?.ok_or(Error::NotFound(Entity::User))?;
        Ok(tx.tokens().list(user.id, page)?)
    })
}

/// Revokes a token.
pub fn revoke(app: &App, actor: Actor, id: TokenId) -> Result<(), Error> {
    access::require_account_ability(actor, AccountAbility::Manage)?;
    app.store.write(|tx| {
        if tx.tokens().revoke(id, app.clock.now())? {
            Ok(())
        } else {
            Err(Error::NotFound(Entity::Record))
        }
    })
}

/// Lists the tokens of the actor including sessions, newest first, without their secrets.
pub fn list_own(app: &App, actor: Actor, page: Page) -> Result<Paged<Token>, Error> {
    let user = access::own_account(actor)?;
    app.store.read(|tx| Ok(tx.tokens().list(user, page)?))
}

/// Revokes a token of the actor, which may be the one that authenticated the request.
/// # Errors
/// Not found when the actor has no such token, or when it is revoked already.
pub fn revoke_own(app: &App, actor: Actor, id: TokenId) -> Result<Token, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let missing = || Error::NotFound(Entity::Record);
        let own = tx.tokens().find(id)?.filter(|token| token.user == user);
        let mut token = own.ok_or_else(missing)?;
        let now = app.clock.now();
        if !tx.tokens().revoke(id, now)? {
            return Err(missing());
        }
        token.life.revoked_at = Some(now);
        Ok(token)
    })
}
