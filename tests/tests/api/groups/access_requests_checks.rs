//! `/projects/:id/access_requests` and `/groups/:id/access_requests`: refused requests, and the order of checks, which
//! is that of section 6.1 of the reference for members.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, error, external_user, forbidden, new_group, new_project, no_group, no_project,
    path_of_group, path_of_project, project_in, share,
};
use crate::api::projects::project_support::a_cast;
use crate::api::support::{HUGE, MISSING, assert_only_for_users, message};

on_every_store!(
    only_users_ask_and_answer,
    masters_and_owners_answer_requests,
    asking_has_to_be_allowed,
    members_of_every_kind_do_not_ask,
    hidden_sources_cannot_be_asked_for,
    the_parameters_are_looked_at_before_the_source,
    who_did_not_ask_is_not_found,
);

const OPEN: [(&str, &str); 2] = [("visibility_level", "20"), ("request_access_enabled", "true")];

/// GET /projects/:id/access_requests, POST /projects/:id/access_requests,
/// PUT /projects/:id/access_requests/:user_id/approve, DELETE /projects/:id/access_requests/:user_id,
/// GET /groups/:id/access_requests, POST /groups/:id/access_requests,
/// PUT /groups/:id/access_requests/:user_id/approve, DELETE /groups/:id/access_requests/:user_id
fn only_users_ask_and_answer(forge: &Forge) {
    let group = path_of_group(&new_group(forge, ROOT, "crew", &OPEN));
    let project = path_of_project(&new_project(forge, ROOT, "Ship", &OPEN));
    for source in [group, project] {
        let list = format!("{source}/access_requests");
        let calls = [
            ("GET", list.clone()),
            ("POST", list.clone()),
            ("PUT", format!("{list}/1/approve")),
            ("DELETE", format!("{list}/1")),
        ];
        assert_only_for_users(forge, &calls);
    }
}

/// GET /projects/:id/access_requests, PUT /projects/:id/access_requests/:user_id/approve,
/// DELETE /projects/:id/access_requests/:user_id, GET /groups/:id/access_requests,
/// PUT /groups/:id/access_requests/:user_id/approve, DELETE /groups/:id/access_requests/:user_id
fn masters_and_owners_answer_requests(forge: &Forge) {
    let cast = a_cast(forge, "20");
    let form = [("name", "Ship"), ("request_access_enabled", "true")];
    forge.put(&cast.path).token(ROOT).form(&form).send().expect(200);
    let crew = new_group(forge, ROOT, "crew", &OPEN);
    let (master, master_token) = forge.user("group-master");
    add_member(forge, &path_of_group(&crew), master, 40, &[]);
    let (bob, bob_token) = forge.user("bob");
    let of_ship = format!("{}/access_requests", cast.path);
    let of_crew = format!("{}/access_requests", path_of_group(&crew));
    for path in [&of_ship, &of_crew] {
        forge.post(path).token(&bob_token).send().expect(201);
    }
    let assert_refused = |path: &str, token: &str| {
        for (method, path) in [
            ("GET", path.to_owned()),
            ("PUT", format!("{path}/{bob}/approve")),
            ("PUT", format!("{path}/{MISSING}/approve?access_level=99")),
            ("DELETE", format!("{path}/{bob}")),
            ("DELETE", format!("{path}/{MISSING}")),
        ] {
            // Requesters may withdraw their own request, so they are not refused.
            if token == bob_token && path.ends_with(&format!("/{bob}")) {
                continue;
            }
            let refused = forge.request(method, &path).token(token).send();
            assert_eq!(refused.expect(403), forbidden(), "{method} {path}");
        }
    };
    for who in ["stranger", "guest", "reporter", "developer"] {
        assert_refused(&of_ship, cast.token(who));
    }
    assert_refused(&of_ship, &bob_token);
    for token in [master_token.as_str(), cast.token("stranger"), &bob_token] {
        assert_refused(&of_crew, token);
    }
    let approve = format!("{of_ship}/{bob}/approve");
    forge.put(&approve).token(cast.token("master")).send().expect(201);
}

/// POST /projects/:id/access_requests, POST /groups/:id/access_requests
fn asking_has_to_be_allowed(forge: &Forge) {
    let closed = [("visibility_level", "20")];
    let group = path_of_group(&new_group(forge, ROOT, "crew", &closed));
    let project = path_of_project(&new_project(forge, ROOT, "Ship", &closed));
    let (_, token) = forge.user("ada");
    for (source, name) in [(group, "crew"), (project, "Ship")] {
        let path = format!("{source}/access_requests");
        assert_eq!(forge.post(&path).token(&token).send().expect(403), forbidden());
        let form = [("name", name), ("request_access_enabled", "true")];
        forge.put(&source).token(ROOT).form(&form).send().expect(200);
        forge.post(&path).token(&token).send().expect(201);
        // Existing requests stay when requests are disabled.
        let form = [("name", name), ("request_access_enabled", "false")];
        forge.put(&source).token(ROOT).form(&form).send().expect(200);
        assert_eq!(forge.post(&path).token(&token).send().expect(403), forbidden());
        let left = forge.get(&path).token(ROOT).send();
        assert_eq!(left.header("X-Total"), Some("1"));
    }
}

