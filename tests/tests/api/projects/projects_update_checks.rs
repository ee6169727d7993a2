//! Invalid updates of a project, on `PUT /projects/:id`: reference sections 1.12, 3.5 and 4.6.

use chrono::TimeDelta;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    in_the_original, new_group, new_project, path_of_project, project_in, project_now,
};
use crate::api::projects::project_support::{assert_list, read};
use crate::api::support::{id_of, queued_events};

on_every_store!(
    wrong_fields_are_told_and_change_nothing,
    names_and_paths_of_others_are_taken,
    a_group_bounds_the_visibility,
    a_source_bounds_the_visibility_of_its_forks,
    lowering_a_project_lowers_its_forks,
);

const TAKEN: &str = "has already been taken";

#[track_caller]
fn assert_refused(forge: &Forge, project: &Value, fields: &Value, expected: &Value) {
    let before = (project_now(forge, id_of(project)), queued_events(forge));
    let refused = forge.put(&path_of_project(project)).token(ROOT).json(fields).send();
    assert_eq!(refused.expect(400), json!({ "message": expected }), "{fields}");
    assert_eq!((project_now(forge, id_of(project)), queued_events(forge)), before, "{fields}");
}

/// PUT /projects/:id
fn wrong_fields_are_told_and_change_nothing(forge: &Forge) {
    let ship = new_project(forge, ROOT, "Ship", &[]);
    let name = "can contain only letters, digits, emojis, '_', '.', dash, space. \
                It must start with letter, digit, emoji or '_'.";
    let path = "can contain only letters, digits, '_', '-' and '.'. \
                Cannot start with '-', end in '.git' or end in '.atom'";
    let long = "is too long (maximum is 255 characters)";
    for (fields, expected) in [
        (json!({"name": "-", "description": "d"}), json!({"name": [name]})),
        (json!({"name": "Ship", "path": "x.git", "public": true}), json!({"path": [path]})),
        (json!({"name": "Ship", "path": "a b"}), json!({"path": [path]})),
        (json!({"name": "x".repeat(256)}), json!({"name": [long]})),
        (json!({"name": "Ship", "path": "x".repeat(256)}), json!({"path": [long]})),
        (
            json!({"name": "Ship", "description": "x".repeat(2001), "wiki_enabled": false}),
            json!({"description": ["is too long (maximum is 2000 characters)"]}),
        ),
        (
            json!({"name": "Ship", "import_url": "file:///x"}),
            json!({"import_url": ["must be a valid URL"]}),
        ),
        (json!({"name": "?", "path": "?"}), json!({"name": [name], "path": [path]})),
    ] {
        assert_refused(forge, &ship, &fields, &expected);
    }
}

/// PUT /projects/:id
fn names_and_paths_of_others_are_taken(forge: &Forge) {
    let ship = new_project(forge, ROOT, "Ship", &[]);
    new_project(forge, ROOT, "Boat", &[("path", "Float")]);
    new_project(forge, ROOT, "Lake", &[("path", "lake.wiki")]);
    for (fields, expected) in [
        (json!({"name": "Boat"}), json!({"name": [TAKEN]})),
        (json!({"name": "Ship", "path": "Float"}), json!({"path": [TAKEN]})),
        (json!({"name": "Ship", "path": "fLOAT"}), json!({"path": [TAKEN]})),
        (json!({"name": "Boat", "path": "float"}), json!({"name": [TAKEN], "path": [TAKEN]})),
        (json!({"name": "Ship", "path": "lake"}), json!({"name": [TAKEN]})),
        (json!({"name": "Ship", "path": "Float.wiki"}), json!({"name": [TAKEN]})),
    ] {
        assert_refused(forge, &ship, &fields, &expected);
    }
    // The same values are valid in another namespace, and so is a name in another case.
    let crew = new_group(forge, ROOT, "crew", &[]);
    let other = project_in(forge, &crew, "Other", &[]);
    for (project, fields) in [
        (&other, json!({"name": "Boat", "path": "Float"})),
        (&ship, json!({"name": "boat", "path": "ship.wiki"})),
    ] {
        forge.put(&path_of_project(project)).token(ROOT).json(&fields).send().expect(200);
    }
}

