//! `/projects/:id/members`: reference section 6.1, the calls about members of projects.

use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::{SystemEvent, TeamFacts};
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    activity_in, add_member, error, forbidden, member_facts, member_json, new_group, new_project,
    no_project, path_of_group, path_of_project, project_facts, project_in, share,
};
use crate::api::support::{HUGE, MISSING, ids, message, queued_events};

on_every_store!(
    a_master_adds_a_member,
    the_list_has_only_the_direct_members,
    one_member_is_read,
    a_member_who_is_added_again_stays_what_it_is,
    a_master_changes_a_member,
    a_master_removes_a_member_and_everybody_itself,
    who_is_no_member_need_not_be_removed,
    the_owner_of_a_personal_project_stays_its_member,
    a_membership_gives_access_at_once_and_until_its_day,
    members_of_projects_are_news_and_activity,
);

/// A project of ada's, its path, ada's id and token.
fn personal(forge: &Forge, level: &str) -> (Value, String, i64, String) {
    let (ada, token) = forge.user("ada");
    let project = new_project(forge, &token, "p", &[("visibility_level", level)]);
    let path = path_of_project(&project);
    (project, path, ada, token)
}

/// POST /projects/:id/members
fn a_master_adds_a_member(forge: &Forge) {
    let (_, path, _, ada) = personal(forge, "0");
    let (master, master_token) = forge.user("master");
    add_member(forge, &path, master, 40, &[]);
    for (level, token, expires_at) in [
        (10, &ada, Value::Null),
        (20, &master_token, json!("2016-10-05")),
        (30, &ada, json!("2016-09-22")),
        (40, &master_token, Value::Null),
    ] {
        let (id, _) = forge.user(&format!("user{level}"));
        let given = json!({"user_id": id, "access_level": level, "expires_at": expires_at});
        let added = forge.post("/projects/ada%2Fp/members").token(token).json(&given).send();
        added.expect(201);
        let expected = member_json(forge, id, level, expires_at);
        assert_eq!(added.text(), expected.to_string());
        let read = forge.get(&format!("{path}/members/{id}")).token(&ada).send();
        assert_eq!((read.status, read.text()), (200, added.text()));
    }
}

/// GET /projects/:id/members
fn the_list_has_only_the_direct_members(forge: &Forge) {
    let (_, stranger) = forge.user("stranger");
    let [own, shared] = ["own", "shared"].map(|path| new_group(forge, ROOT, path, &[]));
    let project = project_in(forge, &own, "p", &[("visibility_level", "20")]);
    let path = path_of_project(&project);
    share(forge, &project, &shared, "30");
    let users = ["of-group", "of-shared", "first", "second"].map(|name| forge.user(name).0);
    add_member(forge, &path_of_group(&own), users[0], 50, &[]);
    add_member(forge, &path_of_group(&shared), users[1], 50, &[]);
    // A new project in a group has no direct members.
    let list = forge.get(&format!("{path}/members")).token(&stranger).send();
    assert_eq!((list.expect(200), list.header("X-Total")), (json!([]), Some("0")));
    add_member(forge, &path, users[3], 10, &[]);
    add_member(forge, &path, users[2], 20, &[("expires_at", "2016-01-01")]);
    let list = forge.get(&format!("{path}/members")).token(&stranger).send();
    list.expect(200);
    let expected = json!([
        member_json(forge, users[3], 10, Value::Null),
        member_json(forge, users[2], 20, json!("2016-01-01"))
    ]);
    assert_eq!(list.text(), expected.to_string());
    let found = forge.get(&format!("{path}/members?query=FIRST@ex")).token(&stranger).send();
    assert_eq!(ids(&found.expect(200)), [users[2]]);
    let page = forge.get(&format!("{path}/members?per_page=1&page=2")).token(ROOT).send();
    assert_eq!((ids(&page.expect(200)), page.header("X-Total")), (vec![users[2]], Some("2")));
}

