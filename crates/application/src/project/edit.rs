//! Changes projects.

use std::sync::Arc;

use hexforge_domain::branch::BranchName;
use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::id::ProjectId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::{NamespaceWithOwner, Project, ProjectRef};

use super::avatar::FoundAvatar;
use super::create::{Address, check_group_visibility, map_duplicate};
use super::fields::{ParsedProject, ProjectFields};
use super::fork_link::too_visible;
use super::view_with_token;
use crate::app::App;
use crate::error::Error;
use crate::repository::open;
use crate::view::project::{self as view, ProjectView};

/// Whether an update request has to contain the name of the project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameRule {
    /// The name is required.
    Required,
    /// The name is optional.
    Optional,
}

/// Updates the given fields of a project and leaves the others. Changing the name or the visibility requires owner
/// permission.
pub fn edit(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    rule: NameRule,
    fields: &ProjectFields,
) -> Result<ProjectView, Error> {
    let avatar = match &fields.default_branch {
        Some(name) => read_avatar(app, actor, named, name)?,
        None => None,
    };
    let mut changed = None;
    let shown = app.store.write(|tx| {
        let requester = app.requester(actor);
        let before = requester.locked_project(tx, ProjectAbility::Administer, named)?;
        match (rule, &fields.name) {
            (NameRule::Required, None) => return Err(Error::NotGiven("name")),
            (NameRule::Required | NameRule::Optional, _) => (),
        }
        let renames = fields.name.as_deref().is_some_and(|name| name != before.name.as_str());
        if renames || fields.asks_for_visibility() {
            requester.check_project(tx, ProjectAbility::Own, &before)?;
        }
        let place = view::with_namespace(tx, before.clone())?.place;
        let mut errors = FieldErrors::default();
        let parsed = fields.parse_change(&mut errors);
        if let Some(level) = parsed.visibility.filter(|level| *level != before.visibility) {
            requester.check_level(&*app.current_settings(tx)?, level, &mut errors);
        }
        check_fields(tx, &before, &place, &parsed, &mut errors)?;
        let head = find_default_branch(tx, before.id, fields, &mut errors)?;
        errors.into_result()?;
        if let Some(expression) = &parsed.coverage_expression {
            tx.projects().set_coverage_expression(before.id, expression.as_ref())?;
        }
        fields.store_build_settings(tx, before.id, parsed.build_timeout)?;
        let mut after = apply_fields(fields, parsed, &before);
        after.default_branch = head.clone().or(after.default_branch);
        if after != before {
            after.updated_at = app.clock.now();
            store_project(tx, &place, &before, &after)?;
        }
        if let (Some(head), Some(avatar)) = (&head, &avatar) {
            let refs = open::locked(app, tx, after.id)?;
            tx.refs().set_head(after.id, &head.full())?;
            let refs = open::committed(tx, after.id, &refs)?;
            let default_branch = before.default_branch.clone();
            after = avatar.store(tx, Project { default_branch, ..after }, &refs)?;
            changed = Some((after.id, refs));
        }
        view_with_token(tx, requester, after)
    })?;
    if let Some((project, refs)) = changed {
        app.refs.put_if_newer(project, Arc::new(refs));
        app.maintenance.enqueue(project);
    }
    Ok(shown)
}

/// Reads the avatar of the branch that is to become the default branch.
fn read_avatar(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    branch: &str,
) -> Result<Option<FoundAvatar>, Error> {
    let ability = ProjectAbility::Administer;
    let header =
        app.store.read_autocommit(|tx| app.requester(actor).project_header(tx, ability, named))?;
    let Ok(branch) = BranchName::parse(branch) else { return Ok(None) };
    let repository = open::open_by_header(app, &header, Caller::new(actor, None))?;
    Ok(Some(FoundAvatar::read(&*repository, Some(&branch))?))
}

/// Returns the requested default branch, or adds an error if it does not exist.
fn find_default_branch(
    tx: &mut dyn Tx,
    project: ProjectId,
    fields: &ProjectFields,
    errors: &mut FieldErrors,
) -> Result<Option<BranchName>, Error> {
    let Some(name) = fields.default_branch.as_deref() else { return Ok(None) };
    if let Ok(name) = BranchName::parse(name)
        && !tx.refs().find(project, &[&name.full()])?.is_empty()
    {
        return Ok(Some(name));
    }
    errors.add("default_branch", FieldProblem::Missing);
    Ok(None)
}

fn check_fields(
    tx: &mut dyn Tx,
    before: &Project,
    place: &NamespaceWithOwner,
    parsed: &ParsedProject,
    errors: &mut FieldErrors,
) -> Result<(), Error> {
    let name = parsed.name.as_ref().unwrap_or(&before.name);
    let path = parsed.path.as_ref().unwrap_or(&before.path);
    let address = Address { namespace: &place.namespace, name, path };
    address.check_taken(tx, Some(before), errors)?;
    let Some(visibility) = parsed.visibility else { return Ok(()) };
    check_group_visibility(&place.namespace, visibility, errors);
    if let Some(source) = before.forked_from
        && let Some(source) = tx.projects().find(&ProjectRef::Id(source))?
        && let Some(text) = too_visible(visibility, source.visibility)
    {
        errors.add("visibility_level", text);
    }
    Ok(())
}

fn apply_fields(fields: &ProjectFields, parsed: ParsedProject, before: &Project) -> Project {
    Project {
        name: parsed.name.unwrap_or_else(|| before.name.clone()),
        path: parsed.path.unwrap_or_else(|| before.path.clone()),
        description: parsed.description.or_else(|| before.description.clone()),
        visibility: parsed.visibility.unwrap_or(before.visibility),
        import_url: parsed.import_url.or_else(|| before.import_url.clone()),
        features: fields.features.applied_to(before.features),
        ..before.clone()
    }
}

fn store_project(
    tx: &mut dyn Tx,
    place: &NamespaceWithOwner,
    before: &Project,
    after: &Project,
) -> Result<(), Error> {
    tx.projects().update(after).map_err(map_duplicate)?;
    if after.visibility < before.visibility {
        tx.projects().lower_forks(after.id, after.updated_at)?;
    }
    if after.path != before.path {
        let renamed = SystemEvent::ProjectRenamed(place.facts(after), place.path_of(before));
        tx.outbox().record(&renamed, after.updated_at)?;
    }
    Ok(())
}
