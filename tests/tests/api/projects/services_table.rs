//! The table of services: reference section 14 of rest_of_v3.md, copied row by row. Nothing here is computed from the
//! code under test.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Map, Value, json};

use crate::api::projects::project_support::{Cast, a_cast, not_given};
use crate::api::support::{field_error, message};

on_every_store!(
    every_service_of_the_table_is_shown_before_it_is_set,
    every_service_of_the_table_is_kept,
    names_that_are_not_in_the_table_are_missing,
    every_bold_property_is_demanded_in_order,
    every_bold_address_must_be_http,
    every_marked_property_is_hidden,
    a_cleared_service_has_all_properties_as_null,
    every_value_has_a_maximum_length,
);

/// A row of the table.
struct Row {
    name: &'static str,
    title: &'static str,
    /// All properties, in the order of the table.
    properties: &'static [&'static str],
    /// The properties in bold, in the order of demands.
    demands: &'static [&'static str],
    /// The properties with a default, which is always true.
    defaults: &'static [&'static str],
    /// The properties marked `*`.
    hidden: &'static [&'static str],
}

const fn row(
    name: &'static str,
    title: &'static str,
    properties: &'static [&'static str],
    demands: &'static [&'static str],
) -> Row {
    Row { name, title, properties, demands, defaults: &[], hidden: &[] }
}

const TABLE: [Row; 23] = [
    row("asana", "Asana", &["api_key", "restrict_to_branch"], &["api_key"]),
    row("assembla", "Assembla", &["token", "subdomain"], &["token"]),
    Row {
        hidden: &["password"],
        ..row(
            "bamboo",
            "Atlassian Bamboo CI",
            &["bamboo_url", "build_key", "username", "password"],
            &["bamboo_url", "build_key", "username", "password"],
        )
    },
    row(
        "buildkite",
        "Buildkite",
        &["token", "project_url", "enable_ssl_verification"],
        // "Order of demands where it differs from the table"
        &["project_url", "token"],
    ),
    Row {
        defaults: &["notify_only_broken_builds"],
        ..row(
            "builds_email",
            "Builds emails",
            &["recipients", "add_pusher", "notify_only_broken_builds"],
            &["recipients"],
        )
    },
    row(
        "bugzilla",
        "Bugzilla",
        &["description", "project_url", "issues_url", "new_issue_url"],
        &["project_url", "issues_url", "new_issue_url"],
    ),
    row("campfire", "Campfire", &["token", "subdomain", "room"], &["token"]),
    row(
        "custom_issue_tracker",
        "Custom Issue Tracker",
        &["title", "description", "project_url", "issues_url", "new_issue_url"],
        &["project_url", "issues_url", "new_issue_url"],
    ),
    row(
        "drone_ci",
        "Drone CI",
        &["token", "drone_url", "enable_ssl_verification"],
        // "Order of demands where it differs from the table"
        &["drone_url", "token"],
    ),
    row(
        "emails_on_push",
        "Emails on push",
        &["send_from_committer_email", "disable_diffs", "recipients"],
        &["recipients"],
    ),
    row("external_wiki", "External Wiki", &["external_wiki_url"], &["external_wiki_url"]),
    row("flowdock", "Flowdock", &["token"], &["token"]),
    // "Order of demands where it differs from the table"
    row("gemnasium", "Gemnasium", &["api_key", "token"], &["token", "api_key"]),
    Row {
        defaults: &["notify_only_broken_builds"],
        ..row(
            "hipchat",
            "HipChat",
            &[
                "token",
                "room",
                "notify",
                "color",
                "api_version",
                "server",
                "notify_only_broken_builds",
            ],
            &["token"],
        )
    },
    row(
        "irker",
        "Irker (IRC gateway)",
        &["server_host", "server_port", "default_irc_uri", "recipients", "colorize_messages"],
        &["recipients"],
    ),
    Row {
        hidden: &["password"],
        ..row(
            "jira",
            "JIRA",
            &["url", "project_key", "username", "password", "jira_issue_transition_id"],
            &["url", "project_key"],
        )
    },
    row("mattermost_slash_commands", "Mattermost Command", &["token"], &[]),
    Row {
        defaults: &["notify_only_broken_pipelines"],
        ..row(
            "pipelines_email",
            "Pipelines emails",
            &["recipients", "notify_only_broken_pipelines"],
            &["recipients"],
        )
    },
    row("pivotaltracker", "PivotalTracker", &["token", "restrict_to_branch"], &["token"]),
    row(
        "pushover",
        "Pushover",
        &["api_key", "user_key", "device", "priority", "sound"],
        &["api_key", "user_key", "priority"],
    ),
    row(
        "redmine",
        "Redmine",
        &["description", "project_url", "issues_url", "new_issue_url"],
        &["project_url", "issues_url", "new_issue_url"],
    ),
    Row {
        defaults: &["notify_only_broken_builds", "notify_only_broken_pipelines"],
        ..row(
            "slack",
            "Slack",
            &[
                "webhook",
                "username",
                "channel",
                "notify_only_broken_builds",
                "notify_only_broken_pipelines",
                "push_channel",
                "issue_channel",
                "confidential_issue_channel",
                "merge_request_channel",
                "note_channel",
                "tag_push_channel",
                "build_channel",
                "pipeline_channel",
                "wiki_page_channel",
            ],
            &["webhook"],
        )
    },
    Row {
        hidden: &["password"],
        ..row(
            "teamcity",
            "JetBrains TeamCity CI",
            &["teamcity_url", "build_type", "username", "password"],
            &["teamcity_url", "build_type", "username", "password"],
        )
    },
];

