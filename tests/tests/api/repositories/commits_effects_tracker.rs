//! What commits of the API cause in merge requests, issues and pipelines: commits_files.md section 7.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Receiver, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::ci_support::{CONFIGURATION, pipelines};
use crate::api::hooks::hook_support::{clear_outbox, deliver_payloads, hook_of};
use crate::api::merge_requests::requests_support::{
    merge, new_request, request_notes, request_now,
};
use crate::api::repositories::commits_support::{post_body, post_commit, send_file, state, tip};
use crate::api::repositories::refs_support::{
    ProjectFixture, do_tasks, filled_fixture, new_branch, protect,
};
use crate::api::support::id_of;
use crate::api::tracker::tracker_support::{issue_now, new_issue, note_bodies};

on_every_store!(
    requests_from_the_branch_are_refreshed,
    requests_into_the_branch_are_checked_again,
    only_the_default_branch_closes_issues,
    a_pick_is_a_push_of_the_caller,
    commits_start_pipelines,
    refused_writes_cause_nothing,
);

/// Applies a commit to a branch.
#[track_caller]
fn pick(forge: &Forge, fixture: &ProjectFixture, revision: &str, branch: &str) -> Value {
    let path = format!("{}/repository/commits/{revision}/cherry_pick", fixture.cast.path);
    let body = json!({ "branch": branch });
    forge.post(&path).token(fixture.token("developer")).json(&body).send().expect(201)
}

/// Commits a file to a branch with this message.
#[track_caller]
fn commit(
    forge: &Forge,
    fixture: &ProjectFixture,
    branch: &str,
    file: &str,
    message: &str,
) -> String {
    let body = json!({"branch_name": branch, "commit_message": message,
        "actions": [{"action": "create", "file_path": file, "content": "x\n"}]});
    let made = post_body(forge, fixture, "developer", &body).expect(201);
    made["id"].as_str().expect("an id").to_owned()
}

/// POST /projects/:id/repository/commits, PUT /projects/:id/repository/files,
/// POST /projects/:id/repository/commits/:sha/cherry_pick: row "merge requests".
fn requests_from_the_branch_are_refreshed(forge: &Forge) {
    let fixture = filled_fixture(forge);
    new_branch(forge, &fixture, "other", "master");
    commit(forge, &fixture, "other", "picked", "To pick");
    let receiver = Receiver::new();
    let url = receiver.url("/");
    hook_of(forge, &fixture.cast.path, &url, &[("merge_requests_events", "true")]);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let write = |number: usize| match number {
        0 => {
            commit(forge, &fixture, "feature/x", "committed", "Commit");
        }
        1 => {
            let body = json!({"file_path": "written", "branch_name": "feature/x", "content": "x",
                "commit_message": "File"});
            send_file(forge, &fixture, ("PUT", "developer"), &body).expect(200);
        }
        _ => {
            pick(forge, &fixture, "other", "feature/x");
        }
    };
    for (number, title) in ["Commit", "File", "To pick"].into_iter().enumerate() {
        let old = tip(forge, &fixture, "feature%2Fx");
        clear_outbox(forge);
        write(number);
        do_tasks(forge);
        let new = tip(forge, &fixture, "feature%2Fx");
        let now = request_now(forge, &made);
        assert_eq!((&now["sha"], &now["merge_status"]), (&json!(new), &json!("unchecked")));
        let notes = request_notes(forge, &made);
        assert_eq!(notes.len(), number + 1);
        let start = format!("added 1 commit\n\n* {} - {title}\n", &new[..8]);
        assert!(notes[number].starts_with(&start), "{notes:?}");
        let payloads = deliver_payloads(forge, &receiver);
        assert_eq!(payloads.len(), 1, "{title}");
        let row = &payloads[0]["object_attributes"];
        assert_eq!((&row["action"], &row["oldrev"]), (&json!("update"), &json!(old)));
        assert_eq!(row["last_commit"]["id"], *new);
    }
}

/// POST /projects/:id/repository/commits: row "merge requests", "into this branch: re-checked".
fn requests_into_the_branch_are_checked_again(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let actions = json!([{"action": "update", "file_path": "README", "content": "other\n"}]);
    post_commit(forge, &fixture, "developer", "feature/x", actions).expect(201);
    let made = new_request(forge, &fixture, "feature/x", "t");
    merge(forge, ROOT, &made, &json!({})).expect(406);
    assert_eq!(request_now(forge, &made)["merge_status"], "cannot_be_merged");
    // The same change on the other side solves the conflict.
    let actions = json!([{"action": "update", "file_path": "README", "content": "other\n"}]);
    post_commit(forge, &fixture, "developer", "master", actions).expect(201);
    assert_eq!(request_now(forge, &made)["merge_status"], "unchecked");
    assert_eq!(request_notes(forge, &made), Vec::<String>::new());
    merge(forge, ROOT, &made, &json!({})).expect(200);
}

