//! `/user/keys` and `/users/:uid/keys`: reference section 3, the permissions for each call.

use hexforge_domain::id::KeyId;
use hexforge_domain::outbox::{KeyFacts, SystemEvent};
use hexforge_domain_testing::builders::{a_moment, at};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use crate::api::support::{
    HUGE, MISSING, activity_count, assert_only_for_administrators, assert_only_for_users, id_of,
    ids, message, no_route, queued_events,
};

on_every_store!(
    a_user_adds_lists_and_reads_its_own_keys,
    title_and_key_have_to_be_given_in_this_order,
    keys_of_others_are_not_found_among_ones_own,
    a_user_removes_its_own_keys_and_again_is_fine,
    the_calls_about_ones_own_keys_are_for_users,
    the_calls_about_keys_of_others_are_for_administrators,
    an_administrator_adds_keys_to_others,
    an_administrator_lists_keys_of_others,
    an_administrator_removes_keys_of_others,
    keys_are_news_and_no_activity,
);

#[track_caller]
fn add(forge: &Forge, token: &str, title: &str, number: u32) -> Value {
    let form = [("title", title), ("key", &an_ssh_key(number))];
    forge.post("/user/keys").token(token).form(&form).send().expect(201)
}

/// POST /user/keys, GET /user/keys, GET /user/keys/:id
fn a_user_adds_lists_and_reads_its_own_keys(forge: &Forge) {
    let (_, token) = forge.user("ada");
    assert_eq!(forge.get("/user/keys").token(&token).send().expect(200), json!([]));
    let form = [("title", "laptop & <b>co</b>"), ("key", &an_ssh_key(1))];
    let first = forge.post("/user/keys").token(&token).form(&form).send();
    let id = id_of(&first.expect(201));
    let expected = json!({
        "id": id, "title": "laptop & <b>co</b>", "key": an_ssh_key(1),
        "created_at": "2016-09-22T10:30:00.000Z"
    });
    assert_eq!(first.text(), expected.to_string());
    forge.clock.set(at(90));
    let second = add(forge, &token, "desk", 2);
    assert_eq!(second["created_at"], "2016-09-22T10:31:30.000Z");
    let list = forge.get("/user/keys").token(&token).send();
    assert_eq!(list.text(), json!([second, expected]).to_string());
    assert_eq!(list.header("X-Total"), Some("2"));
    let read = forge.get(&format!("/user/keys/{id}")).token(&token).send();
    read.expect(200);
    assert_eq!(read.text(), expected.to_string());
    let page = forge.get("/user/keys?page=2&per_page=1").token(&token).send();
    assert_eq!(page.text(), json!([expected]).to_string());
    assert_eq!(page.header("X-Prev-Page"), Some("1"));
    // As JSON, with further fields of an earlier response.
    let whole = json!({"id": id, "title": "third", "key": an_ssh_key(3), "created_at": null});
    let third = forge.post("/user/keys").token(&token).json(&whole).send().expect(201);
    assert_ne!(id_of(&third), id);
}

/// POST /user/keys
fn title_and_key_have_to_be_given_in_this_order(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let key = an_ssh_key(1);
    for (form, missing) in [
        (vec![], "title"),
        (vec![("key", key.as_str())], "title"),
        (vec![("title", " "), ("key", "nonsense")], "title"),
        (vec![("title", "t")], "key"),
        (vec![("title", "t"), ("key", "  ")], "key"),
    ] {
        let refused = forge.post("/user/keys").token(&token).form(&form).send().expect(400);
        let expected = message(&format!("400 (Bad request) \"{missing}\" not given"));
        assert_eq!(refused, expected, "{form:?}");
    }
    assert_eq!(forge.get("/user/keys").token(&token).send().expect(200), json!([]));
}

/// GET /user/keys/:id, DELETE /user/keys/:id
fn keys_of_others_are_not_found_among_ones_own(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (_, bob) = forge.user("bob");
    let key = id_of(&add(forge, &ada, "laptop", 1));
    for (token, id) in [
        (bob.as_str(), key.to_string()),
        (ROOT, key.to_string()),
        (&ada, MISSING.to_string()),
        (&ada, "0".into()),
        (&ada, HUGE.into()),
        (&ada, "laptop".into()),
        (&ada, "-1".into()),
    ] {
        let path = format!("/user/keys/{id}");
        let missing = forge.get(&path).token(token).send().expect(404);
        assert_eq!(missing, message("404 Not found"), "{id}");
        let removed = forge.delete(&path).token(token).send();
        assert_eq!((removed.status, removed.text()), (200, "null"), "{id}");
    }
    forge.get(&format!("/user/keys/{key}")).token(&ada).send().expect(200);
}

