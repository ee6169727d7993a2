//! Helpers of the tests about todos.

use hexforge_tests::Forge;
use serde_json::{Value, json};

/// The pending todos of the owner of the token, newest first.
#[track_caller]
pub fn todos(forge: &Forge, token: &str) -> Value {
    todos_with(forge, token, "")
}

/// The todos of the owner of the token that match a query.
#[track_caller]
pub fn todos_with(forge: &Forge, token: &str, query: &str) -> Value {
    forge.get(&format!("/todos?per_page=100{query}")).token(token).send().expect(200)
}

/// The actions of the pending todos of the owner of the token, newest first.
#[track_caller]
pub fn actions(forge: &Forge, token: &str) -> Vec<String> {
    let action = |todo: &Value| todo["action_name"].as_str().expect("an action").to_owned();
    todos(forge, token).as_array().expect("a list").iter().map(action).collect()
}

/// Marks all todos of the owner of the token as done.
#[track_caller]
pub fn finish_all(forge: &Forge, token: &str) {
    forge.delete("/todos").token(token).send().expect(200);
    assert_eq!(todos(forge, token), json!([]));
}
