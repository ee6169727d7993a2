//! The port to the form in which hooks are told things.

use crate::outbox::SystemEvent;

/// Writes down what a hook is sent.
pub trait Payloads: Send + Sync {
    /// The body that tells of an event. The same event has the same body each time.
    fn body(&self, event: &SystemEvent, audience: Audience) -> String;
}

/// Who is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    /// A hook of the project in which it happened.
    Project,
    /// A hook of the service.
    Service,
}
