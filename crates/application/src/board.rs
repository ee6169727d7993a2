//! Issue boards. Every project has one board, which is created when it is first requested.

pub mod page;

use hexforge_domain::board::{Board, BoardList, Move};
use hexforge_domain::field_errors::{FieldErrors, FieldProblem};
use hexforge_domain::id::{BoardId, BoardListId, LabelId};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;

use crate::access::tracker::Tracker;
use crate::app::App;
use crate::error::{Entity, Error, ListRefusal};
use crate::view::board::{self as view, BoardView, ListView};

/// A list by its board and its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListRef {
    pub board: BoardId,
    pub list: BoardListId,
}

/// Lists the boards of a project, which has exactly one.
pub fn list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    page: Page,
) -> Result<Paged<BoardView>, Error> {
    let shown = app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        match tx.boards().find(tracker.project.id)? {
            Some(board) => Ok::<_, Error>(Some(with_lists(tx, board)?)),
            None => Ok(None),
        }
    })?;
    let shown = match shown {
        Some(shown) => shown,
        None => app.store.write(|tx| {
            let tracker = app.requester(actor).locked_tracker(tx, named)?;
            let board = match tx.boards().find(tracker.project.id)? {
                // Another request created the board first.
                Some(board) => board,
                None => tx.boards().insert(tracker.project.id)?,
            };
            Ok::<_, Error>(with_lists(tx, board)?)
        })?,
    };
    Ok(page.slice(vec![shown]))
}

pub(crate) fn with_lists(tx: &mut dyn Tx, board: Board) -> Result<BoardView, StoreError> {
    let lists = tx.boards().lists(board.id, Page::Whole)?;
    Ok(BoardView { board, lists: view::lists(tx, lists)?.items })
}

/// Lists the lists of a board, by position.
pub fn lists(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    board: BoardId,
    page: Page,
) -> Result<Paged<ListView>, Error> {
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let board = find(tx, &tracker, board)?;
        let lists = tx.boards().lists(board.id, page)?;
        Ok(view::lists(tx, lists)?)
    })
}

/// Returns one list.
pub fn get_list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    list: ListRef,
) -> Result<ListView, Error> {
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let list = find_list(tx, &tracker, list)?;
        Ok(view::list(tx, list)?)
    })
}

/// Adds a list for a label at the end of the board.
pub fn add_list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    board: BoardId,
    label: LabelId,
) -> Result<ListView, Error> {
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        let label = tx.labels().find(tracker.project.id, label)?;
        let label = label.ok_or(Error::ListRefused(ListRefusal::NoLabel))?.id;
        tracker.require(TrackerAbility::AdministerLists)?;
        let board = find(tx, &tracker, board)?;
        if tx.boards().list_of(board.id, label)?.is_some() {
            return Err(FieldErrors::single("label_id", FieldProblem::Taken).into());
        }
        let list = tx.boards().insert_list(board.id, label, app.clock.now())?;
        Ok(view::list(tx, list)?)
    })
}

/// Moves a list to another position.
pub fn move_list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    list: ListRef,
    position: i64,
) -> Result<ListView, Error> {
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        let list = find_list(tx, &tracker, list)?;
        tracker.require(TrackerAbility::AdministerLists)?;
        let one = Page::Numbered { number: 1, size: 1 };
        let count = tx.boards().lists(list.board, one)?.total;
        let to = Move::new(list.position, position, count)
            .map_err(|_| Error::ListRefused(ListRefusal::Position))?;
        tx.boards().move_list(&list, to)?;
        Ok(view::list(tx, BoardList { position: to.to, ..list })?)
    })
}

/// Deletes a list. The dialect of the API decides which ability the actor needs.
pub fn delete_list(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    list: ListRef,
    ability: TrackerAbility,
) -> Result<ListView, Error> {
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        tracker.require(ability)?;
        let list = find_list(tx, &tracker, list)?;
        let shown = view::list(tx, list)?;
        tx.boards().delete_list(&list, app.clock.now())?;
        Ok(shown)
    })
}

pub(crate) fn find(tx: &mut dyn Tx, tracker: &Tracker, board: BoardId) -> Result<Board, Error> {
    let found = tx.boards().find(tracker.project.id)?.filter(|found| found.id == board);
    found.ok_or(Error::NotFound(Entity::Board))
}

fn find_list(tx: &mut dyn Tx, tracker: &Tracker, named: ListRef) -> Result<BoardList, Error> {
    let board = find(tx, tracker, named.board)?;
    tx.boards().find_list(board.id, named.list)?.ok_or(Error::NotFound(Entity::Record))
}
