//! Who may merge, and what a refused merge leaves as it was: merge_requests.md sections 2.3, 6.2 and 6.3.

use std::thread;

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, WorkTree, on_every_store};
use serde_json::{Value, json};

use super::requests_support::{
    commit_file, merge, new_request, path_of_request, post_request, put_request, request_notes,
    request_now,
};
use crate::api::groups::group_support::{error, no_project};
use crate::api::repositories::commits_support::{tip, tree};
use crate::api::repositories::refs_support::{
    ProjectFixture, empty_fixture_with_visibility, fill, filled_fixture, new_branch, protect,
};
use crate::api::support::{MISSING, id_of, message};

on_every_store!(
    protected_targets_ask_for_their_levels,
    an_author_below_developer_may_not_merge,
    strangers_may_not_merge,
    the_right_comes_before_the_state,
    refused_merges_do_not_compute_the_status,
    comments_are_no_discussions,
    files_that_git_cannot_merge_are_conflicts,
    unrelated_histories_are_conflicts,
    merges_and_commits_at_once_lose_nothing,
    a_merge_while_its_source_branch_goes,
);

/// A request from `feature/x` into a new branch.
#[track_caller]
fn request_into(forge: &Forge, fixture: &ProjectFixture, target: &str) -> Value {
    // A protection may forbid developers to create the branch.
    let form = [("branch_name", target), ("ref", "master")];
    forge.post(&fixture.branches).token(ROOT).form(&form).send().expect(200);
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": target});
    post_request(forge, fixture, "developer", &fields).expect(201)
}

/// Section 6.2: administrators, and members whose level reaches the push level or the merge level of a protection.
fn protected_targets_ask_for_their_levels(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for (target, pattern, (push, merges), who, status) in [
        ("no-rights", "no-rights", (false, false), "developer", 401),
        ("for-masters", "for-masters", (false, false), "master", 200),
        ("for-owners", "for-owners", (false, false), "owner", 200),
        ("for-all", "for-all", (false, false), "root", 200),
        ("may-push", "may-push", (true, false), "developer", 200),
        ("may-merge", "may-merge", (false, true), "developer", 200),
        ("may-push-2", "may-push-2", (true, false), "reporter", 401),
        ("wild/none", "wild/*", (false, false), "developer", 401),
        ("wild/masters", "wild/*", (false, false), "master", 200),
        ("wilder/push", "wilder/*", (true, false), "developer", 200),
        ("free", "nothing", (false, false), "developer", 200),
        ("free-2", "nothing", (false, false), "reporter", 401),
    ] {
        let made = request_into(forge, &fixture, target);
        protect(forge, &fixture, pattern, push, merges);
        let before = request_now(forge, &made);
        let answer = merge(forge, fixture.token(who), &made, &json!({}));
        assert_eq!(answer.status, status, "{target} by {who}");
        if status == 401 {
            assert_eq!(answer.json(), message("401 Unauthorized"));
            assert_eq!(request_now(forge, &made), before);
        }
    }
    // Of several protections one is enough.
    let made = request_into(forge, &fixture, "wild/both");
    protect(forge, &fixture, "wild/both", false, true);
    merge(forge, fixture.token("developer"), &made, &json!({})).expect(200);
}

/// Section 6.2, "the request's author included".
fn an_author_below_developer_may_not_merge(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let developer = forge.get("/user").token(fixture.token("developer")).send().expect(200);
    let member = format!("{}/members/{}", fixture.cast.path, id_of(&developer));
    for level in ["20", "10"] {
        forge.put(&member).token(ROOT).form(&[("access_level", level)]).send().expect(200);
        let refused = merge(forge, fixture.token("developer"), &made, &json!({}));
        assert_eq!(refused.expect(401), message("401 Unauthorized"), "{level}");
    }
}

/// Sections 1.2 and 6.2: 404 for what cannot be seen, 401 for who sees but may not merge.
fn strangers_may_not_merge(forge: &Forge) {
    let fixture = empty_fixture_with_visibility(forge, "20");
    fill(forge, &fixture);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let unauthorized = message("401 Unauthorized");
    for who in ["stranger", "external", "guest"] {
        let refused = merge(forge, fixture.token(who), &made, &json!({}));
        assert_eq!(refused.expect(401), unauthorized, "{who}");
    }
    let path = format!("{}/merge", path_of_request(&made));
    assert_eq!(forge.put(&path).send().expect(401), unauthorized);
    let missing = json!({"project_id": fixture.project(), "id": MISSING});
    for who in ["stranger", "root"] {
        let refused = merge(forge, fixture.token(who), &missing, &json!({}));
        assert_eq!(refused.expect(404), message("404 Not found"), "{who}");
    }
    let text = format!("{}/merge_requests/x/merge", fixture.cast.path);
    let refused = forge.put(&text).token(fixture.token("stranger")).send();
    assert_eq!(refused.expect(400), error("merge_request_id is invalid"));
    let form = [("name", "Ship"), ("visibility_level", "0")];
    forge.put(&fixture.cast.path).token(ROOT).form(&form).send().expect(200);
    let refused = merge(forge, fixture.token("stranger"), &made, &json!({}));
    assert_eq!(refused.expect(404), no_project());
}

