//! Authentication: every way to send a token, and the answers without a valid one.

use chrono::TimeDelta;
use hexforge_application::token;
use hexforge_application::user::block::follow_directory;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::ports::clock::Clock;
use hexforge_domain::user::state::DirectoryCommand;
use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, Response, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use crate::api::forms::on_the_fake;

on_every_store!(
    a_token_is_taken_from_every_kind_of_parameter,
    the_parameter_wins_over_the_header,
    the_bearer_is_tried_when_the_private_token_opens_nothing,
    without_a_good_token_every_call_is_refused,
    a_personal_token_has_the_rights_of_its_user,
    an_expired_personal_token_opens_nothing,
    a_revoked_personal_token_opens_nothing,
    a_blocked_user_is_not_authenticated,
    a_deleted_user_takes_its_tokens_along,
);

on_the_fake!(
    the_token_header_may_have_any_letter_case,
    a_token_is_taken_as_bearer_from_header_and_parameters,
    other_authorization_beside_a_token_does_no_harm,
    no_header_of_a_proxy_signs_anybody_in,
);

#[track_caller]
fn assert_refused(response: &Response) {
    assert_eq!(response.expect(401), json!({"message": "401 Unauthorized"}));
    assert_eq!(response.header("content-type"), Some("application/json"));
    assert_eq!(response.header("www-authenticate"), None);
}

#[track_caller]
fn assert_user(response: &Response, username: &str) {
    assert_eq!(response.expect(200)["username"], *username);
}

/// Headers that proxies add are not trusted, because no proxy is configured.
fn no_header_of_a_proxy_signs_anybody_in(forge: &Forge) {
    let headers = ["X-Forwarded-User", "X-Remote-User", "Remote-User", "X-WEBAUTH-USER", "X-User"];
    for name in headers {
        assert_refused(&forge.get("/user").header(name, "root").send());
    }
    // A made-up client address is not trusted either; otherwise callers could block others. Loopback is never blocked,
    // another address would be after ten failures.
    for number in 0..12 {
        let login = format!("nobody-{number}");
        let form = [("login", login.as_str()), ("password", "wrong horse")];
        let request = forge.post("/session").header("X-Forwarded-For", "203.0.113.9");
        let request = request.header("X-Real-IP", "203.0.113.9");
        assert_eq!(request.header("Forwarded", "for=203.0.113.9").form(&form).send().status, 401);
    }
}

fn the_token_header_may_have_any_letter_case(forge: &Forge) {
    let (_, token) = forge.user("ada");
    for name in ["PRIVATE-TOKEN", "private-token", "Private-Token", "pRiVaTe-ToKeN"] {
        assert_user(&forge.get("/user").header(name, &token).send(), "ada");
    }
    assert_user(&forge.get("/user").header("PRIVATE-TOKEN", &format!("  {token} ")).send(), "ada");
}

fn a_token_is_taken_from_every_kind_of_parameter(forge: &Forge) {
    let (id, token) = forge.user("ada");
    let in_query = [("private_token", token.as_str())];
    assert_user(&forge.get("/user").query(&in_query).send(), "ada");

    let with_email = |email: &'static str| [("private_token", token.as_str()), ("email", email)];
    let post = || forge.post("/user/emails");
    let form = post().form(&with_email("form@example.com")).send();
    let multipart = post().multipart(&with_email("multipart@example.com")).send();
    let json_body = json!({"private_token": token, "email": "json@example.com"});
    let in_json = post().json(&json_body).send();
    let untyped = post().body(format!("private_token={token}&email=untyped%40example.com")).send();
    for (answer, address) in [
        (form, "form@example.com"),
        (multipart, "multipart@example.com"),
        (in_json, "json@example.com"),
        (untyped, "untyped@example.com"),
    ] {
        assert_eq!(answer.expect(201)["email"], address);
    }
    let of_ada = forge.get(&format!("/users/{id}/emails")).token(ROOT).send();
    assert_eq!(of_ada.header("x-total"), Some("4"));

    // Some clients send the token in the form of PUT and DELETE requests.
    let as_root = [("private_token", ROOT), ("bio", "counts")];
    let put = forge.put(&format!("/users/{id}")).form(&as_root).send();
    assert_eq!(put.expect(200)["bio"], "counts");
    let delete = forge.delete(&format!("/users/{id}")).form(&[("private_token", ROOT)]).send();
    assert_eq!(delete.expect(200)["id"], id);
}