/// DELETE /user/keys/:id
fn a_user_removes_its_own_keys_and_again_is_fine(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let (key, kept) = (add(forge, &token, "laptop", 1), add(forge, &token, "desk", 2));
    let path = format!("/user/keys/{}", id_of(&key));
    let removed = forge.delete(&path).token(&token).send();
    removed.expect(200);
    assert_eq!(removed.text(), key.to_string());
    let again = forge.delete(&path).token(&token).send();
    assert_eq!((again.expect(200), again.text()), (Value::Null, "null"));
    assert_eq!(forge.get(&path).token(&token).send().expect(404), message("404 Not found"));
    assert_eq!(forge.get("/user/keys").token(&token).send().expect(200), json!([kept]));
    // The key can be used again.
    add(forge, &token, "laptop", 1);
}

/// GET /user/keys, POST /user/keys, GET /user/keys/:id, DELETE /user/keys/:id
fn the_calls_about_ones_own_keys_are_for_users(forge: &Forge) {
    assert_only_for_users(
        forge,
        &[
            ("GET", "/user/keys".into()),
            ("POST", "/user/keys".into()),
            ("GET", "/user/keys/1".into()),
            ("GET", "/user/keys/x".into()),
            ("DELETE", "/user/keys/1".into()),
        ],
    );
    let changed = forge.put("/user/keys/1").token(ROOT).form(&[("title", "t")]).send();
    assert_eq!(changed.expect(404), no_route());
}

/// GET /users/:uid/keys, POST /users/:id/keys, DELETE /users/:uid/keys/:id
fn the_calls_about_keys_of_others_are_for_administrators(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let key = id_of(&add(forge, &token, "laptop", 1));
    assert_only_for_administrators(
        forge,
        &[
            ("GET", format!("/users/{ada}/keys")),
            ("GET", format!("/users/{MISSING}/keys")),
            ("POST", format!("/users/{ada}/keys")),
            ("POST", format!("/users/{MISSING}/keys")),
            ("DELETE", format!("/users/{ada}/keys/{key}")),
            ("DELETE", format!("/users/{MISSING}/keys/{key}")),
        ],
    );
    // Not even for the user itself; the permission is checked before the parameters.
    let path = format!("/users/{ada}/keys");
    forge.get(&path).token(&token).send().expect(403);
    let list = json!({"title": ["a", "list"], "key": an_ssh_key(2)});
    let refused = forge.post(&path).token(&token).json(&list).send().expect(403);
    assert_eq!(refused, message("403 Forbidden"));
    forge.delete(&format!("{path}/{key}")).token(&token).send().expect(403);
    assert_eq!(ids(&forge.get("/user/keys").token(&token).send().expect(200)), [key]);
    for (method, path) in [
        ("GET", "/users/root/keys".to_owned()),
        ("POST", "/users/1x/keys".into()),
        ("DELETE", "/users/root/keys/1".into()),
        ("GET", format!("/users/{ada}/keys/{key}")),
    ] {
        let unknown = forge.request(method, &path).token(ROOT).send().expect(404);
        assert_eq!(unknown, no_route(), "{method} {path}");
    }
}

/// POST /users/:id/keys
fn an_administrator_adds_keys_to_others(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let good = [("title", "laptop"), ("key", &an_ssh_key(1))];
    for id in [ada.to_string(), MISSING.to_string(), HUGE.into()] {
        let path = format!("/users/{id}/keys");
        for (form, missing) in [(&good[1..], "title"), (&good[..1], "key"), (&[][..], "title")] {
            let refused = forge.post(&path).token(ROOT).form(form).send().expect(400);
            assert_eq!(refused, message(&format!("400 (Bad request) \"{missing}\" not given")));
        }
    }
    for id in [MISSING.to_string(), HUGE.into()] {
        for key in ["garbage", &an_ssh_key(1)] {
            let add = forge.post(&format!("/users/{id}/keys")).token(ROOT);
            let refused = add.form(&[("title", "t"), ("key", key)]).send().expect(404);
            assert_eq!(refused, message("404 Not found"));
        }
    }
    let path = format!("/users/{ada}/keys");
    let garbage = [("title", "t"), ("key", "ssh-rsa garbage")];
    let refused = forge.post(&path).token(ROOT).form(&garbage).send().expect(400);
    assert_eq!(refused, json!({"message": {"fingerprint": ["cannot be generated"]}}));
    // The id in the path counts, not an `id` parameter.
    let added = forge.post(&path).token(ROOT).query(&[("id", "1")]).form(&good).send();
    let expected = json!({
        "id": id_of(&added.expect(201)), "title": "laptop", "key": an_ssh_key(1),
        "created_at": "2016-09-22T10:30:00.000Z"
    });
    assert_eq!(added.text(), expected.to_string());
    assert_eq!(forge.get("/user/keys").token(&token).send().expect(200), json!([expected]));
    assert_eq!(forge.get("/user/keys").token(ROOT).send().expect(200), json!([]));
}

