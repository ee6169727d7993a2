//! Changes issues.

use hexforge_domain::change::Change;
use hexforge_domain::event::EventAction;
use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::id::{IssueId, LabelId};
use hexforge_domain::issue::{Issue, IssueCommand, mention};
use hexforge_domain::label::Label;
use hexforge_domain::note::system::SystemNote;
use hexforge_domain::outbox::project::IssueAction;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::IssueAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::LongText;

use super::Editor;
use super::activity::{self, EventSubject};
use super::fields::{self, IssueFields};
use super::mentions::{Mentions, NamedObjects};
use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::todo::TodoSubject;
use crate::view::issue::{self as view, IssueView};

/// Updates the given fields of an issue.
pub fn update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: IssueId,
    given: &IssueFields,
) -> Result<IssueView, Error> {
    update_if(app, actor, named, id, given, None)?.ok_or(Error::NotFound(Entity::Record))
}

/// Like [`update`], if the issue is as the editor saw it. Returns `None`, and changes nothing, if it is not.
pub fn update_if(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: IssueId,
    given: &IssueFields,
    is_current: Option<&(dyn Fn(&IssueView) -> bool + Sync)>,
) -> Result<Option<IssueView>, Error> {
    let user = access::own_account(actor)?;
    let mentioned = NamedObjects::find(app, actor, named, &given.texts())?;
    app.store.write(|tx| {
        let (tracker, mentions) = Mentions::lock(tx, app.requester(actor), named, &mentioned)?;
        let issue = tx.issues().find(tracker.project.id, id)?;
        let before = issue.ok_or(Error::NotFound(Entity::Record))?;
        // 403 also for hidden issues, as in the reference.
        let may = tracker.authorize(IssueAbility::Update, &before);
        may.map_err(|_| Error::Forbidden(None))?;
        if let Some(is_current) = is_current {
            let seen = view::load(tx, user, &tracker.project, before.clone())?;
            if !is_current(&seen) {
                return Ok(None);
            }
        }
        let texts = |issue: &Issue| (issue.title.clone(), issue.description.clone());
        let texts_before = texts(&before);
        let editor = Editor { user, tracker: &tracker, now: app.clock.now() };
        let after = editor.change(tx, before, given)?;
        if texts(&after) != texts_before {
            mentions.write_notes(tx, editor, &after)?;
        }
        Ok(Some(view::load(tx, user, &tracker.project, after)?))
    })
}

/// Returns the issue with the given fields except its state, and its new labels if any were given.
fn apply_fields(
    tx: &mut dyn Tx,
    editor: Editor<'_>,
    before: &Issue,
    given: IssueFields,
) -> Result<(Issue, Option<Vec<LabelId>>), Error> {
    let mut errors = FieldErrors::default();
    let title = errors.merge(given.title.unwrap_or_else(|| Ok(before.title.clone())));
    let description = errors.check_optional("description", given.description);
    let labels = given.labels.and_then(|titles| errors.merge(titles));
    let confidential = given.confidential.unwrap_or(before.confidential);
    let assignee = fields::resolve_assignee(tx, editor.tracker, given.assignee, confidential)?;
    let milestone = fields::resolve_milestone(tx, before.project, given.milestone)?;
    let after = errors.into_result_with(|| {
        Some(Issue {
            title: title?,
            description: description?.or_else(|| before.description.clone()),
            assignee: assignee.unwrap_or(before.assignee),
            milestone: milestone.unwrap_or(before.milestone),
            due_date: given.due_date.unwrap_or(before.due_date),
            created_at: given.created_at.unwrap_or(before.created_at),
            confidential,
            ..before.clone()
        })
    })?;
    let labels = match labels {
        None => None,
        Some(titles) => {
            Some(fields::find_or_create_labels(tx, before.project, &titles, editor.now)?)
        }
    };
    Ok((after, labels))
}

/// Returns the API ids of labels. A group label has the same id in all projects of the group.
pub(crate) fn api_ids(tx: &mut dyn Tx, labels: &[LabelId]) -> Result<Vec<LabelId>, StoreError> {
    if labels.is_empty() {
        return Ok(vec![]);
    }
    let of_groups = tx.labels().find_all(labels)?;
    let seen =
        |id: &LabelId| of_groups.iter().find(|label| label.id == *id).map_or(*id, Label::shown_id);
    Ok(labels.iter().map(seen).collect())
}

/// Returns the added and the removed labels.
pub(crate) fn compare_labels(had: &[LabelId], has: &[LabelId]) -> (Vec<LabelId>, Vec<LabelId>) {
    let missing_in = |some: &[LabelId], others: &[LabelId]| {
        some.iter().filter(|label| !others.contains(label)).copied().collect()
    };
    (missing_in(has, had), missing_in(had, has))
}

