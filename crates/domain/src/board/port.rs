//! The port to the stored boards.

use super::{Board, BoardList, Move};
use crate::Timestamp;
use crate::id::{BoardId, BoardListId, LabelId, ProjectId};
use crate::paging::{Page, Paged};
use crate::ports::store::StoreError;

/// The boards of all projects. Whoever changes a list holds the project. The places of the lists of a
/// board are 0, 1, 2 and so on after each call.
pub trait Boards {
    /// The board of a project, once it was made.
    fn find(&mut self, project: ProjectId) -> Result<Option<Board>, StoreError>;

    /// Makes the board of a project.
    /// # Errors
    /// [`StoreError::Duplicate`]`("board")` when it has one.
    fn insert(&mut self, project: ProjectId) -> Result<Board, StoreError>;

    /// The lists of a board, by their places.
    fn lists(&mut self, board: BoardId, page: Page) -> Result<Paged<BoardList>, StoreError>;

    /// The list of that id, if it is on that board and was not removed.
    fn find_list(
        &mut self,
        board: BoardId,
        id: BoardListId,
    ) -> Result<Option<BoardList>, StoreError>;

    /// The list of a label, if it has one on that board.
    fn list_of(&mut self, board: BoardId, label: LabelId) -> Result<Option<BoardList>, StoreError>;

    /// Adds a list behind all others.
    /// # Errors
    /// [`StoreError::Duplicate`]`("label_id")` when the label has a list on that board.
    fn insert_list(
        &mut self,
        board: BoardId,
        label: LabelId,
        at: Timestamp,
    ) -> Result<BoardList, StoreError>;

    /// Moves a list; the others make room.
    fn move_list(&mut self, list: &BoardList, to: Move) -> Result<(), StoreError>;

    /// Removes a list; those behind it close up. Its label may have another one.
    fn delete_list(&mut self, list: &BoardList, at: Timestamp) -> Result<(), StoreError>;
}
