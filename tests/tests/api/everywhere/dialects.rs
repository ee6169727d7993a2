//! The differences between the two dialects that concern users: rows 9, 13, 14 and 15 of the table.

use hexforge_http_actix::Dialect;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Backend, Forge, ForgeOptions, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use crate::api::support::{HUGE, MISSING, field_error, id_of, ids, message, no_route, user_now};

on_every_store!(
    row_9_in_the_specification,
    row_13_in_the_specification,
    row_14_in_the_specification,
    row_15_in_the_specification,
    the_neighbours_of_these_rows_in_the_specification,
);

fn in_the_original(case: fn(&Forge)) {
    for backend in [Backend::Fake, Backend::Sqlite, Backend::Postgres] {
        if let Some(forge) = Forge::start(ForgeOptions { backend, dialect: Dialect::Original }) {
            case(&forge);
        }
    }
}

#[test]
fn row_9_in_the_original() {
    in_the_original(|forge| row_9(forge, Unasked::Everything));
}

fn row_9_in_the_specification(forge: &Forge) {
    row_9(forge, Unasked::FirstPage);
}

/// The behavior of a list if the request names no page.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unasked {
    FirstPage,
    Everything,
}

/// Row 9: GET /user/keys, GET /users/:uid/keys, GET /user/emails, GET /users/:uid/emails
fn row_9(forge: &Forge, unasked: Unasked) {
    let (ada, token) = forge.user("ada");
    for number in 1..=21 {
        let key = [("title", "t"), ("key", &an_ssh_key(number))];
        forge.post("/user/keys").token(&token).form(&key).send().expect(201);
        let email = [("email", format!("{number}@example.com"))];
        let email = email.each_ref().map(|(name, value)| (*name, value.as_str()));
        forge.post("/user/emails").token(&token).form(&email).send().expect(201);
    }
    let headers =
        ["X-Total", "X-Total-Pages", "X-Per-Page", "X-Page", "X-Next-Page", "X-Prev-Page", "Link"];
    for (path, token) in [
        ("/user/keys".to_owned(), token.as_str()),
        (format!("/users/{ada}/keys"), ROOT),
        ("/user/emails".to_owned(), &token),
        (format!("/users/{ada}/emails"), ROOT),
    ] {
        let unasked_list = forge.get(&path).token(token).send();
        let rows = ids(&unasked_list.expect(200));
        assert!(rows.is_sorted_by(|a, b| a > b), "newest first: {rows:?}");
        let present = headers.map(|name| unasked_list.header(name).is_some());
        match unasked {
            Unasked::FirstPage => {
                assert_eq!((rows.len(), present), (20, [true; 7]), "{path}");
                assert_eq!(unasked_list.header("X-Next-Page"), Some("2"));
            }
            Unasked::Everything => assert_eq!((rows.len(), present), (21, [false; 7]), "{path}"),
        }
        // A request for a page gets a page, in both dialects.
        for (query, count) in [("page=1", 20), ("page=2", 1), ("per_page=2", 2), ("page=3", 0)] {
            let page = forge.get(&format!("{path}?{query}")).token(token).send();
            assert_eq!(ids(&page.expect(200)).len(), count, "{path}?{query}");
            assert_eq!(page.header("X-Total"), Some("21"), "{path}?{query}");
        }
    }
    // Lists without a row have pages in both dialects.
    for path in ["/users".to_owned(), format!("/users/{ada}/events")] {
        let list = forge.get(&path).token(ROOT).send();
        assert!(headers.iter().all(|name| list.header(name).is_some()), "{path}");
    }
}

#[test]
fn row_13_in_the_original() {
    in_the_original(|forge| row_13(forge, 409));
}

fn row_13_in_the_specification(forge: &Forge) {
    row_13(forge, 404);
}

