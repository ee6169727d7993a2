//! Fake of the project hooks and system hooks.

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::delivery::HookRef;
use hexforge_domain::id::{ProjectHookId, ProjectId, SystemHookId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::hook::{ProjectHook, ProjectHookSettings};
use hexforge_domain::project::port::ProjectHooks;
use hexforge_domain::system_hook::port::SystemHooks;
use hexforge_domain::system_hook::{SystemHook, SystemHookSettings};

impl ProjectHooks for FakeTx {
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<ProjectHook>, StoreError> {
        let newest_first = self.tables.project_hooks.iter().rev();
        Ok(page.slice(newest_first.filter(|hook| hook.project == project).cloned().collect()))
    }

    fn of_projects(&mut self, projects: &[ProjectId]) -> Result<Vec<ProjectHook>, StoreError> {
        let all = self.tables.project_hooks.iter();
        Ok(all.filter(|hook| projects.contains(&hook.project)).cloned().collect())
    }

    fn find(
        &mut self,
        project: ProjectId,
        id: ProjectHookId,
    ) -> Result<Option<ProjectHook>, StoreError> {
        let mut all = self.tables.project_hooks.iter();
        Ok(all.find(|hook| hook.project == project && hook.id == id).cloned())
    }

    fn insert(
        &mut self,
        project: ProjectId,
        new: ProjectHookSettings,
        at: Timestamp,
    ) -> Result<ProjectHook, StoreError> {
        self.require_project(project)?;
        let id = ProjectHookId(self.next_id());
        let hook = ProjectHook { id, project, settings: new, created_at: at };
        self.tables.project_hooks.push(hook.clone());
        Ok(hook)
    }

    fn update(
        &mut self,
        id: ProjectHookId,
        settings: &ProjectHookSettings,
        _at: Timestamp,
    ) -> Result<(), StoreError> {
        if let Some(hook) = self.tables.project_hooks.iter_mut().find(|hook| hook.id == id) {
            hook.settings = settings.clone();
        }
        Ok(())
    }

    fn delete(&mut self, id: ProjectHookId) -> Result<(), StoreError> {
        self.tables.project_hooks.retain(|hook| hook.id != id);
        self.tables.remove_lane(HookRef::Project(id));
        Ok(())
    }
}

impl SystemHooks for FakeTx {
    fn list(&mut self, page: Page) -> Result<Paged<SystemHook>, StoreError> {
        Ok(page.slice(self.tables.system_hooks.iter().rev().cloned().collect()))
    }

    fn find(&mut self, id: SystemHookId) -> Result<Option<SystemHook>, StoreError> {
        Ok(self.tables.system_hooks.iter().find(|hook| hook.id == id).cloned())
    }

    fn insert(&mut self, new: SystemHookSettings, at: Timestamp) -> Result<SystemHook, StoreError> {
        let id = SystemHookId(self.next_id());
        let hook = SystemHook { id, settings: new, created_at: at, updated_at: at };
        self.tables.system_hooks.push(hook.clone());
        Ok(hook)
    }

    fn delete(&mut self, id: SystemHookId) -> Result<(), StoreError> {
        self.tables.system_hooks.retain(|hook| hook.id != id);
        self.tables.remove_lane(HookRef::System(id));
        Ok(())
    }
}
