//! The port to the pack rows.

use super::{Pack, PackName};
use crate::Timestamp;
use crate::id::ProjectId;
use crate::ports::store_error::StoreError;

/// The packs of all repositories. New requests no longer read a retired pack; its row is kept for a
/// while because other processes may still read the pack. A stored pack without any row may be
/// deleted.
pub trait Packs {
    /// Returns the packs of a repository that are not retired, in the order in which they were
    /// added.
    fn live(&mut self, project: ProjectId) -> Result<Vec<Pack>, StoreError>;

    /// Adds packs to a repository. The caller has [locked](crate::refs::port::Refs::lock) the
    /// repository state. A live pack is left unchanged; a retired pack becomes live again.
    /// # Errors
    /// [`StoreError::Busy`] when a pack is [condemned](Self::condemn), because it may be deleted at
    /// any moment.
    fn add(&mut self, project: ProjectId, packs: &[Pack], at: Timestamp) -> Result<(), StoreError>;

    /// Retires packs of a repository. The caller has [locked](crate::refs::port::Refs::lock) the
    /// repository state. Packs that are not live in the repository are skipped.
    fn retire(
        &mut self,
        project: ProjectId,
        packs: &[PackName],
        at: Timestamp,
    ) -> Result<(), StoreError>;

    /// Retires the packs of deleted projects, and deletes at most `limit` rows of packs that were
    /// retired before `before`. Returns the number of deleted rows.
    fn forget_retired(
        &mut self,
        now: Timestamp,
        before: Timestamp,
        limit: u32,
    ) -> Result<u32, StoreError>;

    /// Returns the names of packs that have rows, including retired ones: at most `limit` names
    /// after `name`, in order.
    fn names_after(
        &mut self,
        name: Option<PackName>,
        limit: u32,
    ) -> Result<Vec<PackName>, StoreError>;

    /// Returns those of these packs that have no row, in any order.
    fn without_row(&mut self, packs: &[PackName]) -> Result<Vec<PackName>, StoreError>;

    /// Condemns those of these packs that have no row, and returns their names in order. A
    /// condemned pack cannot be added until it is [released](Self::release). A stored pack is
    /// deleted only after it was condemned, so that no pack is deleted while it is being added.
    /// Packs that were condemned at or after `abandoned` and not yet released belong to another
    /// caller and are skipped.
    fn condemn(
        &mut self,
        packs: &[PackName],
        at: Timestamp,
        abandoned: Timestamp,
    ) -> Result<Vec<PackName>, StoreError>;

    /// Returns at most `limit` packs that were condemned before a moment and never released,
    /// because a process stopped before the release.
    fn condemned_before(
        &mut self,
        moment: Timestamp,
        limit: u32,
    ) -> Result<Vec<PackName>, StoreError>;

    /// Releases packs that were condemned at this moment, after the stored packs were deleted. They
    /// can be added again.
    fn release(&mut self, packs: &[PackName], at: Timestamp) -> Result<(), StoreError>;
}
