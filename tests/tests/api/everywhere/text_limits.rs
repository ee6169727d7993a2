//! Every text that a caller can store has a maximum length, which the OpenAPI document states as `maxLength`. A text of
//! that length is stored. With one character more, the request is refused with the name of the field, and nothing is
//! stored.

use std::collections::BTreeSet;

use hexforge_domain::service::ServiceKind;
use hexforge_http_actix::{Dialect, openapi};
use hexforge_tests::forge::{ROOT, RUNNERS};
use hexforge_tests::{Forge, Response, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::ci_support::{CONFIGURATION, ci_fixture};
use crate::api::ci::runner_support::shared_runner;
use crate::api::everywhere::openapi::texts;
use crate::api::groups::group_support::{new_group, new_project, path_of_group, path_of_project};
use crate::api::repositories::refs_support::ProjectFixture;
use crate::api::support::{field_error, id_of};
use crate::api::tracker::tracker_support::{new_issue, new_label, path_of_issue};

on_every_store!(
    the_longest_texts_are_stored_and_longer_ones_are_refused,
    variables_of_a_trigger_are_bounded_together,
    lists_of_labels_are_bounded,
    searches_are_bounded,
);

/// The expected error for a text that is one character too long.
#[derive(Clone, Copy)]
enum Refusal {
    /// 400 with `is too long` under this field.
    TooLong(&'static str),
    /// The status and text that the reference prescribes for any error of this field.
    Prescribed(u16, &'static str),
}

use Refusal::{Prescribed, TooLong};

/// A call with the texts that it stores.
struct Call {
    /// Method and path, as in the OpenAPI document.
    name: &'static str,
    target: String,
    token: String,
    /// Valid fields, different for each call.
    base: Box<dyn Fn(u32) -> Value>,
    /// A request whose response shows whether anything was stored.
    shows: String,
    fields: Vec<(&'static str, Refusal)>,
}

/// Texts that are only compared with stored ones, or not stored at all. No stored value equals a longer text.
const NOT_STORED: &[(&str, &[&str])] = &[
    ("PUT /ci/api/v1/builds/{id}", &["trace_checksum"]),
    ("PUT /api/v3/application/settings", &["repository_storage", "repository_storages[]"]),
    ("POST /api/v3/projects", &["default_branch"]),
    ("POST /api/v3/projects/user/{user_id}", &["default_branch"]),
    ("PUT /api/v3/projects/{id}", &["default_branch"]),
    ("POST /api/v3/projects/fork/{id}", &["namespace"]),
    ("POST /api/v3/projects/{id}/repository/branches", &["ref"]),
    ("POST /api/v3/projects/{id}/repository/tags", &["ref"]),
    ("POST /api/v3/projects/{id}/repository/commits", &["branch_name"]),
    ("POST /api/v3/projects/{id}/repository/commits/{sha}/cherry_pick", &["branch"]),
    ("POST /api/v3/projects/{id}/repository/commits/{sha}/comments", &["path"]),
    ("PUT /api/v3/notification_settings", &["level", "notification_email"]),
    ("PUT /api/v3/groups/{id}/notification_settings", &["level"]),
    ("PUT /api/v3/projects/{id}/notification_settings", &["level"]),
    ("POST /api/v3/projects/{id}/issues/{issue_id}/award_emoji", &["name"]),
    ("POST /api/v3/projects/{id}/snippets/{snippet_id}/award_emoji", &["name"]),
    ("POST /api/v3/projects/{id}/snippets/{noteable_id}/notes/{note_id}/award_emoji", &["name"]),
    ("POST /api/v3/projects/{id}/issues/{noteable_id}/notes/{note_id}/award_emoji", &["name"]),
    ("POST /api/v3/projects/{id}/merge_requests/{merge_request_id}/award_emoji", &["name"]),
    (
        "POST /api/v3/projects/{id}/merge_requests/{noteable_id}/notes/{note_id}/award_emoji",
        &["name"],
    ),
    ("POST /api/v3/projects/{id}/repository/files", &["branch_name", "encoding"]),
    ("PUT /api/v3/projects/{id}/repository/files", &["branch_name", "encoding"]),
    ("PUT /api/v3/projects/{id}/merge_requests/{merge_request_id}/merge", &["sha"]),
    ("PUT /api/v3/projects/{id}/labels", &["name"]),
    ("PUT /api/v3/groups/{id}/labels", &["name"]),
    ("POST /api/v3/projects/{id}/pipeline", &["ref"]),
    ("POST /api/v3/session", &["login", "email", "password"]),
    ("POST /api/v3/projects/{id}/trigger/builds", &["token", "ref"]),
    ("POST /api/v3/projects/{id}/ref/{reference}/trigger/builds", &["token"]),
    ("POST /api/v3/ci/lint", &["content"]),
    ("POST /ci/api/v1/runners/register", &["token"]),
    ("POST /ci/api/v1/builds/register", &["token"]),
    ("PUT /ci/api/v1/builds/{id}", &["token"]),
    ("POST /ci/api/v1/builds/{id}/artifacts", &["token", "expire_in"]),
];

/// Texts whose limits have their own cases, or exceed the largest body.
const ELSEWHERE: &[(&str, &[&str])] = &[
    ("POST /api/v3/projects/{id}/repository/files", &["content"]),
    ("PUT /api/v3/projects/{id}/repository/files", &["content"]),
    ("POST /api/v3/projects/{id}/trigger/builds", &["variables{}"]),
    ("POST /api/v3/projects/{id}/ref/{reference}/trigger/builds", &["variables{}"]),
    ("POST /api/v3/projects/{id}/issues", &["labels"]),
    ("PUT /api/v3/projects/{id}/issues/{issue_id}", &["labels"]),
    ("POST /api/v3/projects/{id}/merge_requests", &["labels"]),
    ("PUT /api/v3/projects/{id}/merge_requests/{merge_request_id}", &["labels"]),
    (
        "PUT /api/v3/projects/{id}/merge_requests/{merge_request_id}/merge",
        &["merge_commit_message"],
    ),
    ("PUT /ci/api/v1/builds/{id}", &["trace"]),
    ("POST /ci/api/v1/builds/register", &["info{}"]),
];

fn refused_as_too_long(names: &'static [&'static str]) -> Vec<(&'static str, Refusal)> {
    names.iter().map(|name| (*name, TooLong(name))).collect()
}

const PROFILE: &[&str] = &[
    "email",
    "password",
    "username",
    "name",
    "bio",
    "location",
    "organization",
    "skype",
    "linkedin",
    "twitter",
    "website_url",
];

/// The texts of a commit.
const COMMIT: &[&str] = &["commit_message", "author_name", "author_email"];

/// The fields of a call that writes a file.
fn file_fields(path: &str) -> Value {
    json!({
        "file_path": path, "branch_name": "master", "content": "x", "commit_message": "x",
        "author_name": "Ada", "author_email": "ada@example.com",
    })
}

fn calls(forge: &Forge, fixture: &ProjectFixture) -> Vec<Call> {
    let path = |rest: &str| format!("{}{rest}", fixture.cast.path);
    let project = new_project(forge, ROOT, "changed", &[]);
    let group = new_group(forge, ROOT, "a-group", &[]);
    let other = new_group(forge, ROOT, "other-group", &[]);
    let user = id_of(&forge.new_user("changed-user", &[]));
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    let notes = format!("{}/notes", path_of_issue(&issue));
    let note = forge.post(&notes).token(ROOT).form(&[("body", "a note")]).send().expect(201);
    let milestones = path("/milestones");
    let milestone = forge.post(&milestones).token(ROOT).form(&[("title", "one")]);
    let milestone = format!("{milestones}/{}", id_of(&milestone.send().expect(201)));
    let hooks = path("/hooks");
    let url = [("url", "http://example.com/")];
    let hook = forge.post(&hooks).token(ROOT).form(&url).send().expect(201);
    let hook = format!("{hooks}/{}", id_of(&hook));
    let variable = [("key", "FIXED"), ("value", "x")];
    forge.post(&path("/variables")).token(ROOT).form(&variable).send().expect(201);
    let environments = path("/environments");
    let environment = forge.post(&environments).token(ROOT).form(&[("name", "fixed")]);
    let environment = format!("{environments}/{}", id_of(&environment.send().expect(201)));
    let label = new_label(forge, ROOT, &fixture.cast.path, "fixed");
    let label_id = id_of(&label);
    let group_labels = format!("{}/labels", path_of_group(&other));
    let fixed = [("name", "fixed"), ("color", "#111111")];
    forge.post(&group_labels).token(ROOT).form(&fixed).send();
    let tagged = json!({"tag_name": "fixed", "ref": "master", "release_description": "text"});
    forge.post(&fixture.tags).token(ROOT).json(&tagged).send().expect(201);
    forge.post(&fixture.tags).token(ROOT).form(&[("tag_name", "bare"), ("ref", "master")]).send();
    let sha = fixture.id("master");
    let statuses = path(&format!("/repository/commits/{sha}/statuses"));
    let comments = path(&format!("/repository/commits/{sha}/comments"));
    let merge_requests = path("/merge_requests");
    let proposed = [("title", "t"), ("source_branch", "s"), ("target_branch", "t")];
    let request = forge.post(&merge_requests).token(ROOT).form(&proposed).send().expect(201);
    let request = format!("{merge_requests}/{}", id_of(&request));
    let request_notes = format!("{request}/notes");
    let request_note = forge.post(&request_notes).token(ROOT).form(&[("body", "a note")]);
    let request_note = request_note.send().expect(201);

    let on = [("name", "changed"), ("snippets_enabled", "true")];
    forge.put(&path_of_project(&project)).token(ROOT).form(&on).send().expect(200);
    let snippets = format!("{}/snippets", path_of_project(&project));
    let fields = [("title", "t"), ("file_name", "f"), ("code", "c"), ("visibility_level", "0")];
    let snippet = forge.post(&snippets).token(ROOT).form(&fields).send().expect(201);
    let snippet = format!("{snippets}/{}", id_of(&snippet));
    let snippet_notes = format!("{snippet}/notes");
    let snippet_note = forge.post(&snippet_notes).token(ROOT).form(&[("body", "a note")]);
    let snippet_note = snippet_note.send().expect(201);
    let fields = [("title", "t"), ("file_name", "f"), ("content", "c")];
    let personal = forge.post("/snippets").token(ROOT).form(&fields).send().expect(201);
    let personal = format!("/snippets/{}", id_of(&personal));

    let runner = shared_runner(forge, &[]);
    let runner = format!("/runners/{}", runner.id);

    let call = |name, target: &str, shows: &str, base: fn(u32) -> Value, fields| Call {
        name,
        target: target.to_owned(),
        token: ROOT.to_owned(),
        base: Box::new(base),
        shows: shows.to_owned(),
        fields,
    };
    let nothing = |_| json!({});
    let format = "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.' and spaces";
    let environment_fields = [
        ("name", Prescribed(400, format)),
        ("external_url", Prescribed(400, "must be a valid URL")),
    ];
    let snippet_fields = [
        ("title", TooLong("title")),
        ("file_name", TooLong("file_name")),
        ("code", TooLong("content")),
    ];
    let mut accounts = refused_as_too_long(PROFILE);
    accounts.push(("provider", TooLong("identities.provider")));
    accounts.push(("extern_uid", TooLong("identities.extern_uid")));
    let described =
        refused_as_too_long(&["name", "path", "description", "import_url", "build_coverage_regex"]);
    let group_sentence = |field: &'static str| (field, Prescribed(400, "Failed to save group"));
    let milestone_sentence =
        |field: &'static str| (field, Prescribed(400, "is too long (maximum is "));
    let color = ("color", Prescribed(400, "must be a valid color code"));
    let font = ("font", Prescribed(400, "must be a valid color code"));
    let broadcast = vec![("message", TooLong("message")), color, font];
    let made = forge.post("/broadcast_messages").token(ROOT).form(&[("message", "text")]).send();
    let broadcast_path = format!("/broadcast_messages/{}", id_of(&made.expect(201)));
    let mut settings = refused_as_too_long(&[
        "sign_in_text",
        "after_sign_up_text",
        "koding_url",
        "home_page_url",
        "after_sign_out_path",
    ]);
    settings.push(("domain_whitelist[]", TooLong("domain_whitelist")));
    settings.push(("domain_blacklist[]", TooLong("domain_blacklist")));
    let label_fields =
        vec![("name", TooLong("title")), ("description", TooLong("description")), color];
    let label_changes =
        [("new_name", TooLong("title")), ("description", TooLong("description")), color];
    vec![
        call(
            "POST /api/v3/groups",
            "/groups",
            "/groups",
            |n| json!({"name": format!("g{n}"), "path": format!("g{n}")}),
            ["name", "path", "description"].map(group_sentence).to_vec(),
        ),
        call(
            "PUT /api/v3/groups/{id}",
            &path_of_group(&group),
            &path_of_group(&group),
            nothing,
            refused_as_too_long(&["description", "name", "path"]),
        ),
        call(
            "POST /api/v3/projects",
            "/projects",
            "/projects",
            |n| json!({"name": format!("p{n}"), "path": format!("p{n}")}),
            described.clone(),
        ),
        call(
            "POST /api/v3/projects/user/{user_id}",
            &format!("/projects/user/{user}"),
            "/projects/all",
            |n| json!({"name": format!("p{n}"), "path": format!("p{n}")}),
            described.clone(),
        ),
        call(
            "PUT /api/v3/projects/{id}",
            &path_of_project(&project),
            &path_of_project(&project),
            |n| json!({"name": format!("c{n}")}),
            described,
        ),
        call(
            "POST /api/v3/projects/{id}/hooks",
            &hooks,
            &hooks,
            |_| json!({"url": "http://example.com/"}),
            refused_as_too_long(&["url", "token"]),
        ),
        call(
            "PUT /api/v3/projects/{id}/hooks/{hook_id}",
            &hook,
            &hook,
            |_| json!({"url": "http://example.com/"}),
            refused_as_too_long(&["url", "token"]),
        ),
        call(
            "POST /api/v3/projects/{id}/repository/branches",
            &fixture.branches,
            &fixture.branches,
            |n| json!({"branch_name": format!("b{n}"), "ref": "master"}),
            vec![("branch_name", Prescribed(400, "Branch name is invalid"))],
        ),
        call(
            "POST /api/v3/projects/{id}/repository/tags",
            &fixture.tags,
            &fixture.tags,
            |n| json!({"tag_name": format!("t{n}"), "ref": "master"}),
            vec![
                ("tag_name", Prescribed(405, "Tag name invalid")),
                ("message", TooLong("message")),
                ("release_description", TooLong("release_description")),
            ],
        ),
        call(
            "POST /api/v3/projects/{id}/repository/tags/{tag_name}/release",
            &format!("{}/bare/release", fixture.tags),
            &format!("{}/bare", fixture.tags),
            nothing,
            refused_as_too_long(&["description"]),
        ),
        call(
            "PUT /api/v3/projects/{id}/repository/tags/{tag_name}/release",
            &format!("{}/fixed/release", fixture.tags),
            &format!("{}/fixed", fixture.tags),
            nothing,
            refused_as_too_long(&["description"]),
        ),
        call(
            "POST /api/v3/projects/{id}/labels",
            &path("/labels"),
            &path("/labels"),
            |n| json!({"name": format!("l{n}"), "color": "#111111"}),
            label_fields.clone(),
        ),
        Call {
            base: Box::new(|n| json!({"name": "fixed", "priority": n, "color": "#111111"})),
            // In reverse order, so that the label is renamed last.
            fields: label_changes.iter().rev().copied().collect(),
            ..call(
                "PUT /api/v3/projects/{id}/labels",
                &path("/labels"),
                &path("/labels"),
                nothing,
                vec![],
            )
        },
        call(
            "POST /api/v3/groups/{id}/labels",
            &group_labels,
            &group_labels,
            |n| json!({"name": format!("l{n}"), "color": "#111111"}),
            label_fields,
        ),
        call(
            "PUT /api/v3/groups/{id}/labels",
            &group_labels,
            &group_labels,
            |_| json!({"name": "fixed", "color": "#111111"}),
            label_changes.iter().rev().copied().collect(),
        ),
        call(
            "POST /api/v3/hooks",
            "/hooks",
            "/hooks",
            |_| json!({"url": "http://example.com/"}),
            refused_as_too_long(&["url", "token"]),
        ),
        call(
            "PUT /api/v3/application/settings",
            "/application/settings",
            "/application/settings",
            nothing,
            settings,
        ),
        call(
            "POST /api/v3/broadcast_messages",
            "/broadcast_messages",
            "/broadcast_messages",
            |_| json!({"message": "text"}),
            broadcast.clone(),
        ),
        call(
            "PUT /api/v3/broadcast_messages/{id}",
            &broadcast_path,
            &broadcast_path,
            nothing,
            broadcast,
        ),
        call(
            "POST /api/v3/users",
            "/users",
            "/users",
            |n| {
                json!({
                    "email": format!("u{n}@example.com"), "password": "12345678",
                    "username": format!("u{n}"), "name": "U", "provider": format!("ldap{n}"),
                    "extern_uid": n.to_string(),
                })
            },
            accounts.clone(),
        ),
        call(
            "PUT /api/v3/users/{id}",
            &format!("/users/{user}"),
            &format!("/users/{user}"),
            |n| json!({"provider": format!("ldap{n}"), "extern_uid": n.to_string()}),
            accounts,
        ),
        call(
            "POST /api/v3/projects/{id}/deploy_keys",
            &path("/deploy_keys"),
            &path("/deploy_keys"),
            |n| json!({"title": "k", "key": an_ssh_key(n)}),
            refused_as_too_long(&["title", "key"]),
        ),
        call(
            "POST /api/v3/projects/{id}/keys",
            &path("/keys"),
            &path("/keys"),
            |n| json!({"title": "k", "key": an_ssh_key(n)}),
            refused_as_too_long(&["title", "key"]),
        ),
        call(
            "POST /api/v3/user/keys",
            "/user/keys",
            "/user/keys",
            |n| json!({"title": "k", "key": an_ssh_key(n)}),
            refused_as_too_long(&["title", "key"]),
        ),
        call(
            "POST /api/v3/users/{id}/keys",
            &format!("/users/{user}/keys"),
            &format!("/users/{user}/keys"),
            |n| json!({"title": "k", "key": an_ssh_key(n)}),
            refused_as_too_long(&["title", "key"]),
        ),
        call(
            "POST /api/v3/user/emails",
            "/user/emails",
            "/user/emails",
            nothing,
            refused_as_too_long(&["email"]),
        ),
        call(
            "POST /api/v3/users/{id}/emails",
            &format!("/users/{user}/emails"),
            &format!("/users/{user}/emails"),
            nothing,
            refused_as_too_long(&["email"]),
        ),
        call(
            "POST /api/v3/projects/{id}/issues",
            &path("/issues"),
            &path("/issues"),
            |_| json!({"title": "t"}),
            refused_as_too_long(&["title", "description"]),
        ),
        call(
            "PUT /api/v3/projects/{id}/issues/{issue_id}",
            &path_of_issue(&issue),
            &path_of_issue(&issue),
            nothing,
            refused_as_too_long(&["title", "description"]),
        ),
        call(
            "POST /api/v3/projects/{id}/snippets",
            &snippets,
            &snippets,
            |_| json!({"title": "t", "file_name": "f", "code": "c", "visibility_level": 0}),
            snippet_fields.to_vec(),
        ),
        call(
            "PUT /api/v3/projects/{id}/snippets/{snippet_id}",
            &snippet,
            &snippet,
            nothing,
            snippet_fields.to_vec(),
        ),
        call(
            "POST /api/v3/snippets",
            "/snippets",
            "/snippets",
            |_| json!({"title": "t", "file_name": "f", "content": "c"}),
            refused_as_too_long(&["title", "file_name", "content"]),
        ),
        call(
            "PUT /api/v3/snippets/{id}",
            &personal,
            &personal,
            nothing,
            refused_as_too_long(&["title", "file_name", "content"]),
        ),
        call(
            "POST /api/v3/projects/{id}/snippets/{noteable_id}/notes",
            &snippet_notes,
            &snippet_notes,
            nothing,
            vec![("body", TooLong("note"))],
        ),
        call(
            "PUT /api/v3/projects/{id}/snippets/{noteable_id}/notes/{note_id}",
            &format!("{snippet_notes}/{}", id_of(&snippet_note)),
            &snippet_notes,
            nothing,
            vec![("body", TooLong("note"))],
        ),
        call(
            "POST /api/v3/projects/{id}/issues/{noteable_id}/notes",
            &notes,
            &notes,
            nothing,
            vec![("body", TooLong("note"))],
        ),
        call(
            "PUT /api/v3/projects/{id}/issues/{noteable_id}/notes/{note_id}",
            &format!("{notes}/{}", id_of(&note)),
            &notes,
            nothing,
            vec![("body", TooLong("note"))],
        ),
        call(
            "POST /api/v3/projects/{id}/milestones",
            &milestones,
            &milestones,
            |n| json!({"title": format!("m{n}")}),
            ["title", "description"].map(milestone_sentence).to_vec(),
        ),
        call(
            "PUT /api/v3/projects/{id}/milestones/{milestone_id}",
            &milestone,
            &milestone,
            nothing,
            ["title", "description"].map(milestone_sentence).to_vec(),
        ),
        call(
            "POST /api/v3/projects/{id}/statuses/{sha}",
            &path(&format!("/statuses/{sha}")),
            &statuses,
            |n| json!({"state": "success", "name": format!("s{n}")}),
            refused_as_too_long(&["ref", "name", "target_url", "description"]),
        ),
        call(
            "POST /api/v3/projects/{id}/statuses/{sha}",
            &path(&format!("/statuses/{sha}")),
            &statuses,
            |_| json!({"state": "success"}),
            vec![("context", TooLong("name"))],
        ),
        call(
            "POST /api/v3/projects/{id}/variables",
            &path("/variables"),
            &path("/variables"),
            |n| json!({"key": format!("K{n}"), "value": "v"}),
            refused_as_too_long(&["key", "value"]),
        ),
        call(
            "PUT /api/v3/projects/{id}/variables/{key}",
            &path("/variables/FIXED"),
            &path("/variables/FIXED"),
            nothing,
            refused_as_too_long(&["value"]),
        ),
        call(
            "POST /api/v3/projects/{id}/environments",
            &environments,
            &environments,
            |n| json!({"name": format!("e{n}")}),
            environment_fields.to_vec(),
        ),
        call(
            "PUT /api/v3/projects/{id}/environments/{environment_id}",
            &environment,
            &environments,
            nothing,
            environment_fields.to_vec(),
        ),
        call(
            "POST /api/v3/projects/{id}/repository/commits",
            &path("/repository/commits"),
            &path("/repository/commits"),
            |_| {
                let mut fields = file_fields("unused");
                fields["actions"] = json!([]);
                fields
            },
            refused_as_too_long(COMMIT),
        ),
        call(
            "POST /api/v3/projects/{id}/merge_requests",
            &merge_requests,
            &merge_requests,
            |n| json!({"title": "t", "source_branch": format!("s{n}"), "target_branch": "t"}),
            refused_as_too_long(&["title", "description", "source_branch", "target_branch"]),
        ),
        call(
            "PUT /api/v3/projects/{id}/merge_requests/{merge_request_id}",
            &request,
            &request,
            nothing,
            refused_as_too_long(&["title", "description", "target_branch"]),
        ),
        call(
            "POST /api/v3/projects/{id}/merge_requests/{merge_request_id}/comments",
            &format!("{request}/comments"),
            &request_notes,
            nothing,
            vec![("note", Prescribed(400, "Failed to save note {:note=>"))],
        ),
        call(
            "POST /api/v3/projects/{id}/merge_requests/{noteable_id}/notes",
            &request_notes,
            &request_notes,
            nothing,
            vec![("body", TooLong("note"))],
        ),
        call(
            "PUT /api/v3/projects/{id}/merge_requests/{noteable_id}/notes/{note_id}",
            &format!("{request_notes}/{}", id_of(&request_note)),
            &request_notes,
            nothing,
            vec![("body", TooLong("note"))],
        ),
        call(
            "POST /api/v3/projects/{id}/repository/commits/{sha}/comments",
            &comments,
            &comments,
            nothing,
            vec![("note", Prescribed(400, "Failed to save note {:note=>"))],
        ),
        call(
            "POST /api/v3/projects/{id}/repository/files",
            &path("/repository/files"),
            &path("/repository/commits"),
            |n| file_fields(&format!("limit-{n}")),
            [&refused_as_too_long(COMMIT)[..], &[("file_path", Prescribed(400, "only letters"))]]
                .concat(),
        ),
        call(
            "PUT /api/v3/projects/{id}/repository/files",
            &path("/repository/files"),
            &path("/repository/commits"),
            |_| file_fields("limit"),
            [&refused_as_too_long(COMMIT)[..], &[("file_path", Prescribed(400, "Invalid path"))]]
                .concat(),
        ),
        call(
            "PUT /api/v3/runners/{id}",
            &runner,
            &runner,
            nothing,
            vec![("description", TooLong("description")), ("tag_list[]", TooLong("tag_list"))],
        ),
        call(
            "POST /ci/api/v1/runners/register",
            "/../../ci/api/v1/runners/register",
            &format!("/projects/{label_id}"),
            |_| json!({"token": RUNNERS}),
            vec![
                ("description", TooLong("description")),
                ("tag_list[]", TooLong("tag_list")),
                ("info{}", TooLong("info")),
            ],
        ),
    ]
}

/// A valid value of this length for a field, different for each `n`.
fn value_of(field: &str, length: usize, n: u32) -> Value {
    let filled = |begin: &str, end: &str| {
        let fill = length.saturating_sub(begin.len() + end.len());
        format!("{begin}{}{end}", "x".repeat(fill))
    };
    let n = n.to_string();
    match field {
        "email" => json!(filled(&n, "@example.com")),
        "url" | "import_url" | "target_url" | "home_page_url" | "after_sign_out_path" => {
            json!(filled("http://example.com/", ""))
        }
        "external_url" => json!(filled(&format!("http://example.com/{n}"), "")),
        "key" => json!(filled(&n, "")),
        "ssh key" => json!(filled(&format!("{} ", an_ssh_key(n.parse().expect("a number"))), "")),
        "color" | "font" => json!(format!("#{}", "1".repeat(length - 1))),
        "branch_name" | "tag_name" | "ref" => {
            let part = format!("{}/", "x".repeat(199));
            let name = part.repeat(length / 200 + 1);
            json!(format!("{n}{}", &name[n.len()..length.saturating_sub(1)]) + "x")
        }
        "tag_list[]" | "domain_whitelist[]" | "domain_blacklist[]" => json!([filled(&n, "")]),
        "info{}" => json!({"name": filled(&n, "")}),
        _ => json!(filled(&n, "")),
    }
}

fn send(forge: &Forge, call: &Call, field: &str, value: Value, n: u32) -> Response {
    let mut body = (call.base)(n);
    let parameter = field.trim_end_matches(['[', ']', '{', '}']);
    body[parameter] = value;
    let method = call.name.split(' ').next().unwrap_or_default();
    let target = call.target.trim_start_matches("/../..");
    let request = match call.target.starts_with("/../..") {
        true => hexforge_tests::Request::new(forge.address, method, target),
        false => forge.request(method, target),
    };
    request.token(&call.token).json(&body).send()
}

/// The maximum length that the document states for a parameter.
fn documented_length(document: &Value, name: &str, field: &str) -> usize {
    let (method, path) = name.split_once(' ').expect("a method and a path");
    let call = &document["paths"][path][method.to_lowercase()];
    let found = texts(call).into_iter().find(|(found, _)| found == field);
    let (_, schema) = found.unwrap_or_else(|| panic!("{name} takes {field}"));
    usize::try_from(schema["maxLength"].as_u64().expect("it is stated")).expect("a length")
}

fn the_longest_texts_are_stored_and_longer_ones_are_refused(forge: &Forge) {
    let document = openapi::document(Dialect::Specification);
    let fixture = ci_fixture(forge, CONFIGURATION);
    let (mut tested, mut n, mut problems) = (BTreeSet::new(), 100, Vec::new());
    for call in calls(forge, &fixture) {
        for (field, refusal) in &call.fields {
            let max = documented_length(&document, call.name, field);
            let kind =
                if call.name.ends_with("keys") && *field == "key" { "ssh key" } else { field };
            let shown = || {
                let answer = forge.get(&call.shows).token(ROOT).send();
                (answer.status, answer.header("x-total").map(str::to_owned), answer.body)
            };
            let before = shown();
            n += 1;
            let refused = send(forge, &call, field, value_of(kind, max + 1, n), n);
            let what = format!("{} {field}: {}", call.name, String::from_utf8_lossy(&refused.body));
            let as_expected = match refusal {
                TooLong(named) => {
                    let text = format!("is too long (maximum is {max} characters)");
                    refused.status == 400 && refused.json() == field_error(named, &text)
                }
                Prescribed(status, words) => {
                    refused.status == *status && refused.text().contains(words)
                }
            };
            if !as_expected {
                problems.push(what);
            }
            if shown() != before {
                problems.push(format!("{} {field}: something was stored", call.name));
            }
            n += 1;
            let taken = send(forge, &call, field, value_of(kind, max, n), n);
            let text: String = String::from_utf8_lossy(&taken.body).chars().take(300).collect();
            if !matches!(taken.status, 200 | 201) {
                problems.push(format!("{} {field}, the longest: {text}", call.name));
            }
            tested.insert((call.name.to_owned(), (*field).to_owned()));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    for (name, fields) in NOT_STORED.iter().chain(ELSEWHERE) {
        tested.extend(fields.iter().map(|field| ((*name).to_owned(), (*field).to_owned())));
    }
    // The properties of services are tested in `projects/services_table.rs`.
    let service = "PUT /api/v3/projects/{id}/services/{name}";
    let properties = ServiceKind::all().flat_map(ServiceKind::properties);
    tested.extend(properties.map(|property| (service.to_owned(), property.name.to_owned())));
    let mut all = BTreeSet::new();
    for (path, calls) in document["paths"].as_object().expect("there are paths") {
        for (method, call) in calls.as_object().expect("there are calls") {
            let body = json!({"requestBody": call["requestBody"]});
            let name = format!("{} {path}", method.to_uppercase());
            all.extend(texts(&body).into_iter().map(|(field, _)| (name.clone(), field)));
        }
    }
    assert_eq!(tested, all, "the texts that are tested, and those that there are");
}

fn variables_of_a_trigger_are_bounded_together(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let triggers = format!("{}/triggers", fixture.cast.path);
    let trigger = forge.post(&triggers).token(ROOT).send().expect(201);
    let start = |variables: Value| {
        let path = format!("{}/trigger/builds", fixture.cast.path);
        let body = json!({"token": trigger["token"], "ref": "master", "variables": variables});
        forge.post(&path).json(&body).send()
    };
    let of = |count: usize, key: usize, value: usize| {
        let key = |n: usize| format!("{n:0key$}");
        let pairs = (0..count).map(|n| (key(n), json!("v".repeat(value))));
        Value::Object(pairs.collect())
    };
    for (variables, text) in [
        (of(201, 1, 1), "are too many (maximum is 200)"),
        (of(1, 256, 1), "is too long (maximum is 255 characters)"),
        (of(1, 1, 65_537), "is too long (maximum is 65536 characters)"),
        (of(17, 1, 65_536), "is too long (maximum is 1048576 characters)"),
    ] {
        assert_eq!(start(variables).expect(400), field_error("variables", text));
    }
    let pipelines = format!("{}/pipelines", fixture.cast.path);
    assert_eq!(forge.get(&pipelines).token(ROOT).send().expect(200), json!([]));
    for variables in [of(200, 1, 1), of(1, 255, 65_536), of(15, 1, 65_536)] {
        start(variables).expect(201);
    }
}

fn lists_of_labels_are_bounded(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let issue = new_issue(forge, ROOT, &fixture.cast.path, "an issue", &[]);
    let full: Vec<String> = (0..500).map(|n| format!("{n:0255}")).collect();
    let longest = full.join(",");
    assert_eq!(longest.len(), 127_999);
    let long_title = field_error("labels", "is too long (maximum is 255 characters)");
    let too_many = field_error("labels", "are too many (maximum is 500)");
    let labels = format!("{}/labels", fixture.cast.path);
    for (method, path) in
        [("POST", format!("{}/issues", fixture.cast.path)), ("PUT", path_of_issue(&issue))]
    {
        let send = |labels: &str| {
            let body = json!({"title": "t", "labels": labels});
            forge.request(method, &path).token(ROOT).json(&body).send()
        };
        let before = forge.get(&labels).token(ROOT).send().body;
        assert_eq!(send(&"x".repeat(256)).expect(400), long_title, "{method}");
        assert_eq!(send(&format!("{longest},x")).expect(400), too_many, "{method}");
        assert_eq!(forge.get(&labels).token(ROOT).send().body, before, "{method}");
        assert!(matches!(send(&longest).status, 200 | 201), "{method}");
    }
}

fn searches_are_bounded(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    for (path, name) in [
        ("/projects".to_owned(), "search"),
        ("/users".to_owned(), "search"),
        ("/groups".to_owned(), "search"),
        ("/namespaces".to_owned(), "search"),
        (format!("{}/members", fixture.cast.path), "query"),
        (format!("{}/users", fixture.cast.path), "search"),
    ] {
        let search = |length: usize| {
            forge.get(&path).token(ROOT).query(&[(name, &"ü".repeat(length))]).send()
        };
        search(255).expect(200);
        let expected = json!({"error": format!("{name} is too long (maximum is 255 characters)")});
        assert_eq!(search(256).expect(400), expected, "{path}");
    }
    let found = |length: usize| forge.get(&format!("/projects/search/{}", "x".repeat(length)));
    found(255).token(ROOT).send().expect(200);
    found(256).token(ROOT).send().expect(400);
}
