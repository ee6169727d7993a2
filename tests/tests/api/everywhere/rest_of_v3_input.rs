//! Bad input of the calls of rest_of_v3.md: wrong types, texts that are too long, ids of other projects, and names of
//! templates that lead elsewhere. Refused requests change nothing.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, Request, an_ssh_key, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::ci_support::{ci_fixture, push};
use crate::api::ci::runner_support::shared_runner;
use crate::api::groups::group_support::{error, new_project, path_of_project};
use crate::api::merge_requests::requests_support::{new_request, path_of_request};
use crate::api::repositories::refs_support::filled_fixture;
use crate::api::support::{MISSING, id_of, ids, message};
use crate::api::tracker::tracker_support::{new_issue, path_of_issue};

on_every_store!(
    wrong_types_are_refused_by_name,
    long_texts_are_refused,
    wrong_types_in_queries_are_refused,
    ids_of_other_projects_are_missing,
    declared_ids_are_checked_before_the_project,
    templates_are_found_by_their_names_only,
);

/// A call that stores something.
struct Write {
    method: &'static str,
    path: String,
    /// Valid fields.
    body: Value,
    /// A request whose response shows whether anything was stored.
    shows: String,
}

impl Write {
    fn request(&self, forge: &Forge) -> Request {
        forge.request(self.method, &self.path).token(ROOT)
    }
}

/// A project with a snippet, an issue and a merge request.
struct Scene {
    project: String,
    snippet: String,
    issue: String,
    request: String,
}

impl Scene {
    fn new(forge: &Forge) -> Self {
        let fixture = filled_fixture(forge);
        let project = fixture.cast.path.clone();
        let on = [("name", "Ship"), ("snippets_enabled", "true")];
        forge.put(&project).token(ROOT).form(&on).send().expect(200);
        let snippet = new_snippet(forge, &project);
        let issue = path_of_issue(&new_issue(forge, ROOT, &project, "an issue", &[]));
        let request = path_of_request(&new_request(forge, &fixture, "feature/x", "a request"));
        Self { project, snippet, issue, request }
    }
}

#[track_caller]
fn new_snippet(forge: &Forge, project: &str) -> String {
    let path = format!("{project}/snippets");
    let form = [("title", "t"), ("file_name", "f"), ("code", "c"), ("visibility_level", "0")];
    format!("{path}/{}", id_of(&forge.post(&path).token(ROOT).form(&form).send().expect(201)))
}

#[track_caller]
fn new_note(forge: &Forge, target: &str) -> i64 {
    let notes = format!("{target}/notes");
    id_of(&forge.post(&notes).token(ROOT).form(&[("body", "text")]).send().expect(201))
}

/// The calls of rest_of_v3.md that store texts, except those of deploy keys, settings, environments, services and
/// triggers, whose tests are beside their other tests.
fn writes(forge: &Forge, scene: &Scene) -> Vec<Write> {
    let Scene { project, snippet, issue, request } = scene;
    let write = |method, path: String, shows: &str, body: Value| Write {
        method,
        path,
        body,
        shows: shows.to_owned(),
    };
    let form = [("title", "t"), ("file_name", "f"), ("content", "c")];
    let personal = forge.post("/snippets").token(ROOT).form(&form).send().expect(201);
    let personal = format!("/snippets/{}", id_of(&personal));
    let message = forge.post("/broadcast_messages").token(ROOT).form(&[("message", "m")]).send();
    let message = format!("/broadcast_messages/{}", id_of(&message.expect(201)));
    let runner = format!("/runners/{}", shared_runner(forge, &[]).id);
    let code = json!({"title": "t", "file_name": "f", "code": "c", "visibility_level": 0});
    let content = json!({"title": "t", "file_name": "f", "content": "c", "visibility_level": 0});
    let broadcast = json!({
        "message": "m", "color": "#123456", "font": "#123456",
        "starts_at": "2016-09-22T10:30:00Z", "ends_at": "2016-09-22T11:30:00Z",
    });
    let details = json!({
        "description": "d", "active": true, "tag_list": ["a"], "run_untagged": true,
        "locked": false,
    });
    let mut level = json!({"level": "watch"});
    for event in [
        "new_note",
        "new_issue",
        "reopen_issue",
        "close_issue",
        "reassign_issue",
        "new_merge_request",
        "reopen_merge_request",
        "close_merge_request",
        "reassign_merge_request",
        "merge_merge_request",
        "failed_pipeline",
        "success_pipeline",
    ] {
        level[event] = json!(true);
    }
    let mut global = level.clone();
    global["notification_email"] = json!("x");
    let mut all = vec![
        write("POST", format!("{project}/snippets"), &format!("{project}/snippets"), code.clone()),
        write("PUT", snippet.clone(), snippet, code),
        write("POST", "/snippets".to_owned(), "/snippets", content.clone()),
        write("PUT", personal.clone(), &personal, content),
        write("POST", "/broadcast_messages".to_owned(), "/broadcast_messages", broadcast.clone()),
        write("PUT", message.clone(), &message, broadcast),
        write("PUT", runner.clone(), &runner, details),
        write("PUT", "/notification_settings".to_owned(), "/notification_settings", global),
    ];
    let settings = format!("{project}/notification_settings");
    all.push(write("PUT", settings.clone(), &settings, level));
    for target in [snippet, issue, request] {
        let notes = format!("{target}/notes");
        let note = format!("{notes}/{}", new_note(forge, target));
        all.push(write("POST", notes.clone(), &notes, json!({"body": "b"})));
        all.push(write("PUT", note.clone(), &note, json!({"body": "b"})));
        for awarded in [target, &note] {
            let awards = format!("{awarded}/award_emoji");
            all.push(write("POST", awards.clone(), &awards, json!({"name": "tada"})));
        }
    }
    all
}

