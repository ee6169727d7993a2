//! Deletes the branches that are merged into the default branch.

use hexforge_domain::branch::protection::Protected;
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::{GitError, RefChange};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::repository::task::TaskKind;

use crate::access;
use crate::app::App;
use crate::error::Error;
use crate::push;
use crate::repository;

/// Schedules the deletion of all branches that are merged into the default branch. The call requires read access to the
/// code; without push access it succeeds and does nothing.
pub fn request(app: &App, actor: Actor, named: &ProjectRef) -> Result<(), Error> {
    let user = access::own_account(actor)?;
    let code = ProjectAbility::DownloadCode;
    let header =
        app.store.read_autocommit(|tx| app.requester(actor).project_header(tx, code, named))?;
    // Branches pushed to an empty repository after the request must not be deleted by it.
    if !repository::refs(app, header.id)?.has_branches() {
        return Ok(());
    }
    app.store.write(|tx| {
        let requester = app.requester(actor);
        let project = requester.project(tx, code, named)?;
        match requester.check_project(tx, ProjectAbility::PushCode, &project) {
            Ok(()) => {
                let kind = TaskKind::RemoveMerged { user };
                tx.repository_tasks().insert(project.id, &kind, app.clock.now())?;
                Ok(())
            }
            Err(Error::Forbidden(_)) => Ok(()),
            Err(error) => Err(error),
        }
    })
}

/// Deletes the merged branches now, with the permissions of a user.
pub(crate) fn remove(app: &App, project: ProjectId, user: UserId) -> Result<(), Error> {
    let named = ProjectRef::Id(project);
    let found = app.store.read(|tx| {
        let Some(actor) = access::reload(tx, Actor::User { id: user, external: false })? else {
            return Ok(None);
        };
        let project = app.requester(actor).project(tx, ProjectAbility::PushCode, &named);
        let project = match project {
            Ok(project) => project,
            // The user lost the permission after the request.
            Err(Error::NotFound(_) | Error::Forbidden(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        let protections = tx.protections().list(project.id)?;
        Ok(Some((actor, project, protections)))
    })?;
    let Some((actor, project, protections)) = found else { return Ok(()) };
    let repository = repository::open(app, project.id)?;
    let Some(default) = repository.refs().default_branch() else { return Ok(()) };
    let Some(tip) = repository.refs().target(&default.full()) else { return Ok(()) };
    for (name, target) in repository.branches_merged_into(tip)? {
        if name == default || Protected::of(name.as_str(), &protections).protected {
            continue;
        }
        let change = RefChange { name: name.full(), old: Some(target), new: None };
        match push::change_ref(app, actor, &project, repository.as_ref(), change) {
            // Moved or deleted meanwhile: the branch is skipped.
            Ok(_) | Err(Error::Git(GitError::Conflict(_))) => (),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
