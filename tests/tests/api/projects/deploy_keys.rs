//! `/deploy_keys`, `/projects/:id/deploy_keys`, its old name `/projects/:id/keys`, and `/keys/:id`: section 4 of the
//! reference of the rest of v3.

use hexforge_domain::id::KeyId;
use hexforge_domain::outbox::{DeployKeyFacts, SystemEvent};
use hexforge_domain_testing::builders::{a_moment, at};
use hexforge_http_actix::Dialect;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Backend, Forge, ForgeOptions, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use crate::api::everywhere::concurrent_calls::at_once;
use crate::api::groups::group_support::{
    add_member, error, forbidden, new_project, no_project, path_of_project,
};
use crate::api::support::{
    HUGE, MISSING, activity_count, assert_only_for_administrators, assert_only_for_users,
    field_error, id_of, ids, message, queued_events, user_now,
};

on_every_store!(
    both_names_of_the_path_do_the_same,
    a_key_that_the_project_has_is_returned_unchanged,
    a_key_within_reach_is_attached,
    a_key_out_of_reach_is_taken,
    a_key_given_to_several_projects_at_once_is_one_key,
    every_failure_of_a_new_key_has_its_text,
    keys_of_other_projects_are_enabled_once_they_are_within_reach,
    a_key_is_deleted_with_its_last_project,
    one_key_is_read_by_those_who_administer_its_project,
    the_calls_are_for_those_who_administer_the_project,
    all_deploy_keys_are_listed_for_administrators,
    any_key_is_shown_to_administrators,
    deploy_keys_are_news_and_no_activity,
    row_9_in_the_specification,
);

const NAMES: [&str; 2] = ["deploy_keys", "keys"];

fn no_deploy_key() -> Value {
    message("404 Deploy Key Not Found")
}

/// The path of a new project of the caller.
fn project(forge: &Forge, token: &str, name: &str) -> String {
    path_of_project(&new_project(forge, token, name, &[]))
}

#[track_caller]
fn add(forge: &Forge, token: &str, project: &str, title: &str, number: u32) -> Value {
    let form = [("title", title), ("key", &an_ssh_key(number))];
    forge.post(&format!("{project}/deploy_keys")).token(token).form(&form).send().expect(201)
}

#[track_caller]
fn list(forge: &Forge, project: &str) -> Value {
    forge.get(&format!("{project}/deploy_keys")).token(ROOT).send().expect(200)
}

/// 4.2, 4.3 case 3, 4.5. GET /projects/:id/deploy_keys, GET /projects/:id/keys, POST /projects/:id/deploy_keys,
/// POST /projects/:id/keys, GET /projects/:id/deploy_keys/:key_id, GET /projects/:id/keys/:key_id,
/// DELETE /projects/:id/deploy_keys/:key_id, DELETE /projects/:id/keys/:key_id
fn both_names_of_the_path_do_the_same(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let project = project(forge, &ada, "ship");
    let [new, old] = NAMES.map(|name| format!("{project}/{name}"));
    assert_eq!(forge.get(&new).token(&ada).send().expect(200), json!([]));
    // Blanks around the key are cut off.
    let form = [("title", "server & <b>co</b>"), ("key", &format!(" {}\n", an_ssh_key(1)))];
    let first = forge.post(&new).token(&ada).form(&form).send();
    let expected = json!({
        "id": id_of(&first.expect(201)), "title": "server & <b>co</b>", "key": an_ssh_key(1),
        "created_at": "2016-09-22T10:30:00.000Z"
    });
    assert_eq!(first.text(), expected.to_string());
    forge.clock.set(at(90));
    let json = json!({"title": "desk", "key": an_ssh_key(2), "can_push": true, "id": 7});
    let second = forge.post(&old).token(&ada).json(&json).send().expect(201);
    for path in [&new, &old] {
        let list = forge.get(path).token(&ada).send();
        assert_eq!(list.text(), json!([second, expected]).to_string());
        assert_eq!(list.header("X-Total"), Some("2"));
        let one = forge.get(&format!("{path}/{}", id_of(&expected))).token(&ada).send();
        assert_eq!((one.expect(200), one.text()), (expected.clone(), &*expected.to_string()));
    }
    for (path, key) in [(&new, &second), (&old, &expected)] {
        let one = format!("{path}/{}", id_of(key));
        assert_eq!(forge.delete(&one).token(&ada).send().text(), key.to_string());
        assert_eq!(forge.delete(&one).token(&ada).send().expect(404), no_deploy_key());
        assert_eq!(forge.get(&one).token(&ada).send().expect(404), message("404 Not found"));
    }
    assert_eq!(list(forge, &project), json!([]));
}

