//! Issues, one by one: users_hooks_events.md section 11.2.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, error, fields_of, forbidden, new_project, no_project, path_of_project, project_now,
};
use crate::api::projects::project_support::{a_cast, assert_unchanged, not_given};
use crate::api::support::{MISSING, field_error, id_of, message};
use crate::api::tracker::tracker_support::{
    issue_now, new_issue, new_label, note_bodies, path_of_issue, update_issue, user_summary,
};

on_every_store!(
    an_issue_is_written_with_every_field,
    what_is_wrong_with_an_issue_is_told,
    what_the_caller_may_not_set_is_dropped,
    labels_that_are_not_there_are_made,
    an_issue_is_changed_and_that_is_written_down,
    an_issue_is_closed_and_reopened,
    who_may_change_an_issue,
    a_confidential_issue_is_hidden_from_those_it_does_not_concern,
    an_issue_is_removed_by_owners,
    participants_are_subscribed_to_an_issue,
    an_issue_moves_to_another_project,
    numbers_are_not_given_again,
    a_project_without_issues_has_none,
    open_issues_are_counted_by_the_project,
);

fn user_of(forge: &Forge, token: &str) -> i64 {
    id_of(&forge.get("/user").token(token).send().expect(200))
}

/// POST /projects/:id/issues, GET /projects/:id/issues/:issue_id
fn an_issue_is_written_with_every_field(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (owner, reporter) = (cast.token("owner"), cast.token("reporter"));
    let goal = [("title", "1.0"), ("due_date", "2016-12-24")];
    let goal = forge.post(&format!("{}/milestones", cast.path)).token(owner).form(&goal).send();
    let goal = goal.expect(201);
    let assignee = user_of(forge, cast.token("developer"));
    let fields = json!({
        "title": " It breaks 🦀 ", "description": "at *once*", "assignee_id": assignee,
        "milestone_id": id_of(&goal), "labels": "wish, bug", "due_date": "2016-10-01",
        "confidential": true
    });
    let path = format!("{}/issues", cast.path);
    let made = forge.post(&path).token(reporter).json(&fields).send().expect(201);
    let author = user_of(forge, reporter);
    let expected = json!({
        "id": id_of(&made), "iid": 1, "project_id": id_of(&cast.project), "title": "It breaks 🦀",
        "description": "at *once*", "state": "opened", "created_at": "2016-09-22T10:30:00.000Z",
        "updated_at": "2016-09-22T10:30:00.000Z", "labels": ["bug", "wish"], "milestone": goal,
        "assignee": user_summary(forge, assignee), "author": user_summary(forge, author), "subscribed": true,
        "user_notes_count": 0, "upvotes": 0, "downvotes": 0, "due_date": "2016-10-01",
        "confidential": true, "web_url": "http://forge.test/ada/ship/issues/1"
    });
    assert_eq!(made, expected);
    assert_eq!(fields_of(&made), fields_of(&expected));
    assert_eq!(issue_now(forge, reporter, &made), expected);
    let bare = new_issue(forge, cast.token("guest"), &cast.path, "bare", &[]);
    assert_eq!((&bare["iid"], &bare["description"]), (&json!(2), &Value::Null));
    assert_eq!((&bare["assignee"], &bare["milestone"]), (&Value::Null, &Value::Null));
    assert_eq!((&bare["labels"], &bare["due_date"]), (&json!([]), &Value::Null));
    assert_eq!(bare["confidential"], false);
    let by_path = format!("/projects/ada%2Fship/issues/{}", id_of(&bare));
    forge.get(&by_path).token(owner).send().expect(200);
    for id in [MISSING.to_string(), "abc".to_owned(), crate::api::support::HUGE.to_owned()] {
        let missing = forge.get(&format!("{path}/{id}")).token(owner).send().expect(404);
        assert_eq!(missing, message("404 Not found"), "{id}");
    }
}

