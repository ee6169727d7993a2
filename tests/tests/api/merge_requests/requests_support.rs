//! Helpers of the tests about merge requests.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Response};
use serde_json::{Value, json};

use crate::api::repositories::commits_support::post_commit;
use crate::api::repositories::refs_support::ProjectFixture;
use crate::api::support::id_of;

/// Asks to create a merge request of the project with these fields.
pub fn post_request(
    forge: &Forge,
    fixture: &ProjectFixture,
    who: &str,
    fields: &Value,
) -> Response {
    let path = format!("{}/merge_requests", fixture.cast.path);
    forge.post(&path).token(fixture.token(who)).json(fields).send()
}

/// Creates a merge request from a branch into `master`.
#[track_caller]
pub fn new_request(forge: &Forge, fixture: &ProjectFixture, source: &str, title: &str) -> Value {
    let fields = json!({"title": title, "source_branch": source, "target_branch": "master"});
    post_request(forge, fixture, "developer", &fields).expect(201)
}

/// The path of a merge request in the API.
pub fn path_of_request(request: &Value) -> String {
    format!("/projects/{}/merge_requests/{}", request["project_id"], id_of(request))
}

/// A merge request in its current state, as an administrator sees it.
#[track_caller]
pub fn request_now(forge: &Forge, request: &Value) -> Value {
    request_as(forge, ROOT, request)
}

/// A merge request in its current state, as the owner of the token sees it.
#[track_caller]
pub fn request_as(forge: &Forge, token: &str, request: &Value) -> Value {
    forge.get(&path_of_request(request)).token(token).send().expect(200)
}

/// Changes a merge request.
pub fn put_request(forge: &Forge, token: &str, request: &Value, fields: &Value) -> Response {
    forge.put(&path_of_request(request)).token(token).json(fields).send()
}

/// Asks to merge a request.
pub fn merge(forge: &Forge, token: &str, request: &Value, fields: &Value) -> Response {
    let path = format!("{}/merge", path_of_request(request));
    forge.put(&path).token(token).json(fields).send()
}

/// The texts of the notes on a merge request, oldest first.
#[track_caller]
pub fn request_notes(forge: &Forge, request: &Value) -> Vec<String> {
    let path = format!("{}/notes?per_page=100", path_of_request(request));
    let notes = forge.get(&path).token(ROOT).send().expect(200);
    let body = |note: &Value| note["body"].as_str().expect("a text").to_owned();
    notes.as_array().expect("a list").iter().map(body).collect()
}

/// Adds a commit with one file to a branch through the API, and returns its id.
#[track_caller]
pub fn commit_file(
    forge: &Forge,
    fixture: &ProjectFixture,
    branch: &str,
    path: &str,
    text: &str,
) -> String {
    let actions = json!([{"action": "create", "file_path": path, "content": text}]);
    let made = post_commit(forge, fixture, "master", branch, actions).expect(201);
    made["id"].as_str().expect("an id").to_owned()
}

/// The action names of the newest events of the project, newest first.
pub fn actions(forge: &Forge, fixture: &ProjectFixture) -> Vec<String> {
    let path = format!("{}/events?per_page=100", fixture.cast.path);
    let events = forge.get(&path).token(ROOT).send().expect(200);
    let action = |event: &Value| event["action_name"].as_str().expect("an action").to_owned();
    events.as_array().expect("a list").iter().map(action).collect()
}
