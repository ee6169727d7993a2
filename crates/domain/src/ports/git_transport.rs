//! The port through which git clients fetch and push.

use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::git_error::GitError;
use crate::pack::Pack;
use crate::policy::push::RefAction;
use crate::refs::ref_change::RefChange;
use crate::refs::{Atomicity, ChangedRefs, Peeled, Ref, Snapshot};

/// The git service that a client requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Service {
    /// Fetch.
    UploadPack,
    /// Push.
    ReceivePack,
}

impl Service {
    /// The command name with which clients request the service.
    pub fn as_str(self) -> &'static str {
        match self {
            Service::UploadPack => "git-upload-pack",
            Service::ReceivePack => "git-receive-pack",
        }
    }

    /// Parses the command name of a service.
    pub fn parse(name: &str) -> Option<Self> {
        [Service::UploadPack, Service::ReceivePack]
            .into_iter()
            .find(|service| service.as_str() == name)
    }
}

/// The version of the git protocol that a client speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProtocolVersion {
    /// The original protocol, which announces no version.
    #[default]
    V0,
    /// The original protocol with an announced version number.
    V1,
    /// The command-based protocol; for fetching only.
    V2,
}

impl ProtocolVersion {
    /// Parses the parameter that clients send, such as `version=2`, and returns the highest known version in it.
    pub fn parse(parameter: &str) -> Self {
        let version = |part: &str| match part.trim() {
            "version=2" => Some(ProtocolVersion::V2),
            "version=1" => Some(ProtocolVersion::V1),
            _ => None,
        };
        parameter.split(':').filter_map(version).max().unwrap_or_default()
    }
}

/// Whether a client session keeps state between requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversation {
    /// Each request is complete in itself and has one response, as over HTTP.
    Stateless,
    /// Client and server exchange messages until one of them is done, as over SSH.
    Stateful,
}

/// A signal to long-running work that its client has disconnected. Clones share one signal.
#[derive(Clone, Debug, Default)]
pub struct DisconnectSignal(Arc<AtomicBool>);

impl DisconnectSignal {
    /// Signals that the client has disconnected.
    pub fn signal(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the client has disconnected.
    pub fn is_signaled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

impl From<Arc<AtomicBool>> for DisconnectSignal {
    fn from(signal: Arc<AtomicBool>) -> Self {
        Self(signal)
    }
}

/// Serves git clients. Does not check permissions: callers check them first.
pub trait GitTransport {
    /// Writes the advertisement of refs and capabilities. Over HTTP this is the response to `info/refs`, without the
    /// line that names the service.
    fn advertise(
        &self,
        service: Service,
        version: ProtocolVersion,
        to: &mut dyn Write,
    ) -> Result<(), GitError>;

    /// Serves a fetch: reads the client's request and writes the pack.
    /// # Errors
    /// [`GitError::Protocol`] when the client violates the protocol. The client has already received the error where
    /// the protocol has a way to send one.
    fn upload_pack(
        &self,
        version: ProtocolVersion,
        conversation: Conversation,
        from: &mut dyn Read,
        to: &mut dyn Write,
    ) -> Result<(), GitError>;

    /// Sends an archive of the files of a commit, as requested by `git archive --remote`.
    /// # Errors
    /// [`GitError::Protocol`] when the request cannot be served. The client has already received the error.
    fn upload_archive(&self, from: &mut dyn Read, to: &mut dyn Write) -> Result<(), GitError>;

    /// Reads a push: the requested ref changes and their objects, which stay in quarantine until
    /// [`store_objects`](ReceivedPush::store_objects). `None` when the client requests no change.
    /// # Errors
    /// [`GitError::ReaderGone`] soon after the client has disconnected.
    fn receive(
        &self,
        from: &mut dyn Read,
        disconnected: &DisconnectSignal,
    ) -> Result<Option<Box<dyn ReceivedPush>>, GitError>;
}

/// Requested ref changes whose objects are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proposal {
    /// The changes.
    pub changes: Vec<RefChange>,
    /// The objects to which new tag objects peel.
    pub peeled: Peeled,
    /// Whether the changes are applied atomically or one by one.
    pub atomicity: Atomicity,
    /// The stored packs with the new objects.
    pub packs: Vec<Pack>,
}

impl Proposal {
    /// The refs as they will be after the changes. Nothing is committed by this call.
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

/// A push that was read and checked but is not part of the repository yet. A push that is dropped before
/// [`store_objects`](Self::store_objects) leaves nothing behind. A push that is dropped later leaves at most a stored pack without a row,
/// which background maintenance removes.
pub trait ReceivedPush {
    /// The requested changes that were not refused yet. A single change is refused if its ref name is invalid or
    /// objects are missing; the [`write_report`](Self::write_report) reports that to the client.
    fn changes(&self) -> Vec<&RefChange>;

    /// Classifies a change of a ref: creation, fast-forward, forced update or deletion.
    /// # Errors
    /// [`GitError::ReaderGone`] when the client has disconnected.
    fn action(&self, change: &RefChange) -> Result<RefAction, GitError>;

    /// Refuses changes that conflict with the current refs, then stores the objects as a pack, syncs it to disk and
    /// returns the remaining changes. `None` when no change remains. The pack becomes part of the repository when a row
    /// that names it is committed.
    fn store_objects(&mut self, refs: &Snapshot) -> Result<Option<Proposal>, GitError>;

    /// Sets the outcome of each change for the [`write_report`](Self::write_report). `refs` is the state after the changes.
    fn set_outcomes(&mut self, made: &ChangedRefs, refs: &Snapshot);

    /// Refuses all changes because the repository would exceed its size limit.
    fn refuse_for_size(&mut self);

    /// Refuses all changes with one reason, which the client shows to the user.
    fn refuse_all(&mut self, reason: &str);

    /// Reports the outcome of each change to the client.
    fn write_report(&mut self, to: &mut dyn Write) -> Result<(), GitError>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_highest_version_that_is_known_counts() {
        for (parameter, version) in [
            ("version=2", ProtocolVersion::V2),
            ("version=1", ProtocolVersion::V1),
            ("version=0", ProtocolVersion::V0),
            ("", ProtocolVersion::V0),
            ("key=value:version=1:version=2", ProtocolVersion::V2),
            ("version=3", ProtocolVersion::V0),
        ] {
            assert_eq!(ProtocolVersion::parse(parameter), version, "{parameter}");
        }
    }
}