/// 4.3 case 1. POST /projects/:id/deploy_keys
fn a_key_that_the_project_has_is_returned_unchanged(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let project = project(forge, &ada, "ship");
    let key = add(forge, &ada, &project, "server", 1);
    assert_eq!(add(forge, &ada, &project, "another title", 1), key);
    // The title is ignored, so it may be missing. The comment is not part of the key.
    let bare = an_ssh_key(1).split(' ').take(2).collect::<Vec<_>>().join(" ");
    let path = format!("{project}/keys");
    let again = forge.post(&path).token(ROOT).form(&[("key", bare.as_str())]).send();
    assert_eq!(again.expect(201), key);
    assert_eq!(list(forge, &project), json!([key]));
}

/// 4.3 case 2. POST /projects/:id/deploy_keys
fn a_key_within_reach_is_attached(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (bob, bobs) = forge.user("bob");
    let (ship, boat) = (project(forge, &ada, "ship"), project(forge, &bobs, "boat"));
    let key = add(forge, &ada, &ship, "server", 1);
    // Any level in a project of the key is enough.
    add_member(forge, &ship, bob, 10, &[]);
    assert_eq!(add(forge, &bobs, &boat, "mine", 1), key);
    assert_eq!((list(forge, &ship), list(forge, &boat)), (json!([key]), json!([key])));
}

/// 4.3 cases 2 and 3. POST /projects/:id/deploy_keys
fn a_key_given_to_several_projects_at_once_is_one_key(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let projects = ["ship", "boat", "raft"].map(|name| project(forge, &ada, name));
    for number in 1..6 {
        let give = |project: &str| {
            let form = [("title", "server"), ("key", &an_ssh_key(number))];
            forge.post(&format!("{project}/deploy_keys")).token(&ada).form(&form).send()
        };
        let answers =
            at_once([&|| give(&projects[0]), &|| give(&projects[1]), &|| give(&projects[2])]);
        let made = answers.each_ref().map(|answer| id_of(&answer.expect(201)));
        assert!(made.iter().all(|id| *id == made[0]), "{made:?}");
    }
}

/// 4.3, the failure of the fingerprint. POST /projects/:id/deploy_keys, POST /user/keys
fn a_key_out_of_reach_is_taken(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (_, bob) = forge.user("bob");
    let (ship, boat) = (project(forge, &ada, "ship"), project(forge, &bob, "boat"));
    add(forge, &ada, &ship, "server", 1);
    let own = [("title", "laptop"), ("key", &an_ssh_key(2))];
    forge.post("/user/keys").token(&ada).form(&own).send().expect(201);
    let taken = field_error("fingerprint", "has already been taken");
    let boats = format!("{boat}/deploy_keys");
    for (number, token) in [(1, &bob), (2, &bob), (2, &ada), (1, &ROOT.to_owned())] {
        let path = if token == &ada { format!("{ship}/deploy_keys") } else { boats.clone() };
        let form = [("title", "t"), ("key", &an_ssh_key(number))];
        let refused = forge.post(&path).token(token).form(&form).send();
        assert_eq!(refused.expect(400), taken, "{number} {path}");
    }
    // All problems are told together.
    let both = json!({"message": {
        "title": ["can't be blank", "is too short (minimum is 0 characters)"],
        "fingerprint": ["has already been taken"],
    }});
    for number in [1, 2] {
        let untitled = forge.post(&boats).token(&bob).form(&[("key", &an_ssh_key(number))]).send();
        assert_eq!(untitled.expect(400), both, "{number}");
    }
    assert_eq!(list(forge, &boat), json!([]));
    let deploy = [("title", "laptop"), ("key", &an_ssh_key(1))];
    let refused = forge.post("/user/keys").token(&ada).form(&deploy).send().expect(400);
    assert_eq!(refused["message"]["fingerprint"], json!(["has already been taken"]));
}

