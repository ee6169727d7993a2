//! Helpers of the tests about groups, members and hooks: creating objects through the API, and the facts that events
//! have about them.

use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::{GroupFacts, GroupMemberFacts, MemberFacts, ProjectFacts};
use hexforge_domain::visibility::Visibility;
use hexforge_domain_testing::builders::a_moment;
use hexforge_http_actix::Dialect;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Backend, Forge, ForgeOptions};
use serde_json::{Map, Value, json};

use crate::api::support::{id_of, message};

/// Creates a group whose name equals its path, and returns the response.
#[track_caller]
pub fn new_group(forge: &Forge, token: &str, path: &str, more: &[(&str, &str)]) -> Value {
    let mut form = vec![("name", path), ("path", path)];
    form.extend(more);
    forge.post("/groups").token(token).form(&form).send().expect(201)
}

/// Creates a personal project of the caller, and returns the response.
#[track_caller]
pub fn new_project(forge: &Forge, token: &str, name: &str, more: &[(&str, &str)]) -> Value {
    let mut form = vec![("name", name)];
    form.extend(more);
    forge.post("/projects").token(token).form(&form).send().expect(201)
}

/// Creates a project in a group.
#[track_caller]
pub fn project_in(forge: &Forge, group: &Value, name: &str, more: &[(&str, &str)]) -> Value {
    let group = id_of(group).to_string();
    let mut fields = vec![("namespace_id", group.as_str())];
    fields.extend(more);
    new_project(forge, ROOT, name, &fields)
}

/// Shares a project with a group.
#[track_caller]
pub fn share(forge: &Forge, project: &Value, group: &Value, access: &str) {
    let path = format!("/projects/{}/share", id_of(project));
    let group = id_of(group).to_string();
    let form = [("group_id", group.as_str()), ("group_access", access)];
    forge.post(&path).token(ROOT).form(&form).send().expect(201);
}

/// Adds a member to a group or project, which is given by its path: `/groups/7` or `/projects/7`.
#[track_caller]
pub fn add_member(
    forge: &Forge,
    source: &str,
    user: i64,
    level: i64,
    more: &[(&str, &str)],
) -> Value {
    let (user, level) = (user.to_string(), level.to_string());
    let mut form = vec![("user_id", user.as_str()), ("access_level", level.as_str())];
    form.extend(more);
    forge.post(&format!("{source}/members")).token(ROOT).form(&form).send().expect(201)
}

/// Creates an external user, who does not see internal objects, and signs in.
pub fn external_user(forge: &Forge, username: &str) -> (i64, String) {
    let user = forge.new_user(username, &[("external", "true")]);
    (id_of(&user), forge.sign_in(username))
}

/// The path of a group in the API.
pub fn path_of_group(group: &Value) -> String {
    format!("/groups/{}", id_of(group))
}

/// The path of a project in the API.
pub fn path_of_project(project: &Value) -> String {
    format!("/projects/{}", id_of(project))
}

/// The 403 body for callers who may see the object but not change it.
pub fn forbidden() -> Value {
    message("403 Forbidden")
}

/// The 404 body for an unknown or hidden group.
pub fn no_group() -> Value {
    message("404 Group Not Found")
}

/// The 404 body for an unknown or hidden project.
pub fn no_project() -> Value {
    message("404 Project Not Found")
}

/// The body `{"error": "…"}` for invalid declared parameters.
pub fn error(text: &str) -> Value {
    json!({ "error": text })
}

/// The names of the fields of an object, in their order.
#[track_caller]
pub fn fields_of(shown: &Value) -> Vec<&str> {
    shown.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// A project in its current state, as groups show it.
#[track_caller]
pub fn project_now(forge: &Forge, id: i64) -> Value {
    let project = forge.get(&format!("/projects/{id}")).token(ROOT).send().expect(200);
    let Value::Object(fields) = project else { panic!("a project is an object") };
    let hidden = ["runners_token", "permissions"];
    let shown: Map<String, Value> =
        fields.into_iter().filter(|(name, _)| !hidden.contains(&name.as_str())).collect();
    Value::Object(shown)
}

/// A member, as responses show it.
#[track_caller]
pub fn member_json(forge: &Forge, id: i64, level: i64, expires_at: Value) -> Value {
    let user = forge.get(&format!("/users/{id}")).token(ROOT).send().expect(200);
    json!({
        "name": user["name"], "username": user["username"], "id": id, "state": user["state"],
        "avatar_url": user["avatar_url"], "web_url": user["web_url"], "access_level": level,
        "expires_at": expires_at
    })
}

/// The actions in a project and the ids of their authors, newest first.
#[track_caller]
pub fn activity_in(forge: &Forge, project: &Value) -> Vec<(String, i64)> {
    let path = format!("/projects/{}/events", id_of(project));
    let events = forge.get(&path).token(ROOT).send().expect(200);
    let event = |event: &Value| {
        let action = event["action_name"].as_str().expect("an event has an action").to_owned();
        (action, event["author_id"].as_i64().expect("an event has an author"))
    };
    events.as_array().expect("a list").iter().map(event).collect()
}

/// The facts of events about a group that was created at the start of the clock.
pub fn group_facts(group: &Value) -> GroupFacts {
    GroupFacts {
        id: NamespaceId(id_of(group)),
        name: text_of(group, "name"),
        path: text_of(group, "path"),
        created_at: a_moment(),
        updated_at: a_moment(),
    }
}

/// The facts of events about a group member who was created at the start of the clock.
pub fn group_member(
    group: &Value,
    username: &str,
    id: i64,
    level: AccessLevel,
) -> GroupMemberFacts {
    GroupMemberFacts { group: group_facts(group), member: member_facts(username, id, level) }
}

/// The facts of events about a member who was created at the start of the clock. `root` has another name and address.
pub fn member_facts(username: &str, id: i64, access: AccessLevel) -> MemberFacts {
    MemberFacts {
        user: UserId(id),
        username: username.to_owned(),
        name: username.to_owned(),
        email: format!("{username}@example.com"),
        access,
        at: a_moment(),
    }
}

/// The facts of events about a project that was created at the start of the clock.
pub fn project_facts(project: &Value, owner_name: &str, owner_email: &str) -> ProjectFacts {
    let level = project["visibility_level"].as_i64().and_then(Visibility::from_level);
    ProjectFacts {
        id: ProjectId(id_of(project)),
        name: text_of(project, "name"),
        path: text_of(project, "path"),
        path_with_namespace: text_of(project, "path_with_namespace"),
        owner_name: owner_name.to_owned(),
        owner_email: owner_email.to_owned(),
        visibility: level.expect("a project has a level"),
        created_at: a_moment(),
        updated_at: a_moment(),
    }
}

#[track_caller]
fn text_of(shown: &Value, field: &str) -> String {
    shown[field].as_str().expect("the field is a text").to_owned()
}

/// Runs a case in the original dialect, on every store.
pub fn in_the_original(case: fn(&Forge)) {
    for backend in [Backend::Fake, Backend::Sqlite, Backend::Postgres] {
        if let Some(forge) = Forge::start(ForgeOptions { backend, dialect: Dialect::Original }) {
            case(&forge);
        }
    }
}
