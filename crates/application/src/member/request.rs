//! Access requests: users ask to become members, and administrators approve or reject.

use hexforge_domain::Timestamp;
use hexforge_domain::event::EventAction;
use hexforge_domain::id::UserId;
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::outbox::MemberFacts;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::user::User;

use super::membership::{join, leave};
use super::source::{Found, MemberOperation};
use super::{MemberSource, MemberView, page};
use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};

/// The user who requests access, and the time of the request.
pub type RequestView = (User, Timestamp);

/// Lists all access requests, highest user id first.
pub fn list(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    page: Page,
) -> Result<Paged<RequestView>, Error> {
    app.store.read(|tx| {
        let found = source.load(tx, app.requester(actor), MemberOperation::Review)?;
        Ok(tx.access_requests().list(found.request_source(), page)?)
    })
}

/// Requests access for the actor. An existing request is returned unchanged.
pub fn create(app: &App, actor: Actor, source: &MemberSource) -> Result<RequestView, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let requester = app.requester(actor);
        let found = source.load(tx, requester, MemberOperation::Join)?;
        if !page::may_request(tx, requester, &found, user)? {
            return Err(Error::Forbidden(None));
        }
        let requesting = tx.users().find(user)?.ok_or(Error::Unauthenticated)?;
        if let Some(since) = tx.access_requests().find(found.request_source(), user)? {
            return Ok((requesting, since));
        }
        let now = app.clock.now();
        tx.access_requests().insert(found.request_source(), user, now)?;
        Ok((requesting, now))
    })
}

/// Approves an access request: its user becomes a member.
pub fn approve(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    user: UserId,
    level: Option<i64>,
) -> Result<MemberView, Error> {
    app.store.write(|tx| {
        let found = source.load(tx, app.requester(actor), MemberOperation::Administer)?;
        let (user, _) = find_request(tx, &found, user)?;
        let level = level.map_or(Ok(AccessLevel::Developer), |level| source.parse_level(level))?;
        let now = app.clock.now();
        // Current members cannot request access, so an existing membership has expired.
        if let Some(past) = found.member(tx, user.id)? {
            let member = MemberFacts::new(&user, past.level, now);
            leave(tx, &found, member, EventAction::Expired)?;
        }
        let membership = Membership::new(user.id, level, None);
        join(tx, &found, &user, membership, now)?;
        Ok((user, membership))
    })
}

/// Deletes an access request. Allowed for the requesting user and for administrators of the members.
pub fn delete(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    user: UserId,
) -> Result<RequestView, Error> {
    app.store.write(|tx| {
        let own = actor.user() == Some(user);
        let operation = if own { MemberOperation::Join } else { MemberOperation::Administer };
        let found = source.load(tx, app.requester(actor), operation)?;
        let request = find_request(tx, &found, user)?;
        tx.access_requests().delete(found.request_source(), user)?;
        Ok(request)
    })
}

/// Returns the access request of a user.
fn find_request(tx: &mut dyn Tx, found: &Found, user: UserId) -> Result<RequestView, Error> {
    let missing = || Error::NotFound(Entity::Record);
    let since = tx.access_requests().find(found.request_source(), user)?.ok_or_else(missing)?;
    let user = tx.users().find(user)?.ok_or_else(missing)?;
    Ok((user, since))
}
