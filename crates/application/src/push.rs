//! Changes of branches and tags, by push or API: checks the push rules, and writes refs, events, hook deliveries and
//! pipelines in one transaction.

mod closing;
mod details;
mod received;
mod rows;

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hexforge_domain::Timestamp;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{MergeRequestId, ProjectId, UserId};
use hexforge_domain::limiter::Caller;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::merge_request::{BranchPush, MergeRequest, RequestBranch};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::{ProjectAbility, ProjectRole};
use hexforge_domain::policy::push::{PushFacts, PushRefusal, RefAction};
use hexforge_domain::ports::git::{GitError, RefChange, Repository};
use hexforge_domain::ports::git_transport::Proposal;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectWithNamespace};
use hexforge_domain::push::{HookScope, Push, RefKind};
use hexforge_domain::refs::reserved::kept_ref;
use hexforge_domain::refs::{self, Atomicity, ChangedRefs, Peeled, Snapshot};
use hexforge_domain::repository::task::TaskKind;
use hexforge_domain::tag::Release;
use hexforge_domain::user::User;

use crate::access::{self, Requester};
use crate::app::App;
use crate::environment;
use crate::error::{Entity, Error, Refusal};
use crate::merge_request::found::{self, MergedRequest};
use crate::merge_request::refresh;
use crate::merge_request::source::QueuedRemoval;
use crate::pipeline::{create, prepare};
use crate::project::avatar::FoundAvatar;
use crate::repository::{hidden, open, packs};
use crate::tag::release;
use crate::view::project as view;

use closing::IssueReferences;
use details::ChangeDetails;
pub use received::{Client, receive};

/// Builds the event of a push of the newest commit of the default branch, as a sample for hooks. Returns `None` for an
/// empty repository.
pub(crate) fn sample(
    app: &App,
    placed: &ProjectWithNamespace,
    user: &User,
) -> Result<Option<Push>, Error> {
    let repository = open::open_for(app, placed.project.id, Caller::BACKGROUND)?;
    let Some(branch) = repository.refs().default_branch() else { return Ok(None) };
    let Some(tip) = repository.refs().target(&branch.full()) else { return Ok(None) };
    let Some(commit) = repository.commit(tip)? else { return Ok(None) };
    let old = commit.parents.first().copied();
    let change = RefChange { name: branch.full(), old, new: Some(tip) };
    let (kind, changes) = (ChangeKind::Push, [change]);
    let read = details::read_all(app, repository.as_ref(), Some(&branch), kind, &changes)?;
    let push = read
        .into_iter()
        .next()
        .map(|(change, read)| details::push_event(placed, user, &change, read, HookScope::Project));
    Ok(push)
}

/// The outcome of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PushOutcome {
    /// The change and everything that follows from it are committed.
    Done,
    /// The rules do not allow the change.
    Declined(PushRefusal),
}

/// The kind of a change, which decides the permission checks and the payloads of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ChangeKind {
    /// A push, or a change through the API that is treated like a push.
    Push,
    /// The merge of a merge request, which requires the permission to push to the branch or to merge into it.
    Merge,
    /// The removal of a tag through the API, which requires this ability and skips the push rules.
    TagRemoval(ProjectAbility),
}

/// Changes one ref, if the push rules allow it.
pub(crate) fn change_ref(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
    change: RefChange,
) -> Result<PushOutcome, Error> {
    change_refs(app, actor, project, repository, vec![change])
}

/// Changes refs in one transaction, if the push rules allow each change.
pub fn change_refs(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
    changes: Vec<RefChange>,
) -> Result<PushOutcome, Error> {
    let (peeled, atomicity, packs) = (Peeled::new(), Atomicity::AllOrNone, vec![]);
    let proposal = Proposal { changes, peeled, atomicity, packs };
    change_refs_with_release(app, actor, project, repository, Changes { proposal, release: None })
}

/// Changes of refs, with the release that is published in the same transaction.
pub(crate) struct Changes {
    pub proposal: Proposal,
    pub release: Option<Release>,
}

/// Like [`change_refs`]; publishes a release in the same transaction.
pub(crate) fn change_refs_with_release(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
    Changes { proposal, release }: Changes,
) -> Result<PushOutcome, Error> {
    let mut actions = HashMap::new();
    for change in &proposal.changes {
        actions.insert(change.name.clone(), ref_action(repository, change)?);
    }
    let (project, kind, merged) = (project.id, ChangeKind::Push, None);
    let update = RefUpdate { actor, project, proposal, actions, kind, release, merged };
    into_pushed(update.commit(app, repository.refs())?)
}

