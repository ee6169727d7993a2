//! `POST /users`: reference sections 2.4 and 2.5, refused requests.

use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, Response, on_every_store};
use serde_json::{Value, json};

use crate::api::support::{field_error, message, queued_events};

on_every_store!(
    each_field_has_its_rule,
    all_problems_are_told_at_once,
    the_primary_address_of_another_user_is_a_conflict,
    the_secondary_address_of_another_user_is_invalid,
    the_name_of_another_user_is_a_conflict_and_one_that_differs_in_case_is_invalid,
    an_identity_belongs_to_one_user,
    usernames_follow_their_pattern,
    names_of_the_service_itself_are_reserved,
);

const PATTERN: &str = "can contain only letters, digits, '_', '-' and '.'. \
                       Cannot start with '-' or end in '.', '.git' or '.atom'.";
const TAKEN: &str = "has already been taken";

/// Tries to create the user `newbie` with some fields replaced.
fn try_with(forge: &Forge, changes: &Value) -> Response {
    let mut fields = json!({
        "username": "newbie", "name": "newbie", "email": "newbie@example.com", "password": PASSWORD
    });
    let changes = changes.as_object().expect("an object").clone();
    fields.as_object_mut().expect("an object").extend(changes);
    forge.post("/users").token(ROOT).json(&fields).send()
}

/// Asserts the number of users, and of events about new users.
#[track_caller]
fn assert_users(forge: &Forge, count: usize) {
    let list = forge.get("/users").token(ROOT).send().expect(200);
    assert_eq!(list.as_array().map(Vec::len), Some(count), "{list}");
    assert_eq!(queued_events(forge).len(), count);
}

/// POST /users
fn each_field_has_its_rule(forge: &Forge) {
    let long = "ü".repeat(256);
    for (field, value, text) in [
        ("email", json!("nonsense"), "is invalid"),
        ("email", json!("@example.com"), "is invalid"),
        ("email", json!("ada@"), "is invalid"),
        ("email", json!("a@b@c"), "is invalid"),
        ("email", json!("a da@example.com"), "is invalid"),
        ("email", json!("ada@exam ple.com"), "is invalid"),
        ("password", json!("ü".repeat(7)), "is too short (minimum is 8 characters)"),
        ("password", json!("ü".repeat(129)), "is too long (maximum is 128 characters)"),
        ("bio", json!(long), "is too long (maximum is 255 characters)"),
        ("projects_limit", json!(-1), "must be greater than or equal to 0"),
        ("projects_limit", json!("-1"), "must be greater than or equal to 0"),
        ("projects_limit", json!("many"), "is not a number"),
    ] {
        let refused = try_with(forge, &json!({ field: value })).expect(400);
        assert_eq!(refused, field_error(field, text), "{value}");
    }
    assert_users(forge, 1);
    // Values at the limits are valid.
    let edge = json!({
        "email": "a@b", "password": "ü".repeat(128), "bio": "ü".repeat(255), "projects_limit": 0
    });
    try_with(forge, &edge).expect(201);
    let form = [("login", "newbie"), ("password", &"ü".repeat(128))];
    forge.post("/session").form(&form).send().expect(201);
}

/// POST /users
fn all_problems_are_told_at_once(forge: &Forge) {
    let refused = try_with(
        forge,
        &json!({
            "email": "nonsense", "password": "short", "name": "<b></b>", "username": "-x",
            "bio": "b".repeat(256), "projects_limit": "x", "extern_uid": "cn=ada"
        }),
    );
    let expected = json!({"message": {
        "email": ["is invalid"],
        "password": ["is too short (minimum is 8 characters)"],
        "name": ["can't be blank"],
        "username": [PATTERN],
        "bio": ["is too long (maximum is 255 characters)"],
        "projects_limit": ["is not a number"],
        "identities.provider": ["can't be blank"]
    }});
    assert_eq!(refused.expect(400), expected);
    assert_users(forge, 1);
}

