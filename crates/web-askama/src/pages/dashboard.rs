//! Issues and merge requests of the visitor in all projects.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::issue::page::{self as issue_page, OwnIssues};
use hexforge_application::merge_request::page::{self as request_page, OwnRequests};

use super::issues::{self, IssueRow};
use super::merge_requests::{self, RequestRow};
use super::tracker::{Conditions, Tab};
use crate::error::PageResult;
use crate::frame::{Frame, Pager};
use crate::render;
use crate::table::Pages;
use crate::visit::Visit;

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/dashboard/issues", own_issues);
    pages.get("/dashboard/merge_requests", own_requests);
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

fn is_written(visit: &Visit) -> bool {
    visit.query("scope") == Some("created")
}

#[derive(Template)]
#[template(path = "dashboard_issues.html")]
struct IssuesPage {
    frame: Frame,
    scopes: [Scope; 2],
    tabs: [Tab; 3],
    rows: Vec<IssueRow>,
    pager: Pager,
}

async fn own_issues(visit: Visit) -> PageResult<HttpResponse> {
    let (state, open) = issues::state_of(&visit);
    let (query, asked) = (issues::query_of(&Conditions::of(&visit), open), visit.page());
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
    rows: Vec<RequestRow>,
    pager: Pager,
}

async fn own_requests(visit: Visit) -> PageResult<HttpResponse> {
    let (state, states) = merge_requests::state_of(&visit);
    let (query, asked) = (merge_requests::query_of(&Conditions::of(&visit), states), visit.page());
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
        tabs: merge_requests::tabs(&visit, state, counts),
        rows: found.items.iter().map(row).collect(),
        pager: Pager::new(&visit, found.total),
        frame,
    };
    render::page(&visit, &viewer, &page)
}