impl Editor<'_> {
    /// Changes the given fields of an issue. The caller has checked the permission. Fields that the actor may not set
    /// are ignored.
    pub fn change(
        self,
        tx: &mut dyn Tx,
        before: Issue,
        given: &IssueFields,
    ) -> Result<Issue, Error> {
        let given = given.allowed(self.tracker);
        let (updated_at, command) = (given.updated_at, given.command);
        let (after, labels) = apply_fields(tx, self, &before, given)?;
        let editor = Editor { now: updated_at.unwrap_or(self.now), ..self };
        let closed = editor.change_state(tx, before, command)?;
        let after = Issue { state: closed.state, updated_by: closed.updated_by, ..after };
        Ok(editor.edit(tx, closed, after, labels)?)
    }

    /// Closes or reopens an issue. Does nothing when it is in that state already.
    fn change_state(
        self,
        tx: &mut dyn Tx,
        issue: Issue,
        command: Option<IssueCommand>,
    ) -> Result<Issue, StoreError> {
        let Some(command) = command else { return Ok(issue) };
        self.set_state(tx, issue, command, &SystemNote::State(command))
    }

    /// Closes an open issue. The system note names the commit that closed it.
    pub fn close_via(self, tx: &mut dyn Tx, issue: Issue, name: &str) -> Result<(), StoreError> {
        self.set_state(tx, issue, IssueCommand::Close, &SystemNote::ClosedVia(name)).map(drop)
    }

    fn set_state(
        self,
        tx: &mut dyn Tx,
        issue: Issue,
        command: IssueCommand,
        note: &SystemNote<'_>,
    ) -> Result<Issue, StoreError> {
        let Change::Applied(state) = issue.state.apply(command) else { return Ok(issue) };
        let after = Issue { state, updated_by: Some(self.user), updated_at: self.now, ..issue };
        tx.issues().update(&after)?;
        activity::add_system_note(tx, self, &after, note)?;
        self.record_state_change(tx, &after, command)?;
        Ok(after)
    }

    /// Writes the activity event and the hook event for a closed or reopened issue. Closing it also marks the todo of the
    /// user as done.
    pub fn record_state_change(
        self,
        tx: &mut dyn Tx,
        issue: &Issue,
        command: IssueCommand,
    ) -> Result<(), StoreError> {
        let (action, change) = match command {
            IssueCommand::Close => (EventAction::Closed, IssueAction::Close),
            // Activity feeds have no action for reopening.
            IssueCommand::Reopen => (EventAction::Opened, IssueAction::Reopen),
        };
        activity::record_event(tx, self.user, action, EventSubject::Issue(issue), self.now)?;
        if command == IssueCommand::Close {
            self.todos().finish(tx, TodoSubject::Issue(issue))?;
        }
        activity::record_issue_hook_event(tx, self, issue, change)
    }

    /// Stores an edit if anything changed, and writes the system notes about the changes.
    fn edit(
        self,
        tx: &mut dyn Tx,
        before: Issue,
        after: Issue,
        labels: Option<Vec<LabelId>>,
    ) -> Result<Issue, StoreError> {
        let (added, removed) = self.change_labels(tx, &before, labels)?;
        let relabelled = !added.is_empty() || !removed.is_empty();
        let unchanged = Issue { updated_at: before.updated_at, ..after.clone() } == before;
        if unchanged && !relabelled {
            return Ok(before);
        }
        let after = Issue { updated_by: Some(self.user), updated_at: self.now, ..after };
        tx.issues().update(&after)?;
        self.add_change_notes(tx, &before, &after)?;
        if relabelled {
            let (added, removed) = (api_ids(tx, &added)?, api_ids(tx, &removed)?);
            let labels = SystemNote::Labels { added: &added, removed: &removed };
            activity::add_system_note(tx, self, &after, &labels)?;
        }
        if after.description != before.description {
            let text = after.description.as_ref().map_or("", LongText::as_str);
            tx.issuables().mention(after.id.into(), &mention::mentioned_usernames(text))?;
        }
        let (was, is) = (TodoSubject::Issue(&before), TodoSubject::Issue(&after));
        self.todos().record_edit(tx, was, is, relabelled)?;
        activity::record_issue_hook_event(tx, self, &after, IssueAction::Update)?;
        Ok(after)
    }

    /// Replaces the labels of an issue. Returns the added and the removed ones.
    fn change_labels(
        self,
        tx: &mut dyn Tx,
        issue: &Issue,
        labels: Option<Vec<LabelId>>,
    ) -> Result<(Vec<LabelId>, Vec<LabelId>), StoreError> {
        let Some(labels) = labels else { return Ok((vec![], vec![])) };
        let had = tx.issues().labels_of(&[issue.id])?;
        let had: Vec<LabelId> = had.into_iter().map(|(_, label, _)| label).collect();
        let (added, removed) = compare_labels(&had, &labels);
        if !added.is_empty() || !removed.is_empty() {
            tx.issues().set_labels(issue.id, &labels)?;
        }
        Ok((added, removed))
    }

    fn add_change_notes(
        self,
        tx: &mut dyn Tx,
        before: &Issue,
        after: &Issue,
    ) -> Result<(), StoreError> {
        if after.title != before.title {
            let (from, to) = (before.title.as_str(), after.title.as_str());
            activity::add_system_note(tx, self, after, &SystemNote::Title { from, to })?;
        }
        if after.assignee != before.assignee {
            let assignee = match after.assignee {
                Some(user) => tx.users().find(user)?,
                None => None,
            };
            let name = assignee.as_ref().map(|user| user.username.as_str());
            activity::add_system_note(tx, self, after, &SystemNote::Assignee(name))?;
        }
        if after.milestone != before.milestone {
            let milestone = match after.milestone {
                Some(id) => tx.milestones().find(after.project, id)?,
                None => None,
            };
            let iid = milestone.map(|milestone| milestone.iid);
            activity::add_system_note(tx, self, after, &SystemNote::Milestone(iid))?;
        }
        if after.confidential != before.confidential {
            let note = SystemNote::Confidential(after.confidential);
            activity::add_system_note(tx, self, after, &note)?;
        }
        Ok(())
    }
}
