//! Helpers of the tests about merge requests of forks.

use hexforge_tests::{Forge, Response};
use serde_json::{Value, json};

use crate::api::groups::group_support::path_of_project;
use crate::api::repositories::refs_support::{
    ProjectFixture, do_tasks, empty_fixture_with_visibility, fill,
};

/// A public project, and its fork by the stranger with a commit on `topic`.
pub fn forked(forge: &Forge) -> (ProjectFixture, Value) {
    let fixture = empty_fixture_with_visibility(forge, "20");
    fill(forge, &fixture);
    let fork = fork_by(forge, &fixture, "stranger");
    (fixture, fork)
}

/// The fork of the project by a user of the cast, with a commit on `topic`.
#[track_caller]
pub fn fork_by(forge: &Forge, fixture: &ProjectFixture, who: &str) -> Value {
    let path = format!("/projects/fork/{}", fixture.project());
    let form = [("namespace", who)];
    let fork = forge.post(&path).token(fixture.token(who)).form(&form).send().expect(201);
    do_tasks(forge);
    commit_to(forge, fixture.token(who), &fork, "topic", "new");
    fork
}

/// Adds a commit with one file to a branch of a fork, which is created if it is missing. Returns its id.
#[track_caller]
pub fn commit_to(forge: &Forge, token: &str, fork: &Value, branch: &str, file: &str) -> String {
    let path = path_of_project(fork);
    let new = [("branch_name", branch), ("ref", "master")];
    forge.post(&format!("{path}/repository/branches")).token(token).form(&new).send();
    let body = json!({"branch_name": branch, "commit_message": "In the fork",
        "actions": [{"action": "create", "file_path": file, "content": "x\n"}]});
    let made = forge.post(&format!("{path}/repository/commits")).token(token).json(&body).send();
    made.expect(201)["id"].as_str().expect("an id").to_owned()
}

/// Asks to create a merge request from `topic` of a project into `master` of another one.
pub fn post_from(forge: &Forge, token: &str, from: &Value, into: i64, more: &Value) -> Response {
    let mut fields = json!({"title": "From the fork", "source_branch": "topic",
        "target_branch": "master", "target_project_id": into});
    for (name, value) in more.as_object().expect("an object") {
        fields[name] = value.clone();
    }
    let path = format!("{}/merge_requests", path_of_project(from));
    forge.post(&path).token(token).json(&fields).send()
}
