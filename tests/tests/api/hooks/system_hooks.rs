//! `/hooks`: reference section 7 of users_hooks_events, and row 9 of the dialects.

use hexforge_domain::id::SystemHookId;
use hexforge_domain::text::Secret;
use hexforge_domain_testing::builders::at;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{error, in_the_original};
use crate::api::support::{
    HUGE, MISSING, assert_only_for_administrators, field_error, id_of, ids, message, no_route,
    queued_events, read_store,
};

on_every_store!(
    a_hook_is_registered_with_its_defaults,
    every_switch_can_be_given,
    the_token_is_kept_and_never_shown,
    addresses_are_checked,
    parameters_are_checked,
    hooks_are_listed_newest_first,
    a_hook_is_tried_out_with_a_sample,
    a_removed_hook_shows_more_than_it_had,
    hooks_are_for_administrators,
    row_9_in_the_specification,
);

#[track_caller]
fn register(forge: &Forge, form: &[(&str, &str)]) -> Value {
    forge.post("/hooks").token(ROOT).form(form).send().expect(201)
}

/// POST /hooks
fn a_hook_is_registered_with_its_defaults(forge: &Forge) {
    let before = queued_events(forge).len();
    let made = forge.post("/hooks").token(ROOT).form(&[("url", " http://a.example/x \t")]).send();
    let expected = json!({
        "id": id_of(&made.expect(201)), "url": "http://a.example/x",
        "created_at": "2016-09-22T10:30:00.000Z", "push_events": true, "tag_push_events": false,
        "enable_ssl_verification": true
    });
    assert_eq!(made.text(), expected.to_string());
    // The same URL may be registered twice, and a new hook is not an event.
    assert_ne!(register(forge, &[("url", "http://a.example/x")])["id"], expected["id"]);
    assert_eq!(queued_events(forge).len(), before);
}

/// POST /hooks
fn every_switch_can_be_given(forge: &Forge) {
    let switches = ["push_events", "tag_push_events", "enable_ssl_verification"];
    for value in [true, false] {
        let mut given = json!({"url": "https://me:p%40ss@a.example:8443/?a=b#c", "id": 7});
        for name in switches {
            given[name] = json!(value);
        }
        let made = forge.post("/hooks").token(ROOT).json(&given).send().expect(201);
        assert_eq!(made["url"], given["url"]);
        let list = forge.get("/hooks").token(ROOT).send().expect(200);
        assert_eq!(list[0], made);
        for name in switches {
            assert_eq!(made[name], value, "{name}");
        }
    }
    for (word, value) in [("1", true), ("off", false), ("YES", true)] {
        let form = [("url", "http://a.example"), ("tag_push_events", word), ("push_events", "")];
        let made = register(forge, &form);
        assert_eq!((&made["tag_push_events"], &made["push_events"]), (&json!(value), &json!(true)));
    }
}

/// POST /hooks
fn the_token_is_kept_and_never_shown(forge: &Forge) {
    let kept = |hook: &Value| {
        let id = SystemHookId(id_of(hook));
        let hook = read_store(forge, |tx| tx.system_hooks().find(id)).expect("the hook is there");
        hook.settings.token.map(|token| token.reveal().to_owned())
    };
    let form = [("url", "http://a.example"), ("token", "s3cret&")];
    let made = register(forge, &form);
    assert_eq!(kept(&made).as_deref(), Some(Secret::new("s3cret&").reveal()));
    assert_eq!(kept(&register(forge, &form[..1])), None);
    let list = forge.get("/hooks").token(ROOT).send();
    let removed = forge.delete(&format!("/hooks/{}", id_of(&made))).token(ROOT).send();
    for text in [made.to_string().as_str(), list.text(), removed.text()] {
        assert!(!text.contains("token") && !text.contains("s3cret"), "{text}");
    }
}

