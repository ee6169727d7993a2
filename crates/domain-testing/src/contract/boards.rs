//! Boards; see [`Boards`](hexforge_domain::board::port::Boards).

use super::check::{assert_duplicate, assert_pages, read, write};
use super::labels::a_project_with_owner;
use crate::builders::{at, label_in};
use hexforge_domain::board::{BoardList, Move};
use hexforge_domain::id::{BoardId, BoardListId, LabelId};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use std::thread;

/// A project has no board until one is created, and then only that one.
pub fn a_project_has_one_board(store: &dyn Store) {
    let ((project, _), (other, _)) =
        (a_project_with_owner(store, "ada"), a_project_with_owner(store, "bob"));
    assert_eq!(read(store, |tx| tx.boards().find(project)), None);
    let board = write(store, |tx| tx.boards().insert(project));
    assert_eq!(read(store, |tx| tx.boards().find(project)), Some(board));
    assert_eq!(read(store, |tx| tx.boards().find(other)), None);
    assert_duplicate(store, "board", |tx| tx.boards().insert(project));
    assert_pages(store, &[], |tx, page| tx.boards().lists(board.id, page));
}

/// Creates a board with a list for each of `lists` labels.
fn a_board(store: &dyn Store, lists: usize) -> (BoardId, Vec<BoardList>) {
    let (project, _) = a_project_with_owner(store, "ada");
    let board = write(store, |tx| tx.boards().insert(project)).id;
    let lists = (0..lists).map(|number| {
        let label = label_in(store, project, &format!("label {number}")).id;
        write(store, |tx| tx.boards().insert_list(board, label, at(0)))
    });
    (board, lists.collect())
}

fn list_positions(store: &dyn Store, board: BoardId, lists: &[BoardList]) -> Vec<Option<i32>> {
    let found = read(store, |tx| tx.boards().lists(board, Page::Whole)).items;
    let positions: Vec<i32> = found.iter().map(|list| list.position).collect();
    let expected = 0..i32::try_from(found.len()).expect("few lists");
    assert_eq!(positions, expected.collect::<Vec<_>>(), "no gaps, and in order");
    let place = |list: &BoardList| found.iter().find(|f| f.id == list.id).map(|f| f.position);
    lists.iter().map(place).collect()
}

/// Positions stay consecutive when lists are added, moved and deleted.
pub fn positions_of_lists_have_no_gaps(store: &dyn Store) {
    let (board, lists) = a_board(store, 4);
    assert_pages(store, &lists, |tx, page| tx.boards().lists(board, page));
    let go = |place: usize, to: i64| {
        write(store, |tx| {
            let list = tx.boards().find_list(board, lists[place].id)?.expect("it is there");
            tx.boards().move_list(&list, Move::new(list.position, to, 4).expect("another place"))
        });
        list_positions(store, board, &lists)
    };
    assert_eq!(go(0, 2), [2, 0, 1, 3].map(Some));
    assert_eq!(go(3, 1), [3, 0, 2, 1].map(Some));
    assert_eq!(go(0, 0), [0, 1, 3, 2].map(Some));
    let remove = |place: usize| {
        write(store, |tx| {
            let list = tx.boards().find_list(board, lists[place].id)?.expect("it is there");
            tx.boards().delete_list(&list, at(1))
        });
        list_positions(store, board, &lists)
    };
    assert_eq!(remove(1), [Some(0), None, Some(2), Some(1)]);
    assert_eq!(remove(2), [Some(0), None, None, Some(1)]);
    let gone = read(store, |tx| tx.boards().find_list(board, lists[1].id));
    assert_eq!(gone, None);
    let again = write(store, |tx| tx.boards().insert_list(board, lists[1].label, at(2)));
    assert_eq!((again.position, again.id > lists[3].id), (2, true));
    let elsewhere = read(store, |tx| tx.boards().find_list(BoardId(i64::MAX), again.id));
    assert_eq!(elsewhere, None);
    assert_eq!(read(store, |tx| tx.boards().find_list(board, BoardListId(i64::MAX))), None);
}

/// A label can get a new list after its list was deleted.
pub fn a_label_has_one_list_at_a_time(store: &dyn Store) {
    let (board, lists) = a_board(store, 2);
    let label = lists[0].label;
    assert_eq!(read(store, |tx| tx.boards().list_of(board, label)), Some(lists[0]));
    assert_eq!(read(store, |tx| tx.boards().list_of(board, LabelId(i64::MAX))), None);
    assert_duplicate(store, "label_id", |tx| tx.boards().insert_list(board, label, at(1)));
    write(store, |tx| tx.boards().delete_list(&lists[0], at(1)));
    assert_eq!(read(store, |tx| tx.boards().list_of(board, label)), None);
    write(store, |tx| tx.boards().insert_list(board, label, at(2)));
}

/// Concurrent moves are serialized by the lock of the project.
pub fn lists_moved_at_once_end_without_gaps(store: &dyn Store) {
    let (board, lists) = a_board(store, 5);
    let label = &read(store, |tx| tx.labels().find_all(&[lists[0].label])).remove(0);
    thread::scope(|scope| {
        for (number, mine) in lists.iter().enumerate() {
            scope.spawn(move || {
                for turn in 0..6_usize {
                    write(store, |tx| {
                        tx.projects().lock(label.project)?;
                        let list = tx.boards().find_list(board, mine.id)?.expect("it is there");
                        let to = i64::try_from((number + turn) % 5).expect("a place");
                        match Move::new(list.position, to, 5) {
                            Ok(to) => tx.boards().move_list(&list, to),
                            Err(_) => Ok(()),
                        }
                    });
                }
            });
        }
    });
    let mut places = list_positions(store, board, &lists);
    places.sort_unstable();
    assert_eq!(places, [0, 1, 2, 3, 4].map(Some));
}