/// POST /users
fn the_primary_address_of_another_user_is_a_conflict(forge: &Forge) {
    forge.new_user("ada", &[]);
    for changes in [
        json!({"email": "ada@example.com"}),
        json!({"email": " ADA@example.COM "}),
        // The conflict takes precedence over all other errors, even over a taken username.
        json!({"email": "ada@example.com", "username": "ada"}),
        json!({"email": "ada@example.com", "username": "-x", "password": "short", "bio": "b".repeat(256)}),
    ] {
        let refused = try_with(forge, &changes).expect(409);
        assert_eq!(refused, message("Email has already been taken"), "{changes}");
    }
    assert_users(forge, 2);
}

/// POST /users
fn the_secondary_address_of_another_user_is_invalid(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let second = [("email", "second@example.com")];
    forge.post("/user/emails").token(&token).form(&second).send().expect(201);
    let refused = try_with(forge, &json!({"email": "Second@example.com"})).expect(400);
    assert_eq!(refused, field_error("email", TAKEN));
    let taken_too = json!({"email": "second@example.com", "username": "ada"});
    let refused = try_with(forge, &taken_too).expect(409);
    assert_eq!(refused, message("Username has already been taken"));
    assert_users(forge, 2);
}

/// POST /users
fn the_name_of_another_user_is_a_conflict_and_one_that_differs_in_case_is_invalid(forge: &Forge) {
    forge.new_user("ada", &[]);
    for changes in [
        json!({"username": "ada"}),
        json!({"username": "ada", "password": "short", "email": "nonsense"}),
    ] {
        let refused = try_with(forge, &changes).expect(409);
        assert_eq!(refused, message("Username has already been taken"), "{changes}");
    }
    let refused = try_with(forge, &json!({"username": "ADA"})).expect(400);
    assert_eq!(refused, field_error("username", TAKEN));
    let refused = try_with(forge, &json!({"username": "Ada", "bio": "b".repeat(256)})).expect(400);
    let both = json!({"message": {
        "bio": ["is too long (maximum is 255 characters)"], "username": [TAKEN]
    }});
    assert_eq!(refused, both);
    assert_users(forge, 2);
}

/// POST /users
fn an_identity_belongs_to_one_user(forge: &Forge) {
    let identity = json!({"provider": "directory", "extern_uid": "cn=ada"});
    forge.new_user("ada", &[("provider", "directory"), ("extern_uid", "cn=ada")]);
    let refused = try_with(forge, &identity).expect(400);
    assert_eq!(refused, field_error("identities.extern_uid", TAKEN));
    for provider in [json!(null), json!(""), json!(" ")] {
        let changes = json!({"provider": provider, "extern_uid": "cn=new"});
        let refused = try_with(forge, &changes).expect(400);
        assert_eq!(refused, field_error("identities.provider", "can't be blank"), "{provider}");
    }
    assert_users(forge, 2);
}

/// POST /users
fn usernames_follow_their_pattern(forge: &Forge) {
    for name in [
        "-ada", "ada.", "ada.git", "ada.atom", "a b", "a/b", "adä", "a@b", "ada!", "-", ".", "a\nb",
    ] {
        let refused = try_with(forge, &json!({ "username": name })).expect(400);
        let told = refused["message"]["username"].as_array().expect("messages");
        assert!(told.contains(&json!(PATTERN)), "{name:?}: {refused}");
    }
    let refused = try_with(forge, &json!({"username": "ada.git"})).expect(400);
    assert_eq!(refused, field_error("username", PATTERN));
    assert_users(forge, 1);
    for (number, name) in
        ["a", "7", "_", "a-", ".ada", "ada.gi", "a.git.b", "A_b-c.d"].into_iter().enumerate()
    {
        let changes = json!({"username": name, "email": format!("{number}@example.com")});
        assert_eq!(try_with(forge, &changes).expect(201)["username"], name);
    }
}

/// POST /users
fn names_of_the_service_itself_are_reserved(forge: &Forge) {
    let reserved = ".well-known admin all assets ci dashboard files groups help hooks issues \
                    merge_requests new notes profile projects public repository robots.txt s search \
                    services snippets teams u unsubscribes users api";
    for name in reserved.split_whitespace() {
        let refused = try_with(forge, &json!({ "username": name })).expect(400);
        assert_eq!(refused, field_error("username", &format!("{name} is a reserved name")));
    }
    assert_users(forge, 1);
    assert_eq!(try_with(forge, &json!({"username": "Admin"})).expect(201)["username"], "Admin");
}
