//! Merging: merge_requests.md sections 6 and 7.

use std::thread;

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_support::{
    actions, commit_file, merge, new_request, path_of_request, post_request, put_request,
    request_as, request_notes, request_now,
};
use crate::api::repositories::commits_support::{content, tip, tree};
use crate::api::repositories::refs_support::{filled_fixture, new_branch, protect};
use crate::api::support::{field_error, message};
use crate::api::tracker::tracker_support::{issue_now, new_issue, note_bodies};

on_every_store!(
    a_request_is_merged,
    the_message_may_be_given,
    who_may_merge,
    what_cannot_be_merged_is_not_allowed,
    conflicts_are_found_once,
    the_expected_head_is_compared,
    the_source_branch_is_removed_on_request,
    protected_and_default_branches_stay,
    issues_are_closed_by_the_merge,
    requests_with_the_same_head_are_merged_together,
    merges_at_once_merge_once,
    cancelling_needs_an_automatic_merge,
);

fn not_allowed() -> Value {
    message("405 Method Not Allowed")
}

/// PUT /projects/:id/merge_requests/:merge_request_id/merge
fn a_request_is_merged(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let fields = json!({"title": "Add x", "source_branch": "feature/x", "target_branch": "master",
        "description": "With\na text"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    let before = fixture.id("master");
    let merged = merge(forge, fixture.token("developer"), &made, &json!({})).expect(200);
    assert_eq!(
        (&merged["state"], &merged["merge_status"]),
        (&json!("merged"), &json!("can_be_merged"))
    );
    let new = tip(forge, &fixture, "master");
    assert_eq!((&merged["merge_commit_sha"], &merged["sha"]), (&json!(new), &made["sha"]));
    assert_eq!(merged["should_remove_source_branch"], Value::Null);
    assert_eq!(merged, request_as(forge, fixture.token("developer"), &made));
    let shown = format!("{}/repository/commits/{new}", fixture.cast.path);
    let shown = forge.get(&shown).token(ROOT).send().expect(200);
    assert_eq!(shown["parent_ids"], json!([before, made["sha"]]));
    let text =
        "Merge branch 'feature/x' into 'master'\n\nAdd x\n\nWith\na text\n\nSee merge request !1";
    assert_eq!(shown["message"], text);
    assert_eq!(shown["author_email"], "developer@example.com");
    assert_eq!(tree(forge, &fixture, "master"), ["100644 README", "100644 docs/a", "100644 x"]);
    assert_eq!(content(forge, &fixture, "master", "x"), "x\n");
    assert_eq!(request_notes(forge, &made), ["merged"]);
    let mut newest = actions(forge, &fixture)[..2].to_vec();
    newest.sort();
    assert_eq!(newest, ["accepted", "pushed to"]);
    assert_eq!(tip(forge, &fixture, "feature/x"), made["sha"].as_str().expect("an id"));
    // Merged is final.
    for word in ["close", "reopen"] {
        let same = put_request(forge, ROOT, &made, &json!({"state_event": word})).expect(200);
        assert_eq!(same["state"], "merged");
    }
    let again = merge(forge, fixture.token("developer"), &made, &json!({}));
    assert_eq!(again.expect(405), not_allowed());
    // Commits and changes stay.
    let commits = format!("{}/commits", path_of_request(&made));
    let commits = forge.get(&commits).token(ROOT).send().expect(200);
    assert_eq!(commits[0]["title"], "Beside");
    assert_eq!(commits.as_array().map(Vec::len), Some(1));
}

/// PUT /projects/:id/merge_requests/:merge_request_id/merge
fn the_message_may_be_given(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for (source, given, expected) in [
        ("feature/x", "  As it is\n", "  As it is\n"),
        ("other", " ", "Merge branch 'other' into 'master'\n\nt\n\nSee merge request !2"),
    ] {
        if source == "other" {
            new_branch(forge, &fixture, "other", "master");
            commit_file(forge, &fixture, "other", "other", "other");
        }
        let made = new_request(forge, &fixture, source, "t");
        let too_long = json!({"merge_commit_message": "x".repeat(1_048_577)});
        let refused = merge(forge, ROOT, &made, &too_long).expect(400);
        let words = "is too long (maximum is 1048576 characters)";
        assert_eq!(refused, field_error("merge_commit_message", words));
        let fields = json!({"merge_commit_message": given});
        let merged = merge(forge, ROOT, &made, &fields).expect(200);
        let id = merged["merge_commit_sha"].as_str().expect("an id");
        let shown = format!("{}/repository/commits/{id}", fixture.cast.path);
        let shown = forge.get(&shown).token(ROOT).send().expect(200);
        assert_eq!(shown["message"], expected);
    }
}

/// PUT /projects/:id/merge_requests/:merge_request_id/merge: section 6.2.
fn who_may_merge(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let unauthorized = message("401 Unauthorized");
    let refused = |who: &str| {
        let answer = merge(forge, fixture.token(who), &made, &json!({}));
        assert_eq!(answer.expect(401), unauthorized, "{who}");
    };
    for who in ["guest", "reporter"] {
        refused(who);
    }
    protect(forge, &fixture, "master", false, false);
    refused("developer");
    forge.post(&format!("{}/archive", fixture.cast.path)).token(ROOT).send();
    for who in ["master", "owner", "root"] {
        refused(who);
    }
    forge.post(&format!("{}/unarchive", fixture.cast.path)).token(ROOT).send();
    protect(forge, &fixture, "master", false, true);
    let merged = merge(forge, fixture.token("developer"), &made, &json!({})).expect(200);
    assert_eq!(merged["state"], "merged");
}

/// PUT /projects/:id/merge_requests/:merge_request_id/merge: section 6.3.
fn what_cannot_be_merged_is_not_allowed(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "WIP: t");
    let refused = || {
        let answer = merge(forge, ROOT, &made, &json!({"sha": "wrong"}));
        assert_eq!(answer.expect(405), not_allowed());
    };
    refused();
    put_request(forge, ROOT, &made, &json!({"title": "t", "state_event": "close"})).expect(200);
    refused();
    put_request(forge, ROOT, &made, &json!({"state_event": "reopen"})).expect(200);
    put_request(forge, ROOT, &made, &json!({"target_branch": "gone"})).expect(200);
    refused();
    // A branch without commits of its own.
    new_branch(forge, &fixture, "same", "master");
    let same = new_request(forge, &fixture, "same", "t");
    assert_eq!(merge(forge, ROOT, &same, &json!({})).expect(405), not_allowed());
}

/// PUT /projects/:id/merge_requests/:merge_request_id/merge: sections 2.3 and 6.3.
fn conflicts_are_found_once(forge: &Forge) {
    let fixture = filled_fixture(forge);
    new_branch(forge, &fixture, "clash", "master");
    commit_file(forge, &fixture, "clash", "same", "theirs\n");
    commit_file(forge, &fixture, "master", "same", "ours\n");
    let made = new_request(forge, &fixture, "clash", "t");
    let updated = made["updated_at"].clone();
    let before = tip(forge, &fixture, "master");
    // The conflict comes before the expected head.
    let first = merge(forge, ROOT, &made, &json!({"sha": "wrong"})).expect(406);
    assert_eq!(first, message("Branch cannot be merged"));
    let now = request_now(forge, &made);
    assert_eq!(
        (&now["merge_status"], &now["state"]),
        (&json!("cannot_be_merged"), &json!("opened"))
    );
    assert_eq!(now["updated_at"], updated);
    assert_eq!(merge(forge, ROOT, &made, &json!({})).expect(405), not_allowed());
    assert_eq!(tip(forge, &fixture, "master"), before);
    // A push resets the status.
    commit_file(forge, &fixture, "clash", "more", "x");
    assert_eq!(request_now(forge, &made)["merge_status"], "unchecked");
    assert_eq!(merge(forge, ROOT, &made, &json!({})).expect(406), first);
}

/// PUT /projects/:id/merge_requests/:merge_request_id/merge
fn the_expected_head_is_compared(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let sha = made["sha"].as_str().expect("an id");
    let differs = message(&format!("SHA does not match HEAD of source branch: {sha}"));
    for wrong in ["", &sha[..39], "master"] {
        let answer = merge(forge, ROOT, &made, &json!({"sha": wrong}));
        assert_eq!(answer.expect(409), differs, "{wrong}");
    }
    assert_eq!(request_now(forge, &made)["merge_status"], "can_be_merged");
    merge(forge, ROOT, &made, &json!({"sha": sha})).expect(200);
    for (name, field) in [("should_remove_source_branch", "x"), ("merge_when_build_succeeds", "x")]
    {
        let answer = merge(forge, ROOT, &made, &json!({name: field}));
        let expected = json!({"error": format!("{name} is invalid")});
        assert_eq!(answer.expect(400), expected);
    }
}

/// PUT /projects/:id/merge_requests/:merge_request_id/merge: section 6.5.
fn the_source_branch_is_removed_on_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let fields = json!({"should_remove_source_branch": true});
    let merged = merge(forge, fixture.token("developer"), &made, &fields).expect(200);
    assert_eq!((&merged["state"], &merged["sha"]), (&json!("merged"), &made["sha"]));
    let branch = format!("{}/feature%2Fx", fixture.branches);
    forge.get(&branch).token(ROOT).send().expect(404);
    assert_eq!(actions(forge, &fixture)[0], "deleted");
    assert_eq!(request_as(forge, fixture.token("developer"), &made), merged);
    let versions = format!("{}/versions", path_of_request(&made));
    let versions = forge.get(&versions).token(ROOT).send().expect(200);
    assert_eq!(versions.as_array().map(Vec::len), Some(1));
}

