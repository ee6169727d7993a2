//! Triggers: manages them, and starts pipelines with their tokens.

use hexforge_domain::Timestamp;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{PipelineId, TriggerId, TriggerRequestId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::text::Secret;
use hexforge_domain::trigger::{Trigger, check_variables};
use hexforge_domain::visibility::Visibility;

use crate::app::App;
use crate::ci_token;
use crate::error::{Entity, Error, Refusal};
use crate::pipeline::create::{self, PipelineOrigin};
use crate::pipeline::prepare::{self, Target};
use crate::repository;
use crate::view::project as project_view;

/// A trigger with its token.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TriggerView {
    /// The trigger.
    pub trigger: Trigger,
    /// The token that starts pipelines.
    pub token: Secret,
    /// The time of deletion, set only by the call that deletes the trigger.
    pub deleted_at: Option<Timestamp>,
}

/// Lists the triggers of a project, oldest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    page: Page,
) -> Result<Paged<TriggerView>, Error> {
    let found = app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::Administer, named)?;
        Ok::<_, Error>(tx.triggers().list(project.id, page)?)
    })?;
    Ok(found.map(|trigger| view(app, trigger)))
}

/// Returns the trigger with this token.
pub fn get(app: &App, actor: Actor, named: &ProjectRef, token: &str) -> Result<TriggerView, Error> {
    let found = app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::Administer, named)?;
        find_in_project(app, tx, &project, token)
    })?;
    Ok(view(app, found))
}

/// Creates a trigger.
pub fn create(app: &App, actor: Actor, named: &ProjectRef) -> Result<TriggerView, Error> {
    let now = app.clock.now();
    let created = app.store.write(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::Administer, named)?;
        Ok::<_, Error>(tx.triggers().insert(project.id, now)?)
    })?;
    Ok(view(app, created))
}

/// Deletes the trigger with this token, and returns its state before.
pub fn delete(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    token: &str,
) -> Result<TriggerView, Error> {
    let now = app.clock.now();
    let deleted = app.store.write(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::Administer, named)?;
        let trigger = find_in_project(app, tx, &project, token)?;
        tx.triggers().delete(trigger.id)?;
        Ok::<_, Error>(trigger)
    })?;
    Ok(TriggerView { deleted_at: Some(now), ..view(app, deleted) })
}

/// A pipeline that was started by a trigger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Triggered {
    /// The id of this use of the trigger.
    pub id: TriggerRequestId,
    /// The variables of the request, by name.
    pub variables: Vec<(String, String)>,
}

/// Starts a pipeline for a branch or tag, authenticated by the token of a trigger.
pub fn start(
    app: &App,
    named: &ProjectRef,
    token: &str,
    reference: &str,
    variables: Vec<(String, String)>,
) -> Result<Triggered, Error> {
    let missing = || Error::NotFound(Entity::Unnamed);
    let no_builds = || Error::Refused(Refusal::NoBuilds);
    let (project, trigger) = app.store.read(|tx| {
        let trigger = find(app, tx, token)?.ok_or_else(missing)?;
        match tx.projects().find(named)? {
            Some(project) if project.id == trigger.project => Ok((project, trigger)),
            Some(project) if project.visibility == Visibility::Public => {
                Err(Error::Unauthenticated)
            }
            // For the token of another project, a hidden project is like a missing one, so that the caller does not
            // learn which projects exist.
            Some(_) | None => Err(missing()),
        }
    })?;
    check_variables(&variables)?;
    if !project.features.builds {
        return Err(no_builds());
    }
    let repository = repository::open(app, project.id)?;
    let target = Target::find(repository.as_ref(), reference)?.ok_or_else(no_builds)?;
    let prepared = prepare::read(app, repository.as_ref(), target)?.ok_or_else(no_builds)?;
    let now = app.clock.now();
    app.store.write(|tx| {
        let project = tx.projects().lock(project.id)?.ok_or_else(missing)?;
        // The trigger may have been deleted meanwhile.
        tx.triggers().find(trigger.id)?.ok_or_else(missing)?;
        let placed = project_view::with_namespace(tx, project)?;
        let origin =
            PipelineOrigin { user: None, triggered: true, before_sha: ObjectId::ZERO, at: now };
        let created = create::on_demand(tx, &placed, &prepared, origin)?;
        let pipeline = created.map_err(|_| no_builds())?;
        let sealed = app.vault.seal(&purpose(pipeline.id), &to_text(&variables));
        let used = tx.triggers().record_use(trigger.id, pipeline.id, &sealed, now)?;
        Ok(Triggered { id: used.id, variables })
    })
}

/// Returns the variables that a trigger gave to a pipeline, for runners. Returns `None` when no trigger started the
/// pipeline.
pub fn variables_of(
    app: &App,
    tx: &mut dyn Tx,
    pipeline: PipelineId,
) -> Result<Option<Vec<(String, String)>>, Error> {
    let Some(request) = tx.triggers().request_of(pipeline)? else { return Ok(None) };
    let text = app.vault.open(&purpose(pipeline), &request.variables)?;
    Ok(Some(from_text(text.reveal())))
}

fn purpose(pipeline: PipelineId) -> String {
    format!("trigger variables of pipeline {pipeline}")
}

/// Serializes names and values. Each is terminated by NUL, which neither can contain.
fn to_text(variables: &[(String, String)]) -> String {
    let clean = |text: &str| text.replace('\0', "");
    variables.iter().map(|(key, value)| format!("{}\0{}\0", clean(key), clean(value))).collect()
}

fn from_text(text: &str) -> Vec<(String, String)> {
    let mut parts = text.split_terminator('\0');
    let mut variables = Vec::new();
    while let (Some(key), Some(value)) = (parts.next(), parts.next()) {
        variables.push((key.to_owned(), value.to_owned()));
    }
    variables
}

fn view(app: &App, trigger: Trigger) -> TriggerView {
    TriggerView { token: ci_token::trigger_token(app, &trigger), trigger, deleted_at: None }
}

/// Returns the trigger with this token.
fn find(app: &App, tx: &mut dyn Tx, token: &str) -> Result<Option<Trigger>, Error> {
    let Some(id) = ci_token::claimed_id(token) else { return Ok(None) };
    let found = tx.triggers().find(TriggerId(id))?;
    Ok(found.filter(|trigger| ci_token::is_trigger_token(app, trigger, token)))
}

fn find_in_project(
    app: &App,
    tx: &mut dyn Tx,
    project: &Project,
    token: &str,
) -> Result<Trigger, Error> {
    let found = find(app, tx, token)?.filter(|trigger| trigger.project == project.id);
    found.ok_or(Error::NotFound(Entity::Trigger))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_read_as_they_were_written() {
        let pair = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        for variables in [
            vec![],
            vec![pair("A", "")],
            vec![pair("A", "1\n2"), pair("B", "ä = 🦀"), pair("C", "")],
        ] {
            assert_eq!(from_text(&to_text(&variables)), variables);
        }
    }
}
