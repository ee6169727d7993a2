//! Issues, merge requests, milestones, labels and todos of the visitor in all projects.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::dashboard;
use hexforge_application::issue::page::{self as issue_page, OwnIssues};
use hexforge_application::merge_request::page::{self as request_page, OwnRequests};
use hexforge_application::todo::{self, TodoListing};
use hexforge_application::view::todo::{TodoTarget, TodoView};
use hexforge_domain::id::TodoId;
use hexforge_domain::label::Label;
use hexforge_domain::todo::{TodoAction, TodoKind, TodoState};

use super::issues::{self, IssueRow};
use super::merge_requests::{self, RequestRow};
use super::milestones::{self as milestone_pages, MilestoneRow};
use super::tracker::{Conditions, LabelChip, ORDERS, Person, Tab};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::forms::Choice;
use crate::frame::{Frame, Pager};
use crate::moment::{Moment, count};
use crate::render;
use crate::table::Pages;
use crate::visit::Visit;

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/dashboard/issues", own_issues);
    pages.get("/dashboard/merge_requests", own_requests);
    pages.get("/dashboard/milestones", milestones);
    pages.get("/dashboard/labels", labels);
    pages.get("/dashboard/todos", todos);
    pages.post("/dashboard/todos/done", all_todos_done);
    pages.post("/dashboard/todos/{id}/done", todo_done);
}

/// The links between things that are assigned to the visitor and those that the visitor wrote.
fn scopes(visit: &Visit) -> [Scope; 2] {
    let is_written = is_written(visit);
    [("Assigned to me", "assigned", !is_written), ("Created by me", "created", is_written)].map(
        |(name, word, is_current)| Scope {
            name,
            address: visit.address_with("scope", word),
            is_current,
        },
    )
}

struct Scope {
    name: &'static str,
    address: String,
    is_current: bool,
}

/// The form "Filter" of issues and merge requests: a text and an order.
struct TextFilter {
    scope: &'static str,
    state: &'static str,
    search: String,
    sorts: Vec<Choice>,
}

impl TextFilter {
    fn new(visit: &Visit, conditions: &Conditions, state: &'static str) -> Self {
        let sort = |(word, name)| Choice::new(word, name, word == conditions.sort);
        Self {
            scope: if is_written(visit) { "created" } else { "assigned" },
            state,
            search: conditions.search.clone().unwrap_or_default(),
            sorts: ORDERS.map(sort).to_vec(),
        }
    }
}

fn is_written(visit: &Visit) -> bool {
    visit.query("scope") == Some("created")
}

#[derive(Template)]
#[template(path = "dashboard_issues.html")]
struct IssuesPage {
    frame: Frame,
    scopes: [Scope; 2],
    tabs: [Tab; 3],
    filter: TextFilter,
    rows: Vec<IssueRow>,
    pager: Pager,
}

async fn own_issues(visit: Visit) -> PageResult<HttpResponse> {
    let (state, open) = issues::state_of(&visit);
    let conditions = Conditions::of(&visit);
    let (query, asked) = (issues::query_of(&conditions, open), visit.page());
    let which = if is_written(&visit) { OwnIssues::Written } else { OwnIssues::Assigned };
    let (viewer, found) = visit
        .run_signed_in(move |app, signed_in| {
            issue_page::list_own(app, signed_in.actor, which, &query, asked)
        })
        .await?;
    let frame = Frame::new(&visit, &viewer, "Issues");
    let row = |view| IssueRow::new(view, &[], &frame, true);
    let page = IssuesPage {
        scopes: scopes(&visit),
        filter: TextFilter::new(&visit, &conditions, state),
        tabs: issues::tabs(&visit, state, (found.open, found.closed)),
        rows: found.issues.items.iter().map(row).collect(),
        pager: Pager::new(&visit, found.issues.total),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "dashboard_merge_requests.html")]
struct RequestsPage {
    frame: Frame,
    scopes: [Scope; 2],
    tabs: [Tab; 4],
    filter: TextFilter,
    rows: Vec<RequestRow>,
    pager: Pager,
}

