//! Merge requests whose head a push brings into their target branch. They are merged by the push.

use std::collections::HashSet;

use hexforge_domain::Timestamp;
use hexforge_domain::branch::BranchName;
use hexforge_domain::change::Change;
use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::id::{MergeRequestId, ProjectId};
use hexforge_domain::issue::reference::Reference;
use hexforge_domain::merge_request::{MergeRequest, MergeRequestCommand, RequestBranch};
use hexforge_domain::ports::git::{GitError, RefChange, Repository};
use hexforge_domain::ports::store::Tx;
use hexforge_domain::push::RefKind;

use super::head::HeadCommit;
use super::source::{QueuedRemoval, SourceRemoval};
use super::{RequestEditor, closing, version};
use crate::access::tracker::Tracker;
use crate::app::App;
use crate::error::Error;
use crate::issue::mentions::{Mention, MentionPlace, ReferencedProjects, visible_tracker};

/// The maximum number of requests that the transaction of a push marks as merged. Further ones are marked by the queued
/// task of the push.
const MAX_FOUND: usize = 20;

/// The maximum number of open requests of a branch whose heads are looked up in a push.
const MAX_HEADS: u32 = 10_000;

/// A merge request that a push merges.
#[derive(Clone, Debug)]
pub(crate) struct MergedRequest {
    /// The request.
    pub id: MergeRequestId,
    /// Its head.
    pub head: Commit,
    /// The issues that its description and its commits close.
    pub closes: Vec<Reference>,
    /// The merge commit, if the request is merged by a call.
    pub merge_commit: Option<ObjectId>,
    /// Whether the source branch is deleted after the merge.
    pub remove_source: bool,
}

/// Finds the open requests into the changed branches whose head is among the pushed commits. The repository has the
/// pushed refs.
pub(crate) fn find(
    app: &App,
    repository: &dyn Repository,
    project: ProjectId,
    changes: &[RefChange],
) -> Result<Vec<MergedRequest>, Error> {
    let default = repository.refs().default_branch();
    let mut merged = Vec::new();
    for change in changes {
        let RefKind::Branch(branch) = RefKind::of(&change.name) else { continue };
        let (Some(old), Some(new)) = (change.old, change.new) else { continue };
        let is_default = default.as_ref() == Some(&branch);
        let found = find_heads(app, repository, project, &branch, (old, new))?;
        for id in found.into_iter().take(MAX_FOUND - merged.len()) {
            merged.extend(describe(app, repository, id, is_default)?);
        }
        if merged.len() >= MAX_FOUND {
            break;
        }
    }
    Ok(merged)
}

/// Returns the open requests into a branch whose head is among the commits from `old` to `new`.
fn find_heads(
    app: &App,
    repository: &dyn Repository,
    project: ProjectId,
    branch: &BranchName,
    (old, new): (ObjectId, ObjectId),
) -> Result<Vec<MergeRequestId>, Error> {
    let branch = RequestBranch::from(branch);
    let open = app
        .store
        .read_autocommit(|tx| tx.merge_requests().open_heads(project, &branch, MAX_HEADS))?;
    if open.is_empty() {
        return Ok(vec![]);
    }
    let heads: Vec<ObjectId> = open.iter().map(|(_, head)| *head).collect();
    let found: HashSet<ObjectId> = match repository.commits_among(&heads, old, new) {
        Ok(found) => found.into_iter().collect(),
        // The history is too large to search it, or damaged. The push itself must not fail for that.
        Err(GitError::TooLarge | GitError::Missing | GitError::Corrupt(_)) => HashSet::new(),
        Err(error) => return Err(error.into()),
    };
    Ok(open.into_iter().filter(|(_, head)| found.contains(head)).map(|(id, _)| id).collect())
}

/// Reads what the merge of a request needs: the commit of its head, and the issues that it closes.
pub(crate) fn describe(
    app: &App,
    repository: &dyn Repository,
    id: MergeRequestId,
    closes_issues: bool,
) -> Result<Option<MergedRequest>, Error> {
    let (request, newest) = app.store.read_autocommit(|tx| {
        let request = tx.merge_requests().find_all(&[id])?.into_iter().next();
        Ok::<_, Error>((request, tx.merge_requests().newest_version(id)?))
    })?;
    let Some((request, head)) = request.and_then(|request| Some((request.clone(), request.head?)))
    else {
        return Ok(None);
    };
    let Some(head) = repository.commit(head)? else { return Ok(None) };
    let closes = if closes_issues {
        let commits = match &newest {
            // Without its commits, the description still closes issues.
            Some(newest) => version::read_commits(repository, &newest.commits).unwrap_or_default(),
            None => vec![],
        };
        closing::references(app, &request, &commits)
    } else {
        vec![]
    };
    Ok(Some(MergedRequest { id, head, closes, merge_commit: None, remove_source: false }))
}

/// Marks requests of a locked project as merged, in a transaction that moves their target branch. Requests that were
/// changed meanwhile are left out. `others` are the locked projects of the issues to close. Returns the source branches
/// to delete.
pub(crate) fn mark(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    others: &ReferencedProjects,
    merged: &[MergedRequest],
    now: Timestamp,
) -> Result<Vec<QueuedRemoval>, Error> {
    let mut removals = Vec::new();
    for one in merged {
        let request = tx.merge_requests().find(tracker.project.id, one.id)?;
        if let Some(request) = request.filter(|request| is_unchanged(request, one)) {
            removals.extend(mark_one(tx, tracker, others, (request, one), now)?);
        }
    }
    Ok(removals)
}

/// Returns whether a request can still be marked as merged.
pub(crate) fn is_unchanged(request: &MergeRequest, merged: &MergedRequest) -> bool {
    let applied = request.state.apply(MergeRequestCommand::Merge);
    matches!(applied, Change::Applied(_)) && request.head == Some(merged.head.id)
}

/// Closes the issues of a request, and marks it as merged.
fn mark_one(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    others: &ReferencedProjects,
    (request, merged): (MergeRequest, &MergedRequest),
    now: Timestamp,
) -> Result<Option<QueuedRemoval>, Error> {
    let user = crate::access::own_account(tracker.requester.actor)?;
    let project = &tracker.project;
    let place = MentionPlace::MergeRequest(&request);
    let mention = Mention { place, project, author: user, at: now };
    let home = visible_tracker(tx, tracker.requester, project.clone())?;
    for reference in &merged.closes {
        let tracker = others.tracker_of(home.as_ref(), reference);
        if let Some(tracker) = tracker.filter(|one| closing::counts(project, &one.project)) {
            mention.close_issue(tx, tracker, reference.iid)?;
        }
    }
    let head = HeadCommit::of(Some(merged.head.clone()));
    let editor = RequestEditor { user, project, head: &head, now };
    let request = MergeRequest { merge_commit: merged.merge_commit, ..request };
    let removal = SourceRemoval::of(&request.ends, request.head);
    let removal = match removal.filter(|_| merged.remove_source) {
        Some(removal) => removal.queue(tx, user, now)?,
        None => None,
    };
    editor.set_state(tx, request, MergeRequestCommand::Merge)?;
    Ok(removal)
}
