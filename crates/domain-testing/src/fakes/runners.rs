//! Fake of the runners.

use super::tx::FakeTx;
use hexforge_domain::id::{ProjectId, RunnerId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::runner::port::Runners;
use hexforge_domain::runner::{NewRunner, Runner};

impl Runners for FakeTx {
    fn find(&mut self, id: RunnerId) -> Result<Option<Runner>, StoreError> {
        Ok(self.tables.runners.iter().find(|runner| runner.id == id).cloned())
    }

    fn find_all(&mut self, ids: &[RunnerId]) -> Result<Vec<Runner>, StoreError> {
        let all = self.tables.runners.iter();
        Ok(all.filter(|runner| ids.contains(&runner.id)).cloned().collect())
    }

    fn insert(&mut self, new: NewRunner) -> Result<Runner, StoreError> {
        let runner = Runner {
            id: RunnerId(self.next_id()),
            description: new.description,
            active: true,
            shared: new.shared,
            run_untagged: new.run_untagged,
            locked: new.locked,
            tags: new.tags,
            info: new.info,
            created_at: new.at,
            updated_at: new.at,
            contacted_at: None,
        };
        self.tables.runners.push(runner.clone());
        Ok(runner)
    }

    fn update(&mut self, runner: &Runner) -> Result<(), StoreError> {
        for one in self.tables.runners.iter_mut().filter(|one| one.id == runner.id) {
            *one = Runner { created_at: one.created_at, ..runner.clone() };
        }
        Ok(())
    }

    fn bind(&mut self, runner: RunnerId, project: ProjectId) -> Result<(), StoreError> {
        self.require_project(project)?;
        if !self.tables.runners.iter().any(|one| one.id == runner) {
            return self.refuse(StoreError::Gone);
        }
        self.tables.runner_projects.insert((runner, project));
        Ok(())
    }

    fn projects(&mut self, runner: RunnerId) -> Result<Vec<ProjectId>, StoreError> {
        let all = self.tables.runner_projects.iter();
        Ok(all.filter(|(one, _)| *one == runner).map(|(_, project)| *project).collect())
    }

    fn projects_of(
        &mut self,
        runners: &[RunnerId],
    ) -> Result<Vec<(RunnerId, ProjectId)>, StoreError> {
        let mut bound: Vec<_> = self.tables.runner_projects.iter().copied().collect();
        bound.retain(|(runner, _)| runners.contains(runner));
        bound.sort_unstable();
        Ok(bound)
    }

    fn list(&mut self, page: Page) -> Result<Paged<Runner>, StoreError> {
        Ok(page.slice(self.tables.runners.clone()))
    }

    fn rotations(&mut self) -> Result<i64, StoreError> {
        Ok(self.tables.runner_rotations)
    }

    fn rotate(&mut self) -> Result<i64, StoreError> {
        self.tables.runner_rotations += 1;
        Ok(self.tables.runner_rotations)
    }

    fn project_by_token(&mut self, token: &str) -> Result<Option<ProjectId>, StoreError> {
        let tables = &self.tables;
        let mut all = tables.runners_tokens.iter();
        let found = all.find(|(id, one)| one.reveal() == token && tables.projects.contains_key(id));
        Ok(found.map(|(project, _)| *project))
    }

    fn delete(&mut self, id: RunnerId) -> Result<(), StoreError> {
        self.tables.runners.retain(|runner| runner.id != id);
        self.tables.runner_projects.retain(|(runner, _)| *runner != id);
        for build in &mut self.tables.builds {
            build.runner = build.runner.filter(|runner| *runner != id);
        }
        Ok(())
    }
}
