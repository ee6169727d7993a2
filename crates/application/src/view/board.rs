//! Boards with their lists and the labels of these.

use std::collections::HashMap;

use hexforge_domain::board::{Board, BoardList};
use hexforge_domain::id::LabelId;
use hexforge_domain::label::Label;
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};

/// A board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardView {
    /// The board.
    pub board: Board,
    /// All its lists, by their places.
    pub lists: Vec<ListView>,
}

/// A list of a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListView {
    /// The list.
    pub list: BoardList,
    /// Its label.
    pub label: Label,
}

/// Adds their labels to lists.
pub fn lists(tx: &mut dyn Tx, lists: Paged<BoardList>) -> Result<Paged<ListView>, StoreError> {
    let ids: Vec<LabelId> = lists.items.iter().map(|list| list.label).collect();
    let labels: HashMap<LabelId, Label> =
        tx.labels().find_all(&ids)?.into_iter().map(|label| (label.id, label)).collect();
    // Lists go with their labels, so every label is there.
    let view = |list: BoardList| Some(ListView { label: labels.get(&list.label)?.clone(), list });
    Ok(Paged { items: lists.items.into_iter().filter_map(view).collect(), total: lists.total })
}

/// Adds its label to a list.
pub fn list(tx: &mut dyn Tx, list: BoardList) -> Result<ListView, StoreError> {
    let page = lists(tx, Paged { items: vec![list], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}
