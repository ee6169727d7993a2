//! `GET /users/:id/events`: reference sections 6.1 and 6.5.

use hexforge_domain::event::{EventAction, EventTarget, NewEvent};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain_testing::builders::{a_project, a_push, an_event, at, home_of};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{add_member, external_user, new_project, path_of_project};
use crate::api::support::{HUGE, MISSING, assert_only_for_users, id_of, message, no_route};

on_every_store!(
    an_event_shows_its_fields_in_order,
    every_action_has_its_word,
    a_feed_has_the_events_of_its_user_newest_first_in_pages,
    a_feed_is_silent_about_projects_that_its_reader_does_not_see,
    feeds_are_for_users_and_of_users_who_exist,
);

/// A public project of a user, without events.
fn project_of(forge: &Forge, user: i64, name: &str) -> ProjectId {
    let home = home_of(&*forge.app.store, UserId(user));
    a_project(name, home, UserId(user)).public().stored_in(&*forge.app.store).id
}

fn record(forge: &Forge, events: impl IntoIterator<Item = NewEvent> + Send) {
    let recorded: Result<(), StoreError> = forge.app.store.write(|tx| {
        for event in events {
            tx.events().insert(event)?;
        }
        Ok(())
    });
    recorded.expect("events can be written");
}

/// GET /users/:id/events
fn an_event_shows_its_fields_in_order(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let issue = EventTarget {
        kind: "Issue".to_owned(),
        id: Some(42),
        title: Some("It <breaks> & burns".to_owned()),
        belongs_to: None,
    };
    let gone =
        EventTarget { kind: "Milestone".to_owned(), id: None, title: None, belongs_to: None };
    let [one, two] = ["one", "two"].map(|name| project_of(forge, ada, name));
    let of_ada = || an_event(one, UserId(ada));
    record(
        forge,
        [
            of_ada(),
            NewEvent {
                action: EventAction::PushedNew,
                push: Some(Box::new(a_push(one, UserId(ada)))),
                at: at(1),
                ..of_ada()
            },
            NewEvent {
                project: two,
                action: EventAction::Closed,
                target: Some(issue),
                at: at(2) + chrono::TimeDelta::milliseconds(5),
                ..of_ada()
            },
            NewEvent { action: EventAction::Destroyed, target: Some(gone), at: at(3), ..of_ada() },
        ],
    );
    let line = |project: ProjectId,
                action: &str,
                target: [Value; 3],
                data: Value,
                created_at: &str| {
        let [id, kind, title] = target;
        json!({
            "title": null, "project_id": project.0, "action_name": action, "target_id": id,
            "target_type": kind, "author_id": ada, "data": data, "target_title": title,
            "created_at": created_at,
            "author": {
                "name": "ada", "username": "ada", "id": ada, "state": "active",
                "avatar_url":
                    "http://www.gravatar.com/avatar/3e3417d7ef77d5932a6734b916515ed5?s=80&d=identicon",
                "web_url": "http://forge.test/ada"
            },
            "author_username": "ada"
        })
    };
    let url = "http://forge.test/ada/site";
    let (http, ssh) = (format!("{url}.git"), "ssh://git@forge.test:2222/ada/site.git");
    let id = "1".repeat(40);
    let push = json!({
        "object_kind": "push", "event_name": "push", "before": "0".repeat(40), "after": id,
        "ref": "refs/heads/master", "checkout_sha": id, "message": "Don't \"quote\" 🦀",
        "user_id": ada, "user_name": "Ada", "user_email": "ada@example.com",
        "user_avatar": format!("http://forge.test/uploads/user/avatar/{ada}/ada.png"),
        "project_id": one.0,
        "project": {
            "name": "Site", "description": "About it", "web_url": url,
            "avatar_url": format!("{url}/avatar"),
            "git_ssh_url": ssh, "git_http_url": http, "namespace": "ada", "visibility_level": 10,
            "path_with_namespace": "ada/site", "default_branch": "master", "homepage": url,
            "url": ssh, "ssh_url": ssh, "http_url": http
        },
        "commits": [{
            "id": id, "message": "Fix it\n\nNow.\n", "timestamp": "2016-09-22T03:30:00-07:00",
            "url": format!("{url}/commit/{id}"),
            "author": {"name": "Ada", "email": "ada@example.com"},
            "added": ["a"], "modified": ["b/c"], "removed": ["d", "ü"]
        }],
        "total_commits_count": 1,
        "repository": {
            "name": "Site", "url": ssh, "description": "About it", "homepage": url,
            "git_http_url": http, "git_ssh_url": ssh, "visibility_level": 10
        }
    });
    let none = || [Value::Null, Value::Null, Value::Null];
    let issue = [json!(42), json!("Issue"), json!("It <breaks> & burns")];
    let gone = [Value::Null, json!("Milestone"), Value::Null];
    let expected = json!([
        line(one, "destroyed", gone, Value::Null, "2016-09-22T10:30:03.000Z"),
        line(two, "closed", issue, Value::Null, "2016-09-22T10:30:02.005Z"),
        line(one, "pushed new", none(), push, "2016-09-22T10:30:01.000Z"),
        line(one, "created", none(), Value::Null, "2016-09-22T10:30:00.000Z"),
    ]);
    let feed = forge.get(&format!("/users/{ada}/events")).token(&token).send();
    feed.expect(200);
    assert_eq!(feed.text(), expected.to_string());
}

