//! `/groups/:id/members`: reference section 6.1, the calls about members of groups.

use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::SystemEvent;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, error, forbidden, group_member, member_json, new_group, path_of_group,
    path_of_project, project_in,
};
use crate::api::support::{HUGE, MISSING, ids, message, queued_events};

on_every_store!(
    an_owner_adds_a_member,
    members_are_listed_from_the_highest_id_on,
    members_are_searched_by_name_address_and_username,
    one_member_is_read,
    an_owner_changes_a_member,
    an_owner_removes_a_member_and_everybody_itself,
    the_last_owner_of_a_group_stays,
    a_membership_gives_access_at_once_and_until_its_day,
    members_of_groups_are_news,
);

/// A group of ada's with this visibility, its path, ada's id and token.
fn team(forge: &Forge, level: &str) -> (Value, String, i64, String) {
    let (ada, token) = forge.user("ada");
    let group = new_group(forge, &token, "team", &[("visibility_level", level)]);
    let path = path_of_group(&group);
    (group, path, ada, token)
}

/// POST /groups/:id/members
fn an_owner_adds_a_member(forge: &Forge) {
    let (_, path, _, ada) = team(forge, "0");
    for (level, expires_at, shown) in [
        (10, "", Value::Null),
        (20, "2016-10-05", json!("2016-10-05")),
        (30, "2016-10-05T23:59:59Z", json!("2016-10-05")),
        (40, "2016-10-05 10:00:00", json!("2016-10-05")),
        // A day in the past is accepted, but gives no access.
        (50, "2000-02-29", json!("2000-02-29")),
    ] {
        let (id, _) = forge.user(&format!("user{level}"));
        let given = json!({"user_id": id, "access_level": level, "expires_at": expires_at});
        let added = forge.post(&format!("{path}/members")).token(&ada).json(&given).send();
        added.expect(201);
        let expected = member_json(forge, id, level, shown);
        assert_eq!(added.text(), expected.to_string());
        let read = forge.get(&format!("/groups/team/members/{id}")).token(&ada).send();
        assert_eq!((read.expect(200), read.text()), (expected.clone(), added.text()));
    }
}

/// GET /groups/:id/members
fn members_are_listed_from_the_highest_id_on(forge: &Forge) {
    let (group, path, ada, token) = team(forge, "20");
    let (bob, stranger) = forge.user("bob");
    let (carl, _) = forge.user("carl");
    add_member(forge, &path, carl, 10, &[("expires_at", "2016-12-24")]);
    add_member(forge, &path, bob, 40, &[]);
    // Members of a project in the group are not members of the group.
    let (dora, _) = forge.user("dora");
    add_member(forge, &path_of_project(&project_in(forge, &group, "p", &[])), dora, 40, &[]);
    let expected = json!([
        member_json(forge, carl, 10, json!("2016-12-24")),
        member_json(forge, bob, 40, Value::Null),
        member_json(forge, ada, 50, Value::Null)
    ]);
    for token in [token.as_str(), &stranger, ROOT] {
        let list = forge.get(&format!("{path}/members")).token(token).send();
        list.expect(200);
        assert_eq!(list.text(), expected.to_string());
        assert_eq!(list.header("X-Total"), Some("3"));
    }
    let page = forge.get("/groups/team/members?per_page=2&page=2").token(&token).send();
    assert_eq!(ids(&page.expect(200)), [ada]);
    assert_eq!(page.header("X-Prev-Page"), Some("1"));
}

/// GET /groups/:id/members
fn members_are_searched_by_name_address_and_username(forge: &Forge) {
    let (_, path, ada, token) = team(forge, "0");
    let form = [("name", "Bob Älter"), ("email", "special@mail.example")];
    let bob = forge.new_user("bob_1", &form)["id"].as_i64().expect("users have ids");
    add_member(forge, &path, bob, 10, &[]);
    forge.user("special");
    for (query, expected) in [
        ("ÄLTER", vec![bob]),
        ("b älT", vec![bob]),
        ("OB_1", vec![bob]),
        ("special@mail", vec![bob]),
        ("example", vec![bob, ada]),
        ("_", vec![bob]),
        ("%", vec![]),
        ("nobody", vec![]),
        ("", vec![bob, ada]),
    ] {
        let list = forge.get(&format!("{path}/members")).query(&[("query", query)]).token(&token);
        assert_eq!(ids(&list.send().expect(200)), expected, "{query}");
    }
}

