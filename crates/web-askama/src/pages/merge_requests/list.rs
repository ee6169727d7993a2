//! The merge requests into a project.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::merge_request::page::{self, RequestCounts, RequestList, RequestQuery};
use hexforge_application::project::page as project_page;
use hexforge_application::view::merge_request::MergeRequestView;
use hexforge_domain::label::Label;
use hexforge_domain::merge_request::MergeRequestState;
use hexforge_domain::merge_request::query::{MergeRequestOrder, RequestConditions, StateFilter};
use hexforge_domain::policy::merge_request::RequestsAbility;

use crate::error::PageResult;
use crate::frame::{Frame, Pager};
use crate::moment::{Moment, count};
use crate::pages::project::{frame_of, other_spelling};
use crate::pages::tracker::{Conditions, Filter, LabelChip, Person, Tab};
use crate::render;
use crate::visit::Visit;

/// A merge request in a list.
pub(in crate::pages) struct RequestRow {
    pub(in crate::pages) address: String,
    /// `!7`, with the project in lists of several projects.
    pub(in crate::pages) reference: String,
    pub(in crate::pages) title: String,
    pub(in crate::pages) state: &'static str,
    pub(in crate::pages) author: Person,
    pub(in crate::pages) assignee: Option<Person>,
    pub(in crate::pages) milestone: Option<String>,
    pub(in crate::pages) target: String,
    pub(in crate::pages) labels: Vec<LabelChip>,
    pub(in crate::pages) comments: String,
    pub(in crate::pages) at: Moment,
}

/// The name of a state.
pub(in crate::pages) fn state_name(state: MergeRequestState) -> &'static str {
    match state {
        MergeRequestState::Closed => "Closed",
        MergeRequestState::Merged => "Merged",
        _ => "Open",
    }
}

impl RequestRow {
    /// The row of a merge request. `labels` are those whose colors are known.
    pub(in crate::pages) fn new(
        view: &MergeRequestView,
        labels: &[Label],
        frame: &Frame,
        is_of_many: bool,
    ) -> Self {
        let (request, list) = (&view.request, format!("/{}/merge_requests", view.project_path));
        let project = if is_of_many { view.project_path.as_str() } else { "" };
        Self {
            address: format!("{list}/{}", request.iid),
            reference: format!("{project}!{}", request.iid),
            title: request.title.as_str().to_owned(),
            state: state_name(request.state),
            author: Person::from(&view.author),
            assignee: view.assignee.as_ref().map(Person::from),
            milestone: view.milestone.as_ref().map(|one| one.title.as_str().to_owned()),
            target: request.ends.target_branch.as_str().to_owned(),
            labels: LabelChip::all(&view.labels, labels, &list),
            comments: count(request.user_notes_count.into(), "comment"),
            at: frame.moment(request.created_at),
        }
    }
}

#[derive(Template)]
#[template(path = "merge_requests.html")]
struct ListPage {
    frame: Frame,
    base: String,
    tabs: [Tab; 4],
    filter: Filter,
    rows: Vec<RequestRow>,
    pager: Pager,
    may_create: bool,
}

/// The state in the query: the word, and the condition.
pub(in crate::pages) fn state_of(visit: &Visit) -> (&'static str, StateFilter) {
    match visit.query("state") {
        Some("closed") => ("closed", StateFilter::Closed),
        Some("merged") => ("merged", StateFilter::Merged),
        Some("all") => ("all", StateFilter::All),
        _ => ("opened", StateFilter::Open),
    }
}

/// The query of a list of merge requests.
pub(in crate::pages) fn query_of(conditions: &Conditions, states: StateFilter) -> RequestQuery {
    RequestQuery {
        states,
        conditions: RequestConditions {
            author: conditions.author,
            assignee: conditions.assignee,
            milestone: conditions.milestone.clone(),
            labels: conditions.labels.clone(),
            search: conditions.search.clone(),
        },
        order: match conditions.is_by_update() {
            true => MergeRequestOrder::UpdatedAt,
            false => MergeRequestOrder::CreatedAt,
        },
        descending: conditions.is_descending(),
    }
}

/// The tabs of a list of merge requests.
pub(in crate::pages) fn tabs(visit: &Visit, state: &str, counts: RequestCounts) -> [Tab; 4] {
    let RequestCounts { open, merged, closed } = counts;
    let tab = |names, count| Tab::new(visit, names, count, state);
    [
        tab(("Open", "opened"), open),
        tab(("Merged", "merged"), merged),
        tab(("Closed", "closed"), closed),
        tab(("All", "all"), open + merged + closed),
    ]
}

pub(super) async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let (named, asked) = (visit.project(), visit.page());
    let conditions = Conditions::of(&visit);
    let (state, states) = state_of(&visit);
    let query = query_of(&conditions, states);
    let (viewer, (project, found)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            let found = page::list(app, viewer.actor(), &named, &query, asked)?;
            Ok((project, found))
        })
        .await?;
    if let Some(redirect) = other_spelling(&visit, &project) {
        return Ok(redirect);
    }
    let RequestList { requests, counts, labels, choices } = found;
    let section = frame_of(&project, "Merge requests");
    let frame = Frame::of_project(&visit, &viewer, "Merge requests", section);
    let row = |view| RequestRow::new(view, &labels, &frame, false);
    let page = ListPage {
        base: format!("/{}", project.path()),
        tabs: tabs(&visit, state, counts),
        filter: conditions.filter(&choices, state),
        rows: requests.items.iter().map(row).collect(),
        pager: Pager::new(&visit, requests.total),
        may_create: project.may_request(RequestsAbility::CreateFrom),
        frame,
    };
    render::page(&visit, &viewer, &page)
}
