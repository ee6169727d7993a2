//! Shares projects with groups.

use chrono::NaiveDate;
use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::group::GroupRef;
use hexforge_domain::id::NamespaceId;
use hexforge_domain::member::{AccessLevel, is_in_force};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::group::GroupAbility;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::project::share::{NewShare, Share};

use crate::access::Requester;
use crate::app::App;
use crate::error::{Conflict, Entity, Error, Refusal};

/// The share fields of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShareFields {
    pub group_id: Option<i64>,
    pub group_access: Option<i64>,
    pub expires_at: Option<NaiveDate>,
}

/// Lists the shares of a project that are in force.
pub fn list(app: &App, actor: Actor, named: &ProjectRef) -> Result<Vec<Share>, Error> {
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let project = requester.project(tx, ProjectAbility::Administer, named)?;
        let mut shares = tx.shares().of_projects(&[project.id])?;
        shares.retain(|share| is_in_force(share.share.expires_at, requester.today));
        Ok(shares)
    })
}

/// Ends the share of a project with a group.
pub fn delete(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    group: NamespaceId,
) -> Result<(), Error> {
    app.store.write(|tx| {
        let project = app.requester(actor).locked_project(tx, ProjectAbility::Administer, named)?;
        let shares = tx.shares().of_projects(&[project.id])?;
        if !shares.iter().any(|share| share.share.group == group) {
            return Err(Error::NotFound(Entity::Record));
        }
        Ok(tx.shares().delete(project.id, group)?)
    })
}

/// Shares a project with the group that has this path.
pub fn create_by_path(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    path: &str,
    fields: ShareFields,
) -> Result<Share, Error> {
    let unknown = || Error::from(FieldErrors::single("group", FieldProblem::Missing));
    let group = app.store.read(|tx| {
        let requester = app.requester(actor);
        requester.project(tx, ProjectAbility::Administer, named)?;
        match requester.group(tx, GroupAbility::Read, &GroupRef::new(path)) {
            Err(Error::NotFound(_)) => Err(unknown()),
            found => found,
        }
    })?;
    create(app, actor, named, ShareFields { group_id: Some(group.id.0), ..fields })
}

/// Shares a project with a group.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    fields: ShareFields,
) -> Result<Share, Error> {
    app.store.write(|tx| {
        let requester = app.requester(actor);
        requester.project_header(tx, ProjectAbility::Administer, named)?;
        let group = fields.group_id.ok_or(Error::NotGiven("group_id"))?;
        let level = fields.group_access.ok_or(Error::NotGiven("group_access"))?;
        let group = find_group(tx, requester, group)?;
        tx.groups().prevent_deletion(group)?;
        let project = requester.locked_project(tx, ProjectAbility::Administer, named)?;
        let namespace = tx.namespaces().find(project.namespace)?;
        if namespace.is_some_and(|namespace| namespace.share_with_group_lock) {
            return Err(Error::Refused(Refusal::SharingDisabled));
        }
        let known = tx.shares().of_projects(&[project.id])?;
        let known = known.iter().find(|share| share.share.group == group);
        if known.is_some_and(|known| is_in_force(known.share.expires_at, requester.today)) {
            return Err(Error::Conflict(Conflict::AlreadyShared));
        }
        let access =
            AccessLevel::from_project_level(level).ok_or(Error::Conflict(Conflict::ShareLevel))?;
        if group == project.namespace {
            return Err(Error::Conflict(Conflict::SharedWithOwnGroup));
        }
        let new = NewShare { project: project.id, group, access, expires_at: fields.expires_at };
        // An expired share is replaced.
        if known.is_some() {
            tx.shares().delete(project.id, group)?;
        }
        tx.shares().insert(new).map_err(|error| match error {
            StoreError::Duplicate(_) => Error::Conflict(Conflict::AlreadyShared),
            StoreError::Gone => Error::NotFound(Entity::Group),
            error => error.into(),
        })
    })
}

/// Returns the id of a group if the actor may see the group.
fn find_group(tx: &mut dyn Tx, requester: Requester, id: i64) -> Result<NamespaceId, Error> {
    let namespace = tx.namespaces().find(NamespaceId(id))?;
    let group = namespace.filter(|namespace| namespace.owner.is_none());
    let group = group.ok_or(Error::NotFound(Entity::Group))?;
    let named = GroupRef::new(group.path.as_str());
    Ok(requester.group(tx, GroupAbility::Read, &named)?.id)
}
