//! The port to the rows of LFS objects.

use super::{LfsObject, LfsOid};
use crate::Timestamp;
use crate::id::{ForkNetworkId, ProjectId};
use crate::ports::store_error::StoreError;

/// The LFS objects of all fork networks.
///
/// The network of a project is fixed when the project is created: a fork gets the network of its source, any other
/// project begins a new one. Adding or removing the fork relation of an existing project changes no network, so that no
/// project loses objects, and nobody gets objects of a project that they could not read before.
pub trait LfsObjects {
    /// The fork network of a project; `None` when the project does not exist.
    fn network(&mut self, project: ProjectId) -> Result<Option<ForkNetworkId>, StoreError>;

    /// The object with this name, if the network has it.
    fn find(
        &mut self,
        network: ForkNetworkId,
        oid: LfsOid,
    ) -> Result<Option<LfsObject>, StoreError>;

    /// The objects with these names that the network has, in no particular order and each once.
    fn find_all(
        &mut self,
        network: ForkNetworkId,
        oids: &[LfsOid],
    ) -> Result<Vec<LfsObject>, StoreError>;

    /// Objects of all networks, ordered by network and name: at most `limit`, beginning after this one.
    fn list(
        &mut self,
        after: Option<(ForkNetworkId, LfsOid)>,
        limit: u32,
    ) -> Result<Vec<(ForkNetworkId, LfsObject)>, StoreError>;

    /// Locks the objects of the network until the transaction ends, and returns their total size in bytes. The caller
    /// has locked a project of the network.
    fn lock(&mut self, network: ForkNetworkId) -> Result<u64, StoreError>;

    /// Locks the objects of the network until the transaction ends, if it has a project, or one that was removed and
    /// whose rows are not deleted yet. Otherwise returns false: the network has no objects and gets none any more.
    fn lock_if_used(&mut self, network: ForkNetworkId) -> Result<bool, StoreError>;

    /// Adds an object, unless the network has it already. The caller has locked the network, and a project of it.
    fn insert(
        &mut self,
        network: ForkNetworkId,
        object: LfsObject,
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// The total size in bytes of the objects of the network.
    fn total_bytes(&mut self, network: ForkNetworkId) -> Result<u64, StoreError>;

    /// Records that the files of a network without projects were removed; see
    /// [`Step::LfsNetwork`](crate::removal::Step::LfsNetwork). Does nothing while the network has a project.
    fn forget(&mut self, network: ForkNetworkId) -> Result<(), StoreError>;
}
