//! The port that renders the payloads of hooks.

use crate::outbox::SystemEvent;
use crate::service::slack::ChatSettings;

/// Renders the request bodies that are sent to hooks.
pub trait Payloads: Send + Sync {
    /// The payload of an event. The same event always has the same payload, except that avatars follow the settings of the service.
    fn payload_json(&self, event: &SystemEvent, audience: Audience) -> String;

    /// The form with the message to a chat; `None` if the chat is not told of the event.
    fn chat_form(&self, event: &SystemEvent, settings: ChatSettings<'_>) -> Option<String>;

    /// The sample with which system hooks are tested.
    fn sample_json(&self) -> String;
}

/// The kind of hook that receives a payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A hook of the project to which the event belongs.
    Project,
    /// A system hook.
    Service,
}