/// PUT /projects/:id
fn a_group_bounds_the_visibility(forge: &Forge) {
    let hidden = new_group(forge, ROOT, "hidden", &[("visibility_level", "0")]);
    let inner = new_group(forge, ROOT, "inner", &[("visibility_level", "10")]);
    let one = project_in(forge, &hidden, "One", &[]);
    let two = project_in(forge, &inner, "Two", &[]);
    for (project, name, field, text) in [
        (&one, "One", json!({"public": true}), "public is not allowed in a private group."),
        (
            &one,
            "One",
            json!({"visibility_level": 10}),
            "internal is not allowed in a private group.",
        ),
        (
            &two,
            "Two",
            json!({"visibility_level": 20}),
            "public is not allowed in a internal group.",
        ),
    ] {
        let mut fields = field;
        fields["name"] = json!(name);
        assert_refused(forge, project, &fields, &json!({ "visibility_level": [text] }));
    }
    let fields = json!({"name": "Two", "visibility_level": 10});
    forge.put(&path_of_project(&two)).token(ROOT).json(&fields).send().expect(200);
}

#[track_caller]
fn fork(forge: &Forge, token: &str, source: &Value, namespace: &str) -> Value {
    let path = format!("/projects/fork/{}", id_of(source));
    forge.post(&path).token(token).form(&[("namespace", namespace)]).send().expect(201)
}

/// PUT /projects/:id
fn a_source_bounds_the_visibility_of_its_forks(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let source = new_project(forge, ROOT, "Ship", &[("visibility_level", "10")]);
    let forked = fork(forge, &token, &source, "ada");
    let text = "public is not allowed since the fork source project has lower visibility.";
    for fields in
        [json!({"name": "Ship", "public": true}), json!({"name": "Ship", "visibility_level": 20})]
    {
        assert_refused(forge, &forked, &fields, &json!({ "visibility_level": [text] }));
    }
    for level in [0, 10] {
        let fields = json!({"name": "Ship", "visibility_level": level});
        forge.put(&path_of_project(&forked)).token(&token).json(&fields).send().expect(200);
    }
    // Without a source it is an ordinary project.
    forge.delete(&path_of_project(&source)).token(ROOT).send().expect(200);
    let fields = json!({"name": "Ship", "public": true});
    forge.put(&path_of_project(&forked)).token(&token).json(&fields).send().expect(200);
}

/// PUT /projects/:id
fn lowering_a_project_lowers_its_forks(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let source = new_project(forge, ROOT, "Ship", &[("public", "true")]);
    new_group(forge, ROOT, "crew", &[]);
    new_group(forge, ROOT, "club", &[]);
    let [high, low] =
        [(&token, "ada"), (&ROOT.to_owned(), "crew")].map(|(t, n)| fork(forge, t, &source, n));
    let other = new_project(forge, &token, "Other", &[("public", "true")]);
    let set = |project: &Value, name: &str, level: i64| {
        let fields = json!({"name": name, "visibility_level": level});
        forge.put(&path_of_project(project)).token(ROOT).json(&fields).send().expect(200);
    };
    let levels = || {
        [&source, &high, &low, &other]
            .map(|project| read(forge, ROOT, project)["visibility_level"].as_i64())
            .map(|level| level.expect("a number"))
    };
    set(&low, "Ship", 0);
    assert_eq!(levels(), [20, 20, 0, 20]);
    forge.clock.advance(TimeDelta::seconds(5));
    set(&source, "Ship", 10);
    assert_eq!(levels(), [10, 10, 0, 20]);
    set(&source, "Ship", 0);
    assert_eq!(levels(), [0, 0, 0, 20]);
    // Raising the visibility of the source does not change the forks.
    set(&source, "Ship", 20);
    assert_eq!(levels(), [20, 0, 0, 20]);
    assert_list(forge, &token, "/projects?visibility=private", &["Ship"]);
}

/// PUT /projects/:id
#[test]
fn rules_without_a_row_are_the_same_in_the_original() {
    in_the_original(wrong_fields_are_told_and_change_nothing);
    in_the_original(names_and_paths_of_others_are_taken);
}
