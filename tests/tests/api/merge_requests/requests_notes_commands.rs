//! Commands in notes on merge requests: merge_requests.md section 12.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Receiver, on_every_store};
use serde_json::{Value, json};

use super::requests_fixtures::{archive, set_level, user_id, write_note};
use super::requests_support::{
    actions, new_request, put_request, request_as, request_notes, request_now,
};
use crate::api::groups::group_support::new_project;
use crate::api::hooks::hook_support::{clear_outbox, deliver_payloads, hook_of};
use crate::api::repositories::refs_support::{ProjectFixture, filled_fixture};
use crate::api::support::id_of;
use crate::api::tracker::tracker_support::new_label;

on_every_store!(
    labels_and_milestones_are_set_by_commands,
    due_dates_are_cut_without_effect,
    authors_below_developer_command_texts_and_states,
    commands_of_archived_projects_are_text,
    closing_and_reopening_have_their_effects,
    requests_of_hidden_projects_are_not_mentioned,
);

/// Writes a note of commands only.
#[track_caller]
fn command(forge: &Forge, fixture: &ProjectFixture, request: &Value, who: &str, text: &str) {
    let only = write_note(forge, fixture.token(who), request, text).expect(201);
    assert_eq!(
        (&only["id"], &only["body"]),
        (&Value::Null, &json!("Your commands have been executed!")),
        "{text}"
    );
}

#[track_caller]
fn new_milestone(forge: &Forge, fixture: &ProjectFixture, title: &str) -> Value {
    let path = format!("{}/milestones", fixture.cast.path);
    forge.post(&path).token(ROOT).form(&[("title", title)]).send().expect(201)
}

/// POST /projects/:id/merge_requests/:noteable_id/notes: rows 1 and 2.
fn labels_and_milestones_are_set_by_commands(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    let (first, second) =
        (new_milestone(forge, &fixture, "1.0"), new_milestone(forge, &fixture, "second one"));
    for name in ["a", "b c", "d"] {
        new_label(forge, ROOT, &fixture.cast.path, name);
    }
    for (text, milestone) in [
        ("/milestone %1.0", &first["id"]),
        ("/milestone %\"second one\"", &second["id"]),
        ("/milestone %nothing", &second["id"]),
        ("/remove_milestone", &Value::Null),
    ] {
        command(forge, &fixture, &made, "developer", text);
        assert_eq!(&request_now(forge, &made)["milestone"]["id"], milestone, "{text}");
    }
    for (text, labels) in [
        ("/label ~a ~\"b c\" ~nothing", json!(["a", "b c"])),
        ("/unlabel ~a", json!(["b c"])),
        ("/relabel ~d", json!(["d"])),
        ("/unlabel", json!([])),
    ] {
        command(forge, &fixture, &made, "developer", text);
        assert_eq!(request_now(forge, &made)["labels"], labels, "{text}");
    }
    for (text, subscribed) in [("/unsubscribe", false), ("/subscribe", true)] {
        command(forge, &fixture, &made, "developer", text);
        let shown = request_as(forge, fixture.token("developer"), &made);
        assert_eq!(shown["subscribed"], subscribed, "{text}");
    }
    let text = "/title WIP: [WIP] new";
    command(forge, &fixture, &made, "developer", text);
    command(forge, &fixture, &made, "developer", "/wip");
    assert_eq!(request_now(forge, &made)["title"], "new", "all marks are taken off");
    assert_eq!(request_now(forge, &made)["user_notes_count"], 0);
}

/// POST /projects/:id/merge_requests/:noteable_id/notes: row 5.
fn due_dates_are_cut_without_effect(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    for text in ["/due tomorrow", "/remove_due_date", "/due 2016-10-01\n/remove_due_date"] {
        command(forge, &fixture, &made, "developer", text);
    }
    let note = write_note(forge, fixture.token("developer"), &made, "text\n/due tomorrow");
    assert_eq!(note.expect(201)["body"], "text");
    assert_eq!(request_notes(forge, &made), ["text"]);
}

