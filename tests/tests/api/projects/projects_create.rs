//! `POST /projects`: reference sections 1.6, 3.4, 3.5, 3.8, 3.9 and 4.4.

use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::{SystemEvent, TeamFacts};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{activity_in, fields_of, member_facts, project_facts};
use crate::api::projects::project_support::{not_given, read};
use crate::api::support::{field_error, id_of, queued_events};

on_every_store!(
    a_new_project_has_the_defaults,
    every_field_can_be_given,
    blank_fields_are_not_given,
    visibility_is_said_in_two_ways,
    paths_are_made_of_names,
    a_new_project_is_news_and_activity,
    an_imported_project_says_so,
);

#[track_caller]
fn create(forge: &Forge, token: &str, fields: &Value) -> Value {
    forge.post("/projects").token(token).json(fields).send().expect(201)
}

/// POST /projects
fn a_new_project_has_the_defaults(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let made = create(forge, &token, &json!({"name": "Ship"}));
    for (field, expected) in [
        ("description", Value::Null),
        ("default_branch", Value::Null),
        ("tag_list", json!([])),
        ("public", json!(false)),
        ("archived", json!(false)),
        ("visibility_level", json!(0)),
        ("name", json!("Ship")),
        ("path", json!("ship")),
        ("container_registry_enabled", json!(true)),
        ("issues_enabled", json!(true)),
        ("merge_requests_enabled", json!(true)),
        ("wiki_enabled", json!(true)),
        ("builds_enabled", json!(true)),
        ("snippets_enabled", json!(false)),
        ("shared_runners_enabled", json!(true)),
        ("lfs_enabled", json!(true)),
        ("creator_id", json!(ada)),
        ("star_count", json!(0)),
        ("forks_count", json!(0)),
        ("open_issues_count", json!(0)),
        ("public_builds", json!(true)),
        ("shared_with_groups", json!([])),
        ("only_allow_merge_if_build_succeeds", json!(false)),
        ("request_access_enabled", json!(false)),
        ("only_allow_merge_if_all_discussions_are_resolved", json!(false)),
        ("created_at", json!("2016-09-22T10:30:00.000Z")),
        ("last_activity_at", json!("2016-09-22T10:30:00.000Z")),
    ] {
        assert_eq!(made[field], expected, "{field}");
    }
    assert_eq!(made["owner"]["id"], ada);
    // The response equals that of a read, without the permissions of the reader.
    let mut shown = read(forge, &token, &made);
    let fields = shown.as_object_mut().expect("an object");
    let permissions = fields.remove("permissions").expect("reading shows permissions");
    assert_eq!(permissions["project_access"]["access_level"], 40);
    assert_eq!(made.to_string(), shown.to_string());
    assert!(fields_of(&made).contains(&"runners_token"));
}

/// POST /projects
fn every_field_can_be_given(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let fields = json!({
        "name": "Ship", "path": "camelCasePath", "description": "d", "issues_enabled": false,
        "merge_requests_enabled": false, "builds_enabled": false, "wiki_enabled": false,
        "snippets_enabled": true, "container_registry_enabled": false,
        "shared_runners_enabled": false, "visibility_level": 10, "public_builds": false,
        "only_allow_merge_if_build_succeeds": true,
        "only_allow_merge_if_all_discussions_are_resolved": true, "lfs_enabled": false,
        "request_access_enabled": true
    });
    let made = create(forge, &token, &fields);
    for (field, value) in fields.as_object().expect("an object") {
        assert_eq!(made[field], *value, "{field}");
    }
    assert_eq!(made["path_with_namespace"], "ada/camelCasePath");
    assert_eq!(made.get("open_issues_count"), None);
    assert_eq!(made["public"], false);
    // The same as a form, with other words for booleans.
    let form = [
        ("name", "Boat"),
        ("issues_enabled", "off"),
        ("snippets_enabled", "YES"),
        ("wiki_enabled", "nonsense"),
        ("lfs_enabled", "0"),
        ("unknown", "x"),
        ("archived", "true"),
        ("star_count", "7"),
    ];
    let made = forge.post("/projects").token(&token).form(&form).send().expect(201);
    for (field, expected) in [
        ("issues_enabled", json!(false)),
        ("snippets_enabled", json!(true)),
        ("wiki_enabled", json!(false)),
        ("lfs_enabled", json!(false)),
        ("archived", json!(false)),
        ("star_count", json!(0)),
    ] {
        assert_eq!(made[field], expected, "{field}");
    }
}

