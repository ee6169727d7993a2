//! `POST /projects/user/:user_id`: reference section 4.5.

use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::{SystemEvent, TeamFacts};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    activity_in, add_member, member_facts, new_group, path_of_group, project_facts,
};
use crate::api::projects::project_support::{assert_list, namespace_of, read};
use crate::api::support::{
    HUGE, MISSING, assert_only_for_administrators, field_error, id_of, message, queued_events,
};

on_every_store!(
    the_project_is_the_users,
    every_field_can_be_given_for_others_too,
    only_administrators_make_projects_for_others,
    a_missing_name_is_told_field_by_field,
    what_is_wrong_is_told_as_for_ones_own,
    namespaces_are_judged_by_the_rights_of_the_user,
    the_limit_is_that_of_the_user,
);

#[track_caller]
fn create(forge: &Forge, user: i64, fields: &Value) -> Value {
    forge.post(&format!("/projects/user/{user}")).token(ROOT).json(fields).send().expect(201)
}

/// POST /projects/user/:user_id
fn the_project_is_the_users(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let before = queued_events(forge).len();
    let made = create(forge, ada, &json!({"name": "Ship"}));
    assert_eq!((&made["owner"]["id"], &made["creator_id"]), (&json!(ada), &json!(ada)));
    assert_eq!(made["path_with_namespace"], "ada/ship");
    let mut shown = read(forge, ROOT, &made);
    let permissions = shown.as_object_mut().and_then(|fields| fields.remove("permissions"));
    assert_eq!(made.to_string(), shown.to_string());
    // The user is a member of the project, the administrator is not.
    assert_eq!(permissions, Some(json!({"project_access": null, "group_access": null})));
    let shown = read(forge, &token, &made);
    assert_eq!(shown["permissions"]["project_access"]["access_level"], 40);
    assert_eq!(shown["runners_token"], made["runners_token"]);
    let project = project_facts(&made, "ada", "ada@example.com");
    let member = member_facts("ada", ada, AccessLevel::Master);
    let expected = [
        SystemEvent::ProjectCreated(project.clone()),
        SystemEvent::TeamMemberAdded(TeamFacts { project, member }),
    ];
    assert_eq!(queued_events(forge)[before..], expected);
    assert_eq!(activity_in(forge, &made), [("created".to_owned(), ada)]);
    assert_list(forge, ROOT, "/projects", &[]);
}

/// POST /projects/user/:user_id
fn every_field_can_be_given_for_others_too(forge: &Forge) {
    let (ada, _) = forge.user("ada");
    let fields = json!({
        "name": "Ship", "path": "camelCasePath", "description": "d", "issues_enabled": false,
        "merge_requests_enabled": false, "builds_enabled": false, "wiki_enabled": false,
        "snippets_enabled": true, "container_registry_enabled": false,
        "shared_runners_enabled": false, "visibility_level": 10, "public_builds": false,
        "only_allow_merge_if_build_succeeds": true,
        "only_allow_merge_if_all_discussions_are_resolved": true, "lfs_enabled": false,
        "request_access_enabled": true
    });
    let made = create(forge, ada, &fields);
    for (field, value) in fields.as_object().expect("an object") {
        assert_eq!(made[field], *value, "{field}");
    }
    for (number, (fields, level)) in [
        (json!({"public": true}), 20),
        (json!({"public": false}), 0),
        (json!({"public": true, "visibility_level": 10}), 10),
        (json!({"public": false, "visibility_level": 20}), 20),
        (json!({}), 0),
    ]
    .into_iter()
    .enumerate()
    {
        let mut fields = fields;
        fields["name"] = json!(format!("p{number}"));
        assert_eq!(create(forge, ada, &fields)["visibility_level"], level, "{fields}");
    }
    let made = create(forge, ada, &json!({"name": "copy", "import_url": "http://example.com/"}));
    assert_eq!(activity_in(forge, &made), [("imported".to_owned(), ada)]);
}

/// POST /projects/user/:user_id
fn only_administrators_make_projects_for_others(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    assert_only_for_administrators(
        forge,
        &[("POST", format!("/projects/user/{ada}")), ("POST", format!("/projects/user/{MISSING}"))],
    );
    // Not even for oneself.
    let own = forge.post(&format!("/projects/user/{ada}")).token(&token);
    let own = own.form(&[("name", "Ship")]).send();
    assert_eq!(own.expect(403), message("403 Forbidden"));
    for id in [MISSING.to_string().as_str(), "0", HUGE, "ada"] {
        for form in [&[("name", "Ship")][..], &[]] {
            let path = format!("/projects/user/{id}");
            let missing = forge.post(&path).token(ROOT).form(form).send();
            assert_eq!(missing.expect(404), message("404 Not found"), "{id}");
        }
    }
    assert_list(forge, ROOT, "/projects/all", &[]);
}

