//! Access to the pipelines and builds of a project.

use hexforge_domain::policy::Protected;
use hexforge_domain::policy::ci::{CiAbility, CiFacts};
use hexforge_domain::ports::store::{StoreError, Tx};
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
        let facts = self.ci_facts(tx, &project)?;
        self.authorize(ability, &facts, Entity::Project)?;
        Ok(project)
    }

    /// Returns whether the actor has this ability on the pipelines and builds of a project.
    pub fn allows_ci(
        self,
        tx: &mut dyn Tx,
        ability: CiAbility,
        project: &Project,
    ) -> Result<bool, StoreError> {
        Ok(self.ci_facts(tx, project)?.allows(self.actor, ability))
    }

    fn ci_facts(self, tx: &mut dyn Tx, project: &Project) -> Result<CiFacts, StoreError> {
        Ok(CiFacts {
            project: self.project_facts(tx, project)?,
            builds: project.features.builds,
            public_builds: project.features.public_builds,
        })
    }
}
