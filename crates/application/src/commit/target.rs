//! The branch to which a commit is added: the checks before, and the publication of the commit.

use std::sync::Arc;

use hexforge_domain::branch::BranchName;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::limiter::Caller;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::push::PushRefusal;
use hexforge_domain::ports::git::{GitError, RefChange, Repository};
use hexforge_domain::ports::git_transport::Proposal;
use hexforge_domain::project::Project;
use hexforge_domain::refs::{Atomicity, Peeled};
use hexforge_domain::repository::{CommitStats, CommitText, PathEntry, WrittenCommit};

use super::commit_of;
use crate::app::App;
use crate::branch::push_refused;
use crate::error::{Error, Refusal};
use crate::push::{self, PushOutcome};
use crate::repository::open;

/// The number of attempts while other writers change the branch.
const TRIES: u32 = 5;

/// A branch to which the caller may push, before the commit.
pub(crate) struct Target {
    /// The repository.
    pub repository: Box<dyn Repository>,
    /// The name of the branch.
    pub branch: BranchName,
    /// The commit of the branch; `None` in an empty repository.
    pub tip: Option<ObjectId>,
}

/// Adds a commit to a branch, with everything that a push causes. `write` checks the request against the branch and
/// writes the commit. It runs again when another writer changed the branch meanwhile.
pub(crate) fn commit_to(
    app: &App,
    actor: Actor,
    project: &Project,
    branch: &str,
    write: impl Fn(&Target) -> Result<(WrittenCommit, CommitText), Error>,
) -> Result<(Commit, CommitStats), Error> {
    let open = || Target::open(app, actor, project, branch);
    // The permission is checked before the wait: calls that are refused do not delay other writers.
    let mut target = open()?;
    let turn = app.turns.wait(project.id, branch);
    if turn.waited {
        target = open()?;
    }
    for _ in 0..TRIES {
        let (written, text) = write(&target)?;
        match target.publish(app, actor, project, &written) {
            Ok(stats) => return Ok((commit_of(&target, &written, text), stats)),
            Err(Error::Git(GitError::Conflict(_))) => target = open()?,
            Err(error) => return Err(error),
        }
    }
    Err(moved(branch))
}

/// The error when the branch cannot be changed.
fn moved(branch: &str) -> Error {
    Error::Refused(Refusal::BranchMoved(branch.to_owned()))
}

impl Target {
    /// Checks that the caller may push to the branch, and that it exists unless the repository is empty.
    fn open(app: &App, actor: Actor, project: &Project, branch: &str) -> Result<Self, Error> {
        let repository = open::open_for(app, project.id, Caller::new(actor, None))?;
        let refs = repository.refs();
        let requester = app.requester(actor);
        let facts = app.store.read(|tx| push::push_facts(app, tx, requester, project, refs))?;
        if !facts.may_push {
            return Err(Error::Forbidden(None));
        }
        if !facts.may_commit_to(branch) {
            return Err(Error::Refused(Refusal::BranchProtected));
        }
        if !refs.has_branches() {
            let branch = BranchName::parse_new(branch).map_err(|_| moved(branch))?;
            return Ok(Self { repository, branch, tip: None });
        }
        let missing = || Error::Refused(Refusal::NotOnBranch);
        let branch = BranchName::parse(branch).map_err(|_| missing())?;
        let tip = refs.target(&branch.full()).ok_or_else(missing)?;
        Ok(Self { repository, branch, tip: Some(tip) })
    }

    /// Returns what the branch has at a path.
    pub(crate) fn entry(&self, path: &str) -> Result<PathEntry, Error> {
        match self.tip {
            Some(tip) => Ok(self.repository.path_entry(tip, path)?),
            None => Ok(PathEntry::Missing),
        }
    }

    /// Moves the branch to the commit. Returns the statistics of the commit, which are read before the branch moves:
    /// afterwards nothing may fail.
    fn publish(
        &self,
        app: &App,
        actor: Actor,
        project: &Project,
        written: &WrittenCommit,
    ) -> Result<CommitStats, Error> {
        let (name, new) = (self.branch.full(), Some(written.id));
        let changes = vec![RefChange { name, old: self.tip, new }];
        let (atomicity, packs) = (Atomicity::AllOrNone, vec![written.pack]);
        let proposal = Proposal { changes, peeled: Peeled::new(), atomicity, packs };
        let refs = self.repository.refs();
        let proposed = Arc::new(proposal.applied(refs));
        let repository = app.git.open(project.id, proposed, Caller::new(actor, None))?;
        let stats = repository.commit_stats(written.id)?;
        match push::advance_branches(app, actor, project.id, refs, proposal)? {
            PushOutcome::Done => Ok(stats),
            PushOutcome::Declined(PushRefusal::Protected) => {
                Err(Error::Refused(Refusal::BranchProtected))
            }
            PushOutcome::Declined(PushRefusal::Project) => Err(Error::Forbidden(None)),
            PushOutcome::Declined(refusal) => Err(push_refused(refusal)),
        }
    }
}
