//! Fake of the projects.

use super::tx::{FakeTx, Tables};
use chrono::{NaiveDate, TimeDelta};
use hexforge_domain::Timestamp;
use hexforge_domain::branch::BranchName;
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::project::ProjectRole;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::port::Projects;
use hexforge_domain::project::query::ProjectFilter;
use hexforge_domain::project::{
    AdminSettings, Archived, BuildSettings, CoverageExpression, NamespaceWithOwner, NewProject,
    Project, ProjectHeader, ProjectName, ProjectPath, ProjectRef, ProjectWithNamespace, Starred,
};
use hexforge_domain::refs::RepositoryState;
use hexforge_domain::text::Secret;

impl Tables {
    /// Returns a project with computed counters, so that they are always right.
    pub fn project_with_counters(&self, project: &Project) -> Project {
        let stars = self.stars.iter().filter(|(starred, _)| *starred == project.id).count();
        let forks = self.projects.values().filter(|p| p.forked_from == Some(project.id)).count();
        let open_issues = (self.issues.iter())
            .filter(|issue| issue.project == project.id && issue.state.is_open())
            .count();
        let small = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        Project {
            star_count: small(stars),
            forks_count: small(forks),
            open_issues_count: small(open_issues),
            external_tracker: self.has_active_tracker(project.id),
            ..project.clone()
        }
    }

    /// Returns all direct and indirect forks of a project.
    fn forks_of(&self, project: ProjectId) -> Vec<ProjectId> {
        let mut found: Vec<ProjectId> = Vec::new();
        let mut sources = vec![project];
        while let Some(source) = sources.pop() {
            let forks = self.projects.values().filter(|p| p.forked_from == Some(source));
            let new: Vec<_> = forks.map(|p| p.id).filter(|id| !found.contains(id)).collect();
            found.extend(&new);
            sources.extend(new);
        }
        found
    }
}

impl FakeTx {
    /// Returns an error if the name or path is already in use.
    fn check_clashes(
        &mut self,
        project: Option<ProjectId>,
        namespace: NamespaceId,
        (name, path): (&ProjectName, &ProjectPath),
    ) -> Result<(), StoreError> {
        let clashing = Projects::find_clashing(self, namespace, name, path)?;
        let mut others = clashing.into_iter().filter(|other| Some(other.id) != project);
        match others.next() {
            Some(other) if other.name == *name => self.refuse(StoreError::Duplicate("name")),
            Some(_) => self.refuse(StoreError::Duplicate("path")),
            None => Ok(()),
        }
    }
}

impl Projects for FakeTx {
    fn find(&mut self, named: &ProjectRef) -> Result<Option<Project>, StoreError> {
        let found = match named {
            ProjectRef::Id(id) => self.tables.projects.get(id),
            // Paths are unique ignoring case, so an exact match needs no preference.
            ProjectRef::Path { namespace, path } => {
                let mut spaces = self.tables.namespaces.iter();
                let space = spaces.find(|n| n.path.as_str().eq_ignore_ascii_case(namespace));
                let mut projects = self.tables.projects.values();
                projects.find(|project| {
                    project.path.as_str().eq_ignore_ascii_case(path)
                        && space.is_some_and(|space| space.id == project.namespace)
                })
            }
        };
        Ok(found.map(|project| self.tables.project_with_counters(project)))
    }

    fn find_with_namespace(
        &mut self,
        named: &ProjectRef,
        reader: Option<UserId>,
    ) -> Result<Option<(ProjectWithNamespace, Starred)>, StoreError> {
        let Some(project) = Projects::find(self, named)? else { return Ok(None) };
        let is_starred =
            reader.is_some_and(|reader| self.tables.stars.contains(&(project.id, reader)));
        let mut namespaces = self.tables.namespaces.iter();
        let namespace = namespaces.find(|namespace| namespace.id == project.namespace).cloned();
        let starred = if is_starred { Starred::Yes } else { Starred::No };
        Ok(namespace.map(|namespace| {
            let owner = (namespace.owner)
                .and_then(|owner| Some(self.tables.users.get(&owner)?.user.clone()));
            let place = NamespaceWithOwner { namespace, owner };
            (ProjectWithNamespace { project, place }, starred)
        }))
    }

