//! Milestones: users_hooks_events.md section 11.4.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{activity_in, error, forbidden};
use crate::api::projects::project_support::a_cast;
use crate::api::support::{MISSING, id_of, message};
use crate::api::tracker::tracker_support::{field_values, new_issue};

on_every_store!(
    a_milestone_is_made_and_read,
    milestones_are_listed_newest_first,
    what_is_wrong_with_a_milestone_is_told,
    a_milestone_is_changed_closed_and_activated,
    milestones_are_for_masters_to_make,
    issues_of_a_milestone_are_those_the_reader_sees,
);

/// POST /projects/:id/milestones, GET /projects/:id/milestones/:milestone_id
fn a_milestone_is_made_and_read(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let path = format!("{}/milestones", cast.path);
    let fields = json!({"title": "1.0", "description": "soon", "due_date": "2016-12-24"});
    let made = forge.post(&path).token(cast.token("master")).json(&fields).send().expect(201);
    let expected = json!({
        "id": id_of(&made), "iid": 1, "project_id": id_of(&cast.project), "title": "1.0",
        "description": "soon", "state": "active", "created_at": "2016-09-22T10:30:00.000Z",
        "updated_at": "2016-09-22T10:30:00.000Z", "due_date": "2016-12-24"
    });
    assert_eq!(made, expected);
    let one = format!("{path}/{}", id_of(&made));
    assert_eq!(forge.get(&one).token(cast.token("guest")).send().expect(200), expected);
    let bare = forge.post(&path).token(ROOT).form(&[("title", "2.0")]).send().expect(201);
    assert_eq!((&bare["iid"], &bare["due_date"]), (&json!(2), &Value::Null));
    let missing = forge.get(&format!("{path}/{MISSING}")).token(ROOT).send().expect(404);
    assert_eq!(missing, message("404 Not found"));
    let strange = forge.get(&format!("{path}/x")).token(ROOT).send().expect(400);
    assert_eq!(strange, error("milestone_id is invalid"));
}

/// GET /projects/:id/milestones
fn milestones_are_listed_newest_first(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let (path, owner) = (format!("{}/milestones", cast.path), cast.token("owner"));
    for title in ["one", "two", "three"] {
        let made = forge.post(&path).token(owner).form(&[("title", title)]).send().expect(201);
        if title == "two" {
            let one = format!("{path}/{}", id_of(&made));
            forge.put(&one).token(owner).form(&[("state_event", "close")]).send().expect(200);
        }
    }
    for (query, expected) in [
        ("", vec!["three", "two", "one"]),
        ("?state=active", vec!["three", "one"]),
        ("?state=closed", vec!["two"]),
        ("?state=all", vec!["three", "two", "one"]),
        ("?iid=2", vec!["two"]),
        ("?iid[]=1&iid[]=3", vec!["three", "one"]),
        ("?iid%5B%5D=2&state=active", vec![]),
        ("?per_page=1&page=2", vec!["two"]),
    ] {
        let list = forge.get(&format!("{path}{query}")).token(cast.token("stranger")).send();
        assert_eq!(field_values(&list.expect(200), "title"), expected, "{query}");
    }
    let wrong = forge.get(&format!("{path}?state=open")).token(owner).send().expect(400);
    assert_eq!(wrong, error("state does not have a valid value"));
}

/// POST /projects/:id/milestones, PUT /projects/:id/milestones/:milestone_id
fn what_is_wrong_with_a_milestone_is_told(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (path, owner) = (format!("{}/milestones", cast.path), cast.token("owner"));
    let [_, two] = ["one", "two"]
        .map(|title| forge.post(&path).token(owner).form(&[("title", title)]).send().expect(201));
    let one = format!("{path}/{}", id_of(&two));
    for (fields, problem) in [
        (json!({"title": "one"}), "{:title=>[\"has already been taken\"]}"),
        (json!({"title": " "}), "{:title=>[\"can't be blank\"]}"),
        (
            json!({"title": "x".repeat(256)}),
            "{:title=>[\"is too long (maximum is 255 characters)\"]}",
        ),
    ] {
        let answer = forge.post(&path).token(owner).json(&fields).send().expect(400);
        assert_eq!(answer, message(&format!("Failed to create milestone {problem}")));
        let answer = forge.put(&one).token(owner).json(&fields).send().expect(400);
        assert_eq!(answer, message(&format!("Failed to update milestone {problem}")));
    }
    let missing = forge.post(&path).token(owner).send().expect(400);
    assert_eq!(missing, error("title is missing"));
    let day = json!({"title": "x", "due_date": "soon"});
    for (method, path) in [("POST", &path), ("PUT", &one)] {
        let answer = forge.request(method, path).token(owner).json(&day).send().expect(400);
        assert_eq!(answer, error("due_date is invalid"));
    }
    let none = forge.put(&one).token(owner).send().expect(400);
    let all = "title, description, due_date, state_event are missing, at least one parameter must be provided";
    assert_eq!(none, error(all));
    let burn = forge.put(&one).token(owner).form(&[("state_event", "reopen")]).send().expect(400);
    assert_eq!(burn, error("state_event does not have a valid value"));
}