fn a_token_is_taken_as_bearer_from_header_and_parameters(forge: &Forge) {
    let (_, token) = forge.user("ada");
    for value in [format!("Bearer {token}"), format!("bearer {token}"), format!("BEARER  {token}")]
    {
        assert_user(&forge.get("/user").header("Authorization", &value).send(), "ada");
    }
    let bearer = format!("Bearer {token}");
    assert_user(&forge.get("/user").header("authorization", &bearer).send(), "ada");
    for name in ["access_token", "bearer_token"] {
        assert_user(&forge.get("/user").query(&[(name, &token)]).send(), "ada");
    }
    let body = json!({"access_token": token, "email": "json@example.com"});
    assert_eq!(forge.post("/user/emails").json(&body).send().status, 201);
    let form = [("bearer_token", token.as_str()), ("email", "form@example.com")];
    assert_eq!(forge.post("/user/emails").form(&form).send().status, 201);
}

fn the_parameter_wins_over_the_header(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let both = forge.get("/user").token(ROOT).query(&[("private_token", &token)]).send();
    assert_user(&both, "ada");
    let form = [("private_token", token.as_str()), ("email", "form@example.com")];
    assert_eq!(forge.post("/user/emails").token(ROOT).form(&form).send().status, 201);
    let emails = forge.get("/user/emails").token(&token).send().expect(200);
    assert_eq!(emails.as_array().map(Vec::len), Some(1), "the parameter's user has the address");

    let wrong = forge.get("/user").token(ROOT).query(&[("private_token", "wrong")]).send();
    assert_refused(&wrong);
}

fn the_bearer_is_tried_when_the_private_token_opens_nothing(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let bearer = format!("Bearer {ada}");
    let get = || forge.get("/user");
    assert_user(&get().token("wrong").header("Authorization", &bearer).send(), "ada");
    assert_user(&get().token("").header("Authorization", &bearer).send(), "ada");
    assert_user(&get().token("wrong").query(&[("access_token", &ada)]).send(), "ada");
    assert_user(&get().query(&[("private_token", "wrong"), ("access_token", &ada)]).send(), "ada");
    // The private token is tried first, wherever it is sent.
    assert_user(&get().token(ROOT).header("Authorization", &bearer).send(), "root");
    assert_user(&get().query(&[("access_token", &ada), ("private_token", ROOT)]).send(), "root");
    // Of two bearer tokens the header wins, then `access_token`.
    let root_query = [("access_token", ROOT)];
    assert_user(&get().header("Authorization", &bearer).query(&root_query).send(), "ada");
    assert_user(&get().query(&[("bearer_token", ROOT), ("access_token", &ada)]).send(), "ada");
}

fn other_authorization_beside_a_token_does_no_harm(forge: &Forge) {
    for other in ["Basic cm9vdDp3cm9uZw==", "Digest username=\"root\"", "Basic", "Bearer", "x"] {
        let get = || forge.get("/user").header("Authorization", other);
        assert_user(&get().token(ROOT).send(), "root");
        assert_user(&get().query(&[("access_token", ROOT)]).send(), "root");
        assert_refused(&get().send());
    }
    let basic = "Basic cm9vdDpjb3JyZWN0IGhvcnNl";
    assert_refused(&forge.get("/user").header("Authorization", basic).send());
}