/// Moves branches to commits that were written on top of them. `refs` are those that the commits were written for.
pub(crate) fn advance_branches(
    app: &App,
    actor: Actor,
    project: ProjectId,
    refs: &Snapshot,
    proposal: Proposal,
) -> Result<PushOutcome, Error> {
    let action = |old: Option<ObjectId>| match old {
        Some(_) => RefAction::FastForward,
        None => RefAction::Create,
    };
    let actions = proposal.changes.iter();
    let actions = actions.map(|change| (change.name.clone(), action(change.old))).collect();
    let (kind, release, merged) = (ChangeKind::Push, None, None);
    let update = RefUpdate { actor, project, proposal, actions, kind, release, merged };
    into_pushed(update.commit(app, refs)?)
}

/// Moves the target branch of a merge request to a merge commit, and marks the request as merged in the same
/// transaction. `refs` are those that the commit was written for.
/// # Errors
/// [`GitError::Conflict`] when the branch or the request changed meanwhile.
pub(crate) fn merge_into_branch(
    app: &App,
    actor: Actor,
    project: ProjectId,
    refs: &Snapshot,
    (proposal, merged): (Proposal, MergedRequest),
) -> Result<PushOutcome, Error> {
    let (kind, release, merged) = (ChangeKind::Merge, None, Some(merged));
    let actions = HashMap::new();
    let update = RefUpdate { actor, project, proposal, actions, kind, release, merged };
    into_pushed(update.commit(app, refs)?)
}

/// Removes a tag without checking the push rules: the API has its own rule for tags.
pub(crate) fn remove_tag(
    app: &App,
    actor: Actor,
    project: &Project,
    repository: &dyn Repository,
    change: RefChange,
) -> Result<(), Error> {
    let (changes, peeled, packs) = (vec![change], Peeled::new(), vec![]);
    let update = RefUpdate {
        actor,
        project: project.id,
        proposal: Proposal { changes, peeled, atomicity: Atomicity::AllOrNone, packs },
        actions: HashMap::new(),
        kind: ChangeKind::TagRemoval(app.settings.strict.to_remove_tags()),
        release: None,
        merged: None,
    };
    into_pushed(update.commit(app, repository.refs())?).map(drop)
}

/// Maps the outcome of changes that are all made or none.
fn into_pushed(outcome: Outcome) -> Result<PushOutcome, Error> {
    match outcome {
        Outcome::Declined(refusal) => Ok(PushOutcome::Declined(refusal)),
        Outcome::NoRoom => Err(Error::Refused(Refusal::RepositoryFull)),
        Outcome::Ended(made, _) => match made.refused.into_iter().next() {
            Some(name) => Err(GitError::Conflict(name).into()),
            None => Ok(PushOutcome::Done),
        },
    }
}

/// The number of attempts while the store is busy.
const TRIES: u32 = 10;

/// The requested changes of refs.
struct RefUpdate {
    actor: Actor,
    project: ProjectId,
    proposal: Proposal,
    /// The actions of the changes by ref name, for the push rules.
    actions: HashMap<String, RefAction>,
    kind: ChangeKind,
    release: Option<Release>,
    /// The merge request that the change merges.
    merged: Option<MergedRequest>,
}

/// The result of [`RefUpdate::commit`].
enum Outcome {
    /// The rules do not allow one of the changes. Nothing is changed.
    Declined(PushRefusal),
    /// The push would make the repository larger than its size limit. No row is changed.
    NoRoom,
    /// [`ChangedRefs`] lists the changes by outcome. The snapshot is the one after the commit; `None` when nothing
    /// changed.
    Ended(ChangedRefs, Option<Arc<Snapshot>>),
}

/// Why a transaction that changes refs is rolled back.
enum Stop {
    /// The rules do not allow one of the changes.
    Declined(PushRefusal),
    /// The refs of these names could not be changed.
    Refused(Vec<String>),
    Failed(Error),
}

impl<E: Into<Error>> From<E> for Stop {
    fn from(error: E) -> Self {
        Stop::Failed(error.into())
    }
}

/// The repository data that the new rows contain. It is read before the transaction begins, because reading may take
/// long.
struct Findings {
    details: Vec<(RefChange, ChangeDetails)>,
    references: IssueReferences,
    pipelines: Vec<prepare::Prepared>,
    avatar: FoundAvatar,
    /// The merge requests that the changes merge.
    merged: Vec<MergedRequest>,
}

