//! Closes the merge requests of a fork that is deleted or no longer a fork.

use hexforge_domain::Timestamp;
use hexforge_domain::id::{MergeRequestId, ProjectId, UserId};
use hexforge_domain::merge_request::MergeRequestCommand;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::repository::task::TaskKind;

use super::RequestEditor;
use super::head;
use crate::app::App;
use crate::error::Error;

/// The number of requests per query.
const BATCH: u32 = 100;

/// Queues the closing of the open merge requests from a fork to the project that it was forked from. Call it in the
/// transaction that removes the fork or the relation.
pub(crate) fn queue_closing(
    tx: &mut dyn Tx,
    fork: &Project,
    user: UserId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let Some(target) = fork.forked_from else { return Ok(()) };
    // Requests that are being created hold this lock, and are found afterwards.
    if tx.projects().lock(fork.id)?.is_none() {
        return Ok(());
    }
    // The same transaction may have removed the target.
    if tx.projects().header(&ProjectRef::Id(target))?.is_none() {
        return Ok(());
    }
    if tx.merge_requests().open_from_fork(fork.id, None, 1)?.is_empty() {
        return Ok(());
    }
    let task = TaskKind::CloseRequestsOfFork { source: fork.id, user };
    tx.repository_tasks().insert(target, &task, now).map(drop)
}

/// Closes the open merge requests from a former fork that the user may change. The others stay open.
pub fn close_requests(app: &App, source: ProjectId, user: UserId) -> Result<(), Error> {
    let mut after: Option<MergeRequestId> = None;
    loop {
        let batch = app
            .store
            .read_autocommit(|tx| tx.merge_requests().open_from_fork(source, after, BATCH))?;
        for request in &batch {
            let target = ProjectRef::Id(request.project());
            head::write_with_head(app, &target, request.id, |tx, head| {
                let Some(account) = tx.users().find(user)? else { return Ok(()) };
                let actor = Actor::of(account.id, &account.privileges);
                let tracker = match app.requester(actor).locked_tracker(tx, &target) {
                    Err(Error::NotFound(_)) => return Ok(()),
                    tracker => tracker?,
                };
                let request = tx.merge_requests().find(tracker.project.id, request.id)?;
                let may = |one: &_| tracker.allows_on(MergeRequestAbility::Update, one);
                let Some(request) = request.filter(may) else { return Ok(()) };
                let (project, now) = (&tracker.project, app.clock.now());
                let editor = RequestEditor { user, project, head, now };
                editor.set_state(tx, request, MergeRequestCommand::Close)?;
                Ok(())
            })?;
        }
        if batch.len() < BATCH as usize {
            return Ok(());
        }
        after = batch.last().map(|request| request.id);
    }
}