/// Row 13: PUT /users/:id
fn row_13(forge: &Forge, status: u16) {
    forge.new_user("ada", &[]);
    let bob = forge.new_user("bob", &[]);
    let path = format!("/users/{}", id_of(&bob));
    for (fields, text) in [
        (json!({"email": "Ada@example.com", "bio": "b"}), "Email has already been taken"),
        (json!({"username": "ada", "bio": "b"}), "Username has already been taken"),
        (json!({"username": "ada", "email": "ada@example.com"}), "Email has already been taken"),
    ] {
        let refused = forge.put(&path).token(ROOT).json(&fields).send();
        assert_eq!(refused.expect(status), message(text), "{fields}");
        assert_eq!(user_now(forge, id_of(&bob)), bob);
    }
    // Unknown users and invalid fields give the same answers in both dialects.
    let missing = forge.put(&format!("/users/{MISSING}")).token(ROOT).form(&[("username", "ada")]);
    assert_eq!(missing.send().expect(404), message("404 Not found"));
    let invalid = forge.put(&path).token(ROOT).form(&[("username", "ADA")]).send();
    assert_eq!(invalid.expect(400), field_error("username", "has already been taken"));
}

#[test]
fn row_14_in_the_original() {
    in_the_original(|forge| row_14(forge, 404, message("404 User Not Found")));
}

fn row_14_in_the_specification(forge: &Forge) {
    row_14(forge, 200, Value::Null);
}

/// Row 14: DELETE /users/:id
fn row_14(forge: &Forge, status: u16, body: Value) {
    let ada = forge.new_user("ada", &[]);
    let path = format!("/users/{}", id_of(&ada));
    assert_eq!(forge.delete(&path).token(ROOT).send().expect(200), ada);
    for path in [path, format!("/users/{MISSING}"), format!("/users/{HUGE}")] {
        assert_eq!(forge.delete(&path).token(ROOT).send().expect(status), body, "{path}");
    }
    assert_eq!(forge.delete("/users/ada").token(ROOT).send().expect(404), no_route());
    // Deleting a missing key succeeds in both dialects.
    let key = forge.delete(&format!("/user/keys/{MISSING}")).token(ROOT).send();
    assert_eq!(key.expect(200), Value::Null);
}

const TAKEN: &str = "has already been taken";

#[test]
fn row_15_in_the_original() {
    in_the_original(|forge| row_15(forge, &json!({"fingerprint": [TAKEN]})));
}

fn row_15_in_the_specification(forge: &Forge) {
    row_15(forge, &json!({"fingerprint": [TAKEN], "key": [TAKEN]}));
}

/// Row 15: POST /user/keys
fn row_15(forge: &Forge, fields: &Value) {
    let (_, token) = forge.user("ada");
    let form = [("title", "t"), ("key", &an_ssh_key(1))];
    forge.post("/user/keys").token(&token).form(&form).send().expect(201);
    for token in [&token, ROOT] {
        let refused = forge.post("/user/keys").token(token).form(&form).send();
        assert_eq!(refused.expect(400), json!({ "message": fields }));
    }
    // Other errors of a key are the same in both dialects.
    for (key, expected) in [
        ("ssh-rsa garbage", json!({"fingerprint": ["cannot be generated"]})),
        ("garbage", json!({"key": ["is invalid"], "fingerprint": ["cannot be generated"]})),
    ] {
        let form = [("title", "t"), ("key", key)];
        let refused = forge.post("/user/keys").token(&token).form(&form).send();
        assert_eq!(refused.expect(400), json!({ "message": expected }));
    }
}

#[test]
fn the_neighbours_of_these_rows_in_the_original() {
    in_the_original(the_same_in_both);
}

fn the_neighbours_of_these_rows_in_the_specification(forge: &Forge) {
    the_same_in_both(forge);
}

/// POST /users, PUT /users/:uid/block, POST /user/emails: calls without a row are the same in both dialects.
fn the_same_in_both(forge: &Forge) {
    let form = [
        ("username", "ada"),
        ("name", "ada"),
        ("email", "ada@example.com"),
        ("password", "long enough"),
        ("website_url", "http://ada.example"),
    ];
    let ada = forge.post("/users").token(ROOT).form(&form).send().expect(201);
    assert_eq!(ada["website_url"], "http://ada.example");
    let again = forge.post("/users").token(ROOT).form(&form).send().expect(409);
    assert_eq!(again, message("Email has already been taken"));
    let block = forge.put(&format!("/users/{}/block", id_of(&ada))).token(ROOT).send();
    assert_eq!(block.expect(200), true);
    let taken = [("email", "ada@example.com")];
    let refused = forge.post("/user/emails").token(ROOT).form(&taken).send().expect(400);
    assert_eq!(refused, field_error("email", TAKEN));
}
