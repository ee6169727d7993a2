//! `/projects/:id/hooks`: reference section 5, and row 12 of the dialects.

use hexforge_domain::id::{ProjectHookId, ProjectId};
use hexforge_domain_testing::builders::at;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{error, in_the_original, new_project, path_of_project};
use crate::api::support::{HUGE, MISSING, id_of, message, no_route, queued_events, read_store};

on_every_store!(
    a_hook_is_registered_with_its_defaults,
    every_switch_can_be_given_and_changed,
    hooks_are_listed_newest_first_and_read,
    a_change_keeps_what_is_not_given,
    the_token_belongs_to_one_address_and_is_never_shown,
    hooks_of_other_projects_are_not_found,
    row_12_in_the_specification,
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

fn kept_token(forge: &Forge, hook: &Value) -> Option<String> {
    let project = ProjectId(hook["project_id"].as_i64().expect("a hook has a project"));
    let id = ProjectHookId(id_of(hook));
    let hook =
        read_store(forge, |tx| tx.project_hooks().find(project, id)).expect("the hook is there");
    hook.settings.token.map(|token| token.reveal().to_owned())
}

/// POST /projects/:id/hooks
fn a_hook_is_registered_with_its_defaults(forge: &Forge) {
    let (path, project, token) = hooks(forge);
    let before = queued_events(forge).len();
    let form = [("url", "  http://a.example/x\n")];
    let made = forge.post(&path).token(&token).form(&form).send();
    let expected = json!({
        "id": id_of(&made.expect(201)), "url": "http://a.example/x",
        "created_at": "2016-09-22T10:30:00.000Z", "push_events": true, "tag_push_events": false,
        "enable_ssl_verification": true, "project_id": id_of(&project), "issues_events": false,
        "merge_requests_events": false, "note_events": false, "build_events": false,
        "pipeline_events": false, "wiki_page_events": false
    });
    assert_eq!(made.text(), expected.to_string());
    // The project by its path, which may contain dots. The same URL a second time is another hook.
    let again = forge.post("/projects/ada%2Fp.js/hooks").token(&token).form(&form).send();
    assert_ne!(again.expect(201)["id"], expected["id"]);
    assert_eq!(queued_events(forge).len(), before);
}

/// POST /projects/:id/hooks, PUT /projects/:id/hooks/:hook_id
fn every_switch_can_be_given_and_changed(forge: &Forge) {
    let (path, _, token) = hooks(forge);
    for wiki in ["wiki_events", "wiki_page_events"] {
        for on in SWITCHES {
            let mut given = json!({"url": "https://me:p%40ss@a.example:8443/?a=b"});
            for name in SWITCHES {
                let sent = if name == "wiki_page_events" { wiki } else { name };
                given[sent] = json!(name == on);
            }
            let made = forge.post(&path).token(&token).json(&given).send().expect(201);
            for name in SWITCHES {
                assert_eq!(made[name], name == on, "{name} with {on}");
            }
            for name in SWITCHES {
                let sent = if name == "wiki_page_events" { wiki } else { name };
                given[sent] = json!(name != on);
            }
            let one = format!("{path}/{}", id_of(&made));
            let changed = forge.put(&one).token(&token).json(&given).send().expect(200);
            for name in SWITCHES {
                assert_eq!(changed[name], name != on, "{name} with {on}");
            }
            assert_eq!(forge.get(&one).token(&token).send().expect(200), changed);
        }
    }
}

/// GET /projects/:id/hooks, GET /projects/:id/hooks/:hook_id
fn hooks_are_listed_newest_first_and_read(forge: &Forge) {
    let (path, _, token) = hooks(forge);
    let empty = forge.get(&path).token(&token).send();
    assert_eq!((empty.expect(200), empty.header("X-Total")), (json!([]), Some("0")));
    let hooks =
        ["a", "b", "c"].map(|host| register(forge, &path, &[("url", &format!("http://{host}"))]));
    let list = forge.get(&path).token(&token).send();
    assert_eq!(list.text(), json!([hooks[2], hooks[1], hooks[0]]).to_string());
    let page = forge.get(&format!("{path}?per_page=2&page=2")).token(&token).send();
    assert_eq!((page.expect(200), page.header("X-Total")), (json!([hooks[0]]), Some("3")));
    let read = |id: &str| forge.get(&format!("{path}/{id}")).token(&token).send();
    assert_eq!(read(&id_of(&hooks[1]).to_string()).text(), hooks[1].to_string());
    for id in [MISSING.to_string().as_str(), "0", "-1", HUGE] {
        assert_eq!(read(id).expect(404), message("404 Not found"), "{id}");
    }
    assert_eq!(read("x").expect(400), error("hook_id is invalid"));
    assert_eq!(forge.delete(&path).token(&token).send().expect(404), no_route());
}

/// PUT /projects/:id/hooks/:hook_id
fn a_change_keeps_what_is_not_given(forge: &Forge) {
    let (path, _, token) = hooks(forge);
    let form = [("url", "http://a.example"), ("push_events", "false"), ("note_events", "true")];
    let mut hook = register(forge, &path, &form);
    let one = format!("{path}/{}", id_of(&hook));
    forge.clock.set(at(60));
    let form = [("url", " http://b.example "), ("issues_events", "on"), ("note_events", "")];
    let changed = forge.put(&one).token(&token).form(&form).send();
    changed.expect(200);
    hook["url"] = json!("http://b.example");
    hook["issues_events"] = json!(true);
    assert_eq!(changed.text(), hook.to_string());
    assert_eq!(forge.get(&one).token(&token).send().text(), hook.to_string());
    let missing = forge.put(&format!("{path}/{MISSING}")).token(&token).form(&form).send();
    assert_eq!(missing.expect(404), message("404 Not found"));
}

/// POST /projects/:id/hooks, PUT /projects/:id/hooks/:hook_id
fn the_token_belongs_to_one_address_and_is_never_shown(forge: &Forge) {
    let (path, _, token) = hooks(forge);
    let made = register(forge, &path, &[("url", "http://a.example"), ("token", "s3cret")]);
    assert_eq!(kept_token(forge, &made).as_deref(), Some("s3cret"));
    let one = format!("{path}/{}", id_of(&made));
    let mut shown = vec![made.to_string()];
    for (form, expected) in [
        (vec![("url", "http://a.example"), ("note_events", "1")], Some("s3cret")),
        (vec![("url", "http://b.example"), ("token", "s3cret-2")], Some("s3cret-2")),
        (vec![("url", "http://b.example"), ("token", "")], Some("s3cret-2")),
        (vec![("url", "http://c.example")], None),
        (vec![("url", "http://c.example"), ("token", "s3cret-3")], Some("s3cret-3")),
    ] {
        let changed = forge.put(&one).token(&token).form(&form).send();
        assert_eq!(kept_token(forge, &changed.expect(200)).as_deref(), expected, "{form:?}");
        shown.push(changed.text().to_owned());
    }
    shown.push(forge.get(&path).token(&token).send().text().to_owned());
    shown.push(forge.get(&one).token(&token).send().text().to_owned());
    shown.push(forge.delete(&one).token(&token).send().text().to_owned());
    for text in shown {
        assert!(!text.contains("token") && !text.contains("s3cret"), "{text}");
    }
}

/// GET /projects/:id/hooks/:hook_id, PUT /projects/:id/hooks/:hook_id,
/// DELETE /projects/:id/hooks/:hook_id
fn hooks_of_other_projects_are_not_found(forge: &Forge) {
    let (path, _, token) = hooks(forge);
    let hook = register(forge, &path, &[("url", "http://a.example")]);
    let other = new_project(forge, &token, "other", &[]);
    let foreign = format!("{}/hooks/{}", path_of_project(&other), id_of(&hook));
    let missing = message("404 Not found");
    assert_eq!(forge.get(&foreign).token(&token).send().expect(404), missing);
    let form = [("url", "http://evil.example")];
    assert_eq!(forge.put(&foreign).token(&token).form(&form).send().expect(404), missing);
    assert_eq!(forge.delete(&foreign).token(&token).send().status, 200);
    let others = forge.get(&format!("{}/hooks", path_of_project(&other))).token(&token).send();
    assert_eq!(others.expect(200), json!([]));
    assert_eq!(forge.get(&path).token(&token).send().expect(200), json!([hook]));
}

#[test]
fn row_12_in_the_original() {
    in_the_original(|forge| {
        row_12(forge, |id| {
            let text = format!("404 Error deleting hook {id} Not Found");
            (404, message(&text).to_string())
        });
    });
}

fn row_12_in_the_specification(forge: &Forge) {
    row_12(forge, |_| (200, String::new()));
}

/// Row 12: DELETE /projects/:id/hooks/:hook_id
fn row_12(forge: &Forge, missing: fn(i64) -> (u16, String)) {
    let (path, _, token) = hooks(forge);
    let [hook, kept] =
        ["http://a.example", "http://b.example"].map(|url| register(forge, &path, &[("url", url)]));
    let id = id_of(&hook);
    let delete = |id: &str| forge.delete(&format!("{path}/{id}")).token(&token).send();
    let removed = delete(&id.to_string());
    assert_eq!((removed.status, removed.text()), (200, hook.to_string().as_str()));
    for id in [id, MISSING, 0] {
        let again = delete(&id.to_string());
        assert_eq!((again.status, again.text().to_owned()), missing(id));
    }
    assert_eq!(delete("x").expect(400), error("hook_id is invalid"));
    assert_eq!(forge.get(&path).token(&token).send().expect(200), json!([kept]));
}