/// POST /projects/:id/access_requests, POST /groups/:id/access_requests
fn members_of_every_kind_do_not_ask(forge: &Forge) {
    let crew = new_group(forge, ROOT, "crew", &OPEN);
    let friends = new_group(forge, ROOT, "friends", &OPEN);
    let ship = project_in(forge, &crew, "Ship", &OPEN);
    share(forge, &ship, &friends, "10");
    let names = ["of-project", "of-group", "of-share", "stranger"];
    let [of_project, of_group, of_share, stranger] = names.map(|name| forge.user(name));
    add_member(forge, &path_of_project(&ship), of_project.0, 10, &[]);
    add_member(forge, &path_of_group(&crew), of_group.0, 10, &[]);
    add_member(forge, &path_of_group(&friends), of_share.0, 10, &[]);
    let ask = |source: &str, token: &str| {
        forge.post(&format!("{source}/access_requests")).token(token).send()
    };
    let path = path_of_project(&ship);
    for (_, token) in [&of_project, &of_group, &of_share] {
        assert_eq!(ask(&path, token).expect(403), forbidden());
    }
    ask(&path, &stranger.1).expect(201);
    let path = path_of_group(&crew);
    assert_eq!(ask(&path, &of_group.1).expect(403), forbidden());
    for (_, token) in [&of_project, &of_share, &stranger] {
        ask(&path, token).expect(201);
    }
    // The owner of a personal project, and an administrator who is not a member.
    let (_, owner) = forge.user("owner");
    let own = path_of_project(&new_project(forge, &owner, "Own", &OPEN));
    assert_eq!(ask(&own, &owner).expect(403), forbidden());
    ask(&own, ROOT).expect(201);
}

/// POST /projects/:id/access_requests, POST /groups/:id/access_requests
fn hidden_sources_cannot_be_asked_for(forge: &Forge) {
    let (_, token) = forge.user("ada");
    let (_, external) = external_user(forge, "external");
    let cases = [("0", &token), ("0", &external), ("10", &external)];
    for (number, (level, token)) in cases.into_iter().enumerate() {
        let form = [("visibility_level", level), ("request_access_enabled", "true")];
        let group = new_group(forge, ROOT, &format!("crew{number}"), &form);
        let project = new_project(forge, ROOT, &format!("ship{number}"), &form);
        for (source, missing) in
            [(path_of_group(&group), no_group()), (path_of_project(&project), no_project())]
        {
            let asked = forge.post(&format!("{source}/access_requests")).token(token).send();
            assert_eq!(asked.expect(404), missing, "{level}");
        }
    }
}

/// PUT /projects/:id/access_requests/:user_id/approve, DELETE /groups/:id/access_requests/:user_id
fn the_parameters_are_looked_at_before_the_source(forge: &Forge) {
    let (_, token) = forge.user("ada");
    for source in ["/projects/1", "/groups/missing"] {
        for (method, path, form, text) in [
            ("PUT", "x/approve", vec![("access_level", "y")], USER_AND_LEVEL),
            ("PUT", "1/approve", vec![("access_level", "y")], "access_level is invalid"),
            ("DELETE", "x", vec![], "user_id is invalid"),
        ] {
            let path = format!("{source}/access_requests/{path}");
            let refused = forge.request(method, &path).token(&token).form(&form).send();
            assert_eq!(refused.expect(400), error(text), "{method} {path}");
        }
    }
}

const USER_AND_LEVEL: &str = "user_id is invalid, access_level is invalid";

/// PUT /projects/:id/access_requests/:user_id/approve,
/// PUT /groups/:id/access_requests/:user_id/approve, DELETE /projects/:id/access_requests/:user_id,
/// DELETE /groups/:id/access_requests/:user_id
fn who_did_not_ask_is_not_found(forge: &Forge) {
    let group = path_of_group(&new_group(forge, ROOT, "crew", &OPEN));
    let project = path_of_project(&new_project(forge, ROOT, "Ship", &OPEN));
    let (ada, _) = forge.user("ada");
    for source in [group, project] {
        for user in [json!(ada), json!(MISSING), json!(1), Value::String(HUGE.to_owned())] {
            let user = user.to_string().replace('"', "");
            for (method, path) in [("PUT", format!("{user}/approve")), ("DELETE", user.clone())] {
                let path = format!("{source}/access_requests/{path}");
                let missing = forge.request(method, &path).token(ROOT).send();
                assert_eq!(missing.expect(404), message("404 Not found"), "{method} {path}");
            }
        }
    }
}
