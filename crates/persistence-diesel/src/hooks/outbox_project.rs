//! What happened in projects, as rows of the outbox.

use chrono::NaiveDate;
use hexforge_domain::id::{IssueId, MilestoneId, NoteId, ProjectId, UserId};
use hexforge_domain::issue::IssueState;
use hexforge_domain::outbox::project::{
    IssueAction, IssueNews, IssueRow, NoteNews, NoteRow, Person, ProjectCard, ProjectEvent,
};
use hexforge_domain::visibility::Visibility;
use serde_json::{Value, json};

use crate::hooks::outbox::{micros, text};
use crate::hooks::outbox_ci;

pub(crate) fn to_row(event: &ProjectEvent) -> (&'static str, Value) {
    match event {
        ProjectEvent::Issue(news) => (
            "issue",
            json!({
                "action": news.action.as_str(),
                "user": person_to_json(&news.user),
                "project": card_to_json(&news.project),
                "issue": issue_to_json(&news.issue),
                "assignee": news.assignee.as_ref().map(person_to_json),
            }),
        ),
        ProjectEvent::NoteOnIssue(news) => (
            "note_on_issue",
            json!({
                "user": person_to_json(&news.user),
                "project": card_to_json(&news.project),
                "note": note_to_json(&news.note),
                "issue": issue_to_json(&news.issue),
            }),
        ),
        ProjectEvent::Build(news) => ("build", outbox_ci::build_to_json(news)),
        ProjectEvent::Pipeline(news) => ("pipeline", outbox_ci::pipeline_to_json(news)),
    }
}

pub(crate) fn from_row(kind: &str, payload: &Value) -> Option<ProjectEvent> {
    let (user, project) = (&payload["user"], &payload["project"]);
    Some(match kind {
        "issue" => ProjectEvent::Issue(IssueNews {
            action: IssueAction::parse(payload["action"].as_str()?)?,
            user: person_from_json(user)?,
            project: card_from_json(project)?,
            issue: issue_from_json(&payload["issue"])?,
            assignee: match &payload["assignee"] {
                Value::Null => None,
                assignee => Some(person_from_json(assignee)?),
            },
        }),
        "note_on_issue" => ProjectEvent::NoteOnIssue(NoteNews {
            user: person_from_json(user)?,
            project: card_from_json(project)?,
            note: note_from_json(&payload["note"])?,
            issue: issue_from_json(&payload["issue"])?,
        }),
        "build" => ProjectEvent::Build(outbox_ci::build_from_json(payload)?),
        "pipeline" => ProjectEvent::Pipeline(outbox_ci::pipeline_from_json(payload)?),
        _ => return None,
    })
}

pub(crate) fn person_to_json(person: &Person) -> Value {
    json!({
        "id": person.id.0,
        "name": person.name,
        "username": person.username,
        "email": person.email,
        "avatar": person.avatar,
    })
}

pub(crate) fn person_from_json(payload: &Value) -> Option<Person> {
    Some(Person {
        id: UserId(payload["id"].as_i64()?),
        name: text(payload, "name")?,
        username: text(payload, "username")?,
        email: text(payload, "email")?,
        avatar: text(payload, "avatar"),
    })
}

pub(crate) fn card_to_json(card: &ProjectCard) -> Value {
    json!({
        "id": card.id.0,
        "name": card.name,
        "description": card.description,
        "namespace": card.namespace,
        "path_with_namespace": card.path_with_namespace,
        "visibility_level": card.visibility.level(),
        "avatar": card.avatar,
        "default_branch": card.default_branch,
    })
}

pub(crate) fn card_from_json(payload: &Value) -> Option<ProjectCard> {
    Some(ProjectCard {
        id: ProjectId(payload["id"].as_i64()?),
        name: text(payload, "name")?,
        description: text(payload, "description"),
        namespace: text(payload, "namespace")?,
        path_with_namespace: text(payload, "path_with_namespace")?,
        visibility: Visibility::from_level(payload["visibility_level"].as_i64()?)?,
        avatar: text(payload, "avatar"),
        // Rows from before deliveries do not have it.
        default_branch: text(payload, "default_branch"),
    })
}

fn issue_to_json(issue: &IssueRow) -> Value {
    json!({
        "id": issue.id.0,
        "iid": issue.iid,
        "project_id": issue.project.0,
        "title": issue.title,
        "description": issue.description,
        "state": issue.state.as_str(),
        "author_id": issue.author.0,
        "assignee_id": issue.assignee.map(|user| user.0),
        "milestone_id": issue.milestone.map(|milestone| milestone.0),
        "updated_by_id": issue.updated_by.map(|user| user.0),
        "moved_to_id": issue.moved_to.map(|issue| issue.0),
        "confidential": issue.confidential,
        "due_date": issue.due_date.map(|day| day.to_string()),
        "created_at": issue.created_at.timestamp_micros(),
        "updated_at": issue.updated_at.timestamp_micros(),
    })
}

fn issue_from_json(payload: &Value) -> Option<IssueRow> {
    let due_date = match payload["due_date"].as_str() {
        None => None,
        Some(day) => Some(day.parse::<NaiveDate>().ok()?),
    };
    Some(IssueRow {
        id: IssueId(payload["id"].as_i64()?),
        iid: payload["iid"].as_i64()?,
        project: ProjectId(payload["project_id"].as_i64()?),
        title: text(payload, "title")?,
        description: text(payload, "description"),
        state: IssueState::parse(payload["state"].as_str()?)?,
        author: UserId(payload["author_id"].as_i64()?),
        assignee: payload["assignee_id"].as_i64().map(UserId),
        milestone: payload["milestone_id"].as_i64().map(MilestoneId),
        updated_by: payload["updated_by_id"].as_i64().map(UserId),
        moved_to: payload["moved_to_id"].as_i64().map(IssueId),
        confidential: payload["confidential"].as_bool()?,
        due_date,
        created_at: micros(payload, "created_at")?,
        updated_at: micros(payload, "updated_at")?,
    })
}

fn note_to_json(note: &NoteRow) -> Value {
    json!({
        "id": note.id.0,
        "body": note.body,
        "author_id": note.author.0,
        "updated_by_id": note.updated_by.map(|user| user.0),
        "created_at": note.created_at.timestamp_micros(),
        "updated_at": note.updated_at.timestamp_micros(),
    })
}

fn note_from_json(payload: &Value) -> Option<NoteRow> {
    Some(NoteRow {
        id: NoteId(payload["id"].as_i64()?),
        body: text(payload, "body")?,
        author: UserId(payload["author_id"].as_i64()?),
        updated_by: payload["updated_by_id"].as_i64().map(UserId),
        created_at: micros(payload, "created_at")?,
        updated_at: micros(payload, "updated_at")?,
    })
}
