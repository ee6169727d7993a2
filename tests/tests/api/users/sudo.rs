//! Sudo: an administrator acts as another user.

use hexforge_application::token;
use hexforge_domain::policy::Actor;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Request, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use crate::api::forms::on_the_fake;

on_every_store!(
    sudo_is_taken_from_parameter_and_header_by_id_and_name,
    a_call_under_sudo_has_the_rights_of_the_target,
    what_is_made_under_sudo_belongs_to_the_target,
    only_administrators_may_use_sudo,
    a_personal_token_may_not_use_sudo,
    sudo_to_nobody_is_not_found,
    a_blocked_target_may_do_nothing,
    the_target_is_shown_in_full_without_its_private_token,
);

on_the_fake!(
    the_parameter_wins_over_the_header,
    a_private_token_as_bearer_may_use_sudo,
    sudo_of_an_unknown_caller_is_ignored,
);

fn forbidden(reason: &str) -> Value {
    json!({"message": format!("403 Forbidden  - {reason}")})
}

fn not_admin() -> Value {
    forbidden("Must be admin to use sudo")
}

fn user_not_found(value: &str) -> Value {
    json!({"message": format!("404 No user id or username for: {value} Not Found")})
}

/// `GET /user` with sudo, in each way in which a read can request it.
fn reads(forge: &Forge, target: &str) -> [Request; 3] {
    let get = || forge.get("/user");
    [
        get().query(&[("sudo", target)]),
        get().header("SUDO", target),
        get().header("sudo", &format!(" {target} ")),
    ]
}

fn sudo_is_taken_from_parameter_and_header_by_id_and_name(forge: &Forge) {
    let (id, own) = forge.user("ada");
    let expected = forge.get("/user").token(&own).send().expect(200);
    for target in [id.to_string().as_str(), "ada"] {
        for request in reads(forge, target) {
            assert_eq!(request.token(ROOT).send().expect(200), expected, "{target}");
        }
    }
    assert_eq!(expected["private_token"], Value::Null, "tokens are never shown again");
    // Sudo to oneself changes nothing.
    let root = forge.get("/user").token(ROOT).send().expect(200);
    for target in ["1", "root"] {
        for request in reads(forge, target) {
            assert_eq!(request.token(ROOT).send().expect(200), root, "{target}");
        }
    }
}

fn the_parameter_wins_over_the_header(forge: &Forge) {
    forge.user("ada");
    forge.user("bob");
    let get = || forge.get("/user").token(ROOT).header("SUDO", "bob");
    assert_eq!(get().query(&[("sudo", "ada")]).send().expect(200)["username"], "ada");
    assert_eq!(get().send().expect(200)["username"], "bob");
    assert_eq!(get().query(&[("sudo", "nobody")]).send().expect(404), user_not_found("nobody"));
}

fn a_call_under_sudo_has_the_rights_of_the_target(forge: &Forge) {
    let (id, _) = forge.user("ada");
    let new = [("email", "x@example.com"), ("password", "12345678"), ("name", "x")];
    let mut with_sudo = new.to_vec();
    with_sudo.extend([("username", "x"), ("sudo", "ada")]);
    let post = forge.post("/users").token(ROOT);
    assert_eq!(post.form(&with_sudo).send().expect(403), json!({"message": "403 Forbidden"}));
    let delete = forge.delete(&format!("/users/{id}")).token(ROOT).header("SUDO", "ada").send();
    assert_eq!(delete.expect(403), json!({"message": "403 Forbidden"}));
    let list = forge.get("/users").token(ROOT).query(&[("sudo", "ada")]).send().expect(200);
    assert_eq!(list.as_array().map(Vec::len), Some(2), "no user was created or removed");
    assert_eq!(list[0]["email"], Value::Null, "a normal user sees summaries");

    // The target's permissions are used in full.
    forge.new_user("boss", &[("admin", "true")]);
    with_sudo.extend([("sudo", "boss")]);
    assert_eq!(forge.post("/users").token(ROOT).form(&with_sudo).send().status, 201);
}

fn what_is_made_under_sudo_belongs_to_the_target(forge: &Forge) {
    let (id, own) = forge.user("ada");
    let fields = |n: u32, sudo: &str| json!({"title": format!("key {n}"), "key": an_ssh_key(n), "sudo": sudo});
    let text = id.to_string();
    let (title, key) = ("key 3".to_owned(), an_ssh_key(3));
    let pairs = [("title", title.as_str()), ("key", &key), ("sudo", &text)];
    let post = || forge.post("/user/keys").token(ROOT);
    let by_number = json!({"title": "key 5", "key": an_ssh_key(5), "sudo": id});
    let mut keys: Vec<Value> = [
        post().json(&fields(1, "ada")),
        post().json(&fields(2, &text)),
        post().form(&pairs),
        post().query(&[("sudo", "ada")]).form(&[("title", "key 4"), ("key", &an_ssh_key(4))]),
        post().json(&by_number),
        post().header("SUDO", "ada").multipart(&[("title", "key 6"), ("key", &an_ssh_key(6))]),
    ]
    .into_iter()
    .map(|request| request.send().expect(201))
    .collect();
    keys.reverse();
    assert_eq!(forge.get("/user/keys").token(&own).send().expect(200), Value::Array(keys));
    assert_eq!(forge.get("/user/keys").token(ROOT).send().expect(200), json!([]));

    let newest = forge.get("/user/keys").token(&own).send().expect(200)[0]["id"].clone();
    let path = format!("/user/keys/{newest}");
    let not_mine = forge.delete(&path).token(ROOT).send();
    assert_eq!(not_mine.expect(200), Value::Null);
    let under_sudo = forge.delete(&path).token(ROOT).form(&[("sudo", "ada")]).send();
    assert_eq!(under_sudo.expect(200)["id"], newest);
}

