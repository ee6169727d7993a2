//! Builders of labels, milestones, issues, notes, awards and todos.

use super::{a_moment, a_text};
use hexforge_domain::Timestamp;
use hexforge_domain::award::{Awardable, EmojiName, NewAward};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::issue::{NewIssue, Title};
use hexforge_domain::label::{Label, LabelTitle, NewLabel};
use hexforge_domain::milestone::NewMilestone;
use hexforge_domain::note::{NewNote, NoteBody, Noteable};
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::snippet::{NewSnippet, SnippetFileName};
use hexforge_domain::text::LongText;
use hexforge_domain::todo::{NewTodo, TodoAction};
use hexforge_domain::visibility::Visibility;

/// Parses a title. Panics if it is invalid.
pub fn a_title(title: &str) -> Title {
    Title::parse(title).expect("tests use good titles")
}

/// A label with this title and the default colour.
pub fn a_label(title: &str) -> NewLabel {
    NewLabel::with_title(LabelTitle::parse(title).expect("tests use good titles"), a_moment())
}

/// Stores a label with this title.
/// # Errors
/// See [`Labels::insert_all`](hexforge_domain::label::port::Labels::insert_all).
pub fn insert_label(tx: &mut dyn Tx, project: ProjectId, title: &str) -> Result<Label, StoreError> {
    let mut made = tx.labels().insert_all(project, vec![a_label(title)])?;
    Ok(made.pop().expect("it was just made"))
}

/// Stores a label in a transaction of its own.
pub fn label_in(store: &dyn Store, project: ProjectId, title: &str) -> Label {
    let made: Result<Label, StoreError> = store.write(|tx| insert_label(tx, project, title));
    made.expect("titles of a project's labels differ in a test")
}

/// A milestone with this title.
pub fn a_milestone(project: ProjectId, title: &str) -> NewMilestone {
    NewMilestone {
        project,
        title: a_title(title),
        description: None,
        start_date: None,
        due_date: None,
        at: a_moment(),
    }
}

/// An issue with this title that is not confidential and has no assignee.
pub fn an_issue(project: ProjectId, author: UserId, title: &str) -> NewIssue {
    NewIssue {
        project,
        author,
        assignee: None,
        milestone: None,
        title: a_title(title),
        description: None,
        confidential: false,
        due_date: None,
        created_at: a_moment(),
        at: a_moment(),
    }
}

/// An issue with this creation time.
pub fn an_issue_at(project: ProjectId, author: UserId, moment: Timestamp) -> NewIssue {
    NewIssue { created_at: moment, at: moment, ..an_issue(project, author, "an issue") }
}

/// A note of a user on an issue, merge request or commit.
pub fn a_note(project: ProjectId, on: impl Into<Noteable>, author: UserId, body: &str) -> NewNote {
    NewNote {
        project,
        on: on.into(),
        position: None,
        author,
        body: NoteBody::parse(body).expect("tests use good notes"),
        system: false,
        source: None,
        created_at: a_moment(),
        at: a_moment(),
    }
}

/// An award of the emoji with this name.
pub fn an_award(on: impl Into<Awardable>, user: UserId, name: &str) -> NewAward {
    let name = EmojiName::parse(name).expect("tests use known emoji");
    NewAward { on: on.into(), user, name, at: a_moment() }
}

/// A todo of the user, who marked the target.
pub fn a_todo(project: ProjectId, target: impl Into<Noteable>, user: UserId) -> NewTodo {
    NewTodo {
        user,
        project,
        target: target.into(),
        author: user,
        action: TodoAction::Marked,
        note: None,
        at: a_moment(),
    }
}

/// A private snippet with a short content, in a project or of a user alone.
pub fn a_snippet(project: Option<ProjectId>, author: UserId) -> NewSnippet {
    NewSnippet {
        project,
        author,
        title: a_text("a snippet"),
        file_name: SnippetFileName::stored("a.rb".into()),
        content: LongText::parse("puts 1").expect("tests use short texts"),
        visibility: Visibility::Private,
        at: a_moment(),
    }
}
