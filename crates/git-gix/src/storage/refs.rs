//! Reads branches, tags and HEAD from the refs snapshot with which a repository was opened.

mod derived;
pub mod disk;
pub(crate) mod export;
mod tag;

use std::sync::Arc;

use hexforge_domain::branch::{Branch, BranchName};
use hexforge_domain::commit::{ObjectId, Signature};
use hexforge_domain::pack::Pack;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::git::{GitError, GitRefs};
use hexforge_domain::refs::{Ref, Snapshot};
use hexforge_domain::tag::{Tag, TagName};

use crate::content::commit::to_gix;
use crate::error::failed;
use crate::history::compare;
use crate::storage::repository::{GixRepository, RepositoryHandle};
pub(crate) use derived::DerivedRefs;

/// The size in bytes of the object cache of a history walk.
pub(crate) const WALK_CACHE: usize = 16 * 1024 * 1024;

impl GitRefs for GixRepository {
    fn refs(&self) -> &Arc<Snapshot> {
        self.refs()
    }

    fn branches(&self, page: Page) -> Result<Paged<Branch>, GitError> {
        let places = self.refs().folder(BranchName::FOLDER);
        let total = places.len() as u64;
        let Some(handle) = self.handle() else { return Ok(Paged { items: vec![], total }) };
        let mut items = Vec::new();
        for one in self.refs().range(page_range(places, page)) {
            // A branch with a missing or damaged commit is left out, so that the list still shows the others.
            match self.branch_at(handle, one) {
                Ok(branch) => items.push(branch),
                Err(GitError::Corrupt(why)) => warn_unreadable(&one.name, &why),
                Err(error) => return Err(error),
            }
        }
        Ok(Paged { items, total })
    }

    fn branch(&self, name: &BranchName) -> Result<Option<Branch>, GitError> {
        match (self.handle(), self.refs().find(&name.full())) {
            (Some(handle), Some(found)) => self.branch_at(handle, found).map(Some),
            _ => Ok(None),
        }
    }

    fn tags(&self, page: Page) -> Result<Paged<Tag>, GitError> {
        let Some(handle) = self.handle() else { return Ok(Paged { items: vec![], total: 0 }) };
        let derived = self.derived(handle);
        let refs = self.refs();
        let tags =
            derived.tags_of_commits(refs, |id| handle.open().peels_to_commit(handle.repo(), id));
        let mut items = Vec::new();
        for one in &tags[page_range(0..tags.len(), page)] {
            match self.tag_at(handle, one) {
                Ok(tag) => items.extend(tag),
                Err(GitError::Corrupt(why)) => warn_unreadable(&one.name, &why),
                Err(error) => return Err(error),
            }
        }
        Ok(Paged { items, total: tags.len() as u64 })
    }

    fn tag(&self, name: &TagName) -> Result<Option<Tag>, GitError> {
        match (self.handle(), self.refs().find(&name.full())) {
            (Some(handle), Some(found)) => self.tag_at(handle, found),
            _ => Ok(None),
        }
    }

    fn branches_merged_into(&self, tip: ObjectId) -> Result<Vec<(BranchName, ObjectId)>, GitError> {
        let Some(handle) = self.handle() else { return Ok(Vec::new()) };
        let wanted: std::collections::HashSet<gix::ObjectId> = self
            .branch_refs()
            .map(|one| one.target)
            .filter(|target| *target != tip)
            .map(to_gix)
            .collect();
        // One history walk serves all branches. It ends when it has met every branch tip.
        let mut met = std::collections::HashSet::new();
        let mut repo = handle.repo().clone();
        repo.object_cache_size_if_unset(WALK_CACHE);
        let walk = repo.rev_walk([to_gix(tip)]).use_commit_graph(true).all().map_err(failed)?;
        for commit in walk {
            if met.len() == wanted.len() {
                break;
            }
            let id = commit.map_err(failed)?.id;
            if wanted.contains(&id) {
                met.insert(id);
            }
        }
        let merged = self.branch_refs().filter(|one| met.contains(&to_gix(one.target)));
        Ok(merged.map(|one| (branch_name(one), one.target)).collect())
    }

    fn first_branch_containing(&self, commit: ObjectId) -> Result<Option<BranchName>, GitError> {
        let Some(handle) = self.handle() else { return Ok(None) };
        let tips: Vec<gix::ObjectId> = self.branch_refs().map(|one| to_gix(one.target)).collect();
        let place = compare::first_containing(handle.repo(), &tips, to_gix(commit))?;
        Ok(place.and_then(|place| self.branch_refs().nth(place)).map(branch_name))
    }

    fn write_tag(
        &self,
        name: &TagName,
        commit: ObjectId,
        tagger: &Signature,
        message: &str,
    ) -> Result<(ObjectId, Pack), GitError> {
        tag::write(self.shared(), name, to_gix(commit), tagger, message)
    }
}

impl GixRepository {
    /// All branches, sorted by the bytes of their names.
    fn branch_refs(&self) -> impl Iterator<Item = &Ref> {
        self.refs().range(self.refs().folder(BranchName::FOLDER))
    }

    /// The cached data derived from the refs.
    pub(crate) fn derived(&self, handle: &RepositoryHandle) -> Arc<DerivedRefs> {
        handle.open().derived(self.refs())
    }

    fn branch_at(&self, handle: &RepositoryHandle, one: &Ref) -> Result<Branch, GitError> {
        let commit = self.shared().commit(self.project(), handle.repo(), to_gix(one.target))?;
        Ok(Branch { name: branch_name(one), commit })
    }

    /// Returns the tag, or `None` if it does not peel to a commit.
    fn tag_at(&self, handle: &RepositoryHandle, one: &Ref) -> Result<Option<Tag>, GitError> {
        let target = to_gix(one.target);
        let Some(peeled) = self.shared().peel_tag(self.project(), handle.repo(), target)? else {
            return Ok(None);
        };
        let commit = self.shared().commit(self.project(), handle.repo(), peeled.commit)?;
        let name = TagName::stored(short_name(one, TagName::FOLDER).to_owned());
        Ok(Some(Tag { name, message: peeled.message, commit }))
    }
}

fn branch_name(one: &Ref) -> BranchName {
    BranchName::stored(short_name(one, BranchName::FOLDER).to_owned())
}

/// The name of a ref without its prefix, such as `refs/heads/`.
fn short_name<'a>(one: &'a Ref, folder: &str) -> &'a str {
    one.name.strip_prefix(folder).unwrap_or(&one.name)
}

/// Returns the part of a range that a page shows.
fn page_range(places: std::ops::Range<usize>, page: Page) -> std::ops::Range<usize> {
    let offset = usize::try_from(page.offset()).unwrap_or(usize::MAX);
    let start = places.start.saturating_add(offset).min(places.end);
    let limit = page.limit().map_or(usize::MAX, |limit| limit as usize);
    start..start.saturating_add(limit).min(places.end)
}

fn warn_unreadable(name: &str, why: &str) {
    tracing::warn!(name, why, "the target of a ref cannot be read");
}
