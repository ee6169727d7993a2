//! Events of issues, notes and milestones in the feeds and in the outbox: users_hooks_events.md sections 6, 9.3 and
//! 9.4.

use chrono::TimeDelta;
use hexforge_domain::id::UserId;
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::outbox::project::{IssueAction, ProjectEvent};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::fields_of;
use crate::api::projects::project_support::{a_cast, read};
use crate::api::support::{id_of, queued_events};
use crate::api::tracker::tracker_support::{
    field_values, issue_now, new_issue, path_of_issue, update_issue, user_summary,
};

on_every_store!(
    what_happens_to_an_issue_is_in_both_feeds,
    a_comment_is_in_the_feeds_with_its_note,
    what_is_gone_is_in_no_feed,
    what_is_confidential_is_told_to_those_who_may_see_it,
    activity_moves_the_project_at_most_once_an_hour,
    hooks_will_be_told_everything_about_issues,
    hooks_will_be_told_everything_about_notes,
);

/// 6.1, 6.2: GET /projects/:id/events, GET /users/:id/events
fn what_happens_to_an_issue_is_in_both_feeds(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    let issue = new_issue(forge, owner, &cast.path, "before", &[]);
    for event in ["close", "close", "reopen"] {
        update_issue(forge, owner, &issue, &[("state_event", event)]);
    }
    update_issue(forge, owner, &issue, &[("title", "after"), ("labels", "bug")]);
    let events = forge.get(&format!("{}/events", cast.path)).token(owner).send().expect(200);
    let of_issue: Vec<&Value> = (events.as_array().expect("a list").iter())
        .filter(|event| event["target_type"] == "Issue")
        .collect();
    let actions: Vec<&Value> = of_issue.iter().map(|event| &event["action_name"]).collect();
    assert_eq!(actions, ["opened", "closed", "opened"], "reopening reads so too, edits are none");
    let expected = json!({
        "title": null, "project_id": id_of(&cast.project), "action_name": "opened",
        "target_id": id_of(&issue), "target_type": "Issue", "author_id": cast.ada, "data": null,
        "target_title": "after", "created_at": "2016-09-22T10:30:00.000Z",
        "author": user_summary(forge, cast.ada), "author_username": "ada"
    });
    assert_eq!(*of_issue[0], expected);
    assert_eq!(fields_of(of_issue[0]), fields_of(&expected));
    let feed = forge.get(&format!("/users/{}/events", cast.ada)).token(cast.token("stranger"));
    assert_eq!(feed.send().expect(200)[0], expected);
}

/// 6.1: GET /projects/:id/events
fn a_comment_is_in_the_feeds_with_its_note(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    let path = format!("{}/notes", path_of_issue(&issue));
    let note = forge.post(&path).token(owner).form(&[("body", "a note")]).send().expect(201);
    let events = forge.get(&format!("{}/events", cast.path)).token(owner).send().expect(200);
    let expected = json!({
        "title": null, "project_id": id_of(&cast.project), "action_name": "commented on",
        "target_id": id_of(&note), "target_type": "Note", "author_id": cast.ada, "data": null,
        "target_title": "an issue", "created_at": "2016-09-22T10:30:00.000Z", "note": note,
        "author": user_summary(forge, cast.ada), "author_username": "ada"
    });
    assert_eq!(events[0], expected);
    assert_eq!(fields_of(&events[0]), fields_of(&expected));
    let feed = forge.get(&format!("/users/{}/events", cast.ada)).token(owner).send().expect(200);
    assert_eq!(feed[0], expected);
    // A system note is not a comment.
    update_issue(forge, owner, &issue, &[("title", "renamed")]);
    let after = forge.get(&format!("{}/events", cast.path)).token(owner).send().expect(200);
    assert_eq!(after.as_array().map(Vec::len), events.as_array().map(Vec::len));
    assert_eq!(after[0]["target_title"], "renamed");
}

/// 6.2: GET /projects/:id/events
fn what_is_gone_is_in_no_feed(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    let events = || {
        let list = forge.get(&format!("{}/events", cast.path)).token(owner).send().expect(200);
        list.as_array().map(Vec::len)
    };
    let before = events();
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    let kept = events();
    let path = format!("{}/notes", path_of_issue(&issue));
    let notes = [1, 2]
        .map(|_| forge.post(&path).token(owner).form(&[("body", "a note")]).send().expect(201));
    forge.delete(&format!("{path}/{}", id_of(&notes[0]))).token(owner).send().expect(200);
    assert_eq!(events(), kept.map(|count| count + 1));
    forge.delete(&path_of_issue(&issue)).token(owner).send().expect(200);
    assert_eq!(events(), before);
}

/// 6.4, 6.5: GET /projects/:id/events, GET /users/:id/events
fn what_is_confidential_is_told_to_those_who_may_see_it(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    let secret = new_issue(forge, owner, &cast.path, "a secret", &[("confidential", "true")]);
    let note = [("body", "a secret too")];
    forge
        .post(&format!("{}/notes", path_of_issue(&secret)))
        .token(owner)
        .form(&note)
        .send()
        .expect(201);
    let feeds = [format!("{}/events", cast.path), format!("/users/{}/events", cast.ada)];
    let told = |who: &str| {
        feeds.each_ref().map(|feed| {
            let answer = forge.get(feed).token(cast.token(who)).send();
            let list = answer.expect(200);
            let shown = field_values(&list, "target_title");
            let total = answer.header("X-Total").and_then(|total| total.parse().ok());
            assert_eq!(total, Some(shown.len()), "{who}");
            shown.into_iter().filter(|title| **title == "a secret").count()
        })
    };
    for who in ["owner", "master", "developer", "reporter", "root"] {
        assert_eq!(told(who), [2, 2], "{who}");
    }
    for who in ["guest", "stranger", "external"] {
        assert_eq!(told(who), [0, 0], "{who}");
    }
    let me = id_of(&forge.get("/user").token(cast.token("guest")).send().expect(200)).to_string();
    update_issue(forge, owner, &secret, &[("assignee_id", &me)]);
    assert_eq!(told("guest"), [2, 2]);
    update_issue(forge, owner, &secret, &[("confidential", "false")]);
    assert_eq!(told("stranger"), [2, 2]);
}

