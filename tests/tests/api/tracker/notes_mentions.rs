//! Notes about mentions of an issue: users_hooks_events.md section 11.3.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::projects::project_support::a_cast;
use crate::api::support::id_of;
use crate::api::tracker::tracker_support::{new_issue, note_bodies, path_of_issue, update_issue};

on_every_store!(
    mentioned_issues_get_a_note,
    mentions_from_hidden_places_are_left_out,
    nobody_mentions_what_it_does_not_see,
    many_mentions_at_once_wait_for_each_other,
);

/// Creates another project.
fn other_project(forge: &Forge, token: &str, name: &str, level: &str) -> String {
    let form = [("name", name), ("visibility_level", level)];
    let made = forge.post("/projects").token(token).form(&form).send().expect(201);
    format!("/projects/{}", id_of(&made))
}

fn write_note(forge: &Forge, token: &str, issue: &Value, body: &str) -> Value {
    let path = format!("{}/notes", path_of_issue(issue));
    forge.post(&path).token(token).form(&[("body", body)]).send().expect(201)
}

/// GET /projects/:id/issues/:noteable_id/notes: one note per mentioning issue, however often it mentions the other.
fn mentioned_issues_get_a_note(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    let other = other_project(forge, owner, "boat", "20");
    let named: Vec<Value> =
        (0..5).map(|_| new_issue(forge, owner, &cast.path, "named", &[])).collect();
    let far = new_issue(forge, owner, &other, "far", &[]);
    let text = "like #2, and http://forge.test/ada/boat/issues/1, and #6, and #99";
    let more = [("description", text)];
    let guest = cast.token("guest");
    let speaker = new_issue(forge, guest, &cast.path, "about #1", &more);
    assert_eq!(speaker["iid"], 6);
    for _ in 0..2 {
        write_note(forge, guest, &speaker, "and #3 and ada/ship#1");
    }
    update_issue(forge, guest, &speaker, &[("title", "about #4")]);
    let note = write_note(forge, guest, &speaker, "hm");
    let path = format!("{}/notes/{}", path_of_issue(&speaker), id_of(&note));
    forge.put(&path).token(guest).form(&[("body", "#5")]).send().expect(200);
    for issue in &named {
        assert_eq!(note_bodies(forge, guest, issue), ["mentioned in issue #6"]);
        let notes = forge.get(&format!("{}/notes", path_of_issue(issue))).token(ROOT).send();
        let notes = notes.expect(200);
        assert_eq!(notes[0]["system"], true);
        assert_eq!(notes[0]["author"]["username"], "guest");
    }
    assert_eq!(note_bodies(forge, guest, &far), ["mentioned in issue ada/ship#6"]);
    let events = forge.get(&format!("{other}/events")).token(ROOT).send().expect(200);
    assert_eq!(events.as_array().expect("a list").len(), 2, "created and opened");
    // An issue that mentions itself gets no note.
    assert!(!note_bodies(forge, ROOT, &speaker).iter().any(|body| body.starts_with("mentioned")));
}

/// GET /projects/:id/issues/:noteable_id/notes, GET /projects/:id/issues/:noteable_id/notes/:note_id
fn mentions_from_hidden_places_are_left_out(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let (owner, stranger) = (cast.token("owner"), cast.token("stranger"));
    let secret = other_project(forge, owner, "secret", "0");
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    let more = [("description", "see ada/ship#1")];
    new_issue(forge, owner, &secret, "in a private project", &more);
    let hidden = [("description", "see #1"), ("confidential", "true")];
    new_issue(forge, owner, &cast.path, "a confidential one", &hidden);
    let gone = new_issue(forge, owner, &cast.path, "see #1", &[]);
    for number in 0..3 {
        write_note(forge, owner, &issue, &format!("note {number}"));
    }
    let own = ["note 0", "note 1", "note 2"];
    let all = ["mentioned in issue ada/secret#1", "mentioned in issue #2", "mentioned in issue #3"];
    assert_eq!(note_bodies(forge, owner, &issue), [&all[..], &own[..]].concat());
    assert_eq!(note_bodies(forge, ROOT, &issue), [&all[..], &own[..]].concat());
    assert_eq!(note_bodies(forge, cast.token("reporter"), &issue), [&all[1..], &own[..]].concat());
    assert_eq!(note_bodies(forge, stranger, &issue), [&all[2..], &own[..]].concat());
    // Pages and totals only count visible notes.
    let path = format!("{}/notes?per_page=2&page=2", path_of_issue(&issue));
    let page = forge.get(&path).token(stranger).send();
    assert_eq!(page.header("x-total"), Some("4"));
    let page = page.expect(200);
    assert_eq!((&page[0]["body"], &page[1]["body"]), (&json!("note 1"), &json!("note 2")));
    let notes = forge.get(&format!("{}/notes", path_of_issue(&issue))).token(ROOT).send();
    let first = format!("{}/notes/{}", path_of_issue(&issue), id_of(&notes.expect(200)[0]));
    forge.get(&first).token(owner).send().expect(200);
    forge.get(&first).token(stranger).send().expect(404);
    forge.delete(&path_of_issue(&gone)).token(owner).send().expect(200);
    assert_eq!(note_bodies(forge, stranger, &issue), own);
}

/// POST /projects/:id/issues
fn nobody_mentions_what_it_does_not_see(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let (owner, stranger) = (cast.token("owner"), cast.token("stranger"));
    let secret = other_project(forge, owner, "secret", "0");
    let private = new_issue(forge, owner, &secret, "private", &[]);
    let hidden = new_issue(forge, owner, &cast.path, "confidential", &[("confidential", "true")]);
    let text = [("description", "#1 and ada/secret#1 and nobody/nothing#1")];
    new_issue(forge, stranger, &cast.path, "curious", &text);
    for issue in [&private, &hidden] {
        assert_eq!(note_bodies(forge, ROOT, issue), Vec::<String>::new());
    }
    new_issue(forge, cast.token("reporter"), &cast.path, "trusted", &text);
    assert_eq!(note_bodies(forge, ROOT, &hidden), ["mentioned in issue #3"]);
    assert_eq!(note_bodies(forge, ROOT, &private), Vec::<String>::new());
}

/// Eight callers create issues in two projects that mention each other.
fn many_mentions_at_once_wait_for_each_other(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    let other = other_project(forge, owner, "boat", "20");
    let near = new_issue(forge, owner, &cast.path, "near", &[]);
    let far = new_issue(forge, owner, &other, "far", &[]);
    std::thread::scope(|scope| {
        for number in 0..8 {
            let (path, text) = if number % 2 == 0 {
                (&cast.path, "ada/boat#1 ada/ship#1")
            } else {
                (&other, "ada/ship#1 ada/boat#1")
            };
            scope.spawn(move || {
                for _ in 0..4 {
                    new_issue(forge, owner, path, "an issue", &[("description", text)]);
                }
            });
        }
    });
    for issue in [&near, &far] {
        assert_eq!(note_bodies(forge, owner, issue).len(), 32);
    }
}
