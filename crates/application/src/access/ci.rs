//! The way to the pipelines and builds of a project.

use chrono::NaiveDate;
use hexforge_domain::policy::ci::{CiAbility, CiFacts};
use hexforge_domain::policy::{Actor, authorize};
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::{Project, ProjectRef};

use super::project_facts;
use crate::error::{Error, Thing};

/// The project that is named, if the actor may do this with its pipelines and builds.
pub fn project(
    tx: &mut dyn Tx,
    actor: Actor,
    ability: CiAbility,
    named: &ProjectRef,
    today: NaiveDate,
) -> Result<Project, Error> {
    let project = tx.projects().find(named)?.ok_or(Error::NotFound(Thing::Project))?;
    check(tx, actor, ability, project, today)
}

/// Like [`project`]; until the transaction ends nobody else changes the project.
pub fn locked(
    tx: &mut dyn Tx,
    actor: Actor,
    ability: CiAbility,
    named: &ProjectRef,
    today: NaiveDate,
) -> Result<Project, Error> {
    let found = tx.projects().gate(named)?.ok_or(Error::NotFound(Thing::Project))?;
    let project = tx.projects().lock(found.id)?.ok_or(Error::NotFound(Thing::Project))?;
    check(tx, actor, ability, project, today)
}

fn check(
    tx: &mut dyn Tx,
    actor: Actor,
    ability: CiAbility,
    project: Project,
    today: NaiveDate,
) -> Result<Project, Error> {
    let facts = CiFacts {
        project: project_facts(tx, actor, &project, today)?,
        builds: project.features.builds,
        public_builds: project.features.public_builds,
    };
    authorize(actor, ability, &facts).map_err(|denied| Error::denied(denied, Thing::Project))?;
    Ok(project)
}
