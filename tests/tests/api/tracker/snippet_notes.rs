//! `/projects/:id/snippets/:noteable_id/notes`: section 3 of the reference of the rest of v3.

use hexforge_domain_testing::builders::at;
use hexforge_tests::forge::ROOT;
use hexforge_tests::receiver::Receiver;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, error, forbidden, new_project, no_project, path_of_project,
};
use crate::api::hooks::hook_support::deliver_payloads;
use crate::api::support::{HUGE, MISSING, assert_only_for_users, id_of, ids, message};

on_every_store!(
    a_note_is_written_read_and_listed,
    a_note_touches_its_snippet_and_is_an_event,
    a_note_is_told_to_hooks,
    notes_on_hidden_snippets_are_hidden,
    a_note_is_changed_by_its_author_masters_and_administrators,
    missing_snippets_and_notes_are_not_found,
    parameters_are_checked_first,
    notes_and_events_go_with_their_snippet,
    a_single_emoji_becomes_an_award,
    the_calls_are_for_users_who_see_the_project,
    notes_are_paged,
);

/// A project of the caller with one snippet of this level: the path of the project, and the id of the snippet.
fn snippet(forge: &Forge, token: &str, level: &str) -> (String, i64) {
    let fields = [("snippets_enabled", "true"), ("visibility_level", "20")];
    let project = path_of_project(&new_project(forge, token, "Site", &fields));
    let form =
        [("title", "Code"), ("file_name", "a.rb"), ("code", "x"), ("visibility_level", level)];
    let made = forge.post(&format!("{project}/snippets")).token(token).form(&form).send();
    (project, id_of(&made.expect(201)))
}

#[track_caller]
fn write(forge: &Forge, token: &str, path: &str, body: &str) -> Value {
    forge.post(path).token(token).form(&[("body", body)]).send().expect(201)
}

/// 3.1. POST /projects/:id/snippets/:noteable_id/notes, GET /projects/:id/snippets/:noteable_id/notes,
/// GET /projects/:id/snippets/:noteable_id/notes/:note_id
fn a_note_is_written_read_and_listed(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (project, snippet) = snippet(forge, &token, "0");
    let path = format!("{project}/snippets/{snippet}/notes");
    assert_eq!(forge.get(&path).token(&token).send().expect(200), json!([]));
    // Commands are plain text.
    let made = forge.post(&path).token(&token).form(&[("body", "/close\nNice @ada #1")]).send();
    let id = id_of(&made.expect(201));
    let user = forge.get(&format!("/users/{ada}")).token(&token).send().expect(200);
    let expected = json!({
        "id": id, "body": "/close\nNice @ada #1", "attachment": null,
        "author": {
            "name": "ada", "username": "ada", "id": ada, "state": "active",
            "avatar_url": user["avatar_url"], "web_url": user["web_url"]
        },
        "created_at": "2016-09-22T10:30:00.000Z", "updated_at": "2016-09-22T10:30:00.000Z",
        "system": false, "noteable_id": snippet, "noteable_type": "Snippet", "upvote": false,
        "downvote": false
    });
    assert_eq!(made.text(), expected.to_string());
    let second = write(forge, &token, &path, "again");
    let list = forge.get(&path).token(&token).send();
    assert_eq!(list.text(), json!([expected, second]).to_string());
    assert_eq!(list.header("X-Total"), Some("2"));
    let one = forge.get(&format!("{path}/{id}")).token(&token).send();
    assert_eq!((one.expect(200), one.text()), (expected.clone(), &*expected.to_string()));
    // Owners choose the creation time.
    let fields = [("body", "old"), ("created_at", "2010-01-02T03:04:05Z")];
    let old = forge.post(&path).token(&token).form(&fields).send().expect(201);
    assert_eq!(old["created_at"], "2010-01-02T03:04:05.000Z");
    let todos = forge.get("/todos").token(&token).send();
    assert_eq!(todos.expect(200), json!([]), "notes on snippets make no todos");
}

