//! Fake of the todos.

use super::tx::{FakeTx, Tables};
use hexforge_domain::id::{ProjectId, TodoId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::note::Noteable;
use hexforge_domain::note::port::NoteReader;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::todo::port::Todos;
use hexforge_domain::todo::{MarkedTodos, NewTodo, Todo, TodoFilter, TodoKind, TodoState};

impl Tables {
    fn may_see_target(&self, todo: &Todo, reader: Option<NoteReader>) -> bool {
        let Some(project) = self.projects.get(&todo.project) else { return false };
        let Some(reader) = reader else { return true };
        let NoteReader { viewer, today } = reader;
        if !self.sees(viewer, project, today) {
            return false;
        }
        match todo.target {
            Noteable::Issue(id) => {
                let issue = self.issues.iter().find(|issue| issue.id == id);
                let clearance = Clearance::ByRole(viewer.user);
                project.features.issues
                    && issue.is_some_and(|issue| self.is_cleared(issue, clearance, today))
            }
            Noteable::MergeRequest(id) => {
                let request = self.merge_requests.iter().find(|request| request.id == id);
                project.features.merge_requests
                    && request.is_some_and(|request| {
                        request.concerns(viewer.user) || self.sees_code(project, reader)
                    })
            }
            Noteable::Snippet(_) => false,
            Noteable::Commit { .. } => self.sees_code(project, reader),
        }
    }

    fn matches(&self, filter: &TodoFilter, todo: &Todo) -> bool {
        let TodoFilter { user, reader, state, id, actions, author, project, kind } = filter;
        let is_of_kind = |kind: TodoKind| match kind {
            TodoKind::Issue => matches!(todo.target, Noteable::Issue(_)),
            TodoKind::MergeRequest => matches!(todo.target, Noteable::MergeRequest(_)),
        };
        todo.user == *user
            && state.is_none_or(|state| todo.state == state)
            && id.is_none_or(|id| todo.id == id)
            && actions.iter().all(|action| todo.action == *action)
            && author.is_none_or(|author| todo.author == author)
            && project.is_none_or(|project| todo.project == project)
            && kind.is_none_or(is_of_kind)
            && self.may_see_target(todo, *reader)
    }
}

impl Todos for FakeTx {
    fn list(&mut self, filter: &TodoFilter, page: Page) -> Result<Paged<Todo>, StoreError> {
        let tables = &self.tables;
        let newest_first = tables.todos.iter().rev().filter(|todo| tables.matches(filter, todo));
        Ok(page.slice(newest_first.cloned().collect()))
    }

    fn find_pending(&mut self, user: UserId, target: Noteable) -> Result<Option<Todo>, StoreError> {
        let is_it = |todo: &&Todo| {
            todo.user == user && todo.target == target && todo.state == TodoState::Pending
        };
        Ok(self.tables.todos.iter().find(is_it).cloned())
    }

    fn insert(&mut self, new: &[NewTodo]) -> Result<(), StoreError> {
        for one in new {
            self.require_user(one.user)?;
            self.require_user(one.author)?;
            self.require_project(one.project)?;
            if let Some(issuable) = one.target.issuable() {
                self.require_issuable(issuable)?;
            }
            if let Some(note) = one.note {
                self.require_note(note)?;
            }
            if self.find_pending(one.user, one.target)?.is_some() {
                continue;
            }
            let id = TodoId(self.next_id());
            let NewTodo { user, project, target, author, action, note, at } = one.clone();
            let (state, created_at) = (TodoState::Pending, at);
            let todo = Todo { id, user, project, target, author, action, note, state, created_at };
            self.tables.todos.push(todo);
        }
        Ok(())
    }

    fn mark_done(&mut self, user: UserId, target: Noteable) -> Result<(), StoreError> {
        let todos = self.tables.todos.iter_mut();
        for todo in todos.filter(|todo| todo.user == user && todo.target == target) {
            todo.state = TodoState::Done;
        }
        Ok(())
    }

    fn mark_matching_done(
        &mut self,
        filter: &TodoFilter,
        after: Option<TodoId>,
        limit: u32,
    ) -> Result<MarkedTodos, StoreError> {
        let tables = &self.tables;
        let is_due = |todo: &&Todo| {
            Some(todo.id) > after
                && todo.state == TodoState::Pending
                && tables.matches(filter, todo)
        };
        let due: Vec<TodoId> =
            tables.todos.iter().filter(is_due).map(|todo| todo.id).take(limit as usize).collect();
        for todo in self.tables.todos.iter_mut().filter(|todo| due.contains(&todo.id)) {
            todo.state = TodoState::Done;
        }
        let next = due.last().copied().filter(|_| due.len() == limit as usize);
        Ok(MarkedTodos { count: due.len() as u64, next })
    }

    fn delete_in_project(&mut self, user: UserId, project: ProjectId) -> Result<(), StoreError> {
        self.tables.todos.retain(|todo| !(todo.user == user && todo.project == project));
        Ok(())
    }
}