/// 4.3, the table of failures. POST /projects/:id/deploy_keys, POST /projects/:id/keys
fn every_failure_of_a_new_key_has_its_text(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let project = project(forge, &ada, "ship");
    let (key, long) = (an_ssh_key(1), "t".repeat(256));
    let long_key = format!("{key} {}", "k".repeat(5000));
    let blank = ["can't be blank", "is too short (minimum is 0 characters)"];
    let no_key = json!({
        "key": [blank[0], blank[1], "is invalid"], "fingerprint": ["cannot be generated"]
    });
    let too_long = |most: usize| format!("is too long (maximum is {most} characters)");
    for (form, expected) in [
        (vec![("title", "t")], no_key.clone()),
        (vec![("title", "t"), ("key", " ")], no_key),
        (vec![("key", key.as_str())], json!({"title": blank})),
        (
            vec![],
            json!({
                "title": blank, "key": [blank[0], blank[1], "is invalid"],
                "fingerprint": ["cannot be generated"]
            }),
        ),
        (
            vec![("title", "t"), ("key", "garbage")],
            json!({"key": ["is invalid"], "fingerprint": ["cannot be generated"]}),
        ),
        (vec![("title", long.as_str()), ("key", &key)], json!({"title": [too_long(255)]})),
        (vec![("title", "t"), ("key", &long_key)], json!({"key": [too_long(5000)]})),
    ] {
        for name in NAMES {
            let path = format!("{project}/{name}");
            let refused = forge.post(&path).token(&ada).form(&form).send().expect(400);
            assert_eq!(refused, json!({ "message": expected }), "{form:?}");
        }
    }
    let wrong = json!({"title": ["a", "list"], "key": {"a": "map"}});
    let refused = forge.post(&format!("{project}/keys")).token(&ada).json(&wrong).send();
    assert_eq!(refused.expect(400), error("title is invalid, key is invalid"));
    assert_eq!(list(forge, &project), json!([]));
}

/// 4.4 with its ruling. POST /projects/:id/deploy_keys/:key_id/enable, POST /projects/:id/keys/:key_id/enable
fn keys_of_other_projects_are_enabled_once_they_are_within_reach(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (bob, bobs) = forge.user("bob");
    let (ship, boat) = (project(forge, &ada, "ship"), project(forge, &bobs, "boat"));
    let key = add(forge, &ada, &ship, "server", 1);
    let laptop = [("title", "laptop"), ("key", &an_ssh_key(2))];
    let of_user = id_of(&forge.post("/user/keys").token(&bobs).form(&laptop).send().expect(201));
    for name in NAMES {
        let path = |key: &str| format!("{boat}/{name}/{key}/enable");
        let hidden = id_of(&key).to_string();
        for key in [&hidden, &of_user.to_string(), &MISSING.to_string(), "0", HUGE] {
            let refused = forge.post(&path(key)).token(&bobs).send().expect(404);
            assert_eq!(refused, no_deploy_key(), "{key}");
        }
        let refused = forge.post(&path("x")).token(&bobs).send().expect(400);
        assert_eq!(refused, error("key_id is invalid"));
    }
    assert_eq!(list(forge, &boat), json!([]));
    add_member(forge, &ship, bob, 10, &[]);
    // Enabling it again changes nothing.
    for name in NAMES {
        let path = format!("{boat}/{name}/{}/enable", id_of(&key));
        let enabled = forge.post(&path).token(&bobs).send();
        assert_eq!((enabled.expect(201), enabled.text()), (key.clone(), &*key.to_string()));
    }
    assert_eq!(list(forge, &boat), json!([key]));
    forge.delete(&format!("{ship}/members/{bob}")).token(ROOT).send().expect(200);
    let again = format!("{boat}/keys/{}/enable", id_of(&key));
    assert_eq!(forge.post(&again).token(&bobs).send().expect(201), key);
}

/// 4.5 with its ruling. DELETE /projects/:id/deploy_keys/:key_id/disable, DELETE /projects/:id/keys/:key_id/disable,
/// DELETE /projects/:id/deploy_keys/:key_id
fn a_key_is_deleted_with_its_last_project(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let [one, two, three] = ["one", "two", "three"].map(|name| project(forge, &ada, name));
    let key = add(forge, &ada, &one, "server", 1);
    let id = id_of(&key);
    for other in [&two, &three] {
        add(forge, &ada, other, "t", 1);
    }
    for (path, name) in [(&one, "deploy_keys"), (&two, "keys")] {
        let path = format!("{path}/{name}/{id}/disable");
        let disabled = forge.delete(&path).token(&ada).send();
        assert_eq!((disabled.expect(200), disabled.text()), (key.clone(), &*key.to_string()));
        assert_eq!(forge.delete(&path).token(&ada).send().expect(404), no_deploy_key());
    }
    for missing in [MISSING.to_string().as_str(), HUGE, "0"] {
        let path = format!("{three}/deploy_keys/{missing}/disable");
        assert_eq!(forge.delete(&path).token(&ada).send().expect(404), no_deploy_key());
    }
    assert_eq!(list(forge, &three), json!([key]));
    forge.get(&format!("/keys/{id}")).token(ROOT).send().expect(200);
    forge.delete(&format!("{three}/deploy_keys/{id}")).token(&ada).send().expect(200);
    assert_eq!(forge.get("/deploy_keys").token(ROOT).send().expect(200), json!([]));
    forge.get(&format!("/keys/{id}")).token(ROOT).send().expect(404);
    // The key can be used again, and goes with its project.
    let again = add(forge, &ada, &one, "server", 1);
    assert_ne!(id_of(&again), id);
    forge.delete(&one).token(&ada).send().expect(200);
    assert_eq!(forge.get("/deploy_keys").token(ROOT).send().expect(200), json!([]));
    add(forge, &ada, &two, "server", 1);
}

