//! Loads objects and checks permissions in one step. Use cases reach projects, groups and accounts through this module.

use chrono::NaiveDate;
use hexforge_domain::application_settings::ApplicationSettings;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::group::GroupRef;
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::note::port::NoteReader;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::group::{GroupAbility, GroupFacts};
use hexforge_domain::policy::project::{ProjectAbility, ProjectFacts, ProjectRole};
use hexforge_domain::policy::system::{Service, ServiceAbility};
use hexforge_domain::policy::user::{AccountAbility, Accounts};
use hexforge_domain::policy::{Actor, Protected, authorize};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::query::{ListAudience, ProjectFilter, ProjectScope, Viewer};
use hexforge_domain::project::{Project, ProjectHeader, ProjectRef, ProjectWithNamespace, Starred};
use hexforge_domain::visibility::Visibility;

use crate::error::{Entity, Error};

pub mod ci;
pub mod merge_request;
pub mod snippet;
pub mod tracker;

/// Checks that the actor has this ability on accounts.
pub fn require_account_ability(actor: Actor, ability: AccountAbility) -> Result<(), Error> {
    authorize(actor, ability, &Accounts).map_err(|denied| Error::denied(denied, Entity::User))
}

/// Returns the user id of the actor, for operations on the actor's own account.
pub fn own_account(actor: Actor) -> Result<UserId, Error> {
    require_account_ability(actor, AccountAbility::UseOwn)?;
    actor.user().ok_or(Error::Unauthenticated)
}

/// Reloads the privileges of the actor, for operations that take long. Returns `None` when the account was removed or
/// blocked since.
pub fn reload(tx: &mut dyn Tx, actor: Actor) -> Result<Option<Actor>, StoreError> {
    let Some(id) = actor.user() else { return Ok(Some(actor)) };
    let user = tx.users().find(id)?.filter(|user| user.state.may_act());
    Ok(user.map(|user| Actor::of(user.id, &user.privileges)))
}

/// Checks that the actor has this ability on the service as a whole.
pub fn require_service_ability(actor: Actor, ability: ServiceAbility) -> Result<(), Error> {
    authorize(actor, ability, &Service).map_err(|denied| Error::denied(denied, Entity::Record))
}

/// Returns the actor as the viewer of a list.
pub fn viewer(actor: Actor) -> Result<Viewer, Error> {
    match actor {
        Actor::Anonymous => Err(Error::Unauthenticated),
        // Administrators get the restricted lists of an internal user: their own projects and those open to everybody.
        Actor::Admin { id } => Ok(Viewer { user: id, external: false }),
        Actor::User { id, external } => Ok(Viewer { user: id, external }),
    }
}

/// Returns the actor as the viewer of a list on a web page. Strangers see what an external user without memberships
/// sees: what is public.
pub fn page_viewer(actor: Actor) -> Viewer {
    viewer(actor).unwrap_or(Viewer { user: NOBODY, external: true })
}

/// The id of no account.
const NOBODY: UserId = UserId(0);

/// Returns the audience of a list that is unrestricted for administrators and limited to visible projects for others.
/// # Errors
/// [`Error::Unauthenticated`] for an anonymous actor.
pub fn audience(actor: Actor) -> Result<ListAudience, Error> {
    match actor {
        Actor::Anonymous => Err(Error::Unauthenticated),
        Actor::Admin { .. } => Ok(ListAudience::Unrestricted),
        Actor::User { id, external } => Ok(ListAudience::Viewer(Viewer { user: id, external })),
    }
}

/// The actor of a request, and the date against which memberships and shares are checked for expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Requester {
    /// The actor who makes the request.
    pub actor: Actor,
    /// The date of the request.
    pub today: NaiveDate,
}

impl Requester {
    /// Returns the named group if the actor has this ability on it.
    pub fn group(
        self,
        tx: &mut dyn Tx,
        ability: GroupAbility,
        named: &GroupRef,
    ) -> Result<Namespace, Error> {
        let group = tx.groups().find(named)?.ok_or(Error::NotFound(Entity::Group))?;
        let facts = self.group_facts(tx, &group)?;
        self.authorize(ability, &facts, Entity::Group)?;
        Ok(group)
    }

