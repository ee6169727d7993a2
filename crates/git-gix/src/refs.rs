//! Branches, tags and HEAD.

pub(crate) mod leftover;
mod lock;
pub(crate) mod packed;
pub(crate) mod snapshot;
pub(crate) mod update;
mod write;

use std::sync::{Arc, PoisonError};

use hexforge_domain::branch::{Branch, BranchName, default_branch};
use hexforge_domain::commit::{ObjectId, Signature};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::git::{ChangeKey, GitError, GitRefs, RefChange};
use hexforge_domain::tag::{Tag, TagName};

use crate::commit::{from_gix, to_gix};
use crate::compare;
use crate::error::failed;
use crate::repository::{Bound, GixRepository};
use crate::text;
use snapshot::{Row, Snapshot};

impl GitRefs for GixRepository {
    fn default_tip(&self) -> Result<Option<(BranchName, ObjectId)>, GitError> {
        let Some(bound) = self.bound() else { return Ok(None) };
        let head = branch_of_head(bound)?;
        // Where that one exists it is the default, whatever others there are; and to find one ref is cheap.
        if let Some(name) = &head
            && let Some(tip) = tip_of(bound, name)?
        {
            return Ok(Some((BranchName::of_stored(name.clone()), tip)));
        }
        let refs = all(bound)?;
        let names = refs.branches.iter().map(|row| &*row.name);
        let default = default_branch(names, head.as_deref());
        let row = default.and_then(|name| refs.branches.iter().find(|row| &*row.name == name));
        Ok(row.map(|row| (BranchName::of_stored(row.name.to_string()), from_gix(&row.target))))
    }

    fn has_branches(&self) -> Result<bool, GitError> {
        let Some(bound) = self.bound() else { return Ok(false) };
        if let Some(name) = branch_of_head(bound)?
            && tip_of(bound, &name)?.is_some()
        {
            return Ok(true);
        }
        Ok(!all(bound)?.branches.is_empty())
    }

    fn branches(&self, page: Page) -> Result<Paged<Branch>, GitError> {
        let Some(bound) = self.bound() else { return Ok(Paged { items: vec![], total: 0 }) };
        let refs = all(bound)?;
        let mut items = Vec::new();
        for row in cut(&refs.branches, page) {
            // A branch that leads nowhere is left out, so that it does not hide the others.
            match self.branch_at(bound, &row.name, row.target) {
                Ok(branch) => items.push(branch),
                Err(GitError::Corrupt(why)) => warn(&row.name, &why),
                Err(error) => return Err(error),
            }
        }
        Ok(Paged { items, total: refs.branches.len() as u64 })
    }

    fn branch(&self, name: &BranchName) -> Result<Option<Branch>, GitError> {
        let Some(bound) = self.bound() else { return Ok(None) };
        match update::current(bound.repo(), &name.full())? {
            Some(target) => self.branch_at(bound, name.as_str(), to_gix(target)).map(Some),
            None => Ok(None),
        }
    }

    fn tags(&self, page: Page) -> Result<Paged<Tag>, GitError> {
        let Some(bound) = self.bound() else { return Ok(Paged { items: vec![], total: 0 }) };
        let refs = all(bound)?;
        let tags =
            refs.tags_of_commits(|target| bound.open().leads_to_commit(bound.repo(), target));
        let mut items = Vec::new();
        for row in cut(tags, page) {
            match self.tag_at(bound, &row.name, row.target) {
                Ok(tag) => items.extend(tag),
                Err(GitError::Corrupt(why)) => warn(&row.name, &why),
                Err(error) => return Err(error),
            }
        }
        Ok(Paged { items, total: tags.len() as u64 })
    }

    fn tag(&self, name: &TagName) -> Result<Option<Tag>, GitError> {
        let Some(bound) = self.bound() else { return Ok(None) };
        match update::current(bound.repo(), &name.full())? {
            Some(target) => self.tag_at(bound, name.as_str(), to_gix(target)),
            None => Ok(None),
        }
    }

    fn ref_target(&self, full_name: &str) -> Result<Option<ObjectId>, GitError> {
        match self.bound() {
            Some(bound) => update::current(bound.repo(), full_name),
            None => Ok(None),
        }
    }

