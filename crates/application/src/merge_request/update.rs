//! Changes merge requests.

use hexforge_domain::Timestamp;
use hexforge_domain::change::Change;
use hexforge_domain::event::EventAction;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::{LabelId, MergeRequestId, UserId};
use hexforge_domain::issue::IssueCommand;
use hexforge_domain::issue::mention::mentioned_usernames;
use hexforge_domain::limiter::Caller;
use hexforge_domain::merge_request::validity::InvalidRequest;
use hexforge_domain::merge_request::{Ends, MergeRequest, MergeRequestCommand, MergeStatus, wip};
use hexforge_domain::note::system::SystemNote;
use hexforge_domain::note::task_list::changed_tasks;
use hexforge_domain::outbox::merge_request::MergeRequestAction;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::LongText;

use super::RequestEditor;
use super::fields::{self, MergeRequestFields};
use super::head::HeadCommit;
use super::own_commits;
use super::version::{NewRefs, VersionDraft};
use crate::access;
use crate::access::tracker::Tracker;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::issue::fields::{find_or_create_labels, resolve_milestone};
use crate::issue::mentions::{MentionPlace, Mentions, NamedObjects};
use crate::issue::update::{api_ids, compare_labels};
use crate::retry;
use crate::todo::{TodoSubject, TodoWriter};
use crate::view::merge_request::{self as view, MergeRequestView};

/// The number of attempts while pushes change the branches.
const TRIES: u32 = 5;

/// Updates the given fields of a merge request.
pub fn update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
    given: &MergeRequestFields,
) -> Result<MergeRequestView, Error> {
    update_if(app, actor, named, id, given, None)?.ok_or(Error::NotFound(Entity::Record))
}

/// Like [`update`], if the merge request is as the editor saw it. Returns `None`, and changes nothing, if it is not.
pub fn update_if(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MergeRequestId,
    given: &MergeRequestFields,
    is_current: Option<&(dyn Fn(&MergeRequestView) -> bool + Sync)>,
) -> Result<Option<MergeRequestView>, Error> {
    let user = access::own_account(actor)?;
    let mentioned = NamedObjects::find(app, actor, named, &given.texts())?;
    let mentioned = own_commits::without(app, actor, named, id, mentioned)?;
    let is_busy = |error: &Error| matches!(error, Error::Store(StoreError::Busy));
    let changed = retry::while_busy(TRIES, is_busy, || {
        let prepared = Prepared::read(app, actor, named, id, given)?;
        app.store.write(|tx| {
            let (tracker, mentions) = Mentions::lock(tx, app.requester(actor), named, &mentioned)?;
            let before = tracker.merge_request(tx, MergeRequestAbility::Update, id)?;
            if let Some(is_current) = is_current {
                let seen = view::load(tx, user, &tracker.project, before.clone())?;
                if !is_current(&seen) {
                    return Ok(None);
                }
            }
            let (prepared, mentions, now) = (&prepared, &mentions, app.clock.now());
            let change = RequestChange { app, tracker: &tracker, prepared, mentions, user, now };
            let (after, refs) = change.apply(tx, before, given)?;
            Ok::<_, Error>(Some((view::load(tx, user, &tracker.project, after)?, refs)))
        })
    })?;
    let Some((shown, refs)) = changed else { return Ok(None) };
    for refs in refs {
        refs.publish(app);
    }
    Ok(Some(shown))
}

/// What a change needs from the repositories. It is read before the transaction.
#[derive(Default)]
pub(crate) struct Prepared {
    /// The commit of the head.
    pub head: HeadCommit,
    /// The new version, if the change may need one.
    draft: Option<VersionDraft>,
}

