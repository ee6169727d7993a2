//! Variables of projects: reference section 8.1.

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::StoreError;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{error, forbidden};
use crate::api::repositories::refs_support::{ProjectFixture, empty_fixture};
use crate::api::support::{field_error, message};

on_every_store!(
    variables_are_made_changed_and_removed,
    names_of_variables_follow_rules,
    only_masters_see_variables,
    values_are_stored_encrypted,
);

#[track_caller]
fn create(forge: &Forge, fixture: &ProjectFixture, key: &str, value: &str, status: u16) -> Value {
    let path = format!("{}/variables", fixture.cast.path);
    let form = [("key", key), ("value", value)];
    forge.post(&path).token(fixture.token("master")).form(&form).send().expect(status)
}

/// GET /projects/:id/variables, POST /projects/:id/variables, GET /projects/:id/variables/:key,
/// PUT /projects/:id/variables/:key, DELETE /projects/:id/variables/:key
fn variables_are_made_changed_and_removed(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let master = fixture.token("master");
    let one = create(forge, &fixture, "KEY_1", "a secret 🦀", 201);
    assert_eq!(one, json!({"key": "KEY_1", "value": "a secret 🦀"}));
    let two = create(forge, &fixture, "key_1", "", 201);
    let list = format!("{}/variables", fixture.cast.path);
    assert_eq!(forge.get(&list).token(master).send().expect(200), json!([one, two]));
    let path = format!("{list}/KEY_1");
    assert_eq!(forge.get(&path).token(master).send().expect(200), one);
    let form = [("value", "other")];
    let changed = forge.put(&path).token(master).form(&form).send().expect(200);
    assert_eq!(changed, json!({"key": "KEY_1", "value": "other"}));
    assert_eq!(forge.delete(&path).token(master).send().expect(200), changed);
    for method in ["GET", "PUT", "DELETE"] {
        let answer = forge.request(method, &path).token(master).send().expect(404);
        assert_eq!(answer, message("404 Variable Not Found"), "{method}");
    }
    assert_eq!(forge.get(&list).token(master).send().expect(200), json!([two]));
}

/// "letters, digits, `_`; unique in the project"
fn names_of_variables_follow_rules(forge: &Forge) {
    let fixture = empty_fixture(forge);
    let path = format!("{}/variables", fixture.cast.path);
    let missing = forge.post(&path).token(fixture.token("master")).send().expect(400);
    assert_eq!(missing, error("key is missing, value is missing"));
    create(forge, &fixture, "A", "1", 201);
    let taken = create(forge, &fixture, "A", "2", 400);
    assert_eq!(taken, field_error("key", "has already been taken"));
    for key in ["a b", "ä", "a-b"] {
        let refused = create(forge, &fixture, key, "1", 400);
        assert_eq!(
            refused,
            field_error("key", "can contain only letters, digits and '_'."),
            "{key}"
        );
    }
    assert_eq!(create(forge, &fixture, "", "1", 400), field_error("key", "can't be blank"));
}

/// Only for masters and above.
fn only_masters_see_variables(forge: &Forge) {
    let fixture = empty_fixture(forge);
    create(forge, &fixture, "A", "1", 201);
    let list = format!("{}/variables", fixture.cast.path);
    let one = format!("{list}/A");
    let create = format!("{list}?key=B&value=2");
    for (who, status) in [("stranger", 404), ("guest", 403), ("developer", 403)] {
        for (method, path) in
            [("GET", &list), ("POST", &create), ("GET", &one), ("PUT", &one), ("DELETE", &one)]
        {
            let answer = forge.request(method, path).token(fixture.token(who)).send();
            assert_eq!(answer.status, status, "{who} {method} {path}");
            if status == 403 {
                assert_eq!(answer.json(), forbidden());
            }
        }
    }
    for who in ["master", "owner", "root"] {
        forge.get(&one).token(fixture.token(who)).send().expect(200);
    }
}

/// The store holds them encrypted, each time with different bytes, and bound to their project.
fn values_are_stored_encrypted(forge: &Forge) {
    let fixture = empty_fixture(forge);
    create(forge, &fixture, "A", "hunter2 hunter2", 201);
    create(forge, &fixture, "B", "hunter2 hunter2", 201);
    let project = ProjectId(fixture.project());
    let stored = |key: &str| {
        let found: Result<_, StoreError> =
            forge.app.store.read(|tx| tx.variables().find(project, key));
        found.expect("the store can be read").expect("it was made").value.0
    };
    let (a, b) = (stored("A"), stored("B"));
    assert_ne!(a, b);
    assert!(!a.windows(7).any(|part| part == b"hunter2"));
}
