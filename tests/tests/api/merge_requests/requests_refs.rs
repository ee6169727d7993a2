//! The hidden references, and what survives removals and forced pushes: merge_requests.md sections 8.2 and 10.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_fork_support::{forked, post_from};
use super::requests_pushes::push_url;
use super::requests_support::{
    actions, commit_file, merge, new_request, path_of_request, put_request, request_now,
};
use super::requests_versions::list;
use crate::api::repositories::refs_support::{
    ProjectFixture, do_tasks, filled_fixture, new_branch,
};
use crate::api::support::id_of;

on_every_store!(
    the_reference_follows_the_head,
    the_reference_of_a_fork_is_fetched_from_the_target,
    hidden_references_cause_nothing,
    versions_survive_the_removal_of_the_source_branch,
    versions_survive_forced_pushes,
);

/// The commit of `refs/merge-requests/1/head`, by `git ls-remote`.
fn advertised(forge: &Forge, fixture: &ProjectFixture) -> Value {
    let refs = fixture.tree.refs_at(&push_url(forge, fixture));
    json!(refs.get("refs/merge-requests/1/head"))
}

/// Section 10, first rule.
fn the_reference_follows_the_head(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    assert_eq!(advertised(forge, &fixture), made["sha"]);
    let new = commit_file(forge, &fixture, "feature/x", "b", "b\n");
    assert_eq!(advertised(forge, &fixture), new);
    forge.delete(&format!("{}/feature%2Fx", fixture.branches)).token(ROOT).send().expect(200);
    assert_eq!(request_now(forge, &made)["sha"], Value::Null);
    assert_eq!(advertised(forge, &fixture), new, "it stays when the source branch goes");
    new_branch(forge, &fixture, "feature/x", made["sha"].as_str().expect("an id"));
    assert_eq!(advertised(forge, &fixture), made["sha"], "it moves back");
    put_request(forge, ROOT, &made, &json!({"state_event": "close"})).expect(200);
    let new = commit_file(forge, &fixture, "feature/x", "c", "c\n");
    do_tasks(forge);
    assert_eq!(advertised(forge, &fixture), made["sha"], "closed requests get no version");
    put_request(forge, ROOT, &made, &json!({"state_event": "reopen"})).expect(200);
    assert_eq!(advertised(forge, &fixture), new);
    merge(forge, ROOT, &made, &json!({"should_remove_source_branch": true})).expect(200);
    assert_eq!(advertised(forge, &fixture), new, "kept after the merge");
}

/// Section 10, first rule: "like any reference", "from forks too".
fn the_reference_of_a_fork_is_fetched_from_the_target(forge: &Forge) {
    let (fixture, fork) = forked(forge);
    let stranger = fixture.token("stranger");
    let made = post_from(forge, stranger, &fork, fixture.project(), &json!({})).expect(201);
    let form = [("name", "Ship"), ("visibility_level", "0")];
    forge.put(&fixture.cast.path).token(ROOT).form(&form).send().expect(200);
    let fetch = |who: &str| {
        let address = format!("http://{who}:{}@{}/ada/ship.git", fixture.token(who), forge.address);
        let refspec = format!("refs/merge-requests/1/head:{who}");
        let fetched = fixture.tree.command(&["fetch", "-q", &address, &refspec]).output();
        fetched.expect("git can be started").status.success()
    };
    assert!(fetch("reporter"));
    assert_eq!(fixture.tree.git(&["rev-parse", "reporter"]), made["sha"].as_str().expect("an id"));
    assert_eq!(fixture.tree.git(&["log", "-1", "--format=%s", "reporter"]), "In the fork");
    assert!(!fetch("guest"));
    assert!(!fetch("stranger"));
}

/// Section 10, last rule: "not in lists of branches, no events, no pipelines".
fn hidden_references_cause_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    commit_file(forge, &fixture, "feature/x", ".gitlab-ci.yml", "rspec: {script: x}\n");
    let count = |path: &str| {
        let list = forge.get(&format!("{}/{path}", fixture.cast.path)).token(ROOT).send();
        list.expect(200).as_array().map(Vec::len)
    };
    let lists = ["repository/branches", "repository/tags", "pipelines"];
    let (before, events) = (lists.map(count), actions(forge, &fixture));
    new_request(forge, &fixture, "feature/x", "t");
    do_tasks(forge);
    assert_eq!(lists.map(count), before);
    assert_eq!(actions(forge, &fixture)[1..], events);
    let names = fixture.tree.refs_at(&push_url(forge, &fixture));
    let hidden: Vec<&String> = names
        .keys()
        .filter(|name| !name.starts_with("refs/heads/") && !name.starts_with("refs/tags/"))
        .collect();
    assert_eq!(hidden, ["refs/merge-requests/1/head"]);
}

/// Asserts commits and changes of the request and of one version, as a reporter sees them.
#[track_caller]
fn assert_shown(forge: &Forge, fixture: &ProjectFixture, path: &str, (id, file): (&Value, &str)) {
    let get = |part: &str| {
        let answer = forge.get(&format!("{path}{part}")).token(fixture.token("reporter")).send();
        answer.expect(200)
    };
    let (commits, changes) = if path.contains("/versions/") {
        let version = get("");
        (version["commits"].clone(), version["diffs"].clone())
    } else {
        (get("/commits"), get("/changes")["changes"].clone())
    };
    assert_eq!((&commits[0]["id"], &commits[1]), (id, &Value::Null));
    assert_eq!((&changes[0]["new_path"], &changes[1]), (&json!(file), &Value::Null));
    assert!(changes[0]["diff"].as_str().is_some_and(|diff| !diff.is_empty()), "{changes}");
}

/// Section 8.2, "they survive the merge, the removal of the branch after it".
fn versions_survive_the_removal_of_the_source_branch(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    merge(forge, ROOT, &made, &json!({"should_remove_source_branch": true})).expect(200);
    commit_file(forge, &fixture, "master", "later", "x\n");
    do_tasks(forge);
    assert_shown(forge, &fixture, &path_of_request(&made), (&made["sha"], "x"));
}

/// Sections 8.2 and 10: forced pushes to the source branch, and to the target branch after the merge.
fn versions_survive_forced_pushes(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let (tree, address) = (&fixture.tree, push_url(forge, &fixture));
    tree.git(&["checkout", "-q", "-b", "rewritten", "v1.0.0"]);
    let new = tree.write("y", "y\n").commit("Rewritten");
    tree.git(&["push", "-q", "-f", &address, "rewritten:feature/x"]);
    do_tasks(forge);
    let path = path_of_request(&made);
    let versions = list(forge, &made, "versions");
    let first = format!("{path}/versions/{}", id_of(&versions[1]));
    let second = format!("{path}/versions/{}", id_of(&versions[0]));
    let assert_all = || {
        assert_shown(forge, &fixture, &first, (&made["sha"], "x"));
        assert_shown(forge, &fixture, &second, (&json!(new), "y"));
        assert_shown(forge, &fixture, &path, (&json!(new), "y"));
    };
    assert_all();
    merge(forge, ROOT, &made, &json!({"should_remove_source_branch": true})).expect(200);
    tree.git(&["push", "-q", "-f", &address, "v1.0.0^{commit}:refs/heads/master"]);
    do_tasks(forge);
    assert_all();
    tree.assert_sound_at(&address);
}
