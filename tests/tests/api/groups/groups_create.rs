//! `POST /groups`: reference sections 1.12 and 2.4.

use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::SystemEvent;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    error, external_user, forbidden, group_facts, group_member, new_group, path_of_group,
};
use crate::api::support::{assert_only_for_users, id_of, message, queued_events};

on_every_store!(
    whoever_makes_a_group_owns_it,
    every_field_can_be_given,
    an_empty_name_is_the_path,
    name_and_path_have_to_be_there,
    making_groups_is_for_users,
    the_right_is_asked_for_after_the_parameters_and_before_the_rules,
    paths_are_checked,
    names_are_checked,
    paths_and_names_are_taken_once_by_users_and_groups_together,
    unknown_visibility_levels_are_refused_to_everybody,
    everything_that_is_wrong_is_told_in_one_sentence,
);

#[track_caller]
fn refused(forge: &Forge, form: &[(&str, &str)]) -> Value {
    let before = queued_events(forge).len();
    let refused = forge.post("/groups").token(ROOT).form(form).send().expect(400);
    assert_eq!(queued_events(forge).len(), before, "a refused request creates no event");
    refused
}

fn failed(errors: &str) -> Value {
    message(&format!("Failed to save group {errors}"))
}

/// POST /groups
fn whoever_makes_a_group_owns_it(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let before = queued_events(forge).len();
    let form = [("name", "The Team"), ("path", "team")];
    let made = forge.post("/groups").token(&token).form(&form).send();
    let group = made.expect(201);
    let expected = json!({
        "id": id_of(&group), "name": "The Team", "path": "team", "description": "",
        "visibility_level": 20, "lfs_enabled": true, "avatar_url": null,
        "web_url": "http://forge.test/groups/team", "request_access_enabled": false
    });
    assert_eq!(made.text(), expected.to_string());
    let members = forge.get("/groups/team/members").token(&token).send().expect(200);
    assert_eq!(members.as_array().map(Vec::len), Some(1));
    assert_eq!((&members[0]["id"], &members[0]["access_level"]), (&json!(ada), &json!(50)));
    assert_eq!(members[0]["expires_at"], Value::Null);
    assert_eq!(
        queued_events(forge)[before..],
        [
            SystemEvent::GroupCreated(group_facts(&group)),
            SystemEvent::GroupMemberAdded(group_member(&group, "ada", ada, AccessLevel::Owner)),
        ]
    );
    let events = forge.get(&format!("/users/{ada}/events")).token(&token).send().expect(200);
    assert_eq!(events, json!([]));
}

/// POST /groups
fn every_field_can_be_given(forge: &Forge) {
    for (level, lfs, requests) in [(0, false, true), (10, true, false), (20, false, false)] {
        let given = json!({
            "name": format!("Team {level} – é"), "path": format!("Team-{level}_x.y"),
            "description": "about <us>", "visibility_level": level, "lfs_enabled": lfs,
            "request_access_enabled": requests, "id": 5, "owner_id": 7, "avatar": "x"
        });
        let group = forge.post("/groups").token(ROOT).json(&given).send().expect(201);
        for field in [
            "name",
            "path",
            "description",
            "visibility_level",
            "lfs_enabled",
            "request_access_enabled",
        ] {
            assert_eq!(group[field], given[field], "{field}");
        }
        let read = forge.get(&path_of_group(&group)).token(ROOT).send().expect(200);
        for (field, value) in group.as_object().expect("an object") {
            assert_eq!(read[field], *value, "{field}");
        }
    }
    // Empty values of other types count as missing.
    let form = [("visibility_level", ""), ("lfs_enabled", ""), ("description", "")];
    let group = new_group(forge, ROOT, "plain", &form);
    assert_eq!((&group["visibility_level"], &group["lfs_enabled"]), (&json!(20), &json!(true)));
}

/// POST /groups
fn an_empty_name_is_the_path(forge: &Forge) {
    let form = [("name", ""), ("path", "team")];
    let group = forge.post("/groups").token(ROOT).form(&form).send().expect(201);
    assert_eq!((&group["name"], &group["path"]), (&json!("team"), &json!("team")));
}

/// POST /groups
fn name_and_path_have_to_be_there(forge: &Forge) {
    for (form, text) in [
        (vec![], "name is missing, path is missing"),
        (vec![("path", "p")], "name is missing"),
        (vec![("name", "n")], "path is missing"),
        (
            vec![
                ("request_access_enabled", "x"),
                ("lfs_enabled", "maybe"),
                ("visibility_level", "public"),
            ],
            "name is missing, path is missing, visibility_level is invalid, \
             lfs_enabled is invalid, request_access_enabled is invalid",
        ),
    ] {
        assert_eq!(refused(forge, &form), error(text), "{form:?}");
    }
    let list = json!({"name": ["a"], "path": "p"});
    let structured = forge.post("/groups").token(ROOT).json(&list).send().expect(400);
    assert_eq!(structured, error("name is invalid"));
}

/// POST /groups
fn making_groups_is_for_users(forge: &Forge) {
    assert_only_for_users(forge, &[("POST", "/groups".into())]);
}