    /// Returns whether the actor may use visibility levels that the settings restrict.
    pub fn may_use_restricted_levels(self) -> bool {
        Service.allows(self.actor, ServiceAbility::UseRestrictedLevels)
    }

    /// Adds an error if the settings do not let the actor use a visibility level.
    pub fn check_level(
        self,
        settings: &ApplicationSettings,
        level: Visibility,
        errors: &mut FieldErrors,
    ) {
        if !self.may_use_restricted_levels() {
            errors.check("visibility_level", settings.check_level(level));
        }
    }

    /// Loads the facts for decisions about a group.
    pub fn group_facts(self, tx: &mut dyn Tx, group: &Namespace) -> Result<GroupFacts, StoreError> {
        let level = match self.actor.user() {
            Some(user) => tx.groups().level(group.id, user, self.today)?,
            None => None,
        };
        let mut facts = GroupFacts { visibility: group.visibility, level, sees_a_project: false };
        // Queried only when nothing else grants access.
        if !facts.allows(self.actor, GroupAbility::Read)
            && let Actor::User { id, external } = self.actor
        {
            let viewer = Viewer { user: id, external };
            facts.sees_a_project = self.sees_a_project(tx, group.id, viewer)?;
        }
        Ok(facts)
    }

    fn sees_a_project(
        self,
        tx: &mut dyn Tx,
        group: NamespaceId,
        viewer: Viewer,
    ) -> Result<bool, StoreError> {
        let scope = ProjectScope::OfGroup { group, viewer: ListAudience::Viewer(viewer) };
        let filter = ProjectFilter::newest_first(scope, self.today);
        let seen = tx.projects().list(&filter, Page::Numbered { number: 1, size: 1 })?;
        Ok(!seen.items.is_empty())
    }

    /// Returns the named project if the actor has this ability on it.
    pub fn project(
        self,
        tx: &mut dyn Tx,
        ability: ProjectAbility,
        named: &ProjectRef,
    ) -> Result<Project, Error> {
        let project = find_project(tx, named)?;
        self.check_project(tx, ability, &project)?;
        Ok(project)
    }

    /// Like [`Self::project`], with the namespace, whether the actor starred the project, and the facts for checks of
    /// further abilities.
    pub fn project_with_namespace(
        self,
        tx: &mut dyn Tx,
        ability: ProjectAbility,
        named: &ProjectRef,
    ) -> Result<(ProjectWithNamespace, Starred, ProjectFacts), Error> {
        let found = tx.projects().find_with_namespace(named, self.actor.user())?;
        let (found, starred) = found.ok_or(Error::NotFound(Entity::Project))?;
        let facts = self.project_facts(tx, &found.project)?;
        self.authorize(ability, &facts, Entity::Project)?;
        Ok((found, starred, facts))
    }

    /// Like [`Self::project`]; the row of the project stays locked until the transaction ends.
    pub fn locked_project(
        self,
        tx: &mut dyn Tx,
        ability: ProjectAbility,
        named: &ProjectRef,
    ) -> Result<Project, Error> {
        let project = lock_project(tx, named)?;
        self.check_project(tx, ability, &project)?;
        Ok(project)
    }

    /// Like [`Self::project`], for calls that need only the [`ProjectHeader`].
    pub fn project_header(
        self,
        tx: &mut dyn Tx,
        ability: ProjectAbility,
        named: &ProjectRef,
    ) -> Result<ProjectHeader, Error> {
        let header = tx.projects().header(named)?.ok_or(Error::NotFound(Entity::Project))?;
        let ProjectHeader { id, visibility, archived, .. } = header;
        let facts = ProjectFacts { visibility, role: ProjectRole::default(), archived };
        self.check(tx, ability, id, facts)?;
        Ok(header)
    }

    /// Checks that the actor has this ability on a project that is already loaded.
    pub fn check_project(
        self,
        tx: &mut dyn Tx,
        ability: ProjectAbility,
        project: &Project,
    ) -> Result<(), Error> {
        self.check(tx, ability, project.id, facts_of(project, ProjectRole::default()))
    }

