//! The configuration of russh, and the limits of the server.

use std::borrow::Cow;
use std::time::Duration;

use hexforge_application::limiter;
use russh::keys::{Algorithm, EcdsaCurve, HashAlg};
use russh::{MethodKind, MethodSet, Preferred, SshId, compression, server};

use crate::host_keys::HostKeys;

/// Limits on connections and times.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The maximum number of connections.
    pub connections: usize,
    /// The maximum number of connections from one address.
    pub per_address: usize,
    /// The timeout from the first byte until authentication.
    pub sign_in: Duration,
    /// The timeout of a connection that runs no command.
    pub idle: Duration,
    /// The timeout until a client has sent its request. It is long, because some clients compute for minutes before
    /// they send a pack. Meanwhile they hold no permit.
    pub request_timeout: Duration,
    /// The maximum time until the running command reads a piece of the client's input.
    pub piece: Duration,
    /// The maximum time that a command waits for a permit.
    pub permit_timeout: Duration,
    /// The interval at which the permission of a running command is checked again.
    pub recheck: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            per_address: 128,
            sign_in: Duration::from_secs(30),
            idle: Duration::from_secs(5 * 60),
            request_timeout: Duration::from_secs(10 * 60),
            piece: Duration::from_secs(60),
            permit_timeout: limiter::MAX_PERMIT_WAIT,
            recheck: Duration::from_secs(30),
        }
    }
}

/// The maximum number of failed authentication attempts; clients offer one key after the other.
const TRIES: usize = 10;

/// The maximum number of channels per connection.
pub(crate) const CHANNELS: usize = 10;

/// The signature algorithms of hosts and users. None uses SHA-1.
const SIGNATURES: [Algorithm; 6] = [
    Algorithm::Ed25519,
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 },
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP384 },
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP521 },
    Algorithm::Rsa { hash: Some(HashAlg::Sha512) },
    Algorithm::Rsa { hash: Some(HashAlg::Sha256) },
];

/// Returns true if the signature algorithm is accepted.
pub(crate) fn is_accepted(algorithm: &Algorithm) -> bool {
    SIGNATURES.contains(algorithm)
}

/// Returns the configuration of russh.
pub(crate) fn russh_config(keys: &HostKeys, limits: &Limits) -> server::Config {
    server::Config {
        server_id: SshId::Standard(Cow::Borrowed(concat!(
            "SSH-2.0-hexforge_",
            env!("CARGO_PKG_VERSION")
        ))),
        methods: MethodSet::from(&[MethodKind::PublicKey][..]),
        // The response shows whether a key is known, so a delay would hide nothing.
        auth_rejection_time: Duration::from_millis(50),
        auth_rejection_time_initial: Some(Duration::ZERO),
        keys: keys.private_keys(),
        window_size: 1 << 20,
        maximum_packet_size: 32 * 1024,
        channel_buffer_size: 4,
        event_buffer_size: 8,
        preferred: Preferred {
            key: Cow::Borrowed(&SIGNATURES),
            // Git data is compressed already.
            compression: Cow::Borrowed(&[compression::NONE]),
            ..Preferred::DEFAULT
        },
        max_auth_attempts: TRIES,
        // A live client answers keepalives, so only a client that is gone or no longer reads counts as inactive.
        keepalive_interval: Some(limits.piece / 2),
        keepalive_max: 3,
        inactivity_timeout: Some(limits.piece * 2),
        nodelay: true,
        ..server::Config::default()
    }
}