    fn merged_into(&self, tip: ObjectId) -> Result<Vec<(BranchName, ObjectId)>, GitError> {
        let Some(bound) = self.bound() else { return Ok(Vec::new()) };
        let refs = all(bound)?;
        let tip = to_gix(tip);
        let wanted: std::collections::HashSet<gix::ObjectId> =
            refs.branches.iter().map(|row| row.target).filter(|target| *target != tip).collect();
        // One walk for all branches; it ends when each was met.
        let mut met = std::collections::HashSet::new();
        let mut repo = bound.repo().clone();
        repo.object_cache_size_if_unset(WALK_CACHE);
        let walk = repo.rev_walk([tip]).use_commit_graph(true).all().map_err(failed)?;
        for commit in walk {
            if met.len() == wanted.len() {
                break;
            }
            let id = commit.map_err(failed)?.id;
            if wanted.contains(&id) {
                met.insert(id);
            }
        }
        let merged = refs.branches.iter().filter(|row| met.contains(&row.target));
        let named =
            |row: &Row| (BranchName::of_stored(row.name.to_string()), from_gix(&row.target));
        Ok(merged.map(named).collect())
    }

    fn first_with(&self, commit: ObjectId) -> Result<Option<BranchName>, GitError> {
        let Some(bound) = self.bound() else { return Ok(None) };
        let refs = all(bound)?;
        let tips: Vec<gix::ObjectId> = refs.branches.iter().map(|row| row.target).collect();
        let place = compare::first_containing(bound.repo(), &tips, to_gix(commit))?;
        let row = place.and_then(|place| refs.branches.get(place));
        Ok(row.map(|row| BranchName::of_stored(row.name.to_string())))
    }

    fn set_head(&self, branch: &BranchName) -> Result<(), GitError> {
        match self.bound() {
            Some(bound) => update::set_head(bound, branch),
            None => Err(GitError::Missing),
        }
    }

    fn write_tag(
        &self,
        name: &TagName,
        commit: ObjectId,
        tagger: &Signature,
        message: &str,
    ) -> Result<ObjectId, GitError> {
        let bound = self.bound().ok_or(GitError::Missing)?;
        update::write_tag(bound, name, to_gix(commit), tagger, message)
    }

    fn update(&self, changes: &[RefChange], note: &str) -> Result<ChangeKey, GitError> {
        update::update(self.shared(), self.project(), changes, note)
    }
}

/// How much is kept of what a walk reads.
pub(crate) const WALK_CACHE: usize = 16 * 1024 * 1024;

impl GixRepository {
    fn branch_at(
        &self,
        bound: &Bound,
        name: &str,
        target: gix::ObjectId,
    ) -> Result<Branch, GitError> {
        let commit = self.shared().commit(self.project(), bound.repo(), target)?;
        Ok(Branch { name: BranchName::of_stored(name.to_owned()), commit })
    }

    /// The tag, if it leads to a commit.
    fn tag_at(
        &self,
        bound: &Bound,
        name: &str,
        target: gix::ObjectId,
    ) -> Result<Option<Tag>, GitError> {
        let Some(pinned) = self.shared().pinned(self.project(), bound.repo(), target)? else {
            return Ok(None);
        };
        let commit = self.shared().commit(self.project(), bound.repo(), pinned.commit)?;
        let name = TagName::of_stored(name.to_owned());
        Ok(Some(Tag { name, message: pinned.message, commit }))
    }
}

/// The name of the branch that HEAD names, whether or not there is one.
fn branch_of_head(bound: &Bound) -> Result<Option<String>, GitError> {
    // Asked for its name, gix would look for the branch too.
    let head = bound.repo().find_reference("HEAD").map_err(failed)?;
    let target = head.target();
    let name = target.try_name().and_then(|name| name.as_bstr().strip_prefix(b"refs/heads/"));
    Ok(name.map(text::path))
}

/// The tip of the branch of that name.
fn tip_of(bound: &Bound, name: &str) -> Result<Option<ObjectId>, GitError> {
    let full = format!("{}{name}", BranchName::FOLDER);
    update::current(bound.repo(), &full)
}

/// All refs as they are now.
pub(crate) fn all(bound: &Bound) -> Result<Arc<Snapshot>, GitError> {
    let kept = bound.open().refs.lock().unwrap_or_else(PoisonError::into_inner).clone();
    if let Some(kept) = kept.filter(|kept| kept.is_current()) {
        return Ok(kept);
    }
    let fresh = Arc::new(Snapshot::take(bound.repo())?);
    if fresh.may_be_kept() {
        let mut kept = bound.open().refs.lock().unwrap_or_else(PoisonError::into_inner);
        *kept = Some(Arc::clone(&fresh));
    }
    Ok(fresh)
}

fn cut<T>(rows: &[T], page: Page) -> &[T] {
    let start = usize::try_from(page.offset()).unwrap_or(usize::MAX).min(rows.len());
    let limit = page.limit().map_or(usize::MAX, |limit| limit as usize);
    &rows[start..start.saturating_add(limit).min(rows.len())]
}

fn warn(name: &str, why: &str) {
    tracing::warn!(name, why, "a ref leads nowhere");
}