/// 3.3. POST /projects/:id/snippets/:noteable_id/notes
fn a_note_touches_its_snippet_and_is_an_event(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (_, stranger) = forge.user("stranger");
    let (project, snippet) = snippet(forge, &token, "0");
    forge.clock.set(at(60));
    let path = format!("{project}/snippets/{snippet}");
    let note = write(forge, &token, &format!("{path}/notes"), "Nice");
    let shown = forge.get(&path).token(&token).send().expect(200);
    assert_eq!(shown["updated_at"], "2016-09-22T10:31:00.000Z");
    let newest = |token: &str, path: &str| -> Value {
        let events = forge.get(path).token(token).send().expect(200);
        events[0].clone()
    };
    let feeds = [format!("{project}/events"), format!("/users/{ada}/events")];
    for feed in &feeds {
        let event = newest(&token, feed);
        assert_eq!(event["action_name"], "commented on");
        assert_eq!((&event["target_type"], &event["target_id"]), (&json!("Note"), &note["id"]));
        assert_eq!(event["target_title"], "Code");
        assert_eq!(event["note"]["body"], "Nice");
        assert_eq!(newest(ROOT, feed)["note"]["body"], "Nice");
        // A private snippet is for the team.
        assert_ne!(newest(&stranger, feed)["action_name"], "commented on");
    }
    forge.put(&path).token(&token).form(&[("visibility_level", "20")]).send().expect(200);
    for feed in &feeds {
        assert_eq!(newest(&stranger, feed)["note"]["body"], "Nice");
    }
}

/// 3.3, and 8.5 of users_hooks_events.md: the note hook. POST /projects/:id/snippets/:noteable_id/notes
fn a_note_is_told_to_hooks(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (project, snippet) = snippet(forge, &token, "0");
    let receiver = Receiver::new();
    let hook = [("url", receiver.url("/")), ("note_events", "true".to_owned())];
    let hook = hook.each_ref().map(|(name, value)| (*name, value.as_str()));
    forge.post(&format!("{project}/hooks")).token(&token).form(&hook).send().expect(201);
    let path = format!("{project}/snippets/{snippet}/notes");
    let note = write(forge, &token, &path, "Nice");
    let told = deliver_payloads(forge, &receiver);
    let payload = told.iter().find(|payload| payload["object_kind"] == "note").expect("a note");
    let about = &payload["object_attributes"];
    assert_eq!((&about["id"], &about["note"]), (&note["id"], &json!("Nice")));
    assert_eq!(
        (&about["noteable_type"], &about["noteable_id"]),
        (&json!("Snippet"), &json!(snippet))
    );
    let url = about["url"].as_str().expect("a URL");
    let end = format!("/ada/site/snippets/{snippet}#note_{}", note["id"]);
    assert!(url.ends_with(&end), "{url}");
    let id = payload["project_id"].clone();
    assert_eq!(
        payload["snippet"].to_string(),
        json!({
            "id": snippet, "title": "Code", "content": "x", "author_id": ada, "project_id": id,
            "created_at": "2016-09-22 10:30:00 UTC", "updated_at": "2016-09-22 10:30:00 UTC",
            "file_name": "a.rb", "type": "ProjectSnippet", "visibility_level": 0
        })
        .to_string()
    );
}

/// 3.1. GET /projects/:id/snippets/:noteable_id/notes, GET /projects/:id/snippets/:noteable_id/notes/:note_id,
/// POST /projects/:id/snippets/:noteable_id/notes
fn notes_on_hidden_snippets_are_hidden(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let (guest, guests) = forge.user("guest");
    let (left, lefts) = forge.user("left");
    let (_, stranger) = forge.user("stranger");
    let (project, _) = snippet(forge, &token, "0");
    add_member(forge, &project, guest, 10, &[]);
    add_member(forge, &project, left, 20, &[]);
    let form = [("title", "t"), ("file_name", "f"), ("code", "c"), ("visibility_level", "0")];
    let made = forge.post(&format!("{project}/snippets")).token(&lefts).form(&form).send();
    let path = format!("{project}/snippets/{}/notes", id_of(&made.expect(201)));
    let note = id_of(&write(forge, &guests, &path, "Nice"));
    forge.delete(&format!("{project}/members/{left}")).token(ROOT).send().expect(200);
    let one = format!("{path}/{note}");
    let list = forge.get(&path).token(&stranger).send().expect(404);
    assert_eq!(list, message("404 Notes Not Found"));
    let read = forge.get(&one).token(&stranger).send().expect(404);
    assert_eq!(read, message("404 Note Not Found"));
    let posted = forge.post(&path).token(&stranger).form(&[("body", "x")]).send();
    assert_eq!(posted.expect(404), message("404 Note Not Found"));
    // The author of the snippet reads and writes notes, even after leaving the team.
    assert_eq!(ids(&forge.get(&path).token(&lefts).send().expect(200)), [note]);
    write(forge, &lefts, &path, "Thanks");
    let off = [("name", "Site"), ("snippets_enabled", "false")];
    forge.put(&project).token(&token).form(&off).send().expect(200);
    let list = forge.get(&path).token(&token).send().expect(404);
    assert_eq!(list, message("404 Notes Not Found"));
}

