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
    /// The parent of the commit: the tip of the branch, or of the branch from which it starts; `None` in an empty
    /// repository.
    pub tip: Option<ObjectId>,
    /// The commit of the branch before the change; `None` if the commit creates the branch.
    old: Option<ObjectId>,
}

/// A commit that was added to a branch.
pub(crate) struct Published {
    /// The commit.
    pub commit: Commit,
    /// Its changed lines.
    pub stats: CommitStats,
    /// Whether it created the branch, beside others.
    pub created_branch: bool,
}

/// Adds a commit to a branch, with everything that a push causes. A missing branch is created if `start` names the
/// branch from which it starts. `write` checks the request against the branch and writes the commit. It runs again when
/// another writer changed the branch meanwhile.
pub(crate) fn commit_to(
    app: &App,
    actor: Actor,
    project: &Project,
    branch: &str,
    start: Option<&str>,
    write: impl Fn(&Target) -> Result<(WrittenCommit, CommitText), Error>,
) -> Result<Published, Error> {
    let open = || Target::open(app, actor, project, branch, start);
    // The permission is checked before the wait: calls that are refused do not delay other writers.
    let mut target = open()?;
    let turn = app.turns.wait(project.id, branch);
    if turn.waited {
        target = open()?;
    }
    for _ in 0..TRIES {
        let (written, text) = write(&target)?;
        match target.publish(app, actor, project, &written) {
            Ok(stats) => {
                let commit = commit_of(&target, &written, text);
                let created_branch = target.creates_branch();
                return Ok(Published { commit, stats, created_branch });
            }
            Err(Error::Git(GitError::Conflict(_))) => {
                let creates_branch = target.creates_branch();
                target = open()?;
                // Nobody else created it, so its name is a folder of branches, or a branch is a folder of its name.
                if creates_branch && target.creates_branch() {
                    return Err(moved(branch));
                }
            }
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
    /// Checks that the caller may push to the branch, and that it exists unless the repository is empty or `start`
    /// names another branch.
    fn open(
        app: &App,
        actor: Actor,
        project: &Project,
        branch: &str,
        start: Option<&str>,
    ) -> Result<Self, Error> {
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
            return Ok(Self { repository, branch, tip: None, old: None });
        }
        let missing = || Error::Refused(Refusal::NotOnBranch);
        let tip_of = |name: &str| {
            let name = BranchName::parse(name).map_err(|_| missing())?;
            refs.target(&name.full()).map(|tip| (name, tip)).ok_or_else(missing)
        };
        let (branch, tip, old) = match (tip_of(branch), start) {
            (Ok((branch, tip)), _) => (branch, tip, Some(tip)),
            (Err(_), Some(start)) => {
                let name = BranchName::parse_new(branch);
                let name = name.map_err(|_| Error::Refused(Refusal::BranchName))?;
                (name, tip_of(start)?.1, None)
            }
            (Err(error), None) => return Err(error),
        };
        Ok(Self { repository, branch, tip: Some(tip), old })
    }

    /// Returns whether the commit creates the branch, beside others.
    fn creates_branch(&self) -> bool {
        self.old.is_none() && self.tip.is_some()
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
        let changes = vec![RefChange { name, old: self.old, new }];
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
