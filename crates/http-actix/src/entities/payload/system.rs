//! Payloads of system hooks: users, keys, projects, groups and members.

use hexforge_domain::Timestamp;
use hexforge_domain::outbox::{
    GroupFacts, GroupMemberFacts, KeyFacts, MemberFacts, ProjectFacts, TeamFacts, UserFacts,
};
use serde_json::{Value, json};

use super::system_time;

/// A user who came or goes.
pub fn user(name: &str, user: &UserFacts) -> Value {
    let mut told = begun(name, user.created_at, user.updated_at);
    told["name"] = json!(user.name);
    told["email"] = json!(user.email);
    told["user_id"] = json!(user.id.0);
    told["username"] = json!(user.username);
    told
}

/// A key that came or goes.
pub fn key(name: &str, key: &KeyFacts) -> Value {
    // Keys never change.
    let mut told = begun(name, key.created_at, key.created_at);
    told["key"] = json!(key.key);
    told["id"] = json!(key.id.0);
    told["username"] = json!(key.username);
    told
}

/// A project that came or goes, or that has another path than before.
pub fn project(name: &str, project: &ProjectFacts, before: Option<&str>) -> Value {
    let mut told = begun(name, project.created_at, project.updated_at);
    told["name"] = json!(project.name);
    told["path"] = json!(project.path);
    told["path_with_namespace"] = json!(project.path_with_namespace);
    told["project_id"] = json!(project.id.0);
    told["owner_name"] = json!(project.owner_name);
    told["owner_email"] = json!(project.owner_email);
    told["project_visibility"] = json!(project.visibility.as_str());
    if let Some(before) = before {
        told["old_path_with_namespace"] = json!(before);
    }
    told
}

/// A member of a project who came or goes.
pub fn team(name: &str, team: &TeamFacts) -> Value {
    let TeamFacts { project, member } = team;
    let mut told = begun(name, member.at, member.at);
    told["project_name"] = json!(project.name);
    told["project_path"] = json!(project.path);
    told["project_path_with_namespace"] = json!(project.path_with_namespace);
    told["project_id"] = json!(project.id.0);
    add_member(&mut told, member);
    told["access_level"] = json!(member.access.word());
    told["project_visibility"] = json!(project.visibility.as_str());
    told
}

/// A group that came or goes.
pub fn group(name: &str, group: &GroupFacts) -> Value {
    let mut told = begun(name, group.created_at, group.updated_at);
    told["name"] = json!(group.name);
    told["path"] = json!(group.path);
    told["group_id"] = json!(group.id.0);
    told["owner_name"] = Value::Null;
    told["owner_email"] = Value::Null;
    told
}

/// A member of a group who came or goes.
pub fn group_member(name: &str, facts: &GroupMemberFacts) -> Value {
    let GroupMemberFacts { group, member } = facts;
    let mut told = begun(name, member.at, member.at);
    told["group_name"] = json!(group.name);
    told["group_path"] = json!(group.path);
    told["group_id"] = json!(group.id.0);
    add_member(&mut told, member);
    told["group_access"] = json!(member.access.word());
    told
}

/// The fields that all payloads of system hooks begin with.
fn begun(name: &str, created_at: Timestamp, updated_at: Timestamp) -> Value {
    json!({
        "event_name": name,
        "created_at": system_time(created_at),
        "updated_at": system_time(updated_at),
    })
}

fn add_member(told: &mut Value, member: &MemberFacts) {
    told["user_username"] = json!(member.username);
    told["user_name"] = json!(member.name);
    told["user_email"] = json!(member.email);
    told["user_id"] = json!(member.user.0);
}