/// POST /projects/:id/issues, PUT /projects/:id/issues/:issue_id
fn what_is_wrong_with_an_issue_is_told(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (path, token) = (format!("{}/issues", cast.path), cast.token("owner"));
    let issue = new_issue(forge, token, &cast.path, "an issue", &[]);
    let long = field_error("title", "is too long (maximum is 255 characters)");
    let many: Vec<String> = (0..501).map(|number| format!("l{number}")).collect();
    for (fields, body) in [
        (json!({"title": "x".repeat(256)}), long),
        (json!({"title": "t", "due_date": "soon"}), error("due_date is invalid")),
        (json!({"title": "t", "assignee_id": "me"}), error("assignee_id is invalid")),
        (json!({"title": "t", "milestone_id": {"id": 1}}), error("milestone_id is invalid")),
        (json!({"title": ["t"]}), error("title is invalid")),
        (json!({"title": "t", "labels": ["a"]}), error("labels is invalid")),
        (json!({"title": "t", "created_at": "then"}), error("created_at is invalid")),
        (
            json!({"title": "t", "state_event": "burn"}),
            error("state_event does not have a valid value"),
        ),
        (
            json!({"title": "t", "labels": many.join(",")}),
            field_error("labels", "are too many (maximum is 500)"),
        ),
        (json!({"title": "t\u{0}"}), error("title is invalid")),
    ] {
        for (method, path) in [("POST", &path), ("PUT", &path_of_issue(&issue))] {
            let answer = forge.request(method, path).token(token).json(&fields).send();
            assert_eq!(answer.expect(400), body, "{method} {fields}");
        }
    }
    for fields in [json!({}), json!({"title": " "}), json!({"title": null})] {
        let answer = forge.post(&path).token(token).json(&fields).send();
        assert_eq!(answer.expect(400), not_given("title"), "{fields}");
    }
    assert_eq!(issue_now(forge, token, &issue), issue);
    assert_eq!(project_now(forge, id_of(&cast.project))["open_issues_count"], 1);
    assert_eq!(
        forge.post(&path).token(cast.token("stranger")).send().expect(404),
        no_project(),
        "the project is checked before missing fields"
    );
}

/// POST /projects/:id/issues
fn what_the_caller_may_not_set_is_dropped(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    let goal = forge.post(&format!("{}/milestones", cast.path)).token(owner);
    let goal = id_of(&goal.form(&[("title", "1.0")]).send().expect(201)).to_string();
    let me = user_of(forge, cast.token("stranger")).to_string();
    let fields = [
        ("assignee_id", me.as_str()),
        ("milestone_id", &goal),
        ("labels", "bug"),
        ("due_date", "2016-10-01"),
        ("created_at", "2001-01-01"),
        ("confidential", "maybe"),
    ];
    for who in ["stranger", "guest"] {
        let made = new_issue(forge, cast.token(who), &cast.path, "an issue", &fields);
        assert_eq!((&made["assignee"], &made["milestone"]), (&Value::Null, &Value::Null), "{who}");
        assert_eq!((&made["labels"], &made["due_date"]), (&json!([]), &Value::Null), "{who}");
        assert_eq!(made["confidential"], false, "garbage is no");
        assert_eq!(made["created_at"], "2016-09-22T10:30:00.000Z");
    }
    let labels = forge.get(&format!("{}/labels", cast.path)).token(owner).send().expect(200);
    assert_eq!(labels, json!([]));
    let made = new_issue(forge, cast.token("reporter"), &cast.path, "an issue", &fields);
    assert_eq!(made["created_at"], "2016-09-22T10:30:00.000Z", "only owners turn back time");
    assert_eq!(
        (&made["assignee"]["id"], &made["due_date"]),
        (&json!(me.parse::<i64>().ok()), &json!("2016-10-01"))
    );
    let made = new_issue(forge, owner, &cast.path, "an issue", &fields);
    assert_eq!(made["created_at"], "2001-01-01T00:00:00.000Z");
    // Users who do not see the issue cannot be assigned, and unknown ids are ignored.
    let private = path_of_project(&new_project(forge, owner, "Private", &[]));
    let missing = MISSING.to_string();
    let made = new_issue(forge, owner, &private, "an issue", &[("assignee_id", &me)]);
    assert_eq!(made["assignee"], Value::Null);
    let more = [("assignee_id", missing.as_str()), ("milestone_id", &goal)];
    let made = new_issue(forge, owner, &private, "an issue", &more);
    assert_eq!((&made["assignee"], &made["milestone"]), (&Value::Null, &Value::Null));
}

