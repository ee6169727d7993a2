//! Notification settings: rest_of_v3.md section 8.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Response, on_every_store};
use serde_json::{Value, json};

use crate::api::everywhere::concurrent_calls::{at_once, statuses};
use crate::api::groups::group_support::{
    add_member, error, fields_of, new_group, new_project, no_group, no_project, path_of_group,
    path_of_project,
};
use crate::api::support::{assert_only_for_users, field_error, id_of, message};

on_every_store!(
    settings_have_defaults_and_change_one_by_one,
    every_level_is_shown_and_unknown_ones_are_refused,
    events_are_shown_with_custom_only,
    events_are_booleans,
    the_address_is_one_of_the_users_own,
    a_refused_change_changes_nothing,
    readers_have_settings_for_groups_and_projects,
    permissions_show_the_number_of_the_level,
    settings_of_one_user_are_changed_at_once,
    only_users_have_settings,
    fields_have_the_order_of_the_reference,
    a_removed_address_that_is_added_again_is_not_chosen,
);

const EVENTS: [&str; 12] = [
    "new_note",
    "new_issue",
    "reopen_issue",
    "close_issue",
    "reassign_issue",
    "new_merge_request",
    "reopen_merge_request",
    "close_merge_request",
    "reassign_merge_request",
    "merge_merge_request",
    "failed_pipeline",
    "success_pipeline",
];

fn put(forge: &Forge, token: &str, below: &str, form: &[(&str, &str)]) -> Response {
    forge.put(&format!("{below}/notification_settings")).token(token).form(form).send()
}

#[track_caller]
fn get(forge: &Forge, token: &str, below: &str) -> Value {
    forge.get(&format!("{below}/notification_settings")).token(token).send().expect(200)
}

/// A user with a group and a project, and the prefixes of the three kinds of settings.
fn a_user_with_scopes(forge: &Forge) -> (String, [String; 3]) {
    let (_, ada) = forge.user("ada");
    let group = new_group(forge, &ada, "team", &[]);
    let project = new_project(forge, &ada, "Ship", &[]);
    (ada, [String::new(), path_of_group(&group), path_of_project(&project)])
}

/// GET /notification_settings, PUT /notification_settings, GET /groups/:id/notification_settings,
/// PUT /groups/:id/notification_settings, GET /projects/:id/notification_settings,
/// PUT /projects/:id/notification_settings
fn settings_have_defaults_and_change_one_by_one(forge: &Forge) {
    let (ada, [all, group, project]) = a_user_with_scopes(forge);
    let email = forge.get("/user").token(&ada).send().expect(200)["email"].clone();
    let expected = json!({"level": "participating", "notification_email": email});
    assert_eq!(get(forge, &ada, &all).to_string(), expected.to_string());
    let source = json!({"level": "global"});
    assert_eq!(get(forge, &ada, &group), source);
    assert_eq!(get(forge, &ada, &project), source);
    assert_eq!(put(forge, &ada, &project, &[]).expect(200), source, "without any parameter");
    let watch = put(forge, &ada, &project, &[("level", "watch")]).expect(200);
    assert_eq!(watch, json!({"level": "watch"}));
    assert_eq!(get(forge, &ada, &project), watch);
    assert_eq!(get(forge, &ada, &group), source);
    assert_eq!(get(forge, &ada, &all), expected);
    assert_eq!(get(forge, ROOT, &project), source, "settings of others stay");
}

/// PUT /notification_settings and its twins.
fn every_level_is_shown_and_unknown_ones_are_refused(forge: &Forge) {
    let (ada, scopes) = a_user_with_scopes(forge);
    for below in &scopes {
        for level in ["disabled", "participating", "watch", "global", "mention", "custom"] {
            assert_eq!(put(forge, &ada, below, &[("level", level)]).expect(200)["level"], level);
            assert_eq!(get(forge, &ada, below)["level"], level);
        }
        for level in ["invalid", "Watch", "2", ""] {
            let answer = put(forge, &ada, below, &[("level", level)]).expect(400);
            assert_eq!(answer, message(&format!("'{level}' is not a valid level")));
        }
        // A long one is not repeated as a whole.
        let long = put(forge, &ada, below, &[("level", &"ü".repeat(1000))]).expect(400);
        assert_eq!(long, message(&format!("'{}' is not a valid level", "ü".repeat(50))));
        assert_eq!(get(forge, &ada, below)["level"], "custom");
    }
}

/// PUT /notification_settings and its twins: events are remembered without `custom`.
fn events_are_shown_with_custom_only(forge: &Forge) {
    let (ada, scopes) = a_user_with_scopes(forge);
    for below in &scopes {
        let set = |form: &[(&str, &str)]| put(forge, &ada, below, form).expect(200);
        assert_eq!(set(&[("new_note", "true")]).get("events"), None);
        let shown = set(&[("level", "custom"), ("failed_pipeline", "1")]);
        let fields: Vec<&String> = shown["events"].as_object().expect("an object").keys().collect();
        assert_eq!(fields, EVENTS);
        for event in EVENTS {
            let expected = event == "new_note" || event == "failed_pipeline";
            assert_eq!(shown["events"][event], expected, "{event}");
        }
        assert_eq!(set(&[("level", "mention")]).get("events"), None);
        assert_eq!(set(&[("level", "custom")]), shown);
        for event in EVENTS {
            assert_eq!(set(&[(event, "true")])["events"][event], true);
            assert_eq!(set(&[(event, "false")])["events"][event], false);
        }
    }
}

