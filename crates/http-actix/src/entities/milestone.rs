//! Milestones.

use hexforge_domain::milestone::Milestone;
use hexforge_domain::text::LongText;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;

/// A milestone in a response.
#[derive(Serialize, ToSchema)]
pub struct MilestoneJson<'a> {
    id: i64,
    iid: i64,
    project_id: i64,
    title: &'a str,
    description: Option<&'a str>,
    state: &'static str,
    created_at: Iso,
    updated_at: Iso,
    due_date: Option<String>,
}

impl<'a> From<&'a Milestone> for MilestoneJson<'a> {
    fn from(milestone: &'a Milestone) -> Self {
        Self {
            id: milestone.id.0,
            iid: milestone.iid,
            project_id: milestone.project.0,
            title: milestone.title.as_str(),
            description: milestone.description.as_ref().map(LongText::as_str),
            state: milestone.state.as_str(),
            created_at: Iso(milestone.created_at),
            updated_at: Iso(milestone.updated_at),
            due_date: milestone.due_date.map(|day| day.to_string()),
        }
    }
}
