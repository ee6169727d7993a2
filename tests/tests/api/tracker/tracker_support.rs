//! What the cases about labels, issues, notes, milestones and boards share.

use hexforge_tests::Forge;
use serde_json::{Value, json};

use crate::api::support::id_of;

/// Makes a label, and gives the answer.
#[track_caller]
pub fn new_label(forge: &Forge, token: &str, project: &str, name: &str) -> Value {
    let form = [("name", name), ("color", "#FFAABB")];
    forge.post(&format!("{project}/labels")).token(token).form(&form).send().expect(200)
}

/// Writes an issue, and gives the answer.
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

/// The path of the calls about an issue.
pub fn path_of_issue(issue: &Value) -> String {
    format!("/projects/{}/issues/{}", issue["project_id"], id_of(issue))
}

/// Changes an issue, and gives the answer.
#[track_caller]
pub fn update_issue(forge: &Forge, token: &str, issue: &Value, form: &[(&str, &str)]) -> Value {
    forge.put(&path_of_issue(issue)).token(token).form(form).send().expect(200)
}

/// An issue as its reader sees it now.
#[track_caller]
pub fn issue_now(forge: &Forge, token: &str, issue: &Value) -> Value {
    forge.get(&path_of_issue(issue)).token(token).send().expect(200)
}

/// What the notes on an issue say, oldest first.
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

/// The counts of the label of a name, as a reader of the project sees them: open, closed.
#[track_caller]
pub fn label_counts(forge: &Forge, token: &str, project: &str, name: &str) -> (i64, i64) {
    let labels = forge.get(&format!("{project}/labels?per_page=100")).token(token).send();
    let labels = labels.expect(200);
    let label = labels.as_array().expect("a list").iter().find(|label| label["name"] == name);
    let label = label.expect("the label is there");
    let count = |field: &str| label[field].as_i64().expect("a number");
    (count("open_issues_count"), count("closed_issues_count"))
}

/// A user as it stands beside other things.
#[track_caller]
pub fn user_summary(forge: &Forge, id: i64) -> Value {
    let token = hexforge_tests::forge::ROOT;
    let user = forge.get(&format!("/users/{id}")).token(token).send().expect(200);
    json!({
        "name": user["name"], "username": user["username"], "id": id, "state": user["state"],
        "avatar_url": user["avatar_url"], "web_url": user["web_url"]
    })
}
