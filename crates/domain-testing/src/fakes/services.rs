//! Fake of the services.

use super::tx::{FakeTx, Tables};
use hexforge_domain::Timestamp;
use hexforge_domain::delivery::HookRef;
use hexforge_domain::id::{ProjectId, ServiceId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::service::port::Services;
use hexforge_domain::service::{ProjectService, Properties, ServiceKind};

impl Tables {
    /// Returns whether an issue tracker of the project is active.
    pub fn has_active_tracker(&self, project: ProjectId) -> bool {
        let of_project = self.services.iter().filter(|one| one.project == project);
        of_project.filter(|service| service.active).any(|service| service.kind.is_tracker())
    }
}

impl Services for FakeTx {
    fn find(
        &mut self,
        project: ProjectId,
        kind: ServiceKind,
    ) -> Result<Option<ProjectService>, StoreError> {
        let mut all = self.tables.services.iter();
        Ok(all.find(|service| service.project == project && service.kind == kind).cloned())
    }

    fn receivers_of(&mut self, projects: &[ProjectId]) -> Result<Vec<ProjectService>, StoreError> {
        let of_projects = self.tables.services.iter().filter(|one| projects.contains(&one.project));
        Ok(of_projects.filter(|service| service.delivery_url().is_some()).cloned().collect())
    }

    fn links_of(&mut self, project: ProjectId) -> Result<Vec<ProjectService>, StoreError> {
        let of_project = self.tables.services.iter().filter(|one| one.project == project);
        Ok(of_project.filter(|service| service.active && service.kind.is_link()).cloned().collect())
    }

    fn insert(
        &mut self,
        project: ProjectId,
        kind: ServiceKind,
        (active, properties): (bool, Properties),
        at: Timestamp,
    ) -> Result<ProjectService, StoreError> {
        self.require_project(project)?;
        if Services::find(self, project, kind)?.is_some() {
            return self.refuse(StoreError::Duplicate("service"));
        }
        let id = ServiceId(self.next_id());
        let service = ProjectService {
            id,
            project,
            kind,
            active,
            properties,
            created_at: at,
            updated_at: at,
        };
        self.tables.services.push(service.clone());
        Ok(service)
    }

    fn update(&mut self, service: &ProjectService) -> Result<(), StoreError> {
        if service.delivery_url().is_none() {
            self.tables.remove_lane(HookRef::Service(service.id));
        }
        let mut all = self.tables.services.iter_mut();
        if let Some(row) = all.find(|row| row.id == service.id) {
            row.clone_from(service);
        }
        Ok(())
    }
}