/// GET /users/:id/events
fn every_action_has_its_word(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    use EventAction::*;
    let words = [
        (Created, "created"),
        (Imported, "imported"),
        (Opened, "opened"),
        (Closed, "closed"),
        (PushedNew, "pushed new"),
        (PushedTo, "pushed to"),
        (Deleted, "deleted"),
        (CommentedOn, "commented on"),
        (Accepted, "accepted"),
        (Joined, "joined"),
        (Left, "left"),
        (Destroyed, "destroyed"),
        (Expired, "removed due to membership expiration from"),
    ];
    let project = project_of(forge, ada, "one");
    record(forge, words.map(|(action, _)| NewEvent { action, ..an_event(project, UserId(ada)) }));
    let feed = forge.get(&format!("/users/{ada}/events")).token(&token).send().expect(200);
    let feed = feed.as_array().expect("a list");
    let shown: Vec<_> = feed.iter().rev().map(|event| &event["action_name"]).collect();
    assert_eq!(shown, words.map(|(_, word)| word));
    // A removed comment leaves no note in the event.
    assert!(feed.iter().all(|event| event.get("note").is_none() && event.get("id").is_none()));
}

/// GET /users/:id/events
fn a_feed_has_the_events_of_its_user_newest_first_in_pages(forge: &Forge) {
    let (ada, _) = forge.user("ada");
    let (bob, token) = forge.user("bob");
    let path = format!("/users/{ada}/events");
    let empty = forge.get(&path).token(&token).send();
    assert_eq!((empty.expect(200), empty.header("X-Total")), (json!([]), Some("0")));
    let projects: Vec<ProjectId> =
        (1..=23).map(|number| project_of(forge, ada, &format!("p{number}"))).collect();
    let events = projects
        .iter()
        .flat_map(|project| [ada, bob].map(|author| an_event(*project, UserId(author))));
    record(forge, events);
    let number = |id: &Value| projects.iter().position(|project| *id == project.0);
    for (query, expected) in [
        ("", (4..=23).rev().collect::<Vec<usize>>()),
        ("?page=2", vec![3, 2, 1]),
        ("?page=3&per_page=5", vec![13, 12, 11, 10, 9]),
        ("?page=9", vec![]),
        ("?user_id=1&id=1&per_page=1", vec![23]),
    ] {
        for token in [&token, ROOT] {
            let feed = forge.get(&format!("{path}{query}")).token(token).send();
            assert_eq!(feed.header("X-Total"), Some("23"), "{query}");
            let list = feed.expect(200);
            let list = list.as_array().expect("a list");
            let shown: Vec<_> =
                list.iter().filter_map(|event| number(&event["project_id"])).collect();
            let places: Vec<_> = expected.iter().map(|number| number - 1).collect();
            assert_eq!(shown, places, "{query}");
            assert!(list.iter().all(|event| event["author_id"] == ada));
        }
    }
    // The feed of a blocked user can be read, and shows the author as blocked.
    forge.put(&format!("/users/{ada}/block")).token(ROOT).send().expect(200);
    let feed = forge.get(&path).token(&token).send().expect(200);
    assert_eq!(feed[0]["author"]["state"], "blocked");
}

/// GET /users/:id/events
fn a_feed_is_silent_about_projects_that_its_reader_does_not_see(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, bob_token) = forge.user("bob");
    let (_, eve_token) = external_user(forge, "eve");
    let [secret, inner, open] = [("secret", "0"), ("inner", "10"), ("open", "20")]
        .map(|(name, level)| new_project(forge, &token, name, &[("visibility_level", level)]));
    let assert_seen = |token: &str, expected: &[&Value]| {
        let feed = forge.get(&format!("/users/{ada}/events")).token(token).send();
        let list = feed.expect(200);
        let shown: Vec<_> = list.as_array().expect("a list").iter().collect();
        let shown: Vec<_> = shown.iter().filter_map(|event| event["project_id"].as_i64()).collect();
        assert_eq!(shown, expected.iter().map(|project| id_of(project)).collect::<Vec<_>>());
        assert_eq!(feed.header("X-Total"), Some(expected.len().to_string().as_str()));
    };
    assert_seen(&token, &[&open, &inner, &secret]);
    // Administrators see no more than others.
    for token in [&bob_token, ROOT] {
        assert_seen(token, &[&open, &inner]);
    }
    assert_seen(&eve_token, &[&open]);
    add_member(forge, &path_of_project(&secret), bob, 10, &[]);
    assert_seen(&bob_token, &[&open, &inner, &secret]);
    let own = format!("{}/members/{bob}", path_of_project(&secret));
    forge.delete(&own).token(&bob_token).send().expect(200);
    assert_seen(&bob_token, &[&open, &inner]);
    // Bob's feed no longer shows events of a project that he left.
    let feed = forge.get(&format!("/users/{bob}/events")).token(&bob_token).send();
    assert_eq!(feed.expect(200), json!([]));
    let feed = forge.get(&format!("/users/{bob}/events")).token(&token).send().expect(200);
    assert_eq!(
        (&feed[0]["action_name"], &feed[1]["action_name"]),
        (&json!("left"), &json!("joined"))
    );
}

/// GET /users/:id/events
fn feeds_are_for_users_and_of_users_who_exist(forge: &Forge) {
    let (_, token) = forge.user("ada");
    assert_only_for_users(
        forge,
        &[("GET", "/users/1/events".into()), ("GET", format!("/users/{MISSING}/events"))],
    );
    for id in [MISSING.to_string().as_str(), "0", HUGE] {
        for token in [&token, ROOT] {
            let missing = forge.get(&format!("/users/{id}/events")).token(token).send();
            assert_eq!(missing.expect(404), message("404 User Not Found"), "{id}");
        }
    }
    for id in ["root", "1x", "-1"] {
        let unknown = forge.get(&format!("/users/{id}/events")).token(ROOT).send().expect(404);
        assert_eq!(unknown, no_route(), "{id}");
    }
    let written = forge.post("/users/1/events").token(ROOT).send().expect(404);
    assert_eq!(written, no_route());
}
