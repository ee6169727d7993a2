//! Boards and their lists.

use hexforge_application::view::board::{BoardView, ListView};
use hexforge_domain::label::LabelDescription;
use serde::Serialize;
use utoipa::ToSchema;

/// A board in a response.
#[derive(Serialize, ToSchema)]
pub struct BoardJson<'a> {
    id: i64,
    lists: Vec<ListJson<'a>>,
}

impl<'a> From<&'a BoardView> for BoardJson<'a> {
    fn from(view: &'a BoardView) -> Self {
        Self { id: view.board.id.0, lists: view.lists.iter().map(ListJson::from).collect() }
    }
}

/// A list of a board in a response.
#[derive(Serialize, ToSchema)]
pub struct ListJson<'a> {
    id: i64,
    label: ListLabelJson<'a>,
    position: i32,
}

#[derive(Serialize, ToSchema)]
struct ListLabelJson<'a> {
    id: i64,
    name: &'a str,
    color: &'a str,
    description: Option<&'a str>,
}

impl<'a> From<&'a ListView> for ListJson<'a> {
    fn from(view: &'a ListView) -> Self {
        let label = &view.label;
        Self {
            id: view.list.id.0,
            label: ListLabelJson {
                id: label.shown_id().0,
                name: label.title.as_str(),
                color: label.color.as_str(),
                description: label.description.as_ref().map(LabelDescription::as_str),
            },
            position: view.list.position,
        }
    }
}
