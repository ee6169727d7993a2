//! System hooks, which receive the events of the whole service.

pub mod port;

use crate::Timestamp;
use crate::hook::HookUrl;
use crate::id::SystemHookId;
use crate::text::Secret;

/// A system hook as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemHook {
    /// Assigned by the store.
    pub id: SystemHookId,
    /// The receiver and its options.
    pub settings: SystemHookSettings,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

/// The receiver of a system hook and its options.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemHookSettings {
    /// The URL of the receiver.
    pub url: HookUrl,
    /// The secret by which the receiver authenticates deliveries. Never shown.
    pub token: Option<Secret>,
    /// Whether the hook receives pushes to branches.
    pub push_events: bool,
    /// Whether the hook receives pushes of tags.
    pub tag_push_events: bool,
    /// Whether the TLS certificate of the receiver is verified.
    pub enable_ssl_verification: bool,
}
