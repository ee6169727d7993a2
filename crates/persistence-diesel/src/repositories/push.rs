//! Pushes as events and the outbox keep them.

use chrono::DateTime;
use hexforge_domain::commit::ObjectId;
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::push::{ChangedPaths, Push, PushedCommit, PushedProject, Pusher, Reach};
use hexforge_domain::visibility::Visibility;
use serde_json::{Value, json};

pub(crate) fn to_json(push: &Push) -> Value {
    json!({
        "ref": push.reference,
        "before": push.before.to_string(),
        "after": push.after.to_string(),
        "checkout": push.checkout.map(|id| id.to_string()),
        "message": push.message,
        "user": {
            "id": push.user.id.0,
            "name": push.user.name,
            "email": push.user.email,
            "avatar": push.user.avatar,
        },
        "project": {
            "id": push.project.id.0,
            "name": push.project.name,
            "description": push.project.description,
            "avatar": push.project.avatar,
            "namespace": push.project.namespace,
            "visibility": push.project.visibility.level(),
            "path": push.project.path_with_namespace,
            "default_branch": push.project.default_branch,
        },
        "commits": push.commits.iter().map(commit_to_json).collect::<Vec<_>>(),
        "total": push.total_commits,
        "reach": match push.reach {
            Reach::Everywhere => None,
            Reach::Project => Some("project"),
        },
    })
}

pub(crate) fn from_json(value: &Value) -> Option<Push> {
    let (user, project) = (&value["user"], &value["project"]);
    Some(Push {
        reference: text(&value["ref"])?,
        before: id(&value["before"])?,
        after: id(&value["after"])?,
        checkout: id(&value["checkout"]),
        message: text(&value["message"]),
        user: Pusher {
            id: UserId(user["id"].as_i64()?),
            name: text(&user["name"])?,
            email: text(&user["email"])?,
            avatar: text(&user["avatar"]),
        },
        project: PushedProject {
            id: ProjectId(project["id"].as_i64()?),
            name: text(&project["name"])?,
            description: text(&project["description"]),
            avatar: text(&project["avatar"]),
            namespace: text(&project["namespace"])?,
            visibility: Visibility::from_level(project["visibility"].as_i64()?)?,
            path_with_namespace: text(&project["path"])?,
            default_branch: text(&project["default_branch"]),
        },
        commits: value["commits"]
            .as_array()?
            .iter()
            .map(commit_from_json)
            .collect::<Option<_>>()?,
        total_commits: value["total"].as_u64()?,
        // Rows from before deliveries do not say it.
        reach: match value["reach"].as_str() {
            None => Reach::Everywhere,
            Some("project") => Reach::Project,
            Some(_) => return None,
        },
    })
}

fn commit_to_json(commit: &PushedCommit) -> Value {
    json!({
        "id": commit.id.to_string(),
        "message": commit.message,
        "at": commit.at.to_rfc3339(),
        "name": commit.author_name,
        "email": commit.author_email,
        "added": commit.paths.added,
        "modified": commit.paths.modified,
        "removed": commit.paths.removed,
    })
}

fn commit_from_json(value: &Value) -> Option<PushedCommit> {
    Some(PushedCommit {
        id: id(&value["id"])?,
        message: text(&value["message"])?,
        at: DateTime::parse_from_rfc3339(value["at"].as_str()?).ok()?,
        author_name: text(&value["name"])?,
        author_email: text(&value["email"])?,
        paths: ChangedPaths {
            added: texts(&value["added"])?,
            modified: texts(&value["modified"])?,
            removed: texts(&value["removed"])?,
        },
    })
}

fn text(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn texts(value: &Value) -> Option<Vec<String>> {
    value.as_array()?.iter().map(text).collect()
}

fn id(value: &Value) -> Option<ObjectId> {
    ObjectId::parse(value.as_str()?)
}