/// 3.1. PUT /projects/:id/snippets/:noteable_id/notes/:note_id,
/// DELETE /projects/:id/snippets/:noteable_id/notes/:note_id
fn a_note_is_changed_by_its_author_masters_and_administrators(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let (master, masters) = forge.user("master");
    let (reporter, reporters) = forge.user("reporter");
    let (guest, guests) = forge.user("guest");
    let (project, snippet) = snippet(forge, &token, "20");
    add_member(forge, &project, master, 40, &[]);
    add_member(forge, &project, reporter, 20, &[]);
    add_member(forge, &project, guest, 10, &[]);
    let path = format!("{project}/snippets/{snippet}/notes");
    for (token, allowed) in [(&guests, true), (&masters, true), (&token, true), (&reporters, false)]
    {
        let note = write(forge, &guests, &path, "Nice");
        // The note is looked up in the whole project.
        let paths = [format!("{path}/{}", id_of(&note)), {
            format!("{project}/snippets/{MISSING}/notes/{}", id_of(&note))
        }];
        for path in &paths {
            let changed = forge.put(path).token(token).form(&[("body", "Better")]).send();
            if allowed {
                assert_eq!(changed.expect(200)["body"], "Better");
            } else {
                assert_eq!(changed.expect(403), forbidden());
                assert_eq!(forge.delete(path).token(token).send().expect(403), forbidden());
            }
        }
        if allowed {
            let gone = forge.delete(&paths[1]).token(token).send().expect(200);
            assert_eq!((&gone["id"], &gone["body"]), (&note["id"], &json!("Better")));
            let again = forge.delete(&paths[0]).token(token).send().expect(404);
            assert_eq!(again, message("404 Not found"));
        }
    }
    let note = write(forge, &guests, &path, "Nice");
    let one = format!("{path}/{}", id_of(&note));
    forge.put(&one).token(ROOT).form(&[("body", "By root")]).send().expect(200);
    let blank = forge.put(&one).token(ROOT).form(&[("body", " ")]).send().expect(400);
    assert_eq!(blank, json!({"message": {"note": ["can't be blank"]}}));
    forge.delete(&one).token(ROOT).send().expect(200);
}

/// 3.1. GET /projects/:id/snippets/:noteable_id/notes, GET /projects/:id/snippets/:noteable_id/notes/:note_id
fn missing_snippets_and_notes_are_not_found(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let (project, snippet) = snippet(forge, &token, "0");
    let form = [("title", "t"), ("file_name", "f"), ("content", "c")];
    let personal = forge.post("/snippets").token(&token).form(&form).send().expect(201);
    let not_found = message("404 Not found");
    for id in [MISSING.to_string(), HUGE.into(), id_of(&personal).to_string()] {
        let path = format!("{project}/snippets/{id}/notes");
        assert_eq!(forge.get(&path).token(&token).send().expect(404), not_found, "{id}");
        let posted = forge.post(&path).token(&token).form(&[("body", "x")]).send();
        assert_eq!(posted.expect(404), not_found, "{id}");
    }
    let path = format!("{project}/snippets/{snippet}/notes");
    for id in [MISSING.to_string().as_str(), HUGE] {
        let one = format!("{path}/{id}");
        assert_eq!(forge.get(&one).token(&token).send().expect(404), not_found);
        let put = forge.put(&one).token(&token).form(&[("body", "x")]).send();
        assert_eq!(put.expect(404), not_found);
        assert_eq!(forge.delete(&one).token(&token).send().expect(404), not_found);
    }
}

/// 1.2, 3.1. POST /projects/:id/snippets/:noteable_id/notes
fn parameters_are_checked_first(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let path = format!("/projects/{MISSING}/snippets/1/notes");
    let missing = forge.post(&path).token(&token).send().expect(400);
    assert_eq!(missing, error("body is missing"));
    let blank = forge.post(&path).token(&token).form(&[("body", " ")]).send().expect(400);
    assert_eq!(blank, message("400 (Bad request) \"body\" not given"));
    let unknown = forge.post(&path).token(&token).form(&[("body", "x")]).send().expect(404);
    assert_eq!(unknown, no_project());
    let text = format!("/projects/{MISSING}/snippets/x/notes/y");
    let text = forge.get(&text).token(&token).send().expect(400);
    assert_eq!(text, error("noteable_id is invalid, note_id is invalid"));
}

