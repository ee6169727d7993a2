//! Comments on commits: commits_files.md section 4.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Receiver, Response, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{new_project, path_of_project};
use crate::api::hooks::hook_support::{clear_outbox, hook_of};
use crate::api::merge_requests::requests_support::{new_request, request_notes};
use crate::api::repositories::refs_support::{ProjectFixture, filled_fixture};
use crate::api::support::{message, queued_events};
use crate::api::tracker::tracker_support::{new_issue, note_bodies};

on_every_store!(
    comments_on_a_commit_are_listed_oldest_first,
    comments_on_changed_lines_have_a_position,
    lines_that_did_not_change_give_comments_on_the_commit,
    parameters_are_checked_in_their_order,
    comments_are_for_readers_of_the_code,
    comments_stay_in_their_project,
    a_comment_has_an_event_and_no_command_or_award,
    a_comment_is_told_with_its_commit,
    references_in_comments_leave_notes_on_issues,
    references_to_requests_and_other_projects_leave_notes,
    lines_of_removed_and_renamed_files_are_found_by_the_new_path,
    archived_projects_take_comments_on_lines,
    a_commit_with_a_comment_stays_visible,
);

fn comments(fixture: &ProjectFixture, revision: &str) -> String {
    format!("{}/repository/commits/{revision}/comments", fixture.cast.path)
}

fn post(forge: &Forge, fixture: &ProjectFixture, revision: &str, fields: &Value) -> Response {
    let call = forge.post(&comments(fixture, revision)).token(fixture.token("reporter"));
    call.json(fields).send()
}

fn list(forge: &Forge, fixture: &ProjectFixture, revision: &str) -> Response {
    forge.get(&comments(fixture, revision)).token(fixture.token("reporter")).send()
}

/// GET /projects/:id/repository/commits/:sha/comments, POST /projects/:id/repository/commits/:sha/comments
fn comments_on_a_commit_are_listed_oldest_first(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let id = fixture.id("master");
    assert_eq!(list(forge, &fixture, "master").expect(200), json!([]));
    let answer = post(forge, &fixture, &id, &json!({"note": "Well *done* 🦀", "line": "x"}));
    let made = answer.expect(201);
    let author = made["author"].to_string();
    let expected = format!(
        r#"{{"note":"Well *done* 🦀","path":null,"line":null,"line_type":null,"author":{author},"created_at":{}}}"#,
        made["created_at"]
    );
    assert_eq!(answer.text(), expected);
    let fields: Vec<&String> = made["author"].as_object().expect("a user").keys().collect();
    assert_eq!(fields, ["name", "username", "id", "state", "avatar_url", "web_url"]);
    // A short id is stored as the whole one.
    let second = post(forge, &fixture, &id[..6], &json!({"note": "again"})).expect(201);
    for revision in ["master", &id, &id[..9], "master~0"] {
        assert_eq!(
            list(forge, &fixture, revision).expect(200),
            json!([made, second]),
            "{revision}"
        );
    }
    let page = format!("{}?per_page=1&page=2", comments(&fixture, "master"));
    let page = forge.get(&page).token(fixture.token("reporter")).send();
    assert_eq!(page.header("X-Total"), Some("2"));
    assert_eq!(page.expect(200), json!([second]));
    assert_eq!(list(forge, &fixture, "master~1").expect(200), json!([]));
    for revision in ["missing", "master:README", "1234567"] {
        let missing = list(forge, &fixture, revision).expect(404);
        assert_eq!(missing, message("404 Commit Not Found"), "{revision}");
    }
}

/// Commits a change of a file with nine lines: line 2 is changed, a line is added after line 5, and line 9 is removed.
fn changed_file(forge: &Forge, fixture: &ProjectFixture) -> String {
    let tree = &fixture.tree;
    tree.git(&["checkout", "-q", "master"]);
    tree.write("lines", "1\n2\n3\n4\n5\n6\n7\n8\n9\n");
    tree.git(&["add", "-A"]);
    tree.git(&["commit", "-q", "-m", "Lines"]);
    tree.write("lines", "1\nzwei\n3\n4\n5\nnew\n6\n7\n8\n");
    tree.git(&["commit", "-q", "-a", "-m", "Change lines"]);
    forge.fill(fixture.project(), tree);
    fixture.id("master")
}

