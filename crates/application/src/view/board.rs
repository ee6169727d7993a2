//! Boards with their lists and labels.

use std::collections::HashMap;

use hexforge_domain::board::{Board, BoardList};
use hexforge_domain::id::LabelId;
use hexforge_domain::label::Label;
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};

/// A board with its lists.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardView {
    /// The board.
    pub board: Board,
    /// All lists of the board, by position.
    pub lists: Vec<ListView>,
}

/// A list of a board with its label.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListView {
    /// The list.
    pub list: BoardList,
    /// The label of the list.
    pub label: Label,
}

/// Adds the labels to a page of lists.
pub fn lists(tx: &mut dyn Tx, lists: Paged<BoardList>) -> Result<Paged<ListView>, StoreError> {
    let ids: Vec<LabelId> = lists.items.iter().map(|list| list.label).collect();
    let labels: HashMap<LabelId, Label> =
        tx.labels().find_all(&ids)?.into_iter().map(|label| (label.id, label)).collect();
    // A list is deleted together with its label, so every label exists.
    let view = |list: BoardList| Some(ListView { label: labels.get(&list.label)?.clone(), list });
    Ok(Paged { items: lists.items.into_iter().filter_map(view).collect(), total: lists.total })
}

/// Adds the label to a list.
pub fn list(tx: &mut dyn Tx, list: BoardList) -> Result<ListView, StoreError> {
    let page = lists(tx, Paged { items: vec![list], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}
