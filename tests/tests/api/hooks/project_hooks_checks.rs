//! `/projects/:id/hooks`: reference section 5, refused requests and the order of checks.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{
    add_member, error, forbidden, new_project, no_project, path_of_project,
};
use crate::api::support::{HUGE, MISSING, assert_only_for_users, field_error, id_of, ids};

on_every_store!(
    addresses_are_checked,
    parameters_are_checked,
    hooks_are_for_those_who_administer_the_project,
    rights_are_asked_for_before_the_parameters,
);

const SWITCHES: [&str; 9] = [
    "push_events",
    "tag_push_events",
    "enable_ssl_verification",
    "issues_events",
    "merge_requests_events",
    "note_events",
    "build_events",
    "pipeline_events",
    "wiki_page_events",
];

/// The path for hooks of a project of ada's, the project, and ada's token.
fn hooks(forge: &Forge) -> (String, Value, String) {
    let (_, token) = forge.user("ada");
    let project = new_project(forge, &token, "p.js", &[("path", "p.js")]);
    (format!("{}/hooks", path_of_project(&project)), project, token)
}

#[track_caller]
fn register(forge: &Forge, path: &str, form: &[(&str, &str)]) -> Value {
    forge.post(path).token(ROOT).form(form).send().expect(201)
}

/// POST /projects/:id/hooks, PUT /projects/:id/hooks/:hook_id
fn addresses_are_checked(forge: &Forge) {
    let (path, _, token) = hooks(forge);
    let hook = register(forge, &path, &[("url", "http://a.example")]);
    let one = format!("{path}/{}", id_of(&hook));
    for url in ["ftp://a.example", "", "  ", "a.example", "http://", "http://a b", "http://[x]/"] {
        for (method, path) in [("POST", &path), ("PUT", &one)] {
            let form = [("url", url), ("note_events", "true")];
            let refused = forge.request(method, path).token(&token).form(&form).send();
            assert_eq!(refused.expect(422), error("Invalid url given"), "{method} {url:?}");
        }
    }
    // A token is sent in a header, so it must not contain line breaks.
    for (method, path) in [("POST", &path), ("PUT", &one)] {
        let form = [("url", "http://b.example"), ("token", "a\r\nX-Other: b")];
        let refused = forge.request(method, path).token(&token).form(&form).send();
        assert_eq!(refused.expect(400), field_error("token", "is invalid"), "{method}");
    }
    assert_eq!(forge.get(&path).token(&token).send().expect(200), json!([hook]));
}

/// POST /projects/:id/hooks, PUT /projects/:id/hooks/:hook_id
fn parameters_are_checked(forge: &Forge) {
    let (path, _, token) = hooks(forge);
    let hook = register(forge, &path, &[("url", "http://a.example")]);
    let one = format!("{path}/{}", id_of(&hook));
    let missing = format!("{path}/{MISSING}");
    for (method, path) in [("POST", &path), ("PUT", &one), ("PUT", &missing)] {
        let refused =
            |form: &[(&str, &str)]| forge.request(method, path).token(&token).form(form).send();
        assert_eq!(refused(&[]).expect(400), error("url is missing"));
        for name in SWITCHES {
            let answer = refused(&[("url", "ftp://x"), (name, "maybe")]);
            assert_eq!(answer.expect(400), error(&format!("{name} is invalid")), "{method}");
        }
        let answer = refused(&[
            ("enable_ssl_verification", "x"),
            ("wiki_events", "x"),
            ("tag_push_events", "x"),
            ("push_events", "x"),
        ]);
        let text = "url is missing, push_events is invalid, tag_push_events is invalid, \
                    wiki_events is invalid, enable_ssl_verification is invalid";
        assert_eq!(answer.expect(400), error(text), "{method}");
    }
    let both = forge.put(&format!("{path}/x")).token(&token).send().expect(400);
    assert_eq!(both, error("hook_id is invalid, url is missing"));
}

fn calls(path: &str, hook: &str) -> [(&'static str, String); 5] {
    let one = format!("{path}/{hook}");
    [
        ("GET", path.to_owned()),
        ("GET", one.clone()),
        ("POST", path.to_owned()),
        ("PUT", one.clone()),
        ("DELETE", one),
    ]
}

/// GET /projects/:id/hooks, GET /projects/:id/hooks/:hook_id, POST /projects/:id/hooks,
/// PUT /projects/:id/hooks/:hook_id, DELETE /projects/:id/hooks/:hook_id
fn hooks_are_for_those_who_administer_the_project(forge: &Forge) {
    let (path, project, owner) = hooks(forge);
    let (master, master_token) = forge.user("master");
    add_member(forge, &path_of_project(&project), master, 40, &[]);
    for token in [owner.as_str(), &master_token, ROOT] {
        let hook = register(forge, &path, &[("url", "http://a.example")]);
        let calls = calls(&path, &id_of(&hook).to_string());
        assert_only_for_users(forge, &calls);
        for ((method, path), status) in calls.iter().zip([200, 200, 201, 200, 200]) {
            let form = [("url", "http://b.example")];
            forge.request(method, path).token(token).form(&form).send().expect(status);
        }
    }
    for missing in ["ada%2Fmissing", HUGE, "p.js"] {
        for (method, path) in calls(&format!("/projects/{missing}/hooks"), "1") {
            let refused = forge.request(method, &path).token(ROOT).send();
            assert_eq!(refused.expect(404), no_project(), "{method} {path}");
        }
    }
}

/// GET /projects/:id/hooks, GET /projects/:id/hooks/:hook_id, POST /projects/:id/hooks,
/// PUT /projects/:id/hooks/:hook_id, DELETE /projects/:id/hooks/:hook_id
fn rights_are_asked_for_before_the_parameters(forge: &Forge) {
    let (path, project, _) = hooks(forge);
    let (_, stranger) = forge.user("stranger");
    let (developer, developer_token) = forge.user("developer");
    add_member(forge, &path_of_project(&project), developer, 30, &[]);
    let hook = id_of(&register(forge, &path, &[("url", "http://a.example")]));
    for named in [hook.to_string(), MISSING.to_string(), "x".into()] {
        for (method, path) in calls(&path, &named) {
            let call = |token: &str| forge.request(method, &path).token(token).send();
            assert_eq!(call(&stranger).expect(404), no_project(), "{method} {path}");
            assert_eq!(call(&developer_token).expect(403), forbidden(), "{method} {path}");
        }
    }
    // Callers who see the project get 403.
    let form = [("name", "p.js"), ("visibility_level", "20")];
    forge.put(&path_of_project(&project)).token(ROOT).form(&form).send().expect(200);
    for (method, path) in calls(&path, "x") {
        let refused = forge.request(method, &path).token(&stranger).send();
        assert_eq!(refused.expect(403), forbidden(), "{method} {path}");
    }
    assert_eq!(ids(&forge.get(&path).token(ROOT).send().expect(200)), [hook]);
}
