//! Todos about merge requests: merge_requests.md sections 5, 6.5, 9, 12 and 13, rest_of_v3.md section 6.

use hexforge_application::build;
use hexforge_domain::ci::status::Transition;
use hexforge_domain::id::BuildId;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_support::{
    commit_file, merge, new_request, path_of_request, post_request, put_request, request_as,
};
use crate::api::ci::ci_support::{self, CONFIGURATION, ci_fixture};
use crate::api::groups::group_support::{error, forbidden};
use crate::api::projects::project_support::assert_unchanged;
use crate::api::repositories::commits_support::post_commit;
use crate::api::repositories::refs_support::{ProjectFixture, do_tasks, filled_fixture};
use crate::api::support::{MISSING, id_of, message};
use crate::api::tracker::todo_support::{actions, finish_all, todos, todos_with};

on_every_store!(
    a_todo_is_made_for_a_merge_request,
    assignees_and_mentioned_readers_get_a_todo,
    what_a_user_does_with_a_request_finishes_the_todo,
    merging_finishes_the_todo_of_the_caller,
    pushing_finishes_the_todo_of_the_pusher,
    commands_make_and_finish_todos,
    a_failed_build_makes_a_todo_of_the_author,
    a_failed_status_makes_a_todo_of_the_author,
    changed_and_deleted_notes_create_and_delete_todos,
);

fn todo_path(request: &Value) -> String {
    format!("{}/todo", path_of_request(request))
}

fn mark(forge: &Forge, fixture: &ProjectFixture, who: &str, request: &Value) -> Value {
    forge.post(&todo_path(request)).token(fixture.token(who)).send().expect(201)
}

/// POST /projects/:id/merge_requests/:merge_request_id/todo, GET /todos
fn a_todo_is_made_for_a_merge_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let request = new_request(forge, &fixture, "feature/x", "t");
    let reporter = fixture.token("reporter");
    let made = mark(forge, &fixture, "reporter", &request);
    assert_eq!(
        (&made["target_type"], &made["action_name"]),
        (&json!("MergeRequest"), &json!("marked"))
    );
    assert_eq!(made["target"], request_as(forge, reporter, &request));
    assert_eq!((&made["target_url"], &made["body"]), (&request["web_url"], &json!("t")));
    assert_eq!(todos(forge, reporter), json!([made]));
    assert_eq!(todos_with(forge, reporter, "&type=MergeRequest"), json!([made]));
    assert_eq!(todos_with(forge, reporter, "&type=Issue"), json!([]));
    assert_unchanged(&forge.post(&todo_path(&request)).token(reporter).send());
    let guest = forge.post(&todo_path(&request)).token(fixture.token("guest")).send();
    assert_eq!(guest.expect(403), forbidden());
    let requests = format!("{}/merge_requests", fixture.cast.path);
    let unknown = forge.post(&format!("{requests}/{MISSING}/todo")).token(reporter).send();
    assert_eq!(unknown.expect(404), message("404 Not found"));
    let text = forge.post(&format!("{requests}/x/todo")).token(reporter).send();
    assert_eq!(text.expect(400), error("merge_request_id is invalid"));
    forge.delete(&path_of_request(&request)).token(ROOT).send().expect(200);
    assert_eq!(todos(forge, reporter), json!([]));
}

