//! `GET /projects/:id/events`: reference sections 4.3, 6.1, 6.2 and 6.4.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    activity_in, add_member, new_group, new_project, no_project, path_of_group, path_of_project,
    project_in,
};
use crate::api::projects::project_support::{a_cast, read};
use crate::api::support::{MISSING, assert_only_for_users, id_of};

on_every_store!(
    an_event_of_a_project_shows_its_fields_in_order,
    members_come_and_go_under_their_own_names,
    groups_and_owners_come_and_go_silently,
    who_makes_a_project_for_another_joins_it,
    activity_is_noted_once_an_hour,
    events_come_in_pages,
    events_are_for_those_who_read_the_project,
);

/// GET /projects/:id/events
fn an_event_of_a_project_shows_its_fields_in_order(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let ship = new_project(forge, &token, "Ship", &[]);
    let expected = json!([{
        "title": null, "project_id": id_of(&ship), "action_name": "created", "target_id": null,
        "target_type": null, "author_id": ada, "data": null, "target_title": null,
        "created_at": "2016-09-22T10:30:00.000Z",
        "author": {
            "name": "ada", "username": "ada", "id": ada, "state": "active",
            "avatar_url":
                "http://www.gravatar.com/avatar/3e3417d7ef77d5932a6734b916515ed5?s=80&d=identicon",
            "web_url": "http://forge.test/ada"
        },
        "author_username": "ada"
    }]);
    for path in [path_of_project(&ship), "/projects/ADA%2Fship".to_owned()] {
        let events = forge.get(&format!("{path}/events")).token(&token).send();
        events.expect(200);
        assert_eq!(events.text(), expected.to_string());
    }
    // The feed of the user shows the same event.
    let feed = forge.get(&format!("/users/{ada}/events")).token(&token).send();
    assert_eq!(feed.text(), expected.to_string());
}

/// POST /projects and POST /projects/fork/:id into the namespace of another user, 6.2: "not for the project's own
/// owner"
fn who_makes_a_project_for_another_joins_it(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let ship = new_project(forge, ROOT, "Ship", &[("visibility_level", "20")]);
    let root = |action: &str| (action.to_owned(), 1);
    assert_eq!(activity_in(forge, &ship), [root("created")]);
    let own = new_project(forge, &token, "Own", &[]);
    let namespace = own["namespace"]["id"].to_string();
    let gift = new_project(forge, ROOT, "Gift", &[("namespace_id", &namespace)]);
    let into = [("namespace", "ada")];
    let source = format!("/projects/fork/{}", id_of(&ship));
    let fork = forge.post(&source).token(ROOT).form(&into).send().expect(201);
    for made in [gift, fork] {
        assert_eq!(activity_in(forge, &made), [root("joined"), root("created")]);
    }
}

/// GET /projects/:id/events
fn members_come_and_go_under_their_own_names(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, bob_token) = forge.user("bob");
    let (cid, _) = forge.user("cid");
    let ship = new_project(forge, &token, "Ship", &[]);
    let path = path_of_project(&ship);
    add_member(forge, &path, bob, 10, &[]);
    add_member(forge, &path, cid, 40, &[]);
    // Neither a change of the level nor adding the member again is an event.
    let member = format!("{path}/members/{bob}");
    forge.put(&member).token(ROOT).form(&[("access_level", "20")]).send().expect(200);
    add_member(forge, &path, bob, 30, &[]);
    forge.delete(&member).token(&bob_token).send().expect(200);
    forge.delete(&format!("{path}/members/{cid}")).token(&token).send().expect(200);
    let expected =
        [("left", cid), ("left", bob), ("joined", cid), ("joined", bob), ("created", ada)];
    assert_eq!(activity_in(forge, &ship), expected.map(|(word, who)| (word.to_owned(), who)));
    let events = forge.get(&format!("{path}/events")).token(&token).send().expect(200);
    for event in events.as_array().expect("a list") {
        for field in ["title", "target_id", "target_type", "target_title", "data"] {
            assert_eq!(event[field], Value::Null, "{field}");
        }
        assert_eq!(event["author"]["username"], event["author_username"]);
    }
}

