//! Creates projects.

use hexforge_domain::event::{EventAction, NewEvent};
use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::outbox::{MemberFacts, SystemEvent, TeamFacts};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::system::ServiceAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{
    Features, NewProject, Project, ProjectName, ProjectPath, ProjectRef,
};
use hexforge_domain::repository::task::TaskKind;
use hexforge_domain::text::Secret;
use hexforge_domain::user::User;
use hexforge_domain::visibility::Visibility;

use super::fields::ProjectFields;
use super::view_with_token;
use crate::access::{self, Requester};
use crate::app::App;
use crate::error::{Entity, Error};
use crate::view::project::{self as view, ProjectView};

/// Creates a project for the actor.
pub fn create_own(
    app: &App,
    actor: Actor,
    namespace: Option<NamespaceId>,
    fields: &ProjectFields,
) -> Result<ProjectView, Error> {
    let user = access::own_account(actor)?;
    if fields.name.is_none() {
        return Err(Error::NotGiven("name"));
    }
    app.store.write(|tx| {
        let creator = tx.users().find(user)?.ok_or(Error::Unauthenticated)?;
        let project = create_project(app, tx, (actor, &creator), namespace, fields)?;
        view_with_token(tx, app.requester(actor), project)
    })
}

/// Checks that the actor may create projects for other users.
pub fn authorize_for_others(actor: Actor) -> Result<(), Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)
}

/// Creates a project for another user, with that user's permissions in the namespace.
pub fn create_for_user(
    app: &App,
    actor: Actor,
    user: UserId,
    namespace: Option<NamespaceId>,
    fields: &ProjectFields,
) -> Result<ProjectView, Error> {
    authorize_for_others(actor)?;
    app.store.write(|tx| {
        let creator = tx.users().find(user)?.ok_or(Error::NotFound(Entity::Record))?;
        if fields.name.is_none() {
            return Err(missing_name_errors().into());
        }
        let project = create_project(app, tx, (actor, &creator), namespace, fields)?;
        view_with_token(tx, app.requester(actor), project)
    })
}

/// Returns all validation errors of a project without a name, as the API prescribes them.
fn missing_name_errors() -> FieldErrors {
    let mut errors = FieldErrors::default();
    for field in ["name", "path"] {
        errors.add(field, "can't be blank");
        errors.add(field, "is too short (minimum is 0 characters)");
    }
    errors.add("name", hexforge_domain::project::name::ProjectNameError::Format);
    errors.add("path", hexforge_domain::project::name::ProjectPathError::Format);
    errors
}

/// Creates a project. The rights of the creator decide about the namespace and the limit, those of the caller about
/// restricted visibility levels.
fn create_project(
    app: &App,
    tx: &mut dyn Tx,
    (caller, creator): (Actor, &User),
    namespace: Option<NamespaceId>,
    fields: &ProjectFields,
) -> Result<Project, Error> {
    let requester = app.requester(Actor::of(creator.id, &creator.privileges));
    let namespace = target_namespace(tx, requester, creator, namespace)?;
    check_limit(tx, creator, &namespace)?;
    let settings = app.current_settings(tx)?;
    let mut errors = FieldErrors::default();
    let parsed = fields.parse_new(&mut errors);
    let visibility = parsed.visibility.unwrap_or(settings.default_project_visibility);
    if errors.messages("visibility_level").is_empty() {
        app.requester(caller).check_level(&settings, visibility, &mut errors);
    }
    check_group_visibility(&namespace, visibility, &mut errors);
    if let (Some(name), Some(path)) = (&parsed.name, &parsed.path) {
        let address = Address { namespace: &namespace, name, path };
        address.check_taken(tx, None, &mut errors)?;
    }
    let now = app.clock.now();
    let features =
        Features { shared_runners: settings.shared_runners_enabled, ..Features::default() };
    let new = errors.into_result_with(|| {
        Some(NewProject {
            namespace: namespace.id,
            creator: creator.id,
            name: parsed.name?,
            path: parsed.path?,
            description: parsed.description,
            visibility,
            features: fields.features.applied_to(features),
            forked_from: None,
            runners_token: new_runners_token(app),
            import_url: parsed.import_url,
            avatar: None,
            at: now,
        })
    })?;
    let project = store_new(tx, creator, new)?;
    if let Some(Some(expression)) = &parsed.coverage_expression {
        tx.projects().set_coverage_expression(project.id, Some(expression))?;
    }
    fields.store_build_settings(tx, project.id, parsed.build_timeout)?;
    if let Some(url) = &fields.import_url {
        // The URL with its credentials is kept only in the task, until the import is done.
        let import = TaskKind::Import { url: Secret::new(url.trim()), user: creator.id };
        tx.repository_tasks().insert(project.id, &import, now)?;
    }
    Ok(project)
}

/// Returns a new token with which runners register. It has 20 characters, as the API prescribes.
pub(crate) fn new_runners_token(app: &App) -> Secret {
    let token = app.secrets.token();
    let spare = token.reveal().chars().count().saturating_sub(20);
    Secret::new(token.reveal().chars().skip(spare).collect::<String>())
}

