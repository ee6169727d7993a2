//! Todos.

use hexforge_application::view::todo::{TodoTarget, TodoView};
use serde::Serialize;
use utoipa::ToSchema;

use super::commit::CommitJson;
use super::issue::IssueJson;
use super::merge_request::MergeRequestJson;
use super::project::SimpleProjectJson;
use super::time::Iso;
use super::user::UserSummaryJson;
use hexforge_http_edge::links::Links;

/// A todo in a response.
#[derive(Serialize, ToSchema)]
pub struct TodoJson<'a> {
    id: i64,
    project: SimpleProjectJson<'a>,
    author: UserSummaryJson<'a>,
    action_name: &'static str,
    target_type: &'static str,
    /// Null if the repository does not have the commit any more.
    target: Option<TodoTargetJson<'a>>,
    target_url: String,
    body: String,
    state: &'static str,
    created_at: Iso,
}

/// The target of a todo.
#[derive(Serialize, ToSchema)]
#[serde(untagged)]
pub enum TodoTargetJson<'a> {
    /// An issue.
    Issue(Box<IssueJson<'a>>),
    /// A merge request.
    MergeRequest(Box<MergeRequestJson<'a>>),
    /// A commit.
    Commit(Box<CommitJson>),
}

impl<'a> TodoJson<'a> {
    /// The todo, with URLs built by `links`.
    pub fn new(view: &'a TodoView, links: &'a Links) -> Self {
        let TodoView { todo, project, author, target, note } = view;
        let path = project.place.path_of(&project.project);
        let (page, title, target) = match target {
            TodoTarget::Issue(issue) => {
                let shown = TodoTargetJson::Issue(Box::new(IssueJson::new(issue, links)));
                let title = issue.issue.title.as_str().to_owned();
                (format!("issues/{}", issue.issue.iid), title, Some(shown))
            }
            TodoTarget::MergeRequest(request) => {
                let shown = MergeRequestJson::new(request, links);
                let title = request.request.title.as_str().to_owned();
                let page = format!("merge_requests/{}", request.request.iid);
                (page, title, Some(TodoTargetJson::MergeRequest(Box::new(shown))))
            }
            TodoTarget::Commit(id, commit) => {
                let shown = commit.as_deref().map(CommitJson::from);
                let title = commit.as_ref().map_or_else(String::new, |commit| commit.title());
                let shown = shown.map(|shown| TodoTargetJson::Commit(Box::new(shown)));
                (format!("commit/{id}"), title, shown)
            }
        };
        let anchor = todo.note.map_or_else(String::new, |note| format!("#note_{}", note.0));
        Self {
            id: todo.id.0,
            project: SimpleProjectJson::new(project, links),
            author: UserSummaryJson::new(author, links),
            action_name: todo.action.as_str(),
            target_type: todo.target.type_name(),
            target,
            target_url: format!("{}/{page}{anchor}", links.project(&path)),
            body: note.as_ref().map_or(title, |note| note.as_str().to_owned()),
            state: todo.state.as_str(),
            created_at: Iso(todo.created_at),
        }
    }
}
