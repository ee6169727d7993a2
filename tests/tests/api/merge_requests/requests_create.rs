//! Creating merge requests: merge_requests.md sections 2, 4 and 15.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_support::{
    actions, new_request, path_of_request, post_request, put_request, request_as, request_notes,
};
use crate::api::groups::group_support::{error, fields_of, forbidden, no_project};
use crate::api::repositories::refs_support::filled_fixture;
use crate::api::support::{MISSING, field_error, id_of, message};
use crate::api::tracker::tracker_support::{new_issue, note_bodies, user_summary};

on_every_store!(
    a_request_is_created_with_every_field,
    missing_and_malformed_fields_are_reported,
    the_first_failure_answers,
    branches_need_not_exist,
    who_may_create_requests,
    members_below_developer_cannot_set_labels,
    commands_of_the_description_are_carried_out,
    references_leave_notes_on_issues,
    numbers_are_not_given_again,
);

fn user_of(forge: &Forge, token: &str) -> i64 {
    id_of(&forge.get("/user").token(token).send().expect(200))
}

/// POST /projects/:id/merge_requests, GET /projects/:id/merge_requests/:merge_request_id
fn a_request_is_created_with_every_field(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let (developer, path) = (fixture.token("developer"), &fixture.cast.path);
    let goal = forge.post(&format!("{path}/milestones")).token(ROOT).form(&[("title", "1.0")]);
    let goal = goal.send().expect(201);
    let (author, assignee) = (user_of(forge, developer), user_of(forge, fixture.token("guest")));
    let fields = json!({
        "title": " Add x 🦀 ", "description": "It *is*", "source_branch": "feature/x",
        "target_branch": "master", "assignee_id": assignee, "milestone_id": id_of(&goal),
        "labels": "wish , label?,&", "author": 1, "created_at": "2000-01-01", "state": "merged"
    });
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    let project = fixture.project();
    let expected = json!({
        "id": id_of(&made), "iid": 1, "project_id": project, "title": "Add x 🦀",
        "description": "It *is*", "state": "opened", "created_at": "2016-09-22T10:30:00.000Z",
        "updated_at": "2016-09-22T10:30:00.000Z", "target_branch": "master",
        "source_branch": "feature/x", "upvotes": 0, "downvotes": 0,
        "author": user_summary(forge, author), "assignee": user_summary(forge, assignee),
        "source_project_id": project, "target_project_id": project,
        "labels": ["&", "label?", "wish"], "work_in_progress": false, "milestone": goal,
        "merge_when_build_succeeds": false, "merge_status": "unchecked",
        "sha": fixture.id("feature/x"), "merge_commit_sha": null, "subscribed": true,
        "user_notes_count": 0, "should_remove_source_branch": null,
        "force_remove_source_branch": null,
        "web_url": "http://forge.test/ada/ship/merge_requests/1"
    });
    assert_eq!(made, expected);
    assert_eq!(fields_of(&made), fields_of(&expected));
    let labels = forge.get(&format!("{path}/labels")).token(ROOT).send().expect(200);
    assert_eq!(labels[0]["color"], "#428BCA");
    assert_eq!(labels[0]["open_merge_requests_count"], 1);
    assert_eq!(actions(forge, &fixture)[0], "opened");
    assert_eq!(request_notes(forge, &made), Vec::<String>::new());
    let shown = forge.get(&path_of_request(&made)).token(developer).send().expect(200);
    assert_eq!(shown, expected);
    let old = path_of_request(&made).replace("merge_requests", "merge_request");
    assert_eq!(forge.get(&old).token(developer).send().expect(200), expected);
    let bare = new_request(forge, &fixture, "master~", "wip bare");
    assert_eq!((&bare["iid"], &bare["description"]), (&json!(2), &Value::Null));
    assert_eq!(bare["work_in_progress"], true);
    // The head can be fetched.
    let head = fixture.tree.git_bare(&["rev-parse", "refs/merge-requests/1/head"]);
    assert_eq!(made["sha"], head);
}

