//! The web page of a board: its lists with the issues in them, and what moves an issue between lists.

use hexforge_domain::board::BoardList;
use hexforge_domain::id::{BoardId, BoardListId, IssueId};
use hexforge_domain::issue::query::{IssueFilter, IssueScope, LabelFilter};
use hexforge_domain::issue::{Issue, IssueCommand};
use hexforge_domain::label::{Color, ColorRule, Label, LabelTitle, NewLabel};
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::tracker::TrackerAbility;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;

use crate::access;
use crate::access::tracker::Tracker;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::issue::fields::IssueFields;
use crate::issue::page::{find_id, find_labels};
use crate::issue::{self, update};
use crate::view::board::{BoardView, ListView};
use crate::view::issue::{self as issue_view, IssueView};

/// The maximum number of lists on a page, and of issues in each.
const MAX_LISTS: usize = 20;
const CARDS: Page = Page::Numbered { number: 1, size: 20 };

/// A column of a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
    /// Open issues that are in no list.
    Backlog,
    /// Open issues with the label of a list.
    List(BoardListId),
    /// Closed issues.
    Done,
}

/// A column with its first issues.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnPage {
    pub column: Column,
    /// The list, if the column is one.
    pub list: Option<ListView>,
    pub issues: Vec<IssueView>,
    pub total: u64,
}

/// A board with its columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardPage {
    pub board: BoardId,
    pub columns: Vec<ColumnPage>,
    /// The labels of the shown issues, for their colors.
    pub labels: Vec<Label>,
    /// The labels that have no list yet.
    pub free_labels: Vec<Label>,
}

/// Returns the board of a project. It is created when it is first requested.
pub fn show(app: &App, actor: Actor, named: &ProjectRef) -> Result<BoardPage, Error> {
    let user = access::own_account(actor)?;
    let boards = super::list(app, actor, named, Page::Numbered { number: 1, size: 1 })?;
    let board = boards.items.into_iter().next().ok_or(Error::NotFound(Entity::Board))?;
    app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        tracker.require(TrackerAbility::ReadIssues)?;
        let BoardView { board, lists } = board;
        let filters = filters(&tracker, &lists);
        let mut issues: Vec<Issue> = Vec::new();
        let mut found: Vec<(Column, Vec<IssueId>, u64)> = Vec::new();
        for (column, filter) in filters {
            let cards = tx.issues().list(&filter, CARDS)?;
            found.push((column, cards.items.iter().map(|issue| issue.id).collect(), cards.total));
            // An issue with the labels of several lists is in all of them.
            let is_new = |issue: &Issue| issues.iter().all(|known| known.id != issue.id);
            let new: Vec<Issue> = cards.items.into_iter().filter(is_new).collect();
            issues.extend(new);
        }
        let total = issues.len() as u64;
        let issues = Paged { items: issues, total };
        let views = issue_view::page(tx, user, Some(&tracker.project), issues)?.items;
        let mut free_labels =
            tx.labels().list(tracker.project.id, Page::Numbered { number: 1, size: 100 })?.items;
        let titles = views.iter().flat_map(|view| &view.labels);
        let labels = find_labels(tx, &tracker, titles, &free_labels)?;
        let view_of = |id: &IssueId| views.iter().find(|view| view.issue.id == *id).cloned();
        let columns = found.into_iter().map(|(column, ids, total)| ColumnPage {
            column,
            list: lists.iter().find(|list| Column::List(list.list.id) == column).cloned(),
            issues: ids.iter().filter_map(view_of).collect(),
            total,
        });
        let columns = columns.collect();
        free_labels.retain(|label| lists.iter().all(|list| list.label.id != label.id));
        Ok(BoardPage { board: board.id, columns, labels, free_labels })
    })
}

