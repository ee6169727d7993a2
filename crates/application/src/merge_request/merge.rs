//! Merges merge requests.

use std::sync::Arc;

use hexforge_domain::ci::status::Status;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::MergeRequestId;
use hexforge_domain::limiter::Caller;
use hexforge_domain::merge_request::readiness::{self, MergeConditions};
use hexforge_domain::merge_request::{AutomaticMerge, MergeRequest, MergeStatus, Version};
use hexforge_domain::note::system::SystemNote;
use hexforge_domain::pipeline::Pipeline;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::policy::push::PushRefusal;
use hexforge_domain::ports::git::{GitError, RefChange, Repository};
use hexforge_domain::ports::git_transport::Proposal;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::refs::{Atomicity, Peeled};
use hexforge_domain::repository::{CommitText, MergeOutcome};
use hexforge_domain::text::LongText;

use super::found::{self, MergedRequest};
use super::head::HeadCommit;
use super::version::EndRefs;
use super::{RequestEditor, closing};
use crate::access;
use crate::access::tracker::Tracker;
use crate::app::App;
use crate::commit::people;
use crate::error::{Error, MergeRefusal};
use crate::push::{self, PushOutcome};
use crate::repository::open;
use crate::view::merge_request::{self as view, MergeRequestView};

/// The number of attempts while pushes move the target branch.
const TRIES: u32 = 20;

/// The wishes of a call that merges.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeWishes {
    /// The message of the merge commit; `None` for the default message.
    pub message: Option<LongText>,
    /// Whether the source branch is deleted after the merge, if the caller says so.
    pub remove_source_branch: Option<bool>,
    /// Whether the merge waits for an active pipeline of the head.
    pub when_build_succeeds: bool,
    /// The head that the caller expects.
    pub sha: Option<String>,
}

/// Merges a merge request, or remembers to merge it when the pipeline of its head succeeds.
pub fn merge(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
    wishes: &MergeWishes,
) -> Result<MergeRequestView, Error> {
    let user = access::own_account(actor)?;
    let merging = Merging { app, actor, named, id, wishes };
    let mut tries = 1;
    loop {
        match merging.attempt() {
            Err(Error::Git(GitError::Conflict(_)) | Error::Store(StoreError::Busy))
                if tries < TRIES =>
            {
                tries += 1;
            }
            Err(Error::Git(GitError::Conflict(_))) => return Err(StoreError::Busy.into()),
            attempt => break attempt?,
        }
    }
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let request = tracker.merge_request(tx, MergeRequestAbility::SeeProject, id)?;
        Ok(view::load(tx, user, &tracker.project, request)?)
    })
}

/// Returns whether an open merge request conflicts with its target branch. What is not known is found out and stored.
pub fn check_status(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
) -> Result<MergeStatus, Error> {
    let request = app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        tracker.merge_request(tx, MergeRequestAbility::Read, id)
    })?;
    let (_, tip) = EndRefs::read(app, &request.ends)?.tips(&request.ends);
    let (Some(head), Some(tip)) = (request.head, tip) else { return Ok(request.merge_status) };
    if !request.state.is_open() || request.merge_status != MergeStatus::Unchecked {
        return Ok(request.merge_status);
    }
    let repository = open::open_for(app, request.project(), Caller::new(actor, None))?;
    let status = MergeStatus::checked(can_merge(&*repository, tip, head)?);
    let wishes = MergeWishes::default();
    let stored =
        Merging { app, actor, named, id, wishes: &wishes }.store_status(&request, tip, status);
    match stored {
        Ok(()) => Ok(status),
        // A push came in between. The next visitor finds it out.
        Err(Error::Store(StoreError::Busy)) => Ok(MergeStatus::Unchecked),
        Err(error) => Err(error),
    }
}

/// Returns the merge request if the actor may merge it.
/// # Errors
/// [`Error::Unauthenticated`] when the actor may not: so the reference has it.
pub(super) fn find_to_merge(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
) -> Result<(Tracker, MergeRequest, bool), Error> {
    let tracker = app.requester(actor).tracker(tx, named)?;
    let request = tracker.merge_request(tx, MergeRequestAbility::SeeProject, id)?;
    let facts = push::facts_for_merge(tx, tracker.requester, &tracker.project)?;
    let may_merge = tracker.project.features.merge_requests
        && facts.may_merge_into(request.ends.target_branch.as_str());
    Ok((tracker, request, may_merge))
}