/// POST /projects/:id/repository/commits: row "issues".
fn only_the_default_branch_closes_issues(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    let beside = commit(forge, &fixture, "feature/x", "a", "Closes #1");
    assert_eq!(issue_now(forge, ROOT, &issue)["state"], "opened");
    assert_eq!(note_bodies(forge, ROOT, &issue), [format!("mentioned in commit {beside}")]);
    let new = commit(forge, &fixture, "master", "a", "Closes #1");
    assert_eq!(issue_now(forge, ROOT, &issue)["state"], "closed");
    let notes = note_bodies(forge, ROOT, &issue);
    assert_eq!(notes[1..], [format!("closed via commit {new}")]);
}

/// POST /projects/:id/repository/commits/:sha/cherry_pick: rows "event" and "hooks".
fn a_pick_is_a_push_of_the_caller(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    hook_of(forge, &fixture.cast.path, &receiver.url("/"), &[("push_events", "true")]);
    clear_outbox(forge);
    let old = tip(forge, &fixture, "master");
    let made = pick(forge, &fixture, "feature%2Fx", "master");
    let events = forge.get(&format!("{}/events", fixture.cast.path)).token(ROOT).send().expect(200);
    let event = &events[0];
    assert_eq!(event["action_name"], "pushed to");
    assert_eq!(event["author_username"], "developer");
    let data = &event["data"];
    assert_eq!((&data["before"], &data["after"]), (&json!(old), &made["id"]));
    let author = json!({"name": "Ada", "email": "ada@example.com"});
    assert_eq!(data["commits"][0]["author"], author, "as written");
    assert_eq!(data["commits"][0]["added"], json!(["x"]));
    let payloads = deliver_payloads(forge, &receiver);
    assert_eq!(payloads.len(), 1);
    assert_eq!(payloads[0].to_string(), data.to_string());
}

/// POST /projects/:id/repository/commits, POST /projects/:id/repository/commits/:sha/cherry_pick: row "pipeline".
fn commits_start_pipelines(forge: &Forge) {
    let fixture = filled_fixture(forge);
    commit(forge, &fixture, "master", "before", "Before");
    assert_eq!(pipelines(forge, &fixture), json!([]), "no configuration");
    let body = json!({"branch_name": "master", "commit_message": "Configure", "actions": [
        {"action": "create", "file_path": ".gitlab-ci.yml", "content": CONFIGURATION}]});
    post_body(forge, &fixture, "developer", &body).expect(201);
    let newest = || pipelines(forge, &fixture)[0].clone();
    let first = newest();
    assert_eq!(first["sha"], *tip(forge, &fixture, "master"));
    assert_eq!((&first["before_sha"], &first["ref"]), (&first["sha"], &json!("master")));
    assert_eq!(first["user"]["username"], "developer");
    assert_eq!(first["status"], "pending");
    let skipped = commit(forge, &fixture, "master", "quiet", "Quiet [ci skip]");
    assert_eq!((&newest()["sha"], &newest()["status"]), (&json!(skipped), &json!("skipped")));
    let picked = pick(forge, &fixture, "feature%2Fx", "master");
    assert_eq!((&newest()["sha"], &newest()["status"]), (&picked["id"], &json!("pending")));
    assert_eq!(newest()["user"]["username"], "developer");
    new_branch(forge, &fixture, "old", "master~1");
    commit(forge, &fixture, "feature/x", "silent", "Silent [skip ci]");
    let picked = pick(forge, &fixture, "feature%2Fx", "old");
    assert_eq!((&newest()["sha"], &newest()["status"]), (&picked["id"], &json!("skipped")));
}

/// "A refused write causes none of these."
fn refused_writes_cause_nothing(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let body = json!({"branch_name": "master", "commit_message": "Configure", "actions": [
        {"action": "create", "file_path": ".gitlab-ci.yml", "content": CONFIGURATION}]});
    post_body(forge, &fixture, "developer", &body).expect(201);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    protect(forge, &fixture, "feature/x", false, false);
    let (before, started) = (state(forge, &fixture), pipelines(forge, &fixture));
    let events = format!("{}/events", fixture.cast.path);
    let feed = forge.get(&events).token(ROOT).send().expect(200);
    for (branch, file) in [("feature/x", "new"), ("master", "README"), ("missing", "new")] {
        let body = json!({"branch_name": branch, "commit_message": "Closes #1", "actions": [
            {"action": "create", "file_path": file, "content": "x"}]});
        post_body(forge, &fixture, "developer", &body).expect(400);
        let body = json!({"branch_name": branch, "commit_message": "Closes #1",
            "file_path": file, "content": "x"});
        send_file(forge, &fixture, ("POST", "developer"), &body).expect(400);
    }
    do_tasks(forge);
    assert_eq!(state(forge, &fixture), before);
    assert_eq!(pipelines(forge, &fixture), started);
    assert_eq!(forge.get(&events).token(ROOT).send().expect(200), feed);
    assert_eq!(issue_now(forge, ROOT, &issue)["state"], "opened");
    assert_eq!(note_bodies(forge, ROOT, &issue), Vec::<String>::new());
    assert_eq!(request_now(forge, &made)["sha"], made["sha"]);
    assert_eq!(id_of(&request_now(forge, &made)), id_of(&made));
}