fn without_a_good_token_every_call_is_refused(forge: &Forge) {
    let get = || forge.get("/user");
    for refused in [
        get().send(),
        get().token("").send(),
        get().token("   ").send(),
        get().token("wrong").send(),
        get().token(&ROOT.to_uppercase()).send(),
        get().token(&format!("{ROOT}x")).send(),
        get().token(&ROOT[1..]).send(),
        get().token(PASSWORD).send(),
        get().token(&"x".repeat(5000)).send(),
        get().token("pässwört").send(),
        get().query(&[("private_token", "")]).send(),
        get().query(&[("private_token", "wrong")]).send(),
        get().query(&[("private_token", "\0")]).send(),
        get().query(&[("private_token[]", ROOT)]).send(),
        get().header("Authorization", "Bearer wrong").send(),
        get().header("Authorization", &format!("Token {ROOT}")).send(),
        get().header("Authorization", ROOT).send(),
        get().header("Cookie", &format!("private_token={ROOT}")).send(),
        get().query(&[("access_token", "wrong")]).send(),
        get().query(&[("PRIVATE-TOKEN", ROOT)]).send(),
        get().query(&[("token", ROOT)]).send(),
    ] {
        assert_refused(&refused);
    }
    for (method, path) in [("POST", "/users"), ("PUT", "/users/1"), ("DELETE", "/users/1")] {
        assert_refused(&forge.request(method, path).token("wrong").send());
        assert_refused(&forge.request(method, path).form(&[("private_token", "wrong")]).send());
        assert_refused(&forge.request(method, path).json(&json!({"private_token": null})).send());
    }
    assert_user(&get().token(ROOT).send(), "root");
}

/// Creates a personal access token; `expires_in` is in seconds.
fn personal_token(forge: &Forge, username: &str, expires_in: Option<i64>) -> String {
    let end = expires_in.map(|seconds| forge.clock.now() + TimeDelta::seconds(seconds));
    let made = token::create(&forge.app, Actor::OPERATOR, username, "a program", end);
    made.expect("the user exists").reveal().to_owned()
}

fn a_personal_token_has_the_rights_of_its_user(forge: &Forge) {
    forge.user("ada");
    let of_ada = personal_token(forge, "ada", None);
    let of_root = personal_token(forge, "root", Some(60));
    assert_ne!(of_ada, personal_token(forge, "ada", None), "a user has as many as it likes");
    for (token, username, users) in [(&of_ada, "ada", 403), (&of_root, "root", 400)] {
        assert!(token.len() >= 20, "{token}");
        assert_user(&forge.get("/user").token(token).send(), username);
        assert_user(&forge.get("/user").query(&[("private_token", token)]).send(), username);
        let bearer = format!("Bearer {token}");
        assert_user(&forge.get("/user").header("Authorization", &bearer).send(), username);
        assert_eq!(forge.post("/users").token(token).send().status, users);
    }
    let key = [("title", "laptop"), ("key", &an_ssh_key(1))];
    let added = forge.post("/user/keys").token(&of_ada).form(&key).send().expect(201);
    let keys = forge.get("/user/keys").token(&of_ada).send().expect(200);
    assert_eq!(keys, json!([added]));
}

#[track_caller]
fn assert_invalid_token(response: &Response, description: &str) {
    let body = json!({"error": "invalid_token", "error_description": description});
    assert_eq!(response.expect(401), body);
    let challenge = response.header("www-authenticate").expect("the scheme is named");
    assert!(challenge.starts_with("Bearer "), "{challenge}");
    assert!(challenge.contains("error=\"invalid_token\""), "{challenge}");
    assert!(challenge.contains(&format!("error_description=\"{description}\"")), "{challenge}");
}

const EXPIRED: &str = "Token is expired. You can either do re-authorization or token refresh.";
const REVOKED: &str = "Token was revoked. You have to re-authorize from the user.";

