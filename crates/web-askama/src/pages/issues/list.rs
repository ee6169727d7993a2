//! The issues of a project.

use actix_web::HttpResponse;
use askama::Template;
use hexforge_application::issue::bulk::{self, BulkChange, BulkOutcome};
use hexforge_application::issue::page::{self, IssueList, IssueQuery};
use hexforge_application::project::page as project_page;
use hexforge_application::view::issue::IssueView;
use hexforge_domain::id;
use hexforge_domain::issue::query::IssueOrder;
use hexforge_domain::label::{Label, LabelTitle};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::tracker::TrackerAbility;

use super::form::description;
use crate::address;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::feed::{self, ENTRIES, Feed, FeedEntry};
use crate::frame::{Frame, Pager};
use crate::moment::{Moment, count};
use crate::pages::activity::feed_reader;
use crate::pages::discussion::state_event;
use crate::pages::project::{frame_of, other_spelling};
use crate::pages::tracker::{Conditions, Filter, LabelChip, Person, Tab};
use crate::render;
use crate::visit::Visit;

/// An issue in a list.
pub(in crate::pages) struct IssueRow {
    pub(in crate::pages) address: String,
    pub(in crate::pages) iid: i64,
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
            iid: issue.iid,
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
    /// The titles of labels for the form that changes several issues; `None` without the right.
    labels: Option<Vec<String>>,
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
    let mut frame = Frame::of_project(&visit, &viewer, "Issues", frame_of(&project, "Issues"));
    frame.feed = Some(format!("/{}/issues.atom", project.path()));
    let titles = choices.labels.iter().map(|label| label.title.as_str().to_owned()).collect();
    let page = ListPage {
        labels: project.may_track(TrackerAbility::AdministerIssues).then_some(titles),
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

/// The newest issues that match the query, as a feed.
pub(super) async fn feed(visit: Visit) -> PageResult<HttpResponse> {
    let (named, token) = (visit.project(), visit.feed_token());
    let query = query_of(&Conditions::of(&visit), state_of(&visit).1);
    let first = Page::Numbered { number: 1, size: ENTRIES as u64 };
    let (_, (path, found)) = visit
        .run(move |app, viewer| {
            let actor = feed_reader(app, viewer, token.as_deref())?;
            let project = project_page::get(app, actor, &named)?;
            Ok((project.path(), page::list(app, actor, &named, &query, first)?))
        })
        .await?;
    let given = format!("{}/{}", visit.param("namespace"), visit.param("project"));
    if given != path {
        return render::moved(&format!("/{path}/issues.atom"));
    }
    let entry = |view: &IssueView| FeedEntry {
        page: format!("/{path}/issues/{}", view.issue.iid),
        title: view.issue.title.as_str().to_owned(),
        author: view.author.name.as_str().to_owned(),
        updated: view.issue.updated_at,
        summary: description(view).to_owned(),
    };
    let entries = found.issues.items.iter().map(entry).collect();
    let page = format!("/{path}/issues");
    feed::send(&visit, Feed { title: format!("{path} issues"), page, entries })
}

/// Closes, reopens or labels the chosen issues.
pub(super) async fn change_several(visit: Visit) -> PageResult<HttpResponse> {
    let (named, form) = (visit.project(), visit.form());
    let iids: Vec<i64> = form.all("iid").filter_map(id::parse).collect();
    let label = |name: &str| match form.text(name) {
        "" => Ok(None),
        title => LabelTitle::parse(title).map(Some),
    };
    let command = state_event(form);
    let change = label("add_label")
        .and_then(|added| Ok(BulkChange { command, added, removed: label("remove_label")? }));
    let chosen = iids.len();
    let (_, done) = visit
        .submit(move |app, signed_in| {
            bulk::change(app, signed_in.actor, &named, &iids, &change.clone()?)
        })
        .await?;
    let [namespace, project] = ["namespace", "project"].map(|name| visit.param(name));
    let address = address::path(format!("/{namespace}/{project}/issues"));
    let notice = match done {
        Ok(BulkOutcome { changed, error: Some(cause) }) => {
            tracing::error!(%cause, changed, chosen, "not all chosen issues were changed");
            let [changed, chosen] = [changed, chosen].map(|n| u8::try_from(n).unwrap_or(u8::MAX));
            Notice::Partly { changed, chosen }
        }
        Ok(_) if chosen > 0 => Notice::Saved,
        Ok(_) | Err(_) => Notice::Refused,
    };
    Ok(render::see_other_with(&visit, &address, notice))
}
