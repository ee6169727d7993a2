//! Fake of the runners.

use super::tx::{FakeTx, Tables};
use chrono::NaiveDate;
use hexforge_domain::id::{ProjectId, RunnerId, UserId};
use hexforge_domain::member::{AccessLevel, is_in_force};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::Project;
use hexforge_domain::runner::port::Runners;
use hexforge_domain::runner::query::{RunnerFilter, RunnerScope, RunnerSelection};
use hexforge_domain::runner::{NewRunner, Runner};

impl Tables {
    /// See [`Runners::is_accessible`].
    fn is_runner_accessible(&self, runner: RunnerId, user: UserId, today: NaiveDate) -> bool {
        let mut assigned = self.runner_projects.iter().filter(|(one, _)| *one == runner);
        assigned.any(|(_, project)| {
            let project = self.projects.get(project);
            project.is_some_and(|project| self.is_administered(project, user, today))
        })
    }

    /// Returns whether a user owns a project or is a master of it, apart from shares.
    fn is_administered(&self, project: &Project, user: UserId, today: NaiveDate) -> bool {
        let mut members = self.project_members.iter();
        let own = members.any(|(of, member)| {
            *of == project.id
                && member.user == user
                && member.level >= AccessLevel::Master
                && is_in_force(member.expires_at, today)
        });
        own || self.level_in_group(project.namespace, user, today) >= Some(AccessLevel::Master)
            || self.is_home_of(project.namespace, user)
    }
}

impl Runners for FakeTx {
    fn find(&mut self, id: RunnerId) -> Result<Option<Runner>, StoreError> {
        Ok(self.tables.runners.iter().find(|runner| runner.id == id).cloned())
    }

    fn lock(&mut self, id: RunnerId) -> Result<Option<Runner>, StoreError> {
        Runners::find(self, id)
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

    fn is_assigned(&mut self, runner: RunnerId, project: ProjectId) -> Result<bool, StoreError> {
        Ok(self.tables.runner_projects.contains(&(runner, project)))
    }

    fn newest_projects(
        &mut self,
        runner: RunnerId,
        authorized: Option<(UserId, NaiveDate)>,
        limit: u32,
    ) -> Result<Vec<ProjectId>, StoreError> {
        let assigned = self.tables.runner_projects.iter().rev();
        let assigned = assigned.filter(|(one, _)| *one == runner).map(|(_, project)| *project);
        let is_shown = |project: &ProjectId| match authorized {
            None => true,
            Some((user, today)) => (self.tables.projects.get(project))
                .is_some_and(|project| self.tables.is_authorized(project, user, today)),
        };
        Ok(assigned.filter(is_shown).take(limit as usize).collect())
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

    fn list(&mut self, filter: &RunnerFilter, page: Page) -> Result<Paged<Runner>, StoreError> {
        let tables = &self.tables;
        let chosen = |runner: &Runner| match filter.selection {
            RunnerSelection::All => true,
            RunnerSelection::OfProject(project) => {
                runner.shared || tables.runner_projects.contains(&(runner.id, project))
            }
            RunnerSelection::AccessibleTo { user, today } => {
                !runner.shared && tables.is_runner_accessible(runner.id, user, today)
            }
        };
        let in_scope = |runner: &Runner| match filter.scope {
            None => true,
            Some(RunnerScope::Active) => runner.active,
            Some(RunnerScope::Paused) => !runner.active,
            Some(RunnerScope::Online { since }) => runner.contacted_at > Some(since),
            Some(RunnerScope::Specific) => !runner.shared,
            Some(RunnerScope::Shared) => runner.shared,
        };
        let all = tables.runners.iter().filter(|runner| chosen(runner) && in_scope(runner));
        Ok(page.slice(all.cloned().collect()))
    }

    fn is_accessible(
        &mut self,
        runner: RunnerId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<bool, StoreError> {
        Ok(self.tables.is_runner_accessible(runner, user, today))
    }

    fn unbind(&mut self, runner: RunnerId, project: ProjectId) -> Result<(), StoreError> {
        self.tables.runner_projects.remove(&(runner, project));
        Ok(())
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
