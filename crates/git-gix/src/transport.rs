//! Serving git clients.

use std::io::{Read, Write};

use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::{
    Conversation, GitTransport, ProtocolVersion, ReceivedPush, Service,
};

use crate::receive;
use crate::repository::GixRepository;

impl GitTransport for GixRepository {
    fn advertise(
        &self,
        service: Service,
        version: ProtocolVersion,
        to: &mut dyn Write,
    ) -> Result<(), GitError> {
        match service {
            Service::ReceivePack => receive::advertise(self, version, to),
            Service::UploadPack => Err(GitError::Failed("fetching is not served".into())),
        }
    }

    fn upload_pack(
        &self,
        _: ProtocolVersion,
        _: Conversation,
        _: &mut dyn Read,
        _: &mut dyn Write,
    ) -> Result<(), GitError> {
        Err(GitError::Failed("fetching is not served".into()))
    }

    fn receive(&self, from: &mut dyn Read) -> Result<Option<Box<dyn ReceivedPush>>, GitError> {
        receive::receive(self, from)
    }
}
