//! Notification settings.

use hexforge_application::notification::NotificationView;
use hexforge_domain::notification::{NotificationEvent, NotificationEvents, NotificationLevel};
use hexforge_domain::user::EmailAddress;
use serde::Serialize;
use utoipa::ToSchema;

/// Notification settings in a response.
#[derive(Serialize, ToSchema)]
pub struct NotificationSettingsJson<'a> {
    level: &'static str,
    /// Only with the level `custom`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = NotificationEventsJson, required = false)]
    events: Option<NotificationEventsJson>,
    /// Only in the settings for everything.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    notification_email: Option<&'a str>,
}

impl<'a> From<&'a NotificationView> for NotificationSettingsJson<'a> {
    fn from(NotificationView { setting, address }: &'a NotificationView) -> Self {
        let is_custom = setting.level == NotificationLevel::Custom;
        Self {
            level: setting.level.as_str(),
            events: is_custom.then(|| NotificationEventsJson::from(setting.events)),
            notification_email: address.as_ref().map(EmailAddress::as_str),
        }
    }
}

/// The events that the user wants to be notified about.
#[derive(Serialize, ToSchema)]
#[expect(clippy::struct_excessive_bools, reason = "each event is a field of the API")]
pub struct NotificationEventsJson {
    new_note: bool,
    new_issue: bool,
    reopen_issue: bool,
    close_issue: bool,
    reassign_issue: bool,
    new_merge_request: bool,
    reopen_merge_request: bool,
    close_merge_request: bool,
    reassign_merge_request: bool,
    merge_merge_request: bool,
    failed_pipeline: bool,
    success_pipeline: bool,
}

impl From<NotificationEvents> for NotificationEventsJson {
    fn from(events: NotificationEvents) -> Self {
        use NotificationEvent as Event;
        Self {
            new_note: events.contains(Event::NewNote),
            new_issue: events.contains(Event::NewIssue),
            reopen_issue: events.contains(Event::ReopenIssue),
            close_issue: events.contains(Event::CloseIssue),
            reassign_issue: events.contains(Event::ReassignIssue),
            new_merge_request: events.contains(Event::NewMergeRequest),
            reopen_merge_request: events.contains(Event::ReopenMergeRequest),
            close_merge_request: events.contains(Event::CloseMergeRequest),
            reassign_merge_request: events.contains(Event::ReassignMergeRequest),
            merge_merge_request: events.contains(Event::MergeMergeRequest),
            failed_pipeline: events.contains(Event::FailedPipeline),
            success_pipeline: events.contains(Event::SuccessPipeline),
        }
    }
}