/// POST /projects/:id/merge_requests
fn missing_and_malformed_fields_are_reported(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let right = || json!({"title": "t", "source_branch": "feature/x", "target_branch": "master"});
    let with = |name: &str, value: Value| {
        let mut fields = right();
        fields[name] = value;
        fields
    };
    for (fields, expected) in [
        (json!({}), error("title is missing, source_branch is missing, target_branch is missing")),
        (json!({"title": "t"}), error("source_branch is missing, target_branch is missing")),
        (with("assignee_id", json!("me")), error("assignee_id is invalid")),
        (with("milestone_id", json!("one")), error("milestone_id is invalid")),
        (with("target_project_id", json!("x")), error("target_project_id is invalid")),
        (with("title", json!(" ")), field_error("title", "can't be blank")),
        (
            with("title", json!("x".repeat(256))),
            field_error("title", "is too long (maximum is 255 characters)"),
        ),
        (with("source_branch", json!("")), field_error("source_branch", "can't be blank")),
        (with("target_branch", json!(" ")), field_error("target_branch", "can't be blank")),
    ] {
        let answer = post_request(forge, &fixture, "developer", &fields);
        assert_eq!(answer.expect(400), expected, "{fields}");
    }
    let list = forge.get(&format!("{}/merge_requests", fixture.cast.path)).token(ROOT).send();
    assert_eq!(list.expect(200), json!([]));
}

/// POST /projects/:id/merge_requests
fn the_first_failure_answers(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let project = fixture.project();
    let post = |fields: Value| post_request(forge, &fixture, "developer", &fields);
    let same = json!({"title": " ", "source_branch": "master", "target_branch": "master"});
    let text = "You can not use same project/branch for source and target";
    assert_eq!(post(same).expect(422), json!({"error": [text]}));
    let gone = json!({"title": " ", "source_branch": "a", "target_branch": "a",
        "target_project_id": MISSING});
    assert_eq!(post(gone).expect(404), message("404 Not found"));
    new_request(forge, &fixture, "feature/x", r#"The "first""#);
    let twin = json!({"title": "", "source_branch": "feature/x", "target_branch": "master",
        "target_project_id": project});
    let text = r#"Cannot Create: This merge request already exists: ["The \"first\""]"#;
    assert_eq!(post(twin).expect(409), json!({"message": [text]}));
}

/// POST /projects/:id/merge_requests
fn branches_need_not_exist(forge: &Forge) {
    let fixture = filled_fixture(forge);
    for (source, target, sha) in [
        ("gone", "master", Value::Null),
        ("feature/x", "gone", json!(fixture.id("feature/x"))),
        ("a..b", "also gone", Value::Null),
    ] {
        let fields = json!({"title": "t", "source_branch": source, "target_branch": target});
        let made = post_request(forge, &fixture, "developer", &fields).expect(201);
        assert_eq!(made["sha"], sha, "{source}");
        let path = path_of_request(&made);
        let commits = forge.get(&format!("{path}/commits")).token(ROOT).send().expect(200);
        assert_eq!(commits, json!([]));
        let changes = forge.get(&format!("{path}/changes")).token(ROOT).send().expect(200);
        assert_eq!(changes["changes"], json!([]));
        let merged = forge.put(&format!("{path}/merge")).token(ROOT).send().expect(405);
        assert_eq!(merged, message("405 Method Not Allowed"));
    }
}

/// POST /projects/:id/merge_requests
fn who_may_create_requests(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "master"});
    let path = format!("{}/merge_requests", fixture.cast.path);
    let answer = forge.post(&path).json(&fields).send();
    assert_eq!(answer.expect(401), message("401 Unauthorized"));
    for who in ["stranger", "external"] {
        assert_eq!(post_request(forge, &fixture, who, &fields).expect(404), no_project(), "{who}");
    }
    for who in ["guest", "reporter"] {
        assert_eq!(post_request(forge, &fixture, who, &fields).expect(403), forbidden(), "{who}");
    }
    for (switch, back) in [("archive", "unarchive")] {
        let call = |word: &str| format!("{}/{word}", fixture.cast.path);
        forge.post(&call(switch)).token(ROOT).send();
        for who in ["developer", "owner", "root"] {
            let answer = post_request(forge, &fixture, who, &fields);
            assert_eq!(answer.expect(403), forbidden(), "{who}");
        }
        forge.post(&call(back)).token(ROOT).send();
    }
    let off = |value: &str| {
        let form = [("name", "Ship"), ("merge_requests_enabled", value)];
        forge.put(&fixture.cast.path).token(ROOT).form(&form).send().expect(200);
    };
    off("false");
    assert_eq!(post_request(forge, &fixture, "root", &fields).expect(403), forbidden());
    off("true");
    post_request(forge, &fixture, "developer", &fields).expect(201);
}

