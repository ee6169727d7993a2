//! Creates todos and marks them as done, in the transactions of the changes that cause it.

use hexforge_domain::Timestamp;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{MilestoneId, UserId};
use hexforge_domain::issue::Issue;
use hexforge_domain::issue::mention::mentioned_usernames;
use hexforge_domain::merge_request::MergeRequest;
use hexforge_domain::note::task_list::changed_tasks;
use hexforge_domain::note::{Note, Noteable};
use hexforge_domain::policy::project::ProjectRole;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::text::LongText;
use hexforge_domain::todo::{NewTodo, TodoAction};
use hexforge_domain::user::User;

use crate::access::tracker::Tracker;

/// The maximum number of users who get a todo by one text. Mentions of groups can name many more.
const MAX_MENTIONED: u32 = 1000;

/// The target of todos.
#[derive(Clone, Copy)]
pub(crate) enum TodoSubject<'a> {
    Issue(&'a Issue),
    MergeRequest(&'a MergeRequest),
    Commit(ObjectId),
}

impl<'a> TodoSubject<'a> {
    fn target(self, tracker: &Tracker) -> Noteable {
        match self {
            Self::Issue(issue) => issue.id.into(),
            Self::MergeRequest(request) => request.id.into(),
            Self::Commit(id) => Noteable::Commit { project: tracker.project.id, id },
        }
    }

    fn title(self) -> &'a str {
        match self {
            Self::Issue(issue) => issue.title.as_str(),
            Self::MergeRequest(request) => request.title.as_str(),
            Self::Commit(_) => "",
        }
    }

    fn description(self) -> &'a str {
        let description = match self {
            Self::Issue(issue) => issue.description.as_ref(),
            Self::MergeRequest(request) => request.description.as_ref(),
            Self::Commit(_) => None,
        };
        description.map_or("", LongText::as_str)
    }

    fn assignee(self) -> Option<UserId> {
        match self {
            Self::Issue(issue) => issue.assignee,
            Self::MergeRequest(request) => request.assignee,
            Self::Commit(_) => None,
        }
    }

    fn milestone(self) -> Option<MilestoneId> {
        match self {
            Self::Issue(issue) => issue.milestone,
            Self::MergeRequest(request) => request.milestone,
            Self::Commit(_) => None,
        }
    }

    /// Returns whether a user with these rights in the project may read the target.
    fn is_read_by(self, tracker: &Tracker, user: &User, role: ProjectRole) -> bool {
        match self {
            Self::Issue(issue) => tracker.is_issue_seen_by(issue, user, role),
            Self::MergeRequest(request) => tracker.is_request_seen_by(request, user, role),
            Self::Commit(_) => tracker.is_code_seen_by(user, role),
        }
    }
}

/// What a command in a note does with the todo of its author.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TodoCommand {
    /// Creates a todo.
    Create,
    /// Marks the pending todo as done.
    Done,
}

/// The user who causes todos in a project, and the time.
#[derive(Clone, Copy)]
pub(crate) struct TodoWriter<'a> {
    pub tracker: &'a Tracker,
    pub author: UserId,
    pub now: Timestamp,
}

impl TodoWriter<'_> {
    /// Creates the todos for a new issue or merge request: of its assignee, and of the users whom it mentions.
    pub(crate) fn record_creation(
        self,
        tx: &mut dyn Tx,
        subject: TodoSubject<'_>,
    ) -> Result<(), StoreError> {
        self.assign(tx, subject)?;
        self.mention(tx, subject, None, subject.description())
    }

    /// Marks the todo of the author as done after an edit, and creates those of a new assignee and of mentioned users.
    /// Toggled items of a task list mention nobody.
    pub(crate) fn record_edit(
        self,
        tx: &mut dyn Tx,
        before: TodoSubject<'_>,
        after: TodoSubject<'_>,
        relabelled: bool,
    ) -> Result<(), StoreError> {
        let (was, is) = (before.description(), after.description());
        let is_rewritten = before.title() != after.title() || was != is;
        let is_reassigned = before.assignee() != after.assignee();
        let is_moved = before.milestone() != after.milestone();
        if is_rewritten || is_reassigned || is_moved || relabelled {
            self.finish(tx, after)?;
        }
        if is_reassigned {
            self.assign(tx, after)?;
        }
        if is_rewritten && changed_tasks(was, is).is_empty() {
            self.mention(tx, after, None, is)?;
        }
        Ok(())
    }

    /// Marks the todo of the author of a new note as done, and creates those of the users whom it mentions.
    pub(crate) fn record_note(
        self,
        tx: &mut dyn Tx,
        subject: TodoSubject<'_>,
        note: &Note,
    ) -> Result<(), StoreError> {
        self.finish(tx, subject)?;
        self.record_note_edit(tx, subject, note)
    }

    /// Creates the todos of the users whom a changed note mentions.
    pub(crate) fn record_note_edit(
        self,
        tx: &mut dyn Tx,
        subject: TodoSubject<'_>,
        note: &Note,
    ) -> Result<(), StoreError> {
        self.mention(tx, subject, Some(note), note.body.as_str())
    }

    /// Applies a command of the author.
    pub(crate) fn apply(
        self,
        tx: &mut dyn Tx,
        subject: TodoSubject<'_>,
        command: TodoCommand,
    ) -> Result<(), StoreError> {
        match command {
            TodoCommand::Create => {
                tx.todos().insert(&[self.todo(subject, self.author, TodoAction::Marked, None)])
            }
            TodoCommand::Done => self.finish(tx, subject),
        }
    }

    /// Marks the todo of the author as done.
    pub(crate) fn finish(
        self,
        tx: &mut dyn Tx,
        subject: TodoSubject<'_>,
    ) -> Result<(), StoreError> {
        tx.todos().mark_done(self.author, subject.target(self.tracker))
    }

    fn assign(self, tx: &mut dyn Tx, subject: TodoSubject<'_>) -> Result<(), StoreError> {
        let Some(assignee) = subject.assignee() else { return Ok(()) };
        tx.todos().insert(&[self.todo(subject, assignee, TodoAction::Assigned, None)])
    }

    fn mention(
        self,
        tx: &mut dyn Tx,
        subject: TodoSubject<'_>,
        note: Option<&Note>,
        text: &str,
    ) -> Result<(), StoreError> {
        let names = mentioned_usernames(text);
        if names.is_empty() {
            return Ok(());
        }
        let Tracker { project, requester, .. } = self.tracker;
        let users =
            tx.project_members().mentioned(project.id, &names, requester.today, MAX_MENTIONED)?;
        let readers =
            users.iter().filter(|(user, role)| subject.is_read_by(self.tracker, user, *role));
        let todo = |(user, _): &(User, _)| self.todo(subject, user.id, TodoAction::Mentioned, note);
        let new: Vec<NewTodo> = readers.map(todo).collect();
        tx.todos().insert(&new)
    }

    fn todo(
        self,
        subject: TodoSubject<'_>,
        user: UserId,
        action: TodoAction,
        note: Option<&Note>,
    ) -> NewTodo {
        NewTodo {
            user,
            project: self.tracker.project.id,
            target: subject.target(self.tracker),
            author: self.author,
            action,
            note: note.map(|note| note.id),
            at: self.now,
        }
    }
}
