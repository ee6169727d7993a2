//! `DELETE /users/:id`: reference section 2.7.

use hexforge_domain::id::{KeyId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::{KeyFacts, ProjectFacts, SystemEvent, TeamFacts, UserFacts};
use hexforge_domain_testing::builders::a_moment;
use hexforge_tests::forge::{PASSWORD, ROOT};
use hexforge_tests::{Forge, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    activity_in, add_member, group_member, in_the_original, member_facts, new_group, new_project,
    path_of_group, path_of_project, project_facts, project_in,
};
use crate::api::projects::project_support::assert_list;
use crate::api::support::{
    HUGE, MISSING, activity_count, assert_only_for_administrators, id_of, ids, message, no_route,
    queued_events, user_now,
};

on_every_store!(
    the_answer_is_the_user_who_is_gone,
    administrators_alone_delete_users,
    deleting_a_missing_user_succeeds,
    everything_of_the_user_goes_along_and_is_free_again,
    keys_and_user_are_news_in_this_order,
    an_administrator_may_delete_itself,
    personal_projects_go_with_the_user,
    every_membership_that_ends_is_news_once,
    the_only_owner_of_a_group_stays,
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
fn deleting_a_missing_user_succeeds(forge: &Forge) {
    let ada = id_of(&forge.new_user("ada", &[]));
    forge.delete(&format!("/users/{ada}")).token(ROOT).send().expect(200);
    let before = queued_events(forge);
    for id in [ada.to_string(), MISSING.to_string(), "0".into(), HUGE.into()] {
        let answer = forge.delete(&format!("/users/{id}")).token(ROOT).send();
        assert_eq!(answer.expect(200), Value::Null, "{id}");
        assert_eq!(answer.text(), "null");
    }
    assert_eq!(queued_events(forge), before);
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
    new_project(forge, &token, "diary", &[]);
    assert_eq!(activity_count(forge, ada), 1);

    forge.delete(&format!("/users/{ada}")).token(ROOT).send().expect(200);

    let nobody = forge.get("/user").token(&token).send().expect(401);
    assert_eq!(nobody, message("401 Unauthorized"));
    let form = [("login", "ada"), ("password", PASSWORD)];
    forge.post("/session").form(&form).send().expect(401);
    assert_eq!(activity_count(forge, ada), 0);
    for path in ["keys", "emails", "events"] {
        let gone = forge.get(&format!("/users/{ada}/{path}")).token(ROOT).send().expect(404);
        assert_eq!(gone, message("404 User Not Found"), "{path}");
    }
    assert_eq!(forge.get("/users?search=ada").token(ROOT).send().expect(200), json!([]));

    // Name, addresses, identity and key can be used again; the id is not reused.
    let again = forge.new_user("ada", &identity);
    assert_ne!(id_of(&again), ada);
    let token = forge.sign_in("ada");
    forge.post("/user/emails").token(&token).form(&second).send().expect(201);
    add_key(forge, id_of(&again), 1);
    assert_eq!(activity_count(forge, id_of(&again)), 0);
}

/// DELETE /users/:id
fn keys_and_user_are_news_in_this_order(forge: &Forge) {
    let ada = id_of(&forge.new_user("ada", &[]));
    let keys = [add_key(forge, ada, 1), add_key(forge, ada, 2)];
    let before = queued_events(forge).len();
    forge.clock.advance(chrono::TimeDelta::hours(1));
    forge.delete(&format!("/users/{ada}")).token(ROOT).send().expect(200);
    let told = queued_events(forge).split_off(before);
    let (user, destroyed) = told.split_last().expect("there are three events");
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

/// DELETE /users/:id
fn personal_projects_go_with_the_user(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, bob_token) = forge.user("bob");
    let ship = new_project(forge, &token, "Ship", &[("public", "true")]);
    add_member(forge, &path_of_project(&ship), bob, 30, &[]);
    let crew = new_group(forge, &bob_token, "crew", &[]);
    add_member(forge, &path_of_group(&crew), ada, 40, &[]);
    let group = id_of(&crew).to_string();
    let ours = new_project(forge, &token, "Ours", &[("namespace_id", group.as_str())]);
    let fork = [("namespace", "bob")];
    let fork =
        forge.post(&format!("/projects/fork/{}", id_of(&ship))).token(&bob_token).form(&fork);
    let fork = fork.send().expect(201);
    let before = queued_events(forge).len();
    forge.delete(&format!("/users/{ada}")).token(ROOT).send().expect(200);
    for path in [path_of_project(&ship), "/projects/ada%2Fship".to_owned()] {
        let gone = forge.get(&path).token(ROOT).send();
        assert_eq!(gone.expect(404), message("404 Project Not Found"));
    }
    assert_list(forge, ROOT, "/projects/all", &["Ship", "Ours"]);
    // Projects that she created in other namespaces stay, without a creator.
    let kept = forge.get(&path_of_project(&ours)).token(&bob_token).send().expect(200);
    assert_eq!(kept["creator_id"], Value::Null);
    let kept = forge.get(&path_of_project(&fork)).token(&bob_token).send().expect(200);
    assert_eq!(kept.get("forked_from_project"), None);
    let told: Vec<_> = queued_events(forge).split_off(before);
    let [of_project @ .., destroyed, SystemEvent::GroupMemberRemoved(_), last] = &told[..] else {
        panic!("{told:?}")
    };
    assert!(matches!(last, SystemEvent::UserDestroyed(user) if user.id == UserId(ada)));
    assert!(
        matches!(destroyed, SystemEvent::ProjectDestroyed(project) if
            project.id.0 == id_of(&ship) && project.path_with_namespace == "ada/ship"),
        "{told:?}"
    );
    let left = of_project.iter().filter_map(|event| match event {
        SystemEvent::TeamMemberRemoved(left) => Some(left.member.user.0),
        _ => None,
    });
    let mut left: Vec<_> = left.collect();
    left.sort_unstable();
    assert_eq!(left, [ada, bob]);
}

/// DELETE /users/:id
fn every_membership_that_ends_is_news_once(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, bob_token) = forge.user("bob");
    let diary = new_project(forge, &token, "Diary", &[]);
    let ship = new_project(forge, &bob_token, "Ship", &[]);
    let crew = new_group(forge, &bob_token, "crew", &[]);
    let ours = project_in(forge, &crew, "Ours", &[]);
    // Expired memberships end too.
    add_member(forge, &path_of_project(&ship), ada, 40, &[("expires_at", "2001-01-01")]);
    add_member(forge, &path_of_project(&ours), ada, 10, &[]);
    add_member(forge, &path_of_group(&crew), ada, 50, &[]);
    let before = queued_events(forge).len();
    forge.delete(&format!("/users/{ada}")).token(ROOT).send().expect(200);

    let member = |access| member_facts("ada", ada, access);
    let team = |project: ProjectFacts, access| {
        SystemEvent::TeamMemberRemoved(TeamFacts { project, member: member(access) })
    };
    let own = project_facts(&diary, "ada", "ada@example.com");
    let expected = [
        team(own.clone(), AccessLevel::Master),
        SystemEvent::ProjectDestroyed(own),
        team(project_facts(&ship, "bob", "bob@example.com"), AccessLevel::Master),
        team(project_facts(&ours, "crew", ""), AccessLevel::Guest),
        SystemEvent::GroupMemberRemoved(group_member(&crew, "ada", ada, AccessLevel::Owner)),
    ];
    let told = queued_events(forge).split_off(before);
    let (last, told) = told.split_last().expect("there are events");
    assert_eq!(told, expected);
    assert!(matches!(last, SystemEvent::UserDestroyed(user) if user.id == UserId(ada)));
    for source in [path_of_project(&ship), path_of_project(&ours), path_of_group(&crew)] {
        let left = forge.get(&format!("{source}/members")).token(ROOT).send().expect(200);
        assert!(!ids(&left).contains(&ada), "{source}");
    }
    assert_eq!(activity_in(forge, &ship), [("created".to_owned(), bob)]);
}

/// DELETE /users/:id
fn the_only_owner_of_a_group_stays(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (bob, _) = forge.user("bob");
    let crew = new_group(forge, &token, "crew", &[]);
    new_project(forge, &token, "Ship", &[]);
    let before = queued_events(forge);
    let kept = forge.delete(&format!("/users/{ada}")).token(ROOT).send();
    assert_eq!((kept.expect(200), kept.text()), (Value::Null, "null"));
    user_now(forge, ada);
    assert_list(forge, &token, "/projects", &["Ship"]);
    assert_eq!(queued_events(forge), before);
    add_member(forge, &path_of_group(&crew), bob, 50, &[]);
    let gone = forge.delete(&format!("/users/{ada}")).token(ROOT).send().expect(200);
    assert_eq!(gone["username"], "ada");
    forge.get("/groups/crew").token(ROOT).send().expect(200);
}

/// DELETE /users/:id
#[test]
fn the_only_owner_of_a_group_stays_in_the_original_too() {
    in_the_original(|forge| {
        let (ada, token) = forge.user("ada");
        new_group(forge, &token, "crew", &[]);
        let kept = forge.delete(&format!("/users/{ada}")).token(ROOT).send();
        assert_eq!((kept.expect(200), kept.text()), (Value::Null, "null"));
        user_now(forge, ada);
    });
}
