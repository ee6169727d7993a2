//! Cherry-picks.

use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::Commit;
use hexforge_domain::limiter::Caller;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::repository::{CommitText, PickOutcome};

use super::{people, target};
use crate::app::App;
use crate::branch::project_to_push;
use crate::error::{Entity, Error, Refusal};
use crate::repository::{CommitRef, open, sight};

/// Applies the change of a commit to a branch. The new commit has the message, the author and the author date of the
/// old one.
pub fn cherry_pick(
    app: &App,
    actor: Actor,
    CommitRef { project, revision }: CommitRef<'_>,
    branch: &str,
) -> Result<Commit, Error> {
    let project = project_to_push(app, actor, project)?;
    let repository = open::open_for(app, project.id, Caller::new(actor, None))?;
    let id = sight::resolve(app, actor, project.id, repository.as_ref(), revision)?;
    let id = id.ok_or(Error::NotFound(Entity::Commit))?;
    let picked = repository.commit(id)?.ok_or(Error::NotFound(Entity::Commit))?;
    let no_branch = || Error::NotFound(Entity::Branch);
    let name = BranchName::parse(branch).map_err(|_| no_branch())?;
    repository.refs().target(&name.full()).ok_or_else(no_branch)?;
    let conflict = || Error::Refused(Refusal::CherryPick);
    let made = target::commit_to(app, actor, &project, branch, None, |target| {
        let tip = target.tip.ok_or_else(no_branch)?;
        let committer = people::caller(app, actor)?;
        let (message, author) = (picked.message.clone(), picked.author.clone());
        let text = CommitText { message, author, committer };
        match target.repository.cherry_pick(id, tip, &text) {
            Ok(PickOutcome::Picked(written)) => Ok((written, text)),
            Ok(PickOutcome::Conflict | PickOutcome::Unchanged) | Err(GitError::TooLarge) => {
                Err(conflict())
            }
            Err(error) => Err(error.into()),
        }
    });
    match made {
        Ok(published) => Ok(published.commit),
        // Another call removed the branch meanwhile.
        Err(Error::Refused(Refusal::NotOnBranch)) => Err(no_branch()),
        Err(error) => Err(error),
    }
}
