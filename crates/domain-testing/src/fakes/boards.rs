//! Fake of the boards. Deleted lists are not kept.

use super::tx::FakeTx;
use hexforge_domain::Timestamp;
use hexforge_domain::board::port::Boards;
use hexforge_domain::board::{Board, BoardList, Move};
use hexforge_domain::id::{BoardId, BoardListId, LabelId, ProjectId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

impl Boards for FakeTx {
    fn find(&mut self, project: ProjectId) -> Result<Option<Board>, StoreError> {
        Ok(self.tables.boards.iter().find(|board| board.project == project).copied())
    }

    fn insert(&mut self, project: ProjectId) -> Result<Board, StoreError> {
        self.require_project(project)?;
        if Boards::find(self, project)?.is_some() {
            return self.refuse(StoreError::Duplicate("board"));
        }
        let board = Board { id: BoardId(self.next_id()), project };
        self.tables.boards.push(board);
        Ok(board)
    }

    fn lists(&mut self, board: BoardId, page: Page) -> Result<Paged<BoardList>, StoreError> {
        let all = self.tables.board_lists.iter();
        let mut lists: Vec<BoardList> = all.filter(|list| list.board == board).copied().collect();
        lists.sort_by_key(|list| list.position);
        Ok(page.slice(lists))
    }

    fn find_list(
        &mut self,
        board: BoardId,
        id: BoardListId,
    ) -> Result<Option<BoardList>, StoreError> {
        let mut all = self.tables.board_lists.iter();
        Ok(all.find(|list| list.board == board && list.id == id).copied())
    }

    fn list_of(&mut self, board: BoardId, label: LabelId) -> Result<Option<BoardList>, StoreError> {
        let mut all = self.tables.board_lists.iter();
        Ok(all.find(|list| list.board == board && list.label == label).copied())
    }

    fn insert_list(
        &mut self,
        board: BoardId,
        label: LabelId,
        _: Timestamp,
    ) -> Result<BoardList, StoreError> {
        if self.list_of(board, label)?.is_some() {
            return self.refuse(StoreError::Duplicate("label_id"));
        }
        let count = self.tables.board_lists.iter().filter(|list| list.board == board).count();
        let position = i32::try_from(count).unwrap_or(i32::MAX);
        let list = BoardList { id: BoardListId(self.next_id()), board, label, position };
        self.tables.board_lists.push(list);
        Ok(list)
    }

    fn move_list(&mut self, list: &BoardList, to: Move) -> Result<(), StoreError> {
        for other in self.tables.board_lists.iter_mut().filter(|other| other.board == list.board) {
            other.position = to.new_position(other.position);
        }
        Ok(())
    }

    fn delete_list(&mut self, list: &BoardList, _: Timestamp) -> Result<(), StoreError> {
        self.tables.board_lists.retain(|other| other.id != list.id);
        for other in self.tables.board_lists.iter_mut().filter(|other| other.board == list.board) {
            if other.position > list.position {
                other.position -= 1;
            }
        }
        Ok(())
    }
}
