//! Todos: issues, merge requests and commits that wait for a user.

pub mod port;

use crate::Timestamp;
use crate::id::{NoteId, ProjectId, TodoId, UserId};
use crate::note::Noteable;
use crate::note::port::NoteReader;

/// A todo as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Todo {
    /// Assigned by the store, never reused.
    pub id: TodoId,
    /// The user who has the todo.
    pub user: UserId,
    /// The project of the target.
    pub project: ProjectId,
    /// The issue, merge request or commit.
    pub target: Noteable,
    /// The user who caused the todo.
    pub author: UserId,
    /// The reason.
    pub action: TodoAction,
    /// The note that mentions the user, if a note caused the todo.
    pub note: Option<NoteId>,
    /// Whether the todo is done.
    pub state: TodoState,
    /// The creation time.
    pub created_at: Timestamp,
}

/// The input for a new todo, which is pending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTodo {
    /// See [`Todo::user`].
    pub user: UserId,
    /// See [`Todo::project`].
    pub project: ProjectId,
    /// See [`Todo::target`].
    pub target: Noteable,
    /// See [`Todo::author`].
    pub author: UserId,
    /// See [`Todo::action`].
    pub action: TodoAction,
    /// See [`Todo::note`].
    pub note: Option<NoteId>,
    /// See [`Todo::created_at`].
    pub at: Timestamp,
}

/// The reason of a todo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TodoAction {
    /// The target was assigned to the user.
    Assigned,
    /// A text mentions the user.
    Mentioned,
    /// A build of the user's merge request failed.
    BuildFailed,
    /// The user asked for it.
    Marked,
}

impl TodoAction {
    /// All actions, in the order of their numbers in the API.
    pub const ALL: [TodoAction; 4] =
        [Self::Assigned, Self::Mentioned, Self::BuildFailed, Self::Marked];

    /// The name in the API and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Assigned => "assigned",
            Self::Mentioned => "mentioned",
            Self::BuildFailed => "build_failed",
            Self::Marked => "marked",
        }
    }

    /// The number in the API.
    pub fn number(self) -> i64 {
        match self {
            Self::Assigned => 1,
            Self::Mentioned => 2,
            Self::BuildFailed => 3,
            Self::Marked => 4,
        }
    }

    /// Returns the action with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.as_str() == name)
    }

    /// Returns the action with this number.
    pub fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|action| action.number() == number)
    }
}

/// The state of a todo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TodoState {
    /// The todo waits for the user.
    Pending,
    /// The todo is done. It never becomes pending again.
    Done,
}

impl TodoState {
    /// The name in the API and in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Done => "done",
        }
    }

    /// Returns the state with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Pending, Self::Done].into_iter().find(|state| state.as_str() == name)
    }
}

/// The kind of targets that a list of todos is restricted to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TodoKind {
    /// Issues.
    Issue,
    /// Merge requests.
    MergeRequest,
}

impl TodoKind {
    /// Returns the kind with this name in the API.
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "Issue" => Some(Self::Issue),
            "MergeRequest" => Some(Self::MergeRequest),
            _ => None,
        }
    }
}

/// Which todos of a user are meant. All conditions have to hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TodoFilter {
    /// The user who has the todos.
    pub user: UserId,
    /// The user as the reader of the targets: todos whose target the user may not see any more are left out. `None` for
    /// administrators, who see all targets.
    pub reader: Option<NoteReader>,
    /// Only todos in this state.
    pub state: Option<TodoState>,
    /// Only the todo with this id.
    pub id: Option<TodoId>,
    /// Only todos with each of these actions; none if they differ.
    pub actions: Vec<TodoAction>,
    /// Only todos that this user caused.
    pub author: Option<UserId>,
    /// Only todos of this project.
    pub project: Option<ProjectId>,
    /// Only todos for targets of this kind.
    pub kind: Option<TodoKind>,
}

impl TodoFilter {
    /// All todos of a user whose targets the user may see.
    pub fn all_of(user: UserId, reader: Option<NoteReader>) -> Self {
        Self {
            user,
            reader,
            state: None,
            id: None,
            actions: vec![],
            author: None,
            project: None,
            kind: None,
        }
    }
}

/// The result of a step that marks todos as done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MarkedTodos {
    /// The number of todos that became done.
    pub count: u64,
    /// The todo after which the next step continues; `None` if no todos are left.
    pub next: Option<TodoId>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn actions_have_names_and_numbers() {
        use TodoAction::*;
        for (action, name, number) in [
            (Assigned, "assigned", 1),
            (Mentioned, "mentioned", 2),
            (BuildFailed, "build_failed", 3),
            (Marked, "marked", 4),
        ] {
            assert_eq!((action.as_str(), action.number()), (name, number));
            assert_eq!(TodoAction::from_name(name), Some(action));
            assert_eq!(TodoAction::from_number(number), Some(action));
        }
        for name in ["", "Assigned", "approval_required"] {
            assert_eq!(TodoAction::from_name(name), None, "{name}");
        }
        for number in [0, 5, -1] {
            assert_eq!(TodoAction::from_number(number), None, "{number}");
        }
    }

    #[test]
    fn states_and_kinds_have_names() {
        for (name, state) in
            [("pending", Some(TodoState::Pending)), ("done", Some(TodoState::Done)), ("x", None)]
        {
            assert_eq!(TodoState::from_name(name), state);
        }
        for (name, kind) in [
            ("Issue", Some(TodoKind::Issue)),
            ("MergeRequest", Some(TodoKind::MergeRequest)),
            ("Commit", None),
            ("issue", None),
        ] {
            assert_eq!(TodoKind::from_name(name), kind);
        }
    }
}
