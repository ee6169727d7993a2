//! The members of groups and projects.

pub mod expiry;
mod membership;
pub mod page;
pub mod request;
mod source;

pub use source::MemberSource;

use chrono::NaiveDate;
use hexforge_domain::event::EventAction;
use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::id::UserId;
use hexforge_domain::member::{AccessLevel, Membership, is_in_force};
use hexforge_domain::outbox::MemberFacts;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::user::User;

use crate::app::App;
use crate::error::{Conflict, Entity, Error};
pub(crate) use membership::record_departures;
use membership::{join, leave};
use source::{Found, MemberOperation};

/// A user with the membership.
pub type MemberView = (User, Membership);

/// The access level and expiry date in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccessFields {
    pub level: i64,
    pub expires_at: Option<NaiveDate>,
}

/// The outcome of a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The membership was removed; the value is its state before.
    Removed(Box<MemberView>),
    /// The user was not a member of the project, which is not an error.
    NotAMember(UserId),
}

/// Lists the direct members, highest user id first.
pub fn list(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    query: Option<&str>,
    page: Page,
) -> Result<Paged<MemberView>, Error> {
    app.store.read(|tx| match source.load(tx, app.requester(actor), MemberOperation::Read)? {
        Found::Group(group) => Ok(tx.group_members().list(group.id, query, page)?),
        Found::Project(project) => Ok(tx.project_members().list(project.id, query, page)?),
    })
}

/// Lists all users with access to a project: its members, and the members of its group and of groups that it is shared
/// with.
pub fn team(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    query: Option<&str>,
    page: Page,
) -> Result<Paged<User>, Error> {
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let project = requester.project(tx, ProjectAbility::Read, named)?;
        Ok(tx.project_members().team(project.id, query, requester.today, page)?)
    })
}

/// Returns one direct member.
pub fn get(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    user: UserId,
) -> Result<MemberView, Error> {
    app.store.read(|tx| {
        let found = source.load(tx, app.requester(actor), MemberOperation::Read)?;
        let membership = found.member(tx, user)?.ok_or(Error::NotFound(Entity::Record))?;
        let user = tx.users().find(user)?.ok_or(Error::NotFound(Entity::Record))?;
        Ok((user, membership))
    })
}

/// Adds a member. For an existing member, a project returns the unchanged membership and a group returns a conflict.
pub fn add(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    user: UserId,
    access: AccessFields,
) -> Result<MemberView, Error> {
    app.store.write(|tx| {
        let now = app.clock.now();
        let requester = app.requester(actor);
        let found = source.load(tx, requester, MemberOperation::Administer)?;
        match (&found, found.member(tx, user)?) {
            (_, None) => (),
            // An expired membership gives no access, so it is replaced.
            (_, Some(past)) if !is_in_force(past.expires_at, requester.today) => {
                let user = tx.users().find(user)?.ok_or(Error::NotFound(Entity::Record))?;
                let member = MemberFacts::new(&user, past.level, now);
                leave(tx, &found, member, EventAction::Expired)?;
            }
            (Found::Group(_), Some(_)) => return Err(Error::Conflict(Conflict::MemberExists)),
            (Found::Project(_), Some(membership)) => {
                let user = tx.users().find(user)?.ok_or(Error::NotFound(Entity::Record))?;
                return Ok((user, membership));
            }
        }
        let membership =
            Membership::new(user, source.parse_level(access.level)?, access.expires_at);
        let user = tx.users().find(user)?;
        let user =
            user.ok_or_else(|| FieldErrors::single("invite_email", FieldProblem::Invalid))?;
        join(tx, &found, &user, membership, now)?;
        Ok((user, membership))
    })
}

/// Adds the user with this username or e-mail address as a member. An existing member is a conflict.
pub fn add_by_login(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    login: &str,
    access: AccessFields,
) -> Result<MemberView, Error> {
    let login = login.trim();
    let user = app.store.read(|tx| {
        let requester = app.requester(actor);
        let found = source.load(tx, requester, MemberOperation::Review)?;
        let user = tx.users().find_by_login(login)?.map(|(user, _)| user.id);
        let user = user.ok_or_else(|| FieldErrors::single("user", FieldProblem::Missing))?;
        match found.member(tx, user)? {
            Some(known) if is_in_force(known.expires_at, requester.today) => {
                Err(Error::Conflict(Conflict::MemberExists))
            }
            _ => Ok(user),
        }
    })?;
    add(app, actor, source, user, access)
}

/// Changes a membership.
pub fn update(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    user: UserId,
    access: AccessFields,
) -> Result<MemberView, Error> {
    app.store.write(|tx| {
        let found = source.load(tx, app.requester(actor), MemberOperation::Administer)?;
        let before = found.member(tx, user)?.ok_or(Error::NotFound(Entity::Record))?;
        let after = Membership {
            level: source.parse_level(access.level)?,
            expires_at: access.expires_at.or(before.expires_at),
            ..before
        };
        write_membership(tx, &found, after)
    })
}

/// Stores a changed membership, and returns it with its user.
fn write_membership(
    tx: &mut dyn Tx,
    found: &Found,
    after: Membership,
) -> Result<MemberView, Error> {
    match found {
        Found::Group(group) => tx.group_members().update(group.id, after)?,
        Found::Project(project) => tx.project_members().update(project.id, after)?,
    }
    let user = tx.users().find(after.user)?.ok_or(Error::NotFound(Entity::Record))?;
    Ok((user, after))
}

/// Removes a member. Members may remove themselves.
pub fn remove(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    user: UserId,
) -> Result<Removal, Error> {
    app.store.write(|tx| {
        let requester = app.requester(actor);
        let found = source.load(tx, requester, MemberOperation::Read)?;
        let Some(membership) = found.member(tx, user)? else {
            return match found {
                Found::Group(_) => Err(Error::NotFound(Entity::Member(user))),
                Found::Project(_) => Ok(Removal::NotAMember(user)),
            };
        };
        if actor.user() != Some(user) {
            source.load(tx, requester, MemberOperation::Administer)?;
        }
        let user = tx.users().find(user)?.ok_or(Error::NotFound(Entity::Record))?;
        let found = match found {
            Found::Group(group) => {
                let group = tx.groups().lock(group.id)?.ok_or(Error::NotFound(Entity::Group))?;
                let owner = membership.level == AccessLevel::Owner
                    && is_in_force(membership.expires_at, requester.today);
                if owner && tx.group_members().count_owners(group.id, requester.today)? == 1 {
                    return Err(Error::Forbidden(None));
                }
                Found::Group(group)
            }
            Found::Project(project) => {
                let home = tx.namespaces().find(project.namespace)?;
                if home.is_some_and(|home| home.owner == Some(user.id)) {
                    return Err(Error::Forbidden(None));
                }
                Found::Project(project)
            }
        };
        let member = MemberFacts::new(&user, membership.level, app.clock.now());
        leave(tx, &found, member, EventAction::Left)?;
        Ok(Removal::Removed(Box::new((user, membership))))
    })
}