/// POST /hooks
fn addresses_are_checked(forge: &Forge) {
    let missing = forge.post("/hooks").token(ROOT).send().expect(400);
    assert_eq!(missing, error("url is missing"));
    for url in [
        "ftp://a.example",
        "a.example",
        "http://",
        "http:///x",
        "javascript:alert(1)",
        "http://a b.example",
        "http://a.example/\r\nX: y",
        "http://a.example:99999/",
    ] {
        let refused = forge.post("/hooks").token(ROOT).form(&[("url", url)]).send();
        assert_eq!(refused.expect(400), field_error("url", "must be a valid URL"), "{url}");
    }
    for url in ["", "  "] {
        let refused = forge.post("/hooks").token(ROOT).form(&[("url", url)]).send();
        let expected = r#"{"message":{"url":["can't be blank","must be a valid URL"]}}"#;
        assert_eq!((refused.status, refused.text()), (400, expected), "{url:?}");
    }
    let long = format!("http://a.example/{}", "x".repeat(2000 - 17));
    register(forge, &[("url", &long)]);
    let refused = forge.post("/hooks").token(ROOT).form(&[("url", &format!("{long}x"))]).send();
    let text = "is too long (maximum is 2000 characters)";
    assert_eq!(refused.expect(400), field_error("url", text));
    let form = [("url", "http://a.example"), ("token", "a\r\nX-Other: b")];
    let refused = forge.post("/hooks").token(ROOT).form(&form).send();
    assert_eq!(refused.expect(400), field_error("token", "is invalid"));
    assert_eq!(ids(&forge.get("/hooks").token(ROOT).send().expect(200)).len(), 1);
}

/// POST /hooks
fn parameters_are_checked(forge: &Forge) {
    for (form, text) in [
        (vec![("url", "ftp://x"), ("push_events", "maybe")], "push_events is invalid"),
        (
            vec![("enable_ssl_verification", "2"), ("tag_push_events", "x")],
            "url is missing, tag_push_events is invalid, enable_ssl_verification is invalid",
        ),
    ] {
        let refused = forge.post("/hooks").token(ROOT).form(&form).send();
        assert_eq!(refused.expect(400), error(text), "{form:?}");
    }
}

/// GET /hooks
fn hooks_are_listed_newest_first(forge: &Forge) {
    let empty = forge.get("/hooks").token(ROOT).send();
    assert_eq!((empty.expect(200), empty.header("X-Total")), (json!([]), Some("0")));
    let hooks = ["a", "b", "c"].map(|host| register(forge, &[("url", &format!("http://{host}"))]));
    let list = forge.get("/hooks").token(ROOT).send();
    assert_eq!(list.text(), json!([hooks[2], hooks[1], hooks[0]]).to_string());
    let page = forge.get("/hooks?per_page=2&page=2").token(ROOT).send();
    assert_eq!(page.expect(200), json!([hooks[0]]));
    assert_eq!((page.header("X-Total"), page.header("X-Prev-Page")), (Some("3"), Some("1")));
}

/// GET /hooks/:id
fn a_hook_is_tried_out_with_a_sample(forge: &Forge) {
    // No receiver answers there, which does not change the response.
    let hook = register(forge, &[("url", "http://127.0.0.1:1/")]);
    let tried = forge.get(&format!("/hooks/{}", id_of(&hook))).token(ROOT).send();
    tried.expect(200);
    let sample = r#"{"event_name":"project_create","name":"Ruby","path":"ruby","project_id":1,"owner_name":"Someone","owner_email":"example@gitlabhq.com"}"#;
    assert_eq!(tried.text(), sample);
    for id in [MISSING.to_string().as_str(), "0", "-1", HUGE] {
        let missing = forge.get(&format!("/hooks/{id}")).token(ROOT).send();
        assert_eq!(missing.expect(404), message("404 Not found"), "{id}");
    }
    for id in ["x", "1.5", "1x"] {
        let invalid = forge.get(&format!("/hooks/{id}")).token(ROOT).send();
        assert_eq!(invalid.expect(400), error("id is invalid"), "{id}");
    }
}