fn path(cast: &Cast, name: &str) -> String {
    format!("{}/services/{name}", cast.path)
}

/// The name with dashes: "`:name` comes with dashes or underscores".
fn dashed(name: &str) -> String {
    name.replace('_', "-")
}

#[track_caller]
fn put(forge: &Forge, cast: &Cast, name: &str, body: &Value, status: u16) -> Value {
    forge.put(&path(cast, name)).token(cast.token("master")).json(body).send().expect(status)
}

#[track_caller]
fn get(forge: &Forge, cast: &Cast, name: &str, token: &str) -> Value {
    forge.get(&path(cast, name)).token(token).send().expect(200)
}

/// "A property in bold whose name ends in `url`, and `webhook`, must be an http(s) address"
fn is_address(property: &str) -> bool {
    property == "webhook" || property.ends_with("url")
}

/// A valid value of a property.
fn value_of(property: &str) -> Value {
    match is_address(property) {
        true => json!(format!("https://example.com/{property}")),
        false => json!(format!("a {property}")),
    }
}

fn object(properties: &[&str], value: impl Fn(&str) -> Value) -> Value {
    let entries = properties.iter().map(|name| ((*name).to_owned(), value(name)));
    Value::Object(entries.collect::<Map<_, _>>())
}

/// "One never set is shown too, with `id`, `created_at`, `updated_at` null and `active` false", "or have a default"
fn every_service_of_the_table_is_shown_before_it_is_set(forge: &Forge) {
    let cast = a_cast(forge, "0");
    for row in &TABLE {
        let defaults = object(row.defaults, |_| json!(true));
        let expected = json!({
            "id": null, "title": row.title, "created_at": null, "updated_at": null,
            "active": false, "push_events": true, "issues_events": true,
            "merge_requests_events": true, "tag_push_events": true, "note_events": true,
            "build_events": true, "pipeline_events": true, "properties": defaults,
        });
        for name in [row.name.to_owned(), dashed(row.name)] {
            let shown = get(forge, &cast, &name, ROOT);
            assert_eq!(shown.to_string(), expected.to_string(), "{name}");
        }
    }
}

/// "All 23 names are kept and shown", "in the order of the table"
/// GET /projects/:id/services/:name, PUT /projects/:id/services/:name
fn every_service_of_the_table_is_kept(forge: &Forge) {
    let cast = a_cast(forge, "0");
    for row in &TABLE {
        let all = object(row.properties, value_of);
        let mut given = all.clone();
        given["no_property"] = json!("ignored");
        assert_eq!(put(forge, &cast, &dashed(row.name), &given, 200), json!(true));
        let shown = get(forge, &cast, row.name, ROOT);
        assert_eq!(shown["properties"].to_string(), all.to_string(), "{}", row.name);
        assert_eq!(shown["active"], true, "{}", row.name);
        let title = if row.properties.contains(&"title") { "a title" } else { row.title };
        assert_eq!(shown["title"], title, "{}", row.name);
    }
}

/// "unknown name 404 `404 Service Not Found`"
fn names_that_are_not_in_the_table_are_missing(forge: &Forge) {
    let cast = a_cast(forge, "0");
    for name in
        ["gitlab_ci", "microsoft_teams", "mattermost", "prometheus", "kubernetes", "mock_ci"]
    {
        for method in ["GET", "PUT", "DELETE"] {
            let refused = forge.request(method, &path(&cast, name)).token(ROOT).send().expect(404);
            assert_eq!(refused, message("404 Service Not Found"), "{method} {name}");
        }
    }
}

