//! Namespaces.

use diesel::prelude::*;
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::namespace::port::Namespaces;
use hexforge_domain::namespace::{Namespace, NamespacePath};
use hexforge_domain::ports::store::StoreError;

use crate::schema::namespaces;
use crate::tx::DieselTx;

impl Namespaces for DieselTx<'_> {
    fn find_by_path(&mut self, path: &NamespacePath) -> Result<Option<Namespace>, StoreError> {
        let found: Option<(i64, String, Option<i64>)> = self.run(|conn| {
            namespaces::table
                .filter(namespaces::path_folded.eq(path.folded()))
                .select((namespaces::id, namespaces::path, namespaces::owner_id))
                .get_result(conn)
                .optional()
        })?;
        Ok(found.map(|(id, path, owner)| Namespace {
            id: NamespaceId(id),
            path: NamespacePath::stored(path),
            owner: owner.map(UserId),
        }))
    }

    fn insert_personal(&mut self, owner: UserId, path: &NamespacePath) -> Result<(), StoreError> {
        let values = (
            namespaces::path.eq(path.as_str()),
            namespaces::path_folded.eq(path.folded()),
            namespaces::name.eq(path.as_str()),
            namespaces::owner_id.eq(owner.0),
        );
        self.run(|conn| diesel::insert_into(namespaces::table).values(values).execute(conn))?;
        Ok(())
    }

    fn rename_personal(&mut self, owner: UserId, path: &NamespacePath) -> Result<(), StoreError> {
        let values = (
            namespaces::path.eq(path.as_str()),
            namespaces::path_folded.eq(path.folded()),
            namespaces::name.eq(path.as_str()),
        );
        let own = namespaces::table.filter(namespaces::owner_id.eq(owner.0));
        self.run(|conn| diesel::update(own).set(values).execute(conn))?;
        Ok(())
    }
}