/// 6.2: POST /projects/:id/issues
fn activity_moves_the_project_at_most_once_an_hour(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    let last = || read(forge, owner, &cast.project)["last_activity_at"].clone();
    let made = last();
    forge.clock.advance(TimeDelta::minutes(59));
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    assert_eq!(last(), made);
    forge.clock.advance(TimeDelta::minutes(1));
    update_issue(forge, owner, &issue, &[("title", "no event")]);
    assert_eq!(last(), made);
    let notes = format!("{}/notes", path_of_issue(&issue));
    forge.post(&notes).token(owner).form(&[("body", "a note")]).send().expect(201);
    assert_eq!(last(), "2016-09-22T11:30:00.000Z");
}

fn project_news(forge: &Forge) -> Vec<ProjectEvent> {
    let news = queued_events(forge).into_iter();
    news.filter_map(|event| match event {
        SystemEvent::InProject(event) => Some(*event),
        _ => None,
    })
    .collect()
}

/// 9.3: POST /projects/:id/issues, PUT /projects/:id/issues/:issue_id
fn hooks_will_be_told_everything_about_issues(forge: &Forge) {
    let cast = a_cast(forge, "10");
    let reporter = cast.token("reporter");
    let me = id_of(&forge.get("/user").token(reporter).send().expect(200));
    let assignee = cast.ada.to_string();
    let more =
        [("assignee_id", assignee.as_str()), ("due_date", "2016-10-01"), ("description", "d")];
    let issue = new_issue(forge, reporter, &cast.path, "an issue", &more);
    update_issue(forge, reporter, &issue, &[("state_event", "close"), ("labels", "bug")]);
    update_issue(forge, reporter, &issue, &[("state_event", "reopen")]);
    update_issue(forge, reporter, &issue, &[("state_event", "reopen")]);
    let told: Vec<_> = (project_news(forge).into_iter())
        .map(|event| match event {
            ProjectEvent::Issue(news) => news,
            other => panic!("nobody wrote a note or pushed: {other:?}"),
        })
        .collect();
    let actions: Vec<IssueAction> = told.iter().map(|news| news.action).collect();
    use IssueAction::{Close, Open, Reopen, Update};
    assert_eq!(actions, [Open, Close, Update, Reopen]);
    let states: Vec<&str> = told.iter().map(|news| news.issue.state.as_str()).collect();
    assert_eq!(states, ["opened", "closed", "closed", "reopened"]);
    let first = &told[0];
    assert_eq!((first.user.id, first.user.username.as_str()), (UserId(me), "reporter"));
    assert_eq!(first.assignee.as_ref().map(|user| user.username.as_str()), Some("ada"));
    assert_eq!(first.project.path_with_namespace, "ada/ship");
    assert_eq!((first.project.name.as_str(), first.project.namespace.as_str()), ("Ship", "ada"));
    assert_eq!((first.issue.id.0, first.issue.iid), (id_of(&issue), 1));
    assert_eq!(first.issue.description.as_deref(), Some("d"));
    assert_eq!(first.issue.due_date.map(|day| day.to_string()).as_deref(), Some("2016-10-01"));
    assert_eq!((first.issue.updated_by, told[1].issue.updated_by), (None, Some(UserId(me))));
    let event = ProjectEvent::Issue(first.clone());
    assert_eq!(event.project().0, id_of(&cast.project));
}

/// 9.4: POST /projects/:id/issues/:noteable_id/notes
fn hooks_will_be_told_everything_about_notes(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue =
        new_issue(forge, cast.token("owner"), &cast.path, "a secret", &[("confidential", "1")]);
    let path = format!("{}/notes", path_of_issue(&issue));
    let note = forge.post(&path).token(ROOT).form(&[("body", "a note 🦀")]).send().expect(201);
    let one = format!("{path}/{}", id_of(&note));
    forge.put(&one).token(ROOT).form(&[("body", "edited")]).send().expect(200);
    forge.delete(&one).token(ROOT).send().expect(200);
    let notes: Vec<_> = (project_news(forge).into_iter())
        .filter_map(|event| match event {
            ProjectEvent::NoteOnIssue(news) => Some(news),
            _ => None,
        })
        .collect();
    let [told] = &notes[..] else { panic!("one note was written: {notes:?}") };
    assert_eq!((told.note.id.0, told.note.body.as_str()), (id_of(&note), "a note 🦀"));
    assert_eq!((told.user.id, told.note.author), (UserId(1), UserId(1)));
    assert_eq!((told.issue.id.0, told.issue.confidential), (id_of(&issue), true));
    assert_eq!(told.project.id.0, id_of(&cast.project));
    assert_eq!(issue_now(forge, ROOT, &issue)["user_notes_count"], 0);
}