/// The result of a transaction that changes refs.
struct Recorded {
    /// The refs after the changes.
    after: Snapshot,
    /// The changes of branches that merge requests have.
    pushes: Vec<BranchPush>,
    /// The source branches that are deleted after a merge.
    removals: Vec<QueuedRemoval>,
}

impl RefUpdate {
    /// Makes the changes in one transaction. `refs` is a recent snapshot; the transaction reads the current one.
    ///
    /// When some changes are refused and the others may be made alone, it rolls back and tries the others, so that
    /// events and hooks report only changes that were made.
    fn commit(mut self, app: &App, refs: &Snapshot) -> Result<Outcome, Error> {
        access::own_account(self.actor)?;
        let (mut tries, mut refused) = (1, Vec::new());
        loop {
            let found = self.read_findings(app, refs)?;
            match app.store.write(|tx| self.record(app, tx, found)) {
                Ok(Recorded { after, pushes, removals }) => {
                    app.maintenance.enqueue(self.project);
                    let after = Arc::new(after);
                    app.refs.put_if_newer(self.project, Arc::clone(&after));
                    refresh::run_at_once(app, self.project, &pushes);
                    for removal in removals {
                        removal.run_at_once(app, self.actor);
                    }
                    let done = self.proposal.changes.into_iter().map(|change| change.name);
                    let made = ChangedRefs { done: done.collect(), refused };
                    return Ok(Outcome::Ended(made, Some(after)));
                }
                Err(Stop::Failed(Error::Store(StoreError::Busy))) if tries < TRIES => tries += 1,
                Err(Stop::Failed(Error::Git(GitError::TooLarge))) => return Ok(Outcome::NoRoom),
                Err(Stop::Failed(error)) => return Err(error),
                Err(Stop::Declined(refusal)) => return Ok(Outcome::Declined(refusal)),
                Err(Stop::Refused(names)) => {
                    let gone: HashSet<&str> = names.iter().map(String::as_str).collect();
                    self.proposal.changes.retain(|change| !gone.contains(change.name.as_str()));
                    refused.extend(names);
                    if self.proposal.atomicity == Atomicity::AllOrNone
                        || self.proposal.changes.is_empty()
                    {
                        return Ok(Outcome::Ended(ChangedRefs { done: vec![], refused }, None));
                    }
                }
            }
        }
    }

    /// Reads the commits, CI configurations and avatar for the new rows.
    fn read_findings(&self, app: &App, refs: &Snapshot) -> Result<Findings, Error> {
        let changes = &self.proposal.changes;
        let proposed = Arc::new(self.proposal.applied(refs));
        let default = proposed.default_branch();
        let caller = Caller::new(self.actor, None);
        let repository = app.git.open(self.project, proposed, caller)?;
        let repository = repository.as_ref();
        let mut details = details::read_all(app, repository, default.as_ref(), self.kind, changes)?;
        let mut references =
            closing::collect(&mut details, default.as_ref(), &app.settings.external_url);
        if self.kind == ChangeKind::Merge {
            references = references.without_closing();
        }
        let mut pipelines = Vec::new();
        for change in changes {
            pipelines.extend(prepare::read_pushed(app, repository, change)?);
        }
        let avatar = FoundAvatar::read(repository, default.as_ref())?;
        let mut merged: Vec<MergedRequest> = self.merged.clone().into_iter().collect();
        let found = found::find(app, repository, self.project, changes)?;
        merged.extend(found.into_iter().filter(|one| self.is_other_request(one)));
        Ok(Findings { details, references, pipelines, avatar, merged })
    }

    /// Returns whether a merge request is not the one that this change merges.
    fn is_other_request(&self, found: &MergedRequest) -> bool {
        self.merged.as_ref().is_none_or(|merged| merged.id != found.id)
    }