impl Prepared {
    /// Reads the commit of the head, and the new version for another target branch or for reopening.
    pub(crate) fn read(
        app: &App,
        actor: Actor,
        named: &ProjectRef,
        id: MergeRequestId,
        given: &MergeRequestFields,
    ) -> Result<Self, Error> {
        let found = app.store.read(|tx| {
            let tracker = app.requester(actor).tracker(tx, named)?;
            let request = tracker.merge_request(tx, MergeRequestAbility::Read, id)?;
            let may_update = tracker.allows_on(MergeRequestAbility::Update, &request);
            let may_have_draft = may_update && has_source(tx, &request.ends)?;
            Ok::<_, Error>((request, may_have_draft))
        });
        let (request, may_have_draft) = match found {
            Ok(found) => found,
            Err(Error::Store(error)) => return Err(error.into()),
            // The transaction reports why the actor may not do that.
            Err(_) => return Ok(Self::default()),
        };
        let head = HeadCommit::read(app, request.project(), request.head)?;
        let state = given.command.map(|command| request.state.apply(command));
        let reopens = given.command == Some(MergeRequestCommand::Reopen)
            && matches!(state, Some(Change::Applied(_)));
        let ends = new_ends(&request, given);
        let is_moved = request.state.is_open() && ends != request.ends;
        let draft = if may_have_draft && (reopens || is_moved) {
            Some(VersionDraft::read_current(app, &ends, Caller::new(actor, None))?)
        } else {
            None
        };
        Ok(Self { head, draft })
    }
}

/// The branches of a request with the given target branch.
fn new_ends(request: &MergeRequest, given: &MergeRequestFields) -> Ends {
    let target = given.target_branch.as_ref().and_then(|branch| branch.as_ref().ok());
    let target_branch = target.unwrap_or(&request.ends.target_branch).clone();
    Ends { target_branch, ..request.ends.clone() }
}

/// Returns whether the source project exists, and is the target project or a fork of it.
pub(crate) fn has_source(tx: &mut dyn Tx, ends: &Ends) -> Result<bool, StoreError> {
    if !ends.is_from_fork() {
        return Ok(true);
    }
    let source = tx.projects().find(&ProjectRef::Id(ends.source_project))?;
    Ok(source.is_some_and(|source| source.forked_from == Some(ends.target_project)))
}

/// A change of a merge request whose target project is locked.
#[derive(Clone, Copy)]
pub(crate) struct RequestChange<'a> {
    pub app: &'a App,
    pub tracker: &'a Tracker,
    pub prepared: &'a Prepared,
    /// What the given texts mention.
    pub mentions: &'a Mentions<'a>,
    pub user: UserId,
    pub now: Timestamp,
}