    fn header(&mut self, named: &ProjectRef) -> Result<Option<ProjectHeader>, StoreError> {
        let found = Projects::find(self, named)?;
        Ok(found.map(|Project { id, path, visibility, archived, .. }| {
            let state = self.tables.repositories.get(&id);
            let repository_version = state.map_or(0, RepositoryState::version);
            ProjectHeader { id, path, visibility, archived, repository_version }
        }))
    }

    fn lock(&mut self, id: ProjectId) -> Result<Option<Project>, StoreError> {
        // Write transactions run one at a time, so there is nothing to lock.
        Projects::find(self, &ProjectRef::Id(id))
    }

    fn lock_all(&mut self, ids: &[ProjectId]) -> Result<Vec<Project>, StoreError> {
        let mut found = Projects::find_all(self, ids)?;
        found.sort_by_key(|project| project.id);
        Ok(found)
    }

    fn find_all(&mut self, ids: &[ProjectId]) -> Result<Vec<Project>, StoreError> {
        let found = self.tables.projects.values().filter(|project| ids.contains(&project.id));
        Ok(found.map(|project| self.tables.project_with_counters(project)).collect())
    }

    fn list(&mut self, filter: &ProjectFilter, page: Page) -> Result<Paged<Project>, StoreError> {
        Ok(page
            .slice(self.tables.matching_projects(filter))
            .map(|project| self.tables.project_with_counters(project)))
    }

    fn role(
        &mut self,
        project: ProjectId,
        user: UserId,
        today: NaiveDate,
    ) -> Result<ProjectRole, StoreError> {
        let found = self.tables.projects.get(&project);
        Ok(found.map(|found| self.tables.role(found, user, today)).unwrap_or_default())
    }

    fn authorized_among(
        &mut self,
        user: UserId,
        projects: &[ProjectId],
        today: NaiveDate,
    ) -> Result<Vec<ProjectId>, StoreError> {
        let asked = self.tables.projects.values().filter(|project| projects.contains(&project.id));
        let authorized = asked.filter(|project| self.tables.is_authorized(project, user, today));
        Ok(authorized.map(|project| project.id).collect())
    }

    fn find_clashing(
        &mut self,
        namespace: NamespaceId,
        name: &ProjectName,
        path: &ProjectPath,
    ) -> Result<Vec<Project>, StoreError> {
        let inside = self.tables.projects.values().filter(|p| p.namespace == namespace);
        let clashing = inside.filter(|p| p.name == *name || p.path.folded() == path.folded());
        Ok(clashing.map(|project| self.tables.project_with_counters(project)).collect())
    }

    fn count_in(&mut self, namespace: NamespaceId) -> Result<u64, StoreError> {
        let all = self.tables.projects.values();
        Ok(all.filter(|project| project.namespace == namespace).count() as u64)
    }

    fn count_personal(&mut self, owners: &[UserId]) -> Result<Vec<(UserId, u64)>, StoreError> {
        let homes = self.tables.namespaces.iter().filter_map(|home| Some((home.id, home.owner?)));
        let asked: Vec<_> = homes.filter(|(_, owner)| owners.contains(owner)).collect();
        asked.into_iter().map(|(home, owner)| Ok((owner, self.count_in(home)?))).collect()
    }

    fn insert(&mut self, new: NewProject) -> Result<Project, StoreError> {
        self.require_user(new.creator)?;
        self.require_namespace(new.namespace)?;
        if let Some(source) = new.forked_from {
            self.require_project(source)?;
        }
        self.check_clashes(None, new.namespace, (&new.name, &new.path))?;
        let project = Project {
            id: ProjectId(self.next_id()),
            namespace: new.namespace,
            creator: Some(new.creator),
            name: new.name,
            path: new.path,
            description: new.description,
            visibility: new.visibility,
            archived: Archived::No,
            features: new.features,
            star_count: 0,
            forks_count: 0,
            open_issues_count: 0,
            external_tracker: false,
            forked_from: new.forked_from,
            import_url: new.import_url,
            default_branch: None,
            avatar: new.avatar,
            created_at: new.at,
            updated_at: new.at,
            last_activity_at: new.at,
        };
        self.tables.projects.insert(project.id, project.clone());
        self.tables.copies.extend(project.forked_from.map(|_| project.id));
        self.tables.add_to_fork_network(&project);
        self.set_runners_token(project.id, &new.runners_token)?;
        Ok(project)
    }