/// 4.2. GET /projects/:id/deploy_keys/:key_id, GET /projects/:id/keys/:key_id
fn one_key_is_read_by_those_who_administer_its_project(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (ship, boat) = (project(forge, &ada, "ship"), project(forge, &ada, "boat"));
    let id = id_of(&add(forge, &ada, &ship, "server", 1));
    for name in NAMES {
        for key in [id.to_string().as_str(), &MISSING.to_string(), HUGE, "0", "-1"] {
            let path = format!("{boat}/{name}/{key}");
            let missing = forge.get(&path).token(&ada).send().expect(404);
            assert_eq!(missing, message("404 Not found"), "{path}");
        }
        let text = forge.get(&format!("{boat}/{name}/x")).token(&ada).send().expect(400);
        assert_eq!(text, error("key_id is invalid"));
    }
}

/// 1.2: 401; project 404; does not administer it 403; declared parameters 400. All calls of both names:
/// GET /projects/:id/deploy_keys, DELETE /projects/:id/keys/:key_id
fn the_calls_are_for_those_who_administer_the_project(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let (developer, developers) = forge.user("dev");
    let (master, masters) = forge.user("master");
    let (_, stranger) = forge.user("eve");
    let private = project(forge, &ada, "ship");
    let public = path_of_project(&new_project(forge, &ada, "open", &[("visibility_level", "20")]));
    for project in [&private, &public] {
        add_member(forge, project, developer, 30, &[]);
        add_member(forge, project, master, 40, &[]);
    }
    let calls = |project: &str| -> Vec<(&str, String)> {
        (NAMES.iter())
            .flat_map(|name| {
                let all = format!("{project}/{name}");
                [
                    ("GET", all.clone()),
                    ("POST", all.clone()),
                    ("GET", format!("{all}/x")),
                    ("DELETE", format!("{all}/x")),
                    ("POST", format!("{all}/x/enable")),
                    ("DELETE", format!("{all}/x/disable")),
                ]
            })
            .collect()
    };
    assert_only_for_users(forge, &calls(&private));
    for (method, path) in calls(&private) {
        let hidden = forge.request(method, &path).token(&stranger).send().expect(404);
        assert_eq!(hidden, no_project(), "{method} {path}");
    }
    for (project, token) in [(&private, &developers), (&public, &developers), (&public, &stranger)]
    {
        for (method, path) in calls(project) {
            let refused = forge.request(method, &path).token(token).send().expect(403);
            assert_eq!(refused, forbidden(), "{method} {path}");
        }
    }
    let list = forge.get(&format!("{private}/keys")).token(&masters).send();
    assert_eq!(list.expect(200), json!([]));
    add(forge, &masters, &private, "server", 1);
}

/// 4.1. GET /deploy_keys
fn all_deploy_keys_are_listed_for_administrators(forge: &Forge) {
    assert_only_for_administrators(forge, &[("GET", "/deploy_keys".into())]);
    let (_, ada) = forge.user("ada");
    let (ship, boat) = (project(forge, &ada, "ship"), project(forge, &ada, "boat"));
    let keys = [add(forge, &ada, &ship, "one", 1), add(forge, &ada, &boat, "two", 2)];
    add(forge, &ada, &boat, "again", 1);
    let own = [("title", "laptop"), ("key", &an_ssh_key(3))];
    forge.post("/user/keys").token(&ada).form(&own).send().expect(201);
    let all = forge.get("/deploy_keys").token(ROOT).send();
    assert_eq!(all.text(), json!([keys[1], keys[0]]).to_string());
    assert_eq!(all.header("X-Total"), Some("2"));
    let page = forge.get("/deploy_keys?per_page=1&page=2").token(ROOT).send();
    assert_eq!(page.expect(200), json!([keys[0]]));
}

