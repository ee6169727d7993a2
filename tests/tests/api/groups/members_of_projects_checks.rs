//! `/projects/:id/members`: reference section 6.1, refused requests and the order of checks.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, error, forbidden, new_project, no_project, path_of_project,
};
use crate::api::support::{HUGE, MISSING, assert_only_for_users, field_error, ids, message};

on_every_store!(
    members_are_for_those_who_may_see_the_project,
    the_parameters_are_looked_at_before_the_project,
    levels_and_users_have_to_be_known,
);

/// A project of ada's, its path, ada's id and token.
fn personal(forge: &Forge, level: &str) -> (Value, String, i64, String) {
    let (ada, token) = forge.user("ada");
    let project = new_project(forge, &token, "p", &[("visibility_level", level)]);
    let path = path_of_project(&project);
    (project, path, ada, token)
}

/// GET /projects/:id/members, GET /projects/:id/members/:user_id, POST /projects/:id/members,
/// PUT /projects/:id/members/:user_id, DELETE /projects/:id/members/:user_id
fn members_are_for_those_who_may_see_the_project(forge: &Forge) {
    let (_, path, ada, _) = personal(forge, "0");
    let (stranger, stranger_token) = forge.user("stranger");
    let (developer, developer_token) = forge.user("developer");
    add_member(forge, &path, developer, 30, &[]);
    let (list, one) = (format!("{path}/members"), format!("{path}/members/{ada}"));
    let calls = [("GET", &list), ("GET", &one), ("POST", &list), ("PUT", &one), ("DELETE", &one)];
    assert_only_for_users(forge, &calls.map(|(method, path)| (method, path.clone())));
    let given = json!({"user_id": stranger, "access_level": 10});
    for (method, path) in calls {
        let call = |token: &str| forge.request(method, path).token(token).json(&given).send();
        assert_eq!(call(&stranger_token).expect(404), no_project(), "{method} {path}");
        if method == "GET" {
            call(&developer_token).expect(200);
        } else {
            assert_eq!(call(&developer_token).expect(403), forbidden(), "{method} {path}");
        }
    }
    let form = [("name", "p"), ("visibility_level", "20")];
    forge.put(&path).token(ROOT).form(&form).send().expect(200);
    for (method, path) in &calls[2..] {
        let call = forge.request(method, path).token(&stranger_token).json(&given).send();
        assert_eq!(call.expect(403), forbidden(), "{method} {path}");
    }
    assert_eq!(ids(&forge.get(&list).token(ROOT).send().expect(200)), [developer, ada]);
}

/// POST /projects/:id/members, PUT /projects/:id/members/:user_id,
/// DELETE /projects/:id/members/:user_id
fn the_parameters_are_looked_at_before_the_project(forge: &Forge) {
    personal(forge, "20");
    let (_, stranger) = forge.user("stranger");
    for project in ["ada%2Fp", "ada%2Fmissing", "p", HUGE] {
        let path = format!("/projects/{project}/members");
        for (method, path, form, text) in [
            ("POST", path.clone(), vec![], "user_id is missing, access_level is missing"),
            (
                "POST",
                path.clone(),
                vec![("user_id", "1"), ("access_level", "x"), ("expires_at", "2016-13-01")],
                "access_level is invalid, expires_at is invalid",
            ),
            ("PUT", format!("{path}/1"), vec![("expires_at", "")], "access_level is missing"),
            ("DELETE", format!("{path}/x"), vec![], "user_id is invalid"),
        ] {
            let refused = forge.request(method, &path).token(&stranger).form(&form).send();
            assert_eq!(refused.expect(400), error(text), "{method} {path} {form:?}");
        }
    }
}

/// POST /projects/:id/members
fn levels_and_users_have_to_be_known(forge: &Forge) {
    let (_, path, ada, token) = personal(forge, "0");
    let (bob, _) = forge.user("bob");
    let add = |user: &str, level: &str| {
        let form = [("user_id", user), ("access_level", level)];
        forge.post(&format!("{path}/members")).token(&token).form(&form).send()
    };
    for level in ["1234", "50", "0", "-10", "15", HUGE] {
        let refused = add(&bob.to_string(), level);
        assert_eq!(refused.expect(422), message("Access level is not known"), "{level}");
    }
    for user in [MISSING.to_string().as_str(), "0", HUGE] {
        assert_eq!(
            add(user, "10").expect(400),
            field_error("invite_email", "is invalid"),
            "{user}"
        );
    }
    let list = forge.get(&format!("{path}/members")).token(&token).send();
    assert_eq!(ids(&list.expect(200)), [ada]);
}
