//! Labels.

use hexforge_application::label::group::GroupLabelView;
use hexforge_application::view::label::LabelView;
use hexforge_domain::label::{LabelDescription, Priority};
use serde::Serialize;
use utoipa::ToSchema;

/// A label in a response.
#[derive(Serialize, ToSchema)]
pub struct LabelJson<'a> {
    id: i64,
    name: &'a str,
    color: &'a str,
    description: Option<&'a str>,
    open_issues_count: u32,
    closed_issues_count: u32,
    open_merge_requests_count: u32,
    priority: Option<i64>,
    subscribed: bool,
}

impl<'a> From<&'a LabelView> for LabelJson<'a> {
    fn from(view: &'a LabelView) -> Self {
        let label = &view.label;
        Self {
            id: label.shown_id().0,
            name: label.title.as_str(),
            color: label.color.as_str(),
            description: label.description.as_ref().map(LabelDescription::as_str),
            open_issues_count: view.counts.open,
            closed_issues_count: view.counts.closed,
            open_merge_requests_count: view.open_merge_requests,
            priority: label.priority.map(Priority::number),
            subscribed: view.subscribed,
        }
    }
}

impl<'a> From<&'a GroupLabelView> for LabelJson<'a> {
    fn from(view: &'a GroupLabelView) -> Self {
        let label = &view.label;
        Self {
            id: label.id.0,
            name: label.title.as_str(),
            color: label.color.as_str(),
            description: label.description.as_ref().map(LabelDescription::as_str),
            open_issues_count: view.counts.open,
            closed_issues_count: view.counts.closed,
            open_merge_requests_count: 0,
            // Priority and subscription belong to projects, so a group label has none.
            priority: None,
            subscribed: false,
        }
    }
}
