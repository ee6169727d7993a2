//! The port to the rows of packs.

use super::{Pack, PackName};
use crate::Timestamp;
use crate::id::ProjectId;
use crate::ports::store::StoreError;

/// The packs of all repositories. A retired pack is no longer read by new requests; it keeps its row for a while,
/// because other processes may still read it. A stored pack without any row may be removed.
pub trait Packs {
    /// The packs of a repository that are not retired, in the order in which they were added.
    fn live(&mut self, project: ProjectId) -> Result<Vec<Pack>, StoreError>;

    /// Adds packs to a repository, whose state is [locked](crate::refs::port::Refs::lock). A live pack stays as it is;
    /// a retired one is live again.
    /// # Errors
    /// [`StoreError::Busy`] when a pack is [condemned](Self::condemn): it may be removed at any moment.
    fn add(&mut self, project: ProjectId, packs: &[Pack], at: Timestamp) -> Result<(), StoreError>;

    /// Retires packs of a repository, whose state is [locked](crate::refs::port::Refs::lock). Other packs are passed
    /// over.
    fn retire(
        &mut self,
        project: ProjectId,
        packs: &[PackName],
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Retires the packs of removed projects, and removes at most `limit` rows of packs that were retired before a
    /// moment; returns the number of removed rows.
    fn forget_retired(
        &mut self,
        now: Timestamp,
        before: Timestamp,
        limit: u32,
    ) -> Result<u32, StoreError>;

    /// The names of packs that have rows, also retired ones: at most `limit` that follow a name, in order.
    fn names_after(
        &mut self,
        name: Option<PackName>,
        limit: u32,
    ) -> Result<Vec<PackName>, StoreError>;

    /// Those of these packs that have no row, in any order.
    fn without_row(&mut self, packs: &[PackName]) -> Result<Vec<PackName>, StoreError>;

    /// Condemns those of these packs that have no row, and returns their names in order. A condemned pack cannot be
    /// added until it is [released](Self::release). Every removal of a stored pack comes after this, so that no pack is
    /// removed that is just being added. A pack that was condemned at or after `abandoned` and is not released belongs
    /// to another caller, and is passed over.
    fn condemn(
        &mut self,
        packs: &[PackName],
        at: Timestamp,
        abandoned: Timestamp,
    ) -> Result<Vec<PackName>, StoreError>;

    /// The packs that were condemned before a moment and never released, at most `limit`: a process was stopped in
    /// between.
    fn condemned_before(
        &mut self,
        moment: Timestamp,
        limit: u32,
    ) -> Result<Vec<PackName>, StoreError>;

    /// Lets packs be added again that were condemned at this moment, after they were removed from the place where packs
    /// are stored.
    fn release(&mut self, packs: &[PackName], at: Timestamp) -> Result<(), StoreError>;
}
