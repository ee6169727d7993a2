//! Fake of the branch protections.

use super::tx::FakeTx;
use hexforge_domain::branch::Protection;
use hexforge_domain::branch::port::Protections;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::StoreError;

impl Protections for FakeTx {
    fn list(&mut self, project: ProjectId) -> Result<Vec<Protection>, StoreError> {
        let all = self.tables.protections.iter().filter(|(of, _)| *of == project);
        let mut found: Vec<Protection> = all.map(|(_, protection)| protection.clone()).collect();
        found.sort_by(|a, b| a.pattern.cmp(&b.pattern));
        Ok(found)
    }

    fn find(
        &mut self,
        project: ProjectId,
        pattern: &str,
    ) -> Result<Option<Protection>, StoreError> {
        let mut all = self.tables.protections.iter();
        let found = all.find(|(of, row)| *of == project && row.pattern == pattern);
        Ok(found.map(|(_, protection)| protection.clone()))
    }

    fn put(&mut self, project: ProjectId, protection: &Protection) -> Result<(), StoreError> {
        self.require_project(project)?;
        Protections::remove(self, project, &protection.pattern)?;
        self.tables.protections.push((project, protection.clone()));
        Ok(())
    }

    fn remove(&mut self, project: ProjectId, pattern: &str) -> Result<bool, StoreError> {
        let before = self.tables.protections.len();
        self.tables.protections.retain(|(of, row)| *of != project || row.pattern != pattern);
        Ok(self.tables.protections.len() < before)
    }
}
