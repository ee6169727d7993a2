//! Issues.

use hexforge_application::view::issue::IssueView;
use hexforge_domain::text::LongText;
use serde::Serialize;
use utoipa::ToSchema;

use super::milestone::MilestoneJson;
use super::time::Iso;
use super::user::UserSummaryJson;
use hexforge_http_edge::links::Links;

/// An issue in a response.
#[derive(Serialize, ToSchema)]
pub struct IssueJson<'a> {
    id: i64,
    iid: i64,
    project_id: i64,
    title: &'a str,
    description: Option<&'a str>,
    state: &'static str,
    created_at: Iso,
    updated_at: Iso,
    labels: &'a [String],
    milestone: Option<MilestoneJson<'a>>,
    assignee: Option<UserSummaryJson<'a>>,
    author: UserSummaryJson<'a>,
    subscribed: bool,
    user_notes_count: u32,
    upvotes: u32,
    downvotes: u32,
    due_date: Option<String>,
    confidential: bool,
    web_url: String,
}

impl<'a> IssueJson<'a> {
    /// The issue, with URLs built by `links`.
    pub fn new(view: &'a IssueView, links: &'a Links) -> Self {
        let issue = &view.issue;
        let page = format!("/{}/issues/{}", view.project_path, issue.iid);
        Self {
            id: issue.id.0,
            iid: issue.iid,
            project_id: issue.project.0,
            title: issue.title.as_str(),
            description: issue.description.as_ref().map(LongText::as_str),
            state: issue.state.as_str(),
            created_at: Iso(issue.created_at),
            updated_at: Iso(issue.updated_at),
            labels: &view.labels,
            milestone: view.milestone.as_ref().map(MilestoneJson::from),
            assignee: view.assignee.as_ref().map(|user| UserSummaryJson::new(user, links)),
            author: UserSummaryJson::new(&view.author, links),
            subscribed: view.subscribed,
            user_notes_count: issue.user_notes_count,
            upvotes: view.votes.up,
            downvotes: view.votes.down,
            due_date: issue.due_date.map(|day| day.to_string()),
            confidential: issue.confidential,
            web_url: links.to(&page),
        }
    }
}
