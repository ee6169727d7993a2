//! Helpers of the tests about projects, in addition to those about groups.

use hexforge_domain::id::NamespaceId;
use hexforge_domain::ports::store::StoreError;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Response};
use serde_json::Value;

use crate::api::groups::group_support::{add_member, external_user, new_project, path_of_project};
use crate::api::support::{id_of, message};

/// A project of ada's with a member of every level, and users who are not members.
pub struct Cast {
    /// The project, as its owner got it in the response.
    pub project: Value,
    /// The path of the project in the API.
    pub path: String,
    /// Ada's id.
    pub ada: i64,
    /// The tokens of all users by name: `owner`, `guest`, `reporter`, `developer`, `master`, `stranger`, `external` and
    /// `root`.
    tokens: Vec<(&'static str, String)>,
}

impl Cast {
    /// The token of a user.
    #[track_caller]
    pub fn token(&self, who: &str) -> &str {
        let found = self.tokens.iter().find(|(name, _)| *name == who);
        &found.expect("nobody else is in the cast").1
    }
}

/// Creates a project with this visibility, and its users.
pub fn a_cast(forge: &Forge, level: &str) -> Cast {
    let (ada, owner) = forge.user("ada");
    let project = new_project(forge, &owner, "Ship", &[("visibility_level", level)]);
    let path = path_of_project(&project);
    let mut tokens = vec![("owner", owner), ("root", ROOT.to_owned())];
    for (name, level) in [("guest", 10), ("reporter", 20), ("developer", 30), ("master", 40)] {
        let (user, token) = forge.user(name);
        add_member(forge, &path, user, level, &[]);
        tokens.push((name, token));
    }
    tokens.push(("stranger", forge.user("stranger").1));
    tokens.push(("external", external_user(forge, "external").1));
    Cast { project, path, ada, tokens }
}

/// A project in its current state, as the owner of the token sees it.
#[track_caller]
pub fn read(forge: &Forge, token: &str, project: &Value) -> Value {
    forge.get(&path_of_project(project)).token(token).send().expect(200)
}

/// The names of a list, in its order.
#[track_caller]
pub fn names(list: &Value) -> Vec<&str> {
    let list = list.as_array().expect("a list");
    list.iter().map(|one| one["name"].as_str().expect("a name")).collect()
}

/// Asserts the names in a list, in its order, and its total header.
#[track_caller]
pub fn assert_list(forge: &Forge, token: &str, path: &str, expected: &[&str]) {
    let answer = forge.get(path).token(token).send();
    assert_eq!(names(&answer.expect(200)), expected, "{path}");
    assert_eq!(answer.header("X-Total"), Some(expected.len().to_string().as_str()), "{path}");
}

/// Asserts that a response is 304 without body and content type.
#[track_caller]
pub fn assert_unchanged(answer: &Response) {
    assert_eq!((answer.status, answer.text()), (304, ""));
    assert_eq!(answer.header("Content-Type"), None);
}

/// The error body for a missing required field.
pub fn not_given(field: &str) -> Value {
    message(&format!("400 (Bad request) \"{field}\" not given"))
}

/// The namespace in which a project is.
#[track_caller]
pub fn namespace_of(project: &Value) -> String {
    id_of(&project["namespace"]).to_string()
}

/// Forbids sharing the projects of a group, for which the API has no call.
pub fn lock_shares(forge: &Forge, group: &Value) {
    let locked: Result<(), StoreError> = forge.app.store.write(|tx| {
        let group = tx.groups().lock(NamespaceId(id_of(group)))?;
        let mut group = group.expect("the group to lock exists");
        group.share_with_group_lock = true;
        tx.groups().update(&group)
    });
    locked.expect("the store of the server can be written");
}
