//! The access rule for objects of a repository.
//!
//! Objects that are reachable from a ref are visible to all readers of the code. This includes hidden refs, which keep
//! commits of merge requests. Unreachable objects, such as the commits of a deleted branch, are visible to masters only,
//! unless a pipeline or a comment keeps them. A project that was created as a fork also has the unreachable objects of
//! its source. Its masters need not be masters of the source, so in such a project only administrators see unreachable
//! objects.

use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::note::Noteable;
use hexforge_domain::paging::Page;
use hexforge_domain::pipeline::PipelineScope;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::{GitError, Repository, Resolved};
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::ProjectRef;

use crate::app::App;
use crate::error::Error;

/// The pipelines that keep all objects reachable from their commits. Older pipelines keep only the commit itself.
const KEEPING_PIPELINES: Page = Page::Numbered { number: 1, size: 100 };

/// A page that is enough to know whether a list is empty.
const ONE: Page = Page::Numbered { number: 1, size: 1 };

/// Resolves a revision to a commit that the actor may see. The caller has checked that the actor may read the code.
pub(crate) fn resolve(
    app: &App,
    actor: Actor,
    project: ProjectId,
    repository: &dyn Repository,
    revision: &str,
) -> Result<Option<ObjectId>, Error> {
    let Some(Resolved { commit, through_ref }) = repository.resolve(revision)? else {
        return Ok(None);
    };
    let visible = through_ref || may_see(app, actor, project, repository, commit)?;
    Ok(visible.then_some(commit))
}

/// Returns whether the actor may see an existing object. The caller has checked that the actor may read the code.
pub(crate) fn may_see(
    app: &App,
    actor: Actor,
    project: ProjectId,
    repository: &dyn Repository,
    object: ObjectId,
) -> Result<bool, Error> {
    match repository.is_reachable(object, &[]) {
        Ok(true) => return Ok(true),
        // Masters may see unreachable objects, so they need not wait for the search to finish.
        Ok(false) | Err(GitError::Unfinished | GitError::Busy) => (),
        Err(error) => return Err(error.into()),
    }
    match app.store.read_autocommit(|tx| find_exception(app, tx, actor, project, object))? {
        Exception::Granted => Ok(true),
        Exception::KeptCommits(commits) => {
            let through_refs = repository.is_reachable(object, &[])?;
            Ok(through_refs || !commits.is_empty() && repository.is_reachable(object, &commits)?)
        }
    }
}

/// The reason for which an actor may see an unreachable object.
enum Exception {
    /// The actor may see unreachable objects, or the commit has a pipeline or a comment.
    Granted,
    /// The object is visible if it is reachable from one of these commits, which pipelines keep.
    KeptCommits(Vec<ObjectId>),
}

fn find_exception(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
    project: ProjectId,
    object: ObjectId,
) -> Result<Exception, Error> {
    let (ability, named) = (ProjectAbility::ReadUnreachable, ProjectRef::Id(project));
    let is_foreign =
        !matches!(actor, Actor::Admin { .. }) && tx.projects().was_created_as_fork(project)?;
    match app.requester(actor).project_header(tx, ability, &named) {
        Ok(_) if is_foreign => (),
        Ok(_) => return Ok(Exception::Granted),
        Err(Error::NotFound(_) | Error::Forbidden(_) | Error::Unauthenticated) => (),
        Err(error) => return Err(error),
    }
    let noteable = Noteable::Commit { project, id: object };
    if !tx.pipelines().of_commit(project, object)?.is_empty()
        || tx.notes().list(noteable, None, ONE)?.total > 0
    {
        return Ok(Exception::Granted);
    }
    let newest = tx.pipelines().list(project, PipelineScope::All, KEEPING_PIPELINES)?;
    Ok(Exception::KeptCommits(newest.items.into_iter().map(|pipeline| pipeline.sha).collect()))
}