impl<'a> RequestChange<'a> {
    fn editor(&self, head: &'a HeadCommit) -> RequestEditor<'a> {
        RequestEditor { user: self.user, project: &self.tracker.project, head, now: self.now }
    }

    /// Changes the state first, then the other given fields. A changed text writes its mentions. The caller has checked the permission to change the
    /// request. Fields that the actor may not set are ignored.
    pub(crate) fn apply(
        &self,
        tx: &mut dyn Tx,
        before: MergeRequest,
        given: &MergeRequestFields,
    ) -> Result<(MergeRequest, Vec<NewRefs>), Error> {
        let may_administer = self.tracker.allows_on(MergeRequestAbility::Administer, &before);
        let mut given = given.clone().allowed(may_administer);
        let has_source = has_source(tx, &before.ends)?;
        if !has_source {
            given.target_branch = None;
        }
        let was_open = before.state.is_open();
        let request =
            self.change_state(tx, before, given.command.filter(|_| has_source || was_open))?;
        let reopened = !was_open && request.state.is_open();
        let Validated { after, labels, is_given } = self.validated(tx, &request, given)?;
        let is_moved = after.ends != request.ends;
        let (mut refs, mut head) = (vec![], &self.prepared.head);
        let mut after = after;
        if reopened || (is_moved && after.state.is_open()) {
            let draft = self.prepared.draft.as_ref().ok_or(StoreError::Busy)?;
            draft.check_current(self.app, tx, &after.ends)?;
            let stored = draft.store(self.app, tx, after, self.now)?;
            (after, head) = (stored.request, &draft.head);
            refs.push(stored.refs);
        }
        let todos = TodoWriter { tracker: self.tracker, author: self.user, now: self.now };
        let edit = Edit { before: &request, labels, is_given, todos };
        let after = edit.store(tx, self.editor(head), after)?;
        if (&after.title, &after.description) != (&request.title, &request.description) {
            let place = MentionPlace::MergeRequest(&after);
            self.mentions.write_notes_of(tx, self.tracker, place, self.user, self.now)?;
        }
        Ok((after, refs))
    }

    /// Closes or reopens a request. Does nothing when the state does not allow it, or when reopening would make a second
    /// open request with the same branches.
    fn change_state(
        &self,
        tx: &mut dyn Tx,
        request: MergeRequest,
        command: Option<MergeRequestCommand>,
    ) -> Result<MergeRequest, Error> {
        let Some(command) = command else { return Ok(request) };
        let is_twin = command == MergeRequestCommand::Reopen
            && tx.merge_requests().open_twin(&request.ends, Some(request.id))?.is_some();
        if is_twin {
            return Ok(request);
        }
        Ok(self.editor(&self.prepared.head).set_state(tx, request, command)?)
    }

    /// Checks the given fields, and returns the request with them.
    fn validated(
        &self,
        tx: &mut dyn Tx,
        before: &MergeRequest,
        given: MergeRequestFields,
    ) -> Result<Validated, Error> {
        let ends = new_ends(before, &given);
        if !ends.is_from_fork() {
            ends.check(None).map_err(Error::InvalidMergeRequest)?;
        }
        if before.state.is_open()
            && let Some(twin) = tx.merge_requests().open_twin(&ends, Some(before.id))?
        {
            return Err(Error::InvalidMergeRequest(InvalidRequest::from(&twin)));
        }
        let is_text = given.title.is_some() || given.description.is_some();
        let is_branch = given.target_branch.is_some();
        // Only the first error is reported.
        let title = given.title.unwrap_or_else(|| Ok(before.title.clone()))?;
        given.target_branch.transpose()?;
        let too_long = |problem| FieldErrors::single("description", problem);
        let description = given.description.transpose().map_err(too_long)?;
        let labels = given.labels.transpose()?;
        let assignee = fields::resolve_assignee(tx, self.tracker, given.assignee)?;
        let milestone = resolve_milestone(tx, before.project(), given.milestone)?;
        let is_given = is_text || is_branch || assignee.is_some() || milestone.is_some();
        let is_moved = ends != before.ends;
        let merge_status = if is_moved { MergeStatus::Unchecked } else { before.merge_status };
        let after = MergeRequest {
            title,
            description: description.or_else(|| before.description.clone()),
            assignee: assignee.unwrap_or(before.assignee),
            milestone: milestone.unwrap_or(before.milestone),
            ends,
            merge_status,
            ..before.clone()
        };
        let labels = match labels {
            None => None,
            Some(titles) => Some(find_or_create_labels(tx, before.project(), &titles, self.now)?),
        };
        Ok(Validated { after, labels, is_given })
    }
}

/// The given fields after their validation.
struct Validated {
    /// The request with the given fields, except its state.
    after: MergeRequest,
    /// Its new labels, if any were given.
    labels: Option<Vec<LabelId>>,
    /// Whether any field besides labels and state was given.
    is_given: bool,
}

impl RequestEditor<'_> {
    /// Closes, reopens or merges a request, with the system note, the event and the hook event. Closing and merging also
    /// mark the todo of the user as done. Does nothing when the state does not allow it.
    pub(crate) fn set_state(
        self,
        tx: &mut dyn Tx,
        request: MergeRequest,
        command: MergeRequestCommand,
    ) -> Result<MergeRequest, StoreError> {
        let Change::Applied(state) = request.state.apply(command) else { return Ok(request) };
        let (note, event, action) = match command {
            MergeRequestCommand::Close => (
                SystemNote::State(IssueCommand::Close),
                EventAction::Closed,
                MergeRequestAction::Close,
            ),
            // Activity feeds have no action for reopening.
            MergeRequestCommand::Reopen => (
                SystemNote::State(IssueCommand::Reopen),
                EventAction::Opened,
                MergeRequestAction::Reopen,
            ),
            MergeRequestCommand::Merge => {
                (SystemNote::Merged, EventAction::Accepted, MergeRequestAction::Merge)
            }
        };
        let (updated_by, updated_at) = (Some(self.user), self.now);
        let after = MergeRequest { state, updated_by, updated_at, ..request };
        tx.merge_requests().update(&after)?;
        self.record_event(tx, &after, event)?;
        self.add_note(tx, &after, &note)?;
        match command {
            MergeRequestCommand::Close | MergeRequestCommand::Merge => {
                tx.todos().mark_done(self.user, after.id.into())?;
            }
            MergeRequestCommand::Reopen => {}
        }
        self.record_hook_event(tx, &after, action, None)?;
        Ok(after)
    }
}

