//! Services of projects: reference section 14 of rest_of_v3.md.

use hexforge_domain::service::ServiceKind;
use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::groups::group_support::{error, forbidden};
use crate::api::projects::project_support::{Cast, a_cast};
use crate::api::support::{assert_only_for_users, field_error, message};

on_every_store!(
    a_service_that_was_never_set_is_shown,
    a_service_is_set_shown_and_cleared,
    values_are_kept_as_they_came,
    addresses_are_checked_and_nothing_changes,
    passwords_are_shown_to_administrators_only,
    the_title_of_a_tracker_is_its_property,
    an_active_tracker_hides_the_number_of_open_issues,
    services_are_for_those_who_administer,
    values_have_a_maximum_length,
    properties_are_stored_encrypted,
);

fn path(cast: &Cast, name: &str) -> String {
    format!("{}/services/{name}", cast.path)
}

#[track_caller]
fn get(forge: &Forge, cast: &Cast, name: &str) -> Value {
    forge.get(&path(cast, name)).token(cast.token("master")).send().expect(200)
}

#[track_caller]
fn put(forge: &Forge, cast: &Cast, name: &str, body: &Value, status: u16) -> Value {
    forge.put(&path(cast, name)).token(cast.token("master")).json(body).send().expect(status)
}

/// The service as it is shown, with these properties.
fn shown(title: &str, times: Option<(i64, &str, &str)>, active: bool, properties: Value) -> Value {
    json!({
        "id": times.map(|(id, ..)| id), "title": title,
        "created_at": times.map(|(_, created, _)| created),
        "updated_at": times.map(|(.., updated)| updated),
        "active": active, "push_events": true, "issues_events": true,
        "merge_requests_events": true, "tag_push_events": true, "note_events": true,
        "build_events": true, "pipeline_events": true, "properties": properties,
    })
}

/// "One never set is shown too", "unknown name 404", "`:name` comes with dashes or underscores"
/// GET /projects/:id/services/:name
fn a_service_that_was_never_set_is_shown(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let expected = shown("Asana", None, false, json!({}));
    assert_eq!(get(forge, &cast, "asana").to_string(), expected.to_string());
    let defaults = json!({"notify_only_broken_builds": true});
    let expected = shown("Builds emails", None, false, defaults);
    assert_eq!(get(forge, &cast, "builds-email"), expected);
    assert_eq!(get(forge, &cast, "builds_email"), expected);
    for method in ["GET", "PUT", "DELETE"] {
        for name in ["gitlab_ci", "Slack", "slack%00", "sla%2Fck", &"x".repeat(5000)] {
            let answer = forge.request(method, &path(&cast, name)).token(cast.token("master"));
            let answer = answer.send();
            assert_eq!(answer.status, 404, "{method} {name}");
            if name == "gitlab_ci" {
                assert_eq!(answer.json(), message("404 Service Not Found"));
            }
        }
    }
}

/// "200, the bare JSON `true`; the service is active from now on", "every property becomes null, `active` false"
/// PUT /projects/:id/services/:name, DELETE /projects/:id/services/:name
fn a_service_is_set_shown_and_cleared(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let body = json!({
        "channel": "#all", "webhook": "https://example.com/x", "active": false,
        "push_events": false, "nonsense": 1, "token": ["ignored"],
    });
    assert_eq!(put(forge, &cast, "slack", &body, 200), json!(true));
    let now = "2016-09-22T10:30:00.000Z";
    let first = get(forge, &cast, "slack");
    let id = first["id"].as_i64().expect("it is stored");
    let properties = json!({
        "webhook": "https://example.com/x", "channel": "#all",
        "notify_only_broken_builds": true, "notify_only_broken_pipelines": true,
    });
    let expected = shown("Slack", Some((id, now, now)), true, properties);
    assert_eq!(first.to_string(), expected.to_string(), "in the order of the table");
    forge.clock.advance(chrono::TimeDelta::seconds(1));
    let body = json!({"webhook": "https://example.com/y", "username": "bot", "channel": " "});
    put(forge, &cast, "slack", &body, 200);
    let properties = json!({
        "webhook": "https://example.com/y", "username": "bot", "channel": "#all",
        "notify_only_broken_builds": true, "notify_only_broken_pipelines": true,
    });
    let later = "2016-09-22T10:30:01.000Z";
    let expected = shown("Slack", Some((id, now, later)), true, properties);
    assert_eq!(get(forge, &cast, "slack"), expected, "others not given stay as they were");
    let master = cast.token("master");
    let gone = forge.delete(&path(&cast, "slack")).token(master).send().expect(200);
    assert_eq!(gone, json!(true));
    let nulls = json!({
        "webhook": null, "username": null, "channel": null,
        "notify_only_broken_builds": null, "notify_only_broken_pipelines": null,
        "push_channel": null, "issue_channel": null, "confidential_issue_channel": null,
        "merge_request_channel": null, "note_channel": null, "tag_push_channel": null,
        "build_channel": null, "pipeline_channel": null, "wiki_page_channel": null,
    });
    let expected = shown("Slack", Some((id, now, later)), false, nulls);
    assert_eq!(get(forge, &cast, "slack"), expected);
    // Also for one that was never set, and twice.
    for _ in 0..2 {
        let never = forge.delete(&path(&cast, "jira")).token(master).send().expect(200);
        assert_eq!(never, json!(true));
        let cleared = get(forge, &cast, "jira");
        // The password is shown to administrators only.
        let nulls = json!({
            "url": null, "project_key": null, "username": null, "jira_issue_transition_id": null,
        });
        assert_eq!((&cleared["active"], &cleared["properties"]), (&json!(false), &nulls));
    }
    put(forge, &cast, "slack", &json!({"webhook": "http://example.com"}), 200);
    let again = get(forge, &cast, "slack");
    assert_eq!(again["properties"]["webhook"], "http://example.com");
    assert_eq!((&again["active"], &again["properties"]["channel"]), (&json!(true), &Value::Null));
}

