//! Access tokens: created and revoked on the command line, and by their owners.

use chrono::{NaiveDate, NaiveTime};
use hexforge_domain::Timestamp;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::TokenId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::user::AccountAbility;
use hexforge_domain::text::{Blank, Secret, ShortText};
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

/// The maximum number of active personal tokens of one user.
pub const MAX_PERSONAL: u32 = 100;

/// Creates a personal access token for the actor, which expires at the beginning of a day. The secret is shown only
/// once.
pub fn create_own(
    app: &App,
    actor: Actor,
    name: &str,
    expires_on: Option<NaiveDate>,
) -> Result<Secret, Error> {
    let user = access::own_account(actor)?;
    let mut errors = FieldErrors::default();
    errors.check("name", ShortText::parse(name));
    if name.trim().is_empty() {
        errors.add("name", Blank.to_string());
    }
    let expires_at = expires_on.map(|day| day.and_time(NaiveTime::MIN).and_utc());
    let now = app.clock.now();
    if expires_at.is_some_and(|end| end <= now) {
        errors.add("expires_at", "must be in the future");
    }
    errors.into_result()?;
    let secret = app.secrets.token();
    app.store.write(|tx| {
        tx.users().lock(user)?.ok_or(Error::Unauthenticated)?;
        let active = tx.tokens().active_personal(user, now, MAX_PERSONAL)?;
        if active.len() >= MAX_PERSONAL as usize {
            let full = format!("you have {MAX_PERSONAL} active access tokens: revoke one first");
            return Err(FieldErrors::single("base", full).into());
        }
        tx.tokens().insert(NewToken {
            user,
            kind: TokenKind::Personal,
            name: name.trim().to_owned(),
            hash: app.secrets.digest(secret.reveal()),
            expires_at,
            at: now,
        })?;
        Ok(secret)
    })
}

/// Lists the active personal tokens of the actor, newest first, without their secrets.
pub fn list_active(app: &App, actor: Actor) -> Result<Vec<Token>, Error> {
    let user = access::own_account(actor)?;
    let now = app.clock.now();
    app.store.read(|tx| Ok(tx.tokens().active_personal(user, now, MAX_PERSONAL)?))
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