async fn own_requests(visit: Visit) -> PageResult<HttpResponse> {
    let (state, states) = merge_requests::state_of(&visit);
    let conditions = Conditions::of(&visit);
    let (query, asked) = (merge_requests::query_of(&conditions, states), visit.page());
    let which = if is_written(&visit) { OwnRequests::Written } else { OwnRequests::Assigned };
    let (viewer, (found, counts)) = visit
        .run_signed_in(move |app, signed_in| {
            request_page::list_own(app, signed_in.actor, which, &query, asked)
        })
        .await?;
    let frame = Frame::new(&visit, &viewer, "Merge requests");
    let row = |view| RequestRow::new(view, &[], &frame, true);
    let page = RequestsPage {
        scopes: scopes(&visit),
        filter: TextFilter::new(&visit, &conditions, state),
        tabs: merge_requests::tabs(&visit, state, counts),
        rows: found.items.iter().map(row).collect(),
        pager: Pager::new(&visit, found.total),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "dashboard_milestones.html")]
struct MilestonesPage {
    frame: Frame,
    tabs: [(&'static str, String, bool); 3],
    rows: Vec<MilestoneRow>,
    total: String,
    pager: Pager,
}

async fn milestones(visit: Visit) -> PageResult<HttpResponse> {
    let (word, state) = milestone_pages::state_of(&visit);
    let asked = visit.page();
    let (viewer, found) = visit
        .run_signed_in(move |app, who| dashboard::milestones(app, who.actor, state, asked))
        .await?;
    let row = |(milestone, path): &(_, String)| MilestoneRow::new(milestone, path, true);
    let page = MilestonesPage {
        frame: Frame::new(&visit, &viewer, "Milestones"),
        tabs: milestone_pages::tabs(&visit, word),
        rows: found.items.iter().map(row).collect(),
        total: count(found.total, "milestone"),
        pager: Pager::new(&visit, found.total),
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "dashboard_labels.html")]
struct LabelsPage {
    frame: Frame,
    rows: Vec<(LabelChip, String)>,
    total: String,
    pager: Pager,
}

async fn labels(visit: Visit) -> PageResult<HttpResponse> {
    let asked = visit.page();
    let (viewer, found) =
        visit.run_signed_in(move |app, who| dashboard::labels(app, who.actor, asked)).await?;
    let row = |label: &Label| {
        let all = std::slice::from_ref(label);
        let chip = LabelChip::new(label.title.as_str(), all, "/dashboard/issues");
        (chip, label.description.as_ref().map_or("", |text| text.as_str()).to_owned())
    };
    let page = LabelsPage {
        frame: Frame::new(&visit, &viewer, "Labels"),
        rows: found.items.iter().map(row).collect(),
        total: count(found.total, "label"),
        pager: Pager::new(&visit, found.total),
    };
    render::page(&visit, &viewer, &page)
}

/// A todo in the list.
struct TodoRow {
    id: i64,
    author: Person,
    /// What the author did: `assigned you`.
    action: &'static str,
    kind: &'static str,
    /// `root/ship#7`.
    reference: String,
    address: String,
    title: String,
    /// The text of the comment that caused the todo.
    note: String,
    is_pending: bool,
    at: Moment,
}

/// The longest part of a comment in the list, in characters.
const MAX_NOTE: usize = 200;

impl TodoRow {
    fn new(view: &TodoView, frame: &Frame) -> Self {
        let path = view.project.place.path_of(&view.project.project);
        let (kind, reference, address, title) = match &view.target {
            TodoTarget::Issue(issue) => {
                let iid = issue.issue.iid;
                let title = issue.issue.title.as_str().to_owned();
                ("issue", format!("{path}#{iid}"), format!("/{path}/issues/{iid}"), title)
            }
            TodoTarget::MergeRequest(request) => {
                let (iid, title) = (request.request.iid, request.request.title.as_str());
                let address = format!("/{path}/merge_requests/{iid}");
                ("merge request", format!("{path}!{iid}"), address, title.to_owned())
            }
            TodoTarget::Commit(id, commit) => {
                let (id, title) = (id.to_string(), commit.as_ref().map(|commit| commit.title()));
                let short: String = id.chars().take(8).collect();
                let title = title.unwrap_or_else(|| short.clone());
                ("commit", format!("{path}@{short}"), format!("/{path}/commit/{id}"), title)
            }
        };
        let anchor = view.todo.note.map(|note| format!("#note_{note}")).unwrap_or_default();
        let note = view.note.as_ref().map_or("", |note| note.as_str());
        Self {
            id: view.todo.id.0,
            author: Person::from(&view.author),
            action: match view.todo.action {
                TodoAction::Assigned => "assigned you",
                TodoAction::Mentioned => "mentioned you on",
                TodoAction::BuildFailed => "has a failed build in",
                TodoAction::Marked => "added a todo for",
            },
            kind,
            reference,
            address: format!("{address}{anchor}"),
            title,
            note: note.chars().take(MAX_NOTE).collect(),
            is_pending: view.todo.state == TodoState::Pending,
            at: frame.moment(view.todo.created_at),
        }
    }
}

#[derive(Template)]
#[template(path = "dashboard_todos.html")]
struct TodosPage {
    frame: Frame,
    tabs: [(&'static str, String, bool); 2],
    types: Vec<Choice>,
    actions: Vec<Choice>,
    state: &'static str,
    rows: Vec<TodoRow>,
    total: String,
    pager: Pager,
    may_mark_all: bool,
}

/// The filter in the query: the names are those of the API.
fn todo_listing(visit: &Visit) -> TodoListing {
    let action = visit.query("action").and_then(TodoAction::from_name);
    TodoListing {
        state: if visit.query("state") == Some("done") {
            TodoState::Done
        } else {
            TodoState::Pending
        },
        actions: action.into_iter().collect(),
        approval_required: false,
        author: None,
        project: None,
        kind: visit.query("type").and_then(TodoKind::from_name),
    }
}

async fn todos(visit: Visit) -> PageResult<HttpResponse> {
    let (listing, asked) = (todo_listing(&visit), visit.page());
    let is_done = listing.state == TodoState::Done;
    let (chosen, kind) =
        (listing.actions.first().copied(), visit.query("type").unwrap_or_default());
    let (viewer, found) =
        visit.run_signed_in(move |app, who| todo::list(app, who.actor, &listing, asked)).await?;
    let tab = |(name, word, is_current)| (name, visit.address_with("state", word), is_current);
    let mut actions = vec![Choice::new("", "Any action", chosen.is_none())];
    let names = ["Assigned", "Mentioned", "Build failed", "Marked"];
    let all = TodoAction::ALL.into_iter().zip(names);
    actions.extend(
        all.map(|(action, name)| Choice::new(action.as_str(), name, chosen == Some(action))),
    );
    let types = [("", "Any type"), ("Issue", "Issue"), ("MergeRequest", "Merge request")];
    let frame = Frame::new(&visit, &viewer, "Todos");
    let page = TodosPage {
        tabs: [("To do", "pending", !is_done), ("Done", "done", is_done)].map(tab),
        types: types.map(|(word, name)| Choice::new(word, name, word == kind)).to_vec(),
        actions,
        state: if is_done { "done" } else { "pending" },
        rows: found.items.iter().map(|view| TodoRow::new(view, &frame)).collect(),
        total: count(found.total, "todo"),
        pager: Pager::new(&visit, found.total),
        may_mark_all: !is_done && found.total > 0,
        frame,
    };
    render::page(&visit, &viewer, &page)
}

async fn todo_done(visit: Visit) -> PageResult<HttpResponse> {
    let id = TodoId(visit.id("id"));
    visit.run_signed_in(move |app, who| todo::mark_done(app, who.actor, id)).await?;
    Ok(render::see_other_with(&visit, "/dashboard/todos", Notice::Saved))
}

async fn all_todos_done(visit: Visit) -> PageResult<HttpResponse> {
    let listing = TodoListing {
        state: TodoState::Pending,
        actions: vec![],
        approval_required: false,
        author: None,
        project: None,
        kind: None,
    };
    visit.run_signed_in(move |app, who| todo::mark_all_done(app, who.actor, &listing)).await?;
    Ok(render::see_other_with(&visit, "/dashboard/todos", Notice::Saved))
}
