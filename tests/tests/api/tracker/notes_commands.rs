//! Commands in notes and in descriptions of new issues: users_hooks_events.md section 11.3.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::projects::project_support::a_cast;
use crate::api::support::id_of;
use crate::api::tracker::tracker_support::{
    issue_now, new_issue, new_label, note_bodies, path_of_issue, user_summary,
};

on_every_store!(
    commands_in_a_note_change_the_issue,
    a_note_of_commands_only_is_not_written,
    what_the_author_may_not_do_is_passed_over,
    commands_in_the_description_of_a_new_issue_are_done,
    labels_beside_commands_are_read_once,
    every_command_has_its_effect,
);

#[track_caller]
fn write_note(forge: &Forge, token: &str, issue: &Value, body: &str) -> Value {
    let path = format!("{}/notes", path_of_issue(issue));
    forge.post(&path).token(token).form(&[("body", body)]).send().expect(201)
}

/// POST /projects/:id/issues/:noteable_id/notes
fn commands_in_a_note_change_the_issue(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    let label = new_label(forge, ROOT, &cast.path, "bug");
    let body = "Done with it.\n/close\n/label ~bug\n/unknown thing\n";
    let note = write_note(forge, cast.token("reporter"), &issue, body);
    assert_eq!(note["body"], "Done with it.\n/unknown thing");
    let after = issue_now(forge, ROOT, &issue);
    assert_eq!((&after["state"], &after["labels"]), (&json!("closed"), &json!(["bug"])));
    let expected = [
        "Done with it.\n/unknown thing".to_owned(),
        "closed".to_owned(),
        format!("added ~{} label", id_of(&label)),
    ];
    assert_eq!(note_bodies(forge, ROOT, &issue), expected);
    let events = forge.get(&format!("{}/events", cast.path)).token(ROOT).send().expect(200);
    assert_eq!(events[0]["action_name"], "closed");
    assert_eq!(events[1]["action_name"], "commented on");
}

/// POST /projects/:id/issues/:noteable_id/notes
fn a_note_of_commands_only_is_not_written(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    let reporter = cast.token("reporter");
    let answer = write_note(forge, reporter, &issue, "/close\n");
    let me = id_of(&forge.get("/user").token(reporter).send().expect(200));
    let now = "2016-09-22T10:30:00.000Z";
    let expected = json!({
        "id": null, "body": "Your commands have been executed!", "attachment": null,
        "author": user_summary(forge, me), "created_at": now, "updated_at": now, "system": false,
        "noteable_id": id_of(&issue), "noteable_type": "Issue", "upvote": false, "downvote": false
    });
    assert_eq!(answer, expected);
    assert_eq!(issue_now(forge, ROOT, &issue)["state"], "closed");
    assert_eq!(note_bodies(forge, ROOT, &issue), ["closed"]);
    assert_eq!(issue_now(forge, ROOT, &issue)["user_notes_count"], 0);
}

/// POST /projects/:id/issues/:noteable_id/notes
fn what_the_author_may_not_do_is_passed_over(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    new_label(forge, ROOT, &cast.path, "bug");
    let guest = cast.token("guest");
    write_note(forge, guest, &issue, "/close\n/title Mine\n/label ~bug\n/subscribe");
    let after = issue_now(forge, guest, &issue);
    assert_eq!(
        (&after["state"], &after["title"], &after["labels"], &after["subscribed"]),
        (&json!("opened"), &json!("an issue"), &json!([]), &json!(true))
    );
    // An author may only close and rename their own issue.
    let own = new_issue(forge, guest, &cast.path, "own", &[]);
    write_note(forge, guest, &own, "/close\n/title Mine\n/label ~bug\n/due 2017-01-01");
    let after = issue_now(forge, guest, &own);
    assert_eq!(
        (&after["state"], &after["title"], &after["labels"], &after["due_date"]),
        (&json!("closed"), &json!("Mine"), &json!([]), &json!(null))
    );
}

