//! The JSON form of project events in the outbox.

use chrono::NaiveDate;
use hexforge_domain::Timestamp;
use hexforge_domain::id::{IssueId, MilestoneId, NoteId, ProjectId, UserId};
use hexforge_domain::issue::IssueState;
use hexforge_domain::outbox::project::{
    IssueAction, IssueEvent, IssueRow, NoteEvent, NoteRow, Person, ProjectCard,
};
use hexforge_domain::visibility::Visibility;

use crate::database::json::stored;

stored! {
    IssueEvent {
        action: IssueAction,
        user: Person,
        project: ProjectCard,
        issue: IssueRow,
        #[serde(default)] assignee: Option<Person>,
    }

    NoteEvent {
        user: Person,
        project: ProjectCard,
        note: NoteRow,
        issue: IssueRow,
    }

    Person {
        id: UserId,
        name: String,
        username: String,
        email: String,
        #[serde(default)] avatar: Option<String>,
    }

    ProjectCard {
        id: ProjectId,
        name: String,
        #[serde(default)] description: Option<String>,
        namespace: String,
        path_with_namespace: String,
        #[serde(rename = "visibility_level")] visibility: Visibility,
        #[serde(default)] avatar: Option<String>,
        #[serde(default)] default_branch: Option<String>,
    }

    IssueRow {
        id: IssueId,
        iid: i64,
        #[serde(rename = "project_id")] project: ProjectId,
        title: String,
        #[serde(default)] description: Option<String>,
        state: IssueState,
        #[serde(rename = "author_id")] author: UserId,
        #[serde(default, rename = "assignee_id")] assignee: Option<UserId>,
        #[serde(default, rename = "milestone_id")] milestone: Option<MilestoneId>,
        #[serde(default, rename = "updated_by_id")] updated_by: Option<UserId>,
        #[serde(default, rename = "moved_to_id")] moved_to: Option<IssueId>,
        confidential: bool,
        #[serde(default)] due_date: Option<NaiveDate>,
        created_at: Timestamp,
        updated_at: Timestamp,
    }

    NoteRow {
        id: NoteId,
        body: String,
        #[serde(rename = "author_id")] author: UserId,
        #[serde(default, rename = "updated_by_id")] updated_by: Option<UserId>,
        created_at: Timestamp,
        updated_at: Timestamp,
    }
}
