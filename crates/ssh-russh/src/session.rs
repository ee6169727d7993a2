//! The requests of a client on its connection: authentication by a key, and git commands on channels.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Arc;

use hexforge_application::error::Error;
use hexforge_application::public_key;
use hexforge_domain::ports::git_transport::ProtocolVersion;
use russh::keys::{Algorithm, PublicKey};
use russh::server::{
    Auth, ChannelOpenHandle, Handler, Msg, PublicKeyOffer, Session as Library, VerifiedPublicKey,
};
use russh::{Channel, ChannelId, ChannelOpenFailure, ChannelWriteHalf, Pty};
use tokio::sync::watch;
use tokio::time::Instant;

use crate::bridge::{self, Feeder, TooSlow};
use crate::command::Command;
use crate::config;
use crate::connection::{Activity, RunningCommand};
use crate::server::Shared;
use crate::work::{Work, blocking};

/// The only accepted user name. The key identifies the user.
const USER: &str = "git";

/// The variable by which clients request a git protocol version, and the maximum length of its value.
const GIT_PROTOCOL: &str = "GIT_PROTOCOL";
const LONGEST_VALUE: usize = 256;

/// The state of one connection.
pub(crate) struct Session {
    shared: Arc<Shared>,
    peer: SocketAddr,
    activity: watch::Sender<Activity>,
    /// The key that the client authenticated with.
    key: Option<String>,
    channels: HashMap<ChannelId, OpenChannel>,
}

/// A channel that the client has opened.
struct OpenChannel {
    version: ProtocolVersion,
    /// The writing side of the channel. The command that runs on the channel takes it.
    half: Option<ChannelWriteHalf<Msg>>,
    feeder: Option<Feeder>,
}

impl Session {
    pub(crate) fn new(
        shared: Arc<Shared>,
        peer: SocketAddr,
        activity: watch::Sender<Activity>,
    ) -> Self {
        Self { shared, peer, activity, key: None, channels: HashMap::new() }
    }

    /// Returns the key in OpenSSH format if it belongs to a user who may sign in.
    async fn accepted_key(
        &self,
        user: &str,
        key: &PublicKey,
        algorithm: &Algorithm,
    ) -> Option<String> {
        if user != USER || !config::is_accepted(algorithm) {
            return None;
        }
        let line = key.to_openssh().ok()?;
        let key = line.clone();
        let holder = blocking(&self.shared.app, move |app| public_key::holder(app, &key));
        match holder.await {
            Ok(holder) => holder.map(|_| line),
            Err(error) => {
                log_failure(&error);
                None
            }
        }
    }

    /// Starts a command on a channel. Returns false if the channel already had one.
    fn start(&mut self, id: ChannelId, command: Option<&[u8]>) -> bool {
        let Some(open) = self.channels.get_mut(&id) else { return false };
        let (Some(half), Some(key)) = (open.half.take(), self.key.clone()) else { return false };
        let (feeder, input, gone) = bridge::channel(self.shared.limiter.transfer);
        open.feeder = Some(feeder);
        let work = Work {
            shared: Arc::clone(&self.shared),
            peer: self.peer,
            key,
            command: command.map(Command::parse),
            version: open.version,
            half: Arc::new(half),
            input,
            gone,
            running: RunningCommand::new(&self.activity),
        };
        tokio::spawn(work.run());
        true
    }

    fn reply(library: &mut Library, id: ChannelId, is_success: bool) -> Result<(), russh::Error> {
        if is_success { library.channel_success(id) } else { library.channel_failure(id) }
    }
}

pub(crate) fn log_failure(error: &Error) {
    tracing::error!(cause = %error, "an SSH request failed");
}

impl Handler for Session {
    type Error = russh::Error;

    async fn auth_publickey_offered(
        &mut self,
        user: &str,
        offer: PublicKeyOffer<'_>,
    ) -> Result<Auth, russh::Error> {
        let known = self.accepted_key(user, offer.public_key, offer.algorithm).await;
        Ok(if known.is_some() { Auth::Accept } else { Auth::reject() })
    }