    /// Checks an ability. The facts come without the role, which is loaded only when needed.
    fn check(
        self,
        tx: &mut dyn Tx,
        ability: ProjectAbility,
        project: ProjectId,
        mut facts: ProjectFacts,
    ) -> Result<(), Error> {
        // Queried only when nothing else grants access. Administrators need no role.
        if !facts.allows(self.actor, ability)
            && let Actor::User { id, .. } = self.actor
        {
            facts.role = tx.projects().role(project, id, self.today)?;
        }
        self.authorize(ability, &facts, Entity::Project)
    }

    /// Loads the facts for decisions about a project.
    pub fn project_facts(
        self,
        tx: &mut dyn Tx,
        project: &Project,
    ) -> Result<ProjectFacts, StoreError> {
        let role = match self.actor {
            Actor::User { id, .. } => tx.projects().role(project.id, id, self.today)?,
            // Administrators need no role, and anonymous callers have none.
            Actor::Admin { .. } | Actor::Anonymous => ProjectRole::default(),
        };
        Ok(facts_of(project, role))
    }

    /// Returns the reader for filtering notes; `None` for administrators, who see all notes.
    /// # Errors
    /// [`Error::Unauthenticated`] for an anonymous actor.
    pub fn note_reader(self) -> Result<Option<NoteReader>, Error> {
        match self.actor {
            Actor::Admin { .. } => Ok(None),
            Actor::User { .. } | Actor::Anonymous => {
                Ok(Some(NoteReader { viewer: viewer(self.actor)?, today: self.today }))
            }
        }
    }

    /// Keeps the projects that the actor may read. Runs at most one query for all projects.
    pub fn readable(
        self,
        tx: &mut dyn Tx,
        projects: Vec<Project>,
    ) -> Result<Vec<Project>, StoreError> {
        let reads = |project: &Project, role| {
            facts_of(project, role).allows(self.actor, ProjectAbility::Read)
        };
        let closed = projects.iter().filter(|project| !reads(project, ProjectRole::default()));
        let closed: Vec<ProjectId> = closed.map(|project| project.id).collect();
        let own = match self.actor.user() {
            Some(user) if !closed.is_empty() => {
                tx.projects().authorized_among(user, &closed, self.today)?
            }
            Some(_) | None => vec![],
        };
        // Authorized users have at least the access level of a guest.
        let role = |project: &Project| ProjectRole {
            level: own.contains(&project.id).then_some(AccessLevel::Guest),
            owner: false,
        };
        Ok(projects.into_iter().filter(|project| reads(project, role(project))).collect())
    }

    /// Returns whether the actor may create projects in a namespace. Users may in their personal namespace and in
    /// groups where their access level is at least master.
    pub fn may_create_in(self, tx: &mut dyn Tx, namespace: &Namespace) -> Result<bool, Error> {
        match (self.actor, namespace.owner) {
            (Actor::Anonymous, _) => Ok(false),
            (Actor::Admin { .. }, _) => Ok(true),
            (Actor::User { id, .. }, Some(owner)) => Ok(id == owner),
            (Actor::User { .. }, None) => {
                let facts = self.group_facts(tx, namespace)?;
                Ok(facts.allows(self.actor, GroupAbility::CreateProjects))
            }
        }
    }

    fn authorize<P: Protected>(
        self,
        ability: P::Ability,
        facts: &P,
        thing: Entity,
    ) -> Result<(), Error> {
        authorize(self.actor, ability, facts).map_err(|denied| Error::denied(denied, thing))
    }
}

fn find_project(tx: &mut dyn Tx, named: &ProjectRef) -> Result<Project, Error> {
    tx.projects().find(named)?.ok_or(Error::NotFound(Entity::Project))
}

fn lock_project(tx: &mut dyn Tx, named: &ProjectRef) -> Result<Project, Error> {
    let found = tx.projects().header(named)?.ok_or(Error::NotFound(Entity::Project))?;
    tx.projects().lock(found.id)?.ok_or(Error::NotFound(Entity::Project))
}

fn facts_of(project: &Project, role: ProjectRole) -> ProjectFacts {
    ProjectFacts { visibility: project.visibility, role, archived: project.archived }
}
