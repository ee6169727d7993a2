//! Notes and comments on merge requests: merge_requests.md sections 11 and 12.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Receiver, Response, on_every_store};
use serde_json::{Value, json};

use super::requests_fixtures::{set_level, set_switch, write_note};
use super::requests_support::{
    actions, new_request, path_of_request, put_request, request_notes, request_now,
};
use crate::api::groups::group_support::{error, forbidden, no_project};
use crate::api::hooks::hook_support::{clear_outbox, deliver_payloads, hook_of};
use crate::api::projects::project_support::not_given;
use crate::api::repositories::refs_support::filled_fixture;
use crate::api::support::{MISSING, field_error, id_of, ids, message};
use crate::api::tracker::tracker_support::{field_values, new_issue, note_bodies, user_summary};

on_every_store!(
    a_note_is_written_and_changed,
    comments_are_the_old_form_of_notes,
    comments_show_system_notes_in_pages,
    who_may_comment,
    comments_have_the_effects_of_notes,
    blank_notes_are_refused_before_anything_else,
    notes_are_found_in_the_whole_project,
    only_owners_set_the_time_of_notes,
    commands_in_notes_change_the_request,
    who_may_not_change_the_request_writes_plain_text,
    an_emoji_is_an_award,
    notes_require_read_access_to_the_request,
    notes_are_paged,
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

fn comment(forge: &Forge, token: &str, request: &Value, text: &str) -> Response {
    let path = format!("{}/comments", path_of_request(request));
    forge.post(&path).token(token).form(&[("note", text)]).send()
}

/// GET /projects/:id/merge_requests/:merge_request_id/comments: section 11.2, "oldest first, paged, system notes included".
fn comments_show_system_notes_in_pages(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    comment(forge, ROOT, &made, "first").expect(201);
    put_request(forge, ROOT, &made, &json!({"state_event": "close"})).expect(200);
    write_note(forge, ROOT, &made, "last").expect(201);
    let path = format!("{}/comments", path_of_request(&made));
    let list = forge.get(&path).token(fixture.token("reporter")).send();
    assert_eq!(list.header("X-Total"), Some("3"));
    assert_eq!(field_values(&list.expect(200), "note"), ["first", "closed", "last"]);
    let page = forge.get(&format!("{path}?per_page=2&page=2")).token(ROOT).send().expect(200);
    assert_eq!(field_values(&page, "note"), ["last"]);
}

/// POST /projects/:id/merge_requests/:merge_request_id/comments: section 1.3.
fn who_may_comment(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let refused = comment(forge, fixture.token("stranger"), &made, "x");
    assert_eq!(refused.expect(404), no_project());
    assert_eq!(comment(forge, fixture.token("guest"), &made, "x").expect(403), forbidden());
    let missing = json!({"id": MISSING, "project_id": fixture.project()});
    let missing = comment(forge, fixture.token("developer"), &missing, "x");
    assert_eq!(missing.expect(404), message("404 Not found"));
    // The author may, whatever the level, and on a public project everybody.
    set_level(forge, &fixture, "developer", "10");
    comment(forge, fixture.token("developer"), &made, "x").expect(201);
    set_switch(forge, &fixture, "visibility_level", "20");
    for who in ["stranger", "external", "guest"] {
        comment(forge, fixture.token(who), &made, "x").expect(201);
        write_note(forge, fixture.token(who), &made, "x").expect(201);
    }
    assert_eq!(request_now(forge, &made)["user_notes_count"], 7);
}

/// POST /projects/:id/merge_requests/:merge_request_id/comments: section 11.2, "same effects as a note".
fn comments_have_the_effects_of_notes(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    let made = new_request(forge, &fixture, "feature/x", "t");
    hook_of(forge, &fixture.cast.path, &receiver.url("/"), &[("note_events", "true")]);
    clear_outbox(forge);
    forge.clock.advance(TimeDelta::minutes(1));
    comment(forge, fixture.token("reporter"), &made, "Hello").expect(201);
    let payloads = deliver_payloads(forge, &receiver);
    assert_eq!(payloads.len(), 1);
    assert_eq!(payloads[0]["object_attributes"]["note"], "Hello");
    assert_eq!(payloads[0]["merge_request"]["id"], made["id"]);
    assert_eq!(actions(forge, &fixture)[0], "commented on");
    let now = request_now(forge, &made);
    assert_eq!(now["updated_at"], "2016-09-22T10:31:00.000Z");
    assert_eq!(now["user_notes_count"], 1);
    // Commands and emoji.
    let developer = fixture.token("developer");
    let author = user_summary(forge, id_of(&made["author"]));
    let only = comment(forge, developer, &made, "/close").expect(201);
    assert_eq!(only, json!({"note": "Your commands have been executed!", "author": author}));
    assert_eq!(request_now(forge, &made)["state"], "closed");
    let award = comment(forge, fixture.token("reporter"), &made, ":thumbsup:").expect(201);
    assert_eq!(award["note"], ":thumbsup:");
    let now = request_now(forge, &made);
    assert_eq!((&now["upvotes"], &now["user_notes_count"]), (&json!(1), &json!(1)));
}

/// POST /projects/:id/merge_requests/:noteable_id/notes: rest_of_v3.md section 3.1, order of POST.
fn blank_notes_are_refused_before_anything_else(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let missing = format!("{}/merge_requests/{MISSING}/notes", fixture.cast.path);
    for (path, who) in
        [(notes_path(&made), "reporter"), (notes_path(&made), "stranger"), (missing, "guest")]
    {
        let post = |fields: &Value| forge.post(&path).token(fixture.token(who)).json(fields).send();
        assert_eq!(post(&json!({})).expect(400), error("body is missing"), "{who}");
        for blank in ["", " \n"] {
            let answer = post(&json!({"body": blank}));
            assert_eq!(answer.expect(400), not_given("body"), "{who}");
        }
    }
    let text = format!("{}/merge_requests/x/notes", fixture.cast.path);
    let answer = forge.post(&text).token(ROOT).json(&json!({"body": ""})).send();
    assert_eq!(answer.expect(400), error("noteable_id is invalid"));
}

/// PUT /projects/:id/merge_requests/:noteable_id/notes/:note_id,
/// DELETE /projects/:id/merge_requests/:noteable_id/notes/:note_id: rest_of_v3.md section 3.1, "look the note up in the
/// whole project, then ask for its author, a master or an administrator (403)".
fn notes_are_found_in_the_whole_project(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let other = new_request(forge, &fixture, "a", "other");
    let reporter = fixture.token("reporter");
    let note = write_note(forge, reporter, &made, "text").expect(201);
    let elsewhere = format!("{}/{}", notes_path(&other), id_of(&note));
    let change = |who: &str, body: &str| {
        forge.put(&elsewhere).token(fixture.token(who)).form(&[("body", body)]).send()
    };
    // A guest, who may not read the request, too.
    for who in ["guest", "developer"] {
        assert_eq!(change(who, "x").expect(403), forbidden(), "{who}");
        let answer = forge.delete(&elsewhere).token(fixture.token(who)).send();
        assert_eq!(answer.expect(403), forbidden(), "{who}");
    }
    // Commands are not carried out in changed notes: section 12.
    let changed = change("reporter", "/close").expect(200);
    assert_eq!((&changed["body"], &changed["noteable_id"]), (&json!("/close"), &made["id"]));
    assert_eq!(request_now(forge, &made)["state"], "opened");
    let blank = change("reporter", " ").expect(400);
    assert_eq!(blank, field_error("note", "can't be blank"));
    assert_eq!(forge.get(&elsewhere).token(ROOT).send().expect(404), message("404 Not found"));
    forge.delete(&elsewhere).token(fixture.token("master")).send().expect(200);
    let again = forge.delete(&elsewhere).token(fixture.token("master")).send();
    assert_eq!(again.expect(404), message("404 Not found"));
}

/// POST /projects/:id/merge_requests/:noteable_id/notes: `created_at` (users_hooks_events.md section 11.3).
fn only_owners_set_the_time_of_notes(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let form = [("body", "x"), ("created_at", "2001-02-03T04:05:06Z")];
    for (who, expected) in [
        ("reporter", "2016-09-22T10:30:00.000Z"),
        ("master", "2016-09-22T10:30:00.000Z"),
        ("owner", "2001-02-03T04:05:06.000Z"),
        ("root", "2001-02-03T04:05:06.000Z"),
    ] {
        let note = forge.post(&notes_path(&made)).token(fixture.token(who)).form(&form).send();
        assert_eq!(note.expect(201)["created_at"], expected, "{who}");
    }
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
    assert_eq!(write("developer")["body"], ":thumbsup:", "no votes on one's own request");
}

/// GET /projects/:id/merge_requests/:noteable_id/notes,
/// GET /projects/:id/merge_requests/:noteable_id/notes/:note_id,
/// POST /projects/:id/merge_requests/:noteable_id/notes: rest_of_v3.md section 3.1, "Without it: GET list 404
/// `404 Notes Not Found`, GET one and POST 404 `404 Note Not Found`", "A target that does not exist in this project".
fn notes_require_read_access_to_the_request(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let note = write_note(forge, fixture.token("reporter"), &made, "text").expect(201);
    let (path, guest) = (notes_path(&made), fixture.token("guest"));
    let form = [("body", "x")];
    let list = forge.get(&path).token(guest).send().expect(404);
    assert_eq!(list, message("404 Notes Not Found"));
    let hidden = message("404 Note Not Found");
    for id in [id_of(&note), MISSING] {
        let one = forge.get(&format!("{path}/{id}")).token(guest).send();
        assert_eq!(one.expect(404), hidden, "{id}");
    }
    assert_eq!(forge.post(&path).token(guest).form(&form).send().expect(404), hidden);
    let missing = format!("{}/merge_requests/{MISSING}/notes", fixture.cast.path);
    let not_found = message("404 Not found");
    for token in [guest, ROOT] {
        assert_eq!(forge.get(&missing).token(token).send().expect(404), not_found);
        let one = forge.get(&format!("{missing}/{}", id_of(&note))).token(token).send();
        assert_eq!(one.expect(404), not_found);
        let posted = forge.post(&missing).token(token).form(&form).send();
        assert_eq!(posted.expect(404), not_found);
    }
}

/// GET /projects/:id/merge_requests/:noteable_id/notes: rest_of_v3.md section 1.4.
fn notes_are_paged(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let write = |number: i32| {
        let note = write_note(forge, fixture.token("reporter"), &made, &format!("note {number}"));
        id_of(&note.expect(201))
    };
    let all: Vec<i64> = (0..21).map(write).collect();
    let path = notes_path(&made);
    let first = forge.get(&path).token(ROOT).send();
    assert_eq!(ids(&first.expect(200)), all[..20], "oldest first, 20 by default");
    assert_eq!(first.header("X-Total"), Some("21"));
    let page = forge.get(&format!("{path}?per_page=2&page=2")).token(ROOT).send();
    assert_eq!(ids(&page.expect(200)), all[2..4]);
}