/// POST /projects/:id/repository/commits/:sha/comments
fn comments_on_changed_lines_have_a_position(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let id = changed_file(forge, &fixture);
    let mut made = Vec::new();
    for (line, kind, shown) in [
        (json!(2), "new", json!(2)),
        (json!("2"), "old", Value::Null),
        (json!(6), "new", json!(6)),
        (json!(10), "old", Value::Null),
    ] {
        let fields = json!({"note": "Here", "path": "lines", "line": line, "line_type": kind});
        let comment = post(forge, &fixture, &id, &fields).expect(201);
        assert_eq!(comment["path"], "lines", "{line} {kind}");
        assert_eq!((&comment["line"], &comment["line_type"]), (&shown, &json!(kind)), "{line}");
        made.push(comment);
    }
    // Ruling: the type defaults to `new`.
    let fields = json!({"note": "Here", "path": "lines", "line": 6});
    let comment = post(forge, &fixture, &id, &fields).expect(201);
    assert_eq!(comment["line_type"], "new");
    made.push(comment);
    assert_eq!(list(forge, &fixture, &id).expect(200), json!(made));
    // All lines of a root commit are new.
    let root = fixture.id("master~4");
    let fields = json!({"note": "Begin", "path": "README", "line": 1});
    assert_eq!(post(forge, &fixture, &root, &fields).expect(201)["line"], 1);
}

/// POST /projects/:id/repository/commits/:sha/comments
fn lines_that_did_not_change_give_comments_on_the_commit(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let id = changed_file(forge, &fixture);
    for (path, line, kind) in [
        ("lines", json!(1), "new"),
        ("lines", json!(6), "old"),
        ("lines", json!(100), "new"),
        ("lines", json!(0), "new"),
        ("lines", json!(-1), "new"),
        ("lines", json!(i64::MAX), "old"),
        ("lines", json!(""), "new"),
        ("README", json!(1), "new"),
        ("missing", json!(1), "new"),
        ("../lines", json!(2), "new"),
        (" ", json!("nonsense"), "nonsense"),
        ("", json!([1]), "nonsense"),
    ] {
        let fields = json!({"note": "There", "path": path, "line": line, "line_type": kind});
        let comment = post(forge, &fixture, &id, &fields).expect(201);
        for field in ["path", "line", "line_type"] {
            assert_eq!(comment[field], Value::Null, "{path} {line} {kind}");
        }
    }
}

/// POST /projects/:id/repository/commits/:sha/comments
fn parameters_are_checked_in_their_order(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let id = fixture.id("master");
    let told = queued_events(forge).len();
    let error = |text: &str| json!({ "error": text });
    let on_line = |more: Value| {
        let mut fields = json!({"note": "x", "path": "README"});
        for (name, value) in more.as_object().expect("fields") {
            fields[name] = value.clone();
        }
        fields
    };
    for (revision, fields, expected) in [
        ("master", json!({}), error("sha is invalid, note is missing")),
        ("12345", json!({"note": "x"}), error("sha is invalid")),
        ("1234567g", json!({"note": "x"}), error("sha is invalid")),
        (&*format!("{id}0"), json!({"note": "x"}), error("sha is invalid")),
        (&id, json!({}), error("note is missing")),
        (&id, on_line(json!({})), error("line is missing")),
        (&id, on_line(json!({"line": "x"})), error("line is invalid")),
        (
            &id,
            on_line(json!({"line": "x", "line_type": "up"})),
            error("line is invalid, line_type does not have a valid value"),
        ),
        (
            &id,
            on_line(json!({"line": 1, "line_type": "up"})),
            error("line_type does not have a valid value"),
        ),
        (&id, json!({"note": " \n"}), message("Failed to save note {:note=>[\"can't be blank\"]}")),
    ] {
        let answer = post(forge, &fixture, revision, &fields);
        assert_eq!(answer.expect(400), expected, "{revision} {fields}");
    }
    // The commit is looked up before the text is checked.
    let missing = post(forge, &fixture, "1234567", &json!({"note": " "})).expect(404);
    assert_eq!(missing, message("404 Commit Not Found"));
    assert_eq!(list(forge, &fixture, &id).expect(200), json!([]));
    assert_eq!(queued_events(forge).len(), told);
}

