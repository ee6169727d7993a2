//! Labels of projects.

pub mod group;

use hexforge_domain::Timestamp;
use hexforge_domain::change::Change;
use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::label::{
    Color, ColorRule, Label, LabelDescription, LabelRef, LabelTitle, NewLabel, Priority,
};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::subscription::{Subscribed, SubscriptionCommand};

use crate::access;
use crate::access::tracker::Tracker;
use crate::app::App;
use crate::error::{Conflict, Entity, Error};
use crate::view::label::{self as view, LabelView};

const EXISTS: Error = Error::Conflict(Conflict::LabelExists);

/// The label fields of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelFields {
    pub name: String,
    pub color: String,
    pub description: Option<String>,
    pub priority: Option<i64>,
}

impl LabelFields {
    /// Validates the fields of a new label, whose title is already parsed. Group labels have no priority.
    fn validate(
        &self,
        title: Result<LabelTitle, FieldErrors>,
        priority: Option<i64>,
        rule: ColorRule,
        at: Timestamp,
    ) -> Result<NewLabel, FieldErrors> {
        let mut errors = FieldErrors::default();
        let color = errors.check("color", Color::parse(&self.color, rule));
        let title = errors.merge(title);
        let description = self.description.as_deref().map(LabelDescription::parse);
        let description = errors.check_optional("description", description);
        let priority = errors.check_optional("priority", priority.map(Priority::parse));
        errors.into_result_with(|| {
            let (title, color, description) = (title?, color?, description?);
            Some(NewLabel { title, color, description, priority: priority?, at })
        })
    }
}

/// The error of the store when a label cannot be inserted, by its meaning.
fn creation_error(error: StoreError) -> Error {
    match error {
        StoreError::Duplicate(_) => EXISTS,
        error => error.into(),
    }
}

/// The changes of a label in a request. `None` means not given.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LabelChanges {
    /// The title of the label before the change.
    pub name: String,
    pub new_name: Option<String>,
    pub color: Option<String>,
    pub description: Option<String>,
    /// `Some(None)` removes the priority.
    pub priority: Option<Option<i64>>,
}

/// Title, color and description of a label after a change. `None` is an invalid value, whose error was recorded.
struct ParsedLabelChanges {
    title: Option<LabelTitle>,
    color: Option<Color>,
    description: Option<Option<LabelDescription>>,
}

impl LabelChanges {
    /// Parses the changes of title, color and description. Values that are not given are those before the change.
    fn parse(
        &self,
        (title, color, description): (&LabelTitle, &Color, &Option<LabelDescription>),
        rule: ColorRule,
        errors: &mut FieldErrors,
    ) -> ParsedLabelChanges {
        let new_color = self.color.as_deref().map(|color| Color::parse(color, rule));
        let new_color = errors.check_optional("color", new_color);
        // A blank name leaves the title unchanged.
        let new_title = match self.new_name.as_deref().filter(|name| !name.trim().is_empty()) {
            None => Some(title.clone()),
            Some(name) => errors.merge(LabelTitle::parse(name)),
        };
        let new_description = self.description.as_deref().map(LabelDescription::parse);
        let new_description = errors.check_optional("description", new_description);
        ParsedLabelChanges {
            title: new_title,
            color: new_color.map(|new| new.unwrap_or_else(|| color.clone())),
            description: new_description.map(|new| new.or_else(|| description.clone())),
        }
    }
}

/// Lists the labels of a project by title. The list is empty when both issues and merge requests are disabled.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    page: Page,
) -> Result<Paged<LabelView>, Error> {
    let reader = access::own_account(actor)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        if !tracker.allows(TrackerAbility::ReadLabels) {
            return Ok(Paged { items: vec![], total: 0 });
        }
        let labels = tx.labels().list(tracker.project.id, page)?;
        view::page(tx, &tracker, reader, labels)
    })
}

/// Returns one label of a project.
pub fn get(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    label: &LabelRef,
) -> Result<LabelView, Error> {
    let reader = access::own_account(actor)?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let label = find_visible(tx, &tracker, label)?.ok_or(Error::NotFound(Entity::Label))?;
        view::load(tx, &tracker, reader, label)
    })
}

/// Creates a label.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    rule: ColorRule,
    fields: &LabelFields,
) -> Result<LabelView, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        tracker.require(TrackerAbility::AdministerLabels)?;
        let project = tracker.project.id;
        let title = LabelTitle::parse(&fields.name);
        if let Ok(title) = &title
            && tx.labels().find_by_title(project, title.as_str())?.is_some()
        {
            return Err(EXISTS);
        }
        let new = fields.validate(title, fields.priority, rule, app.clock.now())?;
        let created = tx.labels().insert_all(project, vec![new]).map_err(creation_error)?;
        let label = created.into_iter().next().ok_or(StoreError::Gone)?;
        view::load(tx, &tracker, user, label)
    })
}