/// PUT /notification_settings and its twins: declared parameters come before the project or group.
fn events_are_booleans(forge: &Forge) {
    let (ada, scopes) = a_user_with_scopes(forge);
    for below in &scopes {
        for event in EVENTS {
            let answer = put(forge, &ada, below, &[(event, "x"), ("level", "watch")]);
            assert_eq!(answer.expect(400), error(&format!("{event} is invalid")));
        }
        assert_ne!(get(forge, &ada, below)["level"], "watch");
    }
    for unknown in ["/projects/987654", "/groups/987654"] {
        let answer = put(forge, &ada, unknown, &[("new_note", "x")]);
        assert_eq!(answer.expect(400), error("new_note is invalid"), "{unknown}");
    }
}

/// PUT /notification_settings: the address falls back to the primary one.
fn the_address_is_one_of_the_users_own(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (bob, bobs) = forge.user("bob");
    let email = |token: &str| forge.get("/user").token(token).send().expect(200)["email"].clone();
    let primary = email(&ada);
    let add = |address: &str| {
        forge.post("/user/emails").token(&ada).form(&[("email", address)]).send().expect(201)
    };
    let second = add("second@example.com");
    let set = |address: &str| put(forge, &ada, "", &[("notification_email", address)]);
    let shown = || get(forge, &ada, "")["notification_email"].clone();
    assert_eq!(set("second@example.com").expect(200)["notification_email"], second["email"]);
    let refusal = field_error("notification_email", "is not an email you own");
    let others = email(&bobs);
    for address in [others.as_str().expect("an address"), "nobody@example.com", "x", ""] {
        assert_eq!(set(address).expect(400), refusal, "{address}");
    }
    assert_eq!(shown(), second["email"]);
    let path = format!("/user/emails/{}", id_of(&second));
    forge.delete(&path).token(&ada).send().expect(200);
    assert_eq!(shown(), primary);
    let form = [("email", "second@example.com"), ("name", "bob")];
    forge.put(&format!("/users/{bob}")).token(ROOT).form(&form).send().expect(200);
    assert_eq!(shown(), primary, "the address of another user now");
    let primary = primary.as_str().expect("an address");
    assert_eq!(set(&primary.to_uppercase()).expect(200)["notification_email"], primary);
    let group = path_of_group(&new_group(forge, &ada, "team", &[]));
    let project = path_of_project(&new_project(forge, &ada, "Ship", &[]));
    for below in [group, project] {
        let answer = put(forge, &ada, &below, &[("notification_email", "nobody@example.com")]);
        assert_eq!(answer.expect(200), json!({"level": "global"}), "not a parameter there");
    }
}

/// PUT /notification_settings: all or nothing.
fn a_refused_change_changes_nothing(forge: &Forge) {
    let (ada, [all, ..]) = a_user_with_scopes(forge);
    put(forge, &ada, &all, &[("level", "custom")]).expect(200);
    let before = get(forge, &ada, &all);
    for form in [
        [("level", "watch"), ("notification_email", "nobody@example.com"), ("new_note", "true")],
        [("level", "invalid"), ("new_issue", "true"), ("new_note", "true")],
        [("level", "watch"), ("new_issue", "true"), ("new_note", "maybe")],
    ] {
        put(forge, &ada, &all, &form).expect(400);
        assert_eq!(get(forge, &ada, &all), before, "{form:?}");
    }
}

/// GET /groups/:id/notification_settings, PUT /groups/:id/notification_settings,
/// GET /projects/:id/notification_settings, PUT /projects/:id/notification_settings
fn readers_have_settings_for_groups_and_projects(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (_, eve) = forge.user("eve");
    let hidden_group = new_group(forge, &ada, "team", &[("visibility_level", "0")]);
    let hidden = new_project(forge, &ada, "Ship", &[]);
    for (path, answer) in [
        (path_of_group(&hidden_group), no_group()),
        ("/groups/987654".to_owned(), no_group()),
        (path_of_project(&hidden), no_project()),
        ("/projects/987654".to_owned(), no_project()),
    ] {
        let path = format!("{path}/notification_settings");
        assert_eq!(forge.get(&path).token(&eve).send().expect(404), answer);
        let put = forge.put(&path).token(&eve).form(&[("level", "invalid")]).send();
        assert_eq!(put.expect(404), answer);
    }
    let group = new_group(forge, &ada, "open", &[("visibility_level", "20")]);
    let project = new_project(forge, &ada, "Open", &[("visibility_level", "10")]);
    for below in [path_of_group(&group), path_of_project(&project)] {
        put(forge, &eve, &below, &[("level", "watch")]).expect(200);
        assert_eq!(get(forge, &eve, &below), json!({"level": "watch"}));
        assert_eq!(get(forge, &ada, &below), json!({"level": "global"}));
    }
    let path = path_of_project(&project);
    forge.post(&format!("{path}/archive")).token(&ada).send().expect(201);
    put(forge, &eve, &path, &[("level", "disabled")]).expect(200);
}

