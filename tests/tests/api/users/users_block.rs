//! `PUT /users/:uid/block` and `PUT /users/:uid/unblock`: reference section 5.

use hexforge_application::token;
use hexforge_application::user::block::follow_directory;
use hexforge_domain::policy::Actor;
use hexforge_domain::user::state::DirectoryCommand;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::json;

use crate::api::support::{
    HUGE, MISSING, activity_count, assert_only_for_administrators, id_of, message, no_route,
    queued_events, user_now,
};

on_every_store!(
    block_and_unblock_answer_whether_anything_changed,
    users_of_the_directory_are_neither_blocked_nor_unblocked,
    administrators_alone_block_and_unblock,
    only_users_who_exist_are_blocked_and_unblocked,
    a_blocked_user_is_nobody_until_it_is_unblocked,
    an_administrator_may_block_itself,
);

/// PUT /users/:uid/block, PUT /users/:uid/unblock
fn block_and_unblock_answer_whether_anything_changed(forge: &Forge) {
    let ada = id_of(&forge.new_user("ada", &[]));
    let before = queued_events(forge);
    for (command, changed, state) in [
        ("unblock", "false", "active"),
        ("block", "true", "blocked"),
        ("block", "false", "blocked"),
        ("unblock", "true", "active"),
        ("unblock", "false", "active"),
        ("block", "true", "blocked"),
    ] {
        let answer = forge.put(&format!("/users/{ada}/{command}")).token(ROOT).send();
        answer.expect(200);
        assert_eq!(answer.text(), changed, "{command} to {state}");
        assert_eq!(user_now(forge, ada)["state"], state);
    }
    assert_eq!(queued_events(forge), before);
    assert_eq!((activity_count(forge, ada), activity_count(forge, 1)), (0, 0));
}

/// PUT /users/:uid/block, PUT /users/:uid/unblock
fn users_of_the_directory_are_neither_blocked_nor_unblocked(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let sync = |command| {
        follow_directory(&forge.app, Actor::OPERATOR, "ada", command)
            .expect("the operator speaks for the directory")
    };
    sync(DirectoryCommand::Block);
    for (command, text) in [
        ("block", "403 Forbidden  - LDAP blocked users cannot be modified by the API"),
        ("unblock", "403 Forbidden  - LDAP blocked users cannot be unblocked by the API"),
    ] {
        let refused = forge.put(&format!("/users/{ada}/{command}")).token(ROOT).send().expect(403);
        assert_eq!(refused, message(text));
        assert_eq!(user_now(forge, ada)["state"], "ldap_blocked");
    }
    assert_eq!(user_now(forge, ada)["can_create_group"], false);
    assert_eq!(forge.get("/user").token(&token).send().expect(401), message("401 Unauthorized"));
    // Other changes of the account keep this state.
    forge.put(&format!("/users/{ada}")).token(ROOT).form(&[("bio", "b")]).send().expect(200);
    assert_eq!(user_now(forge, ada)["state"], "ldap_blocked");
    sync(DirectoryCommand::Unblock);
    assert_eq!(forge.get("/user").token(&token).send().expect(401), message("401 Unauthorized"));
    let token = forge.sign_in("ada");
    assert_eq!(forge.get("/user").token(&token).send().expect(200)["state"], "active");
}

/// PUT /users/:uid/block, PUT /users/:uid/unblock
fn administrators_alone_block_and_unblock(forge: &Forge) {
    let ada = id_of(&forge.new_user("ada", &[]));
    assert_only_for_administrators(
        forge,
        &[
            ("PUT", format!("/users/{ada}/block")),
            ("PUT", format!("/users/{ada}/unblock")),
            ("PUT", format!("/users/{MISSING}/block")),
            ("PUT", format!("/users/{MISSING}/unblock")),
        ],
    );
    assert_eq!(user_now(forge, ada)["state"], "active");
}

/// PUT /users/:uid/block, PUT /users/:uid/unblock
fn only_users_who_exist_are_blocked_and_unblocked(forge: &Forge) {
    for command in ["block", "unblock"] {
        for id in [MISSING.to_string().as_str(), "0", HUGE] {
            let put = forge.put(&format!("/users/{id}/{command}")).token(ROOT).send();
            assert_eq!(put.expect(404), message("404 User Not Found"), "{id}");
        }
        for id in ["root", "1x", "-1"] {
            let put = forge.put(&format!("/users/{id}/{command}")).token(ROOT).send();
            assert_eq!(put.expect(404), no_route(), "{id}");
        }
        for method in ["GET", "POST", "DELETE"] {
            let path = format!("/users/1/{command}");
            assert_eq!(forge.request(method, &path).token(ROOT).send().expect(404), no_route());
        }
    }
}

/// PUT /users/:uid/block, PUT /users/:uid/unblock
fn a_blocked_user_is_nobody_until_it_is_unblocked(forge: &Forge) {
    let ada = id_of(&forge.new_user("ada", &[("admin", "true"), ("bio", "b")]));
    let personal = token::create(&forge.app, Actor::OPERATOR, "ada", "a program", None)
        .expect("the operator makes tokens");
    let tokens = [forge.sign_in("ada"), forge.sign_in("ada"), personal.reveal().to_owned()];
    let before = user_now(forge, ada);
    // Some clients send an empty body with a content type.
    let block = forge.put(&format!("/users/{ada}/block")).token(ROOT).json(&json!({}));
    assert_eq!(block.send().expect(200), true);
    for token in &tokens {
        for path in ["/user", "/users", "/users/1", "/user/keys", "/users/1/emails", "/version"] {
            let refused = forge.get(path).token(token).send().expect(401);
            assert_eq!(refused, message("401 Unauthorized"), "{path}");
        }
        let bearer = format!("Bearer {token}");
        forge.get("/user").header("Authorization", &bearer).send().expect(401);
        let unblock = forge.put(&format!("/users/{ada}/unblock")).token(token).send();
        assert_eq!(unblock.expect(401), message("401 Unauthorized"));
    }
    let unblock = forge.put(&format!("/users/{ada}/unblock")).token(ROOT).form(&[("uid", "1")]);
    assert_eq!(unblock.send().expect(200), true);
    // The block has ended the sessions; the personal token works again.
    let [first, second, personal] = &tokens;
    for session in [first, second] {
        forge.get("/user").token(session).send().expect(401);
    }
    assert_eq!(forge.get("/user").token(personal).send().expect(200), before);
}

/// PUT /users/:uid/block
fn an_administrator_may_block_itself(forge: &Forge) {
    assert_eq!(forge.put("/users/1/block").token(ROOT).send().expect(200), true);
    let locked_out = forge.put("/users/1/unblock").token(ROOT).send().expect(401);
    assert_eq!(locked_out, message("401 Unauthorized"));
}
