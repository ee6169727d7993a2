//! Issues, merge requests, milestones and labels of the projects of a group.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::group::page::{self as group_page, GroupPage};
use hexforge_application::issue::page as issue_page;
use hexforge_application::label::group::{self as group_label, GroupLabelView};
use hexforge_application::label::{LabelChanges, LabelFields};
use hexforge_application::merge_request::page as request_page;
use hexforge_domain::label::ColorRule;
use hexforge_domain::milestone::MilestoneState;
use hexforge_domain::paging::Paged;
use hexforge_domain::policy::group::GroupAbility;

use super::super::issues::{self, IssueRow};
use super::super::merge_requests::{self, RequestRow};
use super::super::milestones::MilestoneRow;
use super::super::tracker::{Conditions, Tab};
use super::{GroupFrame, frame_of, named, other_spelling, spelled};
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::frame::{Frame, Pager};
use crate::moment::count;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/groups/{path}/issues", issues);
    pages.get("/groups/{path}/merge_requests", merge_requests);
    pages.get("/groups/{path}/milestones", milestones);
    pages.get("/groups/{path}/labels", labels);
    pages.post("/groups/{path}/labels", create_label);
    pages.post("/groups/{path}/labels/update", update_label);
    pages.post("/groups/{path}/labels/delete", delete_label);
}

#[derive(Template)]
#[template(path = "group/issues.html")]
struct IssuesPage {
    frame: Frame,
    group: GroupFrame,
    tabs: [Tab; 3],
    search: String,
    rows: Vec<IssueRow>,
    pager: Pager,
}

