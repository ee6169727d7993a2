//! The refs at one moment, as they are advertised to fetching clients.

use std::sync::Arc;

use gix::ObjectId;
use gix::bstr::{BStr, ByteSlice};
use hexforge_domain::refs::reserved::{KEEP_AROUND, is_hidden};
use hexforge_domain::refs::{self, Snapshot};

use crate::content::commit::to_gix;

/// An advertised ref.
pub(super) struct Ref<'a> {
    pub(super) name: &'a BStr,
    pub(super) target: ObjectId,
    /// The branch that HEAD points to; `None` for all other refs.
    pub(super) symbolic: Option<&'a BStr>,
    /// The object that an annotated tag leads to; `None` for all other refs.
    pub(super) peeled: Option<ObjectId>,
}

impl<'a> From<&'a refs::Ref> for Ref<'a> {
    fn from(one: &'a refs::Ref) -> Self {
        let peeled = one.peeled.map(to_gix);
        Self { name: one.name.as_str().into(), target: to_gix(one.target), symbolic: None, peeled }
    }
}

/// All visible refs in the order of their names, and HEAD.
pub(super) struct Listing(Arc<Snapshot>);

impl Listing {
    pub(super) fn of(refs: &Arc<Snapshot>) -> Self {
        Self(Arc::clone(refs))
    }

    /// HEAD, if the branch that it points to exists.
    pub(super) fn head(&self) -> Option<Ref<'_>> {
        let found = self.0.find(self.0.head())?;
        let symbolic = Some(found.name.as_str().into());
        Some(Ref { name: "HEAD".into(), target: to_gix(found.target), symbolic, peeled: None })
    }

    /// The branch that HEAD points to, if it does not exist. An empty repository has no HEAD.
    pub(super) fn unborn(&self) -> Option<&BStr> {
        let is_unborn = self.0.version() > 0 && self.0.find(self.0.head()).is_none();
        is_unborn.then(|| self.0.head().into())
    }

    /// All refs without HEAD.
    pub(super) fn refs(&self) -> impl Iterator<Item = Ref<'_>> {
        self.0.visible().map(Ref::from)
    }

    /// HEAD first, then all other refs.
    pub(super) fn all(&self) -> impl Iterator<Item = Ref<'_>> {
        self.head().into_iter().chain(self.refs())
    }

    /// The number of refs.
    pub(super) fn len(&self) -> usize {
        self.0.len() - self.0.folder(KEEP_AROUND).len()
    }

    /// Finds a ref by its full name.
    pub(super) fn find(&self, name: &BStr) -> Option<Ref<'_>> {
        if name == "HEAD" {
            return self.head();
        }
        let name = name.to_str().ok().filter(|name| !is_hidden(name))?;
        self.0.find(name).map(Ref::from)
    }
}