/// PUT /projects/:id/merge_requests/:merge_request_id/merge: section 6.5.
fn protected_and_default_branches_stay(forge: &Forge) {
    let fixture = filled_fixture(forge);
    protect(forge, &fixture, "feature/*", true, true);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let fields = json!({"should_remove_source_branch": true});
    merge(forge, ROOT, &made, &fields).expect(200);
    tip(forge, &fixture, "feature%2Fx");
    let back = json!({"title": "t", "source_branch": "master", "target_branch": "feature/x"});
    let back = post_request(forge, &fixture, "developer", &back).expect(201);
    assert_eq!(merge(forge, ROOT, &back, &fields).expect(200)["state"], "merged");
    tip(forge, &fixture, "master");
}

/// PUT /projects/:id/merge_requests/:merge_request_id/merge: section 14.
fn issues_are_closed_by_the_merge(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "master",
        "description": "Closes #1"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    merge(forge, fixture.token("developer"), &made, &json!({})).expect(200);
    assert_eq!(issue_now(forge, ROOT, &issue)["state"], "closed");
    let expected = ["mentioned in merge request !1", "closed via merge request !1"];
    assert_eq!(note_bodies(forge, ROOT, &issue), expected);
    let closed = actions(forge, &fixture).iter().filter(|action| *action == "closed").count();
    assert_eq!(closed, 1);
}