fn as_bearer(forge: &Forge, token: &str) -> [Response; 3] {
    [
        forge.get("/user").header("Authorization", &format!("Bearer {token}")).send(),
        forge.get("/user").query(&[("access_token", token)]).send(),
        forge.get("/user").query(&[("bearer_token", token)]).send(),
    ]
}

fn an_expired_personal_token_opens_nothing(forge: &Forge) {
    let token = personal_token(forge, "root", Some(60));
    forge.clock.advance(TimeDelta::seconds(59));
    assert_user(&forge.get("/user").token(&token).send(), "root");
    forge.clock.advance(TimeDelta::seconds(1));
    assert_refused(&forge.get("/user").token(&token).send());
    assert_refused(&forge.get("/user").query(&[("private_token", &token)]).send());
    for response in as_bearer(forge, &token) {
        assert_invalid_token(&response, EXPIRED);
    }
    let with_good_one = format!("Bearer {ROOT}");
    let good = forge.get("/user").token(&token).header("Authorization", &with_good_one).send();
    assert_user(&good, "root");
    let good = forge.get("/user").token(ROOT).query(&[("access_token", &token)]).send();
    assert_user(&good, "root");
}

fn a_revoked_personal_token_opens_nothing(forge: &Forge) {
    let secret = personal_token(forge, "root", None);
    let other = personal_token(forge, "root", None);
    let all = token::list(&forge.app, Actor::OPERATOR, "root", Page::Whole).expect("root exists");
    // The list is sorted newest first: the other token, then this one.
    token::revoke(&forge.app, Actor::OPERATOR, all.items[1].id).expect("it is there");
    assert_refused(&forge.get("/user").token(&secret).send());
    assert_refused(&forge.get("/user").query(&[("private_token", &secret)]).send());
    for response in as_bearer(forge, &secret) {
        assert_invalid_token(&response, REVOKED);
    }
    assert_user(&forge.get("/user").token(&other).send(), "root");
}

fn a_blocked_user_is_not_authenticated(forge: &Forge) {
    let (id, private) = forge.user("ada");
    let personal = personal_token(forge, "ada", None);
    let tokens = [private, personal];
    let assert_locked_out = || {
        for token in &tokens {
            assert_refused(&forge.get("/user").token(token).send());
            assert_refused(&forge.get("/users").query(&[("private_token", token)]).send());
            assert_refused(&forge.post("/user/keys").token(token).send());
            for response in as_bearer(forge, token) {
                assert_refused(&response);
            }
            // The token belongs to a blocked user, so no other credentials are tried.
            let beside = forge.get("/user").token(token).query(&[("access_token", ROOT)]).send();
            assert_refused(&beside);
        }
    };
    let assert_let_in = || {
        for token in &tokens {
            assert_user(&forge.get("/user").token(token).send(), "ada");
        }
    };
    assert_let_in();
    let block = forge.put(&format!("/users/{id}/block")).token(ROOT).send();
    assert_eq!(block.expect(200), Value::Bool(true));
    assert_locked_out();
    let unblock = forge.put(&format!("/users/{id}/unblock")).token(ROOT).send();
    assert_eq!(unblock.expect(200), Value::Bool(true));
    // The block has ended the session permanently.
    let [private, personal] = &tokens;
    assert_refused(&forge.get("/user").token(private).send());
    assert_user(&forge.get("/user").token(personal).send(), "ada");
    follow_directory(&forge.app, Actor::OPERATOR, "ada", DirectoryCommand::Block)
        .expect("the directory may block anybody");
    assert_locked_out();
}

fn a_deleted_user_takes_its_tokens_along(forge: &Forge) {
    let (id, private) = forge.user("ada");
    let personal = personal_token(forge, "ada", None);
    assert_eq!(forge.delete(&format!("/users/{id}")).token(ROOT).send().status, 200);
    for token in [private, personal] {
        assert_refused(&forge.get("/user").token(&token).send());
        for response in as_bearer(forge, &token) {
            assert_refused(&response);
        }
    }
}