/// GET /groups/:id/members/:user_id
fn one_member_is_read(forge: &Forge) {
    let (_, path, ada, token) = team(forge, "0");
    let (bob, _) = forge.user("bob");
    let read = |user: &str| forge.get(&format!("{path}/members/{user}")).token(&token).send();
    let found = read(&ada.to_string());
    found.expect(200);
    assert_eq!(found.text(), member_json(forge, ada, 50, Value::Null).to_string());
    for user in [bob.to_string().as_str(), MISSING.to_string().as_str(), HUGE, "0", "-1"] {
        assert_eq!(read(user).expect(404), message("404 Not found"), "{user}");
    }
    for user in ["ada", "1.5"] {
        assert_eq!(read(user).expect(400), error("user_id is invalid"), "{user}");
    }
}

/// PUT /groups/:id/members/:user_id
fn an_owner_changes_a_member(forge: &Forge) {
    let (_, path, ada, token) = team(forge, "0");
    let (bob, _) = forge.user("bob");
    add_member(forge, &path, bob, 10, &[]);
    let before = queued_events(forge);
    let put = |user: &str, form: &[(&str, &str)]| {
        forge.put(&format!("{path}/members/{user}")).token(&token).form(form).send()
    };
    let bob_id = bob.to_string();
    for (form, level, expires_at) in [
        (vec![("access_level", "40")], 40, Value::Null),
        (vec![("access_level", "20"), ("expires_at", "2016-12-24")], 20, json!("2016-12-24")),
        (vec![("access_level", "30")], 30, json!("2016-12-24")),
        (vec![("access_level", "30"), ("expires_at", "")], 30, json!("2016-12-24")),
        (vec![("access_level", "50"), ("expires_at", "2017-01-01")], 50, json!("2017-01-01")),
    ] {
        let changed = put(&bob_id, &form);
        changed.expect(200);
        assert_eq!(
            changed.text(),
            member_json(forge, bob, level, expires_at).to_string(),
            "{form:?}"
        );
        let read = forge.get(&format!("{path}/members/{bob}")).token(ROOT).send();
        assert_eq!((read.status, read.text()), (200, changed.text()));
    }
    for level in ["1234", "0", "51", ""] {
        let refused = put(&bob_id, &[("access_level", level)]);
        assert_eq!(refused.expect(422), message("Access level is not known"), "{level}");
    }
    for user in ["1", MISSING.to_string().as_str(), HUGE] {
        let missing = put(user, &[("access_level", "10")]);
        assert_eq!(missing.expect(404), message("404 Not found"), "{user}");
    }
    // None of this is an event, and the last owner may lower its own level.
    assert_eq!(queued_events(forge), before);
    let stepped = put(&ada.to_string(), &[("access_level", "10")]);
    assert_eq!(stepped.expect(200)["access_level"], 10);
}

/// DELETE /groups/:id/members/:user_id
fn an_owner_removes_a_member_and_everybody_itself(forge: &Forge) {
    let (_, path, _, token) = team(forge, "20");
    let (bob, _) = forge.user("bob");
    let (carl, carl_token) = forge.user("carl");
    add_member(forge, &path, bob, 40, &[("expires_at", "2016-12-24")]);
    add_member(forge, &path, carl, 10, &[]);
    let remove = |user: &str, token: &str| {
        forge.delete(&format!("{path}/members/{user}")).token(token).send()
    };
    assert_eq!(remove(&bob.to_string(), &carl_token).expect(403), forbidden());
    let removed = remove(&bob.to_string(), &token);
    removed.expect(200);
    assert_eq!(removed.text(), member_json(forge, bob, 40, json!("2016-12-24")).to_string());
    let removed = remove(&carl.to_string(), &carl_token);
    assert_eq!(removed.expect(200), member_json(forge, carl, 10, Value::Null));
    for user in [bob, carl, 1, MISSING] {
        for token in [token.as_str(), ROOT] {
            let missing = remove(&user.to_string(), token).expect(404);
            let text = format!("404 Member: user_id:{user} Not Found");
            assert_eq!(missing, message(&text));
        }
    }
}

