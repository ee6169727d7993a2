//! Fake of the rows of LFS objects and fork networks.

use hexforge_domain::Timestamp;
use hexforge_domain::id::{ForkNetworkId, ProjectId};
use hexforge_domain::lfs::port::LfsObjects;
use hexforge_domain::lfs::{LfsObject, LfsOid};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::project::Project;
use hexforge_domain::unique::sorted_unique;

use super::tx::{FakeTx, Tables};

impl Tables {
    /// Adds a new project to the network of its source, or to a new one.
    pub fn add_to_fork_network(&mut self, project: &Project) {
        let of_source = project.forked_from.and_then(|source| self.fork_networks.get(&source));
        let network = of_source.copied().unwrap_or(ForkNetworkId(project.id.0));
        self.fork_networks.insert(project.id, network);
    }

    /// Removes a project from its network, and deletes the objects if it was the last one.
    pub fn leave_fork_network(&mut self, project: ProjectId) {
        let Some(network) = self.fork_networks.remove(&project) else { return };
        let has_objects = self.lfs_objects.keys().any(|(of, _)| *of == network);
        if has_objects && self.fork_networks.values().all(|other| *other != network) {
            self.lfs_objects.retain(|(of, _), _| *of != network);
            self.freed_networks.insert(network);
        }
    }
}

impl LfsObjects for FakeTx {
    fn network(&mut self, project: ProjectId) -> Result<Option<ForkNetworkId>, StoreError> {
        Ok(self.tables.fork_networks.get(&project).copied())
    }

    fn find(
        &mut self,
        network: ForkNetworkId,
        oid: LfsOid,
    ) -> Result<Option<LfsObject>, StoreError> {
        let size = self.tables.lfs_objects.get(&(network, oid));
        Ok(size.map(|size| LfsObject { oid, size: *size }))
    }

    fn find_all(
        &mut self,
        network: ForkNetworkId,
        oids: &[LfsOid],
    ) -> Result<Vec<LfsObject>, StoreError> {
        let mut found = Vec::new();
        for oid in sorted_unique(oids.iter().copied()) {
            found.extend(LfsObjects::find(self, network, oid)?);
        }
        Ok(found)
    }

    fn list(
        &mut self,
        after: Option<(ForkNetworkId, LfsOid)>,
        limit: u32,
    ) -> Result<Vec<(ForkNetworkId, LfsObject)>, StoreError> {
        let objects = self.tables.lfs_objects.iter();
        let objects = objects.filter(|(key, _)| after.is_none_or(|after| **key > after));
        let rows =
            objects.map(|((network, oid), size)| (*network, LfsObject { oid: *oid, size: *size }));
        Ok(rows.take(limit as usize).collect())
    }

    fn lock(&mut self, network: ForkNetworkId) -> Result<u64, StoreError> {
        self.total_bytes(network)
    }

    fn lock_if_used(&mut self, network: ForkNetworkId) -> Result<bool, StoreError> {
        Ok(self.tables.fork_networks.values().any(|of| *of == network))
    }

    fn insert(
        &mut self,
        network: ForkNetworkId,
        object: LfsObject,
        _at: Timestamp,
    ) -> Result<(), StoreError> {
        self.tables.lfs_objects.entry((network, object.oid)).or_insert(object.size);
        Ok(())
    }

    fn total_bytes(&mut self, network: ForkNetworkId) -> Result<u64, StoreError> {
        let objects = self.tables.lfs_objects.iter();
        Ok(objects.filter(|((of, _), _)| *of == network).map(|(_, size)| size).sum())
    }

    fn forget(&mut self, network: ForkNetworkId) -> Result<(), StoreError> {
        self.tables.freed_networks.remove(&network);
        Ok(())
    }
}
