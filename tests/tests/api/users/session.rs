//! `POST /session`: signing in with a password.

use chrono::TimeDelta;
use hexforge_application::user::find_by_username;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::user::User;
use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, Response, on_every_store};
use serde_json::{Value, json};

use crate::api::forms::on_the_fake;

on_every_store!(
    a_session_is_the_full_user_with_a_private_token,
    login_and_email_may_each_hold_either_in_any_case,
    secondary_addresses_do_not_sign_in,
    a_wrong_password_and_an_unknown_user_are_refused_alike,
    a_second_factor_needs_a_personal_token,
    a_blocked_user_gets_nothing_that_works,
    guessing_is_braked_for_one_account_only,
    a_success_resets_the_count,
    failures_far_apart_never_add_up,
    each_session_has_a_token_of_its_own,
);

on_the_fake!(
    parameters_may_come_in_every_form,
    email_wins_where_both_are_given,
    missing_parameters_are_told_at_once,
);

fn sign_in(forge: &Forge, login: &str, password: &str) -> Response {
    forge.post("/session").form(&[("login", login), ("password", password)]).send()
}

#[track_caller]
fn assert_refused(response: &Response) {
    assert_eq!(response.expect(401), json!({"message": "401 Unauthorized"}));
}

fn a_session_is_the_full_user_with_a_private_token(forge: &Forge) {
    let made = forge.new_user("ada", &[("bio", "counts")]);
    let session = sign_in(forge, "ada", PASSWORD).expect(201);
    let token = session["private_token"].as_str().expect("a token").to_owned();
    assert!(token.len() >= 20, "{token}");
    let fields = session.as_object().expect("an object");
    assert_eq!(fields.keys().next_back().map(String::as_str), Some("private_token"));

    let mut expected = made.clone();
    expected["private_token"] = json!(token);
    assert_eq!(session.to_string(), expected.to_string(), "the full form, in the same order");
    assert_eq!(session["last_sign_in_at"], Value::Null);
    assert_eq!(session["current_sign_in_at"], Value::Null);
    let user = forge.get("/user").token(&token).send().expect(200);
    assert_eq!(user, made, "signing in through the interface leaves no trace");
}

fn login_and_email_may_each_hold_either_in_any_case(forge: &Forge) {
    forge.new_user("Ada", &[]);
    for parameter in ["login", "email"] {
        for value in ["Ada", "ada", "ADA", "ada@example.com", "Ada@Example.COM"] {
            let form = [(parameter, value), ("password", PASSWORD)];
            let session = forge.post("/session").form(&form).send().expect(201);
            assert_eq!(session["username"], "Ada", "{parameter}={value}");
        }
    }
    // Parts and patterns of a username or an address match no account.
    for value in ["ada@", "@example.com", "example.com", "da", "ad", "ada%", "a_a", "", " "] {
        assert_refused(&sign_in(forge, value, PASSWORD));
    }
}

fn parameters_may_come_in_every_form(forge: &Forge) {
    let pairs = [("login", "root"), ("password", PASSWORD)];
    let post = || forge.post("/session");
    for response in [
        post().query(&pairs).send(),
        post().form(&pairs).send(),
        post().multipart(&pairs).send(),
        post().json(&json!({"login": "root", "password": PASSWORD})).send(),
        post().query(&pairs[..1]).form(&pairs[1..]).send(),
        // A token in the request and unknown parameters are ignored.
        post().token("wrong").header("SUDO", "nobody").form(&pairs).send(),
        post().json(&json!({"email": "root", "password": PASSWORD, "x": [1]})).send(),
    ] {
        assert_eq!(response.expect(201)["username"], "root");
    }
}

fn email_wins_where_both_are_given(forge: &Forge) {
    forge.new_user("ada", &[]);
    let both = |login: &str, email: &str| {
        let form = [("login", login), ("email", email), ("password", PASSWORD)];
        forge.post("/session").form(&form).send()
    };
    assert_eq!(both("root", "ada@example.com").expect(201)["username"], "ada");
    assert_eq!(both("ada", "root").expect(201)["username"], "root");
    assert_eq!(both("nobody", "ada").expect(201)["username"], "ada");
    assert_refused(&both("ada", "nobody"));
    let body = json!({"login": "ada", "email": null, "password": PASSWORD});
    assert_eq!(forge.post("/session").json(&body).send().expect(201)["username"], "ada");
}

fn secondary_addresses_do_not_sign_in(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let form = [("email", "second@example.com")];
    assert_eq!(forge.post("/user/emails").token(&token).form(&form).send().status, 201);
    assert_refused(&sign_in(forge, "second@example.com", PASSWORD));
    assert_eq!(sign_in(forge, "ada@example.com", PASSWORD).status, 201);
}

fn a_wrong_password_and_an_unknown_user_are_refused_alike(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let wrong = sign_in(forge, "ada", "wrong horse");
    let unknown = sign_in(forge, "nobody", PASSWORD);
    assert_refused(&wrong);
    assert_eq!((wrong.status, &wrong.body), (unknown.status, &unknown.body));
    assert_eq!(wrong.header("www-authenticate"), None);
    for password in ["", " ", "CORRECT HORSE", " correct horse", &token, &"x".repeat(100_000)] {
        assert_refused(&sign_in(forge, "ada", password));
    }
    let body = json!({"login": "ada", "password": null});
    assert_refused(&forge.post("/session").json(&body).send());
    assert_eq!(sign_in(forge, "ada", PASSWORD).status, 201);
}

