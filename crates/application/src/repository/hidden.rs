//! Writes hidden refs: the heads of merge requests, and the refs that keep commits.

use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::ProjectId;
use hexforge_domain::pack::Pack;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::refs::{Ref, Snapshot};

/// Creates or moves hidden refs of a repository whose refs are locked. Returns those that were not so before.
pub(crate) fn put(
    tx: &mut dyn Tx,
    project: ProjectId,
    before: &Snapshot,
    mut names: Vec<(String, ObjectId)>,
) -> Result<Vec<Ref>, StoreError> {
    names.retain(|(name, target)| before.target(name) != Some(*target));
    // Each name may occur once.
    names.sort_unstable();
    names.dedup();
    let new = names.into_iter().map(|(name, target)| Ref { name, target, peeled: None });
    let new: Vec<Ref> = new.collect();
    if !new.is_empty() {
        tx.refs().put(project, &new)?;
    }
    Ok(new)
}

/// The refs after new ones and packs were added.
pub(crate) fn added(refs: &Snapshot, new: &[Ref], packs: &[Pack]) -> Snapshot {
    refs.proposed(new.iter().map(|one| (one.name.as_str(), Some(one))), packs)
}
