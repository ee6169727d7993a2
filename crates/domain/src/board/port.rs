//! The port to the stored boards.

use super::{Board, BoardList, Move};
use crate::Timestamp;
use crate::id::{BoardId, BoardListId, LabelId, ProjectId};
use crate::paging::{Page, Paged};
use crate::ports::store_error::StoreError;

/// The boards of all projects. The caller locks the project before it changes a list. After each call the lists of a
/// board have the positions 0, 1, 2 and so on.
pub trait Boards {
    /// The board of a project, if it was created.
    fn find(&mut self, project: ProjectId) -> Result<Option<Board>, StoreError>;

    /// Creates the board of a project.
    /// # Errors
    /// [`StoreError::Duplicate`]`("board")` when the project has a board.
    fn insert(&mut self, project: ProjectId) -> Result<Board, StoreError>;

    /// The lists of a board, by position.
    fn lists(&mut self, board: BoardId, page: Page) -> Result<Paged<BoardList>, StoreError>;

    /// The list with this id, if it is on that board and was not deleted.
    fn find_list(
        &mut self,
        board: BoardId,
        id: BoardListId,
    ) -> Result<Option<BoardList>, StoreError>;

    /// The list of a label on that board, if there is one.
    fn list_of(&mut self, board: BoardId, label: LabelId) -> Result<Option<BoardList>, StoreError>;

    /// Adds a list at the last position.
    /// # Errors
    /// [`StoreError::Duplicate`]`("label_id")` when the label has a list on that board.
    fn insert_list(
        &mut self,
        board: BoardId,
        label: LabelId,
        at: Timestamp,
    ) -> Result<BoardList, StoreError>;

    /// Moves a list and shifts the lists in between.
    fn move_list(&mut self, list: &BoardList, to: Move) -> Result<(), StoreError>;

    /// Deletes a list and shifts the lists after it. The label can get a new list later.
    fn delete_list(&mut self, list: &BoardList, at: Timestamp) -> Result<(), StoreError>;
}