/// POST /projects/:id/issues, PUT /projects/:id/issues/:issue_id
fn labels_that_are_not_there_are_made(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let token = cast.token("reporter");
    new_label(forge, token, &cast.path, "bug");
    let issue = new_issue(forge, token, &cast.path, "an issue", &[("labels", "bug, new,,new")]);
    assert_eq!(issue["labels"], json!(["bug", "new"]));
    let labels = forge.get(&format!("{}/labels", cast.path)).token(token).send().expect(200);
    assert_eq!((&labels[1]["name"], &labels[1]["color"]), (&json!("new"), &json!("#428BCA")));
    assert_eq!(labels[0]["color"], "#FFAABB");
    let changed = update_issue(forge, token, &issue, &[("labels", "Bug,other")]);
    assert_eq!(changed["labels"], json!(["Bug", "other"]));
    assert_eq!(
        update_issue(forge, token, &issue, &[("title", "kept")])["labels"],
        json!(["Bug", "other"])
    );
    let null = forge.put(&path_of_issue(&issue)).token(token).json(&json!({"labels": null})).send();
    assert_eq!(null.expect(200)["labels"], json!(["Bug", "other"]));
    assert_eq!(update_issue(forge, token, &issue, &[("labels", "")])["labels"], json!([]));
    let many: Vec<String> = (0..500).map(|number| format!("label {number:03}")).collect();
    let many = many.join(",");
    let full = update_issue(forge, token, &issue, &[("labels", many.as_str())]);
    assert_eq!(full["labels"].as_array().map(Vec::len), Some(500));
}

/// PUT /projects/:id/issues/:issue_id
fn an_issue_is_changed_and_that_is_written_down(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    let goal = forge.post(&format!("{}/milestones", cast.path)).token(owner);
    let goal = goal.form(&[("title", "1.0")]).send().expect(201);
    let [bug, wish] = ["bug", "wish"].map(|name| id_of(&new_label(forge, owner, &cast.path, name)));
    let issue = new_issue(forge, owner, &cast.path, "before", &[("labels", "bug")]);
    forge.clock.advance(TimeDelta::seconds(10));
    let guest = user_of(forge, cast.token("guest"));
    let fields = json!({
        "title": "after", "description": "more", "assignee_id": guest,
        "milestone_id": id_of(&goal), "labels": "wish", "due_date": "2016-10-01",
        "confidential": "yes"
    });
    let path = path_of_issue(&issue);
    let changed = forge.put(&path).token(owner).json(&fields).send().expect(200);
    let mut expected = issue.clone();
    for (field, value) in [
        ("title", json!("after")),
        ("description", json!("more")),
        ("assignee", user_summary(forge, guest)),
        ("milestone", goal),
        ("labels", json!(["wish"])),
        ("due_date", json!("2016-10-01")),
        ("confidential", json!(true)),
        ("updated_at", json!("2016-09-22T10:30:10.000Z")),
    ] {
        expected[field] = value;
    }
    assert_eq!(changed, expected);
    let written = [
        "changed title from **{-before-}** to **{+after+}**".to_owned(),
        "assigned to @guest".to_owned(),
        "changed milestone to %1".to_owned(),
        "made the issue confidential".to_owned(),
        format!("added ~{wish} and removed ~{bug} labels"),
    ];
    assert_eq!(note_bodies(forge, owner, &issue), written);
    // Neither the same values again nor an empty update change anything.
    forge.clock.advance(TimeDelta::seconds(10));
    for fields in [fields, json!({}), json!({"title": "", "description": null})] {
        assert_eq!(forge.put(&path).token(owner).json(&fields).send().expect(200), expected);
    }
    assert_eq!(note_bodies(forge, owner, &issue).len(), 5);
    let bare = json!({
        "assignee_id": 0, "milestone_id": 0, "labels": "", "due_date": "", "confidential": false
    });
    let bare = forge.put(&path).token(owner).json(&bare).send().expect(200);
    assert_eq!((&bare["assignee"], &bare["milestone"]), (&Value::Null, &Value::Null));
    assert_eq!((&bare["labels"], &bare["due_date"]), (&json!([]), &Value::Null));
    assert_eq!(
        note_bodies(forge, owner, &issue)[5..],
        [
            "removed assignee".to_owned(),
            "removed milestone".to_owned(),
            "made the issue visible to everyone".to_owned(),
            format!("removed ~{wish} label"),
        ]
    );
    assert_eq!(bare["user_notes_count"], 0, "what the service wrote does not count");
}

