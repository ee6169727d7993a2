//! Writes commits through the API: commits of several actions, cherry-picks, and comments.

mod actions;
pub mod comment;
pub(crate) mod people;
pub mod pick;
pub mod signature;
pub(crate) mod target;

pub use actions::Action;
pub(crate) use actions::has_only_letters;
pub use people::AuthorFields;

use hexforge_domain::commit::Commit;
use hexforge_domain::policy::Actor;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::repository::{CommitOutcome, CommitText, WrittenCommit};

use crate::app::App;
use crate::branch::project_to_push;
use crate::error::Error;
use crate::repository::commits::{self, CommitView};
use actions::Plan;
use target::{Published, Target};

/// The fields of a new commit.
pub struct NewCommit {
    /// The name of the branch.
    pub branch: String,
    /// The message, which is stored as given.
    pub message: String,
    /// The changes of files, in their order.
    pub actions: Vec<Action>,
    /// The author.
    pub author: AuthorFields,
}

/// Adds a commit of several actions to a branch. All actions are applied, or none.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    new: NewCommit,
) -> Result<CommitView, Error> {
    let project = project_to_push(app, actor, named)?;
    let NewCommit { branch, message, actions, author } = new;
    people::check_lengths(&message, &author)?;
    let plan = Plan::new(actions);
    let made = target::commit_to(app, actor, &project, &branch, None, |target| {
        plan.check(target)?;
        let (author, committer) = people::signatures(app, actor, &author)?;
        let text = CommitText { message: message.clone(), author, committer };
        match target.repository.write_commit(target.tip, plan.changes(), &text)? {
            CommitOutcome::Written(written) => Ok((written, text)),
            CommitOutcome::Impossible { change, why } => Err(plan.impossible(change, why)),
        }
    })?;
    let Published { commit, stats, .. } = made;
    // The commit is published, so a failure here must not make the caller repeat the request.
    let status = commits::status_of(app, project.id, commit.id).unwrap_or_default();
    Ok(CommitView { commit, stats, status })
}

/// The commit that was written with this text.
fn commit_of(target: &Target, written: &WrittenCommit, text: CommitText) -> Commit {
    let CommitText { message, author, committer } = text;
    let parents = target.tip.into_iter().collect();
    Commit { id: written.id, parents, message, author, committer, signed: None }
}
