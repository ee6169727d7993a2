//! The commit of a merge request's head, for hook payloads. It is read before the transaction, because a repository is
//! not read while rows are locked.

use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::id::{MergeRequestId, ProjectId};
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::outbox::merge_request::LastCommit;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;

use crate::app::App;
use crate::error::Error;
use crate::repository::open;
use crate::retry;

/// The number of attempts while pushes replace the head.
const TRIES: u32 = 5;

/// The commit of a head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeadCommit(Option<Commit>);

impl HeadCommit {
    /// The head without a commit: the source branch does not exist.
    pub(crate) const MISSING: HeadCommit = HeadCommit(None);

    /// Wraps a commit that is already read.
    pub(crate) fn of(commit: Option<Commit>) -> Self {
        Self(commit)
    }

    /// Reads the commit from the target repository.
    pub(crate) fn read(
        app: &App,
        target: ProjectId,
        head: Option<ObjectId>,
    ) -> Result<Self, Error> {
        match head {
            Some(head) => Ok(Self(open::open(app, target)?.commit(head)?)),
            None => Ok(Self::MISSING),
        }
    }

    /// Returns the commit as hook payloads show it.
    /// # Errors
    /// [`StoreError::Busy`] when the request has another head by now.
    pub(crate) fn last_commit(
        &self,
        request: &MergeRequest,
    ) -> Result<Option<LastCommit>, StoreError> {
        if self.0.as_ref().map(|commit| commit.id) != request.head {
            return Err(StoreError::Busy);
        }
        Ok(self.0.as_ref().map(LastCommit::from))
    }
}

/// Runs a transaction that changes a merge request, with the commit of its head. Runs again when a push replaces the
/// head meanwhile.
pub(crate) fn write_with_head<T: Send>(
    app: &App,
    named: &ProjectRef,
    id: MergeRequestId,
    work: impl Fn(&mut dyn Tx, &HeadCommit) -> Result<T, Error> + Send + Sync,
) -> Result<T, Error> {
    let is_busy = |error: &Error| matches!(error, Error::Store(StoreError::Busy));
    retry::while_busy(TRIES, is_busy, || {
        let found = app.store.read_autocommit(|tx| {
            let Some(project) = tx.projects().header(named)? else { return Ok(None) };
            let request = tx.merge_requests().find(project.id, id)?;
            Ok::<_, StoreError>(request.map(|request| (project.id, request.head)))
        })?;
        // The transaction reports what is missing.
        let head = match found {
            Some((project, head)) => HeadCommit::read(app, project, head)?,
            None => HeadCommit::MISSING,
        };
        app.store.write(|tx| work(tx, &head))
    })
}
