//! Boards and their lists. Removed lists stay as rows with `deleted_at`, which no query returns.

use diesel::prelude::*;
use hexforge_domain::Timestamp;
use hexforge_domain::board::port::Boards;
use hexforge_domain::board::{Board, BoardList, Move};
use hexforge_domain::id::{BoardId, BoardListId, LabelId, ProjectId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;

use crate::database::schema::{board_lists, boards};
use crate::database::time::to_naive;
use crate::database::tx::DieselTx;
use crate::query::page;
use crate::query::sql::Sql;

#[derive(Queryable, Selectable)]
#[diesel(table_name = board_lists)]
struct ListRow {
    id: i64,
    board_id: i64,
    label_id: i64,
    position: i32,
}

fn to_list(ListRow { id, board_id, label_id, position }: ListRow) -> BoardList {
    let (board, label) = (BoardId(board_id), LabelId(label_id));
    BoardList { id: BoardListId(id), board, label, position }
}

impl DieselTx<'_> {
    /// Decrements the positions of the lists after removed ones. The condition is on the columns of `board_lists`
    /// and matches at most one list of a board.
    pub(crate) fn close_position_gap(&mut self, removed: Sql) -> Result<(), StoreError> {
        let gone = |column: &'static str| {
            Sql::new("SELECT gone.")
                .sql(column)
                .sql(" FROM board_lists AS gone WHERE gone.deleted_at IS NULL AND gone.")
                .then(removed.clone())
        };
        self.execute(
            Sql::new(
                "UPDATE board_lists SET position = position - 1 \
                 WHERE deleted_at IS NULL AND board_id IN (",
            )
            .then(gone("board_id"))
            .sql(") AND position > (")
            .then(gone("position"))
            .sql(" AND gone.board_id = board_lists.board_id)"),
        )
    }
}

impl Boards for DieselTx<'_> {
    fn find(&mut self, project: ProjectId) -> Result<Option<Board>, StoreError> {
        let id: Option<i64> = self.run(|conn| {
            boards::table
                .filter(boards::project_id.eq(project.0))
                .select(boards::id)
                .get_result(conn)
                .optional()
        })?;
        Ok(id.map(|id| Board { id: BoardId(id), project }))
    }

    fn insert(&mut self, project: ProjectId) -> Result<Board, StoreError> {
        let value = boards::project_id.eq(project.0);
        let id = self.run(|conn| {
            diesel::insert_into(boards::table).values(value).returning(boards::id).get_result(conn)
        })?;
        Ok(Board { id: BoardId(id), project })
    }

    /// One query, and one for the total unless the page shows the end of the list.
    fn lists(&mut self, board: BoardId, page: Page) -> Result<Paged<BoardList>, StoreError> {
        let all = Sql::new("SELECT id FROM board_lists WHERE deleted_at IS NULL AND board_id = ")
            .id(board.0);
        let rows: Vec<ListRow> = self.run(|conn| {
            board_lists::table
                .filter(board_lists::board_id.eq(board.0))
                .filter(board_lists::deleted_at.is_null())
                .order(board_lists::position)
                .limit(page::limit(page))
                .offset(page::offset(page))
                .select(ListRow::as_select())
                .load(conn)
        })?;
        let name = || format!("lists of {board}");
        let total = self.total_beside(page, rows.len(), name, &all)?;
        Ok(Paged { items: rows.into_iter().map(to_list).collect(), total })
    }

    fn find_list(
        &mut self,
        board: BoardId,
        id: BoardListId,
    ) -> Result<Option<BoardList>, StoreError> {
        let row: Option<ListRow> = self.run(|conn| {
            board_lists::table
                .find(id.0)
                .filter(board_lists::board_id.eq(board.0))
                .filter(board_lists::deleted_at.is_null())
                .select(ListRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        Ok(row.map(to_list))
    }

    fn list_of(&mut self, board: BoardId, label: LabelId) -> Result<Option<BoardList>, StoreError> {
        let row: Option<ListRow> = self.run(|conn| {
            board_lists::table
                .filter(board_lists::board_id.eq(board.0))
                .filter(board_lists::label_id.eq(label.0))
                .filter(board_lists::deleted_at.is_null())
                .select(ListRow::as_select())
                .get_result(conn)
                .optional()
        })?;
        Ok(row.map(to_list))
    }

    fn insert_list(
        &mut self,
        board: BoardId,
        label: LabelId,
        at: Timestamp,
    ) -> Result<BoardList, StoreError> {
        let last: Option<i32> = self.run(|conn| {
            board_lists::table
                .filter(board_lists::board_id.eq(board.0))
                .filter(board_lists::deleted_at.is_null())
                .order(board_lists::position.desc())
                .select(board_lists::position)
                .first(conn)
                .optional()
        })?;
        let position = last.map_or(0, |last| last + 1);
        let values = (
            board_lists::board_id.eq(board.0),
            board_lists::label_id.eq(label.0),
            board_lists::position.eq(position),
            board_lists::created_at.eq(to_naive(at)),
        );
        let id = self.run(|conn| {
            diesel::insert_into(board_lists::table)
                .values(values)
                .returning(board_lists::id)
                .get_result(conn)
        })?;
        Ok(BoardList { id: BoardListId(id), board, label, position })
    }

    fn move_list(&mut self, list: &BoardList, to: Move) -> Result<(), StoreError> {
        let first = i64::from(to.from.min(to.to));
        let last = i64::from(to.from.max(to.to));
        let step = if to.from < to.to { "position - 1" } else { "position + 1" };
        self.execute(
            Sql::new("UPDATE board_lists SET position = CASE WHEN id = ")
                .id(list.id.0)
                .sql(" THEN ")
                .number(to.to)
                .sql(" ELSE ")
                .sql(step)
                .sql(" END WHERE deleted_at IS NULL AND board_id = ")
                .id(list.board.0)
                .sql(" AND position BETWEEN ")
                .id(first)
                .sql(" AND ")
                .id(last),
        )
    }

    fn delete_list(&mut self, list: &BoardList, at: Timestamp) -> Result<(), StoreError> {
        self.close_position_gap(Sql::new("id = ").id(list.id.0))?;
        let value = board_lists::deleted_at.eq(to_naive(at));
        let row = board_lists::table.find(list.id.0);
        self.write(|conn| diesel::update(row).set(value).execute(conn))
    }
}
