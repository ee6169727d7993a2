//! Fake of the environments and deployments.

use super::tx::FakeTx;
use hexforge_domain::branch::BranchName;
use hexforge_domain::deployment::port::Deployments;
use hexforge_domain::deployment::{Deployment, NewDeployment};
use hexforge_domain::environment::port::Environments;
use hexforge_domain::environment::{Environment, EnvironmentState, ExternalUrl, NewEnvironment};
use hexforge_domain::id::{DeploymentId, EnvironmentId, ProjectId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

impl FakeTx {
    fn check_unique_environment(&mut self, one: &Environment) -> Result<(), StoreError> {
        let all = self.tables.environments.iter();
        let others = all.filter(|other| other.project == one.project && other.id != one.id);
        let (mut has_name, mut has_url) = (false, false);
        for other in others {
            has_name |= other.name == one.name;
            has_url |= one.external_url.is_some() && other.external_url == one.external_url;
        }
        match (has_name, has_url) {
            (true, _) => self.refuse(StoreError::Duplicate("name")),
            (false, true) => self.refuse(StoreError::Duplicate("external_url")),
            (false, false) => Ok(()),
        }
    }

    fn find_environment(&self, fits: impl Fn(&Environment) -> bool) -> Option<Environment> {
        self.tables.environments.iter().find(|environment| fits(environment)).cloned()
    }
}

impl Environments for FakeTx {
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Environment>, StoreError> {
        let all = self.tables.environments.iter();
        Ok(page.slice(all.filter(|one| one.project == project).cloned().collect()))
    }

    fn find(
        &mut self,
        project: ProjectId,
        id: EnvironmentId,
    ) -> Result<Option<Environment>, StoreError> {
        Ok(self.find_environment(|one| one.project == project && one.id == id))
    }

    fn find_all(&mut self, ids: &[EnvironmentId]) -> Result<Vec<Environment>, StoreError> {
        let all = self.tables.environments.iter();
        Ok(all.filter(|one| ids.contains(&one.id)).cloned().collect())
    }

    fn find_by_name(
        &mut self,
        project: ProjectId,
        name: &str,
    ) -> Result<Option<Environment>, StoreError> {
        Ok(self.find_environment(|one| one.project == project && one.name.as_str() == name))
    }

    fn find_by_url(
        &mut self,
        project: ProjectId,
        url: &str,
    ) -> Result<Option<Environment>, StoreError> {
        Ok(self.find_environment(|one| {
            one.project == project
                && one.external_url.as_ref().map(ExternalUrl::as_str) == Some(url)
        }))
    }

    fn to_stop(
        &mut self,
        project: ProjectId,
        branches: &[BranchName],
        limit: u32,
    ) -> Result<Vec<Environment>, StoreError> {
        let stops = |name: &String| branches.iter().any(|branch| branch.as_str() == name);
        let fits = |one: &&Environment| {
            one.project == project
                && one.state == EnvironmentState::Available
                && one.stop_branch.as_ref().is_some_and(stops)
        };
        let all = self.tables.environments.iter();
        Ok(all.filter(fits).take(limit as usize).cloned().collect())
    }

    fn insert(&mut self, new: NewEnvironment) -> Result<Environment, StoreError> {
        self.require_project(new.project)?;
        let environment = Environment {
            id: EnvironmentId(self.next_id()),
            project: new.project,
            name: new.name,
            external_url: new.external_url,
            state: EnvironmentState::Available,
            stop_branch: None,
            created_at: new.at,
            updated_at: new.at,
        };
        self.check_unique_environment(&environment)?;
        self.tables.environments.push(environment.clone());
        Ok(environment)
    }

    fn update(&mut self, environment: &Environment) -> Result<(), StoreError> {
        self.check_unique_environment(environment)?;
        let mut all = self.tables.environments.iter_mut();
        if let Some(row) = all.find(|row| row.id == environment.id) {
            row.clone_from(environment);
        }
        Ok(())
    }

    fn delete(&mut self, id: EnvironmentId) -> Result<(), StoreError> {
        self.tables.environments.retain(|one| one.id != id);
        self.tables.deployments.retain(|one| one.environment != id);
        Ok(())
    }
}

impl Deployments for FakeTx {
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Deployment>, StoreError> {
        let all = self.tables.deployments.iter();
        Ok(page.slice(all.filter(|one| one.project == project).cloned().collect()))
    }

    fn find(
        &mut self,
        project: ProjectId,
        id: DeploymentId,
    ) -> Result<Option<Deployment>, StoreError> {
        let mut all = self.tables.deployments.iter();
        Ok(all.find(|one| one.project == project && one.id == id).cloned())
    }

    fn list_to(
        &mut self,
        environment: EnvironmentId,
        page: Page,
    ) -> Result<Paged<Deployment>, StoreError> {
        let newest_first = self.tables.deployments.iter().rev();
        let fitting = newest_first.filter(|one| one.environment == environment);
        Ok(page.slice(fitting.cloned().collect()))
    }

    fn last_to(&mut self, environment: EnvironmentId) -> Result<Option<Deployment>, StoreError> {
        let mut newest_first = self.tables.deployments.iter().rev();
        Ok(newest_first.find(|one| one.environment == environment).cloned())
    }

    fn insert(&mut self, new: NewDeployment) -> Result<Deployment, StoreError> {
        self.require_project(new.project)?;
        if let Some(user) = new.user {
            self.require_user(user)?;
        }
        let last = self.tables.iids.entry(new.project).or_default();
        last.deployments += 1;
        let iid = last.deployments;
        let deployment = Deployment {
            id: DeploymentId(self.next_id()),
            iid,
            project: new.project,
            environment: new.environment,
            build: new.build,
            reference: new.reference,
            sha: new.sha,
            user: new.user,
            on_stop: new.on_stop,
            created_at: new.at,
        };
        self.tables.deployments.push(deployment.clone());
        Ok(deployment)
    }
}
