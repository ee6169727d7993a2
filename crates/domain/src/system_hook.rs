//! System hooks: who hears of everything that happens to the service.

pub mod port;

use crate::Timestamp;
use crate::hook::HookUrl;
use crate::id::SystemHookId;
use crate::text::Secret;

/// A registered hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemHook {
    /// Assigned by the store.
    pub id: SystemHookId,
    /// Where to send to, and what.
    pub settings: SystemHookSettings,
    /// When it was registered.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// Where to send to, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SystemHookSettings {
    /// The receiver.
    pub url: HookUrl,
    /// By which the receiver knows us. Never shown.
    pub token: Option<Secret>,
    /// Whether it hears of pushes to branches.
    pub push_events: bool,
    /// Whether it hears of pushes of tags.
    pub tag_push_events: bool,
    /// Whether the receiver's certificate has to be good.
    pub enable_ssl_verification: bool,
}
