//! Data derived from all refs of a repository.

use std::sync::OnceLock;

use hexforge_domain::refs::{Ref, Snapshot};
use hexforge_domain::tag::TagName;

use crate::content::commit::to_gix;

/// Data derived from one version of the refs.
#[derive(Debug)]
pub(crate) struct DerivedRefs {
    /// The version of the refs.
    pub(crate) version: i64,
    /// The targets of all visible refs, sorted, without duplicates.
    pub(crate) tips: Vec<gix::ObjectId>,
    /// The targets of hidden refs.
    pub(crate) hidden_tips: Vec<gix::ObjectId>,
    /// The tags that peel to commits, in descending byte order of their names. Computed at the first request.
    tags_of_commits: OnceLock<Vec<Ref>>,
}

impl DerivedRefs {
    pub(crate) fn of(refs: &Snapshot) -> Self {
        let mut tips: Vec<gix::ObjectId> = refs.visible().map(|one| to_gix(one.target)).collect();
        tips.sort_unstable();
        tips.dedup();
        let hidden_tips = refs.hidden().map(|one| to_gix(one.target)).collect();
        Self { version: refs.version(), tips, hidden_tips, tags_of_commits: OnceLock::new() }
    }

    /// The tags that peel to commits, in descending byte order of their names.
    pub(crate) fn tags_of_commits(
        &self,
        refs: &Snapshot,
        peels: impl Fn(gix::ObjectId) -> bool,
    ) -> &[Ref] {
        self.tags_of_commits.get_or_init(|| {
            let tags = refs.range(refs.folder(TagName::FOLDER));
            let mut tags: Vec<Ref> =
                tags.filter(|one| peels(to_gix(one.target))).cloned().collect();
            tags.reverse();
            tags
        })
    }
}
