//! What the library is told, and the limits.

use std::borrow::Cow;
use std::time::Duration;

use hexforge_application::limiter;
use russh::keys::{Algorithm, EcdsaCurve, HashAlg};
use russh::{MethodKind, MethodSet, Preferred, SshId, compression, server};

use crate::host_keys::HostKeys;

/// How much, and how long.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// Connections in all.
    pub connections: usize,
    /// Connections from one address.
    pub of_one_address: usize,
    /// From the first byte until somebody is signed in.
    pub sign_in: Duration,
    /// How long a connection may do nothing.
    pub idle: Duration,
    /// How long a client may take until it has said what it wants: some compute long before they send a pack. They
    /// hold no permit for git's work meanwhile.
    pub silence: Duration,
    /// How long a client may have to wait until a piece that it sends is read.
    pub piece: Duration,
    /// How long a command waits for a permit.
    pub turn: Duration,
    /// How often it is asked whether somebody may still do what it does.
    pub recheck: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 1024,
            of_one_address: 128,
            sign_in: Duration::from_secs(30),
            idle: Duration::from_secs(5 * 60),
            silence: Duration::from_secs(10 * 60),
            piece: Duration::from_secs(60),
            turn: limiter::PATIENCE,
            recheck: Duration::from_secs(30),
        }
    }
}

/// How often a client may fail to sign in; clients offer one key after the other.
const TRIES: usize = 10;

/// Channels of one connection.
pub(crate) const CHANNELS: usize = 10;

/// Keys that hosts and users sign with. There is none of SHA-1.
const SIGNATURES: [Algorithm; 6] = [
    Algorithm::Ed25519,
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP256 },
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP384 },
    Algorithm::Ecdsa { curve: EcdsaCurve::NistP521 },
    Algorithm::Rsa { hash: Some(HashAlg::Sha512) },
    Algorithm::Rsa { hash: Some(HashAlg::Sha256) },
];

/// Whether signatures of this kind are good enough.
pub(crate) fn is_good(algorithm: &Algorithm) -> bool {
    SIGNATURES.contains(algorithm)
}

pub(crate) fn of_library(keys: &HostKeys, limits: &Limits) -> server::Config {
    server::Config {
        server_id: SshId::Standard(Cow::Borrowed(concat!(
            "SSH-2.0-hexforge_",
            env!("CARGO_PKG_VERSION")
        ))),
        methods: MethodSet::from(&[MethodKind::PublicKey][..]),
        // Whether a key is known is told anyway, so there is nothing to hide by taking long.
        auth_rejection_time: Duration::from_millis(50),
        auth_rejection_time_initial: Some(Duration::ZERO),
        keys: keys.private(),
        window_size: 1 << 20,
        maximum_packet_size: 32 * 1024,
        channel_buffer_size: 4,
        event_buffer_size: 8,
        preferred: Preferred {
            key: Cow::Borrowed(&SIGNATURES),
            // What git sends is compressed already.
            compression: Cow::Borrowed(&[compression::NONE]),
            ..Preferred::DEFAULT
        },
        max_auth_attempts: TRIES,
        // Those who are there answer; so only those who are gone, or take nothing any more, are inactive.
        keepalive_interval: Some(limits.piece / 2),
        keepalive_max: 3,
        inactivity_timeout: Some(limits.piece * 2),
        nodelay: true,
        ..server::Config::default()
    }
}