/// Section 21.2: 401 comes before 405.
fn the_right_comes_before_the_state(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "WIP: t");
    merge(forge, fixture.token("reporter"), &made, &json!({})).expect(401);
    put_request(forge, ROOT, &made, &json!({"state_event": "close"})).expect(200);
    merge(forge, fixture.token("reporter"), &made, &json!({})).expect(401);
    merge(forge, fixture.token("developer"), &made, &json!({})).expect(405);
}

/// Section 2.3: only a merge by one who may, of a request that passes 6.3, computes the status.
fn refused_merges_do_not_compute_the_status(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "WIP: t");
    let assert_unchecked = |why: &str| {
        assert_eq!(request_now(forge, &made)["merge_status"], "unchecked", "{why}");
    };
    for part in ["", "/changes", "/commits", "/versions"] {
        let path = format!("{}{part}", path_of_request(&made));
        forge.get(&path).token(ROOT).send().expect(200);
        assert_unchecked(part);
    }
    merge(forge, ROOT, &made, &json!({})).expect(405);
    assert_unchecked("work in progress");
    put_request(forge, ROOT, &made, &json!({"title": "t"})).expect(200);
    merge(forge, fixture.token("reporter"), &made, &json!({})).expect(401);
    assert_unchecked("by a reporter");
    put_request(forge, ROOT, &made, &json!({"state_event": "close"})).expect(200);
    merge(forge, ROOT, &made, &json!({})).expect(405);
    assert_unchecked("closed");
    put_request(forge, ROOT, &made, &json!({"state_event": "reopen"})).expect(200);
    merge(forge, ROOT, &made, &json!({"sha": "wrong"})).expect(409);
    assert_eq!(request_now(forge, &made)["merge_status"], "can_be_merged");
}

/// Section 6.3 row 5: plain comments are no discussions.
fn comments_are_no_discussions(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let on = "only_allow_merge_if_all_discussions_are_resolved";
    let form = [("name", "Ship"), (on, "true")];
    forge.put(&fixture.cast.path).token(ROOT).form(&form).send().expect(200);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let notes = format!("{}/notes", path_of_request(&made));
    forge.post(&notes).token(ROOT).form(&[("body", "Why?")]).send().expect(201);
    let merged = merge(forge, fixture.token("developer"), &made, &json!({})).expect(200);
    assert_eq!((&merged["state"], &merged["user_notes_count"]), (&json!("merged"), &json!(1)));
}

/// What one side of a conflict does.
enum Work {
    /// Writes a file.
    Write(&'static str, &'static [u8]),
    /// Writes an executable file.
    WriteExecutable(&'static str, &'static [u8]),
    /// Removes a file.
    Remove(&'static str),
    /// Puts a symbolic link at this path.
    Link(&'static str, &'static str),
    /// Points the submodule at the commit whose id has only this digit.
    Module(&'static str),
}

/// The name of a conflict, and the work of its two sides.
const CONFLICTS: [(&str, [Work; 2]); 7] = [
    ("binary", [Work::Write("binary", b"\0two"), Work::Write("binary", b"\0three")]),
    ("folder", [Work::Write("d", b"x\n"), Work::Write("d/file", b"x\n")]),
    ("mode", [Work::Write("run", b"x\n"), Work::WriteExecutable("run", b"x\n")]),
    ("removed", [Work::Remove("gone"), Work::Write("gone", b"y\n")]),
    ("link", [Work::Link("link", "a"), Work::Link("link", "b")]),
    ("type", [Work::Link("typed", "a"), Work::Write("typed", b"y\n")]),
    ("module", [Work::Module("1"), Work::Module("2")]),
];

impl Work {
    /// Creates a branch of `conflicts` with a commit of this work.
    fn commit(&self, tree: &WorkTree, branch: &str) {
        tree.git(&["checkout", "-q", "-f", "-b", branch, "conflicts"]);
        match self {
            Work::Write(path, content) => drop(tree.write(path, content).commit(branch)),
            Work::WriteExecutable(path, content) => {
                tree.write(path, content).git(&["add", path]);
                tree.git(&["update-index", "--chmod=+x", path]);
                tree.git(&["commit", "-q", "-m", branch]);
            }
            Work::Remove(path) => {
                tree.git(&["rm", "-q", path]);
                tree.commit(branch);
            }
            Work::Link(path, target) => {
                let _ = std::fs::remove_file(tree.path().join(path));
                std::os::unix::fs::symlink(target, tree.path().join(path))
                    .expect("links can be made");
                tree.commit(branch);
            }
            Work::Module(digit) => {
                let entry = format!("160000,{},module", digit.repeat(40));
                tree.git(&["update-index", "--add", "--cacheinfo", &entry]);
                tree.git(&["commit", "-q", "-m", branch]);
            }
        }
        tree.git(&["reset", "-q", "--hard"]);
    }
}

/// Section 6.3 row 6 for everything that is not text: 406, then 405.
fn files_that_git_cannot_merge_are_conflicts(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "-b", "conflicts", "master"]);
    tree.write("binary", b"\0one").write("gone", "x\n").write("typed", "x\n").commit("Files");
    Work::Link("link", "README").commit(tree, "linked");
    tree.git(&["branch", "-q", "-f", "conflicts", "linked"]);
    for (name, [ours, theirs]) in &CONFLICTS {
        ours.commit(tree, &format!("{name}-ours"));
        theirs.commit(tree, &format!("{name}-theirs"));
    }
    forge.fill(fixture.project(), tree);
    for (name, _) in &CONFLICTS {
        let (target, source) = (format!("{name}-ours"), format!("{name}-theirs"));
        let before = tip(forge, &fixture, &target);
        let fields = json!({"title": "t", "source_branch": source, "target_branch": target});
        let made = post_request(forge, &fixture, "developer", &fields).expect(201);
        let refused = merge(forge, ROOT, &made, &json!({}));
        assert_eq!(refused.status, 406, "{name}: {}", refused.text());
        assert_eq!(refused.json(), message("Branch cannot be merged"), "{name}");
        merge(forge, ROOT, &made, &json!({})).expect(405);
        let now = request_now(forge, &made);
        assert_eq!(
            (&now["state"], &now["merge_status"]),
            (&json!("opened"), &json!("cannot_be_merged")),
            "{name}"
        );
        assert_eq!(tip(forge, &fixture, &target), before, "{name}");
    }
}

