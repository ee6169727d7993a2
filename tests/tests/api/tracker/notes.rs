//! Notes on issues: users_hooks_events.md section 11.3.

use chrono::TimeDelta;
use hexforge_tests::forge::MAX_BODY;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{error, forbidden, new_project, no_project};
use crate::api::projects::project_support::{a_cast, not_given};
use crate::api::support::{MISSING, field_error, id_of, message};
use crate::api::tracker::tracker_support::{
    field_values, issue_now, new_issue, path_of_issue, update_issue, user_summary,
};

on_every_store!(
    a_note_is_written_and_read,
    notes_are_listed_oldest_first,
    what_is_wrong_with_a_note_is_told,
    a_note_is_changed_by_its_author_and_moderators,
    a_note_is_removed_by_its_author_and_moderators,
    notes_are_changed_and_removed_in_the_whole_project,
    what_the_service_wrote_stays,
    authors_change_their_notes_on_a_hidden_issue,
);

#[track_caller]
fn write_note(forge: &Forge, token: &str, issue: &Value, body: &str) -> Value {
    let path = format!("{}/notes", path_of_issue(issue));
    forge.post(&path).token(token).form(&[("body", body)]).send().expect(201)
}

/// POST /projects/:id/issues/:noteable_id/notes, GET /projects/:id/issues/:noteable_id/notes/:note_id
fn a_note_is_written_and_read(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let stranger = cast.token("stranger");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    forge.clock.advance(TimeDelta::seconds(5));
    let note = write_note(forge, stranger, &issue, "me *too* 🦀");
    let me = id_of(&forge.get("/user").token(stranger).send().expect(200));
    let expected = json!({
        "id": id_of(&note), "body": "me *too* 🦀", "attachment": null,
        "author": user_summary(forge, me), "created_at": "2016-09-22T10:30:05.000Z",
        "updated_at": "2016-09-22T10:30:05.000Z", "system": false, "noteable_id": id_of(&issue),
        "noteable_type": "Issue", "upvote": false, "downvote": false
    });
    assert_eq!(note, expected);
    let path = format!("{}/notes/{}", path_of_issue(&issue), id_of(&note));
    assert_eq!(forge.get(&path).token(cast.token("guest")).send().expect(200), expected);
    let after = issue_now(forge, ROOT, &issue);
    assert_eq!(
        (&after["user_notes_count"], &after["updated_at"]),
        (&json!(1), &expected["created_at"])
    );
    let other = new_issue(forge, stranger, &cast.path, "other", &[]);
    let elsewhere = format!("{}/notes/{}", path_of_issue(&other), id_of(&note));
    let missing = message("404 Not found");
    assert_eq!(forge.get(&elsewhere).token(ROOT).send().expect(404), missing);
    let form = [("body", "x"), ("created_at", "2001-02-03T04:05:06Z")];
    let notes = format!("{}/notes", path_of_issue(&issue));
    let old = forge.post(&notes).token(cast.token("owner")).form(&form).send().expect(201);
    assert_eq!(old["created_at"], "2001-02-03T04:05:06.000Z");
    let now = forge.post(&notes).token(cast.token("master")).form(&form).send().expect(201);
    assert_eq!(now["created_at"], "2016-09-22T10:30:05.000Z");
}

/// GET /projects/:id/issues/:noteable_id/notes
fn notes_are_listed_oldest_first(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    write_note(forge, cast.token("guest"), &issue, "first");
    update_issue(forge, owner, &issue, &[("state_event", "close")]);
    for number in 0..20 {
        write_note(forge, owner, &issue, &format!("note {number}"));
    }
    let path = format!("{}/notes", path_of_issue(&issue));
    let page = forge.get(&path).token(cast.token("guest")).send();
    let list = page.expect(200);
    assert_eq!(page.header("X-Total"), Some("22"));
    assert_eq!(field_values(&list, "body")[..3], ["first", "closed", "note 0"]);
    assert_eq!(field_values(&list, "system")[..3], [false, true, false]);
    let last = forge.get(&format!("{path}?page=2")).token(owner).send().expect(200);
    assert_eq!(field_values(&last, "body"), ["note 18", "note 19"]);
    assert_eq!(issue_now(forge, owner, &issue)["user_notes_count"], 21);
}