/// GET /projects/:id/events
fn groups_and_owners_come_and_go_silently(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, _) = forge.user("bob");
    let crew = new_group(forge, &token, "crew", &[]);
    let ship = project_in(forge, &crew, "Ship", &[]);
    add_member(forge, &path_of_group(&crew), bob, 30, &[]);
    let member = format!("{}/members/{bob}", path_of_group(&crew));
    forge.delete(&member).token(&token).send().expect(200);
    assert_eq!(activity_in(forge, &ship), [("created".to_owned(), 1)]);
    // It is no event when the owner is added to a project that an administrator created in their namespace.
    let own = new_project(forge, &token, "Own", &[]);
    let home = id_of(&own["namespace"]).to_string();
    let gift = new_project(forge, ROOT, "Gift", &[("namespace_id", home.as_str())]);
    let before = activity_in(forge, &gift);
    add_member(forge, &path_of_project(&gift), ada, 40, &[]);
    assert_eq!(activity_in(forge, &gift), before);
}

/// GET /projects/:id/events
fn activity_is_noted_once_an_hour(forge: &Forge) {
    let users = ["bob", "cid", "dan"].map(|name| forge.user(name).0);
    let ship = new_project(forge, ROOT, "Ship", &[]);
    for (user, minutes, noted) in [
        (users[0], 30, "2016-09-22T10:30:00.000Z"),
        (users[1], 30, "2016-09-22T11:30:00.000Z"),
        (users[2], 59, "2016-09-22T11:30:00.000Z"),
    ] {
        forge.clock.advance(TimeDelta::minutes(minutes));
        add_member(forge, &path_of_project(&ship), user, 10, &[]);
        assert_eq!(read(forge, ROOT, &ship)["last_activity_at"], noted);
    }
    assert_eq!(activity_in(forge, &ship).len(), 4);
}

/// GET /projects/:id/events
fn events_come_in_pages(forge: &Forge) {
    let (bob, _) = forge.user("bob");
    let ship = new_project(forge, ROOT, "Ship", &[]);
    let path = path_of_project(&ship);
    for _ in 0..11 {
        add_member(forge, &path, bob, 10, &[]);
        forge.delete(&format!("{path}/members/{bob}")).token(ROOT).send().expect(200);
    }
    for (query, count, first) in [
        ("", 20, Some("left")),
        ("?page=2", 3, Some("left")),
        ("?page=2&per_page=11", 11, Some("joined")),
        ("?page=23&per_page=1", 1, Some("created")),
        ("?page=9", 0, None),
    ] {
        let events = forge.get(&format!("{path}/events{query}")).token(ROOT).send();
        let list = events.expect(200);
        assert_eq!(list.as_array().map(Vec::len), Some(count), "{query}");
        assert_eq!(list[0]["action_name"].as_str(), first, "{query}");
        assert_eq!(events.header("X-Total"), Some("23"), "{query}");
    }
}

/// GET /projects/:id/events
fn events_are_for_those_who_read_the_project(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let path = format!("{}/events", cast.path);
    let missing = format!("/projects/{MISSING}/events");
    assert_only_for_users(forge, &[("GET", path.clone()), ("GET", missing.clone())]);
    assert_eq!(forge.get(&missing).token(ROOT).send().expect(404), no_project());
    for (level, hidden_from) in
        [("0", &["stranger", "external"][..]), ("10", &["external"]), ("20", &[])]
    {
        let form = [("name", "Ship"), ("visibility_level", level)];
        forge.put(&cast.path).token(ROOT).form(&form).send().expect(200);
        for who in ["guest", "developer", "owner", "root", "stranger", "external"] {
            let answer = forge.get(&path).token(cast.token(who)).send();
            if hidden_from.contains(&who) {
                assert_eq!(answer.expect(404), no_project(), "{who} {level}");
                assert_eq!(answer.header("X-Total"), None);
            } else {
                // Everybody who sees the project sees all events.
                assert_eq!(answer.expect(200).as_array().map(Vec::len), Some(5), "{who} {level}");
            }
        }
    }
}