    /// Writes the rows of packs, refs, events, hook deliveries, the default branch, pipelines and merge requests.
    fn record(&self, app: &App, tx: &mut dyn Tx, found: Findings) -> Result<Recorded, Stop> {
        let Findings { details, references, pipelines, avatar, merged } = found;
        let (project, now) = (self.project, app.clock.now());
        let changes = &self.proposal.changes;
        // The user may have been blocked since the push began, or the project removed.
        let gone = Stop::Declined(PushRefusal::Project);
        let user = access::own_account(self.actor)?;
        let user = tx.users().find(user)?.filter(|user| user.state.may_act());
        let Some(user) = user else { return Err(gone) };
        let requester = app.requester(Actor::of(user.id, &user.privileges));
        let closes = merged.iter().flat_map(|one| one.closes.iter().cloned());
        let (found, references) = references.locked(tx, requester, project, closes)?;
        let Some(found) = found else {
            // A person who merges gets the answer of any call about a project that does not exist.
            let missing = Stop::Failed(Error::NotFound(Entity::Project));
            return Err(if self.kind == ChangeKind::Merge { missing } else { gone });
        };
        let before = open::locked(app, tx, project)?;
        self.check(app, tx, requester, (&found, &before))?;
        self.check_request(tx)?;

        packs::add(app, tx, project, &before, &self.proposal.packs)?;
        let after = self.write_refs(app, tx, &before)?;
        let found = avatar.store(tx, found, &after)?;
        let placed = view::with_namespace(tx, found)?;
        let reach = match self.kind {
            ChangeKind::Push | ChangeKind::Merge => HookScope::Everywhere,
            ChangeKind::TagRemoval(_) => HookScope::Project,
        };
        let pushes = details
            .into_iter()
            .map(|(change, details)| details::push_event(&placed, &user, &change, details, reach));
        rows::write_events(tx, project, pushes.collect(), now)?;
        for prepared in &pipelines {
            create::create_for_push(tx, &placed, &user, prepared, now)?;
        }
        environment::stop_with_branches(tx, requester, &placed.project, changes, now)?;
        // Merge requests close issues first: the commits of a request must not close them under their own names.
        let mut removals = Vec::new();
        if !merged.is_empty() {
            let tracker = requester.tracker_of(tx, placed.project.clone())?;
            removals = found::mark(tx, &tracker, references.projects(), &merged, now)?;
        }
        let merged: Vec<MergeRequestId> = merged.iter().map(|one| one.id).collect();
        references.apply(tx, (user.id, &placed.project), &merged, now)?;
        if let Some(release) = &self.release {
            release::put(tx, project, release, now)?;
        }
        let after = open::committed(tx, project, &after)?;
        let pushes = self.queue_refresh(tx, user.id, after.version(), now)?;
        Ok(Recorded { after, pushes, removals })
    }

    /// Checks that the merge request to be merged was not changed since the merge commit was written.
    fn check_request(&self, tx: &mut dyn Tx) -> Result<(), Stop> {
        let Some(merged) = &self.merged else { return Ok(()) };
        let request = tx.merge_requests().find(self.project, merged.id)?;
        let is_unchanged = |request: &MergeRequest| {
            found::is_unchanged(request, merged)
                && self
                    .proposal
                    .changes
                    .iter()
                    .all(|one| one.name == request.ends.target_branch.full())
        };
        match request.filter(is_unchanged) {
            Some(_) => Ok(()),
            None => Err(Stop::Refused(
                self.proposal.changes.iter().map(|change| change.name.clone()).collect(),
            )),
        }
    }

    /// Resets the merge status of the open merge requests of the changed branches, and queues the other effects of the
    /// changes on them.
    fn queue_refresh(
        &self,
        tx: &mut dyn Tx,
        user: UserId,
        version: i64,
        now: Timestamp,
    ) -> Result<Vec<BranchPush>, StoreError> {
        let mut pushes = Vec::new();
        for change in &self.proposal.changes {
            let RefKind::Branch(branch) = RefKind::of(&change.name) else { continue };
            let branch = RequestBranch::from(&branch);
            if tx.merge_requests().reset_merge_status(self.project, &branch)? {
                let push = BranchPush { branch, old: change.old, new: change.new, user, version };
                let task = TaskKind::RefreshMergeRequests(push.clone());
                tx.repository_tasks().insert(self.project, &task, now)?;
                pushes.push(push);
            }
        }
        Ok(pushes)
    }