/// PUT /projects/:id/issues/:issue_id
fn an_issue_is_closed_and_reopened(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    for (event, state, notes) in [
        ("reopen", "opened", 0),
        ("close", "closed", 1),
        ("close", "closed", 1),
        ("reopen", "reopened", 2),
        ("reopen", "reopened", 2),
        ("close", "closed", 3),
    ] {
        let changed = update_issue(forge, owner, &issue, &[("state_event", event)]);
        assert_eq!(changed["state"], state, "{event}");
        assert_eq!(note_bodies(forge, owner, &issue).len(), notes, "{event}");
    }
    assert_eq!(note_bodies(forge, owner, &issue), ["closed", "reopened", "closed"]);
    let both = update_issue(forge, owner, &issue, &[("state_event", "reopen"), ("title", "again")]);
    assert_eq!((&both["state"], &both["title"]), (&json!("reopened"), &json!("again")));
    update_issue(forge, owner, &issue, &[("state_event", "")]);
    let created = [("title", "new"), ("state_event", "close")];
    let made = forge.post(&format!("{}/issues", cast.path)).token(owner).form(&created).send();
    assert_eq!(made.expect(201)["state"], "opened", "a new issue is open");
}

/// PUT /projects/:id/issues/:issue_id
fn who_may_change_an_issue(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    let issue = new_issue(forge, owner, &cast.path, "an issue", &[]);
    let path = path_of_issue(&issue);
    for who in ["guest", "stranger", "external"] {
        let answer = forge.put(&path).token(cast.token(who)).form(&[("title", "x")]).send();
        assert_eq!(answer.expect(403), forbidden(), "{who}");
    }
    for who in ["reporter", "developer", "master", "root"] {
        let form = [("title", who), ("labels", who)];
        let changed = forge.put(&path).token(cast.token(who)).form(&form).send().expect(200);
        assert_eq!((&changed["title"], &changed["labels"]), (&json!(who), &json!([who])));
    }
    // Author and assignee may change texts and state, but nothing else.
    let stranger = cast.token("stranger");
    let own = new_issue(forge, stranger, &cast.path, "mine", &[]);
    let to_do = user_of(forge, stranger).to_string();
    let given = update_issue(forge, owner, &issue, &[("assignee_id", &to_do), ("labels", "")]);
    for issue in [&own, &given] {
        let form = [("title", "theirs"), ("state_event", "close"), ("labels", "bug")];
        let changed = update_issue(forge, stranger, issue, &form);
        assert_eq!((&changed["title"], &changed["state"]), (&json!("theirs"), &json!("closed")));
        assert_eq!(changed["labels"], json!([]));
    }
    let missing = format!("{}/issues/{MISSING}", cast.path);
    let missing = forge.put(&missing).token(stranger).form(&[("title", "x")]).send();
    assert_eq!(missing.expect(404), message("404 Not found"));
}