/// DELETE /hooks/:id
fn a_removed_hook_shows_more_than_it_had(forge: &Forge) {
    let kept = register(forge, &[("url", "http://kept.example")]);
    let form = [("url", "http://gone.example"), ("tag_push_events", "true")];
    let path = format!("/hooks/{}", id_of(&register(forge, &form)));
    forge.clock.set(at(60));
    let removed = forge.delete(&path).token(ROOT).send();
    let expected = json!({
        "id": id_of(&removed.expect(200)), "url": "http://gone.example",
        "created_at": "2016-09-22T10:30:00.000Z", "push_events": true, "tag_push_events": true,
        "enable_ssl_verification": true, "note_events": false, "project_id": null,
        "updated_at": "2016-09-22T10:30:00.000Z", "issues_events": false,
        "merge_requests_events": false, "service_id": null
    });
    assert_eq!(removed.text(), expected.to_string());
    assert_eq!(forge.get("/hooks").token(ROOT).send().expect(200), json!([kept]));
    for path in [path.as_str(), "/hooks/987654", "/hooks/0", &format!("/hooks/{HUGE}")] {
        let missing = forge.delete(path).token(ROOT).send();
        assert_eq!(missing.expect(404), message("404 System hook Not Found"), "{path}");
    }
    assert_eq!(forge.delete("/hooks/x").token(ROOT).send().expect(400), error("id is invalid"));
}

/// GET /hooks, POST /hooks, GET /hooks/:id, DELETE /hooks/:id
fn hooks_are_for_administrators(forge: &Forge) {
    let hook = id_of(&register(forge, &[("url", "http://a.example")]));
    assert_only_for_administrators(
        forge,
        &[
            ("GET", "/hooks".into()),
            ("POST", "/hooks".into()),
            ("POST", "/hooks?push_events=maybe".into()),
            ("GET", format!("/hooks/{hook}")),
            ("GET", "/hooks/x".into()),
            ("GET", format!("/hooks/{MISSING}")),
            ("DELETE", format!("/hooks/{hook}")),
            ("DELETE", "/hooks/x".into()),
            ("DELETE", format!("/hooks/{MISSING}")),
        ],
    );
    assert_eq!(ids(&forge.get("/hooks").token(ROOT).send().expect(200)), [hook]);
    for (method, path) in [("PUT", format!("/hooks/{hook}")), ("DELETE", "/hooks".into())] {
        let unknown = forge.request(method, &path).token(ROOT).send();
        assert_eq!(unknown.expect(404), no_route(), "{method} {path}");
    }
}

#[test]
fn row_9_in_the_original() {
    in_the_original(|forge| row_9(forge, 21, false));
}

fn row_9_in_the_specification(forge: &Forge) {
    row_9(forge, 20, true);
}

/// Row 9: GET /hooks
fn row_9(forge: &Forge, unasked: usize, headers: bool) {
    for number in 1..=21 {
        register(forge, &[("url", &format!("http://a.example/{number}"))]);
    }
    let names =
        ["X-Total", "X-Total-Pages", "X-Per-Page", "X-Page", "X-Next-Page", "X-Prev-Page", "Link"];
    let list = forge.get("/hooks").token(ROOT).send();
    let rows = ids(&list.expect(200));
    assert_eq!(rows.len(), unasked);
    assert!(rows.is_sorted_by(|a, b| a > b), "newest first: {rows:?}");
    assert_eq!(names.map(|name| list.header(name).is_some()), [headers; 7]);
    for (query, count) in [("page=1", 20), ("page=2", 1), ("per_page=2", 2), ("page=3", 0)] {
        let page = forge.get(&format!("/hooks?{query}")).token(ROOT).send();
        assert_eq!(ids(&page.expect(200)).len(), count, "{query}");
        assert_eq!(page.header("X-Total"), Some("21"), "{query}");
    }
    // The lists of sections 2 and 6 have pages in both dialects.
    for path in ["/groups", "/groups/owned", "/namespaces"] {
        let list = forge.get(path).token(ROOT).send();
        assert!(names.iter().all(|name| list.header(name).is_some()), "{path}");
    }
}
