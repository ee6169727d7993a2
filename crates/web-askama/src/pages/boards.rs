//! The board of a project.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::board::page::{self, BoardPage, Column, ColumnPage};
use hexforge_application::board::{self, ListRef};
use hexforge_application::error::{Entity, Error};
use hexforge_application::project::page::{self as project_page, ProjectPage};
use hexforge_application::view::issue::IssueView;
use hexforge_domain::id::{self, BoardId, BoardListId, LabelId};
use hexforge_domain::label::Label;
use hexforge_domain::policy::tracker::TrackerAbility;

use super::issues::IssueRow;
use super::project::{frame_of, other_spelling};
use super::tracker::number;
use crate::address;
use crate::assets;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::Choice;
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/board", redirect);
    pages.get("/{namespace}/{project}/boards", show);
    pages.get("/{namespace}/{project}/boards/{id}", show);
    pages.post("/{namespace}/{project}/boards/{id}/move", move_card);
    pages.post("/{namespace}/{project}/boards/{id}/lists", add_list);
    pages.post("/{namespace}/{project}/boards/{id}/lists/default", add_default_lists);
    pages.post("/{namespace}/{project}/boards/{id}/lists/{list}/move", move_list);
    pages.post("/{namespace}/{project}/boards/{id}/lists/{list}/delete", delete_list);
}

#[derive(Template)]
#[template(path = "board.html")]
struct Show {
    frame: Frame,
    script: String,
    /// The address of the board.
    one: String,
    columns: Vec<ColumnView>,
    labels: Vec<Choice>,
    faults: Faults,
    may_move: bool,
    may_administer: bool,
    may_delete_lists: bool,
    has_lists: bool,
}

/// A column with its cards.
struct ColumnView {
    /// The value of the column in forms.
    value: String,
    name: String,
    color: Option<String>,
    cards: Vec<Card>,
    total: u64,
    /// The list of all issues of the column.
    all: String,
    /// The list, if the column is one.
    list: Option<ListView>,
}

struct ListView {
    id: i64,
    left: Option<i32>,
    right: Option<i32>,
}

/// An issue on the board.
struct Card {
    iid: i64,
    row: IssueRow,
    targets: Vec<Choice>,
}

/// The value of a column in forms.
fn value_of(column: Column) -> String {
    match column {
        Column::Backlog => "backlog".to_owned(),
        Column::Done => "done".to_owned(),
        Column::List(list) => list.to_string(),
    }
}

fn column_of(value: &str) -> Option<Column> {
    match value {
        "backlog" => Some(Column::Backlog),
        "done" => Some(Column::Done),
        value => id::parse(value).map(|id| Column::List(BoardListId(id))),
    }
}

fn name_of(column: &ColumnPage) -> String {
    match (&column.list, column.column) {
        (Some(list), _) => list.label.title.as_str().to_owned(),
        (None, Column::Done) => "Done".to_owned(),
        (None, Column::Backlog | Column::List(_)) => "Backlog".to_owned(),
    }
}

impl ColumnView {
    fn new(
        column: &ColumnPage,
        (names, count): (&[(String, String)], i32),
        labels: &[Label],
        frame: &Frame,
        base: &str,
    ) -> Self {
        let value = value_of(column.column);
        let name = name_of(column);
        let card = |view: &IssueView| Card {
            iid: view.issue.iid,
            row: IssueRow::new(view, labels, frame, false),
            targets: names
                .iter()
                .map(|(word, name)| Choice::new(word, name, *word == value))
                .collect(),
        };
        let query = match (&column.list, column.column) {
            (Some(_), _) => address::query([("label_name[]", name.as_str())]),
            (None, Column::Done) => "state=closed".to_owned(),
            (None, _) => "state=opened".to_owned(),
        };
        let list = column.list.as_ref().map(|list| ListView {
            id: list.list.id.0,
            left: (list.list.position > 0).then(|| list.list.position - 1),
            right: (list.list.position + 1 < count).then(|| list.list.position + 1),
        });
        Self {
            color: column.list.as_ref().map(|list| list.label.color.as_str().to_owned()),
            cards: column.issues.iter().map(card).collect(),
            total: column.total,
            all: format!("{base}/issues?{query}"),
            list,
            value,
            name,
        }
    }
}