/// The edit of a request besides its state.
struct Edit<'a> {
    before: &'a MergeRequest,
    labels: Option<Vec<LabelId>>,
    /// Whether any field besides labels was given. Then a hook event is recorded even if nothing changed.
    is_given: bool,
    todos: TodoWriter<'a>,
}

impl Edit<'_> {
    /// Stores the request, and writes the system notes about the changes and the hook event.
    fn store(
        self,
        tx: &mut dyn Tx,
        editor: RequestEditor<'_>,
        after: MergeRequest,
    ) -> Result<MergeRequest, StoreError> {
        let before = self.before;
        let (added, removed) = match &self.labels {
            Some(labels) => {
                let had = tx.merge_requests().labels_of(&[before.id])?;
                let had: Vec<LabelId> = had.into_iter().map(|(_, label, _)| label).collect();
                compare_labels(&had, labels)
            }
            None => (vec![], vec![]),
        };
        let relabelled = !added.is_empty() || !removed.is_empty();
        if let Some(labels) = self.labels.filter(|_| relabelled) {
            tx.merge_requests().set_labels(before.id, &labels)?;
        }
        let is_changed = after != *before || relabelled;
        let after = if is_changed {
            let (updated_by, updated_at) = (Some(editor.user), editor.now);
            MergeRequest { updated_by, updated_at, ..after }
        } else {
            after
        };
        if is_changed {
            tx.merge_requests().update(&after)?;
            editor.add_title_notes(tx, before, &after)?;
            if relabelled {
                let (added, removed) = (api_ids(tx, &added)?, api_ids(tx, &removed)?);
                let labels = SystemNote::Labels { added: &added, removed: &removed };
                editor.add_note(tx, &after, &labels)?;
            }
            editor.add_change_notes(tx, before, &after)?;
        }
        if after.description != before.description {
            let text = after.description.as_ref().map_or("", LongText::as_str);
            tx.issuables().mention(after.id.into(), &mentioned_usernames(text))?;
        }
        let (was, is) = (TodoSubject::MergeRequest(before), TodoSubject::MergeRequest(&after));
        self.todos.record_edit(tx, was, is, relabelled)?;
        if self.is_given || relabelled {
            editor.record_hook_event(tx, &after, MergeRequestAction::Update, None)?;
        }
        Ok(after)
    }
}

impl RequestEditor<'_> {
    /// Adds the notes about the title and about tasks of the description.
    fn add_title_notes(
        self,
        tx: &mut dyn Tx,
        before: &MergeRequest,
        after: &MergeRequest,
    ) -> Result<(), StoreError> {
        let (from, to) = (before.title.as_str(), after.title.as_str());
        let is_wip = wip::is_work_in_progress(to);
        if is_wip != wip::is_work_in_progress(from) {
            self.add_note(tx, after, &SystemNote::WorkInProgress(is_wip))?;
        }
        if wip::without_marks(from) != wip::without_marks(to) {
            self.add_note(tx, after, &SystemNote::Title { from, to })?;
        }
        let text = |one: &Option<LongText>| one.as_ref().map_or("", LongText::as_str).to_owned();
        let (from, to) = (text(&before.description), text(&after.description));
        for task in changed_tasks(&from, &to) {
            self.add_note(tx, after, &SystemNote::Task(task))?;
        }
        Ok(())
    }

    /// Adds the notes about the target branch, the milestone and the assignee.
    fn add_change_notes(
        self,
        tx: &mut dyn Tx,
        before: &MergeRequest,
        after: &MergeRequest,
    ) -> Result<(), StoreError> {
        let (from, to) = (&before.ends.target_branch, &after.ends.target_branch);
        if from != to {
            let (from, to) = (from.as_str(), to.as_str());
            self.add_note(tx, after, &SystemNote::TargetBranch { from, to })?;
        }
        if after.milestone != before.milestone {
            let milestone = match after.milestone {
                Some(id) => tx.milestones().find(after.project(), id)?,
                None => None,
            };
            let iid = milestone.map(|milestone| milestone.iid);
            self.add_note(tx, after, &SystemNote::Milestone(iid))?;
        }
        if after.assignee != before.assignee {
            let assignee = match after.assignee {
                Some(user) => tx.users().find(user)?,
                None => None,
            };
            let name = assignee.as_ref().map(|user| user.username.as_str());
            self.add_note(tx, after, &SystemNote::Assignee(name))?;
        }
        Ok(())
    }
}
