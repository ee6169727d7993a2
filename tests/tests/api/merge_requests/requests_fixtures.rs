//! Projects, forks and switches for the tests about merge requests.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Response};
use serde_json::{Value, json};

use super::requests_support::path_of_request;
use crate::api::groups::group_support::path_of_project;
use crate::api::repositories::refs_support::{
    ProjectFixture, do_tasks, empty_fixture_with_visibility, fill,
};
use crate::api::support::id_of;

/// A project with this visibility, filled as by [`fill`].
pub fn fixture_with_visibility(forge: &Forge, level: &str) -> ProjectFixture {
    let fixture = empty_fixture_with_visibility(forge, level);
    fill(forge, &fixture);
    fixture
}

/// The fork of a public project by the stranger, with a commit on `topic`. Returns the fork and the commit.
#[track_caller]
pub fn fork_with_topic(forge: &Forge, fixture: &ProjectFixture) -> (Value, String) {
    let stranger = fixture.token("stranger");
    let path = format!("/projects/fork/{}", fixture.project());
    let form = [("namespace", "stranger")];
    let fork = forge.post(&path).token(stranger).form(&form).send().expect(201);
    do_tasks(forge);
    let repository = format!("{}/repository", path_of_project(&fork));
    let new = [("branch_name", "topic"), ("ref", "master")];
    let branches = format!("{repository}/branches");
    forge.post(&branches).token(stranger).form(&new).send().expect(200);
    let body = json!({"branch_name": "topic", "commit_message": "In the fork",
        "actions": [{"action": "create", "file_path": "new", "content": "x\n"}]});
    let made = forge.post(&format!("{repository}/commits")).token(stranger).json(&body).send();
    let id = made.expect(201)["id"].as_str().expect("an id").to_owned();
    (fork, id)
}

/// Asks the project for a merge of the fork's `topic`, as the stranger, with more fields.
pub fn post_from_fork(
    forge: &Forge,
    fixture: &ProjectFixture,
    fork: &Value,
    more: &Value,
) -> Response {
    let mut fields = json!({"title": "From the fork", "source_branch": "topic",
        "target_branch": "master", "target_project_id": fixture.project()});
    for (name, value) in more.as_object().expect("an object") {
        fields[name] = value.clone();
    }
    let path = format!("{}/merge_requests", path_of_project(fork));
    forge.post(&path).token(fixture.token("stranger")).json(&fields).send()
}

/// The id of a user of the cast.
#[track_caller]
pub fn user_id(forge: &Forge, fixture: &ProjectFixture, who: &str) -> i64 {
    id_of(&forge.get("/user").token(fixture.token(who)).send().expect(200))
}

/// Changes the level of a member.
#[track_caller]
pub fn set_level(forge: &Forge, fixture: &ProjectFixture, who: &str, level: &str) {
    let path = format!("{}/members/{}", fixture.cast.path, user_id(forge, fixture, who));
    forge.put(&path).token(ROOT).form(&[("access_level", level)]).send().expect(200);
}

/// Changes a setting of the project.
#[track_caller]
pub fn set_switch(forge: &Forge, fixture: &ProjectFixture, field: &str, value: &str) {
    let form = [("name", "Ship"), (field, value)];
    forge.put(&fixture.cast.path).token(ROOT).form(&form).send().expect(200);
}

/// Archives the project.
#[track_caller]
pub fn archive(forge: &Forge, fixture: &ProjectFixture) {
    forge.post(&format!("{}/archive", fixture.cast.path)).token(ROOT).send().expect(201);
}

/// The texts of the comments on a commit of a project, oldest first.
#[track_caller]
pub fn commit_notes(forge: &Forge, token: &str, project: &str, sha: &str) -> Vec<String> {
    let path = format!("{project}/repository/commits/{sha}/comments?per_page=100");
    let notes = forge.get(&path).token(token).send().expect(200);
    let text = |note: &Value| note["note"].as_str().expect("a text").to_owned();
    notes.as_array().expect("a list").iter().map(text).collect()
}

/// Writes a note on a merge request.
pub fn write_note(forge: &Forge, token: &str, request: &Value, body: &str) -> Response {
    let path = format!("{}/notes", path_of_request(request));
    forge.post(&path).token(token).form(&[("body", body)]).send()
}
