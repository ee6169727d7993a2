//! Forking projects.

use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::query::{ListAudience, ProjectFilter, ProjectScope};
use hexforge_domain::project::{Features, NewProject, ProjectRef, ProjectWithNamespace};
use hexforge_domain::visibility::Visibility;

use super::create::{Address, check_group_visibility, check_limit, new_runners_token, store_new};
use super::view_with_token;
use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::repository::packs;
use crate::view::project::{ProjectView, page_with_namespaces};

/// The namespace of a new fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ForkTarget {
    /// The namespace that the request names by id, path or name.
    Named(String),
    /// The caller's personal namespace.
    Own,
}

/// Lists the direct forks of a project that the actor may see, newest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    page: Page,
) -> Result<Paged<ProjectWithNamespace>, Error> {
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let project = requester.project(tx, ProjectAbility::Read, named)?;
        let (viewer, visibility) = match actor {
            Actor::Anonymous => (ListAudience::Unrestricted, Some(Visibility::Public)),
            Actor::Admin { .. } => (ListAudience::Unrestricted, None),
            Actor::User { .. } => (ListAudience::Viewer(access::viewer(actor)?), None),
        };
        let scope = ProjectScope::ForksOf { source: project.id, viewer };
        let filter =
            ProjectFilter { visibility, ..ProjectFilter::newest_first(scope, requester.today) };
        let forks = tx.projects().list(&filter, page)?;
        Ok(page_with_namespaces(tx, forks)?)
    })
}

/// Forks a project.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    target: &ForkTarget,
) -> Result<ProjectView, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let requester = app.requester(actor);
        let creator = tx.users().find(user)?.ok_or(Error::Unauthenticated)?;
        let namespace = match target {
            ForkTarget::Named(named) => tx.namespaces().find_target(named)?,
            ForkTarget::Own => tx.namespaces().personal(user)?,
        };
        let missing = || Error::NotFound(Entity::TargetNamespace);
        let namespace = namespace.ok_or_else(missing)?;
        if !requester.may_create_in(tx, &namespace)? {
            return Err(missing());
        }
        let source = requester.project(tx, ProjectAbility::Read, named)?;
        let may_fork = requester.check_project(tx, ProjectAbility::DownloadCode, &source);
        match may_fork {
            Ok(()) => (),
            Err(Error::Forbidden(_)) => {
                let errors = FieldErrors::single("forked_from_project_id", FieldProblem::Forbidden);
                return Err(Error::ConflictingFields(errors));
            }
            Err(error) => return Err(error),
        }
        let mut errors = FieldErrors::default();
        let address = Address { namespace: &namespace, name: &source.name, path: &source.path };
        address.check_taken(tx, None, &mut errors)?;
        requester.check_level(&*app.current_settings(tx)?, source.visibility, &mut errors);
        check_group_visibility(&namespace, source.visibility, &mut errors);
        errors.into_result().map_err(Error::ConflictingFields)?;
        check_limit(tx, &creator, &namespace)?;
        let new = NewProject {
            namespace: namespace.id,
            creator: user,
            name: source.name.clone(),
            path: source.path.clone(),
            description: source.description.clone(),
            visibility: source.visibility,
            features: Features {
                shared_runners: source.features.shared_runners,
                builds: source.features.builds,
                ..Features::default()
            },
            forked_from: Some(source.id),
            runners_token: new_runners_token(app),
            import_url: None,
            avatar: source.avatar.clone(),
            at: app.clock.now(),
        };
        let fork = store_new(tx, &creator, new).map_err(|error| match error {
            Error::Invalid(_) => {
                Error::ConflictingFields(FieldErrors::single("path", FieldProblem::Taken))
            }
            error => error,
        })?;
        packs::copy(app, tx, source.id, fork.id)?;
        let fork = tx.projects().find(&ProjectRef::Id(fork.id))?.unwrap_or(fork);
        view_with_token(tx, requester, fork)
    })
}
