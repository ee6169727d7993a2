//! The members of groups and projects.

use std::collections::HashMap;

use chrono::NaiveDate;
use hexforge_domain::Timestamp;
use hexforge_domain::event::{EventAction, NewEvent};
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::group::GroupRef;
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::member::{AccessLevel, Membership, in_force};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::outbox::{GroupFacts, GroupMemberFacts, MemberFacts, SystemEvent, TeamFacts};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::group::GroupAbility;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::user::User;

use crate::access;
use crate::app::App;
use crate::error::{Error, Thing};
use crate::view::project::{self as project_view, PlacedProject};

/// What has members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MemberSource {
    /// A group.
    Group(GroupRef),
    /// A project.
    Project(ProjectRef),
}

/// A member with its membership.
pub type MemberView = (User, Membership);

/// What became of a removal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Removal {
    /// The member, as it was.
    Removed(Box<MemberView>),
    /// The user was no member of the project, which is as well.
    WasNone(UserId),
}

const UNKNOWN_LEVEL: Error = Error::Unknown("Access level is not known");

/// What was found, with the right to do with it what is wanted.
enum Found {
    Group(Namespace),
    Project(Project),
}

/// What is wanted of the members.
#[derive(Clone, Copy)]
enum Wanted {
    Read,
    Administer,
}

impl MemberSource {
    fn load(
        &self,
        tx: &mut dyn Tx,
        actor: Actor,
        wanted: Wanted,
        today: NaiveDate,
    ) -> Result<Found, Error> {
        match (self, wanted) {
            (Self::Group(named), Wanted::Read) => {
                access::group(tx, actor, GroupAbility::Read, named, today).map(Found::Group)
            }
            (Self::Group(named), Wanted::Administer) => {
                let found = access::group(tx, actor, GroupAbility::Administer, named, today)?;
                let locked = tx.groups().lock(found.id)?.ok_or(Error::NotFound(Thing::Group))?;
                Ok(Found::Group(locked))
            }
            (Self::Project(named), Wanted::Read) => {
                access::project(tx, actor, ProjectAbility::Read, named, today).map(Found::Project)
            }
            (Self::Project(named), Wanted::Administer) => {
                access::locked_project(tx, actor, ProjectAbility::Administer, named, today)
                    .map(Found::Project)
            }
        }
    }

    fn level(&self, level: i64) -> Result<AccessLevel, Error> {
        match self {
            Self::Group(_) => AccessLevel::from_level(level),
            Self::Project(_) => AccessLevel::on_project(level),
        }
        .ok_or(UNKNOWN_LEVEL)
    }
}

impl Found {
    fn member(&self, tx: &mut dyn Tx, user: UserId) -> Result<Option<Membership>, StoreError> {
        match self {
            Self::Group(group) => tx.group_members().find(group.id, user),
            Self::Project(project) => tx.project_members().find(project.id, user),
        }
    }
}

/// The direct members, highest user id first.
pub fn list(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    query: Option<&str>,
    page: Page,
) -> Result<Paged<MemberView>, Error> {
    app.store.read(|tx| match source.load(tx, actor, Wanted::Read, app.today())? {
        Found::Group(group) => Ok(tx.group_members().list(group.id, query, page)?),
        Found::Project(project) => Ok(tx.project_members().list(project.id, query, page)?),
    })
}

/// The whole team of a project: its members, those of its group and of groups it is shared with.
pub fn team(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    query: Option<&str>,
    page: Page,
) -> Result<Paged<User>, Error> {
    app.store.read(|tx| {
        let today = app.today();
        let project = access::project(tx, actor, ProjectAbility::Read, named, today)?;
        Ok(tx.project_members().team(project.id, query, today, page)?)
    })
}

/// One direct member.
pub fn get(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    user: UserId,
) -> Result<MemberView, Error> {
    app.store.read(|tx| {
        let found = source.load(tx, actor, Wanted::Read, app.today())?;
        let membership = found.member(tx, user)?.ok_or(Error::NotFound(Thing::Record))?;
        let user = tx.users().find(user)?.ok_or(Error::NotFound(Thing::Record))?;
        Ok((user, membership))
    })
}

/// Adds a member. Who is one of a project already stays what it is; of a group that is a conflict.
pub fn add(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    user: UserId,
    level: i64,
    expires_at: Option<NaiveDate>,
) -> Result<MemberView, Error> {
    app.store.write(|tx| {
        let now = app.clock.now();
        let found = source.load(tx, actor, Wanted::Administer, app.today())?;
        match (&found, found.member(tx, user)?) {
            (_, None) => (),
            (Found::Group(_), Some(_)) => return Err(Error::Conflict("Member already exists")),
            (Found::Project(_), Some(membership)) => {
                let user = tx.users().find(user)?.ok_or(Error::NotFound(Thing::Record))?;
                return Ok((user, membership));
            }
        }
        let membership = Membership::new(user, source.level(level)?, expires_at);
        let user = tx.users().find(user)?;
        let user = user.ok_or_else(|| FieldErrors::one("invite_email", "is invalid"))?;
        let member = MemberFacts::new(&user, membership.level, now);
        match found {
            Found::Group(group) => {
                tx.group_members().insert(group.id, membership)?;
                let joined = GroupMemberFacts { group: GroupFacts::from(&group), member };
                tx.outbox().record(&SystemEvent::GroupMemberAdded(joined), now)?;
            }
            Found::Project(project) => {
                let placed = project_view::placed(tx, project)?;
                tx.project_members().insert(placed.project.id, membership)?;
                if placed.place.namespace.owner != Some(user.id) {
                    note(tx, placed.project.id, user.id, EventAction::Joined, now)?;
                }
                tell_team(tx, &placed, member, SystemEvent::TeamMemberAdded, now)?;
            }
        }
        Ok((user, membership))
    })
}

