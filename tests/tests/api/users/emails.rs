//! `/user/emails` and `/users/:uid/emails`: reference section 4.

use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::support::{
    HUGE, MISSING, activity_count, assert_only_for_administrators, assert_only_for_users,
    field_error, id_of, ids, message, no_route, queued_events,
};

on_every_store!(
    a_user_adds_lists_and_reads_its_own_addresses,
    an_address_has_to_be_given,
    addresses_of_others_are_not_found_among_ones_own,
    a_user_removes_its_own_addresses_and_again_is_fine,
    an_address_belongs_to_one_user,
    the_calls_about_ones_own_addresses_are_for_users,
    the_calls_about_addresses_of_others_are_for_administrators,
    an_administrator_adds_addresses_to_others,
    an_administrator_lists_addresses_of_others,
    an_administrator_removes_addresses_of_others,
    secondary_addresses_neither_sign_in_nor_make_news,
);

#[track_caller]
fn add(forge: &Forge, token: &str, address: &str) -> Value {
    forge.post("/user/emails").token(token).form(&[("email", address)]).send().expect(201)
}

/// POST /user/emails, GET /user/emails, GET /user/emails/:id
fn a_user_adds_lists_and_reads_its_own_addresses(forge: &Forge) {
    let (_, token) = forge.user("ada");
    // The primary address is not in the list.
    assert_eq!(forge.get("/user/emails").token(&token).send().expect(200), json!([]));
    let form = [("email", "  Second@Example.COM ")];
    let first = forge.post("/user/emails").token(&token).form(&form).send();
    let id = id_of(&first.expect(201));
    let expected = json!({"id": id, "email": "second@example.com"});
    assert_eq!(first.text(), expected.to_string());
    let body = json!({"id": 1, "email": "third@example.com", "unknown": []});
    let second = forge.post("/user/emails").token(&token).json(&body).send().expect(201);
    let list = forge.get("/user/emails").token(&token).send();
    assert_eq!(list.text(), json!([second, expected]).to_string());
    assert_eq!(list.header("X-Total"), Some("2"));
    let read = forge.get(&format!("/user/emails/{id}")).token(&token).send();
    read.expect(200);
    assert_eq!(read.text(), expected.to_string());
    let page = forge.get("/user/emails?page=2&per_page=1").token(&token).send();
    assert_eq!(page.text(), json!([expected]).to_string());
    assert_eq!(page.header("X-Next-Page"), Some(""));
}

/// POST /user/emails
fn an_address_has_to_be_given(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let not_given = message("400 (Bad request) \"email\" not given");
    let post = || forge.post("/user/emails").token(&token);
    assert_eq!(post().send().expect(400), not_given);
    assert_eq!(post().form(&[("email", "")]).send().expect(400), not_given);
    assert_eq!(post().form(&[("email", "  ")]).send().expect(400), not_given);
    assert_eq!(post().json(&json!({"email": null})).send().expect(400), not_given);
    for address in ["nonsense", "@example.com", "ada@", "a@b@c", "a b@example.com", "a@b c"] {
        let refused = post().form(&[("email", address)]).send().expect(400);
        assert_eq!(refused, field_error("email", "is invalid"), "{address}");
    }
    assert_eq!(forge.get("/user/emails").token(&token).send().expect(200), json!([]));
}

/// GET /user/emails/:id, DELETE /user/emails/:id
fn addresses_of_others_are_not_found_among_ones_own(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (_, bob) = forge.user("bob");
    let email = id_of(&add(forge, &ada, "second@example.com"));
    for (token, id) in [
        (bob.as_str(), email.to_string()),
        (ROOT, email.to_string()),
        (&ada, MISSING.to_string()),
        (&ada, "0".into()),
        (&ada, HUGE.into()),
    ] {
        let path = format!("/user/emails/{id}");
        let missing = forge.get(&path).token(token).send().expect(404);
        assert_eq!(missing, message("404 Not found"), "{id}");
        let removed = forge.delete(&path).token(token).send();
        assert_eq!((removed.status, removed.text()), (200, "null"), "{id}");
    }
    forge.get(&format!("/user/emails/{email}")).token(&ada).send().expect(200);
}