/// GET /projects/:id/issues/:issue_id, PUT /projects/:id/issues/:issue_id,
/// GET /projects/:id/issues/:issue_id/notes, POST /projects/:id/issues/:issue_id/subscription
fn a_confidential_issue_is_hidden_from_those_it_does_not_concern(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    let secret = new_issue(forge, owner, &cast.path, "a secret", &[("confidential", "true")]);
    // An invalid value does not make the issue public.
    let unclear = forge.put(&format!("{}/issues/{}", cast.path, id_of(&secret)));
    let kept = unclear.token(owner).form(&[("confidential", "maybe")]).send().expect(200);
    assert_eq!(kept["confidential"], true);
    let path = path_of_issue(&secret);
    let list = format!("{}/issues", cast.path);
    for who in ["guest", "stranger", "external"] {
        let token = cast.token(who);
        let hidden = forge.get(&path).token(token).send().expect(404);
        assert_eq!(hidden, message("404 Not found"), "{who}");
        let answer = forge.put(&path).token(token).form(&[("title", "x")]).send();
        assert_eq!(answer.expect(403), forbidden(), "{who}");
        assert_eq!(forge.get(&list).token(token).send().expect(200), json!([]), "{who}");
        let notes = format!("{path}/notes");
        assert_eq!(
            forge.get(&notes).token(token).send().expect(404),
            message("404 Notes Not Found")
        );
        let note = forge.post(&notes).token(token).form(&[("body", "x")]).send().expect(404);
        assert_eq!(note, message("404 Note Not Found"));
        forge.post(&format!("{path}/subscription")).token(token).send().expect(404);
        forge.post(&format!("{path}/move?to_project_id=1")).token(token).send().expect(404);
    }
    for who in ["reporter", "developer", "master", "owner", "root"] {
        forge.get(&path).token(cast.token(who)).send().expect(200);
    }
    // The assignee sees it, until another user is assigned.
    let stranger = user_of(forge, cast.token("stranger")).to_string();
    update_issue(forge, owner, &secret, &[("assignee_id", &stranger)]);
    forge.get(&path).token(cast.token("stranger")).send().expect(200);
    update_issue(forge, owner, &secret, &[("assignee_id", "0")]);
    forge.get(&path).token(cast.token("stranger")).send().expect(404);
    let own = new_issue(forge, cast.token("guest"), &cast.path, "mine", &[("confidential", "1")]);
    issue_now(forge, cast.token("guest"), &own);
}

/// DELETE /projects/:id/issues/:issue_id
fn an_issue_is_removed_by_owners(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let issue = new_issue(forge, cast.token("guest"), &cast.path, "an issue", &[("labels", "x")]);
    let path = path_of_issue(&issue);
    let missing = format!("{}/issues/{MISSING}", cast.path);
    for who in ["guest", "stranger", "reporter", "developer", "master"] {
        for path in [&path, &missing] {
            let refused = forge.delete(path).token(cast.token(who)).send().expect(403);
            assert_eq!(refused, forbidden(), "{who}");
        }
    }
    let before = issue_now(forge, ROOT, &issue);
    let gone = forge.delete(&path).token(cast.token("owner")).send().expect(200);
    assert_eq!(gone["id"], before["id"]);
    for _ in 0..2 {
        let answer = forge.delete(&path).token(cast.token("owner")).send().expect(404);
        assert_eq!(answer, message("404 Not found"));
    }
    assert_eq!(project_now(forge, id_of(&cast.project))["open_issues_count"], 0);
    let other = new_issue(forge, cast.token("owner"), &cast.path, "other", &[]);
    forge.delete(&path_of_issue(&other)).token(ROOT).send().expect(200);
}