/// Updates the given fields of the label with this title.
pub fn update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    rule: ColorRule,
    changes: &LabelChanges,
) -> Result<LabelView, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        tracker.require(TrackerAbility::AdministerLabels)?;
        let label = own(tx, &tracker, &changes.name)?;
        let label = label.ok_or(Error::NotFound(Entity::LabelToChange))?;
        let label = changed(tx, &tracker, label, rule, changes)?;
        tx.labels().update(&label, app.clock.now()).map_err(|error| match error {
            StoreError::Duplicate(_) => title_taken().into(),
            error => Error::from(error),
        })?;
        tx.group_labels().adapt_to_group(label.project)?;
        view::load(tx, &tracker, user, label)
    })
}

/// Returns the label with this title if it belongs to the project itself and not to its group.
fn own(tx: &mut dyn Tx, tracker: &Tracker, title: &str) -> Result<Option<Label>, StoreError> {
    let label = tx.labels().find_by_title(tracker.project.id, title)?;
    Ok(label.filter(|label| label.of_group.is_none()))
}

fn changed(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    label: Label,
    rule: ColorRule,
    changes: &LabelChanges,
) -> Result<Label, Error> {
    let mut errors = FieldErrors::default();
    let before = (&label.title, &label.color, &label.description);
    let ParsedLabelChanges { title, color, description } = changes.parse(before, rule, &mut errors);
    let priority = match changes.priority {
        None => Some(label.priority),
        Some(None) => Some(None),
        Some(Some(number)) => errors.check("priority", Priority::parse(number)).map(Some),
    };
    if let Some(title) = title.as_ref().filter(|title| **title != label.title)
        && let Some(same) = tx.labels().find_by_title(label.project, title.as_str())?
    {
        errors.extend(match same.of_group {
            None => title_taken(),
            Some(_) => taken_by_group(tx, tracker)?,
        });
    }
    let after = errors.into_result_with(|| {
        Some(Label {
            title: title?,
            color: color?,
            description: description?,
            priority: priority?,
            ..label.clone()
        })
    })?;
    Ok(after)
}

fn title_taken() -> FieldErrors {
    FieldErrors::single("title", FieldProblem::Taken)
}

fn taken_by_group(tx: &mut dyn Tx, tracker: &Tracker) -> Result<FieldErrors, StoreError> {
    let group = tx.namespaces().find(tracker.project.namespace)?;
    let name = group.map(|group| group.name).unwrap_or_default();
    let message = format!("already exists at group level for {name}. Please choose another one.");
    Ok(FieldErrors::single("title", message))
}

/// Deletes the label with this title, and returns its state before.
pub fn delete(app: &App, actor: Actor, named: &ProjectRef, name: &str) -> Result<LabelView, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        tracker.require(TrackerAbility::AdministerLabels)?;
        let label = own(tx, &tracker, name)?.ok_or(Error::NotFound(Entity::Label))?;
        let view = view::load(tx, &tracker, user, label)?;
        tx.labels().delete(view.label.id)?;
        tx.group_labels().adapt_to_group(tracker.project.id)?;
        Ok(view)
    })
}

/// Subscribes the actor to a label, or unsubscribes.
pub fn subscribe(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    label: &LabelRef,
    command: SubscriptionCommand,
) -> Result<Change<LabelView>, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        let label = find_visible(tx, &tracker, label)?.ok_or(Error::NotFound(Entity::Label))?;
        let is_subscribed = !tx.labels().subscribed(user, &[label.id])?.is_empty();
        let Change::Applied(state) = Subscribed::from_bool(is_subscribed).apply(command) else {
            return Ok(Change::Unchanged);
        };
        tx.labels().subscribe(label.id, user, state)?;
        Ok(Change::Applied(view::load(tx, &tracker, user, label)?))
    })
}

fn find_visible(
    tx: &mut dyn Tx,
    tracker: &Tracker,
    label: &LabelRef,
) -> Result<Option<Label>, StoreError> {
    if !tracker.allows(TrackerAbility::ReadLabels) {
        return Ok(None);
    }
    let project = tracker.project.id;
    if let Some(id) = label.id()
        && let Some(found) = tx.labels().find(project, id)?
    {
        return Ok(Some(found));
    }
    tx.labels().find_by_title(project, &label.0)
}
