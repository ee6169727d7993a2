//! Deliveries: what hooks are sent, how often that is tried, and what became of it.
//!
//! Each hook has a lane, in which its deliveries wait one behind the other. Whoever sends claims whole lanes, so a
//! hook is sent one thing at a time, whatever the number of processes, and a slow receiver holds up its own lane only.

pub mod lane;
pub mod port;
pub mod state;

use crate::Timestamp;
use crate::id::{DeliveryId, PayloadId, ProjectHookId, ProjectId, SystemHookId};
use crate::text::Secret;
pub use state::{DeliveryState, Outcome};

/// A hook of either kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HookRef {
    /// A hook of a project.
    Project(ProjectHookId),
    /// A hook of the service.
    System(SystemHookId),
}

/// By what a receiver knows a delivery that comes a second time.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeliveryKey(String);

impl DeliveryKey {
    /// The key of these random bytes, in the form of a UUID.
    pub fn new(mut bytes: [u8; 16]) -> Self {
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let mut key = String::with_capacity(36);
        for (place, byte) in bytes.iter().enumerate() {
            if matches!(place, 4 | 6 | 8 | 10) {
                key.push('-');
            }
            key.push_str(&format!("{byte:02x}"));
        }
        Self(key)
    }

    /// A key that was made before.
    pub fn stored(key: String) -> Self {
        Self(key)
    }

    /// The key.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Something that a hook is to be sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// Of its own for each hook.
    pub key: DeliveryKey,
    /// To whom.
    pub hook: HookRef,
    /// How it is called, such as `Push Hook`.
    pub event: String,
    /// What it says.
    pub payload: PayloadId,
    /// From when on.
    pub at: Timestamp,
}

/// A delivery as those see it who look after a hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Assigned by the store, growing with time.
    pub id: DeliveryId,
    /// See [`DeliveryKey`].
    pub key: DeliveryKey,
    /// How it is called.
    pub event: String,
    /// What became of it.
    pub state: DeliveryState,
    /// How often it was tried.
    pub tries: u32,
    /// When it was written.
    pub created_at: Timestamp,
    /// The beginning of what it says, and whether there is more.
    pub body: (String, bool),
    /// The last time it was tried.
    pub last: Option<Attempt>,
}

/// How much of what a delivery says is shown, in characters.
pub const SHOWN_BODY: usize = 64 * 1024;

/// How much of an answer is kept, in bytes.
pub const KEPT_ANSWER: usize = 16 * 1024;

/// One time that a delivery was tried.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When it began.
    pub at: Timestamp,
    /// Where it went, without user name and password.
    pub url: String,
    /// How long it took, in milliseconds.
    pub millis: u32,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// The beginning of the answer.
    pub answer: Option<String>,
    /// Why there was no answer, or why it does not count; for people.
    pub error: Option<String>,
}

/// Everything it takes to send a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Letter {
    /// See [`DeliveryKey`].
    pub key: DeliveryKey,
    /// How it is called.
    pub event: String,
    /// What it says.
    pub body: String,
    /// Where it goes, with what it takes to get in.
    pub url: Secret,
    /// By what the receiver knows us.
    pub token: Option<Secret>,
    /// Whether the receiver's certificate has to be good.
    pub verify: bool,
}

/// How much waits to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Queue {
    /// Events of which it was not yet looked up who hears of them.
    pub events: u64,
    /// Deliveries that wait.
    pub deliveries: u64,
    /// When the oldest of all of these was written.
    pub oldest: Option<Timestamp>,
}

/// A hook that does not work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingHook {
    /// Which.
    pub hook: HookRef,
    /// Of which project, if it is one's.
    pub project: Option<ProjectId>,
    /// Where it should go, without user name and password.
    pub url: String,
    /// How often in a row it failed.
    pub failures: u32,
    /// Since when.
    pub since: Timestamp,
    /// What happened the last time.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_look_like_random_uuids() {
        let key = DeliveryKey::new([0xff; 16]);
        assert_eq!(key.as_str(), "ffffffff-ffff-4fff-bfff-ffffffffffff");
        assert_eq!(DeliveryKey::new([0; 16]).as_str(), "00000000-0000-4000-8000-000000000000");
    }
}