/// POST /groups
fn the_right_is_asked_for_after_the_parameters_and_before_the_rules(forge: &Forge) {
    forge.new_user("ada", &[("can_create_group", "false")]);
    let (_, external) = external_user(forge, "eve");
    for token in [forge.sign_in("ada"), external] {
        let missing = forge.post("/groups").token(&token).form(&[("name", "n")]).send();
        assert_eq!(missing.expect(400), error("path is missing"));
        for path in ["team", "admin", "-", "root"] {
            let form = [("name", "n"), ("path", path)];
            let refused = forge.post("/groups").token(&token).form(&form).send();
            assert_eq!(refused.expect(403), forbidden(), "{path}");
        }
    }
    assert_eq!(forge.get("/groups").token(ROOT).send().expect(200), json!([]));
}

/// POST /groups
fn paths_are_checked(forge: &Forge) {
    let format = "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end \
                  in '.', '.git' or '.atom'.";
    let long = "a".repeat(256);
    for (path, text) in [
        ("-a", format),
        ("a.", format),
        ("a.git", format),
        ("a.atom", format),
        ("a b", format),
        ("a/b", format),
        ("größe", format),
        ("admin", "admin is a reserved name"),
        ("groups", "groups is a reserved name"),
        ("api", "api is a reserved name"),
        (".well-known", ".well-known is a reserved name"),
        (long.as_str(), "is too long (maximum is 255 characters)"),
        ("", "can't be blank"),
    ] {
        let refused = refused(forge, &[("name", "n"), ("path", path)]);
        assert_eq!(refused, failed(&format!("{{:path=>[\"{text}\"]}}")), "{path}");
    }
    // Reserved only in exactly this case. A single character and the longest path are valid.
    for path in ["Admin", "a", "7", "_", ".a", &long[1..]] {
        new_group(forge, ROOT, path, &[]);
    }
}

/// POST /groups
fn names_are_checked(forge: &Forge) {
    let format = "can contain only letters, digits, '_', '.', dash and space.";
    let long = "ä".repeat(256);
    for (name, text) in [
        ("a/b", format),
        ("<b>", format),
        ("a\nb", format),
        (long.as_str(), "is too long (maximum is 255 characters)"),
    ] {
        let refused = refused(forge, &[("name", name), ("path", "team")]);
        assert_eq!(refused, failed(&format!("{{:name=>[\"{text}\"]}}")), "{name}");
    }
    let description =
        refused(forge, &[("name", "n"), ("path", "p"), ("description", &"d".repeat(256))]);
    let text = "{:description=>[\"is too long (maximum is 255 characters)\"]}";
    assert_eq!(description, failed(text));
    let form = [("name", "日本語 – 1_2.3"), ("path", "p"), ("description", &"d".repeat(255))];
    forge.post("/groups").token(ROOT).form(&form).send().expect(201);
}

/// POST /groups
fn paths_and_names_are_taken_once_by_users_and_groups_together(forge: &Forge) {
    forge.user("ada");
    new_group(forge, ROOT, "Team", &[]);
    let taken = |field: &str| failed(&format!("{{:{field}=>[\"has already been taken\"]}}"));
    for (name, path, field) in [
        ("other", "Team", "path"),
        ("other", "tEAM", "path"),
        ("other", "ada", "path"),
        ("other", "ADA", "path"),
        ("Team", "other", "name"),
        ("ada", "other", "name"),
    ] {
        let refused = refused(forge, &[("name", name), ("path", path)]);
        assert_eq!(refused, taken(field), "{name} {path}");
    }
    // Names are case-sensitive.
    let form = [("name", "team"), ("path", "other")];
    forge.post("/groups").token(ROOT).form(&form).send().expect(201);
    // A user cannot take the path of a group.
    let user = [
        ("username", "TEAM"),
        ("name", "t"),
        ("email", "team@example.com"),
        ("password", "long enough"),
    ];
    forge.post("/users").token(ROOT).form(&user).send().expect(400);
}

/// POST /groups
fn unknown_visibility_levels_are_refused_to_everybody(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let text =
        "{:visibility_level=>[\"unknown has been restricted by your GitLab administrator\"]}";
    for token in [ada.as_str(), ROOT] {
        for level in ["1", "-1", "30", "99999999999999999999"] {
            let form = [("name", "n"), ("path", "p"), ("visibility_level", level)];
            let refused = forge.post("/groups").token(token).form(&form).send().expect(400);
            assert_eq!(refused, failed(text), "{level}");
        }
    }
}

/// POST /groups
fn everything_that_is_wrong_is_told_in_one_sentence(forge: &Forge) {
    let form = [("name", "a/b"), ("path", "admin"), ("visibility_level", "7")];
    let text = "{:name=>[\"can contain only letters, digits, '_', '.', dash and space.\"], \
                :path=>[\"admin is a reserved name\"], \
                :visibility_level=>[\"unknown has been restricted by your GitLab administrator\"]}";
    assert_eq!(refused(forge, &form), failed(text));
}
