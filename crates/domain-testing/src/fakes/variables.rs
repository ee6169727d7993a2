//! Fake of the variables.

use super::tx::FakeTx;
use hexforge_domain::id::{ProjectId, VariableId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::ports::vault::Sealed;
use hexforge_domain::variable::port::Variables;
use hexforge_domain::variable::{Variable, VariableKey};

impl Variables for FakeTx {
    fn list(&mut self, project: ProjectId, page: Page) -> Result<Paged<Variable>, StoreError> {
        let all = self.tables.variables.iter();
        Ok(page.slice(all.filter(|variable| variable.project == project).cloned().collect()))
    }

    fn find(&mut self, project: ProjectId, key: &str) -> Result<Option<Variable>, StoreError> {
        let mut all = self.tables.variables.iter();
        Ok(all.find(|one| one.project == project && one.key.as_str() == key).cloned())
    }

    fn insert(
        &mut self,
        project: ProjectId,
        key: &VariableKey,
        value: &Sealed,
    ) -> Result<Variable, StoreError> {
        self.require_project(project)?;
        if Variables::find(self, project, key.as_str())?.is_some() {
            return self.refuse(StoreError::Duplicate("key"));
        }
        let id = VariableId(self.next_id());
        let variable = Variable { id, project, key: key.clone(), value: value.clone() };
        self.tables.variables.push(variable.clone());
        Ok(variable)
    }

    fn update(&mut self, id: VariableId, value: &Sealed) -> Result<(), StoreError> {
        for one in self.tables.variables.iter_mut().filter(|one| one.id == id) {
            one.value = value.clone();
        }
        Ok(())
    }

    fn delete(&mut self, id: VariableId) -> Result<(), StoreError> {
        self.tables.variables.retain(|variable| variable.id != id);
        Ok(())
    }
}
