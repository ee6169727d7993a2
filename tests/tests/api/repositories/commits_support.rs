//! Helpers of the tests that write commits and files through the API.

use hexforge_tests::{Forge, Response};
use serde_json::{Value, json};

use crate::api::repositories::refs_support::ProjectFixture;
use crate::api::support::queued_events;

/// Sends a commit with these actions to a branch.
pub fn post_commit(
    forge: &Forge,
    fixture: &ProjectFixture,
    who: &str,
    branch: &str,
    actions: Value,
) -> Response {
    let body = json!({"branch_name": branch, "commit_message": "Change", "actions": actions});
    post_body(forge, fixture, who, &body)
}

/// Sends the body of a commit.
pub fn post_body(forge: &Forge, fixture: &ProjectFixture, who: &str, body: &Value) -> Response {
    let path = format!("{}/repository/commits", fixture.cast.path);
    forge.post(&path).token(fixture.token(who)).json(body).send()
}

/// Sends a call about files with a JSON body.
pub fn send_file(
    forge: &Forge,
    fixture: &ProjectFixture,
    (method, who): (&str, &str),
    body: &Value,
) -> Response {
    let path = format!("{}/repository/files", fixture.cast.path);
    forge.request(method, &path).token(fixture.token(who)).json(body).send()
}

/// All refs and the number of events: what a refused write must not change.
pub fn state(forge: &Forge, fixture: &ProjectFixture) -> (String, usize) {
    let refs = fixture.tree.git_bare(&["for-each-ref", "--format=%(refname) %(objectname)"]);
    (refs, queued_events(forge).len())
}

/// The tip of the branch, as the server has it now.
pub fn tip(forge: &Forge, fixture: &ProjectFixture, branch: &str) -> String {
    let path = format!("{}/{branch}", fixture.branches);
    let shown = forge.get(&path).token(fixture.token("root")).send().expect(200);
    shown["commit"]["id"].as_str().expect("an id").to_owned()
}

/// The bytes of a file at a revision.
pub fn content(forge: &Forge, fixture: &ProjectFixture, revision: &str, path: &str) -> String {
    let call = format!("{}/repository/blobs/{revision}", fixture.cast.path);
    let ask = forge.get(&call).token(fixture.token("root")).query(&[("filepath", path)]);
    let answer = ask.send();
    assert_eq!(answer.status, 200, "{path}");
    answer.text().to_owned()
}

/// The entries of the tree of a revision: mode and path.
pub fn tree(forge: &Forge, fixture: &ProjectFixture, revision: &str) -> Vec<String> {
    let call = format!("{}/repository/tree", fixture.cast.path);
    let ask = forge.get(&call).token(fixture.token("root"));
    let ask = ask.query(&[("ref_name", revision), ("recursive", "true")]);
    let shown = ask.send().expect(200);
    let entries = shown.as_array().expect("a list").iter().filter(|one| one["type"] != "tree");
    let text = |one: &Value, field: &str| one[field].as_str().expect("a text").to_owned();
    entries.map(|one| format!("{} {}", text(one, "mode"), text(one, "path"))).collect()
}

/// Adds a link, an executable file and a submodule to `master`.
pub fn add_special_files(forge: &Forge, fixture: &ProjectFixture) {
    let tree = &fixture.tree;
    tree.write("run", "x\n");
    std::os::unix::fs::symlink("README", tree.path().join("link")).expect("links can be made");
    tree.git(&["add", "-A"]);
    tree.git(&["update-index", "--chmod=+x", "run"]);
    let other = "1234567890123456789012345678901234567890";
    tree.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{other},module")]);
    tree.git(&["commit", "-q", "-m", "Special"]);
    forge.fill(fixture.project(), tree);
}