/// POST /projects/:id/issues/:noteable_id/notes, PUT /projects/:id/issues/:noteable_id/notes/:note_id
fn what_is_wrong_with_a_note_is_told(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    let note = write_note(forge, owner, &issue, "a note");
    let notes = format!("{}/notes", path_of_issue(&issue));
    let one = format!("{notes}/{}", id_of(&note));
    let long = "x".repeat(1_048_577);
    let blank = || field_error("note", "can't be blank");
    for (method, path, blank) in [("POST", &notes, not_given("body")), ("PUT", &one, blank())] {
        for (fields, body) in [
            (json!({}), error("body is missing")),
            (json!({"body": ["x"]}), error("body is invalid")),
            (json!({"body": ""}), blank.clone()),
            (json!({"body": " \n"}), blank.clone()),
            (
                json!({"body": long}),
                field_error("note", "is too long (maximum is 1048576 characters)"),
            ),
        ] {
            let answer = forge.request(method, path).token(owner).json(&fields).send();
            assert_eq!(answer.expect(400), body, "{method}");
        }
        let huge = forge.request(method, path).token(owner);
        huge.json(&json!({"body": "x".repeat(MAX_BODY)})).send().expect(413);
    }
    let missing = format!("{}/issues/{MISSING}/notes", cast.path);
    let answer = forge.get(&missing).token(owner).send().expect(404);
    assert_eq!(answer, message("404 Not found"));
    let strange = format!("{}/issues/x/notes", cast.path);
    assert_eq!(
        forge.get(&strange).token(owner).send().expect(400),
        error("noteable_id is invalid")
    );
    let answer = forge.get(&format!("{notes}/x")).token(owner).send().expect(400);
    assert_eq!(answer, error("note_id is invalid"));
    assert_eq!(forge.get(&notes).token(cast.token("stranger")).send().expect(404), no_project());
    // Parameters are checked before the project and the issue: rest_of_v3.md section 3.1.
    let post = |path: &str, who: &str| {
        forge.post(path).token(cast.token(who)).json(&json!({"body": " "})).send().expect(400)
    };
    assert_eq!(post(&notes, "stranger"), not_given("body"));
    assert_eq!(post(&missing, "owner"), not_given("body"));
    assert_eq!(post(&strange, "owner"), error("noteable_id is invalid"));
    // A body of the maximum length.
    write_note(forge, owner, &issue, &"x".repeat(1_048_576));
}

/// PUT /projects/:id/issues/:noteable_id/notes/:note_id
fn a_note_is_changed_by_its_author_and_moderators(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    let note = write_note(forge, cast.token("guest"), &issue, "a note");
    let path = format!("{}/notes/{}", path_of_issue(&issue), id_of(&note));
    forge.clock.advance(TimeDelta::seconds(9));
    for who in ["stranger", "reporter", "developer"] {
        let answer = forge.put(&path).token(cast.token(who)).form(&[("body", "x")]).send();
        assert_eq!(answer.expect(403), forbidden(), "{who}");
    }
    for who in ["guest", "master", "owner", "root"] {
        let answer = forge.put(&path).token(cast.token(who)).form(&[("body", who)]).send();
        let changed = answer.expect(200);
        assert_eq!((&changed["body"], &changed["author"]), (&json!(who), &note["author"]));
        assert_eq!(changed["updated_at"], "2016-09-22T10:30:09.000Z");
    }
}

/// DELETE /projects/:id/issues/:noteable_id/notes/:note_id
fn a_note_is_removed_by_its_author_and_moderators(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    for who in ["guest", "master", "owner", "root"] {
        let note = write_note(forge, cast.token("guest"), &issue, "a note");
        let path = format!("{}/notes/{}", path_of_issue(&issue), id_of(&note));
        let refused = forge.delete(&path).token(cast.token("developer")).send().expect(403);
        assert_eq!(refused, forbidden());
        assert_eq!(forge.delete(&path).token(cast.token(who)).send().expect(200), note, "{who}");
        let again = forge.delete(&path).token(cast.token(who)).send().expect(404);
        assert_eq!(again, message("404 Not found"));
    }
    assert_eq!(issue_now(forge, ROOT, &issue)["user_notes_count"], 0);
}

