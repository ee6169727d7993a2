//! Fake of the refs.

use super::tx::FakeTx;
use hexforge_domain::branch::BranchName;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::refs::port::Refs;
use hexforge_domain::refs::{Ref, RepositoryState};
use hexforge_domain::tag::TagName;

impl FakeTx {
    /// Increments the refs version, which invalidates cached refs.
    fn raise_refs_version(&mut self, project: ProjectId) {
        if let Some(state) = self.tables.repositories.get_mut(&project) {
            state.refs_version += 1;
        }
    }
}

impl Refs for FakeTx {
    fn state(&mut self, project: ProjectId) -> Result<Option<RepositoryState>, StoreError> {
        Ok(self.tables.repositories.get(&project).cloned())
    }

    fn lock(&mut self, project: ProjectId) -> Result<RepositoryState, StoreError> {
        self.require_project(project)?;
        Ok(self.tables.repositories.entry(project).or_default().clone())
    }

    fn find(&mut self, project: ProjectId, names: &[&str]) -> Result<Vec<Ref>, StoreError> {
        let all = self.tables.refs.iter().filter(|((of, _), _)| *of == project);
        let found = all.filter(|((_, name), _)| names.contains(&name.as_str()));
        Ok(found.map(|(_, one)| one.clone()).collect())
    }

    fn folders_among(
        &mut self,
        project: ProjectId,
        names: &[&str],
    ) -> Result<Vec<String>, StoreError> {
        let all = Refs::list(self, project)?;
        let is_folder = |name: &&&str| {
            let folder = format!("{name}/");
            all.iter().any(|one| one.name.starts_with(&folder))
        };
        Ok(names.iter().filter(is_folder).map(|name| (*name).to_owned()).collect())
    }

    fn list(&mut self, project: ProjectId) -> Result<Vec<Ref>, StoreError> {
        let all = self.tables.refs.iter().filter(|((of, _), _)| *of == project);
        Ok(all.map(|(_, one)| one.clone()).collect())
    }

    fn put(&mut self, project: ProjectId, refs: &[Ref]) -> Result<(), StoreError> {
        for one in refs {
            self.tables.refs.insert((project, one.name.clone()), one.clone());
        }
        self.raise_refs_version(project);
        Ok(())
    }

    fn remove(&mut self, project: ProjectId, names: &[&str]) -> Result<(), StoreError> {
        for name in names {
            self.tables.refs.remove(&(project, (*name).to_owned()));
        }
        self.raise_refs_version(project);
        Ok(())
    }

    fn set_head(&mut self, project: ProjectId, head: &str) -> Result<(), StoreError> {
        if let Some(state) = self.tables.repositories.get_mut(&project) {
            state.head = head.to_owned();
        }
        self.raise_refs_version(project);
        Ok(())
    }

    fn projects_in_files(
        &mut self,
        after: ProjectId,
        limit: i64,
    ) -> Result<Vec<ProjectId>, StoreError> {
        let all = self.tables.repositories.iter();
        let projects_in_files =
            all.filter(|(project, state)| **project > after && state.is_in_files());
        let mut ids: Vec<ProjectId> = projects_in_files.map(|(project, _)| *project).collect();
        ids.sort_unstable();
        ids.truncate(usize::try_from(limit).unwrap_or_default());
        Ok(ids)
    }

    fn copy(&mut self, source: ProjectId, target: ProjectId) -> Result<(), StoreError> {
        let Some(state) = Refs::state(self, source)? else { return Ok(()) };
        let folders = [BranchName::FOLDER, TagName::FOLDER];
        let is_copied = |one: &Ref| folders.iter().any(|folder| one.name.starts_with(folder));
        let mut refs = Refs::list(self, source)?;
        refs.retain(is_copied);
        Refs::put(self, target, &refs)?;
        Refs::set_head(self, target, &state.head)
    }
}