/// DELETE /user/emails/:id
fn a_user_removes_its_own_addresses_and_again_is_fine(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let email = add(forge, &token, "second@example.com");
    let kept = add(forge, &token, "third@example.com");
    let path = format!("/user/emails/{}", id_of(&email));
    let removed = forge.delete(&path).token(&token).send();
    removed.expect(200);
    assert_eq!(removed.text(), email.to_string());
    let again = forge.delete(&path).token(&token).send();
    assert_eq!((again.expect(200), again.text()), (Value::Null, "null"));
    assert_eq!(forge.get(&path).token(&token).send().expect(404), message("404 Not found"));
    assert_eq!(forge.get("/user/emails").token(&token).send().expect(200), json!([kept]));
    // The address can be used again, even as a primary address.
    forge.new_user("bob", &[("email", "second@example.com")]);
}

/// POST /user/emails, POST /users/:id/emails
fn an_address_belongs_to_one_user(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (_, other) = forge.user("bob");
    add(forge, &token, "second@example.com");
    let taken = field_error("email", "has already been taken");
    for address in [
        "second@example.com",
        " SECOND@example.com",
        // Primary addresses, including the caller's own.
        "ada@example.com",
        "Bob@Example.com",
        "admin@example.com",
    ] {
        for (path, token) in [
            ("/user/emails", token.as_str()),
            ("/user/emails", &other),
            (&format!("/users/{ada}/emails"), ROOT),
        ] {
            let refused = forge.post(path).token(token).form(&[("email", address)]).send();
            assert_eq!(refused.expect(400), taken, "{address} at {path}");
        }
    }
    assert_eq!(forge.get("/user/emails").token(&other).send().expect(200), json!([]));
}

/// GET /user/emails, POST /user/emails, GET /user/emails/:id, DELETE /user/emails/:id
fn the_calls_about_ones_own_addresses_are_for_users(forge: &Forge) {
    assert_only_for_users(
        forge,
        &[
            ("GET", "/user/emails".into()),
            ("POST", "/user/emails".into()),
            ("GET", "/user/emails/1".into()),
            ("DELETE", "/user/emails/1".into()),
        ],
    );
    let changed = forge.put("/user/emails/1").token(ROOT).form(&[("email", "a@b")]).send();
    assert_eq!(changed.expect(404), no_route());
}

/// GET /users/:uid/emails, POST /users/:id/emails, DELETE /users/:uid/emails/:id
fn the_calls_about_addresses_of_others_are_for_administrators(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let email = id_of(&add(forge, &token, "second@example.com"));
    assert_only_for_administrators(
        forge,
        &[
            ("GET", format!("/users/{ada}/emails")),
            ("GET", format!("/users/{MISSING}/emails")),
            ("POST", format!("/users/{ada}/emails")),
            ("POST", format!("/users/{MISSING}/emails")),
            ("DELETE", format!("/users/{ada}/emails/{email}")),
            ("DELETE", format!("/users/{MISSING}/emails/{email}")),
        ],
    );
    // Not even for the user itself; the permission is checked before the parameters.
    let path = format!("/users/{ada}/emails");
    forge.get(&path).token(&token).send().expect(403);
    let refused = forge.post(&path).token(&token).json(&json!({"email": ["x"]})).send().expect(403);
    assert_eq!(refused, message("403 Forbidden"));
    forge.delete(&format!("{path}/{email}")).token(&token).send().expect(403);
    assert_eq!(ids(&forge.get("/user/emails").token(&token).send().expect(200)), [email]);
    for (method, path) in [
        ("GET", "/users/root/emails".to_owned()),
        ("POST", "/users/1x/emails".into()),
        ("DELETE", "/users/root/emails/1".into()),
        ("GET", format!("/users/{ada}/emails/{email}")),
    ] {
        let unknown = forge.request(method, &path).token(ROOT).send().expect(404);
        assert_eq!(unknown, no_route(), "{method} {path}");
    }
}