/// The error texts of a response, whichever form it has.
fn told(answer: &Value) -> String {
    let told = if answer["error"].is_null() { &answer["message"] } else { &answer["error"] };
    told.to_string()
}

/// Lists of lists, objects and texts with NUL.
fn wrong_types_are_refused_by_name(forge: &Forge) {
    let scene = Scene::new(forge);
    for write in writes(forge, &scene) {
        let shown = || forge.get(&write.shows).token(ROOT).send().expect(200);
        let before = shown();
        let names = write.body.as_object().expect("an object").keys();
        for name in names {
            for wrong in [json!([["x"]]), json!({"a": {"b": "c"}}), json!("a\0b")] {
                let mut body = write.body.clone();
                body[name] = wrong.clone();
                let refused = write.request(forge).json(&body).send().expect(400);
                let told = told(&refused);
                let what = format!("{} {}: {wrong}: {refused}", write.method, write.path);
                assert!(told.contains(name.as_str()) || told.contains("level"), "{what}");
            }
        }
        assert_eq!(shown(), before, "{} {}", write.method, write.path);
    }
}

/// Texts of 1.1 MB are refused by their rules, and texts of 9 MB with the whole request.
fn long_texts_are_refused(forge: &Forge) {
    let scene = Scene::new(forge);
    for write in writes(forge, &scene) {
        let shown = || forge.get(&write.shows).token(ROOT).send().expect(200);
        let before = shown();
        let fields = write.body.as_object().expect("an object").iter();
        for (name, _) in fields.filter(|(_, value)| value.is_string()) {
            let mut body = write.body.clone();
            body[name] = json!("x".repeat(1_100_000));
            let answer = write.request(forge).json(&body).send();
            let what = format!("{} {} {name}", write.method, write.path);
            if write.path.ends_with("/award_emoji") {
                // Section 5: "no such emoji".
                let text = "404 Award Emoji {:name=>[\"is not included in the list\"]} Not Found";
                assert_eq!(answer.expect(404), message(text), "{what}");
                continue;
            }
            assert_eq!(answer.status, 400, "{what}");
            assert!(answer.text().len() < 1000, "{what}");
        }
        let name = write.body.as_object().and_then(|fields| fields.keys().next());
        let mut body = write.body.clone();
        body[name.expect("a field")] = json!("x".repeat(9_000_000));
        assert_eq!(write.request(forge).json(&body).send().status, 413, "{}", write.path);
        assert_eq!(shown(), before, "{} {}", write.method, write.path);
    }
}

