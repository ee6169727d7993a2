//! Boards, which show the issues of a project in lists: one list per label.

pub mod port;

use crate::id::{BoardId, BoardListId, LabelId, ProjectId};

/// The board of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Assigned by the store.
    pub id: BoardId,
    /// The project of the board.
    pub project: ProjectId,
}

/// A list of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoardList {
    /// Assigned by the store, never reused.
    pub id: BoardListId,
    /// The board of the list.
    pub board: BoardId,
    /// The label whose issues the list shows.
    pub label: LabelId,
    /// The position among the lists of the board: 0, 1, 2 and so on without gaps.
    pub position: i32,
}

/// A move of a list to another position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Move {
    /// The position before the move.
    pub from: i32,
    /// The position after the move.
    pub to: i32,
}

/// Error for a move that changes nothing or leads to a position that does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("List could not be moved!")]
pub struct InvalidMove;

impl Move {
    /// Validates a move on a board with `lists` lists.
    pub fn new(from: i32, to: i64, lists: u64) -> Result<Self, InvalidMove> {
        let to = i32::try_from(to).map_err(|_| InvalidMove)?;
        let exists = to >= 0 && u64::from(to.unsigned_abs()) < lists;
        if exists && to != from { Ok(Self { from, to }) } else { Err(InvalidMove) }
    }

    /// The position after the move of the list that was at `position` before.
    pub fn new_position(self, position: i32) -> i32 {
        if position == self.from {
            self.to
        } else if self.from < position && position <= self.to {
            position - 1
        } else if self.to <= position && position < self.from {
            position + 1
        } else {
            position
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the reference, with four lists A B C D.
    #[test]
    fn other_lists_shift_to_make_room() {
        for (from, to, expected) in [
            (0, 2, [2, 0, 1, 3]),
            (3, 1, [0, 2, 3, 1]),
            (3, 0, [1, 2, 3, 0]),
            (0, 3, [3, 0, 1, 2]),
            (1, 2, [0, 2, 1, 3]),
        ] {
            let moved = Move::new(from, to, 4).expect("a position of the board");
            assert_eq!([0, 1, 2, 3].map(|position| moved.new_position(position)), expected);
        }
    }

    #[test]
    fn moves_to_the_same_or_a_missing_position_are_refused() {
        for (from, to) in
            [(1, 1), (1, -1), (1, 4), (1, i64::MAX), (1, i64::MIN), (0, i64::from(i32::MAX) + 1)]
        {
            assert_eq!(Move::new(from, to, 4), Err(InvalidMove), "{from} to {to}");
        }
    }
}
