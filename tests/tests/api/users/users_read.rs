//! `GET /users/:id` and `GET /user`: reference sections 2.1, 2.3 and 2.8.

use hexforge_domain_testing::builders::at;
use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use crate::api::support::{
    HUGE, MISSING, assert_only_for_users, change_account, id_of, message, no_route, user_now,
};

on_every_store!(
    a_normal_user_reads_the_single_form_of_anybody_and_of_itself,
    an_administrator_reads_the_full_form,
    a_user_reads_its_own_full_form,
    everything_that_can_be_set_is_shown,
    blocked_users_can_be_read_and_make_no_groups,
    ids_are_digits_and_those_that_nobody_has_are_not_found,
    spellings_of_a_read_mean_the_same,
    no_answer_shows_a_secret,
);

const AVATAR: &str =
    "http://www.gravatar.com/avatar/3e3417d7ef77d5932a6734b916515ed5?s=80&d=identicon";
const NOW: &str = "2016-09-22T10:30:00.000Z";

/// The new user `ada`, as normal users see it.
fn single(id: i64) -> Value {
    json!({
        "name": "ada", "username": "ada", "id": id, "state": "active",
        "avatar_url": AVATAR, "web_url": "http://forge.test/ada",
        "created_at": NOW, "is_admin": false, "bio": null, "location": null,
        "skype": "", "linkedin": "", "twitter": "", "website_url": "", "organization": null
    })
}

/// The same user, as administrators see it.
fn full(id: i64) -> Value {
    let mut shown = single(id);
    let more = json!({
        "last_sign_in_at": null, "confirmed_at": NOW, "email": "ada@example.com",
        "theme_id": 2, "color_scheme_id": 1, "projects_limit": 100,
        "current_sign_in_at": null, "identities": [], "can_create_group": true,
        "can_create_project": true, "two_factor_enabled": false, "external": false
    });
    let more = more.as_object().expect("an object").clone();
    shown.as_object_mut().expect("an object").extend(more);
    shown
}

/// GET /users/:id
fn a_normal_user_reads_the_single_form_of_anybody_and_of_itself(forge: &Forge) {
    let (ada, own_token) = forge.user("ada");
    let (_, other_token) = forge.user("bob");
    for token in [own_token, other_token] {
        let answer = forge.get(&format!("/users/{ada}")).token(&token).send();
        answer.expect(200);
        assert_eq!(answer.text(), single(ada).to_string());
    }
}

/// GET /users/:id
fn an_administrator_reads_the_full_form(forge: &Forge) {
    let (ada, _) = forge.user("ada");
    let answer = forge.get(&format!("/users/{ada}")).token(ROOT).send();
    answer.expect(200);
    assert_eq!(answer.text(), full(ada).to_string());
    let root = user_now(forge, 1);
    assert_eq!((&root["is_admin"], &root["username"]), (&json!(true), &json!("root")));
}

/// GET /user
fn a_user_reads_its_own_full_form(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let answer = forge.get("/user").token(&token).send();
    answer.expect(200);
    assert_eq!(answer.text(), full(ada).to_string());
    let root = forge.get("/user").token(ROOT).send();
    assert_eq!(root.text(), user_now(forge, 1).to_string());
    assert_only_for_users(
        forge,
        &[("GET", "/user".into()), ("GET", "/users/1".into()), ("GET", format!("/users/{HUGE}"))],
    );
}

/// GET /users/:id, GET /user
fn everything_that_can_be_set_is_shown(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let settings = json!({
        "bio": "Counts <b>things</b>.", "location": "Here", "skype": "ada-s", "linkedin": "ada-l",
        "twitter": "ada-t", "website_url": "http://ada.example/?a=1&b=2",
        "organization": "Engines & Co", "projects_limit": 0, "can_create_group": false,
        "provider": "directory", "extern_uid": "cn=ada"
    });
    forge.put(&format!("/users/{ada}")).token(ROOT).json(&settings).send().expect(200);
    change_account(forge, ada, |user| {
        user.two_factor_enabled = true;
        user.confirmed_at = None;
        user.last_sign_in_at = Some(at(-60));
        user.current_sign_in_at = Some(at(1) + chrono::TimeDelta::microseconds(123_456));
        user.appearance.theme_id = 4;
        user.appearance.color_scheme_id = 3;
        user.avatar = Some("me.png".to_owned());
    });
    let mut expected = full(ada);
    for (field, value) in [
        ("avatar_url", json!(format!("http://forge.test/uploads/user/avatar/{ada}/me.png"))),
        ("bio", json!("Counts <b>things</b>.")),
        ("location", json!("Here")),
        ("skype", json!("ada-s")),
        ("linkedin", json!("ada-l")),
        ("twitter", json!("ada-t")),
        ("website_url", json!("http://ada.example/?a=1&b=2")),
        ("organization", json!("Engines & Co")),
        ("last_sign_in_at", json!("2016-09-22T10:29:00.000Z")),
        ("confirmed_at", json!(null)),
        ("theme_id", json!(4)),
        ("color_scheme_id", json!(3)),
        ("projects_limit", json!(0)),
        ("current_sign_in_at", json!("2016-09-22T10:30:01.123Z")),
        ("identities", json!([{"provider": "directory", "extern_uid": "cn=ada"}])),
        ("can_create_group", json!(false)),
        ("can_create_project", json!(false)),
        ("two_factor_enabled", json!(true)),
    ] {
        expected[field] = value;
    }
    assert_eq!(forge.get(&format!("/users/{ada}")).token(ROOT).send().text(), expected.to_string());
    assert_eq!(forge.get("/user").token(&token).send().text(), expected.to_string());
}

