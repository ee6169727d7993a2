//! Milestones of projects.

use chrono::NaiveDate;
use hexforge_domain::change::Change;
use hexforge_domain::event::EventAction;
use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::id::{MilestoneId, UserId};
use hexforge_domain::issue::query::{IssueFilter, IssueScope};
use hexforge_domain::milestone::{
    Milestone, MilestoneCommand, MilestoneFilter, MilestoneState, NewMilestone, Title,
};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::text::LongText;

use crate::access;
use crate::access::tracker::Tracker;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::issue::activity::{self, EventSubject};
use crate::view::issue::{self as view, IssueView};

/// The milestone fields of a request. `None` means not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MilestoneFields {
    pub title: Option<String>,
    pub description: Option<String>,
    /// `Some(None)` removes the date. Only the web pages set it.
    pub start_date: Option<Option<NaiveDate>>,
    /// `Some(None)` removes the due date.
    pub due_date: Option<Option<NaiveDate>>,
    pub command: Option<MilestoneCommand>,
}

/// Lists the milestones of a project, newest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    filter: &MilestoneFilter,
    page: Page,
) -> Result<Paged<Milestone>, Error> {
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        tracker.require(TrackerAbility::ReadMilestones)?;
        Ok(tx.milestones().list(tracker.project.id, filter, page)?)
    })
}

/// Returns one milestone.
pub fn get(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MilestoneId,
) -> Result<Milestone, Error> {
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        tracker.require(TrackerAbility::ReadMilestones)?;
        find(tx, &tracker, id)
    })
}

/// Lists the issues of a milestone that the actor may see, newest first.
pub fn issues(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MilestoneId,
    page: Page,
) -> Result<Paged<IssueView>, Error> {
    let reader = access::own_account(actor)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        tracker.require(TrackerAbility::ReadMilestones)?;
        let milestone = find(tx, &tracker, id)?;
        if !tracker.allows(TrackerAbility::ReadIssues) {
            return Ok(Paged { items: vec![], total: 0 });
        }
        let scope = IssueScope::Milestone(tracker.project.id, milestone.id);
        let filter = IssueFilter::newest_first(scope, tracker.clearance(), tracker.requester.today);
        let issues = tx.issues().list(&filter, page)?;
        Ok(view::page(tx, reader, Some(&tracker.project), issues)?)
    })
}

fn find(tx: &mut dyn Tx, tracker: &Tracker, id: MilestoneId) -> Result<Milestone, Error> {
    let found = tx.milestones().find(tracker.project.id, id)?;
    found.ok_or(Error::NotFound(Entity::Record))
}

/// Creates a milestone.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    fields: &MilestoneFields,
) -> Result<Milestone, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        tracker.require(TrackerAbility::AdministerMilestones)?;
        let project = tracker.project.id;
        let mut errors = FieldErrors::default();
        let title = Title::parse(fields.title.as_deref().unwrap_or_default());
        let title = title.map_err(|wrong| errors.extend(wrong)).ok();
        if let Some(title) = &title
            && tx.milestones().find_by_title(project, title.as_str())?.is_some()
        {
            errors.extend(title_taken());
        }
        let description = fields.description.as_deref().map(LongText::parse);
        let description = errors.check_optional("description", description);
        let new = errors.into_result_with(|| {
            Some(NewMilestone {
                project,
                title: title?,
                description: description?,
                start_date: fields.start_date.flatten(),
                due_date: fields.due_date.flatten(),
                at: app.clock.now(),
            })
        })?;
        let milestone = tx.milestones().insert(new).map_err(map_duplicate)?;
        record_event(tx, user, &milestone, EventAction::Opened)?;
        Ok(milestone)
    })
}

/// Updates the given fields of a milestone.
pub fn update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MilestoneId,
    fields: &MilestoneFields,
) -> Result<Milestone, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        tracker.require(TrackerAbility::AdministerMilestones)?;
        let before = find(tx, &tracker, id)?;
        let mut errors = FieldErrors::default();
        let title = match fields.title.as_deref() {
            None => Some(before.title.clone()),
            Some(title) => Title::parse(title).map_err(|wrong| errors.extend(wrong)).ok(),
        };
        if let Some(title) = title.as_ref().filter(|title| **title != before.title)
            && tx.milestones().find_by_title(before.project, title.as_str())?.is_some()
        {
            errors.extend(title_taken());
        }
        let description = fields.description.as_deref().map(LongText::parse);
        let description = errors.check_optional("description", description);
        let change = fields.command.map(|command| before.state.apply(command));
        let state = match change {
            Some(Change::Applied(state)) => state,
            Some(Change::Unchanged) | None => before.state,
        };
        let mut after = errors.into_result_with(|| {
            Some(Milestone {
                title: title?,
                description: description?.or_else(|| before.description.clone()),
                start_date: fields.start_date.unwrap_or(before.start_date),
                due_date: fields.due_date.unwrap_or(before.due_date),
                state,
                ..before.clone()
            })
        })?;
        if after != before {
            after.updated_at = app.clock.now();
            tx.milestones().update(&after).map_err(map_duplicate)?;
        }
        if state != before.state {
            let action = match state {
                MilestoneState::Active => EventAction::Opened,
                MilestoneState::Closed => EventAction::Closed,
            };
            record_event(tx, user, &after, action)?;
        }
        Ok(after)
    })
}

/// Deletes a milestone, and returns its state before.
pub fn delete(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    id: MilestoneId,
) -> Result<Milestone, Error> {
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        tracker.require(TrackerAbility::AdministerMilestones)?;
        let milestone = find(tx, &tracker, id)?;
        tx.milestones().delete(id)?;
        Ok(milestone)
    })
}

fn title_taken() -> FieldErrors {
    FieldErrors::single("title", FieldProblem::Taken)
}

/// Maps a duplicate title that another transaction inserted after our check.
fn map_duplicate(error: StoreError) -> Error {
    match error {
        StoreError::Duplicate(_) => title_taken().into(),
        error => error.into(),
    }
}

fn record_event(
    tx: &mut dyn Tx,
    user: UserId,
    milestone: &Milestone,
    action: EventAction,
) -> Result<(), StoreError> {
    activity::record_event(
        tx,
        user,
        action,
        EventSubject::Milestone(milestone),
        milestone.updated_at,
    )
}
