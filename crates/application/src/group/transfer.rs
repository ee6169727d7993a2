//! Moving a project into a group.

use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::group::GroupRef;
use hexforge_domain::id::ProjectId;
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::system::ServiceAbility;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::{Project, ProjectRef};

use super::detail;
use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::view::group::GroupDetail;
use crate::view::project as project_view;

const CLASH: &str = "Project with same path in target namespace already exists";

/// Moves a project into a group. The visibility level of the project is lowered to that of the group.
pub fn into_group(
    app: &App,
    actor: Actor,
    named: &GroupRef,
    project: ProjectId,
) -> Result<GroupDetail, Error> {
    access::require_service_ability(actor, ServiceAbility::Administer)?;
    app.store.write(|tx| {
        let now = app.clock.now();
        let found =
            tx.projects().find(&ProjectRef::Id(project))?.ok_or(Error::NotFound(Entity::Record))?;
        let group = tx.groups().find(named)?.ok_or(Error::NotFound(Entity::Group))?;
        let group = tx.groups().lock(group.id)?.ok_or(Error::NotFound(Entity::Group))?;
        let before = tx.projects().lock(found.id)?.ok_or(Error::NotFound(Entity::Record))?;
        if before.namespace == group.id {
            return Err(refused(FieldProblem::Invalid));
        }
        if !tx.projects().find_clashing(group.id, &before.name, &before.path)?.is_empty() {
            return Err(refused(CLASH));
        }
        let old_path = {
            let placed = project_view::with_namespace(tx, before.clone())?;
            placed.place.path_of(&placed.project)
        };
        let after = Project {
            namespace: group.id,
            visibility: before.visibility.min(group.visibility),
            updated_at: now,
            ..before.clone()
        };
        tx.projects().update(&after).map_err(|error| match error {
            StoreError::Duplicate(_) => refused(CLASH),
            error => error.into(),
        })?;
        tx.group_labels().adapt_to_group(after.id)?;
        // A share with the group is redundant now: membership in the group gives at least the same access.
        tx.shares().delete(after.id, group.id)?;
        if after.visibility < before.visibility {
            tx.projects().lower_forks(after.id, now)?;
        }
        let placed = project_view::with_namespace(tx, after)?;
        let facts = placed.place.facts(&placed.project);
        tx.outbox().record(&SystemEvent::ProjectTransferred(facts, old_path), now)?;
        detail(tx, app.requester(actor), group)
    })
}

fn refused(why: impl std::fmt::Display) -> Error {
    FieldErrors::single("new_namespace", why).into()
}
