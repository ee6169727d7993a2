//! Loading and permission in one step: the only way for a use case to get at things.

use chrono::NaiveDate;
use hexforge_domain::group::GroupRef;
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::group::{GroupAbility, GroupFacts};
use hexforge_domain::policy::project::{ProjectAbility, ProjectFacts, Standing};
use hexforge_domain::policy::system::{Service, ServiceAbility};
use hexforge_domain::policy::user::{AccountAbility, Accounts};
use hexforge_domain::policy::{Actor, Protected, authorize};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::query::{Audience, ProjectFilter, ProjectScope, Viewer};
use hexforge_domain::project::{Project, ProjectGate, ProjectRef};

use crate::error::{Error, Thing};

pub mod ci;
pub mod tracker;

/// Whether the actor may do this with accounts.
pub fn accounts(actor: Actor, ability: AccountAbility) -> Result<(), Error> {
    authorize(actor, ability, &Accounts).map_err(|denied| Error::denied(denied, Thing::User))
}

/// The user that the actor is, for what users do with their own account.
pub fn own_account(actor: Actor) -> Result<UserId, Error> {
    accounts(actor, AccountAbility::UseOwn)?;
    actor.user().ok_or(Error::Unauthenticated)
}

/// The actor as it is now, for what takes longer than a look; nobody when the account is gone or blocked.
pub fn anew(tx: &mut dyn Tx, actor: Actor) -> Result<Option<Actor>, StoreError> {
    let Some(id) = actor.user() else { return Ok(Some(actor)) };
    let user = tx.users().find(id)?.filter(|user| user.state.may_act());
    Ok(user.map(|user| Actor::of(user.id, &user.privileges)))
}

/// Whether the actor may do this with the service as a whole.
pub fn service(actor: Actor, ability: ServiceAbility) -> Result<(), Error> {
    authorize(actor, ability, &Service).map_err(|denied| Error::denied(denied, Thing::Record))
}

/// The viewer that the actor is to lists.
pub fn viewer(actor: Actor) -> Result<Viewer, Error> {
    match actor {
        Actor::Anonymous => Err(Error::Unauthenticated),
        // Lists show administrators what is theirs or open to everybody, like anyone else's.
        Actor::Admin { id } => Ok(Viewer { user: id, external: false }),
        Actor::User { id, external } => Ok(Viewer { user: id, external }),
    }
}

/// For whom lists are made that show administrators everything and others what they see.
/// # Errors
/// [`Error::Unauthenticated`] when the actor is nobody.
pub fn audience(actor: Actor) -> Result<Audience, Error> {
    match actor {
        Actor::Anonymous => Err(Error::Unauthenticated),
        Actor::Admin { .. } => Ok(Audience::Unrestricted),
        Actor::User { id, external } => Ok(Audience::Viewer(Viewer { user: id, external })),
    }
}

/// The group that is named, if the actor may do this with it.
pub fn group(
    tx: &mut dyn Tx,
    actor: Actor,
    ability: GroupAbility,
    named: &GroupRef,
    today: NaiveDate,
) -> Result<Namespace, Error> {
    let group = tx.groups().find(named)?.ok_or(Error::NotFound(Thing::Group))?;
    let facts = group_facts(tx, actor, &group, today)?;
    authorize(actor, ability, &facts).map_err(|denied| Error::denied(denied, Thing::Group))?;
    Ok(group)
}

/// What decisions about a group and the actor rest on.
pub fn group_facts(
    tx: &mut dyn Tx,
    actor: Actor,
    group: &Namespace,
    today: NaiveDate,
) -> Result<GroupFacts, StoreError> {
    let level = match actor.user() {
        Some(user) => tx.groups().level(group.id, user, today)?,
        None => None,
    };
    let mut facts = GroupFacts { visibility: group.visibility, level, sees_a_project: false };
    // Looked at only where nothing else lets the actor in.
    if !facts.allows(actor, GroupAbility::Read)
        && let Actor::User { id, external } = actor
    {
        facts.sees_a_project = sees_a_project(tx, group.id, Viewer { user: id, external }, today)?;
    }
    Ok(facts)
}

fn sees_a_project(
    tx: &mut dyn Tx,
    group: NamespaceId,
    viewer: Viewer,
    today: NaiveDate,
) -> Result<bool, StoreError> {
    let scope = ProjectScope::OfGroup { group, viewer: Audience::Viewer(viewer) };
    let filter = ProjectFilter::newest_first(scope, today);
    let seen = tx.projects().list(&filter, Page::Numbered { number: 1, size: 1 })?;
    Ok(!seen.items.is_empty())
}

/// The project that is named, if the actor may do this with it.
pub fn project(
    tx: &mut dyn Tx,
    actor: Actor,
    ability: ProjectAbility,
    named: &ProjectRef,
    today: NaiveDate,
) -> Result<Project, Error> {
    let project = tx.projects().find(named)?.ok_or(Error::NotFound(Thing::Project))?;
    check_project(tx, actor, ability, &project, today)?;
    Ok(project)
}