/// PUT /projects/:id/merge_requests/:merge_request_id/merge: section 9.3.
fn requests_with_the_same_head_are_merged_together(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let first = new_request(forge, &fixture, "feature/x", "first");
    new_branch(forge, &fixture, "copy", "feature/x");
    let second = new_request(forge, &fixture, "copy", "second");
    merge(forge, ROOT, &first, &json!({})).expect(200);
    let second = request_now(forge, &second);
    assert_eq!((&second["state"], &second["merge_commit_sha"]), (&json!("merged"), &Value::Null));
    assert_eq!(request_notes(forge, &second), ["merged"]);
}

/// PUT /projects/:id/merge_requests/:merge_request_id/merge
fn merges_at_once_merge_once(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let statuses: Vec<u16> = thread::scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|_| scope.spawn(|| merge(forge, ROOT, &made, &json!({})).status)).collect();
        threads.into_iter().map(|thread| thread.join().expect("no panic")).collect()
    });
    let done = statuses.iter().filter(|status| **status == 200).count();
    assert_eq!(done, 1, "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 405, 406].contains(status)), "{statuses:?}");
    assert_eq!(request_notes(forge, &made), ["merged"]);
    let accepted = actions(forge, &fixture).iter().filter(|action| *action == "accepted").count();
    assert_eq!(accepted, 1);
}

/// POST /projects/:id/merge_requests/:merge_request_id/cancel_merge_when_build_succeeds,
/// PUT /projects/:id/merge_requests/:merge_request_id/cancel_merge_when_build_succeeds: section 7.
fn cancelling_needs_an_automatic_merge(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let path = format!("{}/cancel_merge_when_build_succeeds", path_of_request(&made));
    let answer = forge.post(&path).token(fixture.token("reporter")).send();
    assert_eq!(answer.expect(401), message("401 Unauthorized"));
    for method in ["POST", "PUT"] {
        let answer = forge.request(method, &path).token(fixture.token("developer")).send();
        assert_eq!(answer.expect(406), message("Can't cancel the automatic merge"));
    }
    put_request(forge, ROOT, &made, &json!({"state_event": "close"})).expect(200);
    let answer = forge.post(&path).token(fixture.token("developer")).send();
    assert_eq!(answer.expect(405), not_allowed());
}