/// A merge request that is about to be merged.
struct Merging<'a> {
    app: &'a App,
    actor: Actor,
    named: &'a ProjectRef,
    id: MergeRequestId,
    wishes: &'a MergeWishes,
}

/// A request that passed all checks that need no repository.
struct Ready {
    tracker: Tracker,
    request: MergeRequest,
    head: ObjectId,
    /// The tip of the target branch.
    tip: ObjectId,
    pipeline: Option<Status>,
}

impl Merging<'_> {
    /// Makes all checks, and merges or remembers to merge when the pipeline succeeds.
    fn attempt(&self) -> Result<(), Error> {
        let ready = self.check()?;
        let ends = &ready.request.ends;
        let turn = self.app.turns.wait(ends.target_project, ends.target_branch.as_str());
        let ready = if turn.waited { self.check()? } else { ready };
        let Ready { tracker, request, head, tip, pipeline } = ready;
        let caller = Caller::new(self.actor, None);
        let repository = open::open_for(self.app, request.project(), caller)?;
        if request.merge_status == MergeStatus::Unchecked {
            let can_merge = can_merge(&*repository, tip, head)?;
            self.store_status(&request, tip, MergeStatus::checked(can_merge))?;
            if !can_merge {
                return Err(Error::MergeRefused(MergeRefusal::Conflict));
            }
        }
        if self.wishes.sha.as_ref().is_some_and(|sha| *sha != head.to_string()) {
            return Err(Error::MergeRefused(MergeRefusal::HeadDiffers(head)));
        }
        if self.wishes.when_build_succeeds && readiness::is_active(pipeline) {
            self.remember(&request)?;
            return Ok(());
        }
        self.publish(&tracker, &request, &*repository, (tip, head))?;
        Ok(())
    }

    /// Loads the request and makes the checks that need no repository.
    fn check(&self) -> Result<Ready, Error> {
        let app = self.app;
        let (tracker, request, newest, pipeline) = app.store.read(|tx| {
            let (tracker, request, may_merge) =
                find_to_merge(app, tx, self.actor, self.named, self.id)?;
            if !may_merge {
                return Err(Error::Unauthenticated);
            }
            let newest = tx.merge_requests().newest_version(request.id)?;
            let pipeline = head_pipeline(tx, &request)?.map(|pipeline| pipeline.status);
            Ok((tracker, request, newest, pipeline))
        })?;
        let (source, tip) = EndRefs::read(app, &request.ends)?.tips(&request.ends);
        let has_commits = |newest: &Version| newest.size.is_some();
        let found = MergeConditions {
            has_commits: source.is_some()
                && tip.is_some()
                && newest.is_some_and(|n| has_commits(&n)),
            pipeline,
            // There are no discussions on changes: the API cannot create any.
            unresolved_discussions: false,
        };
        let refused = |not_ready| Error::MergeRefused(MergeRefusal::NotReady(not_ready));
        request.check_ready(found, tracker.project.features).map_err(refused)?;
        let no_commits = || refused(readiness::NotReady::NoCommits);
        let (head, tip) = request.head.zip(tip).ok_or_else(no_commits)?;
        Ok(Ready { tracker, request, head, tip, pipeline })
    }

    /// Stores the result of a check for conflicts with the tip of the target branch, unless the request changed
    /// meanwhile. The update time stays.
    /// # Errors
    /// [`StoreError::Busy`] when the target branch was pushed to meanwhile: the result may be wrong.
    fn store_status(
        &self,
        request: &MergeRequest,
        tip: ObjectId,
        status: MergeStatus,
    ) -> Result<(), Error> {
        self.app.store.write(|tx| {
            let Some(project) = tx.projects().lock(request.project())? else { return Ok(()) };
            let refs = open::locked(self.app, tx, project.id)?;
            if refs.target(&request.ends.target_branch.full()) != Some(tip) {
                return Err(StoreError::Busy.into());
            }
            let found = tx.merge_requests().find(project.id, request.id)?;
            let is_same = |one: &MergeRequest| one.head == request.head && one.ends == request.ends;
            if let Some(found) = found.filter(is_same) {
                tx.merge_requests().update(&MergeRequest { merge_status: status, ..found })?;
            }
            Ok(())
        })
    }

    /// Remembers to merge the request when the pipeline of its head succeeds. A second call replaces the wishes.
    fn remember(&self, request: &MergeRequest) -> Result<(), Error> {
        let user = access::own_account(self.actor)?;
        self.app.store.write(|tx| {
            // The pipeline may have ended since the check. The lock keeps it from ending before the wish is stored.
            let pipeline = head_pipeline(tx, request)?.map(|pipeline| pipeline.id);
            let pipeline = match pipeline {
                Some(id) => tx.pipelines().lock(id)?,
                None => None,
            };
            if !readiness::is_active(pipeline.map(|pipeline| pipeline.status)) {
                return Err(StoreError::Busy.into());
            }
            let tracker = self.app.requester(self.actor).locked_tracker(tx, self.named)?;
            let found = tracker.merge_request(tx, MergeRequestAbility::SeeProject, self.id)?;
            let Some(head) = found.head.filter(|_| found.head == request.head) else {
                return Err(StoreError::Busy.into());
            };
            let is_new = found.automatic_merge.is_none();
            let automatic = AutomaticMerge {
                user,
                message: self.wishes.message.clone(),
                remove_source_branch: self.wishes.remove_source_branch,
            };
            let (now, automatic_merge) = (self.app.clock.now(), Some(automatic));
            let found = MergeRequest { automatic_merge, updated_at: now, ..found };
            tx.merge_requests().update(&found)?;
            if is_new {
                let (project, head_commit) = (&tracker.project, &HeadCommit::MISSING);
                let editor = RequestEditor { user, project, head: head_commit, now };
                editor.add_note(tx, &found, &SystemNote::AutomaticMerge(head))?;
            }
            Ok(())
        })
    }

    /// Writes the merge commit, and moves the target branch in the transaction that marks the request as merged.
    fn publish(
        &self,
        tracker: &Tracker,
        request: &MergeRequest,
        repository: &dyn Repository,
        (tip, head): (ObjectId, ObjectId),
    ) -> Result<(), Error> {
        let app = self.app;
        let person = people::caller(app, self.actor)?;
        let message = match &self.wishes.message {
            Some(message) => message.as_str().to_owned(),
            None => request.default_message(),
        };
        let text = CommitText { message, author: person.clone(), committer: person };
        let conflict = || Error::MergeRefused(MergeRefusal::Conflict);
        let written = match repository.merge(tip, head, &text) {
            Ok(MergeOutcome::Merged(written)) => written,
            Ok(MergeOutcome::Conflict) | Err(GitError::TooLarge) => {
                self.store_status(request, tip, MergeStatus::Conflicting)?;
                return Err(conflict());
            }
            Err(error) => return Err(error.into()),
        };
        let closes = closing::closes_issues(&tracker.project, request);
        let merged = found::describe(app, repository, request.id, closes)?;
        let merged = merged.filter(|merged| merged.head.id == head).ok_or(StoreError::Busy)?;
        let remove_source = self.wishes.remove_source_branch == Some(true);
        let merged = MergedRequest { merge_commit: Some(written.id), remove_source, ..merged };
        let name = request.ends.target_branch.full();
        let changes = vec![RefChange { name, old: Some(tip), new: Some(written.id) }];
        let (atomicity, packs) = (Atomicity::AllOrNone, vec![written.pack]);
        let proposal = Proposal { changes, peeled: Peeled::new(), atomicity, packs };
        let refs = Arc::clone(repository.refs());
        match push::merge_into_branch(
            app,
            self.actor,
            request.project(),
            &refs,
            (proposal, merged),
        )? {
            PushOutcome::Done => Ok(()),
            PushOutcome::Declined(
                PushRefusal::Project
                | PushRefusal::Protected
                | PushRefusal::ForcePush
                | PushRefusal::DeleteProtected
                | PushRefusal::ExistingTag
                | PushRefusal::Reserved,
            ) => Err(Error::Unauthenticated),
        }
    }
}

/// Returns whether two commits can be merged. A merge that is too large counts as a conflict.
fn can_merge(repository: &dyn Repository, ours: ObjectId, theirs: ObjectId) -> Result<bool, Error> {
    match repository.can_merge(ours, theirs) {
        Err(GitError::TooLarge) => Ok(false),
        outcome => Ok(outcome?),
    }
}

/// Returns the newest pipeline of the source project for the head and the source branch.
pub(crate) fn head_pipeline(
    tx: &mut dyn Tx,
    request: &MergeRequest,
) -> Result<Option<Pipeline>, StoreError> {
    let Some(head) = request.head else { return Ok(None) };
    let pipelines = tx.pipelines().of_commit(request.ends.source_project, head)?;
    let is_of_branch = |reference: &str| reference == request.ends.source_branch.as_str();
    Ok(pipelines.into_iter().find(|one| !one.tag && is_of_branch(&one.reference)))
}