/// POST /users/:id/emails
fn an_administrator_adds_addresses_to_others(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    for id in [ada.to_string(), MISSING.to_string(), HUGE.into()] {
        let refused = forge.post(&format!("/users/{id}/emails")).token(ROOT).send().expect(400);
        assert_eq!(refused, message("400 (Bad request) \"email\" not given"), "{id}");
    }
    for id in [MISSING.to_string(), HUGE.into()] {
        for address in ["nonsense", "admin@example.com", "good@example.com"] {
            let add = forge.post(&format!("/users/{id}/emails")).token(ROOT);
            let refused = add.form(&[("email", address)]).send().expect(404);
            assert_eq!(refused, message("404 Not found"), "{address}");
        }
    }
    let path = format!("/users/{ada}/emails");
    let refused = forge.post(&path).token(ROOT).form(&[("email", "nonsense")]).send().expect(400);
    assert_eq!(refused, field_error("email", "is invalid"));
    let added = forge.post(&path).token(ROOT).form(&[("id", "1"), ("email", "A@Example.com")]);
    let added = added.send();
    let expected = json!({"id": id_of(&added.expect(201)), "email": "a@example.com"});
    assert_eq!(added.text(), expected.to_string());
    assert_eq!(forge.get("/user/emails").token(&token).send().expect(200), json!([expected]));
    assert_eq!(forge.get("/user/emails").token(ROOT).send().expect(200), json!([]));
}

/// GET /users/:uid/emails
fn an_administrator_lists_addresses_of_others(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let path = format!("/users/{ada}/emails");
    assert_eq!(forge.get(&path).token(ROOT).send().expect(200), json!([]));
    let emails = [add(forge, &token, "a@example.com"), add(forge, &token, "b@example.com")];
    add(forge, ROOT, "c@example.com");
    let list = forge.get(&path).query(&[("user_id", "1")]).token(ROOT).send();
    assert_eq!(list.text(), json!([emails[1], emails[0]]).to_string());
    assert_eq!(list.header("X-Total"), Some("2"));
    for id in [MISSING.to_string().as_str(), "0", HUGE] {
        let missing = forge.get(&format!("/users/{id}/emails")).token(ROOT).send().expect(404);
        assert_eq!(missing, message("404 User Not Found"), "{id}");
    }
}

/// DELETE /users/:uid/emails/:id
fn an_administrator_removes_addresses_of_others(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, _) = forge.user("bob");
    let email = add(forge, &token, "second@example.com");
    let id = id_of(&email);
    for (path, text) in [
        (format!("/users/{MISSING}/emails/{id}"), "404 User Not Found"),
        (format!("/users/{HUGE}/emails/{id}"), "404 User Not Found"),
        (format!("/users/{bob}/emails/{id}"), "404 Email Not Found"),
        (format!("/users/{ada}/emails/{MISSING}"), "404 Email Not Found"),
        (format!("/users/{ada}/emails/{HUGE}"), "404 Email Not Found"),
    ] {
        let refused = forge.delete(&path).token(ROOT).send().expect(404);
        assert_eq!(refused, message(text), "{path}");
    }
    let path = format!("/users/{ada}/emails/{id}");
    let removed = forge.delete(&path).token(ROOT).send();
    removed.expect(200);
    assert_eq!(removed.text(), email.to_string());
    assert_eq!(forge.get("/user/emails").token(&token).send().expect(200), json!([]));
    let again = forge.delete(&path).token(ROOT).send().expect(404);
    assert_eq!(again, message("404 Email Not Found"));
}

/// POST /user/emails, DELETE /user/emails/:id
fn secondary_addresses_neither_sign_in_nor_make_news(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let before = queued_events(forge);
    let email = id_of(&add(forge, &token, "second@example.com"));
    let form = [("email", "second@example.com"), ("password", PASSWORD)];
    forge.post("/session").form(&form).send().expect(401);
    assert_eq!(forge.get("/user").token(&token).send().expect(200)["email"], "ada@example.com");
    forge.delete(&format!("/user/emails/{email}")).token(&token).send().expect(200);
    assert_eq!(queued_events(forge), before);
    assert_eq!((activity_count(forge, ada), activity_count(forge, 1)), (0, 0));
}
