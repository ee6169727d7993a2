//! What a push does to the open merge requests of its branch, apart from what the transaction of the push does itself.
//!
//! The transaction of a push marks merged requests, resets the merge status and queues a task. Right after the commit
//! the pushing thread refreshes the requests of the source branch; most branches have one request. The task refreshes
//! the other requests, and those whose refresh was interrupted. A request stores the versions of both repositories up
//! to which pushes are included, so the task skips requests that include the push.

use std::slice;

use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::id::{MergeRequestId, ProjectId};
use hexforge_domain::limiter::Caller;
use hexforge_domain::merge_request::port::BranchEnd;
use hexforge_domain::merge_request::{BranchPush, MergeRequest, SeenVersions, Version};
use hexforge_domain::note::pushed_commits::{ExistingCommits, MAX_LISTED, PushedCommits};
use hexforge_domain::note::system::SystemNote;
use hexforge_domain::outbox::merge_request::MergeRequestAction;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::git::{GitError, Repository};
use hexforge_domain::ports::store::{StoreError, Tx};

use super::RequestEditor;
use super::found;
use super::update::has_source;
use super::version::{EndRefs, NewRefs, VersionDraft};
use crate::app::App;
use crate::error::{Error, Refusal};
use crate::issue::mentions::ReferencedProjects;
use crate::push::or_zero;
use crate::repository::open;
use crate::retry;
use crate::view::project as project_view;

/// The number of requests per query.
const BATCH: u32 = 100;

/// The maximum number of requests that the pushing thread refreshes itself.
const MAX_AT_ONCE: u32 = 5;

/// The maximum number of pushed commits that are compared with the commits of the target branch.
const MAX_PUSHED: usize = 2000;

/// The number of attempts while other transactions change the same repository.
const TRIES: u32 = 10;

/// Refreshes the requests from the pushed branches, as far as that is quick. Failures are left to the queued task.
pub(crate) fn run_at_once(app: &App, project: ProjectId, pushes: &[BranchPush]) {
    for push in pushes {
        let end = BranchEnd::Source(project, &push.branch);
        let requests =
            app.store.read_autocommit(|tx| tx.merge_requests().open_at(end, None, MAX_AT_ONCE + 1));
        let Ok(requests) = requests else { return };
        if requests.len() > MAX_AT_ONCE as usize {
            return;
        }
        // A request with another head waits for an earlier push, which the task applies first.
        for request in requests.iter().filter(|request| request.head == push.old) {
            if refresh_source(app, push, request).is_err() {
                return;
            }
        }
    }
}

/// Applies a queued push to all open requests of its branch.
pub fn run(app: &App, project: ProjectId, push: &BranchPush) -> Result<(), Error> {
    mark_merged(app, project, push)?;
    for_each(app, BranchEnd::Source(project, &push.branch), |request| {
        refresh_source(app, push, request)
    })?;
    for_each(app, BranchEnd::Target(project, &push.branch), |request| {
        refresh_target(app, push, request)
    })
}

/// Calls `work` for all open requests with a branch, in the order of their ids.
fn for_each(
    app: &App,
    end: BranchEnd<'_>,
    mut work: impl FnMut(&MergeRequest) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut after: Option<MergeRequestId> = None;
    loop {
        let batch =
            app.store.read_autocommit(|tx| tx.merge_requests().open_at(end, after, BATCH))?;
        for request in &batch {
            work(request)?;
        }
        if batch.len() < BATCH as usize {
            return Ok(());
        }
        after = batch.last().map(|request| request.id);
    }
}

fn is_busy(error: &Error) -> bool {
    matches!(error, Error::Store(StoreError::Busy))
}

/// Marks requests as merged whose head the push brought into their target branch. The transaction of the push has done
/// so for the first of them.
fn mark_merged(app: &App, project: ProjectId, push: &BranchPush) -> Result<(), Error> {
    let (Some(old), Some(new)) = (push.old, push.new) else { return Ok(()) };
    let repository = open::open(app, project)?;
    let is_default = repository.refs().default_branch();
    let is_default = is_default.is_some_and(|name| name.as_str() == push.branch.as_str());
    for_each(app, BranchEnd::Target(project, &push.branch), |request| {
        let Some(head) = request.head.filter(|_| request.seen.target < push.version) else {
            return Ok(());
        };
        match repository.commits_among(&[head], old, new) {
            Ok(found) if found.is_empty() => return Ok(()),
            Ok(_) => (),
            Err(GitError::TooLarge | GitError::Missing) => return Ok(()),
            Err(error) => return Err(error.into()),
        }
        let Some(merged) = found::describe(app, &*repository, request.id, is_default)? else {
            return Ok(());
        };
        retry::while_busy(TRIES, is_busy, || {
            app.store.write(|tx| {
                let Some(actor) = find_actor(tx, push)? else { return Ok(()) };
                let requester = app.requester(actor);
                let (locked, others) =
                    ReferencedProjects::lock(tx, requester, project, &merged.closes)?;
                let Some(locked) = locked else { return Ok(()) };
                let tracker = requester.tracker_of(tx, locked)?;
                let merged = slice::from_ref(&merged);
                found::mark(tx, &tracker, &others, merged, app.clock.now()).map(drop)
            })
        })
    })
}