/// 4.7. GET /keys/:id
fn any_key_is_shown_to_administrators(forge: &Forge) {
    assert_only_for_administrators(forge, &[("GET", "/keys/1".into()), ("GET", "/keys/x".into())]);
    let (ada, token) = forge.user("ada");
    let laptop = [("title", "laptop"), ("key", &an_ssh_key(1))];
    let mut key = forge.post("/user/keys").token(&token).form(&laptop).send().expect(201);
    let shown = forge.get(&format!("/keys/{}", id_of(&key))).token(ROOT).send();
    shown.expect(200);
    key["user"] = user_now(forge, ada);
    assert_eq!(shown.text(), key.to_string());
    let project = project(forge, &token, "ship");
    let mut key = add(forge, &token, &project, "server", 2);
    key["user"] = Value::Null;
    let shown = forge.get(&format!("/keys/{}", id_of(&key))).token(ROOT).send();
    assert_eq!((shown.expect(200), shown.text()), (key.clone(), &*key.to_string()));
    for id in [MISSING.to_string().as_str(), "0", HUGE, "x", "-1"] {
        let missing = forge.get(&format!("/keys/{id}")).token(ROOT).send().expect(404);
        assert_eq!(missing, message("404 Not found"), "{id}");
    }
}

/// 4.3: `deploykey_create` and `deploykey_destroy`, also with the project. POST /projects/:id/deploy_keys,
/// DELETE /projects/:id/deploy_keys/:key_id
fn deploy_keys_are_news_and_no_activity(forge: &Forge) {
    let (ada, token) = forge.user("ada");
    let (ship, boat) = (project(forge, &token, "ship"), project(forge, &token, "boat"));
    let (before, active) = (queued_events(forge).len(), activity_count(forge, ada));
    let first = id_of(&add(forge, &token, &ship, "one", 1));
    // A key that is there already is no news, nor is one that stays elsewhere.
    add(forge, &token, &ship, "one", 1);
    add(forge, &token, &boat, "one", 1);
    forge.delete(&format!("{ship}/keys/{first}")).token(&token).send().expect(200);
    let second = id_of(&add(forge, &token, &boat, "two", 2));
    forge.delete(&format!("{boat}/deploy_keys/{first}")).token(&token).send().expect(200);
    let facts = |id: i64, number: u32| DeployKeyFacts {
        id: KeyId(id),
        key: an_ssh_key(number),
        created_at: a_moment(),
    };
    assert_eq!(
        queued_events(forge)[before..],
        [
            SystemEvent::DeployKeyCreated(facts(first, 1)),
            SystemEvent::DeployKeyCreated(facts(second, 2)),
            SystemEvent::DeployKeyDestroyed(facts(first, 1)),
        ]
    );
    assert_eq!(activity_count(forge, ada), active);
    forge.delete(&boat).token(&token).send().expect(200);
    let destroyed = SystemEvent::DeployKeyDestroyed(facts(second, 2));
    assert!(queued_events(forge)[before + 3..].contains(&destroyed));
}

#[test]
fn row_9_in_the_original() {
    for backend in [Backend::Fake, Backend::Sqlite, Backend::Postgres] {
        if let Some(forge) = Forge::start(ForgeOptions { backend, dialect: Dialect::Original }) {
            row_9(&forge, 21);
        }
    }
}

fn row_9_in_the_specification(forge: &Forge) {
    row_9(forge, 20);
}

/// 1.4 and row 9 of the dialects. GET /deploy_keys, GET /projects/:id/deploy_keys, GET /projects/:id/keys
fn row_9(forge: &Forge, unasked: usize) {
    let (_, ada) = forge.user("ada");
    let project = project(forge, &ada, "ship");
    for number in 1..=21 {
        add(forge, &ada, &project, "t", number);
    }
    for path in ["/deploy_keys".into(), format!("{project}/deploy_keys"), format!("{project}/keys")]
    {
        let list = forge.get(&path).token(ROOT).send();
        assert_eq!(ids(&list.expect(200)).len(), unasked, "{path}");
        assert_eq!(list.header("X-Total").is_some(), unasked == 20, "{path}");
        let page = forge.get(&format!("{path}?page=2")).token(ROOT).send();
        assert_eq!((ids(&page.expect(200)).len(), page.header("X-Total")), (1, Some("21")));
    }
}
