//! Notes that consist of one emoji: users_hooks_events.md sections 11.2 (`upvotes`, `downvotes`) and 11.3.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::projects::project_support::a_cast;
use crate::api::support::id_of;
use crate::api::tracker::tracker_support::{
    issue_now, new_issue, note_bodies, path_of_issue, user_summary,
};

on_every_store!(
    an_emoji_alone_becomes_an_award,
    thumbs_are_counted_as_votes,
    on_ones_own_issue_a_vote_is_a_note,
);

#[track_caller]
fn write_note(forge: &Forge, token: &str, issue: &Value, body: &str) -> Value {
    let path = format!("{}/notes", path_of_issue(issue));
    forge.post(&path).token(token).form(&[("body", body)]).send().expect(201)
}

/// POST /projects/:id/issues/:noteable_id/notes
fn an_emoji_alone_becomes_an_award(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    let stranger = cast.token("stranger");
    let award = write_note(forge, stranger, &issue, ":tada:");
    let me = id_of(&forge.get("/user").token(stranger).send().expect(200));
    let now = "2016-09-22T10:30:00.000Z";
    let expected = json!({
        "id": award["id"], "name": "tada", "user": user_summary(forge, me), "created_at": now,
        "updated_at": now, "awardable_id": id_of(&issue), "awardable_type": "Issue"
    });
    assert_eq!(award.to_string(), expected.to_string());
    assert_eq!(write_note(forge, stranger, &issue, ":tada:\n"), expected, "once is enough");
    assert_eq!(note_bodies(forge, ROOT, &issue), Vec::<String>::new());
    let after = issue_now(forge, ROOT, &issue);
    assert_eq!((&after["user_notes_count"], &after["upvotes"]), (&json!(0), &json!(0)));
    let texts = ["so :tada:", " :tada:", ":tada:  ", ":nothing:"];
    for text in texts {
        write_note(forge, stranger, &issue, text);
    }
    assert_eq!(note_bodies(forge, ROOT, &issue), texts);
}

/// GET /projects/:id/issues/:issue_id, GET /projects/:id/issues
fn thumbs_are_counted_as_votes(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    for (who, body) in [
        ("stranger", ":+1:"),
        ("guest", ":thumbsup:"),
        ("guest", ":+1:"),
        ("developer", ":-1:"),
        ("reporter", "👍"),
        ("reporter", ":heart:"),
    ] {
        write_note(forge, cast.token(who), &issue, body);
    }
    let votes = |issue: &Value| (issue["upvotes"].as_i64(), issue["downvotes"].as_i64());
    assert_eq!(votes(&issue_now(forge, ROOT, &issue)), (Some(3), Some(1)));
    let list = forge.get(&format!("{}/issues", cast.path)).token(ROOT).send().expect(200);
    assert_eq!(votes(&list[0]), (Some(3), Some(1)));
}

/// POST /projects/:id/issues/:noteable_id/notes
fn on_ones_own_issue_a_vote_is_a_note(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    let votes = [":+1:", ":-1:", ":thumbsup:", ":thumbsdown:"];
    for vote in votes {
        assert_eq!(write_note(forge, owner, &issue, vote)["body"], vote);
    }
    assert_eq!(write_note(forge, owner, &issue, ":tada:")["name"], "tada");
    assert_eq!(note_bodies(forge, ROOT, &issue), votes);
    let after = issue_now(forge, ROOT, &issue);
    assert_eq!((&after["upvotes"], &after["downvotes"]), (&json!(0), &json!(0)));
}