/// Returns the user who pushed, if the account still exists.
fn find_actor(tx: &mut dyn Tx, push: &BranchPush) -> Result<Option<Actor>, StoreError> {
    let user = tx.users().find(push.user)?;
    Ok(user.map(|user| Actor::of(user.id, &user.privileges)))
}

/// Makes a new version of a request whose source branch was pushed, with notes and a hook event.
fn refresh_source(app: &App, push: &BranchPush, request: &MergeRequest) -> Result<(), Error> {
    if request.seen.source >= push.version {
        return Ok(());
    }
    if !app.store.read(|tx| has_source(tx, &request.ends))? {
        return Ok(());
    }
    let refreshed = retry::while_busy(TRIES, is_busy, || {
        let Some(refreshed) = SourcePush::read(app, push, request)? else { return Ok(None) };
        app.store.write(|tx| refreshed.store(app, tx, request.id))
    });
    let refs = match refreshed {
        // The commits of the fork do not fit into the target repository. The request keeps its version until a later
        // push fits, and the other requests of the branch are refreshed.
        Err(Error::Refused(Refusal::RepositoryFull)) => None,
        refreshed => refreshed?,
    };
    if let Some(refs) = refs {
        refs.publish(app);
    }
    Ok(())
}

/// A push to the source branch of a request, with everything that is read from the repositories.
struct SourcePush<'a> {
    push: &'a BranchPush,
    target: ProjectId,
    draft: VersionDraft,
    pushed: PushedToSource,
}

/// The commits of a push to a source branch.
#[derive(Default)]
struct PushedToSource {
    existing: Option<ExistingCommits>,
    total_new: u64,
    new: Vec<(ObjectId, String)>,
}

impl<'a> SourcePush<'a> {
    /// Reads the new version and the pushed commits. `None` when a later push replaced them already: it is queued too.
    fn read(
        app: &App,
        push: &'a BranchPush,
        request: &MergeRequest,
    ) -> Result<Option<Self>, Error> {
        let (ends, caller) = (&request.ends, Caller::BACKGROUND);
        let refs = EndRefs::read(app, ends)?;
        let (tip, start) = refs.tips(ends);
        if ends.is_from_fork() && tip != push.new {
            return Ok(None);
        }
        let draft = VersionDraft::read(app, ends, &refs, push.new, caller)?;
        let draft = draft.up_to(ends, push.version);
        let source = open::open_for(app, ends.source_project, caller)?;
        let pushed = match push.new {
            Some(new) => {
                // The target branch of a fork need not be in the source repository.
                let start = match start {
                    Some(start) if source.commit(start)?.is_some() => Some(start),
                    _ => draft.base(),
                };
                read_pushed(&*source, push.old, start, new)?
            }
            None => PushedToSource::default(),
        };
        Ok(Some(Self { push, target: ends.target_project, draft, pushed }))
    }

    /// Stores the version, the notes and the hook event, unless the request was closed or refreshed meanwhile.
    fn store(
        &self,
        app: &App,
        tx: &mut dyn Tx,
        id: MergeRequestId,
    ) -> Result<Option<NewRefs>, Error> {
        let Some(project) = tx.projects().lock(self.target)? else { return Ok(None) };
        let request = tx.merge_requests().find(project.id, id)?;
        let is_due =
            |one: &MergeRequest| one.state.is_open() && one.seen.source < self.push.version;
        let Some(request) = request.filter(is_due) else { return Ok(None) };
        let now = app.clock.now();
        let stored = self.draft.store(app, tx, request, now)?;
        // A push revokes the wish to merge automatically.
        let request = MergeRequest { automatic_merge: None, updated_at: now, ..stored.request };
        tx.merge_requests().update(&request)?;
        // Without the account of the user who pushed, nobody can be named.
        if tx.users().find(self.push.user)?.is_some() {
            let (user, head) = (self.push.user, &self.draft.head);
            let editor = RequestEditor { user, project: &project, head, now };
            tx.todos().mark_done(user, request.id.into())?;
            self.add_notes(app, tx, editor, &request, &stored.version)?;
            let update = MergeRequestAction::Update;
            editor.record_hook_event(tx, &request, update, self.push.old)?;
        }
        Ok(Some(stored.refs))
    }

