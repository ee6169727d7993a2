//! Moving issues to other projects.

use std::borrow::Cow;

use hexforge_domain::event::EventAction;
use hexforge_domain::id::{IssueId, LabelId, ProjectId, UserId};
use hexforge_domain::issue::{Issue, IssueCommand, IssueState, NewIssue};
use hexforge_domain::label::LabelTitle;
use hexforge_domain::note::NewNote;
use hexforge_domain::note::system::Remark;
use hexforge_domain::outbox::project::IssueAction;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};

use super::activity::{self, About};
use super::create::take_part;
use super::update::Turn;
use super::visible;
use crate::access;
use crate::access::tracker::{self, Tracker};
use crate::app::App;
use crate::error::{Error, Thing};
use crate::view::issue::{self as view, IssueView};
use crate::view::project as project_view;

const SAME: Error =
    Error::Refused(Cow::Borrowed("Cannot move issue to project it originates from!"));
const FORBIDDEN: Error =
    Error::Refused(Cow::Borrowed("Cannot move issue due to insufficient permissions!"));

/// Moves an issue to another project: a new one is written there, and the old one closed.
pub fn apply(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: IssueId,
    target: Option<i64>,
) -> Result<IssueView, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let source = tracker::tracker(tx, actor, named, app.today())?;
        let target = ProjectId(target.ok_or(Error::NotGiven("to_project_id"))?);
        visible(tx, &source, id)?;
        if target == source.project.id {
            return Err(SAME);
        }
        let (source, target) = both_locked(app, tx, actor, source.project.id, target)?;
        let old = visible(tx, &source, id)?;
        let may = |tracker: &Tracker| tracker.allows(TrackerAbility::AdministerIssues);
        if !may(&source) || !may(&target) || old.moved_to.is_some() {
            return Err(FORBIDDEN);
        }
        let new = copy(app, tx, user, &old, &target)?;
        close(app, tx, user, &source, old, &new)?;
        let (project, now) = (&target.project, app.clock.now());
        activity::note(tx, user, EventAction::Opened, About::Issue(&new), now)?;
        activity::tell_issue(tx, user, project, &new, IssueAction::Open, now)?;
        let new = visible(tx, &target, new.id)?;
        Ok(view::one(tx, user, project, new)?)
    })
}

/// Locks two projects, so that no two moves wait for each other.
fn both_locked(
    app: &App,
    tx: &mut dyn Tx,
    actor: Actor,
    source: ProjectId,
    target: ProjectId,
) -> Result<(Tracker, Tracker), Error> {
    let locked = tx.projects().lock_all(&[source, target])?;
    let mut of = |id: ProjectId| {
        let project = locked.iter().find(|project| project.id == id).cloned();
        let project = project.ok_or(Error::NotFound(Thing::Project))?;
        tracker::of(tx, actor, project, app.today())
    };
    let source = of(source)?;
    let target = of(target).map_err(|error| match error {
        // Whether there is none or a hidden one is not told: nobody may move anything there.
        Error::NotFound(_) => FORBIDDEN,
        error => error,
    })?;
    Ok((source, target))
}

/// Writes an issue again in another project, with its notes, and with the labels and the milestone of
/// the same titles there.
fn copy(
    app: &App,
    tx: &mut dyn Tx,
    user: UserId,
    old: &Issue,
    target: &Tracker,
) -> Result<Issue, Error> {
    let (now, project) = (app.clock.now(), target.project.id);
    let milestone = match old.milestone {
        Some(id) => tx.milestones().find(old.project, id)?,
        None => None,
    };
    let milestone = match milestone {
        Some(goal) => tx.milestones().find_by_title(project, goal.title.as_str())?,
        None => None,
    };
    let assignee = match old.assignee {
        Some(id) => tx.users().find(id)?,
        None => None,
    };
    let assignee = match assignee {
        Some(user) => {
            target.may_be_assigned(tx, &user, old.confidential, app.today())?.then_some(user.id)
        }
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
    take_part(tx, &new)?;
    for note in tx.notes().list(old.id, None, Page::Whole)?.items {
        if !note.system {
            tx.issues().participate(new.id, note.author)?;
        }
        tx.notes().insert(NewNote {
            project,
            issue: new.id,
            author: note.author,
            body: note.body,
            system: note.system,
            source: note.source,
            created_at: note.created_at,
            at: note.updated_at,
        })?;
    }
    let source = tx.projects().find(&ProjectRef::Id(old.project))?;
    let source = source.ok_or(Error::NotFound(Thing::Project))?;
    let name = name(tx, &source, old)?;
    activity::remark(tx, user, &new, &Remark::MovedFrom(&name), now)?;
    Ok(new)
}

/// Closes an issue that has become another one.
fn close(
    app: &App,
    tx: &mut dyn Tx,
    user: UserId,
    source: &Tracker,
    old: Issue,
    new: &Issue,
) -> Result<(), Error> {
    let now = app.clock.now();
    let target = tx.projects().find(&ProjectRef::Id(new.project))?;
    let name = name(tx, &target.ok_or(Error::NotFound(Thing::Project))?, new)?;
    activity::remark(tx, user, &old, &Remark::MovedTo(&name), now)?;
    let was_open = old.state.is_open();
    let closed = Issue {
        state: IssueState::Closed,
        moved_to: Some(new.id),
        updated_by: Some(user),
        updated_at: now,
        ..old
    };
    tx.issues().update(&closed)?;
    if was_open {
        let turn = Turn { user, project: &source.project, now };
        turn.tell_state(tx, &closed, IssueCommand::Close)?;
    }
    Ok(())
}

/// How other projects call an issue.
fn name(tx: &mut dyn Tx, project: &Project, issue: &Issue) -> Result<String, StoreError> {
    let placed = project_view::placed(tx, project.clone())?;
    Ok(format!("{}#{}", placed.place.path_of(project), issue.iid))
}
