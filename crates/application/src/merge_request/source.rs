//! Deletes the source branches of merged requests.

use hexforge_domain::Timestamp;
use hexforge_domain::branch::BranchName;
use hexforge_domain::branch::protection::Protected;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{ProjectId, RepositoryTaskId, UserId};
use hexforge_domain::merge_request::{Ends, RequestBranch};
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::git::{GitError, RefChange};
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::repository::task::TaskKind;

use crate::app::App;
use crate::error::Error;
use crate::push;
use crate::repository::open;

/// The removal of a source branch.
pub(crate) struct SourceRemoval {
    /// The source project.
    pub project: ProjectId,
    /// The source branch.
    pub branch: RequestBranch,
    /// The merged commit.
    pub head: ObjectId,
}

/// A removal that the transaction of a merge queued as a task, so that it survives a crash.
pub(crate) struct QueuedRemoval {
    removal: SourceRemoval,
    task: RepositoryTaskId,
}

impl QueuedRemoval {
    /// Deletes the branch right after the merge, and the task. After a failure the task remains: the request is merged,
    /// so the caller must not repeat the call.
    pub(crate) fn run_at_once(&self, app: &App, actor: Actor) {
        if self.removal.run(app, actor).is_ok() {
            drop(app.store.write(|tx| tx.repository_tasks().finish(self.task)));
        }
    }
}

impl SourceRemoval {
    /// The removal for a request with these branches; `None` without a head.
    pub(crate) fn of(ends: &Ends, head: Option<ObjectId>) -> Option<Self> {
        let (project, branch) = (ends.source_project, ends.source_branch.clone());
        Some(Self { project, branch, head: head? })
    }

    /// Queues the removal on behalf of a user, if the source project still exists.
    pub(crate) fn queue(
        self,
        tx: &mut dyn Tx,
        user: UserId,
        now: Timestamp,
    ) -> Result<Option<QueuedRemoval>, StoreError> {
        if tx.projects().find(&ProjectRef::Id(self.project))?.is_none() {
            return Ok(None);
        }
        let kind =
            TaskKind::RemoveSourceBranch { branch: self.branch.clone(), head: self.head, user };
        let task = tx.repository_tasks().insert(self.project, &kind, now)?;
        Ok(Some(QueuedRemoval { removal: self, task }))
    }

    /// Like [`run`](Self::run), for a user who may be blocked by now.
    pub(crate) fn run_for(&self, app: &App, user: UserId) -> Result<(), Error> {
        let user = app.store.read_autocommit(|tx| tx.users().find(user))?;
        match user.filter(|user| user.state.may_act()) {
            Some(user) => self.run(app, Actor::of(user.id, &user.privileges)),
            None => Ok(()),
        }
    }

    /// Deletes the branch on behalf of the actor. The branch stays when it is the default branch or protected, when it
    /// has moved, or when the actor may not push there.
    pub(crate) fn run(&self, app: &App, actor: Actor) -> Result<(), Error> {
        let Ok(branch) = BranchName::parse(self.branch.as_str()) else { return Ok(()) };
        let found = app.store.read(|tx| {
            let Some(project) = tx.projects().find(&ProjectRef::Id(self.project))? else {
                return Ok(None);
            };
            let protections = tx.protections().list(project.id)?;
            Ok::<_, StoreError>(Some((project, protections)))
        })?;
        let Some((project, protections)) = found else { return Ok(()) };
        let repository = open::open(app, project.id)?;
        let is_default = repository.refs().default_branch().as_ref() == Some(&branch);
        let is_protected = Protected::of(branch.as_str(), &protections).protected;
        let tip = repository.refs().target(&branch.full());
        if is_default || is_protected || tip != Some(self.head) {
            return Ok(());
        }
        let change = RefChange { name: branch.full(), old: tip, new: None };
        // The push rules decline the change if the actor may not push there.
        match push::change_ref(app, actor, &project, &*repository, change) {
            Ok(_) | Err(Error::Git(GitError::Conflict(_))) => Ok(()),
            Err(error) => Err(error),
        }
    }
}