    fn was_created_as_fork(&mut self, project: ProjectId) -> Result<bool, StoreError> {
        Ok(self.tables.copies.contains(&project))
    }

    fn update(&mut self, project: &Project) -> Result<(), StoreError> {
        let Some(row) = self.tables.projects.get(&project.id) else { return Ok(()) };
        let default_branch = row.default_branch.clone();
        let named = (&project.name, &project.path);
        self.check_clashes(Some(project.id), project.namespace, named)?;
        self.require_namespace(project.namespace)?;
        if let Some(source) = project.forked_from {
            self.require_project(source)?;
        }
        let row = Project { default_branch, ..project.clone() };
        self.tables.projects.insert(project.id, row);
        Ok(())
    }

    fn set_default_branch(
        &mut self,
        project: ProjectId,
        branch: Option<&BranchName>,
    ) -> Result<(), StoreError> {
        if let Some(row) = self.tables.projects.get_mut(&project) {
            row.default_branch = branch.cloned();
        }
        Ok(())
    }

    fn set_avatar(&mut self, project: ProjectId, file: Option<&str>) -> Result<(), StoreError> {
        if let Some(row) = self.tables.projects.get_mut(&project) {
            row.avatar = file.map(str::to_owned);
        }
        Ok(())
    }

    fn runners_token(&mut self, project: ProjectId) -> Result<Option<Secret>, StoreError> {
        Ok(self.tables.runners_tokens.get(&project).cloned())
    }

    fn set_runners_token(&mut self, project: ProjectId, token: &Secret) -> Result<(), StoreError> {
        self.require_project(project)?;
        let tables = &mut self.tables;
        tables.runners_tokens.retain(|id, _| tables.projects.contains_key(id));
        if tables.runners_tokens.iter().any(|(id, one)| *id != project && one == token) {
            return self.refuse(StoreError::Duplicate("runners_token"));
        }
        tables.runners_tokens.insert(project, token.clone());
        Ok(())
    }

    fn coverage_expression(
        &mut self,
        project: ProjectId,
    ) -> Result<Option<CoverageExpression>, StoreError> {
        Ok(self.tables.coverage_expressions.get(&project).cloned())
    }

    fn set_coverage_expression(
        &mut self,
        project: ProjectId,
        expression: Option<&CoverageExpression>,
    ) -> Result<(), StoreError> {
        match expression {
            Some(expression) => {
                self.tables.coverage_expressions.insert(project, expression.clone())
            }
            None => self.tables.coverage_expressions.remove(&project),
        };
        Ok(())
    }

    fn build_settings(&mut self, project: ProjectId) -> Result<BuildSettings, StoreError> {
        Ok(self.tables.build_settings.get(&project).copied().unwrap_or_default())
    }

    fn admin_settings(&mut self, project: ProjectId) -> Result<AdminSettings, StoreError> {
        Ok(AdminSettings {
            runners_token: self.runners_token(project)?,
            coverage_expression: self.coverage_expression(project)?,
            build: self.build_settings(project)?,
        })
    }

    fn set_build_settings(
        &mut self,
        project: ProjectId,
        settings: BuildSettings,
    ) -> Result<(), StoreError> {
        self.tables.build_settings.insert(project, settings);
        Ok(())
    }

    fn record_activity(&mut self, project: ProjectId, at: Timestamp) -> Result<(), StoreError> {
        if let Some(row) = self.tables.projects.get_mut(&project)
            && at - row.last_activity_at >= TimeDelta::hours(1)
        {
            row.last_activity_at = at;
        }
        Ok(())
    }

    fn lower_forks(&mut self, project: ProjectId, at: Timestamp) -> Result<(), StoreError> {
        let Some(source) = self.tables.projects.get(&project) else { return Ok(()) };
        let highest = source.visibility;
        for fork in self.tables.forks_of(project) {
            if let Some(fork) = self.tables.projects.get_mut(&fork)
                && fork.visibility > highest
            {
                (fork.visibility, fork.updated_at) = (highest, at);
            }
        }
        Ok(())
    }

    fn is_fork_of(&mut self, project: ProjectId, source: ProjectId) -> Result<bool, StoreError> {
        Ok(self.tables.forks_of(source).contains(&project))
    }

    fn delete(&mut self, project: ProjectId) -> Result<(), StoreError> {
        self.tables.remove_project(project);
        Ok(())
    }
}
