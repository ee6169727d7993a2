//! `/user/tokens`: sessions and other tokens of the caller, and how sessions end.

use chrono::TimeDelta;
use hexforge_application::token;
use hexforge_domain::policy::Actor;
use hexforge_domain_testing::builders::a_moment;
use hexforge_tests::forge::{PASSWORD, ROOT, SESSION_DAYS};
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::support::{MISSING, assert_only_for_users, id_of, message};

on_every_store!(
    a_user_lists_its_sessions_without_their_secrets,
    a_user_revokes_its_own_tokens_only,
    a_session_ends_some_time_after_its_last_use,
    a_changed_password_ends_sessions_and_leaves_other_tokens,
    a_block_ends_sessions_for_good,
    the_calls_about_tokens_are_for_users,
);

#[track_caller]
fn sign_in(forge: &Forge, login: &str, password: &str) -> String {
    let form = [("login", login), ("password", password)];
    let session = forge.post("/session").form(&form).send().expect(201);
    session["private_token"].as_str().expect("a token").to_owned()
}

fn personal_token(forge: &Forge, username: &str) -> String {
    let made = token::create(&forge.app, Actor::OPERATOR, username, "a program", None);
    made.expect("the user exists").reveal().to_owned()
}

fn status(forge: &Forge, token: &str) -> u16 {
    forge.get("/user").token(token).send().status
}

#[track_caller]
fn tokens(forge: &Forge, token: &str) -> Vec<Value> {
    let list = forge.get("/user/tokens").token(token).send().expect(200);
    list.as_array().expect("a list").clone()
}

/// GET /user/tokens
fn a_user_lists_its_sessions_without_their_secrets(forge: &Forge) {
    forge.new_user("ada", &[]);
    let personal = personal_token(forge, "ada");
    let session = sign_in(forge, "ada", PASSWORD);
    let list = forge.get("/user/tokens").token(&session).send();
    let all = list.expect(200);
    assert_eq!(list.header("X-Total"), Some("2"));
    let newest = &all[0];
    let expected = json!({
        "id": id_of(newest), "kind": "private", "name": "session", "active": true,
        "created_at": "2016-09-22T10:30:00.000Z", "expires_at": "2026-09-20T10:30:00.000Z",
        "revoked_at": null
    });
    assert_eq!(newest.to_string(), expected.to_string());
    assert!(!list.text().contains(&session) && !list.text().contains(&personal));
    // Tokens of other users are not listed.
    forge.user("bob");
    assert_eq!(tokens(forge, &session).len(), 2);
}

/// DELETE /user/tokens/:id
fn a_user_revokes_its_own_tokens_only(forge: &Forge) {
    forge.new_user("ada", &[]);
    let (_, of_bob) = forge.user("bob");
    let (first, second) = (sign_in(forge, "ada", PASSWORD), sign_in(forge, "ada", PASSWORD));
    let id = id_of(&tokens(forge, &second)[1]);
    let missing = message("404 Not found");
    for (token, id) in [(&of_bob, id), (&second, MISSING)] {
        let refused = forge.delete(&format!("/user/tokens/{id}")).token(token).send();
        assert_eq!(refused.expect(404), missing);
    }
    assert_eq!(status(forge, &first), 200);
    let revoked = forge.delete(&format!("/user/tokens/{id}")).token(&second).send().expect(200);
    assert_eq!((&revoked["id"], &revoked["active"]), (&json!(id), &json!(false)));
    assert_eq!((status(forge, &first), status(forge, &second)), (401, 200));
    let again = forge.delete(&format!("/user/tokens/{id}")).token(&second).send();
    assert_eq!(again.expect(404), missing);
    // The token of the request itself may be revoked, too.
    let own = id_of(&tokens(forge, &second)[0]);
    forge.delete(&format!("/user/tokens/{own}")).token(&second).send().expect(200);
    assert_eq!(status(forge, &second), 401);
}

/// POST /session
fn a_session_ends_some_time_after_its_last_use(forge: &Forge) {
    forge.new_user("ada", &[]);
    let personal = personal_token(forge, "ada");
    let (used, idle) = (sign_in(forge, "ada", PASSWORD), sign_in(forge, "ada", PASSWORD));
    let after = |days: i64, hours: i64| {
        forge.clock.set(a_moment() + TimeDelta::days(days) + TimeDelta::hours(hours));
    };
    after(SESSION_DAYS - 1, 0);
    assert_eq!(status(forge, &used), 200);
    after(SESSION_DAYS, 0);
    assert_eq!((status(forge, &used), status(forge, &idle)), (200, 401));
    // A further use within an hour is not written.
    let before = tokens(forge, &used);
    forge.clock.set(a_moment() + TimeDelta::days(SESSION_DAYS) + TimeDelta::minutes(59));
    assert_eq!(tokens(forge, &used), before);
    after(2 * SESSION_DAYS - 1, 23);
    assert_eq!(status(forge, &used), 200);
    after(3 * SESSION_DAYS, 0);
    assert_eq!((status(forge, &used), status(forge, &personal)), (401, 200));
    assert_eq!(status(forge, ROOT), 200, "the token of the first start has no end");
}

/// PUT /users/:id
fn a_changed_password_ends_sessions_and_leaves_other_tokens(forge: &Forge) {
    let ada = id_of(&forge.new_user("ada", &[]));
    let personal = personal_token(forge, "ada");
    forge.new_user("bob", &[]);
    let (session, of_bob) = (sign_in(forge, "ada", PASSWORD), sign_in(forge, "bob", PASSWORD));
    let change = |form: &[(&str, &str)]| {
        forge.put(&format!("/users/{ada}")).token(ROOT).form(form).send().expect(200);
    };
    change(&[("name", "Ada Lovelace")]);
    assert_eq!(status(forge, &session), 200);
    change(&[("password", "another password")]);
    let statuses = [&session, &personal, &of_bob].map(|token| status(forge, token));
    assert_eq!(statuses, [401, 200, 200]);
    sign_in(forge, "ada", "another password");
}

/// PUT /users/:uid/block
fn a_block_ends_sessions_for_good(forge: &Forge) {
    let ada = id_of(&forge.new_user("ada", &[]));
    let personal = personal_token(forge, "ada");
    let session = sign_in(forge, "ada", PASSWORD);
    for (command, expected) in [("block", [401, 401]), ("unblock", [401, 200])] {
        forge.put(&format!("/users/{ada}/{command}")).token(ROOT).send().expect(200);
        assert_eq!([&session, &personal].map(|token| status(forge, token)), expected);
    }
}

/// GET /user/tokens, DELETE /user/tokens/:id
fn the_calls_about_tokens_are_for_users(forge: &Forge) {
    let calls = [("GET", "/user/tokens".to_owned()), ("DELETE", "/user/tokens/1".to_owned())];
    assert_only_for_users(forge, &calls);
}
