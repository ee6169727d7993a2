//! All refs at one moment.

use gix::ObjectId;
use gix::bstr::{BStr, BString, ByteSlice};
use gix::refs::TargetRef;
use hexforge_domain::ports::git::GitError;

use crate::error::failed;
use crate::peel::peel;
use crate::refs::snapshot::read_stable;

/// A ref as it is shown.
pub(super) struct Ref {
    pub(super) name: BString,
    pub(super) target: ObjectId,
    /// What it stands for, when it is symbolic.
    pub(super) symbolic: Option<BString>,
    peeled: Option<ObjectId>,
}

/// All refs in the order of their names, and HEAD.
#[derive(Default)]
pub(super) struct Listing {
    pub(super) refs: Vec<Ref>,
    /// HEAD, when it leads to a commit.
    pub(super) head: Option<Ref>,
    /// The branch that HEAD stands for and that does not exist.
    pub(super) unborn: Option<BString>,
}

impl Listing {
    pub(super) fn read(repo: Option<&gix::Repository>) -> Result<Self, GitError> {
        let Some(repo) = repo else { return Ok(Self::default()) };
        read_stable(repo, || Self::read_once(repo))
    }

    fn read_once(repo: &gix::Repository) -> Result<Self, GitError> {
        let mut refs = Vec::new();
        let platform = repo.references().map_err(failed)?;
        for reference in platform.all().map_err(failed)? {
            // A ref that cannot be read, or that was removed meanwhile, is not there.
            let Ok(mut reference) = reference else { continue };
            let name = reference.name().as_bstr().to_owned();
            let (target, symbolic) = match reference.target() {
                TargetRef::Object(id) => (id.to_owned(), None),
                TargetRef::Symbolic(to) => {
                    let to = to.as_bstr().to_owned();
                    match reference.follow_to_object() {
                        Ok(id) => (id.detach(), Some(to)),
                        Err(_) => continue,
                    }
                }
            };
            refs.push(Ref { name, target, symbolic, peeled: reference.inner.peeled });
        }
        refs.sort_by(|one, other| one.name.cmp(&other.name));
        let mut listing = Self { refs, head: None, unborn: None };
        let head = repo.head().map_err(failed)?;
        match head.kind {
            // What the branch was a moment ago counts, as it is shown beside HEAD.
            gix::head::Kind::Symbolic(reference) => listing.set_head(reference.name.as_bstr()),
            gix::head::Kind::Unborn(name) => listing.set_head(name.as_bstr()),
            gix::head::Kind::Detached { target, .. } => {
                listing.head =
                    Some(Ref { name: "HEAD".into(), target, symbolic: None, peeled: None });
            }
        }
        Ok(listing)
    }

    fn set_head(&mut self, branch: &BStr) {
        let branch = branch.to_owned();
        match self.find(branch.as_bstr()) {
            Some(found) => {
                let target = found.target;
                self.head =
                    Some(Ref { name: "HEAD".into(), target, symbolic: Some(branch), peeled: None });
            }
            None => self.unborn = Some(branch),
        }
    }

    /// The ref of exactly this name.
    pub(super) fn find(&self, name: &BStr) -> Option<&Ref> {
        if name == "HEAD" {
            return self.head.as_ref();
        }
        let at = self.refs.binary_search_by(|one| one.name.as_bstr().cmp(name)).ok()?;
        Some(&self.refs[at])
    }

    /// HEAD, then all others.
    pub(super) fn all(&self) -> impl Iterator<Item = &Ref> {
        self.head.iter().chain(&self.refs)
    }
}

impl Ref {
    /// What an annotated tag leads to; `None` for all other refs.
    pub(super) fn peeled(&self, repo: &gix::Repository) -> Option<ObjectId> {
        if let Some(peeled) = self.peeled {
            return Some(peeled).filter(|&peeled| peeled != self.target);
        }
        // Only commits are branches.
        if self.name == "HEAD" || self.name.starts_with(b"refs/heads/") {
            return None;
        }
        let (_, peeled) = peel(repo, self.target).ok()?;
        (peeled != self.target).then_some(peeled)
    }
}
