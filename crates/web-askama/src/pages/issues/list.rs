//! The issues of a project.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::issue::page::{self, IssueList, IssueQuery};
use hexforge_application::project::page as project_page;
use hexforge_application::view::issue::IssueView;
use hexforge_domain::issue::query::IssueOrder;
use hexforge_domain::label::Label;
use hexforge_domain::policy::tracker::TrackerAbility;

use crate::error::PageResult;
use crate::frame::{Frame, Pager};
use crate::moment::{Moment, count};
use crate::pages::project::{frame_of, other_spelling};
use crate::pages::tracker::{Conditions, Filter, LabelChip, Person, Tab};
use crate::render;
use crate::visit::Visit;

/// An issue in a list.
pub(in crate::pages) struct IssueRow {
    pub(in crate::pages) address: String,
    /// `#7`, with the project in lists of several projects.
    pub(in crate::pages) reference: String,
    pub(in crate::pages) title: String,
    pub(in crate::pages) is_open: bool,
    pub(in crate::pages) is_confidential: bool,
    pub(in crate::pages) author: Person,
    pub(in crate::pages) assignee: Option<Person>,
    pub(in crate::pages) milestone: Option<String>,
    pub(in crate::pages) due: Option<String>,
    pub(in crate::pages) labels: Vec<LabelChip>,
    pub(in crate::pages) comments: String,
    pub(in crate::pages) at: Moment,
}

impl IssueRow {
    /// The row of an issue. `labels` are those whose colors are known.
    pub(in crate::pages) fn new(
        view: &IssueView,
        labels: &[Label],
        frame: &Frame,
        is_of_many: bool,
    ) -> Self {
        let (issue, list) = (&view.issue, format!("/{}/issues", view.project_path));
        let project = if is_of_many { view.project_path.as_str() } else { "" };
        Self {
            address: format!("{list}/{}", issue.iid),
            reference: format!("{project}#{}", issue.iid),
            title: issue.title.as_str().to_owned(),
            is_open: issue.state.is_open(),
            is_confidential: issue.confidential,
            author: Person::from(&view.author),
            assignee: view.assignee.as_ref().map(Person::from),
            milestone: view.milestone.as_ref().map(|one| one.title.as_str().to_owned()),
            due: issue.due_date.map(|day| day.to_string()),
            labels: LabelChip::all(&view.labels, labels, &list),
            comments: count(issue.user_notes_count.into(), "comment"),
            at: frame.moment(issue.created_at),
        }
    }
}

#[derive(Template)]
#[template(path = "issues.html")]
struct ListPage {
    frame: Frame,
    base: String,
    tabs: [Tab; 3],
    filter: Filter,
    rows: Vec<IssueRow>,
    pager: Pager,
    may_create: bool,
}

/// The states of the tabs: the word in the query, and the condition.
pub(in crate::pages) fn state_of(visit: &Visit) -> (&'static str, Option<bool>) {
    match visit.query("state") {
        Some("closed") => ("closed", Some(false)),
        Some("all") => ("all", None),
        _ => ("opened", Some(true)),
    }
}

/// The query of a list of issues.
pub(in crate::pages) fn query_of(conditions: &Conditions, open: Option<bool>) -> IssueQuery {
    IssueQuery {
        open,
        author: conditions.author,
        assignee: conditions.assignee,
        milestone: conditions.milestone.clone(),
        labels: conditions.labels.clone(),
        search: conditions.search.clone(),
        order: match conditions.is_by_update() {
            true => IssueOrder::UpdatedAt,
            false => IssueOrder::CreatedAt,
        },
        descending: conditions.is_descending(),
    }
}

/// The tabs of a list of issues.
pub(in crate::pages) fn tabs(visit: &Visit, state: &str, (open, closed): (u64, u64)) -> [Tab; 3] {
    let tab = |names, count| Tab::new(visit, names, count, state);
    [
        tab(("Open", "opened"), open),
        tab(("Closed", "closed"), closed),
        tab(("All", "all"), open + closed),
    ]
}

pub(super) async fn list(visit: Visit) -> PageResult<HttpResponse> {
    let (named, asked) = (visit.project(), visit.page());
    let conditions = Conditions::of(&visit);
    let (state, open) = state_of(&visit);
    let query = query_of(&conditions, open);
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
    let IssueList { issues, open, closed, labels, choices } = found;
    let frame = Frame::of_project(&visit, &viewer, "Issues", frame_of(&project, "Issues"));
    let page = ListPage {
        base: format!("/{}", project.path()),
        tabs: tabs(&visit, state, (open, closed)),
        filter: conditions.filter(&choices, state),
        rows: issues.items.iter().map(|view| IssueRow::new(view, &labels, &frame, false)).collect(),
        pager: Pager::new(&visit, issues.total),
        may_create: project.may_track(TrackerAbility::CreateIssues),
        frame,
    };
    render::page(&visit, &viewer, &page)
}