    /// Writes the refs and the rows that depend on them. Returns the refs after the changes.
    fn write_refs(&self, app: &App, tx: &mut dyn Tx, before: &Snapshot) -> Result<Snapshot, Stop> {
        let Proposal { changes, peeled, atomicity, .. } = &self.proposal;
        let changed = refs::change(tx, self.project, changes, peeled, *atomicity)?;
        if !changed.refused.is_empty() {
            return Err(Stop::Refused(changed.refused));
        }
        let mut after = self.proposal.applied(before);
        if let Some(commit) = self.merged.as_ref().and_then(|merged| merged.merge_commit) {
            let kept = hidden::put(tx, self.project, before, vec![(kept_ref(commit), commit)])?;
            after = hidden::added(&after, &kept, &self.proposal.packs);
        }
        if let Some(default) = &after.default_branch()
            && changes.iter().any(|change| change.old.is_none() && change.name == default.full())
        {
            if after.head() != default.full() {
                tx.refs().set_head(self.project, &default.full())?;
            }
            rows::protect(app, tx, self.project, default)?;
        }
        for change in changes {
            rows::note_ref(tx, self.project, change)?;
        }
        Ok(after)
    }

    /// Checks the push rules for each change.
    fn check(
        &self,
        app: &App,
        tx: &mut dyn Tx,
        requester: Requester,
        (project, refs): (&Project, &Snapshot),
    ) -> Result<(), Stop> {
        if let ChangeKind::TagRemoval(ability) = self.kind {
            requester.check_project(tx, ProjectAbility::PushCode, project)?;
            return Ok(requester.check_project(tx, ability, project)?);
        }
        let facts = push_facts(app, tx, requester, project, refs)?;
        if self.kind == ChangeKind::Merge {
            let refuses = |change: &RefChange| match RefKind::of(&change.name) {
                RefKind::Branch(branch) => !facts.may_merge_into(branch.as_str()),
                RefKind::Tag(_) | RefKind::Reserved | RefKind::Other => true,
            };
            let is_refused = self.proposal.changes.iter().any(refuses);
            return if is_refused { Err(Stop::Declined(PushRefusal::Protected)) } else { Ok(()) };
        }
        for change in &self.proposal.changes {
            // A change whose action is not known is not allowed.
            let action = self.actions.get(&change.name);
            let action = action.ok_or(Stop::Declined(PushRefusal::Project))?;
            facts.check(&RefKind::of(&change.name), *action).map_err(Stop::Declined)?;
        }
        let is_head = |change: &&RefChange| change.new.is_none() && change.name == refs.head();
        match self.proposal.changes.iter().find(is_head) {
            Some(change) => Err(Stop::Refused(vec![change.name.clone()])),
            None => Ok(()),
        }
    }
}

/// Loads the facts for the push rules.
pub(crate) fn push_facts(
    app: &App,
    tx: &mut dyn Tx,
    requester: Requester,
    project: &Project,
    refs: &Snapshot,
) -> Result<PushFacts, Error> {
    let restricts_first_push = !refs.has_branches()
        && app.current_settings(tx)?.default_branch_protection.restricts_first_push();
    Ok(PushFacts { restricts_first_push, ..facts_for_merge(tx, requester, project)? })
}

/// Loads the facts for the rule about merges, which do not depend on the refs.
pub(crate) fn facts_for_merge(
    tx: &mut dyn Tx,
    requester: Requester,
    project: &Project,
) -> Result<PushFacts, Error> {
    let push = requester.check_project(tx, ProjectAbility::PushCode, project);
    let may_push = match push {
        Ok(()) => true,
        Err(Error::Store(error)) => return Err(error.into()),
        Err(_) => false,
    };
    // Administrators also have the access level of their own memberships.
    let role = match requester.actor.user() {
        Some(user) => tx.projects().role(project.id, user, requester.today)?,
        None => ProjectRole::default(),
    };
    let owner = role.owner.then_some(AccessLevel::Master);
    Ok(PushFacts {
        may_push,
        admin: matches!(requester.actor, Actor::Admin { .. }),
        level: role.level.max(owner),
        restricts_first_push: false,
        protections: tx.protections().list(project.id)?,
    })
}

fn ref_action(repository: &dyn Repository, change: &RefChange) -> Result<RefAction, GitError> {
    Ok(match (change.old, change.new) {
        (None, _) => RefAction::Create,
        (Some(_), None) => RefAction::Delete,
        (Some(old), Some(new)) => {
            if repository.is_ancestor(old, new)? {
                RefAction::FastForward
            } else {
                RefAction::Force
            }
        }
    })
}

/// Returns the object id as events and hooks show it: forty zeros when the ref does not exist.
pub(crate) fn or_zero(id: Option<ObjectId>) -> ObjectId {
    id.unwrap_or(ObjectId::ZERO)
}