/// The filters of the columns: the backlog, each list, and what is done.
fn filters(tracker: &Tracker, lists: &[ListView]) -> Vec<(Column, IssueFilter)> {
    let scope = IssueScope::Project(tracker.project.id);
    let base = IssueFilter::newest_first(scope, tracker.clearance(), tracker.requester.today);
    let open = IssueFilter { open: Some(true), ..base.clone() };
    let title = |list: &ListView| list.label.title.as_str().to_owned();
    let without_labels = lists.iter().map(title).collect();
    let mut filters = vec![(Column::Backlog, IssueFilter { without_labels, ..open.clone() })];
    for list in lists.iter().take(MAX_LISTS) {
        let labels = Some(LabelFilter::All(vec![title(list)]));
        filters.push((Column::List(list.list.id), IssueFilter { labels, ..open.clone() }));
    }
    filters.push((Column::Done, IssueFilter { open: Some(false), ..base }));
    filters
}

/// Moves an issue from one column of a board to another one. The issue gets the label of the new list and loses that of
/// the old one; outside of lists it loses the labels of all lists. It is closed when it is done, and reopened
/// otherwise.
pub fn move_issue(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    board: BoardId,
    iid: i64,
    (from, to): (Column, Column),
) -> Result<IssueView, Error> {
    let lists = app.store.read(|tx| {
        let tracker = app.requester(actor).tracker(tx, named)?;
        let board = super::find(tx, &tracker, board)?;
        tracker.require(TrackerAbility::AdministerIssues)?;
        Ok::<_, Error>(super::with_lists(tx, board)?.lists)
    })?;
    let title = |column: Column| {
        let list = lists.iter().find(|list| Column::List(list.list.id) == column);
        list.map(|list| list.label.title.clone())
    };
    if matches!(to, Column::List(_)) && title(to).is_none() {
        return Err(Error::NotFound(Entity::Record));
    }
    let removed: Vec<LabelTitle> = match to {
        Column::List(_) => title(from).into_iter().collect(),
        Column::Backlog | Column::Done => {
            lists.iter().map(|list| list.label.title.clone()).collect()
        }
    };
    let id = find_id(app, actor, named, iid)?;
    let seen = issue::get(app, actor, named, id)?;
    let is_kept = |label: &&String| removed.iter().all(|title| title.as_str() != label.as_str());
    let kept = seen.labels.iter().filter(is_kept).cloned().map(LabelTitle::stored);
    let mut labels: Vec<LabelTitle> = kept.chain(title(to)).collect();
    labels.sort();
    labels.dedup();
    let command = match to {
        Column::Done => IssueCommand::Close,
        Column::Backlog | Column::List(_) => IssueCommand::Reopen,
    };
    let fields =
        IssueFields { labels: Some(Ok(labels)), command: Some(command), ..IssueFields::default() };
    let is_current = |view: &IssueView| view.labels == seen.labels;
    let moved = update::update_if(app, actor, named, id, &fields, Some(&is_current))?;
    // Somebody else changed the labels at the same moment.
    moved.ok_or(Error::Store(StoreError::Busy))
}

/// The lists that a new board is offered: the titles and colors of their labels.
const DEFAULT_LISTS: [(&str, &str); 2] = [("To Do", "#F0AD4E"), ("Doing", "#5CB85C")];

/// Adds the default lists that a board lacks, and their labels.
pub fn add_default_lists(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    board: BoardId,
) -> Result<(), Error> {
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        tracker.require(TrackerAbility::AdministerLists)?;
        let board = super::find(tx, &tracker, board)?;
        for (title, color) in DEFAULT_LISTS {
            let label = find_or_create(app, tx, &tracker, title, color)?;
            if tx.boards().list_of(board.id, label.id)?.is_none() {
                let _: BoardList = tx.boards().insert_list(board.id, label.id, app.clock.now())?;
            }
        }
        Ok(())
    })
}

fn find_or_create(
    app: &App,
    tx: &mut dyn Tx,
    tracker: &Tracker,
    title: &str,
    color: &str,
) -> Result<Label, Error> {
    let project = tracker.project.id;
    if let Some(label) = tx.labels().find_by_title(project, title)? {
        return Ok(label);
    }
    tracker.require(TrackerAbility::AdministerLabels)?;
    let color = Color::parse(color, ColorRule::Long).unwrap_or_default();
    let new =
        NewLabel { color, ..NewLabel::with_title(LabelTitle::parse(title)?, app.clock.now()) };
    let created = tx.labels().insert_all(project, vec![new])?;
    created.into_iter().next().ok_or(StoreError::Gone.into())
}