/// Changes a membership.
pub fn update(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    user: UserId,
    level: i64,
    expires_at: Option<NaiveDate>,
) -> Result<MemberView, Error> {
    app.store.write(|tx| {
        let found = source.load(tx, actor, Wanted::Administer, app.today())?;
        let before = found.member(tx, user)?.ok_or(Error::NotFound(Thing::Record))?;
        let after = Membership {
            level: source.level(level)?,
            expires_at: expires_at.or(before.expires_at),
            ..before
        };
        match found {
            Found::Group(group) => tx.group_members().update(group.id, after)?,
            Found::Project(project) => tx.project_members().update(project.id, after)?,
        }
        let user = tx.users().find(user)?.ok_or(Error::NotFound(Thing::Record))?;
        Ok((user, after))
    })
}

/// Ends a membership; everybody may end its own.
pub fn remove(
    app: &App,
    actor: Actor,
    source: &MemberSource,
    user: UserId,
) -> Result<Removal, Error> {
    app.store.write(|tx| {
        let today = app.today();
        let found = source.load(tx, actor, Wanted::Read, today)?;
        let Some(membership) = found.member(tx, user)? else {
            return match found {
                Found::Group(_) => Err(Error::NotFound(Thing::Member(user))),
                Found::Project(_) => Ok(Removal::WasNone(user)),
            };
        };
        if actor.user() != Some(user) {
            source.load(tx, actor, Wanted::Administer, today)?;
        }
        let user = tx.users().find(user)?.ok_or(Error::NotFound(Thing::Record))?;
        let now = app.clock.now();
        let member = MemberFacts::new(&user, membership.level, now);
        match found {
            Found::Group(group) => {
                let group = tx.groups().lock(group.id)?.ok_or(Error::NotFound(Thing::Group))?;
                let owner = membership.level == AccessLevel::Owner
                    && in_force(membership.expires_at, today);
                if owner && tx.group_members().count_owners(group.id, today)? == 1 {
                    return Err(Error::Forbidden(None));
                }
                tx.group_members().delete(group.id, user.id)?;
                let left = GroupMemberFacts { group: GroupFacts::from(&group), member };
                tx.outbox().record(&SystemEvent::GroupMemberRemoved(left), now)?;
            }
            Found::Project(project) => {
                let placed = project_view::placed(tx, project)?;
                if placed.place.namespace.owner == Some(user.id) {
                    return Err(Error::Forbidden(None));
                }
                tx.project_members().delete(placed.project.id, user.id)?;
                note(tx, placed.project.id, user.id, EventAction::Left, now)?;
                tell_team(tx, &placed, member, SystemEvent::TeamMemberRemoved, now)?;
            }
        }
        Ok(Removal::Removed(Box::new((user, membership))))
    })
}

/// Tells the world that a user who is about to go is a member of nothing any more. There is no activity
/// to write down: that of the user goes along.
pub(crate) fn tell_of_leaving(
    tx: &mut dyn Tx,
    user: &User,
    now: Timestamp,
) -> Result<(), StoreError> {
    let teams = tx.project_members().all_of_user(user.id)?;
    let projects: Vec<ProjectId> = teams.iter().map(|(project, _)| *project).collect();
    let projects = tx.projects().find_all(&projects)?;
    let total = projects.len() as u64;
    let projects = project_view::placed_page(tx, Paged { items: projects, total })?.items;
    let projects: HashMap<ProjectId, PlacedProject> =
        projects.into_iter().map(|placed| (placed.project.id, placed)).collect();
    for (project, membership) in teams {
        let member = MemberFacts::new(user, membership.level, now);
        if let Some(placed) = projects.get(&project) {
            tell_team(tx, placed, member, SystemEvent::TeamMemberRemoved, now)?;
        }
    }
    let memberships = tx.group_members().all_of_user(user.id)?;
    let groups: Vec<NamespaceId> = memberships.iter().map(|(group, _)| *group).collect();
    let groups = tx.namespaces().find_all(&groups)?;
    let groups: HashMap<NamespaceId, Namespace> =
        groups.into_iter().map(|group| (group.id, group)).collect();
    for (group, membership) in memberships {
        let member = MemberFacts::new(user, membership.level, now);
        if let Some(group) = groups.get(&group) {
            let left = GroupMemberFacts { group: GroupFacts::from(group), member };
            tx.outbox().record(&SystemEvent::GroupMemberRemoved(left), now)?;
        }
    }
    Ok(())
}

/// Writes an activity event about a member, which is activity of the project.
fn note(
    tx: &mut dyn Tx,
    project: ProjectId,
    author: UserId,
    action: EventAction,
    at: Timestamp,
) -> Result<(), StoreError> {
    tx.events().insert(NewEvent { project, author, action, target: None, data: None, at })?;
    tx.projects().touch(project, at)
}

fn tell_team(
    tx: &mut dyn Tx,
    placed: &PlacedProject,
    member: MemberFacts,
    event: fn(TeamFacts) -> SystemEvent,
    at: Timestamp,
) -> Result<(), StoreError> {
    let project = placed.place.facts(&placed.project);
    tx.outbox().record(&event(TeamFacts { project, member }), at)
}