/// DELETE /groups/:id/members/:user_id
fn the_last_owner_of_a_group_stays(forge: &Forge) {
    let (_, path, ada, token) = team(forge, "0");
    let (bob, bob_token) = forge.user("bob");
    let (carl, _) = forge.user("carl");
    add_member(forge, &path, carl, 40, &[]);
    add_member(forge, &path, bob, 50, &[("expires_at", "2016-09-23")]);
    let remove = |user: i64, token: &str| {
        forge.delete(&format!("{path}/members/{user}")).token(token).send()
    };
    // With two owners, one may leave. An expired owner does not count.
    forge.clock.advance(chrono::TimeDelta::days(1));
    for token in [&token, ROOT] {
        assert_eq!(remove(ada, token).expect(403), forbidden());
    }
    assert_eq!(remove(bob, &token).expect(200)["id"], bob);
    add_member(forge, &path, bob, 50, &[]);
    assert_eq!(remove(ada, &token).expect(200)["id"], ada);
    for token in [&bob_token, ROOT] {
        assert_eq!(remove(bob, token).expect(403), forbidden());
    }
}

/// POST /groups/:id/members
fn a_membership_gives_access_at_once_and_until_its_day(forge: &Forge) {
    let (group, path, _, token) = team(forge, "0");
    let project = path_of_project(&project_in(forge, &group, "p", &[]));
    let (bob, bob_token) = forge.user("bob");
    let status = |path: &str| forge.get(path).token(&bob_token).send().status;
    assert_eq!((status(&path), status(&project)), (404, 404));
    let form = [
        ("user_id", bob.to_string()),
        ("access_level", "40".into()),
        ("expires_at", "2016-09-24".into()),
    ];
    let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
    forge.post(&format!("{path}/members")).token(&token).form(&form).send().expect(201);
    assert_eq!((status(&path), status(&project)), (200, 200));
    assert_eq!(status(&format!("{project}/hooks")), 200);
    let shown = forge.get(&project).token(&bob_token).send().expect(200);
    let access = json!({"access_level": 40, "notification_level": 3});
    assert_eq!(shown["permissions"], json!({"project_access": null, "group_access": access}));
    forge.clock.advance(chrono::TimeDelta::days(1));
    assert_eq!((status(&path), status(&project)), (200, 200));
    forge.clock.advance(chrono::TimeDelta::days(1));
    assert_eq!((status(&path), status(&project)), (404, 404));
}

/// POST /groups/:id/members, DELETE /groups/:id/members/:user_id
fn members_of_groups_are_news(forge: &Forge) {
    let (group, path, _, token) = team(forge, "0");
    let (bob, bob_token) = forge.user("bob");
    let before = queued_events(forge).len();
    add_member(forge, &path, bob, 30, &[]);
    let one = format!("{path}/members/{bob}");
    forge.put(&one).token(&token).form(&[("access_level", "50")]).send().expect(200);
    forge.delete(&one).token(&bob_token).send().expect(200);
    forge.delete(&one).token(&token).send().expect(404);
    let facts = |level| group_member(&group, "bob", bob, level);
    assert_eq!(
        queued_events(forge)[before..],
        [
            SystemEvent::GroupMemberAdded(facts(AccessLevel::Developer)),
            SystemEvent::GroupMemberRemoved(facts(AccessLevel::Owner)),
        ]
    );
    let events = forge.get(&format!("/users/{bob}/events")).token(&bob_token).send();
    assert_eq!(events.expect(200), json!([]));
}
