//! The port by which git clients fetch and push.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::git::{GitError, RefChange};
use crate::pack::Pack;
use crate::policy::push::RefAction;
use crate::refs::{Made, Manner, Peeled, Ref, Snapshot};

/// What a client wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// To fetch.
    UploadPack,
    /// To push.
    ReceivePack,
}

impl Service {
    /// The name by which clients ask for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Service::UploadPack => "git-upload-pack",
            Service::ReceivePack => "git-receive-pack",
        }
    }

    /// The service of that name.
    pub fn parse(name: &str) -> Option<Self> {
        [Service::UploadPack, Service::ReceivePack].into_iter().find(|one| one.as_str() == name)
    }
}

/// The version of git's protocol that a client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProtocolVersion {
    /// The first, which has no number.
    #[default]
    V0,
    /// The same with its number said.
    V1,
    /// Commands; only for fetching.
    V2,
}

impl ProtocolVersion {
    /// The highest version that is asked for, as clients do it: `version=2`, among others.
    pub fn parse(asked: &str) -> Self {
        let version = |part: &str| match part.trim() {
            "version=2" => Some(ProtocolVersion::V2),
            "version=1" => Some(ProtocolVersion::V1),
            _ => None,
        };
        asked.split(':').filter_map(version).max().unwrap_or_default()
    }
}

/// How a conversation goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversation {
    /// Each request stands for itself and is answered once, as over HTTP.
    Stateless,
    /// Both sides talk until one is done, as over SSH.
    Stateful,
}

/// Tells long work for a client that the client hung up. Clones share one signal.
#[derive(Clone, Debug, Default)]
pub struct HangUp(Arc<AtomicBool>);

impl HangUp {
    /// Says that the client is gone.
    pub fn signal(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the client is gone.
    pub fn is_signaled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl From<Arc<AtomicBool>> for HangUp {
    fn from(signal: Arc<AtomicBool>) -> Self {
        Self(signal)
    }
}

/// Serves git clients. Nothing here knows who asks: permission is decided before.
pub trait GitTransport {
    /// Tells a client first what there is. Over HTTP this is the answer to `info/refs`, without the line that
    /// names the service.
    fn advertise(
        &self,
        service: Service,
        version: ProtocolVersion,
        to: &mut dyn Write,
    ) -> Result<(), GitError>;

    /// Gives a client what it asks for.
    /// # Errors
    /// [`GitError::Protocol`] when the client says what no client says; it was told already where the
    /// protocol has a way to.
    fn upload_pack(
        &self,
        version: ProtocolVersion,
        conversation: Conversation,
        from: &mut dyn Read,
        to: &mut dyn Write,
    ) -> Result<(), GitError>;

    /// Gives a client an archive of the files of a commit, as `git archive --remote` asks for it.
    /// # Errors
    /// [`GitError::Protocol`] when it asks for what cannot be had; it was told.
    fn upload_archive(&self, from: &mut dyn Read, to: &mut dyn Write) -> Result<(), GitError>;

    /// Reads what a client pushes: which refs are to change, and the objects for them, which stay apart until
    /// they are [kept](ReceivedPush::keep). `None` when the client only looked, and pushes nothing.
    /// # Errors
    /// [`GitError::ReaderGone`] soon after the client hung up.
    fn receive(
        &self,
        from: &mut dyn Read,
        hang_up: &HangUp,
    ) -> Result<Option<Box<dyn ReceivedPush>>, GitError>;
}

/// Changes of refs that are asked for. The objects are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The changes.
    pub changes: Vec<RefChange>,
    /// The objects to which new tag objects lead.
    pub peeled: Peeled,
    /// Whether the changes are made together.
    pub manner: Manner,
    /// The stored packs with new objects.
    pub packs: Vec<Pack>,
}

impl Proposal {
    /// The refs after the changes, which are not committed.
    pub fn applied(&self, refs: &Snapshot) -> Snapshot {
        let new = |change: &RefChange| {
            let target = change.new?;
            let peeled = self.peeled.get(&target).copied();
            Some(Ref { name: change.name.clone(), target, peeled })
        };
        let new: Vec<Option<Ref>> = self.changes.iter().map(new).collect();
        let names = self.changes.iter().map(|change| change.name.as_str());
        refs.proposed(names.zip(new.iter().map(Option::as_ref)), &self.packs)
    }
}

/// A push that was read and checked and is not part of the repository yet. Dropped before [`keep`](Self::keep), it
/// leaves nothing; after it, at most a stored pack that the sweep removes.
pub trait ReceivedPush {
    /// The changes that are asked for, with what is wrong with each by itself: a name that git does not allow,
    /// objects that are missing. What is wrong is told to the client when the answer is written.
    fn changes(&self) -> Vec<&RefChange>;

    /// What a change does to its ref.
    /// # Errors
    /// [`GitError::ReaderGone`] when the client hung up.
    fn action(&self, change: &RefChange) -> Result<RefAction, GitError>;

    /// Stores the objects as a pack, synced, and returns the changes of refs that remain. The pack is part of the
    /// repository as soon as a committed row names it. A change that the current refs do not allow is refused. `None`
    /// when no change remains.
    fn keep(&mut self, refs: &Snapshot) -> Result<Option<Proposal>, GitError>;

    /// Sets the outcome of each change for the [`answer`](Self::answer). `refs` are those after the changes.
    fn conclude(&mut self, made: &Made, refs: &Snapshot);

    /// Refuses all changes because the repository would exceed its size limit.
    fn no_room(&mut self);

    /// Refuses everything for one reason, which people see.
    fn decline(&mut self, reason: &str);

    /// Tells the client what became of its push.
    fn answer(&mut self, to: &mut dyn Write) -> Result<(), GitError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_version_that_is_known_counts() {
        for (asked, version) in [
            ("version=2", ProtocolVersion::V2),
            ("version=1", ProtocolVersion::V1),
            ("version=0", ProtocolVersion::V0),
            ("", ProtocolVersion::V0),
            ("key=value:version=1:version=2", ProtocolVersion::V2),
            ("version=3", ProtocolVersion::V0),
        ] {
            assert_eq!(ProtocolVersion::parse(asked), version, "{asked}");
        }
    }
}
