//! Payloads of system hooks: users, keys, projects, groups and members.

use hexforge_domain::Timestamp;
use hexforge_domain::outbox::{
    DeployKeyFacts, GroupFacts, GroupMemberFacts, KeyFacts, MemberFacts, ProjectFacts, TeamFacts,
    UserFacts,
};
use serde_json::{Value, json};

use super::system_time;

/// The payload for a user who was created or removed.
pub fn user(name: &str, user: &UserFacts) -> Value {
    let mut payload = base_payload(name, user.created_at, user.updated_at);
    payload["name"] = json!(user.name);
    payload["email"] = json!(user.email);
    payload["user_id"] = json!(user.id.0);
    payload["username"] = json!(user.username);
    payload
}

/// The payload for a key that was added or removed.
pub fn key(name: &str, key: &KeyFacts) -> Value {
    // Keys never change, so both times are the same.
    let mut payload = base_payload(name, key.created_at, key.created_at);
    payload["key"] = json!(key.key);
    payload["id"] = json!(key.id.0);
    payload["username"] = json!(key.username);
    payload
}

/// The payload for a deploy key that was added or removed.
pub fn deploy_key(name: &str, key: &DeployKeyFacts) -> Value {
    let mut payload = base_payload(name, key.created_at, key.created_at);
    payload["key"] = json!(key.key);
    payload["id"] = json!(key.id.0);
    payload
}

/// The payload for a project that was created, removed or moved; `before` is its old path.
pub fn project(name: &str, project: &ProjectFacts, before: Option<&str>) -> Value {
    let mut payload = base_payload(name, project.created_at, project.updated_at);
    payload["name"] = json!(project.name);
    payload["path"] = json!(project.path);
    payload["path_with_namespace"] = json!(project.path_with_namespace);
    payload["project_id"] = json!(project.id.0);
    payload["owner_name"] = json!(project.owner_name);
    payload["owner_email"] = json!(project.owner_email);
    payload["project_visibility"] = json!(project.visibility.as_str());
    if let Some(before) = before {
        payload["old_path_with_namespace"] = json!(before);
    }
    payload
}

/// The payload for a member who was added to or removed from a project.
pub fn team(name: &str, team: &TeamFacts) -> Value {
    let TeamFacts { project, member } = team;
    let mut payload = base_payload(name, member.at, member.at);
    payload["project_name"] = json!(project.name);
    payload["project_path"] = json!(project.path);
    payload["project_path_with_namespace"] = json!(project.path_with_namespace);
    payload["project_id"] = json!(project.id.0);
    add_member(&mut payload, member);
    payload["access_level"] = json!(member.access.as_str());
    payload["project_visibility"] = json!(project.visibility.as_str());
    payload
}

/// The payload for a group that was created or removed.
pub fn group(name: &str, group: &GroupFacts) -> Value {
    let mut payload = base_payload(name, group.created_at, group.updated_at);
    payload["name"] = json!(group.name);
    payload["path"] = json!(group.path);
    payload["group_id"] = json!(group.id.0);
    payload["owner_name"] = Value::Null;
    payload["owner_email"] = Value::Null;
    payload
}

/// The payload for a member who was added to or removed from a group.
pub fn group_member(name: &str, facts: &GroupMemberFacts) -> Value {
    let GroupMemberFacts { group, member } = facts;
    let mut payload = base_payload(name, member.at, member.at);
    payload["group_name"] = json!(group.name);
    payload["group_path"] = json!(group.path);
    payload["group_id"] = json!(group.id.0);
    add_member(&mut payload, member);
    payload["group_access"] = json!(member.access.as_str());
    payload
}

/// The fields that all payloads of system hooks begin with.
fn base_payload(name: &str, created_at: Timestamp, updated_at: Timestamp) -> Value {
    json!({
        "event_name": name,
        "created_at": system_time(created_at),
        "updated_at": system_time(updated_at),
    })
}

fn add_member(payload: &mut Value, member: &MemberFacts) {
    payload["user_username"] = json!(member.username);
    payload["user_name"] = json!(member.name);
    payload["user_email"] = json!(member.email);
    payload["user_id"] = json!(member.user.0);
}