/// POST /projects/:id/merge_requests, PUT /projects/:id/merge_requests/:merge_request_id
fn members_below_developer_cannot_set_labels(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "mine");
    let (user, _) = (user_of(forge, fixture.token("developer")), ());
    let member = format!("{}/members/{user}", fixture.cast.path);
    forge.put(&member).token(ROOT).form(&[("access_level", "20")]).send().expect(200);
    let token = fixture.token("developer");
    let fields = json!({"labels": "a", "assignee_id": user, "milestone_id": 1});
    let changed = put_request(forge, token, &made, &fields).expect(200);
    assert_eq!(changed, request_as(forge, token, &made));
    assert_eq!((&changed["labels"], &changed["assignee"]), (&json!([]), &Value::Null));
    assert_eq!(changed["updated_at"], made["updated_at"]);
    let changed = put_request(forge, token, &made, &json!({"title": "x", "labels": "a"}));
    assert_eq!(changed.expect(200)["title"], "x");
}

/// POST /projects/:id/merge_requests: section 12.
fn commands_of_the_description_are_carried_out(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let label = format!("{}/labels", fixture.cast.path);
    let form = [("name", "bug"), ("color", "#ff0000")];
    forge.post(&label).token(ROOT).form(&form).send().expect(200);
    let description = "Text\n/assign @guest\n/label ~bug\n/close\n/title Other\n/wip\n/merge\n";
    let fields = json!({"title": "t", "source_branch": "feature/x", "target_branch": "master",
        "description": description});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    assert_eq!(made["description"], "Text\n/merge");
    assert_eq!((&made["title"], &made["state"]), (&json!("t"), &json!("opened")));
    assert_eq!(
        (&made["assignee"]["username"], &made["labels"]),
        (&json!("guest"), &json!(["bug"]))
    );
    let changed =
        put_request(forge, fixture.token("developer"), &made, &json!({"description": "/close\nx"}));
    let changed = changed.expect(200);
    assert_eq!(
        (&changed["description"], &changed["state"]),
        (&json!("/close\nx"), &json!("opened"))
    );
}

/// POST /projects/:id/merge_requests: section 14.
fn references_leave_notes_on_issues(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    let fields = json!({"title": "Closes #1", "source_branch": "feature/x",
        "target_branch": "master", "description": "see #1 and #1"});
    let made = post_request(forge, &fixture, "developer", &fields).expect(201);
    assert_eq!(note_bodies(forge, ROOT, &issue), ["mentioned in merge request !1"]);
    put_request(forge, ROOT, &made, &json!({"description": "again #1"})).expect(200);
    assert_eq!(note_bodies(forge, ROOT, &issue), ["mentioned in merge request !1"]);
}

/// DELETE /projects/:id/merge_requests/:merge_request_id: section 19.
fn numbers_are_not_given_again(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let first = new_request(forge, &fixture, "feature/x", "first");
    let delete =
        |who: &str| forge.delete(&path_of_request(&first)).token(fixture.token(who)).send();
    for who in ["guest", "reporter", "developer", "master"] {
        assert_eq!(delete(who).expect(403), forbidden(), "{who}");
    }
    let events = actions(forge, &fixture).len();
    assert_eq!(delete("owner").expect(200)["id"], first["id"]);
    assert_eq!(actions(forge, &fixture).len(), events - 1, "its event is gone");
    assert_eq!(delete("owner").expect(403), forbidden(), "it is gone");
    let second = new_request(forge, &fixture, "feature/x", "second");
    assert_eq!(second["iid"], 2);
}
