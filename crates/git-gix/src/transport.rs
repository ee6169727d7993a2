//! Git clients, served in this process.

use std::io::{Read, Write};
use std::sync::Arc;

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::git_transport::{
    Conversation, GitTransport, ProtocolVersion, ReceivedPush, Service,
};

use crate::repository::GixRepository;
use crate::store::GixStore;
use crate::upload;

impl GixStore {
    /// Serves the clients of one project.
    pub fn transport(&self, project: ProjectId) -> Result<Box<dyn GitTransport>, GitError> {
        Ok(Box::new(GixRepository::open(Arc::clone(self.shared()), project)?))
    }
}

impl GitTransport for GixRepository {
    fn advertise(
        &self,
        service: Service,
        version: ProtocolVersion,
        to: &mut dyn Write,
    ) -> Result<(), GitError> {
        upload::advertise(self.bound(), service, version, to)
    }

    fn upload_pack(
        &self,
        version: ProtocolVersion,
        conversation: Conversation,
        from: &mut dyn Read,
        to: &mut dyn Write,
    ) -> Result<(), GitError> {
        upload::serve(self.bound(), version, conversation, from, to)
    }

    fn receive(&self, from: &mut dyn Read) -> Result<Option<Box<dyn ReceivedPush>>, GitError> {
        receive(self, from)
    }
}

fn receive(_: &GixRepository, _: &mut dyn Read) -> Result<Option<Box<dyn ReceivedPush>>, GitError> {
    Err(GitError::Failed("nothing can be pushed".into()))
}