/// Section 6.3 row 6 and 8.3: branches without a common commit have no base and conflict.
fn unrelated_histories_are_conflicts(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "--orphan", "alien"]);
    tree.git(&["rm", "-q", "-r", "-f", "."]);
    tree.write("alien", "x\n").commit("Alien");
    forge.fill(fixture.project(), tree);
    let made = new_request(forge, &fixture, "alien", "t");
    let versions = format!("{}/versions", path_of_request(&made));
    let versions = forge.get(&versions).token(ROOT).send().expect(200);
    assert_eq!(versions[0]["base_commit_sha"], Value::Null);
    assert_eq!(versions[0]["start_commit_sha"], fixture.id("master"));
    let refused = merge(forge, ROOT, &made, &json!({}));
    assert_eq!(refused.expect(406), message("Branch cannot be merged"));
}

/// Section 6.5, ruling: a merge that loses a race with another push is tried again. Calls that write to one branch wait
/// for each other.
fn merges_and_commits_at_once_lose_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made: Vec<Value> = (0..4)
        .map(|number| {
            let source = format!("source{number}");
            new_branch(forge, &fixture, &source, "master");
            commit_file(forge, &fixture, &source, &source, "x\n");
            new_request(forge, &fixture, &source, "t")
        })
        .collect();
    let commit = &|number: usize| {
        let actions = json!([{"action": "create", "file_path": format!("direct{number}"),
            "content": "x\n"}]);
        let path = format!("{}/repository/commits", fixture.cast.path);
        let body = json!({"branch_name": "master", "commit_message": "c", "actions": actions});
        forge.post(&path).token(ROOT).json(&body).send().status
    };
    let statuses: Vec<[u16; 2]> = thread::scope(|scope| {
        let both = |(number, request)| {
            let merge = scope.spawn(move || merge(forge, ROOT, request, &json!({})).status);
            let commit = scope.spawn(move || commit(number));
            [merge, commit]
        };
        let writers: Vec<_> = made.iter().enumerate().map(both).collect();
        let status = |writer: thread::ScopedJoinHandle<'_, u16>| writer.join().unwrap_or_default();
        writers.into_iter().map(|pair| pair.map(status)).collect()
    });
    assert_eq!(statuses, [[200, 201]; 4], "nothing conflicts");
    let files = tree(forge, &fixture, "master");
    for (number, request) in made.iter().enumerate() {
        assert!(files.contains(&format!("100644 source{number}")), "{files:?}");
        assert!(files.contains(&format!("100644 direct{number}")), "{files:?}");
        assert_eq!(request_now(forge, request)["state"], "merged");
        assert_eq!(request_notes(forge, request), ["merged"]);
    }
}

/// Section 6.3 row 3: a merge while its source branch is removed is done as a whole or not at all.
fn a_merge_while_its_source_branch_goes(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for number in 0..4 {
        let source = format!("source{number}");
        new_branch(forge, &fixture, &source, "master");
        commit_file(forge, &fixture, &source, &source, "x\n");
        let made = new_request(forge, &fixture, &source, "t");
        let status = thread::scope(|scope| {
            let path = format!("{}/{source}", fixture.branches);
            scope.spawn(move || forge.delete(&path).token(ROOT).send());
            merge(forge, ROOT, &made, &json!({})).status
        });
        assert!([200, 405].contains(&status), "{status}");
        let state = if status == 200 { "merged" } else { "opened" };
        assert_eq!(request_now(forge, &made)["state"], state);
        let files = tree(forge, &fixture, "master");
        assert_eq!(files.contains(&format!("100644 {source}")), status == 200);
    }
}