    fn add_notes(
        &self,
        app: &App,
        tx: &mut dyn Tx,
        editor: RequestEditor<'_>,
        request: &MergeRequest,
        version: &Version,
    ) -> Result<(), StoreError> {
        let branch = request.ends.source_branch.as_str();
        match (self.push.old, self.push.new) {
            (None, _) => editor.add_note(tx, request, &SystemNote::SourceRestored(branch))?,
            (Some(_), None) => editor.add_note(tx, request, &SystemNote::SourceDeleted(branch))?,
            (Some(_), Some(_)) => (),
        }
        let PushedToSource { existing, total_new, new } = &self.pushed;
        if existing.is_none() && *total_new == 0 {
            return Ok(());
        }
        let old = or_zero(self.push.old);
        let placed = project_view::with_namespace(tx, editor.project.clone())?;
        let path = placed.place.path_of(editor.project);
        let page = format!("{}/{path}/merge_requests/{}", app.settings.external_url, request.iid);
        let compare_url = format!("{page}/diffs?diff_id={}&start_sha={old}", version.id);
        let target = request.ends.target_branch.as_str();
        let target = if request.ends.is_from_fork() {
            format!("{}:{target}", placed.place.namespace.path.as_str())
        } else {
            target.to_owned()
        };
        let commits = PushedCommits {
            existing: *existing,
            target: &target,
            total_new: *total_new,
            new,
            old,
            compare_url: &compare_url,
        };
        editor.add_note(tx, request, &SystemNote::Commits(commits))
    }
}

/// Reads the commits of a push: how many of them the target has already, and the new ones.
fn read_pushed(
    repository: &dyn Repository,
    old: Option<ObjectId>,
    start: Option<ObjectId>,
    new: ObjectId,
) -> Result<PushedToSource, Error> {
    // A created branch has no old commit. Its new commits are the ones that the target branch does not contain.
    let hidden: Vec<ObjectId> = match old {
        Some(old) => vec![old],
        None => start.into_iter().collect(),
    };
    let both: Vec<ObjectId> = hidden.iter().copied().chain(start).collect();
    let read = || {
        let (total, pushed) = repository.commits_between(&hidden, new, MAX_PUSHED)?;
        let (total_new, new) = repository.commits_between(&both, new, MAX_LISTED)?;
        Ok((total, pushed, total_new, new))
    };
    let (total, pushed, total_new, new) = match read() {
        Ok(found) => found,
        // Without the commits there is no note.
        Err(GitError::TooLarge | GitError::Missing) => return Ok(PushedToSource::default()),
        Err(error) => return Err(error.into()),
    };
    let is_new = |commit: &Commit| new.iter().any(|other| other.id == commit.id);
    let existing: Vec<&Commit> = pushed.iter().filter(|commit| !is_new(commit)).collect();
    let existing = match (total.saturating_sub(total_new), existing.first(), existing.last()) {
        (count @ 1.., Some(first), Some(last)) => {
            Some(ExistingCommits { count, first: first.id, last: last.id })
        }
        _ => None,
    };
    let new = new.into_iter().map(|commit| (commit.id, commit.title())).collect();
    Ok(PushedToSource { existing, total_new, new })
}

/// Makes a new version of a request whose target branch was pushed, if the push was forced or brought some of the
/// request's commits.
fn refresh_target(app: &App, push: &BranchPush, request: &MergeRequest) -> Result<(), Error> {
    let Some(new) = push.new.filter(|_| request.seen.target < push.version) else { return Ok(()) };
    let repository = open::open(app, request.project())?;
    let newest = app.store.read_autocommit(|tx| tx.merge_requests().newest_version(request.id))?;
    let forced = match push.old {
        Some(old) => !repository.is_ancestor(old, new)?,
        None => false,
    };
    // A push that brings commits of the request moves the merge base.
    let base = match request.head {
        Some(head) => repository.merge_base(head, new)?,
        None => None,
    };
    if !forced && newest.is_some_and(|newest| newest.commits.base == base) {
        return Ok(());
    }
    let seen = SeenVersions { source: request.seen.source, target: push.version };
    let draft = VersionDraft::read_from(&*repository, request.head, Some(new), seen, vec![])?;
    let refs = retry::while_busy(TRIES, is_busy, || {
        app.store.write(|tx| store_target_version(app, tx, request, &draft, push))
    })?;
    if let Some(refs) = refs {
        refs.publish(app);
    }
    Ok(())
}

/// Stores a new version of a request, unless it changed meanwhile.
fn store_target_version(
    app: &App,
    tx: &mut dyn Tx,
    request: &MergeRequest,
    draft: &VersionDraft,
    push: &BranchPush,
) -> Result<Option<NewRefs>, Error> {
    let Some(project) = tx.projects().lock(request.project())? else { return Ok(None) };
    let is_due = |one: &MergeRequest| {
        one.state.is_open() && one.head == request.head && one.seen.target < push.version
    };
    let found = tx.merge_requests().find(project.id, request.id)?;
    let Some(found) = found.filter(is_due) else { return Ok(None) };
    let stored = draft.store(app, tx, found, app.clock.now())?;
    tx.merge_requests().update(&stored.request)?;
    Ok(Some(stored.refs))
}
