//! Todos of users.

use chrono::NaiveDateTime;
use diesel::prelude::*;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{IssueId, MergeRequestId, NoteId, ProjectId, TodoId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::note::Noteable;
use hexforge_domain::note::port::NoteReader;
use hexforge_domain::paging::{Page, Paged};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::todo::port::Todos;
use hexforge_domain::todo::{
    MarkedTodos, NewTodo, Todo, TodoAction, TodoFilter, TodoKind, TodoState,
};

use crate::database::schema::todos;
use crate::database::time::{to_naive, to_utc};
use crate::database::tx::DieselTx;
use crate::query::access;
use crate::query::among::AmongValues;
use crate::query::page::{self, CountCost};
use crate::query::sql::Sql;

/// The number of rows that one statement inserts.
const ROWS_PER_INSERT: usize = 100;

#[derive(Queryable)]
struct TodoRow {
    id: i64,
    user_id: i64,
    project_id: i64,
    issue_id: Option<i64>,
    merge_request_id: Option<i64>,
    commit_id: Option<String>,
    author_id: i64,
    action: String,
    note_id: Option<i64>,
    state: String,
    created_at: NaiveDateTime,
}

impl TodoRow {
    fn target(&self) -> Option<Noteable> {
        match (self.issue_id, self.merge_request_id, &self.commit_id) {
            (Some(issue), None, None) => Some(Noteable::Issue(IssueId(issue))),
            (None, Some(request), None) => Some(Noteable::MergeRequest(MergeRequestId(request))),
            (None, None, Some(commit)) => {
                let project = ProjectId(self.project_id);
                ObjectId::parse(commit).map(|id| Noteable::Commit { project, id })
            }
            _ => None,
        }
    }
}

impl TryFrom<TodoRow> for Todo {
    type Error = StoreError;

    fn try_from(row: TodoRow) -> Result<Self, StoreError> {
        let action = TodoAction::from_name(&row.action);
        let state = TodoState::from_name(&row.state);
        Ok(Todo {
            target: row.target().ok_or(StoreError::Corrupt("target of a todo"))?,
            id: TodoId(row.id),
            user: UserId(row.user_id),
            project: ProjectId(row.project_id),
            author: UserId(row.author_id),
            action: action.ok_or(StoreError::Corrupt("action of a todo"))?,
            note: row.note_id.map(NoteId),
            state: state.ok_or(StoreError::Corrupt("state of a todo"))?,
            created_at: to_utc(row.created_at),
        })
    }
}

/// The condition that a row of `todos` is pending and for this user and target. The indexes for it need the state in
/// the text of the statement.
fn is_pending_for(user: UserId, target: Noteable) -> Sql {
    let target = match target {
        Noteable::Issue(issue) => Sql::new("todos.issue_id = ").id(issue.0),
        Noteable::MergeRequest(request) => Sql::new("todos.merge_request_id = ").id(request.0),
        // Snippets have no todos.
        Noteable::Snippet(_) => Sql::new("FALSE"),
        Noteable::Commit { project, id } => Sql::new("todos.project_id = ")
            .id(project.0)
            .sql(" AND todos.commit_id = ")
            .text(id.to_string()),
    };
    target.sql(" AND todos.user_id = ").id(user.0).sql(" AND todos.state = 'pending'")
}

/// The condition that the reader may see the target of a row of `todos` in a row of `projects`.
fn target_visible_to(NoteReader { viewer, .. }: NoteReader) -> Sql {
    let mut issue = Sql::new("SELECT 1 FROM issues WHERE issues.id = todos.issue_id");
    if let Some(condition) = access::may_see_issue(Clearance::ByRole(viewer.user)) {
        issue = issue.sql(" AND ").then(condition);
    }
    let request = Sql::new(
        "SELECT 1 FROM merge_requests WHERE merge_requests.id = todos.merge_request_id AND ",
    );
    access::visible(viewer)
        .sql(" AND CASE WHEN todos.issue_id IS NOT NULL THEN projects.issues_enabled AND ")
        .then(access::returns_row(issue))
        .sql(" WHEN todos.merge_request_id IS NOT NULL THEN ")
        .then(access::returns_row(request.then(access::may_see_merge_request(viewer))))
        .sql(" ELSE ")
        .then(access::code_visible(viewer))
        .sql(" END")
}

/// Selects the ids of the todos that match a filter.
fn matching(filter: &TodoFilter) -> Sql {
    let TodoFilter { user, reader, state, id, actions, author, project, kind } = filter;
    let reader = *reader;
    let ctes = reader.into_iter().flat_map(|NoteReader { viewer, today }| {
        let authorized = access::authorized_cte(viewer, today);
        let reported = access::reported_cte(Clearance::ByRole(viewer.user), today);
        [Some(authorized), reported].into_iter().flatten()
    });
    let state = state.map(|state| match state {
        TodoState::Pending => Sql::new("todos.state = 'pending'"),
        TodoState::Done => Sql::new("todos.state = 'done'"),
    });
    let kind = kind.map(|kind| match kind {
        TodoKind::Issue => Sql::new("todos.issue_id IS NOT NULL"),
        TodoKind::MergeRequest => Sql::new("todos.merge_request_id IS NOT NULL"),
    });
    let actions = actions
        .iter()
        .map(|action| Some(Sql::new("todos.action = ").text(action.as_str().to_owned())));
    let conditions = [
        Some(Sql::new("projects.id = todos.project_id")),
        Some(Sql::new("todos.user_id = ").id(user.0)),
        state,
        id.map(|id| Sql::new("todos.id = ").id(id.0)),
        author.map(|author| Sql::new("todos.author_id = ").id(author.0)),
        project.map(|project| Sql::new("todos.project_id = ").id(project.0)),
        kind,
    ];
    let conditions = conditions.into_iter().chain(actions);
    let conditions = conditions.chain([reader.map(target_visible_to)]);
    // `CROSS JOIN` fixes the join order: the query reads todos newest first, and looks up their projects.
    Sql::with(ctes)
        .sql("SELECT todos.id FROM todos CROSS JOIN projects")
        .filter(conditions.flatten())
}

/// Appends the values of a new row.
fn values(sql: Sql, new: &NewTodo) -> Sql {
    let or_null = |sql: Sql, id: Option<i64>| match id {
        Some(id) => sql.id(id),
        None => sql.sql("NULL"),
    };
    let (issue, request, commit) = match new.target {
        Noteable::Issue(issue) => (Some(issue.0), None, None),
        Noteable::MergeRequest(request) => (None, Some(request.0), None),
        Noteable::Commit { id, .. } => (None, None, Some(id)),
        // Snippets have no todos: the database refuses a row without a target.
        Noteable::Snippet(_) => (None, None, None),
    };
    let sql = sql.sql("(").id(new.user.0).sql(", ").id(new.project.0).sql(", ");
    let sql = or_null(or_null(sql, issue).sql(", "), request).sql(", ");
    let sql = match commit {
        Some(id) => sql.text(id.to_string()),
        None => sql.sql("NULL"),
    };
    let sql = sql.sql(", ").id(new.author.0).sql(", ").text(new.action.as_str().to_owned());
    or_null(sql.sql(", "), new.note.map(|note| note.0))
        .sql(", 'pending', ")
        .moment(to_naive(new.at))
        .sql(")")
}

impl DieselTx<'_> {
    fn todos_by_id(&mut self, ids: &[i64]) -> Result<Vec<Todo>, StoreError> {
        let mut rows: Vec<TodoRow> =
            self.by_ids(ids, |conn, ids| todos::table.filter(todos::id.among(ids)).load(conn))?;
        page::arrange(&mut rows, ids, |row| row.id);
        self.convert_rows(rows)
    }
}

