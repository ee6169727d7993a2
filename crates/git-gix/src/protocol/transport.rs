//! Implements [`GitTransport`]: serves git clients in this process.

use std::io::{Read, Write};

use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::{
    Conversation, DisconnectSignal, GitTransport, ProtocolVersion, ReceivedPush, Service,
};

use crate::protocol::receive;
use crate::protocol::upload;
use crate::protocol::upload_archive;
use crate::storage::repository::GixRepository;

impl GitTransport for GixRepository {
    fn advertise(
        &self,
        service: Service,
        version: ProtocolVersion,
        to: &mut dyn Write,
    ) -> Result<(), GitError> {
        match service {
            Service::ReceivePack => receive::advertise(self, version, to),
            Service::UploadPack => upload::advertise(self, version, to),
        }
    }

    fn upload_pack(
        &self,
        version: ProtocolVersion,
        conversation: Conversation,
        from: &mut dyn Read,
        to: &mut dyn Write,
    ) -> Result<(), GitError> {
        upload::serve(self, version, conversation, from, to)
    }

    fn upload_archive(&self, from: &mut dyn Read, to: &mut dyn Write) -> Result<(), GitError> {
        upload_archive::serve(self, from, to)
    }

    fn receive(
        &self,
        from: &mut dyn Read,
        disconnected: &DisconnectSignal,
    ) -> Result<Option<Box<dyn ReceivedPush>>, GitError> {
        receive::receive(self, from, disconnected)
    }
}
