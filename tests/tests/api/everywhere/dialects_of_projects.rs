//! The differences between the two dialects that concern projects: rows 10 and 11 of the table.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{forbidden, in_the_original, new_project, no_project};
use crate::api::projects::project_support::{a_cast, not_given, read};
use crate::api::support::{MISSING, id_of, message};

on_every_store!(row_10_in_the_specification, row_11_in_the_specification);

#[test]
fn row_10_in_the_original() {
    in_the_original(|forge| row_10(forge, NameIs::Optional));
}

fn row_10_in_the_specification(forge: &Forge) {
    row_10(forge, NameIs::Required);
}

/// Whether an update must include the name of the project.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NameIs {
    Required,
    Optional,
}

/// Row 10: PUT /projects/:id
fn row_10(forge: &Forge, name: NameIs) {
    let cast = a_cast(forge, "0");
    let nameless = json!({"description": "d", "name": ""});
    for who in ["master", "owner", "root"] {
        for fields in [&nameless, &json!({"description": "d"})] {
            let answer = forge.put(&cast.path).token(cast.token(who)).json(fields).send();
            match name {
                NameIs::Required => assert_eq!(answer.expect(400), not_given("name"), "{who}"),
                NameIs::Optional => assert_eq!(answer.expect(200)["name"], "Ship", "{who}"),
            }
        }
    }
    let described = read(forge, ROOT, &cast.project)["description"] == "d";
    assert_eq!(described, name == NameIs::Optional);
    // The rest of the call is the same in both dialects.
    let master = cast.token("master");
    for fields in [json!({"name": "Boat"}), json!({"name": "Ship", "public": true})] {
        let refused = forge.put(&cast.path).token(master).json(&fields).send();
        assert_eq!(refused.expect(403), forbidden());
    }
    for (who, status) in [("guest", 403), ("developer", 403), ("stranger", 404)] {
        forge.put(&cast.path).token(cast.token(who)).json(&nameless).send().expect(status);
    }
    assert_eq!(
        forge.put(&cast.path).token(master).json(&json!({"name": "Ship"})).send().expect(200)["name"],
        "Ship"
    );
}

fn path(source: &Value) -> String {
    format!("/projects/fork/{}", id_of(source))
}

#[test]
fn row_11_in_the_original() {
    in_the_original(|forge| {
        let (_, token) = forge.user("ada");
        let source = new_project(forge, ROOT, "Ship", &[("public", "true")]);
        let made = forge.post(&path(&source)).token(&token).send().expect(201);
        assert_eq!(made["path_with_namespace"], "ada/ship");
        // A blank namespace counts as missing, so the second fork conflicts with the first.
        let again = forge.post(&path(&source)).token(&token).form(&[("namespace", " ")]).send();
        let taken = "has already been taken";
        assert_eq!(again.expect(409), json!({"message": {"name": [taken], "path": [taken]}}));
        let missing = forge.post(&format!("/projects/fork/{MISSING}")).token(&token).send();
        assert_eq!(missing.expect(404), no_project());
        row_11_is_the_same_in_both(forge);
    });
}

/// Row 11: POST /projects/fork/:id
fn row_11_in_the_specification(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let source = new_project(forge, ROOT, "Ship", &[("public", "true")]);
    let hidden = new_project(forge, ROOT, "Hidden", &[]);
    for path in [path(&source), path(&hidden), format!("/projects/fork/{MISSING}")] {
        for form in [&[][..], &[("namespace", "")], &[("namespace", " ")]] {
            let refused = forge.post(&path).token(&token).form(form).send();
            assert_eq!(refused.expect(400), not_given("namespace"), "{path}");
        }
    }
    row_11_is_the_same_in_both(forge);
}

fn row_11_is_the_same_in_both(forge: &Forge) {
    let (_, token) = forge.user("eva");
    let source = new_project(forge, ROOT, "Boat", &[("public", "true")]);
    let refused = forge.post(&path(&source)).token(&token).form(&[("namespace", "root")]).send();
    assert_eq!(refused.expect(404), message("404 Target Namespace Not Found"));
    assert_eq!(
        forge.post(&path(&source)).token(&token).form(&[("namespace", "eva")]).send().expect(201)["path_with_namespace"],
        "eva/boat"
    );
}