/// GET /todos, DELETE /todos, GET /runners, GET /templates/licenses, GET /templates/licenses/:name
fn wrong_types_in_queries_are_refused(forge: &Forge) {
    for (method, path, name) in [
        ("GET", "/todos", "state"),
        ("GET", "/todos", "action"),
        ("GET", "/todos", "action_id"),
        ("GET", "/todos", "author_id"),
        ("GET", "/todos", "project_id"),
        ("GET", "/todos", "type"),
        ("DELETE", "/todos", "action"),
        ("DELETE", "/todos", "author_id"),
        ("GET", "/templates/licenses", "popular"),
        ("GET", "/templates/licenses/mit", "project"),
        ("GET", "/licenses/mit", "fullname"),
    ] {
        for query in [format!("{name}[]=x"), format!("{name}[0]=x"), format!("{name}=a%00b")] {
            let answer = forge.request(method, &format!("{path}?{query}")).token(ROOT).send();
            assert_eq!(answer.expect(400), error(&format!("{name} is invalid")), "{path}?{query}");
        }
    }
    let scope = forge.get("/runners?scope[]=active").token(ROOT).send().expect(400);
    assert!(told(&scope).contains("scope"), "{scope}");
}

/// Rows of another project are as missing ones, whoever asks. GET /projects/:id/deployments/:deployment_id,
/// PUT /projects/:id/environments/:environment_id, DELETE /projects/:id/environments/:environment_id and others.
fn ids_of_other_projects_are_missing(forge: &Forge) {
    let ci = ci_fixture(forge, "deploy: {script: ship, environment: production}");
    let runner = shared_runner(forge, &[]);
    push(forge, &ci, "topic");
    runner.end(&runner.take().expect("a build is waiting"), "success");
    let owner = ci.token("owner");
    let own = &ci.cast.path;
    let on = [("name", "Ship"), ("snippets_enabled", "true")];
    forge.put(own).token(owner).form(&on).send().expect(200);
    let first = |list: &str| -> i64 {
        ids(&forge.get(&format!("{own}/{list}")).token(owner).send().expect(200))[0]
    };
    let (environment, deployment) = (first("environments"), first("deployments"));
    let trigger = forge.post(&format!("{own}/triggers")).token(owner).send().expect(201);
    let trigger = trigger["token"].as_str().expect("a token").to_owned();
    let key = [("title", "server"), ("key", &an_ssh_key(1))];
    let key = forge.post(&format!("{own}/deploy_keys")).token(owner).form(&key).send();
    let key = id_of(&key.expect(201));
    let snippet = new_snippet(forge, own);
    let issue = new_issue(forge, owner, own, "an issue", &[]);
    let (note, issue) = (new_note(forge, &path_of_issue(&issue)), id_of(&issue));
    let other = new_project(forge, owner, "Other", &[("snippets_enabled", "true")]);
    let other = path_of_project(&other);
    let snippet_there = new_snippet(forge, &other);
    let missing = message("404 Not found");
    let no_trigger = message("404 Trigger Not Found");
    let no_key = message("404 Deploy Key Not Found");
    let snippet = snippet.rsplit('/').next().expect("an id");
    for (method, path, expected) in [
        ("PUT", format!("environments/{environment}?name=x"), &missing),
        ("DELETE", format!("environments/{environment}"), &missing),
        ("GET", format!("deployments/{deployment}"), &missing),
        ("GET", format!("triggers/{trigger}"), &no_trigger),
        ("DELETE", format!("triggers/{trigger}"), &no_trigger),
        ("GET", format!("keys/{key}"), &missing),
        ("DELETE", format!("deploy_keys/{key}"), &no_key),
        ("DELETE", format!("keys/{key}/disable"), &no_key),
        ("POST", format!("issues/{issue}/todo"), &missing),
        ("GET", format!("issues/{issue}/award_emoji"), &missing),
        ("POST", format!("issues/{issue}/award_emoji?name=tada"), &missing),
        ("GET", format!("issues/{issue}/notes/{note}/award_emoji"), &missing),
        ("GET", format!("snippets/{snippet}/award_emoji"), &missing),
        ("GET", format!("snippets/{snippet}/notes"), &missing),
        ("POST", format!("snippets/{snippet}/notes?body=x"), &missing),
        ("PUT", format!("snippets/{snippet}/notes/{note}?body=x"), &missing),
        ("DELETE", format!("snippets/{snippet}/notes/{note}"), &missing),
    ] {
        for token in [owner, ROOT] {
            let path = format!("{other}/{path}");
            let answer = forge.request(method, &path).token(token).send().expect(404);
            assert_eq!(answer, *expected, "{method} {path}");
        }
    }
    // A note is read below its own subject only.
    for target in [snippet_there, format!("{own}/snippets/{snippet}")] {
        let answer = forge.get(&format!("{target}/notes/{note}")).token(ROOT).send().expect(404);
        assert_eq!(answer, missing, "{target}");
    }
    assert_eq!((first("environments"), first("deployments")), (environment, deployment));
    let kept = forge.get(&format!("{own}/issues/{issue}/notes/{note}")).token(owner).send();
    assert_eq!(kept.expect(200)["body"], "text");
}

