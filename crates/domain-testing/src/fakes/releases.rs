//! Fake of the releases. The creation time is not stored because no port returns it.

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::tag::port::Releases;
use hexforge_domain::tag::{Release, TagName};

impl Releases for FakeTx {
    fn of_tags(
        &mut self,
        project: ProjectId,
        tags: &[&TagName],
    ) -> Result<Vec<Release>, StoreError> {
        let all = self.tables.releases.iter().filter(|(of, _)| *of == project);
        let found = all.filter(|(_, release)| tags.contains(&&release.tag));
        Ok(found.map(|(_, release)| release.clone()).collect())
    }

    fn find(&mut self, project: ProjectId, tag: &TagName) -> Result<Option<Release>, StoreError> {
        let mut all = self.tables.releases.iter();
        let found = all.find(|(of, release)| *of == project && release.tag == *tag);
        Ok(found.map(|(_, release)| release.clone()))
    }

    fn insert(
        &mut self,
        project: ProjectId,
        release: &Release,
        _at: Timestamp,
    ) -> Result<(), StoreError> {
        self.require_project(project)?;
        if Releases::find(self, project, &release.tag)?.is_some() {
            return self.refuse(StoreError::Duplicate("tag"));
        }
        self.tables.releases.push((project, release.clone()));
        Ok(())
    }

    fn update(
        &mut self,
        project: ProjectId,
        release: &Release,
        _at: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut all = self.tables.releases.iter_mut();
        let found = all.find(|(of, row)| *of == project && row.tag == release.tag);
        Ok(found.map(|(_, row)| *row = release.clone()).is_some())
    }

    fn remove(&mut self, project: ProjectId, tag: &TagName) -> Result<(), StoreError> {
        self.tables.releases.retain(|(of, release)| *of != project || release.tag != *tag);
        Ok(())
    }
}