/// Returns the requested namespace if the creator may use it; the personal namespace when none was requested.
fn target_namespace(
    tx: &mut dyn Tx,
    requester: Requester,
    creator: &User,
    requested: Option<NamespaceId>,
) -> Result<Namespace, Error> {
    let invalid = || Error::from(FieldErrors::single("namespace", FieldProblem::NotValid));
    let namespace = match requested {
        None => tx.namespaces().personal(creator.id)?,
        Some(id) => tx.namespaces().find(id)?,
    };
    let namespace = namespace.ok_or_else(invalid)?;
    if requester.may_create_in(tx, &namespace)? { Ok(namespace) } else { Err(invalid()) }
}

/// Checks the project limit of the creator, which applies to personal namespaces only.
pub(super) fn check_limit(
    tx: &mut dyn Tx,
    creator: &User,
    namespace: &Namespace,
) -> Result<(), Error> {
    if namespace.owner.is_none() {
        return Ok(());
    }
    // Locked until the transaction ends, so that concurrent requests cannot exceed the limit.
    let creator = tx.users().lock(creator.id)?.ok_or(Error::Unauthenticated)?;
    let limit = creator.privileges.projects_limit.0;
    let own = tx.projects().count_personal(&[creator.id])?.first().map_or(0, |(_, count)| *count);
    if own < u64::from(limit.unsigned_abs()) {
        return Ok(());
    }
    Err(Error::LimitReached(creator.privileges.projects_limit))
}

/// Adds an error if a project would be more visible than its group.
pub(super) fn check_group_visibility(
    namespace: &Namespace,
    visibility: Visibility,
    errors: &mut FieldErrors,
) {
    if namespace.owner.is_none() && visibility > namespace.visibility {
        let text = format!(
            "{} is not allowed in a {} group.",
            visibility.as_str(),
            namespace.visibility.as_str()
        );
        errors.add("visibility_level", text);
    }
}

/// The namespace, name and path of a new or changed project.
pub(super) struct Address<'a> {
    pub namespace: &'a Namespace,
    pub name: &'a ProjectName,
    pub path: &'a ProjectPath,
}

impl Address<'_> {
    /// Adds an error if another project in the namespace has the same name or path. The wiki of project `a` has the
    /// path `a.wiki`, so projects `a` and `a.wiki` exclude each other.
    pub(super) fn check_taken(
        &self,
        tx: &mut dyn Tx,
        own: Option<&Project>,
        errors: &mut FieldErrors,
    ) -> Result<(), StoreError> {
        let Self { namespace, name, path } = self;
        for other in tx.projects().find_clashing(namespace.id, name, path)? {
            if own.is_some_and(|own| own.id == other.id) {
                continue;
            }
            if other.name == **name {
                errors.add("name", FieldProblem::Taken);
            }
            if other.path.folded() == path.folded() {
                errors.add("path", FieldProblem::Taken);
            }
        }
        let counterpart = match path.as_str().strip_suffix(".wiki") {
            Some(project) => project.to_owned(),
            None => format!("{}.wiki", path.as_str()),
        };
        let namespace = namespace.path.as_str().to_owned();
        let counterpart = tx.projects().find(&ProjectRef::Path { namespace, path: counterpart })?;
        if counterpart.is_some_and(|counterpart| own.is_none_or(|own| own.id != counterpart.id))
            && errors.messages("name").is_empty()
        {
            errors.add("name", FieldProblem::Taken);
        }
        Ok(())
    }
}

/// Stores a new project and the membership of its creator, and records its first events and the system hook events.
pub(super) fn store_new(
    tx: &mut dyn Tx,
    creator: &User,
    new: NewProject,
) -> Result<Project, Error> {
    let now = new.at;
    let action = match new.import_url {
        Some(_) => EventAction::Imported,
        None => EventAction::Created,
    };
    let project = tx.projects().insert(new).map_err(map_duplicate)?;
    tx.group_labels().adapt_to_group(project.id)?;
    let event = |action| NewEvent {
        project: project.id,
        author: creator.id,
        action,
        target: None,
        push: None,
        at: now,
    };
    let (created, joined) = (event(action), event(EventAction::Joined));
    tx.events().insert(created)?;
    let placed = view::with_namespace(tx, project)?;
    let facts = placed.place.facts(&placed.project);
    tx.outbox().record(&SystemEvent::ProjectCreated(facts.clone()), now)?;
    if placed.place.owner.is_some() {
        let master = Membership::new(creator.id, AccessLevel::Master, None);
        tx.project_members().insert(placed.project.id, master)?;
        if placed.place.namespace.owner != Some(creator.id) {
            tx.events().insert(joined)?;
        }
        let member = MemberFacts::new(creator, AccessLevel::Master, now);
        let joined = TeamFacts { project: facts, member };
        tx.outbox().record(&SystemEvent::TeamMemberAdded(joined), now)?;
    }
    Ok(placed.project)
}

/// Maps a duplicate key that another transaction inserted after our check.
pub(super) fn map_duplicate(error: StoreError) -> Error {
    match error {
        StoreError::Duplicate("name") => FieldErrors::single("name", FieldProblem::Taken).into(),
        StoreError::Duplicate("path") => FieldErrors::single("path", FieldProblem::Taken).into(),
        StoreError::Gone => FieldErrors::single("namespace", FieldProblem::NotValid).into(),
        error => error.into(),
    }
}