/// 1.2 and the list of declared ids: "a text there is 400 `{"error":"<name> is invalid"}`", before the project is
/// looked up.
fn declared_ids_are_checked_before_the_project(forge: &Forge) {
    let (_, ada) = forge.user("ada");
    let there = path_of_project(&new_project(forge, &ada, "Ship", &[]));
    for project in [format!("/projects/{MISSING}"), there] {
        for (method, path, name) in [
            ("GET", "snippets/x/notes", "noteable_id"),
            ("POST", "snippets/x/notes?body=b", "noteable_id"),
            ("GET", "snippets/1/notes/x", "note_id"),
            ("PUT", "snippets/1/notes/x?body=b", "note_id"),
            ("DELETE", "merge_requests/1/notes/x", "note_id"),
            ("GET", "merge_requests/x/notes", "noteable_id"),
            ("GET", "issues/1/award_emoji/x", "award_id"),
            ("DELETE", "merge_requests/1/award_emoji/x", "award_id"),
            ("DELETE", "snippets/1/notes/1/award_emoji/x", "award_id"),
            ("GET", "snippets/1/notes/x/award_emoji", "note_id"),
            ("POST", "snippets/x/notes/1/award_emoji?name=tada", "noteable_id"),
            ("POST", "issues/x/todo", "issue_id"),
            ("POST", "merge_requests/x/todo", "merge_request_id"),
            ("PUT", "environments/x", "environment_id"),
            ("DELETE", "environments/x", "environment_id"),
            ("GET", "deployments/x", "deployment_id"),
        ] {
            let path = format!("{project}/{path}");
            let answer = forge.request(method, &path).token(&ada).send().expect(400);
            assert_eq!(answer, error(&format!("{name} is invalid")), "{method} {path}");
        }
    }
    for (method, path) in [
        ("DELETE", "/todos/x"),
        ("GET", "/runners/x"),
        ("PUT", "/runners/x?active=true"),
        ("DELETE", "/runners/x"),
        ("GET", "/broadcast_messages/x"),
        ("PUT", "/broadcast_messages/x"),
        ("DELETE", "/broadcast_messages/x"),
    ] {
        let answer = forge.request(method, path).token(ROOT).send().expect(400);
        assert_eq!(answer, error("id is invalid"), "{method} {path}");
    }
}

/// Section 12: names are no paths. All twelve calls.
fn templates_are_found_by_their_names_only(forge: &Forge) {
    let long = "x".repeat(5000);
    for prefix in ["/templates", ""] {
        for (kind, there, text) in [
            ("licenses", "mit", "404 License Not Found"),
            ("gitignores", "Ruby", "404 gitignore Not Found"),
            ("gitlab_ci_ymls", "Ruby", "404 gitlab_ci_yml Not Found"),
        ] {
            forge.get(&format!("{prefix}/{kind}/{there}")).send().expect(200);
            for name in [
                "..".to_owned(),
                "..%2F..%2F..%2Fetc%2Fpasswd".to_owned(),
                "%2Fetc%2Fpasswd".to_owned(),
                format!("..%2F{kind}%2F{there}"),
                format!("%2e%2e%2f{there}"),
                format!(".%2F{there}"),
                format!("..%5C{there}"),
                format!("{there}%2F"),
                format!("{there}%00"),
                format!("{there}%00.txt"),
                format!("{there}.txt"),
                format!("{there}%20"),
                format!("licenses%2F{there}"),
                long.clone(),
            ] {
                let path = format!("{prefix}/{kind}/{name}");
                let answer = forge.get(&path).send();
                assert_eq!(answer.status, 404, "{path}");
                if !name.contains("%00") {
                    assert_eq!(answer.json(), message(text), "{path}");
                }
            }
            let outside = forge.get(&format!("{prefix}/{kind}/../licenses/mit")).send();
            assert_eq!(outside.status, 404, "{prefix}/{kind}");
        }
    }
}
