//! Merges small packs of a repository.
//!
//! Each push adds a pack, and every lookup searches all of them. The merged pack is stored first; a transaction then
//! retires the packs that it replaces.

mod chains;
mod choice;
mod merge;
mod summary;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::pack::Pack;
use hexforge_domain::ports::git::{GitError, MergedPacks};

use crate::error::failed;
use crate::protocol::upload::packs;
use crate::storage::open::OpenRepository;
use crate::storage::pack_file::PackFiles;
use crate::storage::store::Shared;

/// Merges the small packs of a repository into one and stores it. Returns `None` when no packs are worth merging.
pub(crate) fn merge_packs(
    shared: &Arc<Shared>,
    project: ProjectId,
    packs: &[Pack],
) -> Result<Option<MergedPacks>, GitError> {
    let mut small = packs.to_vec();
    small.sort_by_key(|pack| pack.objects);
    let sizes: Vec<u64> = small.iter().map(|pack| pack.objects).collect();
    small.truncate(choice::count_to_merge(&sizes));
    if small.is_empty() {
        return Ok(None);
    }
    // Large packs come first: bases of deltas are more often in them.
    small.reverse();
    // The merge uses its own folder because the repository may change meanwhile.
    let staged = shared.stage(None, small.len())?;
    for pack in &small {
        staged.link_pack(&*shared.packs, pack)?;
    }
    let open = |pack: &'_ Pack| {
        let index = staged.pack_path(pack.name).with_extension("idx");
        packs::Pack::open(&index).ok_or_else(|| {
            GitError::Corrupt(format!("the index of the pack {} cannot be read", pack.name))
        })
    };
    let opened = small.iter().map(open).collect::<Result<Vec<_>, _>>()?;
    let repo = staged.handle();
    let files = merge(&staged, &repo, &opened)?;
    let pack = shared.store_pack(&files.data, &files.index, files.objects)?;
    let opened: Vec<_> = small.iter().zip(opened).collect();
    match summary::merged(shared, &opened, files.is_in_order) {
        Ok(summary) => shared.put_summary(&pack, summary.as_ref()),
        Err(error) => tracing::warn!(%project, %error, "merged packs cannot be summarized"),
    }
    tracing::debug!(%project, merged = small.len(), objects = pack.objects, "packs were merged");
    Ok(Some(MergedPacks { pack, replaced: small.iter().map(|pack| pack.name).collect() }))
}

fn merge(
    staged: &OpenRepository,
    repo: &gix::Repository,
    packs: &[packs::Pack],
) -> Result<PackFiles, GitError> {
    let read = |id: gix::ObjectId| {
        let object = repo.find_object(id).map_err(failed)?;
        Ok((object.kind, object.data.clone()))
    };
    merge::merge(packs, staged.git_dir(), &read)
}
