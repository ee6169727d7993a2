//! `DELETE /users/:id`: reference section 2.7.

use hexforge_domain::id::{KeyId, UserId};
use hexforge_domain::outbox::{KeyFacts, SystemEvent, UserFacts};
use hexforge_domain::ports::store::StoreError;
use hexforge_domain::testing::builders::{a_moment, an_event};
use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use super::support::{
    HUGE, MISSING, activity, assert_only_for_administrators, id_of, message, news, no_route,
    user_now,
};

on_every_store!(
    the_answer_is_the_user_who_is_gone,
    administrators_alone_delete_users,
    deleting_nobody_is_fine,
    everything_of_the_user_goes_along_and_is_free_again,
    keys_and_user_are_news_in_this_order,
    an_administrator_may_delete_itself,
);

#[track_caller]
fn add_key(forge: &Forge, user: i64, number: u32) -> Value {
    let form = [("title", "laptop"), ("key", &an_ssh_key(number))];
    forge.post(&format!("/users/{user}/keys")).token(ROOT).form(&form).send().expect(201)
}

/// DELETE /users/:id
fn the_answer_is_the_user_who_is_gone(forge: &Forge) {
    let more = [("provider", "directory"), ("extern_uid", "cn=ada"), ("bio", "b")];
    let ada = forge.new_user("ada", &more);
    let answer = forge.delete(&format!("/users/{}", id_of(&ada))).token(ROOT).send();
    answer.expect(200);
    assert_eq!(answer.text(), ada.to_string());
    let gone = forge.get(&format!("/users/{}", id_of(&ada))).token(ROOT).send().expect(404);
    assert_eq!(gone, message("404 Not found"));
}

/// DELETE /users/:id
fn administrators_alone_delete_users(forge: &Forge) {
    let ada = id_of(&forge.new_user("ada", &[]));
    assert_only_for_administrators(
        forge,
        &[("DELETE", format!("/users/{ada}")), ("DELETE", format!("/users/{MISSING}"))],
    );
    let token = forge.sign_in("normal");
    let own = id_of(&forge.get("/user").token(&token).send().expect(200));
    forge.delete(&format!("/users/{own}")).token(&token).send().expect(403);
    user_now(forge, own);
    user_now(forge, ada);
}

/// DELETE /users/:id
fn deleting_nobody_is_fine(forge: &Forge) {
    let ada = id_of(&forge.new_user("ada", &[]));
    forge.delete(&format!("/users/{ada}")).token(ROOT).send().expect(200);
    let before = news(forge);
    for id in [ada.to_string(), MISSING.to_string(), "0".into(), HUGE.into()] {
        let answer = forge.delete(&format!("/users/{id}")).token(ROOT).send();
        assert_eq!(answer.expect(200), Value::Null, "{id}");
        assert_eq!(answer.text(), "null");
    }
    assert_eq!(news(forge), before);
    for id in ["root", "1x", "-1"] {
        let unknown = forge.delete(&format!("/users/{id}")).token(ROOT).send().expect(404);
        assert_eq!(unknown, no_route(), "{id}");
    }
    user_now(forge, 1);
}

/// DELETE /users/:id
fn everything_of_the_user_goes_along_and_is_free_again(forge: &Forge) {
    let identity = [("provider", "directory"), ("extern_uid", "cn=ada")];
    let ada = id_of(&forge.new_user("ada", &identity));
    let token = forge.sign_in("ada");
    let second = [("email", "second@example.com")];
    forge.post("/user/emails").token(&token).form(&second).send().expect(201);
    add_key(forge, ada, 1);
    let happened: Result<_, StoreError> =
        forge.app.store.write(|tx| tx.events().insert(an_event(UserId(ada))));
    happened.expect("an event can be written");

    forge.delete(&format!("/users/{ada}")).token(ROOT).send().expect(200);

    let nobody = forge.get("/user").token(&token).send().expect(401);
    assert_eq!(nobody, message("401 Unauthorized"));
    let form = [("login", "ada"), ("password", PASSWORD)];
    forge.post("/session").form(&form).send().expect(401);
    assert_eq!(activity(forge, ada), 0);
    for path in ["keys", "emails", "events"] {
        let gone = forge.get(&format!("/users/{ada}/{path}")).token(ROOT).send().expect(404);
        assert_eq!(gone, message("404 User Not Found"), "{path}");
    }
    assert_eq!(forge.get("/users?search=ada").token(ROOT).send().expect(200), json!([]));

    // Name, addresses, identity and key are free; the id is not given out again.
    let again = forge.new_user("ada", &identity);
    assert_ne!(id_of(&again), ada);
    let token = forge.sign_in("ada");
    forge.post("/user/emails").token(&token).form(&second).send().expect(201);
    add_key(forge, id_of(&again), 1);
    assert_eq!(activity(forge, id_of(&again)), 0);
}

/// DELETE /users/:id
fn keys_and_user_are_news_in_this_order(forge: &Forge) {
    let ada = id_of(&forge.new_user("ada", &[]));
    let keys = [add_key(forge, ada, 1), add_key(forge, ada, 2)];
    let before = news(forge).len();
    forge.clock.advance(chrono::TimeDelta::hours(1));
    forge.delete(&format!("/users/{ada}")).token(ROOT).send().expect(200);
    let told = news(forge).split_off(before);
    let (user, destroyed) = told.split_last().expect("three pieces of news");
    let facts = UserFacts {
        id: UserId(ada),
        username: "ada".to_owned(),
        name: "ada".to_owned(),
        email: "ada@example.com".to_owned(),
        created_at: a_moment(),
        updated_at: a_moment(),
    };
    assert_eq!(*user, SystemEvent::UserDestroyed(facts));
    assert_eq!(destroyed.len(), keys.len());
    for key in keys {
        let facts = KeyFacts {
            id: KeyId(id_of(&key)),
            key: key["key"].as_str().expect("a text").to_owned(),
            username: "ada".to_owned(),
            created_at: a_moment(),
        };
        assert!(destroyed.contains(&SystemEvent::KeyDestroyed(facts)), "{destroyed:?}");
    }
}

/// DELETE /users/:id
fn an_administrator_may_delete_itself(forge: &Forge) {
    forge.new_user("boss", &[("admin", "true")]);
    let token = forge.sign_in("boss");
    let deleted = forge.delete("/users/1").token(ROOT).send().expect(200);
    assert_eq!(deleted["username"], "root");
    forge.get("/user").token(ROOT).send().expect(401);
    let left = forge.get("/users").token(&token).send().expect(200);
    assert_eq!((left.as_array().map(Vec::len), &left[0]["username"]), (Some(1), &json!("boss")));
}