fn build(
    visit: &Visit,
    viewer: &Viewer,
    project: &ProjectPage,
    found: &BoardPage,
    faults: Faults,
) -> Show {
    let frame = Frame::of_project(visit, viewer, "Board", frame_of(project, "Boards"));
    let base = format!("/{}", project.path());
    let names: Vec<(String, String)> =
        found.columns.iter().map(|one| (value_of(one.column), name_of(one))).collect();
    let count = found.columns.iter().filter(|column| column.list.is_some()).count();
    let size = i32::try_from(count).unwrap_or(i32::MAX);
    let column = |one| ColumnView::new(one, (&names, size), &found.labels, &frame, &base);
    let label =
        |label: &Label| Choice::new(label.shown_id().to_string(), label.title.as_str(), false);
    Show {
        script: assets::board().address().to_owned(),
        one: format!("{base}/boards/{}", found.board),
        columns: found.columns.iter().map(column).collect(),
        labels: found.free_labels.iter().map(label).collect(),
        faults,
        may_move: project.may_track(TrackerAbility::AdministerIssues),
        may_administer: project.may_track(TrackerAbility::AdministerLists),
        may_delete_lists: project.may_track(visit.ability_to_delete_lists()),
        has_lists: count > 0,
        frame,
    }
}

async fn redirect(visit: Visit) -> PageResult<HttpResponse> {
    let named = visit.project();
    let (_, project) =
        visit.run(move |app, viewer| project_page::get(app, viewer.actor(), &named)).await?;
    render::moved(&format!("/{}/boards", project.path()))
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    show_with(&visit, StatusCode::OK, Faults::default()).await
}

async fn show_with(visit: &Visit, status: StatusCode, faults: Faults) -> PageResult<HttpResponse> {
    let named = visit.project();
    let given = visit.param("id");
    let (viewer, (project, found)) = visit
        .run(move |app, viewer| {
            let project = project_page::get(app, viewer.actor(), &named)?;
            let found = page::show(app, viewer.actor(), &named)?;
            if !given.is_empty() && given != found.board.to_string() {
                return Err(Error::NotFound(Entity::Board));
            }
            Ok((project, found))
        })
        .await?;
    if status == StatusCode::OK
        && let Some(redirect) = other_spelling(visit, &project)
    {
        return Ok(redirect);
    }
    let page = build(visit, &viewer, &project, &found, faults);
    Ok(render::page_with(status, visit, &viewer, &page))
}

/// The address of the board of a form.
fn address_of(visit: &Visit) -> String {
    let [namespace, project] = ["namespace", "project"].map(|name| visit.param(name));
    address::path(format!("/{namespace}/{project}/boards"))
}

fn saved(visit: &Visit) -> HttpResponse {
    render::see_other_with(visit, &address_of(visit), Notice::Saved)
}

async fn move_card(visit: Visit) -> PageResult<HttpResponse> {
    let (named, board) = (visit.project(), BoardId(number(&visit, "id")?));
    let form = visit.form();
    let columns = column_of(form.text("from")).zip(column_of(form.text("to")));
    let (Some(columns), Some(iid)) = (columns, id::parse(form.text("iid"))) else {
        let faults = Faults::of_form("choose an issue and a list of this board");
        return show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults).await;
    };
    let (_, done) = visit
        .submit(move |app, who| page::move_issue(app, who.actor, &named, board, iid, columns))
        .await?;
    match done {
        Ok(_) => Ok(saved(&visit)),
        Err(faults) => show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults).await,
    }
}

async fn add_list(visit: Visit) -> PageResult<HttpResponse> {
    let (named, board) = (visit.project(), BoardId(number(&visit, "id")?));
    let label = LabelId(id::parse(visit.form().text("label_id")).unwrap_or_default());
    let (_, done) =
        visit.submit(move |app, who| board::add_list(app, who.actor, &named, board, label)).await?;
    match done {
        Ok(_) => Ok(saved(&visit)),
        Err(faults) => show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults).await,
    }
}

async fn add_default_lists(visit: Visit) -> PageResult<HttpResponse> {
    let (named, board) = (visit.project(), BoardId(number(&visit, "id")?));
    visit
        .run_signed_in(move |app, who| page::add_default_lists(app, who.actor, &named, board))
        .await?;
    Ok(saved(&visit))
}

async fn move_list(visit: Visit) -> PageResult<HttpResponse> {
    let named = visit.project();
    let list = list_of(&visit)?;
    let position = id::parse(visit.form().text("position")).unwrap_or(-1);
    let (_, done) = visit
        .submit(move |app, who| board::move_list(app, who.actor, &named, list, position))
        .await?;
    match done {
        Ok(_) => Ok(saved(&visit)),
        Err(faults) => show_with(&visit, StatusCode::UNPROCESSABLE_ENTITY, faults).await,
    }
}

async fn delete_list(visit: Visit) -> PageResult<HttpResponse> {
    let named = visit.project();
    let list = list_of(&visit)?;
    let ability = visit.ability_to_delete_lists();
    visit
        .run_signed_in(move |app, who| board::delete_list(app, who.actor, &named, list, ability))
        .await?;
    Ok(saved(&visit))
}

fn list_of(visit: &Visit) -> PageResult<ListRef> {
    let (board, list) = (number(visit, "id")?, number(visit, "list")?);
    Ok(ListRef { board: BoardId(board), list: BoardListId(list) })
}