/// GET /projects/:id: `notification_level` in `permissions`.
fn permissions_show_the_number_of_the_level(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (eve, eves) = forge.user("eve");
    let group = new_group(forge, &ada, "team", &[("visibility_level", "20")]);
    let namespace = id_of(&group).to_string();
    let more = [("namespace_id", namespace.as_str()), ("visibility_level", "20")];
    let project = new_project(forge, &ada, "Ship", &more);
    let (of_group, of_project) = (path_of_group(&group), path_of_project(&project));
    let permissions = || {
        let project = forge.get(&of_project).token(&eves).send().expect(200);
        let level = |source: &str| project["permissions"][source]["notification_level"].clone();
        [level("project_access"), level("group_access")]
    };
    put(forge, &eves, &of_project, &[("level", "mention")]).expect(200);
    assert_eq!(permissions(), [Value::Null, Value::Null], "no membership");
    add_member(forge, &of_project, eve, 30, &[]);
    add_member(forge, &of_group, eve, 10, &[]);
    assert_eq!(permissions(), [json!(4), json!(3)], "a new membership shows the level");
    for (number, level) in
        ["disabled", "participating", "watch", "global", "mention", "custom"].iter().enumerate()
    {
        for below in [&of_project, &of_group] {
            put(forge, &eves, below, &[("level", level)]).expect(200);
        }
        assert_eq!(permissions(), [json!(number), json!(number)]);
        let list = forge.get("/projects").token(&eves).send().expect(200);
        let access = &list[0]["permissions"]["project_access"];
        assert_eq!(access["notification_level"], number);
    }
    let member = format!("{of_project}/members/{eve}");
    let form = [("access_level", "40")];
    forge.put(&member).token(&ada).form(&form).send().expect(200);
    assert_eq!(permissions()[0], json!(5), "another access level keeps it");
}

/// PUT /projects/:id/notification_settings
fn settings_of_one_user_are_changed_at_once(forge: &Forge) {
    let (ada, [.., project]) = a_user_with_scopes(forge);
    put(forge, &ada, &project, &[("level", "custom")]).expect(200);
    for round in 0..4 {
        let events = &EVENTS[round * 3..][..3];
        let set = |event: &'static str| put(forge, &ada, &project, &[(event, "true")]);
        let answers = at_once([&|| set(events[0]), &|| set(events[1]), &|| set(events[2])]);
        assert_eq!(statuses(&answers), [200; 3]);
    }
    let shown = get(forge, &ada, &project);
    let all = EVENTS.iter().all(|event| shown["events"][event] == true);
    assert!(all, "{shown}");
}

/// GET /notification_settings and its twins.
fn only_users_have_settings(forge: &Forge) {
    let (_, [all, group, project]) = a_user_with_scopes(forge);
    let mut calls = Vec::new();
    for below in [all, group, project] {
        for method in ["GET", "PUT"] {
            calls.push((method, format!("{below}/notification_settings")));
        }
    }
    assert_only_for_users(forge, &calls);
}

/// Section 8: "`level`, (`events`), `notification_email`", in this order. PUT /notification_settings and its twins.
fn fields_have_the_order_of_the_reference(forge: &Forge) {
    let (ada, scopes) = a_user_with_scopes(forge);
    let expected: [&[&str]; 3] =
        [&["level", "events", "notification_email"], &["level", "events"], &["level", "events"]];
    for (below, expected) in scopes.iter().zip(expected) {
        let shown = put(forge, &ada, below, &[("level", "custom")]).expect(200);
        assert_eq!(fields_of(&shown), expected, "{below}");
        assert_eq!(get(forge, &ada, below).to_string(), shown.to_string(), "{below}");
    }
}

/// PUT /notification_settings, DELETE /user/emails/:id: "falls back to the primary address when its secondary address
/// is removed", also after the address is added again.
fn a_removed_address_that_is_added_again_is_not_chosen(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let shown = || get(forge, &ada, "")["notification_email"].clone();
    let primary = shown();
    let add = || {
        let form = [("email", "second@example.com")];
        id_of(&forge.post("/user/emails").token(&ada).form(&form).send().expect(201))
    };
    let second = add();
    put(forge, &ada, "", &[("notification_email", "second@example.com")]).expect(200);
    forge.delete(&format!("/user/emails/{second}")).token(&ada).send().expect(200);
    assert_eq!(shown(), primary);
    add();
    assert_eq!(shown(), primary);
}
