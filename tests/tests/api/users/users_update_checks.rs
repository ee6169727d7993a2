//! `PUT /users/:id`: reference section 2.6, refused requests and the order of checks.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::json;

use crate::api::support::{
    HUGE, MISSING, assert_only_for_administrators, field_error, id_of, message, no_route, user_now,
};

on_every_store!(
    administrators_alone_change_users,
    a_missing_user_comes_before_everything_else_about_the_fields,
    what_another_user_has_is_a_conflict_that_changes_nothing,
    what_another_user_has_in_some_other_way_is_invalid,
    ones_own_values_are_no_conflict,
    every_rule_of_the_fields_holds_and_nothing_is_changed_by_halves,
);

const TAKEN: &str = "has already been taken";

/// PUT /users/:id
fn administrators_alone_change_users(forge: &Forge) {
    assert_only_for_administrators(
        forge,
        &[("PUT", "/users/1".into()), ("PUT", format!("/users/{MISSING}"))],
    );
    let token = forge.sign_in("normal");
    let own = id_of(&forge.get("/user").token(&token).send().expect(200));
    // Not even their own account; the permission is checked before the parameters.
    for fields in [json!({"admin": true}), json!({"bio": ["a", "list"]}), json!({"email": "root"})]
    {
        let put = forge.put(&format!("/users/{own}")).token(&token).json(&fields).send();
        assert_eq!(put.expect(403), message("403 Forbidden"), "{fields}");
    }
    assert_eq!(user_now(forge, own)["is_admin"], false);
}

/// PUT /users/:id
fn a_missing_user_comes_before_everything_else_about_the_fields(forge: &Forge) {
    for id in [MISSING.to_string().as_str(), "0", HUGE] {
        for fields in [
            json!({}),
            json!({"email": "admin@example.com"}),
            json!({"username": "root"}),
            json!({"password": "short", "extern_uid": "x"}),
        ] {
            let put = forge.put(&format!("/users/{id}")).token(ROOT).json(&fields).send();
            assert_eq!(put.expect(404), message("404 Not found"), "{id} {fields}");
        }
    }
    for id in ["root", "1x"] {
        assert_eq!(forge.put(&format!("/users/{id}")).token(ROOT).send().expect(404), no_route());
    }
}

/// PUT /users/:id
fn what_another_user_has_is_a_conflict_that_changes_nothing(forge: &Forge) {
    forge.new_user("ada", &[]);
    let bob = forge.new_user("bob", &[]);
    let (email, username) = ("Email has already been taken", "Username has already been taken");
    for (fields, text) in [
        (json!({"email": "ada@example.com", "bio": "b"}), email),
        (json!({"email": " ADA@Example.com", "bio": "b"}), email),
        (json!({"username": "ada", "bio": "b"}), username),
        // The address is checked first, and conflicts before all other rules.
        (json!({"email": "ada@example.com", "username": "ada"}), email),
        (json!({"email": "ada@example.com", "password": "short", "extern_uid": "x"}), email),
        (json!({"username": "ada", "email": "nonsense", "projects_limit": "x"}), username),
    ] {
        let put = forge.put(&format!("/users/{}", id_of(&bob))).token(ROOT).json(&fields).send();
        assert_eq!(put.expect(404), message(text), "{fields}");
        assert_eq!(user_now(forge, id_of(&bob)), bob, "{fields}");
    }
}

/// PUT /users/:id
fn what_another_user_has_in_some_other_way_is_invalid(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let second = [("email", "second@example.com")];
    forge.post("/user/emails").token(&token).form(&second).send().expect(201);
    forge.new_user("cleo", &[("provider", "directory"), ("extern_uid", "cn=cleo")]);
    let bob = forge.new_user("bob", &[]);
    for (fields, expected) in [
        (json!({"email": "Second@example.com", "bio": "b"}), field_error("email", TAKEN)),
        (json!({"username": "ADA", "bio": "b"}), field_error("username", TAKEN)),
        (
            json!({"provider": "directory", "extern_uid": "cn=cleo", "bio": "b"}),
            field_error("identities.extern_uid", TAKEN),
        ),
        (json!({"extern_uid": "cn=bob"}), field_error("identities.provider", "can't be blank")),
    ] {
        let put = forge.put(&format!("/users/{}", id_of(&bob))).token(ROOT).json(&fields).send();
        assert_eq!(put.expect(400), expected, "{fields}");
        assert_eq!(user_now(forge, id_of(&bob)), bob, "{fields}");
    }
}

/// PUT /users/:id
fn ones_own_values_are_no_conflict(forge: &Forge) {
    let ada = forge.new_user("ada", &[("provider", "directory"), ("extern_uid", "cn=ada")]);
    for fields in [
        json!({"email": "ada@example.com"}),
        json!({"email": "ADA@EXAMPLE.COM"}),
        json!({"username": "ada"}),
        json!({"provider": "directory", "extern_uid": "cn=ada"}),
    ] {
        let put = forge.put(&format!("/users/{}", id_of(&ada))).token(ROOT).json(&fields).send();
        assert_eq!(put.expect(200), ada, "{fields}");
    }
}

/// PUT /users/:id
fn every_rule_of_the_fields_holds_and_nothing_is_changed_by_halves(forge: &Forge) {
    let ada = forge.new_user("ada", &[]);
    let put = format!("/users/{}", id_of(&ada));
    let pattern = "can contain only letters, digits, '_', '-' and '.'. \
                   Cannot start with '-' or end in '.', '.git' or '.atom'.";
    for (field, value, text) in [
        ("email", json!("nonsense"), "is invalid"),
        ("password", json!("short"), "is too short (minimum is 8 characters)"),
        ("password", json!("x".repeat(129)), "is too long (maximum is 128 characters)"),
        ("name", json!("<b></b>"), "can't be blank"),
        ("username", json!("ada.git"), pattern),
        ("username", json!("admin"), "admin is a reserved name"),
        ("bio", json!("b".repeat(256)), "is too long (maximum is 255 characters)"),
        ("projects_limit", json!(-1), "must be greater than or equal to 0"),
        ("projects_limit", json!("x"), "is not a number"),
    ] {
        let fields = json!({"location": "Elsewhere", field: value});
        let refused = forge.put(&put).token(ROOT).json(&fields).send().expect(400);
        assert_eq!(refused, field_error(field, text));
        assert_eq!(user_now(forge, id_of(&ada)), ada, "{fields}");
    }
    let several = json!({"email": "nonsense", "password": "short", "bio": "b".repeat(256)});
    let refused = forge.put(&put).token(ROOT).json(&several).send().expect(400);
    let expected = json!({"message": {
        "email": ["is invalid"],
        "password": ["is too short (minimum is 8 characters)"],
        "bio": ["is too long (maximum is 255 characters)"]
    }});
    assert_eq!(refused, expected);
    forge.sign_in("ada");
}