/// Like [`project`], with what decides what else the actor may do with it.
pub fn project_with_facts(
    tx: &mut dyn Tx,
    actor: Actor,
    ability: ProjectAbility,
    named: &ProjectRef,
    today: NaiveDate,
) -> Result<(Project, ProjectFacts), Error> {
    let project = tx.projects().find(named)?.ok_or(Error::NotFound(Thing::Project))?;
    let facts = project_facts(tx, actor, &project, today)?;
    authorize(actor, ability, &facts).map_err(|denied| Error::denied(denied, Thing::Project))?;
    Ok((project, facts))
}

/// Like [`project`]; until the transaction ends nobody else changes the project.
pub fn locked_project(
    tx: &mut dyn Tx,
    actor: Actor,
    ability: ProjectAbility,
    named: &ProjectRef,
    today: NaiveDate,
) -> Result<Project, Error> {
    let found = tx.projects().gate(named)?.ok_or(Error::NotFound(Thing::Project))?;
    let project = tx.projects().lock(found.id)?.ok_or(Error::NotFound(Thing::Project))?;
    check_project(tx, actor, ability, &project, today)?;
    Ok(project)
}

/// Like [`project`], for calls that need no more than this of it.
pub fn gate(
    tx: &mut dyn Tx,
    actor: Actor,
    ability: ProjectAbility,
    named: &ProjectRef,
    today: NaiveDate,
) -> Result<ProjectGate, Error> {
    let gate = tx.projects().gate(named)?.ok_or(Error::NotFound(Thing::Project))?;
    let ProjectGate { id, visibility, archived, .. } = gate;
    let facts = ProjectFacts { visibility, standing: Standing::default(), archived };
    check(tx, actor, ability, id, facts, today)?;
    Ok(gate)
}

/// Whether the actor may do this with a project that is already loaded.
pub fn check_project(
    tx: &mut dyn Tx,
    actor: Actor,
    ability: ProjectAbility,
    project: &Project,
    today: NaiveDate,
) -> Result<(), Error> {
    let &Project { id, visibility, archived, .. } = project;
    let facts = ProjectFacts { visibility, standing: Standing::default(), archived };
    check(tx, actor, ability, id, facts, today)
}

/// Whether the actor may do this, of whom nothing is known yet but that it asks.
fn check(
    tx: &mut dyn Tx,
    actor: Actor,
    ability: ProjectAbility,
    project: ProjectId,
    mut facts: ProjectFacts,
    today: NaiveDate,
) -> Result<(), Error> {
    // Looked at only where nothing else lets the actor in. Administrators need no standing, nobody has any.
    if !facts.allows(actor, ability)
        && let Actor::User { id, .. } = actor
    {
        facts.standing = tx.projects().standing(project, id, today)?;
    }
    authorize(actor, ability, &facts).map_err(|denied| Error::denied(denied, Thing::Project))
}

/// What all decisions about a project and the actor rest on.
pub fn project_facts(
    tx: &mut dyn Tx,
    actor: Actor,
    project: &Project,
    today: NaiveDate,
) -> Result<ProjectFacts, StoreError> {
    let standing = match actor {
        Actor::User { id, .. } => tx.projects().standing(project.id, id, today)?,
        // Administrators need none, nobody has any.
        Actor::Admin { .. } | Actor::Anonymous => Standing::default(),
    };
    Ok(ProjectFacts { visibility: project.visibility, standing, archived: project.archived })
}

/// Those of several projects that the actor may see: at most one query, whatever their number.
pub fn readable(
    tx: &mut dyn Tx,
    actor: Actor,
    projects: Vec<Project>,
    today: NaiveDate,
) -> Result<Vec<Project>, StoreError> {
    let reads = |project: &Project, standing| {
        let facts =
            ProjectFacts { visibility: project.visibility, standing, archived: project.archived };
        facts.allows(actor, ProjectAbility::Read)
    };
    let closed = projects.iter().filter(|project| !reads(project, Standing::default()));
    let closed: Vec<ProjectId> = closed.map(|project| project.id).collect();
    let own = match actor.user() {
        Some(user) if !closed.is_empty() => tx.projects().authorized_among(user, &closed, today)?,
        Some(_) | None => vec![],
    };
    // To work on a project is to be at least a guest there.
    let standing = |project: &Project| Standing {
        level: own.contains(&project.id).then_some(AccessLevel::Guest),
        owner: false,
    };
    Ok(projects.into_iter().filter(|project| reads(project, standing(project))).collect())
}

/// Whether the actor may make projects in a namespace: its own, or that of a group it is a master of.
pub fn may_create_in(
    tx: &mut dyn Tx,
    actor: Actor,
    namespace: &Namespace,
    today: NaiveDate,
) -> Result<bool, Error> {
    match (actor, namespace.owner) {
        (Actor::Anonymous, _) => Ok(false),
        (Actor::Admin { .. }, _) => Ok(true),
        (Actor::User { id, .. }, Some(owner)) => Ok(id == owner),
        (Actor::User { .. }, None) => {
            let facts = group_facts(tx, actor, namespace, today)?;
            Ok(facts.allows(actor, GroupAbility::CreateProjects))
        }
    }
}
