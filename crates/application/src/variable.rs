//! CI variables of projects. Values are encrypted before they are stored.

use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::id::ProjectId;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::ci::CiAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::{Project, ProjectRef};
use hexforge_domain::text::Secret;
use hexforge_domain::variable::{Variable, VariableKey, VariableValue};

use crate::app::App;
use crate::error::{Entity, Error};

/// A variable with its decrypted value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VariableView {
    /// The name of the variable.
    pub key: String,
    /// The value of the variable.
    pub value: Secret,
}

/// Lists the variables of a project, oldest first.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    page: Page,
) -> Result<Paged<VariableView>, Error> {
    let found = app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::Administer, named)?;
        Ok::<_, Error>(tx.variables().list(project.id, page)?)
    })?;
    let opened =
        found.items.iter().map(|variable| view(app, variable)).collect::<Result<_, _>>()?;
    Ok(Paged { items: opened, total: found.total })
}

/// Returns one variable.
pub fn get(app: &App, actor: Actor, named: &ProjectRef, key: &str) -> Result<VariableView, Error> {
    let found = app.store.read(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::Administer, named)?;
        find(tx, &project, key)
    })?;
    view(app, &found)
}

/// Creates a variable.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    key: &str,
    value: &str,
) -> Result<VariableView, Error> {
    let taken = || Error::Invalid(FieldErrors::single("key", FieldProblem::Taken));
    let created = app.store.write(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::Administer, named)?;
        let key = VariableKey::parse(key)
            .map_err(|error| Error::Invalid(FieldErrors::single("key", error)))?;
        if tx.variables().find(project.id, key.as_str())?.is_some() {
            return Err(taken());
        }
        let value = app.vault.seal(&purpose(project.id), parse_value(value)?.as_str());
        Ok(tx.variables().insert(project.id, &key, &value)?)
    });
    match created {
        Err(Error::Store(StoreError::Duplicate("key"))) => Err(taken()),
        created => view(app, &created?),
    }
}

/// Changes the value of a variable.
pub fn update(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    key: &str,
    value: Option<&str>,
) -> Result<VariableView, Error> {
    let changed = app.store.write(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::Administer, named)?;
        let mut variable = find(tx, &project, key)?;
        if let Some(value) = value {
            variable.value = app.vault.seal(&purpose(project.id), parse_value(value)?.as_str());
            tx.variables().update(variable.id, &variable.value)?;
        }
        Ok::<_, Error>(variable)
    })?;
    view(app, &changed)
}

/// Deletes a variable, and returns its state before.
pub fn delete(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    key: &str,
) -> Result<VariableView, Error> {
    let deleted = app.store.write(|tx| {
        let project = app.requester(actor).ci_project(tx, CiAbility::Administer, named)?;
        let variable = find(tx, &project, key)?;
        tx.variables().delete(variable.id)?;
        Ok::<_, Error>(variable)
    })?;
    view(app, &deleted)
}

/// Decrypts a stored variable.
pub(crate) fn view(app: &App, variable: &Variable) -> Result<VariableView, Error> {
    let value = app.vault.open(&purpose(variable.project), &variable.value)?;
    Ok(VariableView { key: variable.key.as_str().to_owned(), value })
}

fn parse_value(value: &str) -> Result<VariableValue, FieldErrors> {
    VariableValue::parse(value).map_err(|error| FieldErrors::single("value", error))
}

/// The purpose of the encryption. A value encrypted for one project cannot be decrypted for another.
fn purpose(project: ProjectId) -> String {
    format!("variable of project {project}")
}

fn find(tx: &mut dyn Tx, project: &Project, key: &str) -> Result<Variable, Error> {
    tx.variables().find(project.id, key)?.ok_or(Error::NotFound(Entity::Variable))
}
