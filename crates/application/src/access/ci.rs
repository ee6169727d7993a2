//! Access to the pipelines and builds of a project.

use hexforge_domain::policy::ci::{CiAbility, CiFacts};
use hexforge_domain::ports::store::Tx;
use hexforge_domain::project::{Project, ProjectRef};

use super::{Requester, find_project, lock_project};
use crate::error::{Entity, Error};

impl Requester {
    /// Returns the named project if the actor has this ability on its pipelines and builds.
    pub fn ci_project(
        self,
        tx: &mut dyn Tx,
        ability: CiAbility,
        named: &ProjectRef,
    ) -> Result<Project, Error> {
        let project = find_project(tx, named)?;
        self.check_ci(tx, ability, project)
    }

    /// Like [`Self::ci_project`]; the row of the project stays locked until the transaction ends.
    pub fn locked_ci_project(
        self,
        tx: &mut dyn Tx,
        ability: CiAbility,
        named: &ProjectRef,
    ) -> Result<Project, Error> {
        let project = lock_project(tx, named)?;
        self.check_ci(tx, ability, project)
    }

    fn check_ci(
        self,
        tx: &mut dyn Tx,
        ability: CiAbility,
        project: Project,
    ) -> Result<Project, Error> {
        let facts = CiFacts {
            project: self.project_facts(tx, &project)?,
            builds: project.features.builds,
            public_builds: project.features.public_builds,
        };
        self.authorize(ability, &facts, Entity::Project)?;
        Ok(project)
    }
}