/// POST /projects/:id/issues
fn commands_in_the_description_of_a_new_issue_are_done(forge: &Forge) {
    let cast = a_cast(forge, "20");
    new_label(forge, ROOT, &cast.path, "bug");
    let form = [("title", "1.0")];
    let goal = forge.post(&format!("{}/milestones", cast.path)).token(ROOT).form(&form).send();
    let goal = goal.expect(201);
    let text = "It is broken.\n/label ~bug ~nothing\n/assign @developer\n/milestone %1.0\n\
                /due 2017-01-01\n/close\n/title Other";
    let more = [("description", text), ("labels", "new")];
    let made = new_issue(forge, cast.token("reporter"), &cast.path, "an issue", &more);
    assert_eq!(made["description"], "It is broken.");
    assert_eq!(made["labels"], json!(["bug", "new"]));
    assert_eq!(made["assignee"]["username"], "developer");
    assert_eq!(made["milestone"]["id"], goal["id"]);
    assert_eq!(made["due_date"], "2017-01-01");
    assert_eq!((&made["state"], &made["title"]), (&json!("opened"), &json!("an issue")));
    assert_eq!(note_bodies(forge, ROOT, &made), Vec::<String>::new());
    let more = [("description", text)];
    let made = new_issue(forge, cast.token("guest"), &cast.path, "an issue", &more);
    assert_eq!(made["description"], "It is broken.");
    assert_eq!((&made["labels"], &made["assignee"]), (&json!([]), &json!(null)));
}

/// POST /projects/:id/issues
fn labels_beside_commands_are_read_once(forge: &Forge) {
    let cast = a_cast(forge, "20");
    new_label(forge, ROOT, &cast.path, "bug");
    let more = [("description", "/label ~bug"), ("labels", "&lt;b&gt;,a &amp;amp; b")];
    let made = new_issue(forge, cast.token("reporter"), &cast.path, "an issue", &more);
    assert_eq!(made["labels"], json!(["<b>", "a &amp; b", "bug"]));
    // A command does not replace an invalid list of labels.
    let form = [("title", "x"), ("description", "/relabel ~bug"), ("labels", "&#44;")];
    let path = format!("{}/issues", cast.path);
    let refused = forge.post(&path).token(cast.token("reporter")).form(&form).send().expect(400);
    assert_eq!(refused, json!({"message": {"labels": ["is invalid"]}}));
    // A command accepts at most fifty names; further ones are ignored.
    let numbers = |count: i64| (1..=count).map(|number| format!(" ~{}", number + 1_000_000));
    let text = |count: i64| format!("/label{} ~bug", numbers(count).collect::<String>());
    for (count, labels) in [(49, json!(["bug"])), (5_000, json!([]))] {
        let issue = new_issue(forge, ROOT, &cast.path, "an issue", &[]);
        write_note(forge, ROOT, &issue, &text(count));
        assert_eq!(issue_now(forge, ROOT, &issue)["labels"], labels, "{count}");
    }
}

/// POST /projects/:id/issues/:noteable_id/notes
fn every_command_has_its_effect(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let reporter = cast.token("reporter");
    let issue = new_issue(forge, cast.token("owner"), &cast.path, "an issue", &[]);
    for name in ["a", "b", "to do"] {
        new_label(forge, ROOT, &cast.path, name);
    }
    let form = [("title", "1.0")];
    forge.post(&format!("{}/milestones", cast.path)).token(ROOT).form(&form).send().expect(201);
    for (commands, field, expected) in [
        ("/close", "/state", json!("closed")),
        ("/reopen", "/state", json!("reopened")),
        ("/title Better", "/title", json!("Better")),
        ("/assign @developer", "/assignee/username", json!("developer")),
        ("/assign @nobody-at-all", "/assignee/username", json!("developer")),
        ("/unassign", "/assignee", json!(null)),
        ("/label ~a ~\"to do\" ~none", "/labels", json!(["a", "to do"])),
        ("/unlabel ~a", "/labels", json!(["to do"])),
        ("/relabel ~a ~b", "/labels", json!(["a", "b"])),
        ("/unlabel", "/labels", json!([])),
        ("/milestone %1", "/milestone/title", json!("1.0")),
        ("/remove_milestone", "/milestone", json!(null)),
        ("/due tomorrow", "/due_date", json!("2016-09-23")),
        ("/remove_due_date", "/due_date", json!(null)),
        ("/subscribe", "/subscribed", json!(true)),
        ("/unsubscribe", "/subscribed", json!(false)),
        ("/todo\n/done", "/state", json!("reopened")),
    ] {
        write_note(forge, reporter, &issue, commands);
        let after = issue_now(forge, reporter, &issue);
        assert_eq!(after.pointer(field), Some(&expected), "{commands}");
    }
}