/// POST /projects/:id/merge_requests, PUT /projects/:id/merge_requests/:merge_request_id
fn assignees_and_mentioned_readers_get_a_todo(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let id = |who: &str| id_of(&forge.get("/user").token(fixture.token(who)).send().expect(200));
    let (reporter, master) = (fixture.token("reporter"), fixture.token("master"));
    let fields = json!({
        "title": "t", "source_branch": "feature/x", "target_branch": "master",
        "assignee_id": id("master"), "description": "@master @reporter @guest @developer"
    });
    let request = post_request(forge, &fixture, "developer", &fields).expect(201);
    assert_eq!(actions(forge, master), ["assigned"]);
    assert_eq!(actions(forge, reporter), ["mentioned"]);
    assert_eq!(actions(forge, fixture.token("guest")), Vec::<String>::new());
    assert_eq!(actions(forge, fixture.token("developer")), ["mentioned"], "the author included");
    let edit = |fields: Value| {
        put_request(forge, fixture.token("developer"), &request, &fields).expect(200)
    };
    edit(json!({"assignee_id": id("developer")}));
    assert_eq!(actions(forge, fixture.token("developer")), ["assigned"]);
    finish_all(forge, reporter);
    edit(json!({"description": "@reporter\n\n- [ ] one"}));
    assert_eq!(actions(forge, reporter), ["mentioned"]);
    finish_all(forge, reporter);
    edit(json!({"description": "@reporter\n\n- [x] one"}));
    assert_eq!(actions(forge, reporter), Vec::<String>::new(), "a ticked task");
    let note = format!("{}/notes", path_of_request(&request));
    let note = forge.post(&note).token(master).form(&[("body", "@reporter?")]).send().expect(201);
    let url = request["web_url"].as_str().expect("a URL");
    let todo = &todos(forge, reporter)[0];
    assert_eq!(todo["target_url"], format!("{url}#note_{}", id_of(&note)));
    assert_eq!(todo["body"], "@reporter?");
    assert_eq!(actions(forge, master), Vec::<String>::new(), "the comment finished it");
}

/// PUT /projects/:id/merge_requests/:merge_request_id
fn what_a_user_does_with_a_request_finishes_the_todo(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let request = new_request(forge, &fixture, "feature/x", "t");
    for (fields, finishes) in [
        (json!({"title": "new"}), true),
        (json!({"title": "new"}), false),
        (json!({"description": "new"}), true),
        (json!({"labels": "bug"}), true),
        (json!({"target_branch": "other"}), false),
        (json!({"state_event": "close"}), true),
        (json!({"state_event": "reopen"}), false),
    ] {
        for who in ["master", "reporter"] {
            forge.post(&todo_path(&request)).token(fixture.token(who)).send();
        }
        put_request(forge, fixture.token("master"), &request, &fields).expect(200);
        let left = actions(forge, fixture.token("master"));
        assert_eq!(left.is_empty(), finishes, "{fields}");
        assert_eq!(actions(forge, fixture.token("reporter")), ["marked"], "{fields}");
    }
}

/// PUT /projects/:id/merge_requests/:merge_request_id/merge
fn merging_finishes_the_todo_of_the_caller(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let request = new_request(forge, &fixture, "feature/x", "t");
    for who in ["master", "reporter"] {
        mark(forge, &fixture, who, &request);
    }
    merge(forge, fixture.token("master"), &request, &json!({})).expect(200);
    assert_eq!(actions(forge, fixture.token("master")), Vec::<String>::new());
    assert_eq!(actions(forge, fixture.token("reporter")), ["marked"]);
    assert_eq!(todos(forge, fixture.token("reporter"))[0]["target"]["state"], "merged");
}

/// POST /projects/:id/repository/commits: a push to the source branch.
fn pushing_finishes_the_todo_of_the_pusher(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let request = new_request(forge, &fixture, "feature/x", "t");
    for who in ["master", "reporter"] {
        mark(forge, &fixture, who, &request);
    }
    let change = json!([{"action": "create", "file_path": "new", "content": "new"}]);
    post_commit(forge, &fixture, "master", "feature/x", change).expect(201);
    do_tasks(forge);
    assert_eq!(actions(forge, fixture.token("master")), Vec::<String>::new());
    assert_eq!(actions(forge, fixture.token("reporter")), ["marked"]);
}

/// POST /projects/:id/merge_requests/:noteable_id/notes: `/todo` and `/done`.
fn commands_make_and_finish_todos(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let request = new_request(forge, &fixture, "feature/x", "t");
    let notes = format!("{}/notes", path_of_request(&request));
    let write = |who: &str, body: &str| {
        let form = [("body", body)];
        forge.post(&notes).token(fixture.token(who)).form(&form).send().expect(201)
    };
    let developer = fixture.token("developer");
    assert_eq!(write("developer", "/todo")["id"], Value::Null);
    assert_eq!(actions(forge, developer), ["marked"]);
    write("developer", "/done");
    assert_eq!(actions(forge, developer), Vec::<String>::new());
    write("developer", "/title new\n/todo");
    assert_eq!(actions(forge, developer), ["marked"], "the command comes after the change");
    assert_eq!(write("reporter", "/todo")["body"], "/todo");
    assert_eq!(actions(forge, fixture.token("reporter")), Vec::<String>::new());
}