/// PUT /projects/:id/issues/:noteable_id/notes/:note_id,
/// DELETE /projects/:id/issues/:noteable_id/notes/:note_id: rest_of_v3.md section 3.1.
fn notes_are_changed_and_removed_in_the_whole_project(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    let secret = [("confidential", "true")];
    let secret = new_issue(forge, cast.token("reporter"), &cast.path, "a secret", &secret);
    let note = write_note(forge, cast.token("reporter"), &secret, "hidden");
    // The issue in the path is not looked at.
    for on in [id_of(&issue), MISSING] {
        let path = format!("{}/issues/{on}/notes/{}", cast.path, id_of(&note));
        let form = [("body", "x")];
        for who in ["stranger", "guest", "developer"] {
            let answer = forge.put(&path).token(cast.token(who)).form(&form).send();
            assert_eq!(answer.expect(403), forbidden(), "{who}");
            let answer = forge.delete(&path).token(cast.token(who)).send();
            assert_eq!(answer.expect(403), forbidden(), "{who}");
        }
        let changed = forge.put(&path).token(cast.token("reporter")).form(&form).send();
        let changed = changed.expect(200);
        assert_eq!((&changed["body"], &changed["noteable_id"]), (&json!("x"), &secret["id"]));
        let shown = forge.get(&path).token(cast.token("reporter")).send().expect(404);
        assert_eq!(shown, message("404 Not found"));
    }
    let other = new_project(forge, cast.token("owner"), "other", &[]);
    for (project, id) in [(id_of(&other), id_of(&note)), (id_of(&cast.project), MISSING)] {
        let path = format!("/projects/{project}/issues/{}/notes/{id}", id_of(&secret));
        let answer = forge.delete(&path).token(cast.token("owner")).send();
        assert_eq!(answer.expect(404), message("404 Not found"));
    }
    let path = format!("{}/merge_requests/1/notes/{}", cast.path, id_of(&note));
    forge.delete(&path).token(cast.token("master")).send().expect(200);
    assert_eq!(issue_now(forge, ROOT, &secret)["user_notes_count"], 0);
}

/// PUT /projects/:id/issues/:noteable_id/notes/:note_id
fn what_the_service_wrote_stays(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let reporter = cast.token("reporter");
    let issue = new_issue(forge, reporter, &cast.path, "an issue", &[]);
    update_issue(forge, reporter, &issue, &[("state_event", "close")]);
    let notes = forge.get(&format!("{}/notes", path_of_issue(&issue))).token(ROOT).send();
    let path = format!("{}/notes/{}", path_of_issue(&issue), id_of(&notes.expect(200)[0]));
    for who in ["reporter", "master", "root"] {
        let answer = forge.put(&path).token(cast.token(who)).form(&[("body", "x")]).send();
        assert_eq!(answer.expect(403), forbidden(), "{who}");
    }
    forge.delete(&path).token(reporter).send().expect(403);
    forge.delete(&path).token(cast.token("master")).send().expect(200);
}

/// PUT /projects/:id/issues/:noteable_id/notes/:note_id,
/// DELETE /projects/:id/issues/:noteable_id/notes/:note_id: rest_of_v3.md section 3.1, "then ask for its author": also
/// one who does not see the issue any more.
fn authors_change_their_notes_on_a_hidden_issue(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    let note = write_note(forge, cast.token("guest"), &issue, "a note");
    update_issue(forge, cast.token("owner"), &issue, &[("confidential", "true")]);
    let path = format!("{}/notes/{}", path_of_issue(&issue), id_of(&note));
    for who in ["stranger", "external"] {
        let answer = forge.put(&path).token(cast.token(who)).form(&[("body", "x")]).send();
        assert_eq!(answer.expect(403), forbidden(), "{who}");
        let answer = forge.delete(&path).token(cast.token(who)).send();
        assert_eq!(answer.expect(403), forbidden(), "{who}");
    }
    let guest = cast.token("guest");
    let changed = forge.put(&path).token(guest).form(&[("body", "mine")]).send();
    assert_eq!(changed.expect(200)["body"], "mine");
    let read = forge.get(&path).token(guest).send().expect(404);
    assert_eq!(read, message("404 Note Not Found"));
    assert_eq!(forge.delete(&path).token(guest).send().expect(200)["body"], "mine");
}