/// "Values are kept and shown as they came (a text stays a text)."
fn values_are_kept_as_they_came(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let form = [("recipients", " a@example.com b "), ("add_pusher", "true")];
    let master = cast.token("master");
    forge.put(&path(&cast, "builds-email")).token(master).form(&form).send().expect(200);
    let properties = json!({
        "recipients": " a@example.com b ", "add_pusher": "true", "notify_only_broken_builds": true,
    });
    assert_eq!(get(forge, &cast, "builds-email")["properties"], properties);
    let body = json!({
        "recipients": 7, "add_pusher": true, "notify_only_broken_builds": false,
    });
    put(forge, &cast, "builds-email", &body, 200);
    assert_eq!(get(forge, &cast, "builds-email")["properties"], body);
    let body = json!({"recipients": 1.5, "add_pusher": null});
    put(forge, &cast, "builds-email", &body, 200);
    let expected = json!({
        "recipients": 1.5, "add_pusher": true, "notify_only_broken_builds": false,
    });
    assert_eq!(get(forge, &cast, "builds-email")["properties"], expected);
    for wrong in [json!(["x"]), json!({"x": "y"}), json!("x\0y")] {
        let refused = put(forge, &cast, "builds-email", &json!({"recipients": wrong}), 400);
        assert_eq!(refused, error("recipients is invalid"));
    }
    assert_eq!(get(forge, &cast, "builds-email")["properties"], expected);
}

/// "must be an http(s) address", "and nothing changes"
fn addresses_are_checked_and_nothing_changes(forge: &Forge) {
    let cast = a_cast(forge, "0");
    put(forge, &cast, "slack", &json!({"webhook": "https://example.com"}), 200);
    let before = get(forge, &cast, "slack");
    for wrong in ["x", "ftp://example.com", "http://", "http://a b", "javascript:alert(1)"] {
        let body = json!({"webhook": wrong, "username": "changed"});
        let refused = put(forge, &cast, "slack", &body, 400);
        assert_eq!(refused, field_error("webhook", "must be a valid URL"), "{wrong}");
    }
    assert_eq!(get(forge, &cast, "slack"), before);
    let wrong = json!({"project_url": "x", "issues_url": "http://a/:id", "new_issue_url": "y"});
    let refused = put(forge, &cast, "redmine", &wrong, 400);
    let expected = json!({"message": {
        "project_url": ["must be a valid URL"], "new_issue_url": ["must be a valid URL"],
    }});
    assert_eq!(refused, expected);
    let refused = put(forge, &cast, "jira", &json!({"url": "x", "project_key": "y"}), 400);
    assert_eq!(refused, field_error("url", "must be a valid URL"));
    // Only those in bold are checked.
    put(forge, &cast, "irker", &json!({"recipients": "x", "default_irc_uri": "y"}), 200);
}

/// "Properties marked * are shown to administrators of the service only."
fn passwords_are_shown_to_administrators_only(forge: &Forge) {
    let cast = a_cast(forge, "0");
    for (name, body) in [
        ("jira", json!({"url": "http://a", "project_key": "k", "username": "u", "password": "p"})),
        (
            "bamboo",
            json!({"bamboo_url": "http://a", "build_key": "k", "username": "u", "password": "p"}),
        ),
        (
            "teamcity",
            json!({"teamcity_url": "http://a", "build_type": "t", "username": "u", "password": "p"}),
        ),
    ] {
        put(forge, &cast, name, &body, 200);
        let mut without = body.clone();
        without.as_object_mut().expect("an object").remove("password");
        for who in ["master", "owner"] {
            let shown = forge.get(&path(&cast, name)).token(cast.token(who)).send().expect(200);
            assert_eq!(shown["properties"], without, "{name} {who}");
        }
        let shown = forge.get(&path(&cast, name)).token(ROOT).send().expect(200);
        assert_eq!(shown["properties"], body, "{name}");
    }
}