impl Todos for DieselTx<'_> {
    /// Two queries, and one for the total unless the page shows the end of the list. To count a todo, its project, its
    /// target and the role of the reader are looked up.
    fn list(&mut self, filter: &TodoFilter, page: Page) -> Result<Paged<Todo>, StoreError> {
        let (all, name) = (matching(filter), || format!("todos {filter:?}"));
        let (ids, total) =
            self.page_at(CountCost::PerRowWithLookups, all, " ORDER BY todos.id DESC", page, name)?;
        Ok(Paged { items: self.todos_by_id(&ids)?, total })
    }

    fn find_pending(&mut self, user: UserId, target: Noteable) -> Result<Option<Todo>, StoreError> {
        let query = Sql::new("SELECT todos.id FROM todos WHERE ");
        let ids = self.ids(query.then(is_pending_for(user, target)))?;
        Ok(self.todos_by_id(&ids)?.into_iter().next())
    }

    fn insert(&mut self, new: &[NewTodo]) -> Result<(), StoreError> {
        for rows in new.chunks(ROWS_PER_INSERT) {
            let mut separator = "";
            let insert = Sql::new(
                "INSERT INTO todos (user_id, project_id, issue_id, merge_request_id, commit_id, \
                 author_id, action, note_id, state, created_at) VALUES ",
            );
            let insert = rows.iter().fold(insert, |sql, row| {
                values(sql.sql(std::mem::replace(&mut separator, ", ")), row)
            });
            self.execute(insert.sql(" ON CONFLICT DO NOTHING"))?;
        }
        Ok(())
    }

    fn mark_done(&mut self, user: UserId, target: Noteable) -> Result<(), StoreError> {
        let update = Sql::new("UPDATE todos SET state = 'done' WHERE ");
        self.execute(update.then(is_pending_for(user, target)))
    }

    fn mark_matching_done(
        &mut self,
        filter: &TodoFilter,
        after: Option<TodoId>,
        limit: u32,
    ) -> Result<MarkedTodos, StoreError> {
        if filter.state == Some(TodoState::Done) {
            return Ok(MarkedTodos::default());
        }
        let pending = TodoFilter { state: Some(TodoState::Pending), ..filter.clone() };
        let mut query = matching(&pending);
        if let Some(after) = after {
            query = query.sql(" AND todos.id > ").id(after.0);
        }
        let ids = self.ids(query.sql(" ORDER BY todos.id LIMIT ").id(i64::from(limit)))?;
        if ids.is_empty() {
            return Ok(MarkedTodos::default());
        }
        let next = ids.last().filter(|_| ids.len() == limit as usize).copied().map(TodoId);
        let update =
            Sql::new("UPDATE todos SET state = 'done' WHERE state = 'pending' AND id IN (");
        let count = self.execute_counting(update.ids(ids).sql(")"))?.unsigned_abs();
        Ok(MarkedTodos { count, next })
    }

    fn delete_in_project(&mut self, user: UserId, project: ProjectId) -> Result<(), StoreError> {
        let rows = todos::table.filter(todos::project_id.eq(project.0));
        let rows = rows.filter(todos::user_id.eq(user.0));
        self.write(|conn| diesel::delete(rows).execute(conn))
    }
}