async fn issues(visit: Visit) -> PageResult<HttpResponse> {
    let (state, open) = issues::state_of(&visit);
    let (query, asked) = (issues::query_of(&Conditions::of(&visit), open), visit.page());
    let named = named(&visit);
    let (viewer, (found, list)) = visit
        .run(move |app, viewer| {
            let named = spelled(app, &named)?;
            let found = group_page::get(app, viewer.actor(), &named)?;
            let list = issue_page::list_of_group(app, viewer.actor(), &named, &query, asked)?;
            Ok((found, list))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &visit.param("path"), &found.group) {
        return Ok(redirect);
    }
    let frame = frame_of(&visit, &viewer, "Issues", &found.group);
    let row = |view| IssueRow::new(view, &[], &frame, true);
    let page = IssuesPage {
        group: GroupFrame::new(&found, "Issues"),
        tabs: issues::tabs(&visit, state, (list.open, list.closed)),
        search: visit.query("search").unwrap_or_default().to_owned(),
        rows: list.issues.items.iter().map(row).collect(),
        pager: Pager::new(&visit, list.issues.total),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "group/merge_requests.html")]
struct RequestsPage {
    frame: Frame,
    group: GroupFrame,
    tabs: [Tab; 4],
    search: String,
    state: &'static str,
    rows: Vec<RequestRow>,
    pager: Pager,
}

async fn merge_requests(visit: Visit) -> PageResult<HttpResponse> {
    let (state, states) = merge_requests::state_of(&visit);
    let (query, asked) = (merge_requests::query_of(&Conditions::of(&visit), states), visit.page());
    let named = named(&visit);
    let (viewer, (found, (requests, counts))) = visit
        .run(move |app, viewer| {
            let named = spelled(app, &named)?;
            let found = group_page::get(app, viewer.actor(), &named)?;
            let list = request_page::list_of_group(app, viewer.actor(), &named, &query, asked)?;
            Ok((found, list))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &visit.param("path"), &found.group) {
        return Ok(redirect);
    }
    let frame = frame_of(&visit, &viewer, "Merge requests", &found.group);
    let row = |view| RequestRow::new(view, &[], &frame, true);
    let page = RequestsPage {
        group: GroupFrame::new(&found, "Merge requests"),
        tabs: merge_requests::tabs(&visit, state, counts),
        search: visit.query("search").unwrap_or_default().to_owned(),
        state,
        rows: requests.items.iter().map(row).collect(),
        pager: Pager::new(&visit, requests.total),
        frame,
    };
    render::page(&visit, &viewer, &page)
}

#[derive(Template)]
#[template(path = "group/milestones.html")]
struct MilestonesPage {
    frame: Frame,
    group: GroupFrame,
    /// The names and addresses of the tabs, and whether each is the current one.
    tabs: [(&'static str, String, bool); 3],
    rows: Vec<MilestoneRow>,
    pager: Pager,
}

async fn milestones(visit: Visit) -> PageResult<HttpResponse> {
    let (named, page) = (named(&visit), visit.page());
    let (word, state) = match visit.query("state") {
        Some("closed") => ("closed", Some(MilestoneState::Closed)),
        Some("all") => ("all", None),
        _ => ("active", Some(MilestoneState::Active)),
    };
    let (viewer, (found, list)) = visit
        .run(move |app, viewer| {
            let named = spelled(app, &named)?;
            group_page::milestones(app, viewer.actor(), &named, state, page)
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &visit.param("path"), &found.group) {
        return Ok(redirect);
    }
    let tab = |(name, known)| (name, visit.address_with("state", known), known == word);
    let page = MilestonesPage {
        frame: frame_of(&visit, &viewer, "Milestones", &found.group),
        group: GroupFrame::new(&found, "Milestones"),
        tabs: [("Open", "active"), ("Closed", "closed"), ("All", "all")].map(tab),
        rows: list
            .items
            .iter()
            .map(|(milestone, path)| MilestoneRow::new(milestone, path, true))
            .collect(),
        pager: Pager::new(&visit, list.total),
    };
    render::page(&visit, &viewer, &page)
}

/// A label in the list.
struct LabelRow {
    number: usize,
    title: String,
    color: String,
    description: String,
    issues: String,
}

#[derive(Template)]
#[template(path = "group/labels.html")]
struct LabelsPage {
    frame: Frame,
    group: GroupFrame,
    rows: Vec<LabelRow>,
    pager: Pager,
    may_change: bool,
    /// What is wrong with the form of a new label, and what was typed.
    faults: Faults,
    title: String,
    description: String,
    color: String,
    /// What is wrong with the form of a row.
    row_faults: Faults,
}

/// The faults of the form of a new label, and those of a row.
#[derive(Default)]
struct AllFaults {
    new: Faults,
    row: Faults,
}

async fn load(visit: &Visit) -> PageResult<(Viewer, (GroupPage, Paged<GroupLabelView>))> {
    let (named, page) = (named(visit), visit.page());
    visit
        .run(move |app, viewer| {
            let named = spelled(app, &named)?;
            let found = group_page::get(app, viewer.actor(), &named)?;
            Ok((found, group_label::list(app, viewer.actor(), &named, page)?))
        })
        .await
}

async fn labels(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, (found, list)) = load(&visit).await?;
    if let Some(redirect) = other_spelling(&visit, &visit.param("path"), &found.group) {
        return Ok(redirect);
    }
    Ok(show_labels(&visit, &viewer, StatusCode::OK, (found, list), AllFaults::default()))
}

fn show_labels(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    (found, list): (GroupPage, Paged<GroupLabelView>),
    faults: AllFaults,
) -> HttpResponse {
    let form = visit.form();
    let row = |(number, GroupLabelView { label, counts }): (usize, &GroupLabelView)| LabelRow {
        number,
        title: label.title.as_str().to_owned(),
        color: label.color.as_str().to_owned(),
        description: label.description.as_ref().map_or("", |text| text.as_str()).to_owned(),
        issues: count(counts.open.into(), "open issue"),
    };
    let is_new = !faults.new.is_empty();
    let typed = |name: &str| if is_new { form.text(name).to_owned() } else { String::new() };
    let page = LabelsPage {
        frame: frame_of(visit, viewer, "Labels", &found.group),
        group: GroupFrame::new(&found, "Labels"),
        rows: list.items.iter().enumerate().map(row).collect(),
        pager: Pager::new(visit, list.total),
        may_change: found.may(GroupAbility::CreateProjects),
        title: typed("title"),
        description: typed("description"),
        color: if is_new { typed("color") } else { "#428BCA".to_owned() },
        faults: faults.new,
        row_faults: faults.row,
    };
    render::page_with(status, visit, viewer, &page)
}

fn back(visit: &Visit, notice: Notice) -> HttpResponse {
    let address = format!("/groups/{}/labels", crate::address::path(visit.param("path")));
    render::see_other_with(visit, &address, notice)
}

/// A field that was filled in.
fn filled(visit: &Visit, name: &str) -> Option<String> {
    visit.form().given(name).filter(|text| !text.is_empty()).map(str::to_owned)
}

async fn create_label(visit: Visit) -> PageResult<HttpResponse> {
    let named = named(&visit);
    let fields = LabelFields {
        name: visit.form().text("title").to_owned(),
        color: visit.form().text("color").to_owned(),
        description: filled(&visit, "description"),
        priority: None,
    };
    let (_, made) = visit
        .submit(move |app, signed_in| {
            let rule = ColorRule::LongOrShort;
            group_label::create(app, signed_in.actor, &named, rule, &fields).map(drop)
        })
        .await?;
    match made {
        Ok(()) => Ok(back(&visit, Notice::Created)),
        Err(new) => {
            let (viewer, loaded) = load(&visit).await?;
            let faults = AllFaults { new, ..AllFaults::default() };
            Ok(show_labels(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, loaded, faults))
        }
    }
}

async fn update_label(visit: Visit) -> PageResult<HttpResponse> {
    let named = named(&visit);
    let changes = LabelChanges {
        name: visit.form().text("label").to_owned(),
        new_name: filled(&visit, "title"),
        color: filled(&visit, "color"),
        description: visit.form().given("description").map(str::to_owned),
        priority: None,
    };
    let (_, changed) = visit
        .submit(move |app, signed_in| {
            let rule = ColorRule::LongOrShort;
            group_label::update(app, signed_in.actor, &named, rule, &changes).map(drop)
        })
        .await?;
    match changed {
        Ok(()) => Ok(back(&visit, Notice::Saved)),
        Err(row) => {
            let (viewer, loaded) = load(&visit).await?;
            let faults = AllFaults { row, ..AllFaults::default() };
            Ok(show_labels(&visit, &viewer, StatusCode::UNPROCESSABLE_ENTITY, loaded, faults))
        }
    }
}

async fn delete_label(visit: Visit) -> PageResult<HttpResponse> {
    let (named, title) = (named(&visit), visit.form().text("label").to_owned());
    visit
        .run_signed_in(move |app, signed_in| {
            group_label::delete(app, signed_in.actor, &named, &title).map(drop)
        })
        .await?;
    Ok(back(&visit, Notice::Removed))
}