/// "The title of the three issue trackers is their property `title` once set."
fn the_title_of_a_tracker_is_its_property(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let mut body = json!({
        "project_url": "http://a", "issues_url": "http://a/:id", "new_issue_url": "http://a/new",
    });
    put(forge, &cast, "custom-issue-tracker", &body, 200);
    assert_eq!(get(forge, &cast, "custom-issue-tracker")["title"], "Custom Issue Tracker");
    body["title"] = json!("Bugs");
    put(forge, &cast, "custom-issue-tracker", &body, 200);
    assert_eq!(get(forge, &cast, "custom-issue-tracker")["title"], "Bugs");
    forge.delete(&path(&cast, "custom-issue-tracker")).token(ROOT).send().expect(200);
    assert_eq!(get(forge, &cast, "custom-issue-tracker")["title"], "Custom Issue Tracker");
}

/// "an active tracker takes `open_issues_count` out of the project"
fn an_active_tracker_hides_the_number_of_open_issues(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let has_count = || {
        let one = forge.get(&cast.path).token(ROOT).send().expect(200);
        let list = forge.get("/projects/all").token(ROOT).send().expect(200);
        let shown = [&one, &list[0]].map(|project| project.get("open_issues_count").is_some());
        assert_eq!(shown[0], shown[1]);
        shown[0]
    };
    assert!(has_count());
    let urls = json!({
        "project_url": "http://a", "issues_url": "http://a/:id", "new_issue_url": "http://a/new",
        "url": "http://a", "project_key": "k",
    });
    for name in ["custom_issue_tracker", "redmine", "bugzilla", "jira"] {
        put(forge, &cast, name, &urls, 200);
        assert!(!has_count(), "{name}");
        forge.delete(&path(&cast, name)).token(ROOT).send().expect(200);
        assert!(has_count(), "{name}");
    }
    // One of two is enough.
    put(forge, &cast, "redmine", &urls, 200);
    put(forge, &cast, "jira", &urls, 200);
    forge.delete(&path(&cast, "redmine")).token(ROOT).send().expect(200);
    assert!(!has_count());
    put(forge, &cast, "external_wiki", &json!({"external_wiki_url": "http://a"}), 200);
    forge.delete(&path(&cast, "jira")).token(ROOT).send().expect(200);
    assert!(has_count());
}

/// "Those who administer the project (401, 404, 403 first)."
fn services_are_for_those_who_administer(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let calls = |name: &str| ["GET", "PUT", "DELETE"].map(|method| (method, path(&cast, name)));
    assert_only_for_users(forge, &calls("slack"));
    for name in ["slack", "unknown"] {
        for (method, path) in calls(name) {
            let hidden = forge.request(method, &path).token(cast.token("stranger")).send();
            assert_eq!(hidden.expect(404), message("404 Project Not Found"), "{method} {name}");
            for who in ["guest", "reporter", "developer"] {
                let refused = forge.request(method, &path).token(cast.token(who)).send();
                assert_eq!(refused.expect(403), forbidden(), "{who} {method} {name}");
            }
        }
    }
    for who in ["master", "owner", "root"] {
        forge.get(&path(&cast, "slack")).token(cast.token(who)).send().expect(200);
    }
}

/// Lengths are counted in characters. A body of 9 MB is refused as a whole.
fn values_have_a_maximum_length(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let body = json!({"webhook": "http://example.com", "username": "x".repeat(9_000_000)});
    put(forge, &cast, "slack", &body, 413);
    let body = json!({"webhook": "http://example.com", "username": "ü".repeat(2000)});
    put(forge, &cast, "slack", &body, 200);
}

/// Secrets are in no answer to others, and in no column.
fn properties_are_stored_encrypted(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let body = json!({"webhook": "http://example.com/hunter2", "username": "hunter3"});
    put(forge, &cast, "slack", &body, 200);
    let project = forge.get(&cast.path).token(cast.token("master")).send().expect(200);
    assert!(!project.to_string().contains("hunter"));
    let kind = ServiceKind::parse("slack").expect("a known service");
    let id = hexforge_domain::id::ProjectId(crate::api::support::id_of(&cast.project));
    let found = crate::api::support::read_store(forge, |tx| tx.services().find(id, kind));
    let debugged = format!("{:?}", found.expect("it is stored"));
    assert!(!debugged.contains("hunter"), "{debugged}");
}
