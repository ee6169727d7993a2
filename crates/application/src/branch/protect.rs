//! Protecting branches.

use hexforge_domain::branch::protection::{DeveloperRights, Protected, Protection};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::project::ProjectRef;

use super::{BranchView, find};
use crate::app::App;
use crate::error::{Entity, Error};

/// The rights of developers in a request. `None` means not given.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeveloperFields {
    pub push: Option<bool>,
    pub merge: Option<bool>,
}

/// Lists the protections of a project.
pub fn list(app: &App, actor: Actor, named: &ProjectRef) -> Result<Vec<Protection>, Error> {
    app.store.read(|tx| {
        let project = app.requester(actor).project(tx, ProjectAbility::Administer, named)?;
        Ok(tx.protections().list(project.id)?)
    })
}

/// Removes the protection with this pattern. Unlike [`unprotect`], it also removes the protection of a branch that does
/// not exist.
pub fn remove(app: &App, actor: Actor, named: &ProjectRef, pattern: &str) -> Result<(), Error> {
    app.store.write(|tx| {
        let project = app.requester(actor).locked_project(tx, ProjectAbility::Administer, named)?;
        match tx.protections().remove(project.id, pattern)? {
            true => Ok(()),
            false => Err(Error::NotFound(Entity::Branch)),
        }
    })
}

/// Protects a branch, or changes the rights of developers on a protected one.
pub fn protect(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    name: &str,
    developers: DeveloperFields,
) -> Result<BranchView, Error> {
    change(app, actor, named, name, |before| {
        let rights = before.map_or_else(DeveloperRights::default, |before| before.developers);
        Some(rights.with(developers.push, developers.merge))
    })
}

/// Removes the protection with exactly this branch name.
pub fn unprotect(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    name: &str,
) -> Result<BranchView, Error> {
    change(app, actor, named, name, |_| None)
}

/// Changes the protection of a branch. `decide` returns the new rights of developers, or `None` to remove the
/// protection.
fn change(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    name: &str,
    decide: impl Fn(Option<Protection>) -> Option<DeveloperRights> + Sync,
) -> Result<BranchView, Error> {
    let ability = ProjectAbility::Administer;
    let project = app.store.read(|tx| app.requester(actor).project(tx, ability, named))?;
    let branch = find(app, project.id, name)?;
    app.store.write(|tx| {
        let project = app.requester(actor).locked_project(tx, ability, named)?;
        let pattern = branch.name.as_str();
        match decide(tx.protections().find(project.id, pattern)?) {
            Some(developers) => {
                let protection = Protection { pattern: pattern.to_owned(), developers };
                tx.protections().put(project.id, &protection)?;
            }
            None => {
                tx.protections().remove(project.id, pattern)?;
            }
        }
        let protections = tx.protections().list(project.id)?;
        let protection = Protected::of(pattern, &protections);
        Ok(BranchView { branch: branch.clone(), protection })
    })
}