/// PUT /projects/:id/milestones/:milestone_id
fn a_milestone_is_changed_closed_and_activated(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let (path, owner) = (format!("{}/milestones", cast.path), cast.token("owner"));
    let form = [("title", "1.0"), ("due_date", "2016-12-24")];
    let made = forge.post(&path).token(owner).form(&form).send().expect(201);
    let one = format!("{path}/{}", id_of(&made));
    let put = |form: &[(&str, &str)]| forge.put(&one).token(owner).form(form).send().expect(200);
    forge.clock.advance(TimeDelta::seconds(3));
    let changed = put(&[("title", "1.1"), ("description", "d"), ("due_date", "")]);
    assert_eq!((&changed["title"], &changed["description"]), (&json!("1.1"), &json!("d")));
    assert_eq!(changed["due_date"], Value::Null);
    assert_eq!(changed["updated_at"], "2016-09-22T10:30:03.000Z");
    for (event, state) in
        [("activate", "active"), ("close", "closed"), ("close", "closed"), ("activate", "active")]
    {
        assert_eq!(put(&[("state_event", event)])["state"], state, "{event}");
    }
    let done: Vec<String> =
        activity_in(forge, &cast.project).into_iter().map(|(action, _)| action).collect();
    assert_eq!(done[..3], ["opened", "closed", "opened"]);
    let events = forge.get(&format!("{}/events", cast.path)).token(owner).send().expect(200);
    assert_eq!(
        (&events[0]["target_type"], &events[0]["target_id"]),
        (&json!("Milestone"), &made["id"])
    );
    assert_eq!(events[2]["target_title"], "1.1", "the title that it has now");
}

/// POST /projects/:id/milestones, PUT /projects/:id/milestones/:milestone_id
fn milestones_are_for_masters_to_make(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let path = format!("{}/milestones", cast.path);
    let made = forge.post(&path).token(ROOT).form(&[("title", "1.0")]).send().expect(201);
    for who in ["stranger", "guest", "reporter", "developer"] {
        for (method, path) in [("POST", &path), ("PUT", &format!("{path}/{}", id_of(&made)))] {
            let answer = forge.request(method, path).token(cast.token(who));
            let answer = answer.form(&[("title", "x")]).send().expect(403);
            assert_eq!(answer, forbidden(), "{who} {method}");
        }
    }
}

/// GET /projects/:id/milestones/:milestone_id/issues
fn issues_of_a_milestone_are_those_the_reader_sees(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let (path, owner) = (format!("{}/milestones", cast.path), cast.token("owner"));
    let made = forge.post(&path).token(owner).form(&[("title", "1.0")]).send().expect(201);
    let id = id_of(&made).to_string();
    for (title, secret) in [("one", "false"), ("two", "true"), ("three", "false")] {
        forge.clock.advance(TimeDelta::seconds(1));
        let more = [("milestone_id", id.as_str()), ("confidential", secret)];
        new_issue(forge, owner, &cast.path, title, &more);
    }
    new_issue(forge, owner, &cast.path, "other", &[]);
    let issues = format!("{path}/{id}/issues");
    let list = |who: &str| forge.get(&issues).token(cast.token(who)).send().expect(200);
    assert_eq!(field_values(&list("owner"), "title"), ["three", "two", "one"]);
    assert_eq!(field_values(&list("stranger"), "title"), ["three", "one"]);
    assert_eq!(list("owner")[0]["milestone"], made);
    let missing = format!("{path}/{MISSING}/issues");
    assert_eq!(forge.get(&missing).token(owner).send().expect(404), message("404 Not found"));
}
