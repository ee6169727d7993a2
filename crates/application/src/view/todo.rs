//! Todos with all related rows, in a bounded number of queries for any page size.

use std::collections::HashMap;

use hexforge_domain::commit::{Commit, ObjectId};
use hexforge_domain::id::{IssueId, MergeRequestId, NoteId, ProjectId, UserId};
use hexforge_domain::note::{NoteBody, Noteable};
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectWithNamespace;
use hexforge_domain::todo::Todo;
use hexforge_domain::unique::sorted_unique;
use hexforge_domain::user::User;

use super::issue::{self as issue_view, IssueView};
use super::merge_request::{self as merge_request_view, MergeRequestView};
use super::project as project_view;
use super::user::load_users;

/// A todo with all related rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodoView {
    /// The todo.
    pub todo: Todo,
    /// The project of the target.
    pub project: ProjectWithNamespace,
    /// The user who caused the todo.
    pub author: User,
    /// The target.
    pub target: TodoTarget,
    /// The text of the note that caused the todo.
    pub note: Option<NoteBody>,
}

/// The target of a todo, as its own call shows it to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TodoTarget {
    /// An issue.
    Issue(Box<IssueView>),
    /// A merge request.
    MergeRequest(Box<MergeRequestView>),
    /// A commit; `None` until the use case reads it, and if the repository does not have it.
    Commit(ObjectId, Option<Box<Commit>>),
}

/// Loads the view of one todo.
pub fn load(tx: &mut dyn Tx, reader: UserId, todo: Todo) -> Result<TodoView, StoreError> {
    let page = page(tx, reader, Paged { items: vec![todo], total: 1 })?;
    page.items.into_iter().next().ok_or(StoreError::Gone)
}

/// Loads the views of a page of todos.
pub fn page(
    tx: &mut dyn Tx,
    reader: UserId,
    todos: Paged<Todo>,
) -> Result<Paged<TodoView>, StoreError> {
    let Paged { items: todos, total } = todos;
    if todos.is_empty() {
        return Ok(Paged { items: vec![], total });
    }
    let authors = load_users(tx, todos.iter().map(|todo| todo.author))?;
    let projects = load_projects(tx, &todos)?;
    let issues = load_issues(tx, reader, &todos)?;
    let requests = load_merge_requests(tx, reader, &todos)?;
    let notes = load_notes(tx, &todos)?;
    // A todo is deleted together with everything that it refers to. The deletion of many rows takes several steps:
    // until it is done, todos whose rows are missing are left out here.
    let view = |todo: Todo| {
        Some(TodoView {
            project: projects.get(&todo.project)?.clone(),
            author: authors.get(&todo.author)?.clone(),
            target: match todo.target {
                Noteable::Issue(id) => TodoTarget::Issue(Box::new(issues.get(&id)?.clone())),
                Noteable::MergeRequest(id) => {
                    TodoTarget::MergeRequest(Box::new(requests.get(&id)?.clone()))
                }
                Noteable::Commit { id, .. } => TodoTarget::Commit(id, None),
                // Snippets have no todos.
                Noteable::Snippet(_) => return None,
            },
            note: match todo.note {
                Some(id) => Some(notes.get(&id)?.clone()),
                None => None,
            },
            todo,
        })
    };
    Ok(Paged { items: todos.into_iter().filter_map(view).collect(), total })
}

fn load_projects(
    tx: &mut dyn Tx,
    todos: &[Todo],
) -> Result<HashMap<ProjectId, ProjectWithNamespace>, StoreError> {
    let ids = sorted_unique(todos.iter().map(|todo| todo.project));
    let items = tx.projects().find_all(&ids)?;
    let total = items.len() as u64;
    let placed = project_view::page_with_namespaces(tx, Paged { items, total })?;
    Ok(placed.items.into_iter().map(|placed| (placed.project.id, placed)).collect())
}

fn load_issues(
    tx: &mut dyn Tx,
    reader: UserId,
    todos: &[Todo],
) -> Result<HashMap<IssueId, IssueView>, StoreError> {
    let ids = todos.iter().filter_map(|todo| match todo.target {
        Noteable::Issue(id) => Some(id),
        Noteable::MergeRequest(_) | Noteable::Snippet(_) | Noteable::Commit { .. } => None,
    });
    let ids = sorted_unique(ids);
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let items = tx.issues().find_all(&ids)?;
    let total = items.len() as u64;
    let views = issue_view::page(tx, reader, None, Paged { items, total })?;
    Ok(views.items.into_iter().map(|view| (view.issue.id, view)).collect())
}

fn load_merge_requests(
    tx: &mut dyn Tx,
    reader: UserId,
    todos: &[Todo],
) -> Result<HashMap<MergeRequestId, MergeRequestView>, StoreError> {
    let ids = todos.iter().filter_map(|todo| match todo.target {
        Noteable::MergeRequest(id) => Some(id),
        Noteable::Issue(_) | Noteable::Snippet(_) | Noteable::Commit { .. } => None,
    });
    let ids = sorted_unique(ids);
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let items = tx.merge_requests().find_all(&ids)?;
    let total = items.len() as u64;
    let views = merge_request_view::page(tx, reader, None, Paged { items, total })?;
    Ok(views.items.into_iter().map(|view| (view.request.id, view)).collect())
}

fn load_notes(tx: &mut dyn Tx, todos: &[Todo]) -> Result<HashMap<NoteId, NoteBody>, StoreError> {
    let ids = sorted_unique(todos.iter().filter_map(|todo| todo.note));
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let notes = tx.notes().find_all(&ids)?;
    Ok(notes.into_iter().map(|note| (note.id, note.body)).collect())
}