/// GET /users/:id
fn blocked_users_can_be_read_and_make_no_groups(forge: &Forge) {
    let (ada, own_token) = forge.user("ada");
    let (_, other_token) = forge.user("bob");
    forge.put(&format!("/users/{ada}/block")).token(ROOT).send().expect(200);
    let seen = forge.get(&format!("/users/{ada}")).token(&other_token).send().expect(200);
    assert_eq!(seen["state"], "blocked");
    let managed = user_now(forge, ada);
    assert_eq!(managed["state"], "blocked");
    assert_eq!(managed["can_create_group"], false);
    assert_eq!(managed["can_create_project"], true);
    // The blocked user cannot call the API.
    let own = forge.get("/user").token(&own_token).send().expect(401);
    assert_eq!(own, message("401 Unauthorized"));
}

/// GET /users/:id
fn ids_are_digits_and_those_that_nobody_has_are_not_found(forge: &Forge) {
    let (_, token) = forge.user("ada");
    for id in [MISSING.to_string().as_str(), "0", HUGE, "9223372036854775808"] {
        for token in [&token, ROOT] {
            let missing = forge.get(&format!("/users/{id}")).token(token).send().expect(404);
            assert_eq!(missing, message("404 Not found"), "{id}");
        }
    }
    // Unknown routes give the same answer to strangers.
    for id in ["ada", "1a", "-1", "+1", "1.0", "%20", "0x1", "root/keys", "1/nothing"] {
        let unknown = forge.get(&format!("/users/{id}")).send().expect(404);
        assert_eq!(unknown, no_route(), "{id}");
        let unknown = forge.get(&format!("/users/{id}")).token(ROOT).send().expect(404);
        assert_eq!(unknown, no_route(), "{id}");
    }
    for (method, path) in [("POST", "/users/1"), ("PATCH", "/users/1"), ("PUT", "/user")] {
        let unknown = forge.request(method, path).token(ROOT).send().expect(404);
        assert_eq!(unknown, no_route(), "{method} {path}");
    }
}

/// GET /users/:id
fn spellings_of_a_read_mean_the_same(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let plain = forge.get(&format!("/users/{ada}")).token(&token).send();
    for path in [format!("/users/{ada}/"), format!("//users//{ada}"), format!("/users/{ada}?")] {
        assert_eq!(forge.get(&path).token(&token).send().text(), plain.text(), "{path}");
    }
    // The path counts, not a parameter with the same name; the body of a read is ignored.
    let read = || forge.get(&format!("/users/{ada}")).token(&token);
    assert_eq!(read().query(&[("id", "1"), ("user_id", "1")]).send().text(), plain.text());
    assert_eq!(read().json(&json!({})).send().text(), plain.text());
    assert_eq!(read().form(&[("id", "1")]).send().text(), plain.text());
}

/// GET /user, GET /users, GET /users/:id, POST /users, PUT /users/:id, DELETE /users/:id
fn no_answer_shows_a_secret(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let form = [
        ("username", "bob"),
        ("name", "bob"),
        ("email", "bob@example.com"),
        ("password", "bobs own secret"),
    ];
    let created = forge.post("/users").token(ROOT).form(&form).send();
    let bob = id_of(&created.expect(201));
    let key = an_ssh_key(1);
    let answers = [
        created,
        forge.put(&format!("/users/{bob}")).token(ROOT).form(&form).send(),
        forge.put(&format!("/users/{bob}")).token(ROOT).form(&[("password", "short")]).send(),
        forge.post("/users").token(ROOT).form(&form).send(),
        forge.get("/user").token(&token).send(),
        forge.get("/users").token(ROOT).send(),
        forge.get("/users").token(&token).send(),
        forge.get(&format!("/users/{ada}")).token(ROOT).send(),
        forge.get(&format!("/users/{ada}")).token(&token).send(),
        forge.post("/user/keys").token(&token).form(&[("title", "t"), ("key", &key)]).send(),
        forge.get(&format!("/users/{ada}/keys")).token(ROOT).send(),
        forge.get(&format!("/users/{ada}/events")).token(&token).send(),
        forge.delete(&format!("/users/{bob}")).token(ROOT).send(),
    ];
    for answer in answers {
        let text = format!("{:?} {}", answer.headers, answer.text());
        for secret in [&token, ROOT, PASSWORD, "bobs own secret", "private_token", "argon2"] {
            assert!(!text.contains(secret), "{secret:?} is in {text}");
        }
    }
}