/// POST /projects/:id/issues/:issue_id/subscription, DELETE /projects/:id/issues/:issue_id/subscription
fn participants_are_subscribed_to_an_issue(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let (owner, guest) = (cast.token("owner"), cast.token("guest"));
    let assignee = user_of(forge, cast.token("developer")).to_string();
    let more = [("assignee_id", assignee.as_str()), ("description", "cc @master, not x@reporter")];
    let issue = new_issue(forge, owner, &cast.path, "an issue", &more);
    let hears = |who: &str| issue_now(forge, cast.token(who), &issue)["subscribed"] == true;
    for (who, expected) in [
        ("owner", true),
        ("developer", true),
        ("master", true),
        ("reporter", false),
        ("guest", false),
        ("stranger", false),
        ("root", false),
    ] {
        assert_eq!(hears(who), expected, "{who}");
    }
    let path = path_of_issue(&issue);
    let note = [("body", "hello @stranger")];
    forge.post(&format!("{path}/notes")).token(guest).form(&note).send().expect(201);
    assert!(hears("guest") && hears("stranger") && !hears("reporter"));
    let subscription = format!("{path}/subscription");
    assert_unchanged(&forge.post(&subscription).token(guest).send());
    let unheard = forge.delete(&subscription).token(guest).send().expect(200);
    assert_eq!(unheard["subscribed"], false);
    assert_unchanged(&forge.delete(&subscription).token(guest).send());
    let heard = forge.post(&subscription).token(guest).send().expect(201);
    assert_eq!(heard["subscribed"], true);
    let reporter = cast.token("reporter");
    assert_unchanged(&forge.delete(&subscription).token(reporter).send());
    forge.post(&subscription).token(reporter).send().expect(201);
    assert!(hears("reporter"));
    let missing = format!("{}/issues/{MISSING}/subscription", cast.path);
    for method in ["POST", "DELETE"] {
        let answer = forge.request(method, &missing).token(guest).send().expect(404);
        assert_eq!(answer, message("404 Not found"));
    }
}

/// POST /projects/:id/issues/:issue_id/move
fn an_issue_moves_to_another_project(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let owner = cast.token("owner");
    let target = new_project(forge, owner, "Target", &[("visibility_level", "20")]);
    let target_path = path_of_project(&target);
    new_label(forge, owner, &target_path, "bug");
    let issue = new_issue(
        forge,
        cast.token("reporter"),
        &cast.path,
        "an issue",
        &[("labels", "bug,wish"), ("description", "at length")],
    );
    let path = path_of_issue(&issue);
    let note = [("body", "a note")];
    forge.post(&format!("{path}/notes")).token(cast.token("guest")).form(&note).send().expect(201);
    let (id, own) = (id_of(&target).to_string(), id_of(&cast.project).to_string());
    let go = |token: &str, to: &str| {
        forge.post(&format!("{path}/move")).token(token).form(&[("to_project_id", to)]).send()
    };
    let same = message("Cannot move issue to project it originates from!");
    assert_eq!(go(owner, &own).expect(400), same);
    let refused = message("Cannot move issue due to insufficient permissions!");
    for who in ["guest", "reporter", "stranger"] {
        assert_eq!(go(cast.token(who), &id).expect(400), refused, "{who}");
    }
    let none = forge.post(&format!("{path}/move")).token(owner).send().expect(400);
    assert_eq!(none, not_given("to_project_id"));
    let hidden = new_project(forge, ROOT, "Hidden", &[]);
    for unseen in [id_of(&hidden), MISSING] {
        assert_eq!(go(owner, &unseen.to_string()).expect(400), refused, "{unseen}");
    }
    let moved = go(owner, &id).expect(201);
    assert_eq!((&moved["project_id"], &moved["iid"]), (&target["id"], &json!(1)));
    assert_eq!((&moved["title"], &moved["description"]), (&issue["title"], &issue["description"]));
    assert_eq!((&moved["labels"], &moved["author"]), (&json!(["bug"]), &issue["author"]));
    assert_eq!((&moved["state"], &moved["user_notes_count"]), (&json!("opened"), &json!(1)));
    assert_eq!(note_bodies(forge, owner, &moved), ["a note", "moved from ada/ship#1"]);
    let old = issue_now(forge, owner, &issue);
    assert_eq!(old["state"], "closed");
    assert_eq!(note_bodies(forge, owner, &issue), ["a note", "moved to ada/target#1"]);
    assert_eq!(go(owner, &id).expect(400), refused, "once is enough");
    assert_eq!(project_now(forge, id_of(&cast.project))["open_issues_count"], 0);
    assert_eq!(project_now(forge, id_of(&target))["open_issues_count"], 1);
}