/// GET /users/:uid/keys
fn an_administrator_lists_keys_of_others(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let path = format!("/users/{ada}/keys");
    assert_eq!(forge.get(&path).token(ROOT).send().expect(200), json!([]));
    let keys = [add(forge, &token, "one", 1), add(forge, &token, "two", 2)];
    add(forge, ROOT, "other", 3);
    let list = forge.get(&path).query(&[("user_id", "1")]).token(ROOT).send();
    assert_eq!(list.text(), json!([keys[1], keys[0]]).to_string());
    assert_eq!(list.header("X-Total"), Some("2"));
    for id in [MISSING.to_string().as_str(), "0", HUGE] {
        let missing = forge.get(&format!("/users/{id}/keys")).token(ROOT).send().expect(404);
        assert_eq!(missing, message("404 User Not Found"), "{id}");
    }
}

/// DELETE /users/:uid/keys/:id
fn an_administrator_removes_keys_of_others(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, _) = forge.user("bob");
    let key = add(forge, &token, "laptop", 1);
    let id = id_of(&key);
    for (path, text) in [
        (format!("/users/{MISSING}/keys/{id}"), "404 User Not Found"),
        (format!("/users/{HUGE}/keys/{id}"), "404 User Not Found"),
        (format!("/users/{bob}/keys/{id}"), "404 Key Not Found"),
        (format!("/users/{ada}/keys/{MISSING}"), "404 Key Not Found"),
        (format!("/users/{ada}/keys/{HUGE}"), "404 Key Not Found"),
        (format!("/users/{ada}/keys/laptop"), "404 Key Not Found"),
    ] {
        let refused = forge.delete(&path).token(ROOT).send().expect(404);
        assert_eq!(refused, message(text), "{path}");
    }
    let path = format!("/users/{ada}/keys/{id}");
    let removed = forge.delete(&path).token(ROOT).send();
    removed.expect(200);
    assert_eq!(removed.text(), key.to_string());
    assert_eq!(forge.get("/user/keys").token(&token).send().expect(200), json!([]));
    let again = forge.delete(&path).token(ROOT).send().expect(404);
    assert_eq!(again, message("404 Key Not Found"));
}

/// POST /user/keys, POST /users/:id/keys, DELETE /user/keys/:id, DELETE /users/:uid/keys/:id
fn keys_are_news_and_no_activity(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let before = queued_events(forge).len();
    let own = id_of(&add(forge, &token, "laptop", 1));
    let form = [("title", "desk"), ("key", &an_ssh_key(2))];
    let path = format!("/users/{ada}/keys");
    let given = id_of(&forge.post(&path).token(ROOT).form(&form).send().expect(201));
    // Refused calls create no event.
    forge.post("/user/keys").token(&token).form(&form).send().expect(400);
    forge.delete(&format!("/user/keys/{given}")).token(ROOT).send().expect(200);
    forge.delete(&format!("/user/keys/{given}")).token(&token).send().expect(200);
    forge.delete(&format!("{path}/{own}")).token(ROOT).send().expect(200);
    let facts = |id: i64, number: u32| KeyFacts {
        id: KeyId(id),
        key: an_ssh_key(number),
        username: "ada".to_owned(),
        created_at: a_moment(),
    };
    assert_eq!(
        queued_events(forge)[before..],
        [
            SystemEvent::KeyCreated(facts(own, 1)),
            SystemEvent::KeyCreated(facts(given, 2)),
            SystemEvent::KeyDestroyed(facts(given, 2)),
            SystemEvent::KeyDestroyed(facts(own, 1)),
        ]
    );
    assert_eq!((activity_count(forge, ada), activity_count(forge, 1)), (0, 0));
}
