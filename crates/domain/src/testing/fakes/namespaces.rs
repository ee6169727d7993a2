//! The namespaces in memory.

use super::tx::FakeTx;
use crate::id::{NamespaceId, UserId};
use crate::namespace::port::Namespaces;
use crate::namespace::{Namespace, NamespacePath};
use crate::ports::store::StoreError;

impl Namespaces for FakeTx {
    fn find_by_path(&mut self, path: &NamespacePath) -> Result<Option<Namespace>, StoreError> {
        let mut all = self.tables.namespaces.iter();
        Ok(all.find(|namespace| namespace.path.folded() == path.folded()).cloned())
    }

    fn insert_personal(&mut self, owner: UserId, path: &NamespacePath) -> Result<(), StoreError> {
        self.require(owner)?;
        if self.find_by_path(path)?.is_some() {
            return self.refuse(StoreError::Duplicate("path"));
        }
        let id = NamespaceId(self.next_id());
        self.tables.namespaces.push(Namespace { id, path: path.clone(), owner: Some(owner) });
        Ok(())
    }

    fn rename_personal(&mut self, owner: UserId, path: &NamespacePath) -> Result<(), StoreError> {
        if self.find_by_path(path)?.is_some_and(|found| found.owner != Some(owner)) {
            return self.refuse(StoreError::Duplicate("path"));
        }
        let mut all = self.tables.namespaces.iter_mut();
        if let Some(namespace) = all.find(|namespace| namespace.owner == Some(owner)) {
            namespace.path = path.clone();
        }
        Ok(())
    }
}
