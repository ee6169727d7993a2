//! The todos of the actor: lists them, creates them and marks them as done.

mod writer;

use hexforge_domain::change::Change;
use hexforge_domain::id::{ProjectId, TodoId, UserId};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::merge_request::MergeRequestAbility;
use hexforge_domain::policy::project::ProjectAbility;
use hexforge_domain::ports::git::GitError;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectRef;
use hexforge_domain::todo::{MarkedTodos, Todo, TodoAction, TodoFilter, TodoKind, TodoState};

use crate::access;
use crate::app::App;
use crate::error::{Entity, Error};
use crate::issue;
use crate::repository;
use crate::view::todo::{self as view, TodoTarget, TodoView};
pub(crate) use writer::{TodoCommand, TodoSubject, TodoWriter};

/// The number of todos that one transaction marks as done.
const BATCH: u32 = 1000;

/// The filter of a list of todos in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodoListing {
    pub state: TodoState,
    /// Todos match only with all of these actions.
    pub actions: Vec<TodoAction>,
    /// Whether the action `approval_required` is asked for, which is known to the API but which no todo has.
    pub approval_required: bool,
    /// The id of the user who caused the todos. No todo matches 0.
    pub author: Option<i64>,
    pub project: Option<i64>,
    pub kind: Option<TodoKind>,
}

impl TodoListing {
    /// Returns the filter; `None` if nothing can match it.
    /// # Errors
    /// [`Error::NotFound`] when the user or the project does not exist.
    fn filter(
        &self,
        app: &App,
        tx: &mut dyn Tx,
        actor: Actor,
    ) -> Result<Option<TodoFilter>, Error> {
        let missing = || Error::NotFound(Entity::Record);
        let author = match self.author {
            Some(0) => return Ok(None),
            Some(id) => Some(tx.users().find(UserId(id))?.ok_or_else(missing)?.id),
            None => None,
        };
        let requester = app.requester(actor);
        let project = match self.project {
            Some(id) => {
                let project = tx.projects().find(&ProjectRef::Id(ProjectId(id)))?;
                let project = project.ok_or_else(missing)?;
                match requester.check_project(tx, ProjectAbility::Read, &project) {
                    Ok(()) => Some(project.id),
                    Err(Error::Store(error)) => return Err(error.into()),
                    Err(_) => return Ok(None),
                }
            }
            None => None,
        };
        if self.approval_required {
            return Ok(None);
        }
        let all = TodoFilter::all_of(access::own_account(actor)?, requester.note_reader()?);
        let (state, actions, kind) = (Some(self.state), self.actions.clone(), self.kind);
        Ok(Some(TodoFilter { state, actions, author, project, kind, ..all }))
    }
}

/// Lists the todos of the actor, newest first. Todos whose target the actor may not see any more are left out.
pub fn list(
    app: &App,
    actor: Actor,
    listing: &TodoListing,
    page: Page,
) -> Result<Paged<TodoView>, Error> {
    let user = access::own_account(actor)?;
    let mut todos = app.store.read(|tx| {
        let todos = match listing.filter(app, tx, actor)? {
            Some(filter) => tx.todos().list(&filter, page)?,
            None => Paged { items: vec![], total: 0 },
        };
        Ok::<_, Error>(view::page(tx, user, todos)?)
    })?;
    read_commits(app, &mut todos.items)?;
    Ok(todos)
}

/// Marks a todo of the actor as done, and returns it.
pub fn mark_done(app: &App, actor: Actor, id: TodoId) -> Result<TodoView, Error> {
    let user = access::own_account(actor)?;
    let mut shown = app.store.write(|tx| {
        let reader = app.requester(actor).note_reader()?;
        let filter = TodoFilter { id: Some(id), ..TodoFilter::all_of(user, reader) };
        let found = tx.todos().list(&filter, Page::Whole)?.items.into_iter().next();
        let found = found.ok_or(Error::NotFound(Entity::Record))?;
        tx.todos().mark_matching_done(&filter, None, 1)?;
        let done = Todo { state: TodoState::Done, ..found };
        Ok::<_, Error>(view::load(tx, user, done)?)
    })?;
    read_commits(app, std::slice::from_mut(&mut shown))?;
    Ok(shown)
}

/// Marks the pending todo of the actor for an issue or merge request as done, if there is one.
pub fn mark_done_on(app: &App, actor: Actor, on: Issuable) -> Result<(), Error> {
    let user = access::own_account(actor)?;
    Ok(app.store.write(|tx| tx.todos().mark_done(user, on.into()))?)
}

/// Marks all matching todos of the actor as done, and returns their number. They are marked in several transactions, so
/// that no transaction becomes long; a call that was interrupted can be repeated.
pub fn mark_all_done(app: &App, actor: Actor, listing: &TodoListing) -> Result<u64, Error> {
    let (mut count, mut after) = (0, None);
    loop {
        let marked = app.store.write(|tx| match listing.filter(app, tx, actor)? {
            Some(filter) => Ok::<_, Error>(tx.todos().mark_matching_done(&filter, after, BATCH)?),
            None => Ok(MarkedTodos::default()),
        })?;
        count += marked.count;
        match marked.next {
            Some(next) => after = Some(next),
            None => return Ok(count),
        }
    }
}

/// Creates a todo of the actor for an issue or merge request. Does nothing while the actor has a pending one.
pub fn create(
    app: &App,
    actor: Actor,
    named: &ProjectRef,
    on: Issuable,
) -> Result<Change<TodoView>, Error> {
    let user = access::own_account(actor)?;
    app.store.write(|tx| {
        let tracker = app.requester(actor).locked_tracker(tx, named)?;
        let (issue, request);
        let subject = match on {
            Issuable::Issue(id) => {
                issue = issue::find_visible(tx, &tracker, id)?;
                TodoSubject::Issue(&issue)
            }
            Issuable::MergeRequest(id) => {
                request = tracker.merge_request(tx, MergeRequestAbility::Read, id)?;
                TodoSubject::MergeRequest(&request)
            }
        };
        if tx.todos().find_pending(user, on.into())?.is_some() {
            return Ok(Change::Unchanged);
        }
        let writer = TodoWriter { tracker: &tracker, author: user, now: app.clock.now() };
        writer.apply(tx, subject, TodoCommand::Create)?;
        let made = tx.todos().find_pending(user, on.into())?.ok_or(StoreError::Gone)?;
        Ok(Change::Applied(view::load(tx, user, made)?))
    })
}

/// Reads the commits that are targets from their repositories. Runs after the transaction, which
/// must not wait for the disk.
fn read_commits(app: &App, todos: &mut [TodoView]) -> Result<(), Error> {
    for view in todos {
        let TodoTarget::Commit(id, commit) = &mut view.target else { continue };
        let found = repository::open(app, view.todo.project).and_then(|open| Ok(open.commit(*id)?));
        *commit = match found {
            Ok(found) => found.map(Box::new),
            // The project was removed meanwhile.
            Err(Error::Git(GitError::Missing)) => None,
            Err(error) => return Err(error),
        };
    }
    Ok(())
}