    async fn auth_publickey(
        &mut self,
        user: &str,
        key: VerifiedPublicKey<'_>,
    ) -> Result<Auth, russh::Error> {
        self.key = self.accepted_key(user, key.public_key, key.algorithm).await;
        Ok(if self.key.is_some() { Auth::Accept } else { Auth::reject() })
    }

    async fn auth_succeeded(&mut self, _: &mut Library) -> Result<(), russh::Error> {
        self.activity.send_modify(|activity| {
            activity.is_signed_in = true;
            activity.idle_since = Instant::now();
        });
        Ok(())
    }

    async fn channel_open_session(
        &mut self,
        channel: Channel<Msg>,
        reply: ChannelOpenHandle,
        _: &mut Library,
    ) -> Result<(), russh::Error> {
        if self.channels.len() >= config::CHANNELS {
            reply.reject(ChannelOpenFailure::ResourceShortage).await;
            return Ok(());
        }
        // Input goes to `data`, which knows whether a command reads it.
        let (id, (_, half)) = (channel.id(), channel.split());
        let open = OpenChannel { version: ProtocolVersion::V0, half: Some(half), feeder: None };
        self.channels.insert(id, open);
        reply.accept().await;
        Ok(())
    }

    async fn env_request(
        &mut self,
        id: ChannelId,
        name: &str,
        value: &str,
        library: &mut Library,
    ) -> Result<(), russh::Error> {
        let open = self.channels.get_mut(&id);
        let wanted = open.filter(|_| name == GIT_PROTOCOL && value.len() <= LONGEST_VALUE);
        let is_taken = wanted.is_some();
        if let Some(open) = wanted {
            open.version = ProtocolVersion::parse(value);
        }
        Self::reply(library, id, is_taken)
    }

    async fn exec_request(
        &mut self,
        id: ChannelId,
        command: &[u8],
        library: &mut Library,
    ) -> Result<(), russh::Error> {
        let is_started = self.start(id, Some(command));
        Self::reply(library, id, is_started)
    }

    async fn shell_request(
        &mut self,
        id: ChannelId,
        library: &mut Library,
    ) -> Result<(), russh::Error> {
        let is_started = self.start(id, None);
        Self::reply(library, id, is_started)
    }

    async fn data(
        &mut self,
        id: ChannelId,
        data: &[u8],
        _: &mut Library,
    ) -> Result<(), russh::Error> {
        let feeder = self.channels.get(&id).and_then(|open| open.feeder.as_ref());
        let Some(feeder) = feeder else { return Ok(()) };
        let fed = feeder.feed(data, self.shared.limits.piece).await;
        fed.map_err(|TooSlow| russh::Error::InactivityTimeout)
    }

    async fn channel_eof(&mut self, id: ChannelId, _: &mut Library) -> Result<(), russh::Error> {
        let feeder = self.channels.get(&id).and_then(|open| open.feeder.as_ref());
        let Some(feeder) = feeder else { return Ok(()) };
        let ended = feeder.end(self.shared.limits.piece).await;
        ended.map_err(|TooSlow| russh::Error::InactivityTimeout)
    }

    async fn channel_close(&mut self, id: ChannelId, _: &mut Library) -> Result<(), russh::Error> {
        self.channels.remove(&id);
        Ok(())
    }

    async fn pty_request(
        &mut self,
        id: ChannelId,
        _: &str,
        _: u32,
        _: u32,
        _: u32,
        _: u32,
        _: &[(Pty, u32)],
        library: &mut Library,
    ) -> Result<(), russh::Error> {
        Self::reply(library, id, false)
    }

    async fn x11_request(
        &mut self,
        id: ChannelId,
        _: bool,
        _: &str,
        _: &str,
        _: u32,
        library: &mut Library,
    ) -> Result<(), russh::Error> {
        Self::reply(library, id, false)
    }

    async fn subsystem_request(
        &mut self,
        id: ChannelId,
        _: &str,
        library: &mut Library,
    ) -> Result<(), russh::Error> {
        Self::reply(library, id, false)
    }
}