/// GET /projects/:id/repository/commits/:sha/comments, POST /projects/:id/repository/commits/:sha/comments
fn comments_are_for_readers_of_the_code(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let path = comments(&fixture, &fixture.id("master"));
    let fields = json!({"note": "x"});
    forge.get(&path).send().expect(401);
    forge.post(&path).json(&fields).send().expect(401);
    for (who, status) in [("guest", 403), ("stranger", 404), ("reporter", 200), ("developer", 200)]
    {
        forge.get(&path).token(fixture.token(who)).send().expect(status);
        let expected = if status == 200 { 201 } else { status };
        forge.post(&path).token(fixture.token(who)).json(&fields).send().expect(expected);
        // The right comes before the parameters.
        let expected = if status == 200 { 400 } else { status };
        forge.post(&path).token(fixture.token(who)).json(&json!({})).send().expect(expected);
    }
    forge.post(&format!("{}/archive", fixture.cast.path)).token(ROOT).send().expect(201);
    forge.post(&path).token(fixture.token("reporter")).json(&fields).send().expect(201);
    forge.put(&fixture.cast.path).token(ROOT).json(&json!({"name": "Ship", "public": true})).send();
    forge.get(&path).send().expect(401);
}

/// GET /projects/:id/repository/commits/:sha/comments: the ruling of section 4.1.
fn comments_stay_in_their_project(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let id = fixture.id("master");
    post(forge, &fixture, &id, &json!({"note": "only here"})).expect(201);
    let fork = format!("/projects/fork/{}", fixture.project());
    let fork = forge.post(&fork).token(fixture.token("developer"));
    let fork = fork.form(&[("namespace", "developer")]).send().expect(201);
    let path = format!("/projects/{}/repository/commits/{id}/comments", fork["id"]);
    let developer = fixture.token("developer");
    assert_eq!(forge.get(&path).token(developer).send().expect(200), json!([]));
    forge.post(&path).token(developer).json(&json!({"note": "only there"})).send().expect(201);
    let shown = list(forge, &fixture, &id).expect(200);
    assert_eq!(shown.as_array().map(Vec::len), Some(1));
    assert_eq!(shown[0]["note"], "only here");
}

/// POST /projects/:id/repository/commits/:sha/comments, GET /projects/:id/events
fn a_comment_has_an_event_and_no_command_or_award(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let id = changed_file(forge, &fixture);
    let events = format!("{}/events?per_page=1", fixture.cast.path);
    for (fields, kind) in [
        (json!({"note": ":+1:"}), "Note"),
        (json!({"note": "/close"}), "Note"),
        (json!({"note": "x", "path": "lines", "line": 2}), "LegacyDiffNote"),
    ] {
        let comment = post(forge, &fixture, &id, &fields).expect(201);
        assert_eq!(comment["note"], fields["note"]);
        let event = &forge.get(&events).token(fixture.token("reporter")).send().expect(200)[0];
        assert_eq!(event["action_name"], "commented on");
        assert_eq!(
            (&event["target_type"], &event["target_title"]),
            (&json!(kind), &json!("Change lines"))
        );
        assert_eq!(event["author_id"], comment["author"]["id"]);
        let note = &event["note"];
        assert_eq!(note["body"], fields["note"]);
        assert_eq!(
            (&note["noteable_type"], &note["noteable_id"]),
            (&json!("Commit"), &Value::Null)
        );
        assert_eq!(event["target_id"], note["id"]);
    }
}