fn missing_parameters_are_told_at_once(forge: &Forge) {
    let neither = "login, email are missing, at least one parameter must be provided";
    let post = || forge.post("/session");
    let error = |text: &str| json!({"error": text});
    let no_password = error("password is missing");
    assert_eq!(post().form(&[("login", "root")]).send().expect(400), no_password);
    assert_eq!(post().form(&[("email", "root")]).send().expect(400), no_password);
    assert_eq!(post().form(&[("login", "")]).send().expect(400), no_password);
    assert_eq!(post().form(&[("password", PASSWORD)]).send().expect(400), error(neither));
    assert_eq!(post().form(&[("password", "")]).send().expect(400), error(neither));
    let both = error(&format!("password is missing, {neither}"));
    assert_eq!(post().send().expect(400), both);
    assert_eq!(post().json(&json!({})).send().expect(400), both);
    for wrong in [json!(["x"]), json!({"x": 1}), json!("x\0y")] {
        let as_login = post().json(&json!({"login": wrong, "password": PASSWORD})).send();
        assert_eq!(as_login.expect(400), error("login is invalid"));
        let as_password = post().json(&json!({"login": "root", "password": wrong})).send();
        assert_eq!(as_password.expect(400), error("password is invalid"));
    }
}

/// Changes an account directly in the store.
fn change_account(forge: &Forge, username: &str, change: impl FnOnce(User) -> User + Send) {
    let user =
        find_by_username(&forge.app, Actor::OPERATOR, username).expect("the user exists").user;
    forge
        .app
        .store
        .write::<_, StoreError>(|tx| tx.users().update(&change(user)))
        .expect("the store works");
}

fn a_second_factor_needs_a_personal_token(forge: &Forge) {
    forge.new_user("ada", &[]);
    change_account(forge, "ada", |user| User { two_factor_enabled: true, ..user });
    let refused = sign_in(forge, "ada", PASSWORD);
    let message = "401 Unauthorized. You have 2FA enabled. Please use a personal access token to \
                   access the API";
    assert_eq!(refused.expect(401), json!({"message": message}));
    assert_refused(&sign_in(forge, "ada", "wrong horse"));
}

fn a_blocked_user_gets_nothing_that_works(forge: &Forge) {
    let made = forge.new_user("ada", &[]);
    let path = format!("/users/{}/block", made["id"]);
    assert_eq!(forge.put(&path).token(ROOT).send().status, 200);
    // The reference allows 201 with a token that does not work; we refuse at once.
    assert_refused(&sign_in(forge, "ada", PASSWORD));
}

#[track_caller]
fn assert_braked(response: &Response, seconds: &str) {
    assert_eq!(response.expect(429), json!({"message": "429 Too Many Requests"}));
    assert_eq!(response.header("retry-after"), Some(seconds));
}

fn guessing_is_braked_for_one_account_only(forge: &Forge) {
    let (_, token) = forge.user("ada");
    forge.new_user("bob", &[]);
    // The limit is per account, whichever name is used to sign in.
    for login in ["ada", "ADA", "ada@example.com"].iter().cycle().take(10) {
        assert_refused(&sign_in(forge, login, "wrong horse"));
    }
    assert_braked(&sign_in(forge, "ada", "wrong horse"), "60");
    assert_braked(&sign_in(forge, "ada", PASSWORD), "60");
    assert_braked(&sign_in(forge, "Ada@Example.com", PASSWORD), "60");
    assert_eq!(forge.get("/user").token(&token).send().status, 200, "it is not locked");
    assert_eq!(sign_in(forge, "bob", PASSWORD).status, 201);
    assert_eq!(sign_in(forge, "root", PASSWORD).status, 201);

    forge.clock.advance(TimeDelta::seconds(59));
    assert_braked(&sign_in(forge, "ada", PASSWORD), "1");
    forge.clock.advance(TimeDelta::seconds(1));
    assert_eq!(sign_in(forge, "ada", PASSWORD).status, 201);

    // An unknown account is limited in the same way, so that it cannot be distinguished from a known one.
    for _ in 0..10 {
        assert_refused(&sign_in(forge, "nobody", "wrong horse"));
    }
    assert_braked(&sign_in(forge, "Nobody", "wrong horse"), "60");
    assert_refused(&sign_in(forge, "nobody2", "wrong horse"));
}

fn a_success_resets_the_count(forge: &Forge) {
    forge.new_user("ada", &[]);
    for _ in 0..3 {
        for _ in 0..9 {
            assert_refused(&sign_in(forge, "ada", "wrong horse"));
        }
        assert_eq!(sign_in(forge, "ada", PASSWORD).status, 201);
    }
    // Incomplete requests do not count as failures.
    for _ in 0..11 {
        assert_eq!(forge.post("/session").form(&[("login", "ada")]).send().status, 400);
    }
    assert_eq!(sign_in(forge, "ada", PASSWORD).status, 201);
}

fn failures_far_apart_never_add_up(forge: &Forge) {
    forge.new_user("ada", &[]);
    for _ in 0..3 {
        for _ in 0..9 {
            assert_refused(&sign_in(forge, "ada", "wrong horse"));
        }
        forge.clock.advance(TimeDelta::seconds(60));
    }
    assert_eq!(sign_in(forge, "ada", PASSWORD).status, 201);
}

fn each_session_has_a_token_of_its_own(forge: &Forge) {
    let (_, first) = forge.user("ada");
    let second = forge.sign_in("ada");
    assert_ne!(first, second);
    for token in [first, second] {
        assert_eq!(forge.get("/user").token(&token).send().expect(200)["username"], "ada");
    }
}