/// POST /projects/:id/builds/:build_id/retry: section 6.2 of rest_of_v3.md.
fn a_failed_build_makes_a_todo_of_the_author(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    ci_support::push(forge, &fixture, "feature");
    commit_file(forge, &fixture, "feature", "new", "new");
    let request = new_request(forge, &fixture, "feature", "t");
    let developer = fixture.token("developer");
    let fail = |name: &str| ci_support::run(forge, &fixture, name, Transition::Fail);
    ci_support::run(forge, &fixture, "compile", Transition::Succeed);
    fail("lint");
    assert_eq!(actions(forge, developer), Vec::<String>::new(), "it is allowed to fail");
    fail("rspec");
    assert_eq!(actions(forge, developer), ["build_failed"]);
    let todo = &todos(forge, developer)[0];
    assert_eq!((&todo["target"]["id"], &todo["body"]), (&request["id"], &json!("t")));
    assert_eq!(todo["author"]["id"], request["author"]["id"]);
    assert_eq!(actions(forge, fixture.token("master")), Vec::<String>::new());
    let failed = ci_support::path_of(&fixture, &ci_support::build(forge, &fixture, "rspec"));
    let retry = forge.post(&format!("{failed}/retry")).token(fixture.token("master")).send();
    let again = BuildId(id_of(&retry.expect(201)));
    assert_eq!(actions(forge, developer), Vec::<String>::new());
    commit_file(forge, &fixture, "feature", "newer", "newer");
    do_tasks(forge);
    for transition in [Transition::Run, Transition::Fail] {
        build::advance(&forge.app, again, transition).expect("the store can be written");
    }
    assert_eq!(actions(forge, developer), Vec::<String>::new(), "not a build of the head");
}

/// POST /projects/:id/statuses/:sha
fn a_failed_status_makes_a_todo_of_the_author(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let request = new_request(forge, &fixture, "feature/x", "t");
    let head = request["sha"].as_str().expect("a head");
    let developer = fixture.token("developer");
    let post = |sha: &str, reference: &str| {
        let path = format!("{}/statuses/{sha}", fixture.cast.path);
        let form = [("state", "failed"), ("ref", reference), ("name", "outside")];
        forge.post(&path).token(fixture.token("master")).form(&form).send().expect(201)
    };
    post(&fixture.id("master"), "master");
    assert_eq!(actions(forge, developer), Vec::<String>::new());
    post(head, "feature/x");
    assert_eq!(actions(forge, developer), ["build_failed"]);
    post(head, "feature/x");
    assert_eq!(actions(forge, developer), ["build_failed"]);
}

/// PUT /projects/:id/merge_requests/:noteable_id/notes/:note_id,
/// DELETE /projects/:id/merge_requests/:noteable_id/notes/:note_id: rest_of_v3.md section 6.2, "in a note (created or
/// edited)", "`@all` the team", "They are deleted with … their note".
fn changed_and_deleted_notes_create_and_delete_todos(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let request = new_request(forge, &fixture, "feature/x", "t");
    let master = fixture.token("master");
    let notes = format!("{}/notes", path_of_request(&request));
    let note = forge.post(&notes).token(master).form(&[("body", "well")]).send().expect(201);
    assert_eq!(todos(forge, fixture.token("reporter")), json!([]));
    let one = format!("{notes}/{}", id_of(&note));
    forge.put(&one).token(master).form(&[("body", "@all: look")]).send().expect(200);
    // A guest of a private project reads no merge requests.
    for (who, expected) in [("reporter", 1), ("developer", 1), ("guest", 0), ("stranger", 0)] {
        assert_eq!(actions(forge, fixture.token(who)).len(), expected, "{who}");
    }
    assert_eq!(todos(forge, fixture.token("reporter"))[0]["body"], "@all: look");
    forge.delete(&one).token(master).send().expect(200);
    for who in ["reporter", "developer"] {
        assert_eq!(todos(forge, fixture.token(who)), json!([]), "{who}");
    }
}