fn only_administrators_may_use_sudo(forge: &Forge) {
    let (id, own) = forge.user("ada");
    for target in ["root", "1", "ada", &id.to_string(), "nobody", "999"] {
        for request in reads(forge, target) {
            assert_eq!(request.token(&own).send().expect(403), not_admin(), "{target}");
        }
        for request in reads(forge, target) {
            let bearer = format!("Bearer {own}");
            let refused = request.header("Authorization", &bearer).send();
            assert_eq!(refused.expect(403), not_admin(), "{target}");
        }
    }
    let form = [("sudo", "root"), ("email", "new@example.com")];
    let write = forge.post("/user/emails").token(&own).form(&form).send();
    assert_eq!(write.expect(403), not_admin());
    assert_eq!(forge.get("/user/emails").token(ROOT).send().expect(200), json!([]));
}

fn a_personal_token_may_not_use_sudo(forge: &Forge) {
    forge.user("ada");
    let refused = forbidden("Private token must be specified in order to use sudo");
    let make = |user: &str| {
        let made = token::create(&forge.app, Actor::OPERATOR, user, "a program", None);
        made.expect("the user exists").reveal().to_owned()
    };
    let personal = make("root");
    let bearer = format!("Bearer {personal}");
    for target in ["ada", "1", "root", "nobody"] {
        for request in reads(forge, target) {
            assert_eq!(request.token(&personal).send().expect(403), refused, "{target}");
        }
        for request in reads(forge, target) {
            let answer = request.header("Authorization", &bearer).send();
            assert_eq!(answer.expect(403), refused, "{target}");
        }
        for name in ["private_token", "access_token", "bearer_token"] {
            for request in reads(forge, target) {
                let answer = request.query(&[(name, &personal)]).send();
                assert_eq!(answer.expect(403), refused, "{target} {name}");
            }
        }
    }
    // A caller who is not an administrator gets that error first.
    for request in reads(forge, "root") {
        assert_eq!(request.token(&make("ada")).send().expect(403), not_admin());
    }
}

fn a_private_token_as_bearer_may_use_sudo(forge: &Forge) {
    forge.user("ada");
    let session = forge.sign_in("root");
    for token in [ROOT, &session] {
        let bearer = format!("Bearer {token}");
        for request in reads(forge, "ada") {
            let answer = request.header("Authorization", &bearer).send();
            assert_eq!(answer.expect(200)["username"], "ada");
        }
        for name in ["private_token", "access_token", "bearer_token"] {
            for request in reads(forge, "ada") {
                let answer = request.query(&[(name, token)]).send();
                assert_eq!(answer.expect(200)["username"], "ada", "{name}");
            }
        }
    }
}

fn sudo_to_nobody_is_not_found(forge: &Forge) {
    forge.user("ada");
    let long = "x".repeat(3000);
    for target in
        ["nobody", "Ada", "ada@example.com", "999", "0", "-1", "99999999999999999999", &long]
    {
        for request in reads(forge, target) {
            assert_eq!(request.token(ROOT).send().expect(404), user_not_found(target), "{target}");
        }
    }
    // An invalid value must not let the call run as the administrator.
    let as_json = |sudo: Value| {
        let body = json!({"sudo": sudo, "email": "new@example.com"});
        forge.post("/user/emails").token(ROOT).json(&body).send()
    };
    for request in [
        forge.get("/user").token(ROOT).query(&[("sudo", "a\0b")]).send(),
        forge.get("/user").token(ROOT).query(&[("sudo[]", "ada")]).send(),
        forge.get("/user").token(ROOT).header("SUDO", "ädä").send(),
        as_json(json!(["ada"])),
        as_json(json!({"id": 2})),
        as_json(json!(true)),
        as_json(json!(2.5)),
        as_json(json!("\0")),
    ] {
        let body = request.expect(404);
        let message = body["message"].as_str().expect("a message");
        assert!(message.starts_with("404 No user id or username for: "), "{message}");
    }
    assert_eq!(forge.get("/user/emails").token(ROOT).send().expect(200), json!([]));
}

fn sudo_of_an_unknown_caller_is_ignored(forge: &Forge) {
    for target in ["root", "1", "nobody"] {
        for request in reads(forge, target) {
            assert_eq!(request.send().expect(401), json!({"message": "401 Unauthorized"}));
        }
        for request in reads(forge, target) {
            let wrong = request.token("wrong").send();
            assert_eq!(wrong.expect(401), json!({"message": "401 Unauthorized"}));
        }
    }
}

fn a_blocked_target_may_do_nothing(forge: &Forge) {
    let (id, _) = forge.user("ada");
    assert_eq!(forge.put(&format!("/users/{id}/block")).token(ROOT).send().status, 200);
    for request in reads(forge, "ada") {
        assert_eq!(request.token(ROOT).send().expect(401), json!({"message": "401 Unauthorized"}));
    }
}

/// GET /user: "under sudo for somebody else: full form", without a `private_token`.
fn the_target_is_shown_in_full_without_its_private_token(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let own = forge.get("/user").token(&token).send();
    let shown = forge.get("/user").token(ROOT).query(&[("sudo", "ada")]).send();
    assert_eq!((shown.expect(200), shown.text()), (own.expect(200), own.text()));
    assert_eq!(shown.expect(200).get("private_token"), None);
}