/// POST /projects/:id/repository/commits/:sha/comments: users_hooks_events.md 9.4.
fn a_comment_is_told_with_its_commit(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let id = changed_file(forge, &fixture);
    let receiver = Receiver::new();
    hook_of(forge, &fixture.cast.path, &receiver.url("/"), &[("note_events", "true")]);
    clear_outbox(forge);
    post(forge, &fixture, &id, &json!({"note": "all of it"})).expect(201);
    forge.deliver();
    let received = receiver.take_only();
    assert_eq!(received.header("x-gitlab-event"), Some("Note Hook"));
    let told = received.json();
    let members: Vec<&String> = told.as_object().expect("an object").keys().collect();
    let expected = [
        "object_kind",
        "user",
        "project_id",
        "project",
        "object_attributes",
        "repository",
        "commit",
    ];
    assert_eq!(members, expected);
    let page = format!("http://forge.test/ada/ship/commit/{id}");
    let commit = &told["commit"];
    assert_eq!((&commit["id"], &commit["url"]), (&json!(id), &json!(page)));
    assert_eq!(commit["message"], "Change lines\n");
    let members: Vec<&String> = commit.as_object().expect("an object").keys().collect();
    assert_eq!(members, ["id", "message", "timestamp", "url", "author"]);
    let row = &told["object_attributes"];
    let note = row["id"].as_i64().expect("an id");
    for (field, value) in [
        ("note", json!("all of it")),
        ("noteable_type", json!("Commit")),
        ("noteable_id", Value::Null),
        ("commit_id", json!(id)),
        ("line_code", Value::Null),
        ("type", Value::Null),
        ("st_diff", Value::Null),
        ("system", json!(false)),
        ("url", json!(format!("{page}#note_{note}"))),
    ] {
        assert_eq!(row[field], value, "{field}");
    }
    for (line, kind, code) in [(2, "new", "3_2"), (2, "old", "2_2"), (6, "new", "6_6")] {
        let fields = json!({"note": "x", "path": "lines", "line": line, "line_type": kind});
        post(forge, &fixture, &id, &fields).expect(201);
        forge.deliver();
        let row = receiver.take_only().json()["object_attributes"].clone();
        // The SHA-1 of `lines`.
        let code = format!("8525aaa8359e52b9251c3d249c0cad272acd6251_{code}");
        assert_eq!((&row["line_code"], &row["type"]), (&json!(code), &json!("LegacyDiffNote")));
        let diff = &row["st_diff"];
        assert_eq!((&diff["new_path"], &diff["too_large"]), (&json!("lines"), &Value::Null));
        assert!(diff["diff"].as_str().expect("a text").contains("+zwei\n"), "{diff}");
        let shown = format!("{}/repository/commits/{id}/diff", fixture.cast.path);
        let shown = forge.get(&shown).token(fixture.token("reporter")).send().expect(200);
        assert_eq!(*diff, shown[0]);
    }
}

/// POST /projects/:id/repository/commits/:sha/comments, GET /projects/:id/issues/:noteable_id/notes
fn references_in_comments_leave_notes_on_issues(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let issue = new_issue(forge, fixture.token("developer"), &fixture.cast.path, "It breaks", &[]);
    let id = fixture.id("master");
    for _ in 0..2 {
        post(forge, &fixture, &id, &json!({"note": "see #1"})).expect(201);
    }
    let notes = format!("{}/issues/{}/notes", fixture.cast.path, issue["id"]);
    let notes = forge.get(&notes).token(fixture.token("reporter")).send().expect(200);
    assert_eq!(notes.as_array().map(Vec::len), Some(1));
    assert_eq!(notes[0]["body"], format!("mentioned in commit {id}"));
    assert_eq!(notes[0]["system"], true);
}

