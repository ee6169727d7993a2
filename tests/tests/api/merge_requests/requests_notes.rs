//! Notes and comments on merge requests: merge_requests.md sections 11 and 12.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use super::requests_support::{actions, new_request, path_of_request, request_notes, request_now};
use crate::api::groups::group_support::{error, forbidden};
use crate::api::repositories::refs_support::filled_fixture;
use crate::api::support::{id_of, message};
use crate::api::tracker::tracker_support::{new_issue, note_bodies, user_summary};

on_every_store!(
    a_note_is_written_and_changed,
    comments_are_the_old_form_of_notes,
    commands_in_notes_change_the_request,
    who_may_not_change_the_request_writes_plain_text,
    an_emoji_is_an_award,
);

fn notes_path(request: &Value) -> String {
    format!("{}/notes", path_of_request(request))
}

/// POST /projects/:id/merge_requests/:noteable_id/notes,
/// GET /projects/:id/merge_requests/:noteable_id/notes,
/// GET /projects/:id/merge_requests/:noteable_id/notes/:note_id,
/// PUT /projects/:id/merge_requests/:noteable_id/notes/:note_id,
/// DELETE /projects/:id/merge_requests/:noteable_id/notes/:note_id
fn a_note_is_written_and_changed(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let (path, reporter) = (notes_path(&made), fixture.token("reporter"));
    forge.clock.advance(TimeDelta::minutes(1));
    let note = forge.post(&path).token(reporter).form(&[("body", "See #1")]).send().expect(201);
    let user = id_of(&forge.get("/user").token(reporter).send().expect(200));
    let now = "2016-09-22T10:31:00.000Z";
    let expected = json!({
        "id": id_of(&note), "body": "See #1", "attachment": null,
        "author": user_summary(forge, user), "created_at": now, "updated_at": now,
        "system": false, "noteable_id": id_of(&made), "noteable_type": "MergeRequest",
        "upvote": false, "downvote": false
    });
    assert_eq!(note, expected);
    let shown = request_now(forge, &made);
    assert_eq!((&shown["user_notes_count"], &shown["updated_at"]), (&json!(1), &json!(now)));
    assert_eq!(note_bodies(forge, ROOT, &issue), ["mentioned in merge request !1"]);
    assert_eq!(actions(forge, &fixture)[0], "commented on");
    let events = forge.get(&format!("{}/events", fixture.cast.path)).token(ROOT).send().expect(200);
    assert_eq!(events[0]["target_title"], "t");
    assert_eq!(events[0]["note"]["noteable_type"], "MergeRequest");
    let one = format!("{path}/{}", id_of(&note));
    assert_eq!(forge.get(&one).token(reporter).send().expect(200), expected);
    let change = [("body", "Changed")];
    let answer = forge.put(&one).token(fixture.token("developer")).form(&change).send();
    assert_eq!(answer.expect(403), forbidden());
    assert_eq!(forge.put(&one).token(reporter).form(&change).send().expect(200)["body"], "Changed");
    assert_eq!(forge.get(&path).token(ROOT).send().expect(200)[0]["body"], "Changed");
    forge.delete(&one).token(fixture.token("master")).send().expect(200);
    assert_eq!(request_now(forge, &made)["user_notes_count"], 0);
    let guest = forge.get(&path).token(fixture.token("guest")).send();
    assert_eq!(guest.expect(404), message("404 Notes Not Found"));
}

/// GET /projects/:id/merge_requests/:merge_request_id/comments,
/// POST /projects/:id/merge_requests/:merge_request_id/comments
fn comments_are_the_old_form_of_notes(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let path = format!("{}/comments", path_of_request(&made));
    let token = fixture.token("reporter");
    let user = id_of(&forge.get("/user").token(token).send().expect(200));
    let post = |token: &str, fields: &Value| forge.post(&path).token(token).json(fields).send();
    let expected = json!({"note": "Hello", "author": user_summary(forge, user)});
    assert_eq!(post(token, &json!({"note": "Hello"})).expect(201), expected);
    assert_eq!(forge.get(&path).token(token).send().expect(200), json!([expected]));
    assert_eq!(request_notes(forge, &made), ["Hello"]);
    assert_eq!(post(token, &json!({})).expect(400), error("note is missing"));
    let blank = post(token, &json!({"note": " "})).expect(400);
    assert_eq!(blank, message("Failed to save note {:note=>[\"can't be blank\"]}"));
    assert_eq!(post(fixture.token("guest"), &json!({"note": "x"})).expect(403), forbidden());
}

/// POST /projects/:id/merge_requests/:noteable_id/notes: section 12.
fn commands_in_notes_change_the_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let form = [("name", "bug"), ("color", "#ff0000")];
    forge.post(&format!("{}/labels", fixture.cast.path)).token(ROOT).form(&form).send().expect(200);
    let developer = fixture.token("developer");
    let write = |body: &str| {
        let form = [("body", body)];
        forge.post(&notes_path(&made)).token(developer).form(&form).send().expect(201)
    };
    let note = write("Well\n/label ~bug\n/assign @guest\n/wip\n/due tomorrow\n/merge\n");
    assert_eq!(note["body"], "Well\n/merge");
    let now = request_now(forge, &made);
    assert_eq!((&now["labels"], &now["assignee"]["username"]), (&json!(["bug"]), &json!("guest")));
    assert_eq!((&now["title"], &now["work_in_progress"]), (&json!("WIP: t"), &json!(true)));
    let only = write("/close\n/unlabel\n/unassign\n/wip");
    assert_eq!(
        (&only["id"], &only["body"]),
        (&Value::Null, &json!("Your commands have been executed!"))
    );
    assert_eq!(only["noteable_type"], "MergeRequest");
    let now = request_now(forge, &made);
    assert_eq!((&now["state"], &now["title"]), (&json!("closed"), &json!("t")));
    assert_eq!((&now["labels"], &now["assignee"]), (&json!([]), &Value::Null));
    write("/reopen\n/title New one\n/unsubscribe");
    let now = forge.get(&path_of_request(&made)).token(developer).send().expect(200);
    assert_eq!((&now["state"], &now["title"]), (&json!("reopened"), &json!("New one")));
    assert_eq!(now["subscribed"], false);
    let text = "```\n/close\n```\n>>>\n/close\n>>>\n<p>\n/close\n</p>";
    assert_eq!(write(text)["body"], text);
    assert_eq!(request_now(forge, &made)["state"], "reopened");
}

/// POST /projects/:id/merge_requests/:noteable_id/notes: section 12.
fn who_may_not_change_the_request_writes_plain_text(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let form = [("body", "/close\n")];
    let note = forge.post(&notes_path(&made)).token(fixture.token("reporter")).form(&form).send();
    assert_eq!(note.expect(201)["body"], "/close\n");
    assert_eq!(request_now(forge, &made)["state"], "opened");
}

/// POST /projects/:id/merge_requests/:noteable_id/notes: section 13.
fn an_emoji_is_an_award(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let form = [("body", ":thumbsup:")];
    let write = |who: &str| {
        forge.post(&notes_path(&made)).token(fixture.token(who)).form(&form).send().expect(201)
    };
    let award = write("reporter");
    assert_eq!(
        (&award["name"], &award["awardable_type"]),
        (&json!("thumbsup"), &json!("MergeRequest"))
    );
    let now = request_now(forge, &made);
    assert_eq!((&now["upvotes"], &now["user_notes_count"]), (&json!(1), &json!(0)));
    assert_eq!(write("developer")["body"], ":thumbsup:", "one's own request is not awarded");
}