/// POST /projects/:id/merge_requests/:noteable_id/notes: column "Needs".
fn authors_below_developer_command_texts_and_states(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    new_milestone(forge, &fixture, "1.0");
    new_label(forge, ROOT, &fixture.cast.path, "bug");
    let guest = user_id(forge, &fixture, "guest");
    put_request(forge, ROOT, &made, &json!({"assignee_id": guest})).expect(200);
    set_level(forge, &fixture, "developer", "20");
    for who in ["developer", "guest"] {
        let before = request_now(forge, &made);
        let text = "/label ~bug\n/assign @reporter\n/milestone %1.0\n/unassign";
        command(forge, &fixture, &made, who, text);
        assert_eq!(request_now(forge, &made), before, "{who}");
        command(forge, &fixture, &made, who, &format!("/title by {who}\n/wip\n/close"));
        let now = request_now(forge, &made);
        assert_eq!(now["title"], format!("WIP: by {who}"));
        assert_eq!(now["state"], "closed");
        command(forge, &fixture, &made, who, "/reopen\n/wip");
        let now = request_now(forge, &made);
        assert_eq!((&now["state"], &now["work_in_progress"]), (&json!("reopened"), &json!(false)));
    }
    // Who may not change the request writes plain text.
    let text = "text\n/close\n/label ~bug";
    let note = write_note(forge, fixture.token("reporter"), &made, text).expect(201);
    assert_eq!(note["body"], text);
    assert_eq!(request_now(forge, &made)["state"], "reopened");
}

/// POST /projects/:id/merge_requests/:noteable_id/notes: section 15, nobody may change requests of archived projects.
fn commands_of_archived_projects_are_text(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let made = new_request(forge, &fixture, "feature/x", "t");
    archive(forge, &fixture);
    for who in ["developer", "owner", "root"] {
        let note = write_note(forge, fixture.token(who), &made, "/close").expect(201);
        assert_eq!(note["body"], "/close", "{who}");
    }
    assert_eq!(request_now(forge, &made)["state"], "opened");
}

/// POST /projects/:id/merge_requests/:noteable_id/notes: "what is carried out has the effects of section 5".
fn closing_and_reopening_have_their_effects(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let receiver = Receiver::new();
    let made = new_request(forge, &fixture, "feature/x", "t");
    let url = receiver.url("/");
    hook_of(forge, &fixture.cast.path, &url, &[("merge_requests_events", "true")]);
    clear_outbox(forge);
    for (text, action, event, note) in
        [("/close", "close", "closed", "closed"), ("/reopen", "reopen", "opened", "reopened")]
    {
        command(forge, &fixture, &made, "developer", text);
        let payloads = deliver_payloads(forge, &receiver);
        assert_eq!(payloads.len(), 1, "{text}");
        assert_eq!(payloads[0]["object_attributes"]["action"], action);
        assert_eq!(actions(forge, &fixture)[0], event);
        assert_eq!(request_notes(forge, &made).last().map(String::as_str), Some(note));
    }
    command(forge, &fixture, &made, "developer", "/title u");
    let payloads = deliver_payloads(forge, &receiver);
    assert_eq!(payloads[0]["object_attributes"]["action"], "update");
    assert_eq!(payloads.len(), 1);
    command(forge, &fixture, &made, "developer", "/unsubscribe");
    assert_eq!(deliver_payloads(forge, &receiver), Vec::<Value>::new());
}

/// POST /projects/:id/merge_requests/:noteable_id/notes: section 14.
fn requests_of_hidden_projects_are_not_mentioned(forge: &Forge) {
    let fixture = filled_fixture(forge);
    let owner = fixture.token("owner");
    let made = new_request(forge, &fixture, "feature/x", "t");
    let request_in = |name: &str, level: &str| {
        let project = new_project(forge, owner, name, &[("visibility_level", level)]);
        let path = format!("/projects/{}/merge_requests", id_of(&project));
        let fields = json!({"title": "t", "source_branch": "a", "target_branch": "b"});
        forge.post(&path).token(owner).json(&fields).send().expect(201)
    };
    let (open, hidden) = (request_in("open", "20"), request_in("secret", "0"));
    let text = "see !1, ada/open!1 and ada/secret!1";
    write_note(forge, fixture.token("developer"), &made, text).expect(201);
    assert_eq!(request_notes(forge, &open), ["mentioned in merge request ada/ship!1"]);
    assert_eq!(request_notes(forge, &hidden), Vec::<String>::new());
    assert_eq!(request_notes(forge, &made), [text]);
    write_note(forge, owner, &made, text).expect(201);
    assert_eq!(request_notes(forge, &hidden), ["mentioned in merge request ada/ship!1"]);
}