/// 2.3, effects. DELETE /projects/:id/snippets/:snippet_id
fn notes_and_events_go_with_their_snippet(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let (project, snippet) = snippet(forge, &token, "20");
    let path = format!("{project}/snippets/{snippet}");
    write(forge, &token, &format!("{path}/notes"), "Nice");
    forge.delete(&path).token(&token).send().expect(200);
    let events = forge.get(&format!("{project}/events")).token(&token).send().expect(200);
    assert!(!events.to_string().contains("commented on"), "{events}");
    let list = forge.get(&format!("{path}/notes")).token(&token).send().expect(404);
    assert_eq!(list, message("404 Not found"));
}

/// 3.2. POST /projects/:id/snippets/:noteable_id/notes, GET /projects/:id/snippets/:snippet_id/award_emoji,
/// POST /projects/:id/snippets/:snippet_id/award_emoji, GET /projects/:id/snippets/:snippet_id/award_emoji/:award_id,
/// DELETE /projects/:id/snippets/:snippet_id/award_emoji/:award_id,
/// GET /projects/:id/snippets/:noteable_id/notes/:note_id/award_emoji,
/// POST /projects/:id/snippets/:noteable_id/notes/:note_id/award_emoji,
/// GET /projects/:id/snippets/:noteable_id/notes/:note_id/award_emoji/:award_id,
/// DELETE /projects/:id/snippets/:noteable_id/notes/:note_id/award_emoji/:award_id
fn a_single_emoji_becomes_an_award(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let (_, stranger) = forge.user("stranger");
    let (project, snippet) = snippet(forge, &token, "20");
    let path = format!("{project}/snippets/{snippet}");
    let notes = format!("{path}/notes");
    // A vote on one's own snippet stays a note.
    let note = write(forge, &token, &notes, ":+1:");
    assert_eq!((&note["body"], &note["noteable_type"]), (&json!(":+1:"), &json!("Snippet")));
    let award = write(forge, &stranger, &notes, ":tada: ");
    assert_eq!((&award["name"], &award["awardable_id"]), (&json!("tada"), &json!(snippet)));
    assert_eq!(award["awardable_type"], "Snippet");
    // The award of a note that is given twice is the same one.
    assert_eq!(write(forge, &stranger, &notes, ":tada:"), award);
    let list = forge.get(&format!("{path}/award_emoji")).token(&token).send();
    assert_eq!(list.expect(200), json!([award]));
    assert_eq!(ids(&forge.get(&notes).token(&token).send().expect(200)), [id_of(&note)]);
    let on_note = format!("{notes}/{}/award_emoji", id_of(&note));
    let given = forge.post(&on_note).token(&stranger).form(&[("name", "heart")]).send();
    assert_eq!(given.expect(201)["awardable_type"], "Note");
    // A snippet that is hidden has no awards.
    forge.put(&path).token(&token).form(&[("visibility_level", "0")]).send().expect(200);
    for path in [format!("{path}/award_emoji"), on_note] {
        let hidden = forge.get(&path).token(&stranger).send().expect(404);
        assert_eq!(hidden, message("404 Award Emoji Not Found"), "{path}");
    }
}

/// 1.1. All five calls.
fn the_calls_are_for_users_who_see_the_project(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let (_, stranger) = forge.user("stranger");
    let (project, snippet) = snippet(forge, &token, "20");
    let note = id_of(&write(forge, &token, &format!("{project}/snippets/{snippet}/notes"), "x"));
    let path = format!("{project}/snippets/{snippet}/notes");
    let calls = [
        ("GET", path.clone()),
        ("POST", format!("{path}?body=x")),
        ("GET", format!("{path}/{note}")),
        ("PUT", format!("{path}/{note}?body=x")),
        ("DELETE", format!("{path}/{note}")),
    ];
    assert_only_for_users(forge, &calls);
    let hidden = [("name", "Site"), ("visibility_level", "0")];
    forge.put(&project).token(&token).form(&hidden).send().expect(200);
    for (method, path) in &calls {
        let refused = forge.request(method, path).token(&stranger).send().expect(404);
        assert_eq!(refused, no_project(), "{method} {path}");
    }
}

/// 1.4. GET /projects/:id/snippets/:noteable_id/notes
fn notes_are_paged(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let (project, snippet) = snippet(forge, &token, "0");
    let path = format!("{project}/snippets/{snippet}/notes");
    let write = |number: i32| id_of(&write(forge, &token, &path, &format!("note {number}")));
    let all: Vec<i64> = (0..21).map(write).collect();
    let first = forge.get(&path).token(&token).send();
    assert_eq!(ids(&first.expect(200)), all[..20], "oldest first, 20 by default");
    assert_eq!(first.header("X-Total"), Some("21"));
    let page = forge.get(&format!("{path}?per_page=2&page=2")).token(&token).send();
    assert_eq!(ids(&page.expect(200)), all[2..4]);
}