/// GET /projects/:id/members/:user_id
fn one_member_is_read(forge: &Forge) {
    let (_, path, ada, token) = personal(forge, "0");
    let (bob, _) = forge.user("bob");
    let read = |user: &str| forge.get(&format!("{path}/members/{user}")).token(&token).send();
    let own = read(&ada.to_string());
    own.expect(200);
    // The creator of a personal project is a master of it.
    assert_eq!(own.text(), member_json(forge, ada, 40, Value::Null).to_string());
    for user in [bob.to_string().as_str(), MISSING.to_string().as_str(), HUGE, "0"] {
        assert_eq!(read(user).expect(404), message("404 Not found"), "{user}");
    }
    assert_eq!(read("ada").expect(400), error("user_id is invalid"));
}

/// POST /projects/:id/members
fn a_member_who_is_added_again_stays_what_it_is(forge: &Forge) {
    let (project, path, ada, token) = personal(forge, "0");
    let (bob, _) = forge.user("bob");
    add_member(forge, &path, bob, 20, &[("expires_at", "2016-12-24")]);
    let before = (queued_events(forge), activity_in(forge, &project));
    for (user, level, expires_at) in [(bob, 20, json!("2016-12-24")), (ada, 40, Value::Null)] {
        let given = json!({"user_id": user, "access_level": 30, "expires_at": "2017-01-01"});
        let again = forge.post(&format!("{path}/members")).token(&token).json(&given).send();
        assert_eq!(again.expect(201), member_json(forge, user, level, expires_at));
    }
    assert_eq!((queued_events(forge), activity_in(forge, &project)), before);
}

/// PUT /projects/:id/members/:user_id
fn a_master_changes_a_member(forge: &Forge) {
    let (project, path, _, token) = personal(forge, "0");
    let (bob, _) = forge.user("bob");
    add_member(forge, &path, bob, 10, &[]);
    let before = (queued_events(forge), activity_in(forge, &project));
    let put = |user: &str, form: &[(&str, &str)]| {
        forge.put(&format!("{path}/members/{user}")).token(&token).form(form).send()
    };
    let bob_id = bob.to_string();
    for (form, level, expires_at) in [
        (vec![("access_level", "40"), ("expires_at", "2016-12-24")], 40, json!("2016-12-24")),
        (vec![("access_level", "30")], 30, json!("2016-12-24")),
        (vec![("access_level", "20"), ("expires_at", "2017-01-01")], 20, json!("2017-01-01")),
    ] {
        let changed = put(&bob_id, &form);
        changed.expect(200);
        let expected = member_json(forge, bob, level, expires_at);
        assert_eq!(changed.text(), expected.to_string(), "{form:?}");
        let read = forge.get(&format!("{path}/members/{bob}")).token(ROOT).send();
        assert_eq!((read.status, read.text()), (200, changed.text()));
    }
    for level in ["1234", "50", "0"] {
        let refused = put(&bob_id, &[("access_level", level)]);
        assert_eq!(refused.expect(422), message("Access level is not known"), "{level}");
    }
    for user in ["1", MISSING.to_string().as_str(), HUGE] {
        let missing = put(user, &[("access_level", "10")]);
        assert_eq!(missing.expect(404), message("404 Not found"), "{user}");
    }
    assert_eq!((queued_events(forge), activity_in(forge, &project)), before);
}

/// DELETE /projects/:id/members/:user_id
fn a_master_removes_a_member_and_everybody_itself(forge: &Forge) {
    let (_, path, _, token) = personal(forge, "0");
    let (bob, bob_token) = forge.user("bob");
    let (carl, carl_token) = forge.user("carl");
    add_member(forge, &path, bob, 30, &[("expires_at", "2016-12-24")]);
    add_member(forge, &path, carl, 10, &[]);
    let remove = |user: i64, token: &str| {
        forge.delete(&format!("{path}/members/{user}")).token(token).send()
    };
    assert_eq!(remove(carl, &bob_token).expect(403), forbidden());
    let removed = remove(bob, &token);
    removed.expect(200);
    let expected = member_json(forge, bob, 30, json!("2016-12-24"));
    assert_eq!(removed.text(), expected.to_string());
    assert_eq!(remove(carl, &carl_token).expect(200)["access_level"], 10);
    assert_eq!(forge.get(&path).token(&carl_token).send().expect(404), no_project());
}

