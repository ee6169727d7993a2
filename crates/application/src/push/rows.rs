//! The rows that follow from changed refs: events, hook deliveries, releases, pipelines and protections.

use hexforge_domain::Timestamp;
use hexforge_domain::branch::BranchName;
use hexforge_domain::branch::protection::{Protected, Protection};
use hexforge_domain::event::NewEvent;
use hexforge_domain::id::ProjectId;
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::ports::git::RefChange;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::push::{Push, RefKind};

use crate::app::App;

/// Writes the activity events, and the outbox rows from which hooks are delivered.
pub(super) fn write_events(
    tx: &mut dyn Tx,
    project: ProjectId,
    pushes: Vec<Push>,
    now: Timestamp,
) -> Result<(), StoreError> {
    if !pushes.is_empty() {
        tx.projects().record_activity(project, now)?;
    }
    for push in pushes {
        tx.events().insert(event(&push, now))?;
        tx.outbox().record(&SystemEvent::Pushed(Box::new(push)), now)?;
    }
    Ok(())
}

/// Updates the rows that depend on a ref: the release of a removed tag, and whether the ref of a pipeline exists.
pub(super) fn note_ref(
    tx: &mut dyn Tx,
    project: ProjectId,
    change: &RefChange,
) -> Result<(), StoreError> {
    let present = change.new.is_some();
    match RefKind::of(&change.name) {
        RefKind::Tag(tag) if !present => {
            tx.releases().remove(project, &tag)?;
            tx.pipelines().note_ref(project, true, tag.as_str(), false)
        }
        RefKind::Tag(tag) if change.old.is_none() => {
            tx.pipelines().note_ref(project, true, tag.as_str(), true)
        }
        RefKind::Branch(branch) if change.old.is_none() || !present => {
            tx.pipelines().note_ref(project, false, branch.as_str(), present)
        }
        RefKind::Branch(_) | RefKind::Tag(_) | RefKind::Reserved | RefKind::Other => Ok(()),
    }
}

/// Protects a branch that became the default one as the settings say, unless it is protected.
pub(super) fn protect(
    app: &App,
    tx: &mut dyn Tx,
    project: ProjectId,
    branch: &BranchName,
) -> Result<(), StoreError> {
    if Protected::of(branch.as_str(), &tx.protections().list(project)?).protected {
        return Ok(());
    }
    let protection = app.current_settings(tx)?.default_branch_protection;
    let Some(developers) = protection.developer_rights() else { return Ok(()) };
    let protection = Protection { pattern: branch.as_str().to_owned(), developers };
    tx.protections().put(project, &protection)
}

fn event(push: &Push, at: Timestamp) -> NewEvent {
    NewEvent {
        project: push.project.id,
        author: push.user.id,
        action: push.action(),
        target: None,
        push: Some(Box::new(push.clone())),
        at,
    }
}
