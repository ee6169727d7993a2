//! Moves issues to other projects.

use hexforge_domain::event::EventAction;
use hexforge_domain::id::{IssueId, LabelId, ProjectId};
use hexforge_domain::issue::{Issue, IssueCommand, IssueState, NewIssue};
use hexforge_domain::label::LabelTitle;
use hexforge_domain::note::NewNote;
use hexforge_domain::note::system::SystemNote;
use hexforge_domain::outbox::project::IssueAction;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};

use super::Editor;
use super::activity::{self, EventSubject};
use super::create::add_participants;
use super::find_visible;
use crate::access::tracker::Tracker;
use crate::access::{self, Requester};
use crate::app::App;
use crate::error::{Entity, Error, Refusal};
use crate::view::issue::{self as view, IssueView};
use crate::view::project as project_view;

const FORBIDDEN: Error = Error::Refused(Refusal::MoveNotAllowed);

/// Moves an issue to another project: creates a copy there and closes the original.
pub fn apply(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: IssueId,
    target: Option<i64>,
) -> Result<IssueView, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let requester = app.requester(actor);
        let source = requester.tracker(tx, named)?;
        let target = ProjectId(target.ok_or(Error::NotGiven("to_project_id"))?);
        find_visible(tx, &source, id)?;
        if target == source.project.id {
            return Err(Error::Refused(Refusal::MoveToSameProject));
        }
        let (source, target) = lock_both(tx, requester, source.project.id, target)?;
        let old = find_visible(tx, &source, id)?;
        let may = |tracker: &Tracker| tracker.allows(TrackerAbility::AdministerIssues);
        if !may(&source) || !may(&target) || old.moved_to.is_some() {
            return Err(FORBIDDEN);
        }
        let now = app.clock.now();
        let target_editor = Editor { user, tracker: &target, now };
        let new = copy(tx, target_editor, &source.project, &old)?;
        close(tx, Editor { tracker: &source, ..target_editor }, &target.project, old, &new)?;
        activity::record_event(tx, user, EventAction::Opened, EventSubject::Issue(&new), now)?;
        activity::record_issue_hook_event(tx, target_editor, &new, IssueAction::Open)?;
        let new = find_visible(tx, &target, new.id)?;
        Ok(view::load(tx, user, &target.project, new)?)
    })
}

/// Locks both projects in one call, so that concurrent moves cannot deadlock.
fn lock_both(
    tx: &mut dyn Tx,
    requester: Requester,
    source: ProjectId,
    target: ProjectId,
) -> Result<(Tracker, Tracker), Error> {
    let locked = tx.projects().lock_all(&[source, target])?;
    let mut find_tracker = |id: ProjectId| {
        let project = locked.iter().find(|project| project.id == id).cloned();
        let project = project.ok_or(Error::NotFound(Entity::Project))?;
        requester.tracker_of(tx, project)
    };
    let source = find_tracker(source)?;
    let target = find_tracker(target).map_err(|error| match error {
        // A missing project and a hidden one give the same error, so that hidden projects are not revealed.
        Error::NotFound(_) => FORBIDDEN,
        error => error,
    })?;
    Ok((source, target))
}

/// Copies an issue with its notes to another project. Labels and milestone are matched by title there.
fn copy(
    tx: &mut dyn Tx,
    editor: Editor<'_>,
    source: &Project,
    old: &Issue,
) -> Result<Issue, StoreError> {
    let Editor { tracker: target, now, .. } = editor;
    let project = target.project.id;
    let milestone = match old.milestone {
        Some(id) => tx.milestones().find(old.project, id)?,
        None => None,
    };
    let milestone = match milestone {
        Some(milestone) => tx.milestones().find_by_title(project, milestone.title.as_str())?,
        None => None,
    };
    let assignee = match old.assignee {
        Some(id) => tx.users().find(id)?,
        None => None,
    };
    let assignee = match assignee {
        Some(user) => target.may_be_assigned(tx, &user, old.confidential)?.then_some(user.id),
        None => None,
    };
    let new = tx.issues().insert(NewIssue {
        project,
        author: old.author,
        assignee,
        milestone: milestone.map(|milestone| milestone.id),
        title: old.title.clone(),
        description: old.description.clone(),
        confidential: old.confidential,
        due_date: old.due_date,
        created_at: now,
        at: now,
    })?;
    let titles: Vec<LabelTitle> =
        tx.issues().labels_of(&[old.id])?.into_iter().map(|(_, _, title)| title).collect();
    let labels =
        if titles.is_empty() { vec![] } else { tx.labels().find_by_titles(project, &titles)? };
    let labels: Vec<LabelId> = labels.iter().map(|label| label.id).collect();
    tx.issues().set_labels(new.id, &labels)?;
    add_participants(tx, &new)?;
    for note in tx.notes().list(old.id.into(), None, Page::Whole)?.items {
        if !note.system {
            tx.issuables().participate(new.id.into(), note.author)?;
        }
        tx.notes().insert(NewNote {
            project,
            on: new.id.into(),
            position: None,
            author: note.author,
            body: note.body,
            system: note.system,
            source: note.source,
            created_at: note.created_at,
            at: note.updated_at,
        })?;
    }
    let name = full_reference(tx, source, old)?;
    activity::add_system_note(tx, editor, &new, &SystemNote::MovedFrom(&name))?;
    Ok(new)
}

/// Closes the original of a moved issue.
fn close(
    tx: &mut dyn Tx,
    editor: Editor<'_>,
    target: &Project,
    old: Issue,
    new: &Issue,
) -> Result<(), StoreError> {
    let name = full_reference(tx, target, new)?;
    activity::add_system_note(tx, editor, &old, &SystemNote::MovedTo(&name))?;
    let was_open = old.state.is_open();
    let closed = Issue {
        state: IssueState::Closed,
        moved_to: Some(new.id),
        updated_by: Some(editor.user),
        updated_at: editor.now,
        ..old
    };
    tx.issues().update(&closed)?;
    if was_open {
        editor.record_state_change(tx, &closed, IssueCommand::Close)?;
    }
    Ok(())
}

/// Returns the reference to an issue for texts of other projects.
fn full_reference(tx: &mut dyn Tx, project: &Project, issue: &Issue) -> Result<String, StoreError> {
    let placed = project_view::with_namespace(tx, project.clone())?;
    Ok(format!("{}#{}", placed.place.path_of(project), issue.iid))
}