/// POST /projects/:id/repository/commits/:sha/comments: section 4.2, effects.
fn references_to_requests_and_other_projects_leave_notes(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let owner = fixture.token("owner");
    let open = new_project(forge, owner, "open", &[("visibility_level", "20")]);
    let secret = new_project(forge, owner, "secret", &[("visibility_level", "0")]);
    let seen = new_issue(forge, owner, &path_of_project(&open), "seen", &[]);
    let hidden = new_issue(forge, owner, &path_of_project(&secret), "hidden", &[]);
    let request = new_request(forge, &fixture, "feature/x", "t");
    // A comment on a commit of the request may name the request.
    let id = fixture.id("feature/x");
    let fields = json!({"note": "see !1, ada/open#1 and ada/secret#1"});
    post(forge, &fixture, &id, &fields).expect(201);
    assert_eq!(request_notes(forge, &request), [format!("mentioned in commit {id}")]);
    let expected = format!("mentioned in commit ada/ship@{id}");
    assert_eq!(note_bodies(forge, ROOT, &seen), [expected]);
    assert_eq!(note_bodies(forge, ROOT, &hidden), Vec::<String>::new());
}

/// POST /projects/:id/repository/commits/:sha/comments: section 4.2, "the file whose **new** path is `path`".
fn lines_of_removed_and_renamed_files_are_found_by_the_new_path(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let tree = &fixture.tree;
    tree.write("old", "1\n2\n3\n4\n").write("gone", "gone\n").commit("Begin");
    tree.git(&["mv", "old", "new"]);
    tree.git(&["rm", "-q", "gone"]);
    tree.write("new", "1\n2\n3\nfour\n").commit("Rename");
    forge.fill(fixture.project(), tree);
    let id = fixture.id("master");
    for (path, line, kind, shown) in [
        ("gone", 0, "old", (json!("gone"), Value::Null, json!("old"))),
        ("new", 4, "new", (json!("new"), json!(4), json!("new"))),
        ("new", 4, "old", (json!("new"), Value::Null, json!("old"))),
        ("old", 4, "new", (Value::Null, Value::Null, Value::Null)),
        ("gone", 1, "new", (Value::Null, Value::Null, Value::Null)),
    ] {
        let fields = json!({"note": "x", "path": path, "line": line, "line_type": kind});
        let made = post(forge, &fixture, &id, &fields).expect(201);
        let found = (made["path"].clone(), made["line"].clone(), made["line_type"].clone());
        assert_eq!(found, shown, "{path} {line} {kind}");
    }
}

/// POST /projects/:id/repository/commits/:sha/comments: section 4.2, "commenting works in archived projects".
fn archived_projects_take_comments_on_lines(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let id = changed_file(forge, &fixture);
    forge.post(&format!("{}/archive", fixture.cast.path)).token(ROOT).send().expect(201);
    let fields = json!({"note": "Here", "path": "lines", "line": 2});
    let made = post(forge, &fixture, &id, &fields).expect(201);
    assert_eq!((&made["path"], &made["line"]), (&json!("lines"), &json!(2)));
    assert_eq!(list(forge, &fixture, &id).expect(200), json!([made]));
}

/// POST /projects/:id/repository/commits/:sha/comments, DELETE /projects/:id/repository/branches/:branch
fn a_commit_with_a_comment_stays_visible(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let id = fixture.id("feature/x");
    post(forge, &fixture, &id, &json!({"note": "keep it"})).expect(201);
    let branch = format!("{}/feature%2Fx", fixture.branches);
    forge.delete(&branch).token(fixture.token("developer")).send().expect(200);
    let shown = list(forge, &fixture, &id).expect(200);
    assert_eq!(shown[0]["note"], "keep it");
    let commit = format!("{}/repository/commits/{id}", fixture.cast.path);
    forge.get(&commit).token(fixture.token("reporter")).send().expect(200);
}
