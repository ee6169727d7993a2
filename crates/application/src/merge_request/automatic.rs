//! Automatic merges: merge requests that are merged when the pipeline of their head succeeds.

use hexforge_domain::Timestamp;
use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{MergeRequestId, ProjectId};
use hexforge_domain::merge_request::readiness::NotReady;
use hexforge_domain::merge_request::{MergeRequest, RequestBranch};
use hexforge_domain::note::system::SystemNote;
use hexforge_domain::pipeline::Pipeline;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::repository::task::TaskKind;

use super::RequestEditor;
use super::head::HeadCommit;
use super::merge::{self, MergeWishes, find_to_merge};
use crate::access;
use crate::app::App;
use crate::error::{Error, MergeRefusal};
use crate::view::merge_request::{self as view, MergeRequestView};

/// The maximum number of requests that wait for one pipeline.
const MAX_REQUESTS: u32 = 100;

/// Cancels the automatic merge of a merge request. Only its author and users who may merge it have this permission.
pub fn cancel(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
) -> Result<MergeRequestView, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        app.requester(actor).locked_tracker(tx, named)?;
        let (tracker, request, may_merge) = find_to_merge(app, tx, actor, named, id)?;
        let enabled = tracker.project.features.merge_requests;
        if !(may_merge || enabled && request.author == user) {
            return Err(Error::Unauthenticated);
        }
        if !request.state.is_open() {
            return Err(Error::MergeRefused(MergeRefusal::NotReady(NotReady::NotOpen)));
        }
        if request.automatic_merge.is_none() {
            return Err(Error::MergeRefused(MergeRefusal::NoAutomaticMerge));
        }
        let now = app.clock.now();
        let request = MergeRequest { automatic_merge: None, updated_at: now, ..request };
        tx.merge_requests().update(&request)?;
        let (project, head) = (&tracker.project, &HeadCommit::MISSING);
        let editor = RequestEditor { user, project, head, now };
        editor.add_note(tx, &request, &SystemNote::AutomaticMergeCanceled)?;
        Ok(view::load(tx, user, &tracker.project, request)?)
    })
}

/// Queues the automatic merges that wait for a pipeline, when it succeeds. Call it in the transaction that changes the
/// pipeline.
pub(crate) fn queue(
    tx: &mut dyn Tx,
    pipeline: &Pipeline,
    now: Timestamp,
) -> Result<(), StoreError> {
    if pipeline.status != Status::Success || pipeline.tag {
        return Ok(());
    }
    let branch = RequestBranch::stored(pipeline.reference.clone());
    let (project, head) = (pipeline.project, pipeline.sha);
    if tx.merge_requests().open_automatic(project, &branch, head, 1)?.is_empty() {
        return Ok(());
    }
    let task = TaskKind::MergeAutomatically { branch, head };
    tx.repository_tasks().insert(project, &task, now).map(drop)
}

/// Merges the requests that wait for the pipeline of a head, each on behalf of the user who asked for it. Requests that
/// cannot be merged any more are left open.
pub fn run(
    app: &App,
    source: ProjectId,
    branch: &RequestBranch,
    head: ObjectId,
) -> Result<(), Error> {
    let waiting = app.store.read(|tx| {
        let waiting = tx.merge_requests().open_automatic(source, branch, head, MAX_REQUESTS)?;
        let mut found = Vec::new();
        for request in waiting {
            let Some(automatic) = request.automatic_merge.clone() else { continue };
            let user = tx.users().find(automatic.user)?.filter(|user| user.state.may_act());
            let Some(user) = user else { continue };
            // An older pipeline of the same head does not count.
            let newest = merge::head_pipeline(tx, &request)?.map(|pipeline| pipeline.status);
            if newest != Some(Status::Success) {
                continue;
            }
            found.push((request, automatic, Actor::of(user.id, &user.privileges)));
        }
        Ok::<_, StoreError>(found)
    })?;
    for (request, automatic, actor) in waiting {
        let wishes = MergeWishes {
            message: automatic.message,
            remove_source_branch: automatic.remove_source_branch,
            when_build_succeeds: false,
            sha: Some(head.to_string()),
        };
        let target = ProjectRef::Id(request.project());
        match merge::merge(app, actor, &target, request.id, &wishes) {
            Ok(_) | Err(Error::MergeRefused(_) | Error::Unauthenticated | Error::NotFound(_)) => (),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