/// POST /projects/:id/issues
fn numbers_are_not_given_again(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let path = path_of_project(&new_project(forge, &ada, "Ship", &[]));
    let [one, two] = ["one", "two"].map(|title| new_issue(forge, &ada, &path, title, &[]));
    assert_eq!((&one["iid"], &two["iid"]), (&json!(1), &json!(2)));
    for issue in [&two, &one] {
        forge.delete(&path_of_issue(issue)).token(&ada).send().expect(200);
    }
    assert_eq!(new_issue(forge, &ada, &path, "three", &[])["iid"], 3);
    let other = path_of_project(&new_project(forge, &ada, "Other", &[]));
    assert_eq!(new_issue(forge, &ada, &other, "one", &[])["iid"], 1);
}

/// GET /projects/:id/issues, POST /projects/:id/issues, GET /projects/:id/issues/:issue_id
fn a_project_without_issues_has_none(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let project = new_project(forge, &ada, "Ship", &[]);
    let path = path_of_project(&project);
    let issue = new_issue(forge, &ada, &path, "an issue", &[]);
    let off = [("name", "Ship"), ("issues_enabled", "false")];
    let answer = forge.put(&path).token(&ada).form(&off).send().expect(200);
    assert_eq!(answer.get("open_issues_count"), None);
    let list = format!("{path}/issues");
    for token in [ada.as_str(), ROOT] {
        assert_eq!(forge.get(&list).token(token).send().expect(200), json!([]));
        forge.get(&path_of_issue(&issue)).token(token).send().expect(404);
        let form = [("title", "x")];
        assert_eq!(forge.post(&list).token(token).form(&form).send().expect(403), forbidden());
        let put = forge.put(&path_of_issue(&issue)).token(token).form(&form).send();
        assert_eq!(put.expect(403), forbidden());
        forge.delete(&path_of_issue(&issue)).token(token).send().expect(403);
    }
    assert_eq!(forge.get("/issues").token(&ada).send().expect(200), json!([]));
    let on = [("name", "Ship"), ("issues_enabled", "true")];
    let answer = forge.put(&path).token(&ada).form(&on).send().expect(200);
    assert_eq!(answer["open_issues_count"], 1);
}

/// projects_groups.md 3.7: GET /projects/:id, GET /projects
fn open_issues_are_counted_by_the_project(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let owner = cast.token("owner");
    let counted = || {
        let list = forge.get("/projects").token(owner).send().expect(200);
        let one = forge.get(&cast.path).token(owner).send().expect(200);
        assert_eq!(list[0]["open_issues_count"], one["open_issues_count"]);
        one["open_issues_count"].as_i64().expect("a number")
    };
    assert_eq!(counted(), 0);
    let issues = ["one", "two"].map(|title| new_issue(forge, owner, &cast.path, title, &[]));
    new_issue(forge, owner, &cast.path, "a secret", &[("confidential", "true")]);
    assert_eq!(counted(), 3);
    update_issue(forge, owner, &issues[0], &[("state_event", "close")]);
    assert_eq!(counted(), 2);
    update_issue(forge, owner, &issues[0], &[("state_event", "reopen")]);
    assert_eq!(counted(), 3);
    // Issues of a user are removed with the user.
    let (bob, token) = forge.user("bob");
    add_member(forge, &cast.path, bob, 20, &[]);
    new_issue(forge, &token, &cast.path, "bob's", &[("labels", "bug")]);
    assert_eq!(counted(), 4);
    forge.delete(&format!("/users/{bob}")).token(ROOT).send().expect(200);
    assert_eq!(counted(), 3);
    assert_eq!(
        crate::api::tracker::tracker_support::label_counts(forge, owner, &cast.path, "bug"),
        (0, 0)
    );
}
