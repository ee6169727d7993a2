//! Invalid projects on `POST /projects`: reference sections 1.12, 3.5 and 4.4.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{new_group, new_project, project_in};
use crate::api::projects::project_support::assert_list;
use crate::api::support::{field_error, id_of, message, queued_events};

on_every_store!(
    names_have_rules,
    paths_have_rules,
    texts_have_a_length,
    names_and_paths_are_taken_within_a_namespace,
    a_wiki_needs_its_path,
    nothing_in_a_group_is_more_visible_than_the_group,
    everything_wrong_is_told_at_once_and_nothing_is_made,
);

const TAKEN: &str = "has already been taken";
const NAME: &str = "can contain only letters, digits, emojis, '_', '.', dash, space. \
                    It must start with letter, digit, emoji or '_'.";
const PATH: &str = "can contain only letters, digits, '_', '-' and '.'. \
                    Cannot start with '-', end in '.git' or end in '.atom'";

#[track_caller]
fn refused(forge: &Forge, fields: &Value) -> Value {
    forge.post("/projects").token(ROOT).json(fields).send().expect(400)
}

/// POST /projects
fn names_have_rules(forge: &Forge) {
    for name in ["-x", ".x", " x", "a/b", "a:b", "a+b", "<b>", "a\nb", "?"] {
        let answer = refused(forge, &json!({"name": name, "path": "fine"}));
        assert_eq!(answer, field_error("name", NAME), "{name}");
    }
    for (number, name) in
        ["0", "_x", "Ünïcödé", "日本", "🚀 ship", "a-b–c.d e", "©opy"].into_iter().enumerate()
    {
        let path = format!("p{number}");
        let made = new_project(forge, ROOT, name, &[("path", path.as_str())]);
        assert_eq!(made["name"], name);
    }
}

/// POST /projects
fn paths_have_rules(forge: &Forge) {
    for path in ["-x", "a b", "a/b", "ü", "x.git", "x.atom", "a:b", "..", ".", "a\\b", "a%2Fb"] {
        let answer = refused(forge, &json!({"name": "fine", "path": path}));
        assert_eq!(answer, field_error("path", PATH), "{path}");
    }
    for (number, path) in
        ["x.", ".x", "_", "a-", "X.Y-z_0", "git", "admin", "projects"].into_iter().enumerate()
    {
        let made = new_project(forge, ROOT, &format!("n{number}"), &[("path", path)]);
        assert_eq!(made["path"], path);
    }
}

/// POST /projects
fn texts_have_a_length(forge: &Forge) {
    let long = |count: usize| "x".repeat(count);
    let fits = json!({"name": long(255), "path": long(255), "description": "ü".repeat(2000)});
    let made = forge.post("/projects").token(ROOT).json(&fits).send().expect(201);
    assert_eq!(made["description"], fits["description"]);
    let answer =
        refused(forge, &json!({"name": long(256), "path": long(256), "description": long(2001)}));
    let short = "is too long (maximum is 255 characters)";
    let expected = json!({
        "name": [short], "path": [short],
        "description": ["is too long (maximum is 2000 characters)"]
    });
    assert_eq!(answer, json!({ "message": expected }));
}

/// POST /projects
fn names_and_paths_are_taken_within_a_namespace(forge: &Forge) {
    new_project(forge, ROOT, "The Ship", &[("path", "Boat")]);
    for (name, path, fields) in [
        ("The Ship", "Boat", json!({"name": [TAKEN], "path": [TAKEN]})),
        ("The Ship", "other", json!({"name": [TAKEN]})),
        ("Other", "Boat", json!({"path": [TAKEN]})),
        ("Other", "bOAT", json!({"path": [TAKEN]})),
    ] {
        let answer = refused(forge, &json!({"name": name, "path": path}));
        assert_eq!(answer, json!({ "message": fields }), "{name} {path}");
    }
    // Names are case-sensitive, and unique only within a namespace.
    new_project(forge, ROOT, "the ship", &[("path", "ship")]);
    let crew = new_group(forge, ROOT, "crew", &[]);
    project_in(forge, &crew, "The Ship", &[("path", "Boat")]);
    let (_, ada) = forge.user("ada");
    new_project(forge, &ada, "The Ship", &[("path", "Boat")]);
}

/// POST /projects
fn a_wiki_needs_its_path(forge: &Forge) {
    new_project(forge, ROOT, "one", &[("path", "foo")]);
    new_project(forge, ROOT, "two", &[("path", "bar.wiki")]);
    for path in ["foo.wiki", "bar"] {
        let answer = refused(forge, &json!({"name": "three", "path": path}));
        assert_eq!(answer, field_error("name", TAKEN), "{path}");
    }
    let (_, ada) = forge.user("ada");
    new_project(forge, &ada, "three", &[("path", "foo.wiki")]);
}

/// POST /projects
fn nothing_in_a_group_is_more_visible_than_the_group(forge: &Forge) {
    let group = |name: &str, level: &str| {
        id_of(&new_group(forge, ROOT, name, &[("visibility_level", level)]))
    };
    let (private, internal) = (group("hidden", "0"), group("inner", "10"));
    for (group, level, text) in [
        (private, 20, "public is not allowed in a private group."),
        (private, 10, "internal is not allowed in a private group."),
        (internal, 20, "public is not allowed in a internal group."),
    ] {
        let fields = json!({"name": "p", "namespace_id": group, "visibility_level": level});
        assert_eq!(refused(forge, &fields), field_error("visibility_level", text));
    }
    for (group, level) in [(private, 0), (internal, 10), (group("open", "20"), 20)] {
        let fields = json!({"name": "p", "namespace_id": group, "visibility_level": level});
        let made = forge.post("/projects").token(ROOT).json(&fields).send().expect(201);
        assert_eq!(made["visibility_level"], level);
    }
}

/// POST /projects
fn everything_wrong_is_told_at_once_and_nothing_is_made(forge: &Forge) {
    let before = queued_events(forge);
    let fields = json!({
        "name": "-", "path": "-", "visibility_level": 7, "import_url": "nowhere",
        "description": "x".repeat(2001)
    });
    let expected = json!({
        "name": [NAME], "path": [PATH],
        "visibility_level": ["unknown has been restricted by your GitLab administrator"],
        "import_url": ["must be a valid URL"],
        "description": ["is too long (maximum is 2000 characters)"]
    });
    assert_eq!(refused(forge, &fields), json!({ "message": expected }));
    let structure = forge.post("/projects").token(ROOT).json(&json!({"name": ["x"]})).send();
    assert_eq!(structure.expect(400), json!({"error": "name is invalid"}));
    assert_eq!(queued_events(forge), before);
    assert_list(forge, ROOT, "/projects/all", &[]);
    let gone = forge.get("/projects/root%2F-").token(ROOT).send();
    assert_eq!(gone.expect(404), message("404 Project Not Found"));
}
