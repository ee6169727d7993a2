//! Labels of groups.

use std::collections::HashMap;

use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::group::GroupRef;
use hexforge_domain::id::LabelId;
use hexforge_domain::label::{ColorRule, GroupLabel, LabelTitle, VisibleCounts};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::group::GroupAbility;
use hexforge_domain::ports::store::{StoreError, Tx};

use super::{EXISTS, LabelChanges, LabelFields, ParsedLabelChanges, creation_error, title_taken};
use crate::access::{self, Requester};
use crate::app::App;
use crate::error::{Entity, Error};

/// A label of a group, with counts for its reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GroupLabelView {
    /// The label.
    pub label: GroupLabel,
    /// The number of issues with this label that the reader may see, in all projects of the group.
    pub counts: VisibleCounts,
}

/// Lists the labels of a group by title.
pub fn list(
    app: &App,
    actor: Actor,
    named: &GroupRef,
    page: Page,
) -> Result<Paged<GroupLabelView>, Error> {
    access::own_account(actor)?;
    app.store.read(|tx| {
        let requester = app.requester(actor);
        let group = requester.group(tx, GroupAbility::Read, named)?;
        let labels = tx.group_labels().list(group.id, page)?;
        views(tx, requester, labels)
    })
}

/// Creates a label for all projects of the group.
pub fn create(
    app: &App,
    actor: Actor,
    named: &GroupRef,
    rule: ColorRule,
    fields: &LabelFields,
) -> Result<GroupLabelView, Error> {
    app.store.write(|tx| {
        let requester = app.requester(actor);
        let group = lock_group(tx, requester, named)?;
        let title = LabelTitle::parse(&fields.name);
        if let Ok(title) = &title
            && tx.group_labels().find_by_title(group.id, title.as_str())?.is_some()
        {
            return Err(EXISTS);
        }
        let new = fields.validate(title, None, rule, app.clock.now())?;
        let label = tx.group_labels().insert(group.id, new).map_err(creation_error)?;
        view(tx, requester, label)
    })
}

/// Updates the given fields of the label with this title, in all projects of the group.
pub fn update(
    app: &App,
    actor: Actor,
    named: &GroupRef,
    rule: ColorRule,
    changes: &LabelChanges,
) -> Result<GroupLabelView, Error> {
    app.store.write(|tx| {
        let requester = app.requester(actor);
        let group = lock_group(tx, requester, named)?;
        let label = tx.group_labels().find_by_title(group.id, &changes.name)?;
        let label = label.ok_or(Error::NotFound(Entity::LabelToChange))?;
        let label = changed(tx, label, rule, changes)?;
        tx.group_labels().update(&label, app.clock.now()).map_err(|error| match error {
            StoreError::Duplicate(_) => title_taken().into(),
            error => Error::from(error),
        })?;
        view(tx, requester, label)
    })
}

fn changed(
    tx: &mut dyn Tx,
    label: GroupLabel,
    rule: ColorRule,
    changes: &LabelChanges,
) -> Result<GroupLabel, Error> {
    let mut errors = FieldErrors::default();
    let before = (&label.title, &label.color, &label.description);
    let ParsedLabelChanges { title, color, description } = changes.parse(before, rule, &mut errors);
    if let Some(title) = title.as_ref().filter(|title| **title != label.title)
        && (tx.group_labels().find_by_title(label.group, title.as_str())?.is_some()
            || tx.group_labels().is_title_used_in_projects(label.group, title.as_str())?)
    {
        errors.extend(title_taken());
    }
    let after = errors.into_result_with(|| {
        Some(GroupLabel {
            title: title?,
            color: color?,
            description: description?,
            ..label.clone()
        })
    })?;
    Ok(after)
}

/// Deletes the label with this title from the group and its projects, and returns its state before.
pub fn delete(
    app: &App,
    actor: Actor,
    named: &GroupRef,
    name: &str,
) -> Result<GroupLabelView, Error> {
    app.store.write(|tx| {
        let requester = app.requester(actor);
        let group = lock_group(tx, requester, named)?;
        let label = tx.group_labels().find_by_title(group.id, name)?;
        let label = label.ok_or(Error::NotFound(Entity::Label))?;
        let view = view(tx, requester, label)?;
        tx.group_labels().delete(view.label.id)?;
        Ok(view)
    })
}

/// Locks and returns the group if the actor may manage its labels. Until the transaction ends, no other transaction
/// changes these labels or the contents of the group's projects.
fn lock_group(tx: &mut dyn Tx, requester: Requester, named: &GroupRef) -> Result<Namespace, Error> {
    access::own_account(requester.actor)?;
    let group = requester.group(tx, GroupAbility::CreateProjects, named)?;
    tx.groups().lock(group.id)?.ok_or(Error::NotFound(Entity::Group))
}

fn view(tx: &mut dyn Tx, requester: Requester, label: GroupLabel) -> Result<GroupLabelView, Error> {
    let page = views(tx, requester, Paged { items: vec![label], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone.into())
}

fn views(
    tx: &mut dyn Tx,
    requester: Requester,
    labels: Paged<GroupLabel>,
) -> Result<Paged<GroupLabelView>, Error> {
    let ids: Vec<LabelId> = labels.items.iter().map(|label| label.id).collect();
    let audience = access::audience(requester.actor)?;
    let counts: HashMap<LabelId, VisibleCounts> =
        tx.group_labels().counts(&ids, audience, requester.today)?.into_iter().collect();
    Ok(labels.map(|label| {
        let counts = counts.get(&label.id).copied().unwrap_or_default();
        GroupLabelView { label, counts }
    }))
}
