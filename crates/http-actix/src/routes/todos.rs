//! Todos.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use hexforge_application::todo::{self, TodoListing};
use hexforge_domain::id::{IssueId, MergeRequestId, TodoId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::todo::{TodoAction, TodoKind, TodoState};
use serde_json::json;

use super::ids::ProjectPath;
use crate::api::Api;
use crate::call::{self, Calls};
use crate::entities::todo::TodoJson;
use crate::error::ApiResult;
use crate::params::{Parameters, declared, parameters, picked};
use crate::respond;

/// Declares the calls.
pub fn declare(calls: &mut Calls) {
    calls.section("Todos");
    let call = call::get("/todos", "Lists the caller's todos, newest first", list);
    calls.add(call.list::<TodoJson<'_>>());
    let about = "Marks the caller's todos as done; the response is the number of changed todos";
    calls.add(call::delete("/todos", about, mark_all_done).ok::<u64>());
    let call = call::delete("/todos/{id}", "Marks a todo as done", mark_done);
    calls.add(call.ok::<TodoJson<'_>>());
    let (of_issue, of_request) =
        ("Creates a todo for an issue", "Creates a todo for a merge request");
    let path = "/projects/{id}/issues/{issue_id}/todo";
    let call = call::post(path, of_issue, create::<IssueInPath>);
    calls.add(call.created::<TodoJson<'_>>().unchanged());
    let path = "/projects/{id}/merge_requests/{merge_request_id}/todo";
    let call = call::post(path, of_request, create::<RequestInPath>);
    calls.add(call.created::<TodoJson<'_>>().unchanged());
}

/// An action that no todo has.
const APPROVAL_REQUIRED: &str = "approval_required";

/// The names of actions in filters.
const ACTIONS: [&str; 5] = ["assigned", "mentioned", "build_failed", "marked", APPROVAL_REQUIRED];

parameters! {
    struct Filters {
        state: Option<String> = picked::word("state", &["pending", "done"]),
        action: Option<String> = picked::word("action", &ACTIONS),
        action_id: Option<String> = picked::text_of_number("action_id"),
        author: Option<String> = picked::text_of_number("author_id"),
        project: Option<String> = picked::text_of_number("project_id"),
        kind: Option<String> = picked::word("type", &["Issue", "MergeRequest"]),
    }
}

impl Filters {
    /// Converts the parameters. Unknown states, actions and types are ignored.
    fn into_listing(self) -> TodoListing {
        let done = self.state.as_deref() == Some("done");
        let by_name = self.action.as_deref().and_then(TodoAction::from_name);
        let by_number = self.action_id.and_then(|number| number.trim().parse().ok());
        let by_number = by_number.and_then(TodoAction::from_number);
        TodoListing {
            state: if done { TodoState::Done } else { TodoState::Pending },
            actions: by_name.into_iter().chain(by_number).collect(),
            approval_required: self.action.as_deref() == Some(APPROVAL_REQUIRED),
            author: self.author.as_deref().map(id_or_unknown),
            project: self.project.as_deref().map(id_or_unknown),
            kind: self.kind.as_deref().and_then(TodoKind::from_name),
        }
    }
}

/// The id that a text names. A text that is no number names an id that nothing has.
fn id_or_unknown(text: &str) -> i64 {
    text.trim().parse().unwrap_or(-1)
}

parameters! {
    /// The todo in a path.
    struct TodoInPath {
        id: TodoId = declared::in_path("id").map(TodoId),
    }
}

/// The target of a new todo in a path.
trait Target: Parameters + 'static {
    fn issuable(&self) -> Issuable;
}

parameters! {
    struct IssueInPath {
        id: IssueId = declared::in_path("issue_id").map(IssueId),
    }
}

impl Target for IssueInPath {
    fn issuable(&self) -> Issuable {
        self.id.into()
    }
}

parameters! {
    struct RequestInPath {
        id: MergeRequestId = declared::in_path("merge_request_id").map(MergeRequestId),
    }
}

impl Target for RequestInPath {
    fn issuable(&self) -> Issuable {
        self.id.into()
    }
}

async fn list(api: Api<Filters>) -> ApiResult<HttpResponse> {
    let page = api.page();
    let todos = api
        .run(move |app, actor, filters| todo::list(app, actor, &filters.into_listing(), page))
        .await?;
    respond::paged(&api, page, todos.as_ref().map(|view| TodoJson::new(view, api.links())))
}

async fn mark_done(api: Api<TodoInPath>) -> ApiResult<HttpResponse> {
    let view =
        api.run(move |app, actor, TodoInPath { id }| todo::mark_done(app, actor, id)).await?;
    respond::ok(TodoJson::new(&view, api.links()))
}

async fn mark_all_done(api: Api<Filters>) -> ApiResult<HttpResponse> {
    let marked = api
        .run(move |app, actor, filters| todo::mark_all_done(app, actor, &filters.into_listing()))
        .await?;
    respond::ok(marked)
}

async fn create<T: Target>(
    api: Api<T>,
    ProjectPath(named): ProjectPath,
) -> ApiResult<HttpResponse> {
    let change = api
        .run(move |app, actor, target| todo::create(app, actor, &named, target.issuable()))
        .await?;
    respond::changed(StatusCode::CREATED, change, |view| json!(TodoJson::new(view, api.links())))
}
