//! `/groups/:id/members`: reference section 6.1, refused requests and the order of checks.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, error, forbidden, member_json, new_group, no_group, path_of_group,
};
use crate::api::support::{
    HUGE, MISSING, assert_only_for_users, field_error, ids, message, queued_events,
};

on_every_store!(
    members_are_for_those_who_may_see_the_group,
    the_parameters_are_looked_at_before_the_group,
    nobody_is_added_twice_or_to_nothing,
);

/// A group of ada's with this visibility, its path, ada's id and token.
fn team(forge: &Forge, level: &str) -> (Value, String, i64, String) {
    let (ada, token) = forge.user("ada");
    let group = new_group(forge, &token, "team", &[("visibility_level", level)]);
    let path = path_of_group(&group);
    (group, path, ada, token)
}

/// GET /groups/:id/members, GET /groups/:id/members/:user_id, POST /groups/:id/members,
/// PUT /groups/:id/members/:user_id, DELETE /groups/:id/members/:user_id
fn members_are_for_those_who_may_see_the_group(forge: &Forge) {
    let (_, path, ada, _) = team(forge, "0");
    let (stranger, stranger_token) = forge.user("stranger");
    let (master, master_token) = forge.user("master");
    add_member(forge, &path, master, 40, &[]);
    let (list, one) = (format!("{path}/members"), format!("{path}/members/{ada}"));
    let calls = [("GET", &list), ("GET", &one), ("POST", &list), ("PUT", &one), ("DELETE", &one)];
    assert_only_for_users(forge, &calls.map(|(method, path)| (method, path.clone())));
    let given = json!({"user_id": stranger, "access_level": 10});
    for (method, path) in calls {
        let call = |token: &str| forge.request(method, path).token(token).json(&given).send();
        assert_eq!(call(&stranger_token).expect(404), no_group(), "{method} {path}");
        // Masters see the members, but cannot change them.
        if method == "GET" {
            call(&master_token).expect(200);
        } else {
            assert_eq!(call(&master_token).expect(403), forbidden(), "{method} {path}");
        }
    }
    // In a visible group, a stranger gets 403.
    forge.put(&path).token(ROOT).form(&[("visibility_level", "20")]).send().expect(200);
    for (method, path) in &calls[2..] {
        let call = forge.request(method, path).token(&stranger_token).json(&given).send();
        assert_eq!(call.expect(403), forbidden(), "{method} {path}");
    }
    let left = forge.get(&list).token(ROOT).send().expect(200);
    assert_eq!(ids(&left), [master, ada]);
}

/// GET /groups/:id/members/:user_id, POST /groups/:id/members, PUT /groups/:id/members/:user_id,
/// DELETE /groups/:id/members/:user_id
fn the_parameters_are_looked_at_before_the_group(forge: &Forge) {
    team(forge, "20");
    let (_, stranger) = forge.user("stranger");
    for group in ["team", "missing", HUGE] {
        let path = format!("/groups/{group}/members");
        for (method, path, form, text) in [
            ("POST", path.clone(), vec![], "user_id is missing, access_level is missing"),
            ("POST", path.clone(), vec![("access_level", "10")], "user_id is missing"),
            ("POST", path.clone(), vec![("user_id", "1")], "access_level is missing"),
            (
                "POST",
                path.clone(),
                vec![("expires_at", "soon"), ("access_level", "all"), ("user_id", "me")],
                "user_id is invalid, access_level is invalid, expires_at is invalid",
            ),
            ("PUT", format!("{path}/1"), vec![], "access_level is missing"),
            (
                "PUT",
                format!("{path}/x"),
                vec![("access_level", "10"), ("expires_at", "2016-02-30")],
                "user_id is invalid, expires_at is invalid",
            ),
            ("GET", format!("{path}/x"), vec![], "user_id is invalid"),
            ("DELETE", format!("{path}/x"), vec![], "user_id is invalid"),
        ] {
            let refused = forge.request(method, &path).token(&stranger).form(&form).send();
            assert_eq!(refused.expect(400), error(text), "{method} {path} {form:?}");
        }
    }
}

/// POST /groups/:id/members
fn nobody_is_added_twice_or_to_nothing(forge: &Forge) {
    let (_, path, ada, token) = team(forge, "0");
    let (bob, _) = forge.user("bob");
    add_member(forge, &path, bob, 20, &[("expires_at", "2016-12-24")]);
    let before = queued_events(forge).len();
    let add = |user: &str, level: &str| {
        let form = [("user_id", user), ("access_level", level)];
        forge.post(&format!("{path}/members")).token(&token).form(&form).send()
    };
    for user in [ada, bob] {
        let again = add(&user.to_string(), "10");
        assert_eq!(again.expect(409), message("Member already exists"));
    }
    let (carl, _) = forge.user("carl");
    for level in ["1234", "0", "-10", "15", "60", "", HUGE] {
        let refused = add(&carl.to_string(), level);
        assert_eq!(refused.expect(422), message("Access level is not known"), "{level}");
    }
    for user in [MISSING.to_string().as_str(), "0", "", HUGE] {
        assert_eq!(
            add(user, "10").expect(400),
            field_error("invite_email", "is invalid"),
            "{user}"
        );
    }
    let list = forge.get(&format!("{path}/members")).token(&token).send().expect(200);
    let expected = json!([
        member_json(forge, bob, 20, json!("2016-12-24")),
        member_json(forge, ada, 50, Value::Null)
    ]);
    assert_eq!(list, expected);
    // The only event is that of the account created meanwhile.
    assert_eq!(queued_events(forge).len(), before + 1);
}