/// POST /projects
fn blank_fields_are_not_given(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let made = create(
        forge,
        &token,
        &json!({
            "name": "Ship", "path": " ", "description": "", "issues_enabled": "",
            "visibility_level": "", "public": " ", "namespace_id": "", "import_url": "",
            "lfs_enabled": null
        }),
    );
    assert_eq!((&made["path"], &made["description"]), (&json!("ship"), &Value::Null));
    assert_eq!((&made["issues_enabled"], &made["lfs_enabled"]), (&json!(true), &json!(true)));
    assert_eq!(made["visibility_level"], 0);
    for name in [json!(""), json!("  "), Value::Null] {
        let refused = forge.post("/projects").token(&token).json(&json!({"name": name})).send();
        assert_eq!(refused.expect(400), not_given("name"));
    }
}

/// POST /projects
fn visibility_is_said_in_two_ways(forge: &Forge) {
    let (_, token) = forge.user("ada");
    for (number, (fields, level)) in [
        (json!({"public": true}), 20),
        (json!({"public": "false"}), 0),
        (json!({"public": "nonsense"}), 0),
        (json!({"visibility_level": 0}), 0),
        (json!({"visibility_level": "10"}), 10),
        (json!({"visibility_level": 20}), 20),
        (json!({"visibility_level": 10, "public": true}), 10),
        (json!({"visibility_level": 20, "public": false}), 20),
        (json!({"visibility_level": 0, "public": true}), 0),
    ]
    .into_iter()
    .enumerate()
    {
        let mut fields = fields;
        fields["name"] = json!(format!("p{number}"));
        let made = create(forge, &token, &fields);
        assert_eq!(made["visibility_level"], level, "{fields}");
        assert_eq!(made["public"], level == 20, "{fields}");
    }
    let unknown =
        field_error("visibility_level", "unknown has been restricted by your GitLab administrator");
    for level in [json!(5), json!(-1), json!("secret"), json!(21)] {
        for token in [token.as_str(), ROOT] {
            let fields = json!({"name": "wrong", "visibility_level": level});
            let refused = forge.post("/projects").token(token).json(&fields).send();
            assert_eq!(refused.expect(400), unknown, "{level}");
        }
    }
}

/// POST /projects
fn paths_are_made_of_names(forge: &Forge) {
    let (_, token) = forge.user("ada");
    for (name, path) in [
        ("Foo Bar 2.0", "foo-bar-2-0"),
        ("My_Lib", "my_lib"),
        ("Über Straße", "uber-strasse"),
        ("_x.", "_x"),
    ] {
        let made = create(forge, &token, &json!({"name": name}));
        assert_eq!((&made["name"], &made["path"]), (&json!(name), &json!(path)));
    }
    let nothing = forge.post("/projects").token(&token).json(&json!({"name": "日本"})).send();
    assert_eq!(nothing.expect(400)["message"]["path"][0], "can't be blank");
}

/// POST /projects
fn a_new_project_is_news_and_activity(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let before = queued_events(forge).len();
    let made = create(forge, &token, &json!({"name": "Ship", "visibility_level": 10}));
    let project = project_facts(&made, "ada", "ada@example.com");
    let member = member_facts("ada", ada, AccessLevel::Master);
    let expected = [
        SystemEvent::ProjectCreated(project.clone()),
        SystemEvent::TeamMemberAdded(TeamFacts { project, member }),
    ];
    assert_eq!(queued_events(forge)[before..], expected);
    // The membership of the owner is not an event.
    assert_eq!(activity_in(forge, &made), [("created".to_owned(), ada)]);
    let members = format!("/projects/{}/members", id_of(&made));
    let members = forge.get(&members).token(&token).send().expect(200);
    assert_eq!((members.as_array().map(Vec::len), &members[0]["id"]), (Some(1), &json!(ada)));
    assert_eq!(
        (&members[0]["access_level"], &members[0]["expires_at"]),
        (&json!(40), &json!(null))
    );
}

/// POST /projects
fn an_imported_project_says_so(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    for (name, url) in [
        ("a", "http://example.com/a.git"),
        ("b", "https://me:secret@example.com/b"),
        ("c", "ssh://git@example.com/c"),
        ("d", "git://example.com/d"),
    ] {
        let made = create(forge, &token, &json!({"name": name, "import_url": url}));
        assert_eq!(activity_in(forge, &made), [("imported".to_owned(), ada)]);
        assert_eq!(made["default_branch"], Value::Null);
        assert!(!made.to_string().contains("secret"));
    }
    for url in ["file:///etc/passwd", "example.com/a.git", "ext::sh", "http://", "javascript://x y"]
    {
        let fields = json!({"name": "wrong", "import_url": url});
        let refused = forge.post("/projects").token(&token).json(&fields).send();
        assert_eq!(refused.expect(400), field_error("import_url", "must be a valid URL"), "{url}");
    }
}
