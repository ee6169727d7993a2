//! Helpers of the tests about labels, issues, notes, milestones and boards.

use hexforge_tests::Forge;
use serde_json::{Value, json};

use crate::api::support::id_of;

/// Creates a label, and returns the response.
#[track_caller]
pub fn new_label(forge: &Forge, token: &str, project: &str, name: &str) -> Value {
    let form = [("name", name), ("color", "#FFAABB")];
    forge.post(&format!("{project}/labels")).token(token).form(&form).send().expect(200)
}

/// Creates an issue, and returns the response.
#[track_caller]
pub fn new_issue(
    forge: &Forge,
    token: &str,
    project: &str,
    title: &str,
    more: &[(&str, &str)],
) -> Value {
    let mut form = vec![("title", title)];
    form.extend(more);
    forge.post(&format!("{project}/issues")).token(token).form(&form).send().expect(201)
}

/// The path of an issue in the API.
pub fn path_of_issue(issue: &Value) -> String {
    format!("/projects/{}/issues/{}", issue["project_id"], id_of(issue))
}

/// Updates an issue, and returns the response.
#[track_caller]
pub fn update_issue(forge: &Forge, token: &str, issue: &Value, form: &[(&str, &str)]) -> Value {
    forge.put(&path_of_issue(issue)).token(token).form(form).send().expect(200)
}

/// An issue in its current state, as the owner of the token sees it.
#[track_caller]
pub fn issue_now(forge: &Forge, token: &str, issue: &Value) -> Value {
    forge.get(&path_of_issue(issue)).token(token).send().expect(200)
}

/// The texts of the notes on an issue, oldest first.
#[track_caller]
pub fn note_bodies(forge: &Forge, token: &str, issue: &Value) -> Vec<String> {
    let path = format!("{}/notes?per_page=100", path_of_issue(issue));
    let notes = forge.get(&path).token(token).send().expect(200);
    let notes = notes.as_array().expect("a list");
    notes.iter().map(|note| note["body"].as_str().expect("a text").to_owned()).collect()
}

/// The values of one field of a list, in its order.
#[track_caller]
pub fn field_values<'a>(list: &'a Value, field: &str) -> Vec<&'a Value> {
    list.as_array().expect("a list").iter().map(|one| &one[field]).collect()
}

/// The numbers of open and of closed issues with a label, as the owner of the token sees them.
#[track_caller]
pub fn label_counts(forge: &Forge, token: &str, project: &str, name: &str) -> (i64, i64) {
    let labels = forge.get(&format!("{project}/labels?per_page=100")).token(token).send();
    let labels = labels.expect(200);
    let label = labels.as_array().expect("a list").iter().find(|label| label["name"] == name);
    let label = label.expect("the label is there");
    let count = |field: &str| label[field].as_i64().expect("a number");
    (count("open_issues_count"), count("closed_issues_count"))
}

/// The short form of a user, as other objects show it.
#[track_caller]
pub fn user_summary(forge: &Forge, id: i64) -> Value {
    let token = hexforge_tests::forge::ROOT;
    let user = forge.get(&format!("/users/{id}")).token(token).send().expect(200);
    json!({
        "name": user["name"], "username": user["username"], "id": id, "state": user["state"],
        "avatar_url": user["avatar_url"], "web_url": user["web_url"]
    })
}