/// "PUT demands the properties in bold by hand, in the order of the table", "Blank values count as not given"
fn every_bold_property_is_demanded_in_order(forge: &Forge) {
    let cast = a_cast(forge, "0");
    for row in &TABLE {
        // The others are given, so that the first missing one is the next demand.
        let mut given = object(row.properties, value_of);
        for property in row.demands {
            given[*property] = Value::Null;
        }
        for property in row.demands {
            for blank in [json!(""), json!("  "), Value::Null] {
                given[*property] = blank;
                let refused = put(forge, &cast, row.name, &given, 400);
                assert_eq!(refused, not_given(property), "{}", row.name);
            }
            given[*property] = value_of(property);
        }
        let before = get(forge, &cast, row.name, ROOT);
        assert_eq!((&before["id"], &before["active"]), (&Value::Null, &json!(false)));
        // No other property is demanded.
        put(forge, &cast, row.name, &object(row.demands, value_of), 200);
        if let Some(first) = row.demands.first() {
            // They are demanded again, although they are stored.
            assert_eq!(put(forge, &cast, row.name, &json!({}), 400), not_given(first));
        }
    }
}

/// "answer 400 `{"message":{"webhook":["must be a valid URL"]}}`", "and nothing changes"
fn every_bold_address_must_be_http(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let mut addresses = 0;
    for row in &TABLE {
        for property in row.demands.iter().filter(|property| is_address(property)) {
            addresses += 1;
            let mut given = object(row.properties, value_of);
            for wrong in ["x", "ftp://example.com", "http://", "javascript:alert(1)"] {
                given[*property] = json!(wrong);
                let refused = put(forge, &cast, row.name, &given, 400);
                let expected = field_error(property, "must be a valid URL");
                assert_eq!(refused, expected, "{} {wrong}", row.name);
            }
        }
        assert_eq!(get(forge, &cast, row.name, ROOT)["id"], Value::Null, "nothing is stored");
    }
    assert_eq!(addresses, 16);
}

/// "Properties marked * are shown to administrators of the service only."
fn every_marked_property_is_hidden(forge: &Forge) {
    let cast = a_cast(forge, "0");
    for row in &TABLE {
        let all = object(row.properties, value_of);
        put(forge, &cast, row.name, &all, 200);
        let visible: Vec<&str> =
            row.properties.iter().copied().filter(|one| !row.hidden.contains(one)).collect();
        for who in ["master", "owner"] {
            let shown = get(forge, &cast, row.name, cast.token(who));
            let expected = object(&visible, value_of);
            assert_eq!(shown["properties"].to_string(), expected.to_string(), "{}", row.name);
        }
        assert_eq!(get(forge, &cast, row.name, ROOT)["properties"], all, "{}", row.name);
    }
}

/// "200 `true`, also for one never set; every property becomes null, `active` false"
/// DELETE /projects/:id/services/:name
fn a_cleared_service_has_all_properties_as_null(forge: &Forge) {
    let cast = a_cast(forge, "0");
    for (number, row) in TABLE.iter().enumerate() {
        // Every second one was never set.
        if number % 2 == 0 {
            put(forge, &cast, row.name, &object(row.properties, value_of), 200);
        }
        let target = path(&cast, &dashed(row.name));
        let gone = forge.delete(&target).token(cast.token("master")).send().expect(200);
        assert_eq!(gone, json!(true), "{}", row.name);
        let shown = get(forge, &cast, row.name, ROOT);
        let nulls = object(row.properties, |_| Value::Null);
        assert_eq!(shown["properties"].to_string(), nulls.to_string(), "{}", row.name);
        assert_eq!((&shown["active"], &shown["title"]), (&json!(false), &json!(row.title)));
    }
}

/// Each value has at most 2000 characters.
fn every_value_has_a_maximum_length(forge: &Forge) {
    let cast = a_cast(forge, "0");
    let too_long = "is too long (maximum is 2000 characters)";
    let filled = |property: &str, length: usize| {
        let begin = if is_address(property) { "http://a/" } else { "" };
        json!(format!("{begin}{}", "x".repeat(length - begin.len())))
    };
    for row in &TABLE {
        let mut body = object(row.properties, |property| filled(property, 2000));
        for property in row.properties {
            for length in [2001, 100_000] {
                body[*property] = filled(property, length);
                let refused = put(forge, &cast, row.name, &body, 400);
                assert_eq!(refused, field_error(property, too_long), "{} {length}", row.name);
            }
            body[*property] = filled(property, 2000);
        }
        assert_eq!(get(forge, &cast, row.name, ROOT)["id"], Value::Null, "nothing is stored");
        put(forge, &cast, row.name, &body, 200);
        assert_eq!(get(forge, &cast, row.name, ROOT)["properties"], body, "{}", row.name);
    }
}
