//! Deliveries of payloads to hooks: the queue, the retries and the results.
//!
//! Each hook has its own queue, called a lane. A sender claims whole lanes. So a hook receives one delivery at a time,
//! however many server processes send, and a slow receiver delays only its own lane.

pub mod lane;
pub mod port;
pub mod state;

use crate::Timestamp;
use crate::id::{DeliveryId, PayloadId, ProjectHookId, ProjectId, ServiceId, SystemHookId};
use crate::text::Secret;
pub use state::{DeliveryState, Outcome};

/// A reference to a project hook, a system hook, or a service that receives events like a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HookRef {
    /// A hook of a project.
    Project(ProjectHookId),
    /// A system hook.
    System(SystemHookId),
    /// A service of a project.
    Service(ServiceId),
}

/// The unique key of a delivery, by which a receiver recognizes a repeated delivery.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct DeliveryKey(String);

crate::text::stored_text!(DeliveryKey);

impl DeliveryKey {
    /// Creates a key in the form of a random UUID from random bytes.
    pub fn new(mut bytes: [u8; 16]) -> Self {
        bytes[6] = bytes[6] & 0x0f | 0x40;
        bytes[8] = bytes[8] & 0x3f | 0x80;
        let mut key = String::with_capacity(36);
        for (index, byte) in bytes.iter().enumerate() {
            if matches!(index, 4 | 6 | 8 | 10) {
                key.push('-');
            }
            key.push_str(&format!("{byte:02x}"));
        }
        Self(key)
    }
}

/// A delivery to be queued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewDelivery {
    /// The key, different for each hook.
    pub key: DeliveryKey,
    /// The hook that receives it.
    pub hook: HookRef,
    /// The name of the event, such as `Push Hook`.
    pub event: String,
    /// The id of the payload.
    pub payload: PayloadId,
    /// The earliest time to send it.
    pub at: Timestamp,
}

/// A delivery as the maintainers of a hook see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Delivery {
    /// Assigned by the store, growing with time.
    pub id: DeliveryId,
    /// See [`DeliveryKey`].
    pub key: DeliveryKey,
    /// The name of the event.
    pub event: String,
    /// The current state.
    pub state: DeliveryState,
    /// The number of attempts.
    pub tries: u32,
    /// When it was queued.
    pub created_at: Timestamp,
    /// The beginning of the payload, and whether it is truncated.
    pub body: (String, bool),
    /// The last attempt.
    pub last: Option<Attempt>,
}

/// The maximum length of the payload that is shown, in characters.
pub const MAX_SHOWN_BODY: usize = 64 * 1024;

/// The maximum length of the stored response body, in bytes.
pub const MAX_STORED_RESPONSE: usize = 16 * 1024;

/// One attempt to send a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// When the attempt began.
    pub at: Timestamp,
    /// The URL, without user name and password.
    pub url: String,
    /// The duration in milliseconds.
    pub millis: u32,
    /// The HTTP status of the response, if there was one.
    pub status: Option<u16>,
    /// The beginning of the response body.
    pub answer: Option<String>,
    /// Why there was no response, or why the response is not a success. A text for people.
    pub error: Option<String>,
}

/// The format of a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PayloadFormat {
    /// JSON, for hooks.
    Json,
    /// An URL-encoded form, for services.
    Form,
}

impl PayloadFormat {
    /// The media type of the payload.
    pub fn media_type(self) -> &'static str {
        match self {
            PayloadFormat::Json => "application/json",
            PayloadFormat::Form => "application/x-www-form-urlencoded",
        }
    }
}

/// All data that is needed to send a delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookRequest {
    /// See [`DeliveryKey`].
    pub key: DeliveryKey,
    /// The name of the event.
    pub event: String,
    /// The payload.
    pub body: String,
    /// The format of the payload.
    pub format: PayloadFormat,
    /// The URL, including user name and password.
    pub url: Secret,
    /// The secret token with which the receiver authenticates the request.
    pub token: Option<Secret>,
    /// Whether the TLS certificate of the receiver is verified.
    pub verify: bool,
}

/// The size of the queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QueueSize {
    /// Events for which no deliveries were created yet.
    pub events: u64,
    /// Pending deliveries.
    pub deliveries: u64,
    /// The creation time of the oldest pending delivery.
    pub oldest: Option<Timestamp>,
}

/// A hook whose deliveries fail.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailingHook {
    /// The hook.
    pub hook: HookRef,
    /// The project, for a project hook or a service.
    pub project: Option<ProjectId>,
    /// The host of the URL; see [`HookUrl::host`](crate::hook::HookUrl::host).
    pub host: String,
    /// The number of consecutive failures.
    pub failures: u32,
    /// When the failures began.
    pub since: Timestamp,
    /// The error of the last attempt.
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