/// POST /projects/user/:user_id
fn a_missing_name_is_told_field_by_field(forge: &Forge) {
    let (ada, _) = forge.user("ada");
    let path = format!("/projects/user/{ada}");
    for form in [&[][..], &[("name", " ")], &[("description", "d")]] {
        let refused = forge.post(&path).token(ROOT).form(form).send();
        refused.expect(400);
        let expected = "{\"message\":{\"name\":[\"can't be blank\",\
            \"is too short (minimum is 0 characters)\",\
            \"can contain only letters, digits, emojis, '_', '.', dash, space. \
            It must start with letter, digit, emoji or '_'.\"],\
            \"path\":[\"can't be blank\",\"is too short (minimum is 0 characters)\",\
            \"can contain only letters, digits, '_', '-' and '.'. \
            Cannot start with '-', end in '.git' or end in '.atom'\"]}}";
        assert_eq!(refused.text(), expected);
    }
}

/// POST /projects/user/:user_id
fn what_is_wrong_is_told_as_for_ones_own(forge: &Forge) {
    let (ada, _) = forge.user("ada");
    create(forge, ada, &json!({"name": "Ship"}));
    let before = queued_events(forge);
    let taken = "has already been taken";
    for (fields, expected) in [
        (json!({"name": "Ship"}), json!({"name": [taken], "path": [taken]})),
        (json!({"name": "Boat", "path": "SHIP"}), json!({"path": [taken]})),
        (
            json!({"name": "Boat", "import_url": "x"}),
            json!({"import_url": ["must be a valid URL"]}),
        ),
        (
            json!({"name": "Boat", "visibility_level": 3}),
            json!({
                "visibility_level": ["unknown has been restricted by your GitLab administrator"]
            }),
        ),
    ] {
        let refused = forge.post(&format!("/projects/user/{ada}")).token(ROOT).json(&fields).send();
        assert_eq!(refused.expect(400), json!({ "message": expected }), "{fields}");
    }
    assert_eq!(queued_events(forge), before);
    // In its own namespace root can use the name.
    create(forge, 1, &json!({"name": "Ship"}));
}

/// POST /projects/user/:user_id
fn namespaces_are_judged_by_the_rights_of_the_user(forge: &Forge) {
    let (ada, _) = forge.user("ada");
    let masters = new_group(forge, ROOT, "masters", &[]);
    add_member(forge, &path_of_group(&masters), ada, 40, &[]);
    let developers = new_group(forge, ROOT, "developers", &[]);
    add_member(forge, &path_of_group(&developers), ada, 30, &[]);
    let made = create(forge, ada, &json!({"name": "Ship", "namespace_id": id_of(&masters)}));
    assert_eq!((&made["creator_id"], made.get("owner")), (&json!(ada), None));
    assert_eq!(made["path_with_namespace"], "masters/ship");
    let of_root = namespace_of(&create(forge, 1, &json!({"name": "roots"})));
    for namespace in [id_of(&developers).to_string(), of_root, MISSING.to_string()] {
        let fields = json!({"name": "Boat", "namespace_id": namespace});
        let refused = forge.post(&format!("/projects/user/{ada}")).token(ROOT).json(&fields).send();
        assert_eq!(refused.expect(400), field_error("namespace", "is not valid"), "{namespace}");
    }
}

/// POST /projects/user/:user_id
fn the_limit_is_that_of_the_user(forge: &Forge) {
    let limit =
        |name: &str, limit: &str| id_of(&forge.new_user(name, &[("projects_limit", limit)]));
    let (one, none) = (limit("one", "1"), limit("none", "0"));
    create(forge, one, &json!({"name": "Ship"}));
    for (user, text) in [
        (one, "Your project limit is 1 projects! Please contact your administrator to increase it"),
        (
            none,
            "Personal project creation is not allowed. \
             Please contact your administrator with questions",
        ),
    ] {
        let path = format!("/projects/user/{user}");
        let refused = forge.post(&path).token(ROOT).form(&[("name", "Boat")]).send();
        assert_eq!(refused.expect(400), field_error("limit_reached", text));
    }
}
