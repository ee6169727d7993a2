//! Broadcast messages.

use hexforge_application::broadcast::BroadcastView;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;

/// A broadcast message in a response.
#[derive(Serialize, ToSchema)]
pub struct BroadcastJson {
    id: i64,
    message: String,
    starts_at: Iso,
    ends_at: Iso,
    color: String,
    font: String,
    /// Whether the message is shown now.
    active: bool,
}

impl From<BroadcastView> for BroadcastJson {
    fn from(BroadcastView { broadcast, active }: BroadcastView) -> Self {
        let content = broadcast.content;
        Self {
            id: broadcast.id.0,
            message: content.message.as_str().to_owned(),
            starts_at: Iso(content.starts_at),
            ends_at: Iso(content.ends_at),
            color: content.color.as_str().to_owned(),
            font: content.font.as_str().to_owned(),
            active,
        }
    }
}