/// DELETE /projects/:id/members/:user_id
fn who_is_no_member_need_not_be_removed(forge: &Forge) {
    let (project, path, _, token) = personal(forge, "10");
    let (_, stranger) = forge.user("stranger");
    let before = (queued_events(forge), activity_in(forge, &project));
    for user in [1, MISSING] {
        for token in [token.as_str(), &stranger, ROOT] {
            let removed = forge.delete(&format!("{path}/members/{user}")).token(token).send();
            removed.expect(200);
            let expected = json!({"message": "Access revoked", "id": user});
            assert_eq!(removed.text(), expected.to_string());
        }
    }
    assert_eq!((queued_events(forge), activity_in(forge, &project)), before);
}

/// DELETE /projects/:id/members/:user_id
fn the_owner_of_a_personal_project_stays_its_member(forge: &Forge) {
    let (_, path, ada, token) = personal(forge, "0");
    let (bob, bob_token) = forge.user("bob");
    add_member(forge, &path, bob, 40, &[]);
    for token in [token.as_str(), &bob_token, ROOT] {
        let refused = forge.delete(&format!("{path}/members/{ada}")).token(token).send();
        assert_eq!(refused.expect(403), forbidden());
    }
    let list = forge.get(&format!("{path}/members")).token(&token).send();
    assert_eq!(ids(&list.expect(200)), [bob, ada]);
}

/// POST /projects/:id/members
fn a_membership_gives_access_at_once_and_until_its_day(forge: &Forge) {
    let (_, path, _, _) = personal(forge, "0");
    let (bob, token) = forge.user("bob");
    let status = |path: &str| forge.get(path).token(&token).send().status;
    let hooks = format!("{path}/hooks");
    assert_eq!((status(&path), status(&hooks)), (404, 404));
    add_member(forge, &path, bob, 40, &[("expires_at", "2016-09-23")]);
    assert_eq!((status(&path), status(&hooks)), (200, 200));
    let shown = forge.get(&path).token(&token).send().expect(200);
    let access = json!({"access_level": 40, "notification_level": 3});
    assert_eq!(shown["permissions"], json!({"project_access": access, "group_access": null}));
    forge.clock.advance(chrono::TimeDelta::days(1));
    assert_eq!((status(&path), status(&hooks)), (404, 404));
}

/// POST /projects/:id/members, DELETE /projects/:id/members/:user_id
fn members_of_projects_are_news_and_activity(forge: &Forge) {
    let (project, path, ada, token) = personal(forge, "10");
    let (bob, bob_token) = forge.user("bob");
    let before = queued_events(forge).len();
    let add = json!({"user_id": bob, "access_level": 30});
    forge.post(&format!("{path}/members")).token(&token).json(&add).send().expect(201);
    let one = format!("{path}/members/{bob}");
    forge.put(&one).token(&token).form(&[("access_level", "20")]).send().expect(200);
    forge.delete(&one).token(&token).send().expect(200);
    forge.delete(&one).token(&token).send().expect(200);
    let facts = |access| TeamFacts {
        project: project_facts(&project, "ada", "ada@example.com"),
        member: member_facts("bob", bob, access),
    };
    assert_eq!(
        queued_events(forge)[before..],
        [
            SystemEvent::TeamMemberAdded(facts(AccessLevel::Developer)),
            SystemEvent::TeamMemberRemoved(facts(AccessLevel::Reporter)),
        ]
    );
    // Author of the event is the member who joined or left, whoever made the change.
    let did = |action: &str, who: i64| (action.to_owned(), who);
    let expected = [did("left", bob), did("joined", bob), did("created", ada)];
    assert_eq!(activity_in(forge, &project), expected);
    let feed = forge.get(&format!("/users/{bob}/events")).token(&bob_token).send().expect(200);
    assert_eq!(feed.as_array().map(Vec::len), Some(2));
    assert_eq!((&feed[0]["target_type"], &feed[0]["data"]), (&Value::Null, &Value::Null));
}
