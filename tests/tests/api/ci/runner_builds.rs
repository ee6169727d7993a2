//! The builds that runners get, and their updates by `PUT /ci/api/v1/builds/:id`: reference section 8.2.

use hexforge_tests::forge::{EXTERNAL_URL, ROOT};
use hexforge_tests::runner::{call, token_of};
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::runner_support::{CiProject, TWO_STAGES, shared_runner};
use crate::api::support::message;

on_every_store!(
    a_build_has_every_field_in_order,
    variables_come_in_order_and_say_what_a_log_may_show,
    tags_triggers_and_manual_jobs_have_variables_of_their_own,
    builds_of_earlier_stages_are_listed_with_their_artifacts,
    an_ended_build_moves_its_pipeline,
    only_its_runner_updates_a_running_build,
    a_runner_learns_of_a_cancellation_and_adds_nothing,
    a_log_can_be_replaced_as_a_whole,
    the_coverage_is_read_from_the_log_at_the_end,
    a_coverage_expression_is_set_by_masters,
    git_reads_with_the_token_of_a_running_build,
    a_build_that_nobody_started_reads_its_own_project,
);

const FULL: &str = "\
image: ruby:2.1
variables: {DB: postgres}
cache: {paths: [vendor]}
compile:
  script: [make, make install]
  before_script: [prepare]
  tags: [ruby]
  artifacts: {paths: [bin], expire_in: 1 week}
";

fn keys(value: &Value) -> Vec<&str> {
    value.as_object().expect("an object").keys().map(String::as_str).collect()
}

/// The list of fields of "201 answers".
fn a_build_has_every_field_in_order(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", FULL);
    let pipeline = ci_project.pipeline();
    let runner = shared_runner(forge, &[("tag_list", "ruby")]);
    let answer = runner.build_request().send();
    let build = answer.expect(201);
    let fields = [
        "id",
        "ref",
        "tag",
        "sha",
        "status",
        "name",
        "token",
        "stage",
        "project_id",
        "project_name",
        "commands",
        "repo_url",
        "before_sha",
        "allow_git_fetch",
        "options",
        "timeout",
        "variables",
        "depends_on_builds",
        "credentials",
    ];
    let mut places: Vec<(usize, &str)> = fields
        .iter()
        .map(|field| (answer.text().find(&format!("\"{field}\":")).expect(field), *field))
        .collect();
    assert!(places.is_sorted(), "{places:?}");
    places.clear();
    assert_eq!(build.as_object().expect("an object").len(), fields.len());
    let token = token_of(&build);
    assert_eq!(build["status"], "running");
    assert_eq!(build["commands"], "prepare\nmake\nmake install");
    assert_eq!(
        (&build["ref"], &build["tag"], &build["sha"]),
        (&json!("master"), &json!(false), &json!(ci_project.sha))
    );
    assert_eq!((&build["name"], &build["stage"]), (&json!("compile"), &json!("test")));
    assert_eq!(
        (&build["project_id"], &build["project_name"]),
        (&json!(ci_project.project), &json!("Ship"))
    );
    let repo_url = format!("http://gitlab-ci-token:{token}@forge.test/ada/ship.git");
    assert_eq!(build["repo_url"], repo_url);
    assert_eq!(build["before_sha"], "0".repeat(40));
    assert_eq!((&build["allow_git_fetch"], &build["timeout"]), (&json!(true), &json!(3600)));
    assert_eq!(build["options"]["image"], "ruby:2.1");
    assert_eq!(build["options"]["artifacts"]["expire_in"], "1 week");
    assert_eq!((&build["depends_on_builds"], &build["credentials"]), (&json!([]), &json!([])));
    let shown = ci_project.build(&build);
    assert_eq!((&shown["status"], &shown["runner"]["id"]), (&json!("running"), &json!(runner.id)));
    assert_eq!(ci_project.status_of(&pipeline), "running");
}

/// "Variables in order"
fn variables_come_in_order_and_say_what_a_log_may_show(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", FULL);
    let secret = [("key", "PASSWORD"), ("value", "hunter2")];
    forge
        .post(&ci_project.path("/variables"))
        .token(&ci_project.owner)
        .form(&secret)
        .send()
        .expect(201);
    let pipeline = ci_project.pipeline();
    let runner = shared_runner(forge, &[("tag_list", "ruby, linux"), ("description", "big")]);
    let build = runner.take().expect("it waits");
    let me = forge.get("/user").token(&ci_project.owner).send().expect(200);
    let text = |value: &Value| value.to_string();
    let expected = [
        ("CI", "true".to_owned(), true),
        ("GITLAB_CI", "true".to_owned(), true),
        ("CI_BUILD_ID", text(&build["id"]), true),
        ("CI_BUILD_TOKEN", token_of(&build).to_owned(), false),
        ("CI_BUILD_REF", ci_project.sha.clone(), true),
        ("CI_BUILD_BEFORE_SHA", "0".repeat(40), true),
        ("CI_BUILD_REF_NAME", "master".to_owned(), true),
        ("CI_BUILD_NAME", "compile".to_owned(), true),
        ("CI_BUILD_STAGE", "test".to_owned(), true),
        ("CI_SERVER_NAME", "hexforge".to_owned(), true),
        ("CI_SERVER_VERSION", "8.14.10".to_owned(), true),
        ("CI_SERVER_REVISION", "hexforge-0.1.0".to_owned(), true),
        ("CI_PROJECT_ID", ci_project.project.to_string(), true),
        ("CI_PROJECT_NAME", "ship".to_owned(), true),
        ("CI_PROJECT_PATH", "ada/ship".to_owned(), true),
        ("CI_PROJECT_NAMESPACE", "ada".to_owned(), true),
        ("CI_PROJECT_URL", format!("{EXTERNAL_URL}/ada/ship"), true),
        ("CI_PIPELINE_ID", text(&pipeline["id"]), true),
        ("CI_RUNNER_ID", runner.id.to_string(), true),
        ("CI_RUNNER_DESCRIPTION", "big".to_owned(), true),
        ("CI_RUNNER_TAGS", "linux, ruby".to_owned(), true),
        ("DB", "postgres".to_owned(), true),
        ("GITLAB_USER_ID", text(&me["id"]), true),
        ("GITLAB_USER_EMAIL", "ada@example.com".to_owned(), true),
        ("PASSWORD", "hunter2".to_owned(), false),
    ];
    let expected: Vec<Value> = expected
        .into_iter()
        .map(|(key, value, public)| json!({"key": key, "value": value, "public": public}))
        .collect();
    assert_eq!(build["variables"], json!(expected));
    assert_eq!(keys(&build["variables"][0]).len(), 3);
}

fn value_of<'a>(build: &'a Value, key: &str) -> Option<&'a Value> {
    build["variables"].as_array().expect("a list").iter().find(|variable| variable["key"] == key)
}

/// "CI_BUILD_TAG (tags only), CI_BUILD_TRIGGERED, CI_BUILD_MANUAL (when so) … trigger variables (not public)"
fn tags_triggers_and_manual_jobs_have_variables_of_their_own(forge: &Forge) {
    let ci_project =
        CiProject::new(forge, "ada", "job: {script: x}\nby hand: {script: x, when: manual}\n");
    let tag = [("tag_name", "v1"), ("ref", "master")];
    let tags = ci_project.path("/repository/tags");
    forge.post(&tags).token(&ci_project.owner).form(&tag).send().expect(201);
    let runner = shared_runner(forge, &[]);
    let tagged = runner.take().expect("the tag made a pipeline");
    assert_eq!((&tagged["ref"], &tagged["tag"]), (&json!("v1"), &json!(true)));
    assert_eq!(value_of(&tagged, "CI_BUILD_TAG").expect("a tag")["value"], "v1");
    let names = ["CI_BUILD_TRIGGERED", "CI_BUILD_MANUAL"];
    assert!(names.iter().all(|name| value_of(&tagged, name).is_none()));
    runner.end(&tagged, "success");
    let all = forge.get(&ci_project.path("/builds")).token(&ci_project.owner).send().expect(200);
    let manual = all.as_array().expect("a list").iter().find(|build| build["name"] == "by hand");
    let play = ci_project.path(&format!("/builds/{}/play", manual.expect("it is there")["id"]));
    forge.post(&play).token(&ci_project.owner).send().expect(200);
    let played = runner.take().expect("it was played");
    assert_eq!(value_of(&played, "CI_BUILD_MANUAL").expect("manual")["value"], "true");

    let trigger =
        forge.post(&ci_project.path("/triggers")).token(&ci_project.owner).send().expect(201);
    let token = trigger["token"].as_str().expect("a text");
    let fields = [("token", token), ("ref", "master"), ("variables[WHY]", "because")];
    forge.post(&ci_project.path("/trigger/builds")).form(&fields).send().expect(201);
    let triggered = runner.take().expect("it was triggered");
    assert_eq!(value_of(&triggered, "CI_BUILD_TRIGGERED").expect("triggered")["value"], "true");
    let why = json!({"key": "WHY", "value": "because", "public": false});
    assert_eq!(triggered["variables"].as_array().expect("a list").last(), Some(&why));
    assert_eq!(value_of(&triggered, "GITLAB_USER_ID"), None, "a trigger has no user");
}

/// "`depends_on_builds` (latest builds of earlier stages …)"
fn builds_of_earlier_stages_are_listed_with_their_artifacts(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    ci_project.pipeline();
    let runner = shared_runner(forge, &[]);
    let first = runner.take().expect("it waits");
    assert_eq!(runner.take(), None, "the second stage waits for the first");
    runner.artifacts("POST", &first).file("a.zip", b"content").send().expect(201);
    runner.end(&first, "success");
    let second = runner.take().expect("the second stage follows");
    let earlier = &second["depends_on_builds"];
    assert_eq!(earlier.as_array().map(Vec::len), Some(1));
    let earlier = &earlier[0];
    let fields = [
        "id",
        "ref",
        "tag",
        "sha",
        "status",
        "name",
        "token",
        "stage",
        "project_id",
        "project_name",
    ];
    for field in fields.iter().filter(|field| **field != "status") {
        assert_eq!(earlier[field], first[field], "{field}");
    }
    assert_eq!(earlier["status"], "success");
    assert_eq!(earlier["artifacts_file"], json!({"filename": "a.zip", "size": 7}));
    assert_eq!(earlier.as_object().map(serde_json::Map::len), Some(fields.len() + 1));
    let fetched = runner.artifacts("GET", earlier).send();
    assert_eq!((fetched.status, fetched.text()), (200, "content"));
}

/// "`state` (`success`, `failed`; anything else leaves it running)"
fn an_ended_build_moves_its_pipeline(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    let pipeline = ci_project.pipeline();
    let runner = shared_runner(forge, &[]);
    let build = runner.take().expect("it waits");
    for fields in [&[][..], &[("state", "running")], &[("state", "canceled")], &[("state", "")]] {
        runner.update_request(&build, fields).send().expect(200);
        assert_eq!(ci_project.build(&build)["status"], "running", "{fields:?}");
    }
    runner.end(&build, "success");
    let shown = ci_project.build(&build);
    assert_eq!(shown["status"], "success");
    assert!(shown["finished_at"].is_string());
    assert_eq!(ci_project.status_of(&pipeline), "running");
    let second = runner.take().expect("the second stage follows");
    runner.end(&second, "failed");
    assert_eq!(ci_project.status_of(&pipeline), "failed");
    // It has ended.
    assert_eq!(
        runner.update_request(&second, &[("state", "success")]).send().expect(404),
        message("404 Not found")
    );
}

/// "404 … unless the build is running on this runner". Unknown runner tokens are refused first.
fn only_its_runner_updates_a_running_build(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    ci_project.pipeline();
    let (runner, other) = (shared_runner(forge, &[]), shared_runner(forge, &[]));
    let build = runner.take().expect("it waits");
    let refused = other.update_request(&build, &[("state", "success")]).send().expect(404);
    assert_eq!(refused, message("404 Not found"));
    let put =
        |path: &str, token: &str| call(forge.address, "PUT", path).form(&[("token", token)]).send();
    let path = format!("/builds/{}", build["id"]);
    assert_eq!(put(&path, token_of(&build)).expect(403), message("403 Forbidden"));
    assert_eq!(put(&path, "").expect(403), message("403 Forbidden"));
    assert_eq!(put("/builds/987654", &runner.token).expect(404), message("404 Not found"));
    assert_eq!(put("/builds/x.json", &runner.token).expect(404), message("404 Not found"));
    put(&path, &runner.token).expect(200);
    assert_eq!(ci_project.build(&build)["status"], "running");
}

/// "that is how a runner learns of a cancellation"; 403 when erased.
fn a_runner_learns_of_a_cancellation_and_adds_nothing(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    ci_project.pipeline();
    let runner = shared_runner(forge, &[]);
    let build = runner.take().expect("it waits");
    runner.log(&build, &["hello\n"]);
    ci_project.post_action(&build, "cancel");
    let told = runner.update_request(&build, &[("state", "success")]).send().expect(404);
    assert_eq!(told, message("404 Not found"));
    let appended = runner.append_request(&build, 6, "more\n").send();
    assert_eq!((appended.status, appended.header("build-status")), (202, Some("canceled")));
    assert_eq!(ci_project.build(&build)["status"], "canceled");
    assert_eq!(ci_project.trace(&build), "hello\n");
    ci_project.post_action(&build, "erase");
    let refused = runner.append_request(&build, 0, "again\n").send().expect(403);
    assert_eq!(refused, message("403 Forbidden  - Build has been erased!"));
}

/// "`trace` (replaces the log)"
fn a_log_can_be_replaced_as_a_whole(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    ci_project.pipeline();
    let runner = shared_runner(forge, &[]);
    let build = runner.take().expect("it waits");
    runner.update_request(&build, &[("trace", "one\n")]).send().expect(200);
    assert_eq!(ci_project.trace(&build), "one\n");
    runner
        .update_request(&build, &[("trace", "one\ntwo ü\n"), ("state", "success")])
        .send()
        .expect(200);
    assert_eq!(ci_project.trace(&build), "one\ntwo ü\n");
    // Secrets are masked when the log is read.
    let next = runner.take().expect("the second stage follows");
    let log = format!("{} {}", token_of(&next), runner.token);
    runner.update_request(&next, &[("trace", &log)]).send().expect(200);
    let hidden = log.replace(|c: char| c != ' ', "x");
    assert_eq!(ci_project.trace(&next), hidden);
}

/// Section 8.1: "the last match of the project's coverage expression in the log, its first number, as float".
fn the_coverage_is_read_from_the_log_at_the_end(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    let runner = shared_runner(forge, &[]);
    let ended = |log: &str, state: &str| {
        let pipeline = ci_project.pipeline();
        let build = runner.take().expect("it waits");
        runner.update_request(&build, &[("trace", log)]).send().expect(200);
        assert_eq!(ci_project.build(&build)["coverage"], Value::Null, "before the end");
        runner.end(&build, state);
        let path = ci_project.path(&format!("/pipelines/{}/cancel", pipeline["id"]));
        forge.post(&path).token(&ci_project.owner).send().expect(200);
        ci_project.build(&build)["coverage"].clone()
    };
    let log = "Lines: 10.5%\nLines: 98.29% covered\r\ndone in 3 s\n";
    assert_eq!(ended(log, "success"), Value::Null, "without an expression");
    ci_project.set("build_coverage_regex", r"Lines: \d+\.\d+%");
    assert_eq!(ended(log, "success"), 98.29);
    assert_eq!(ended(log, "failed"), 98.29);
    assert_eq!(ended("nothing", "success"), Value::Null);
    // Only the end of a long log is searched.
    let long = format!("Lines: 1.5%\n{}", "x\n".repeat(200_000));
    assert_eq!(ended(&long, "success"), Value::Null);
    assert_eq!(ended(&format!("{long}Lines: 2.5%"), "success"), 2.5);
    ci_project.set("build_coverage_regex", "");
    assert_eq!(ended(log, "success"), Value::Null);
}

/// The expression is shown where it is set, to those who may change it.
fn a_coverage_expression_is_set_by_masters(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    let shown = |token: &str| forge.get(&ci_project.path("")).token(token).send().expect(200);
    let field = "build_coverage_regex";
    assert_eq!(shown(&ci_project.owner).get(field), None);
    let set = |token: &str, text: &str| {
        let form = [("name", "Ship"), (field, text)];
        forge.put(&ci_project.path("")).token(token).form(&form).send()
    };
    assert_eq!(set(&ci_project.owner, r"(\d+)%").expect(200)[field], r"(\d+)%");
    assert_eq!(shown(&ci_project.owner)[field], r"(\d+)%");
    let (bob, token) = forge.user("bob");
    let form = [("user_id", bob.to_string()), ("access_level", "30".to_owned())];
    let form = form.each_ref().map(|(name, value)| (*name, value.as_str()));
    forge
        .post(&ci_project.path("/members"))
        .token(&ci_project.owner)
        .form(&form)
        .send()
        .expect(201);
    set(&token, "x").expect(403);
    assert_eq!(shown(&token).get(field), None);
    let wrong = |text: &str| set(&ci_project.owner, text).expect(400)["message"][field][0].clone();
    assert_eq!(wrong("("), "is invalid");
    assert_eq!(wrong(&"a".repeat(256)), "is too long (maximum is 255 characters)");
    assert_eq!(set(&ci_project.owner, " ").expect(200).get(field), None);
    let fields = [("name", "Boat"), (field, "/total: ([0-9]+)/i")];
    let made = forge.post("/projects").token(&ci_project.owner).form(&fields).send().expect(201);
    assert_eq!(made[field], "/total: ([0-9]+)/i");
}

fn fetch(forge: &Forge, path: &str, name: &str, password: &str, service: &str) -> u16 {
    let target = format!("{path}/info/refs?service={service}");
    let both = format!("{name}:{password}");
    let request = forge.page("GET", &target);
    request.header("Authorization", &format!("Basic {}", base64(&both))).send().status
}

fn base64(text: &str) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut encoded = String::new();
    for chunk in text.as_bytes().chunks(3) {
        let bits = chunk.iter().fold(0_u32, |bits, byte| bits << 8 | u32::from(*byte));
        let bits = bits << (8 * (3 - chunk.len()));
        for place in 0..4 {
            let digit = (bits >> (18 - 6 * place)) & 63;
            encoded.push(if place > chunk.len() {
                '='
            } else {
                char::from(ALPHABET[digit as usize])
            });
        }
    }
    encoded
}

/// "Git over HTTP with user `gitlab-ci-token` and a running build's token reads what the build's user may read."
fn git_reads_with_the_token_of_a_running_build(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    let fields = [("name", "other"), ("path", "other")];
    let other = forge.post("/projects").token(&ci_project.owner).form(&fields).send().expect(201);
    forge.work_tree(other["id"].as_i64().expect("an id"));
    let strange = forge.post("/projects").token(ROOT).form(&fields).send().expect(201);
    forge.work_tree(strange["id"].as_i64().expect("an id"));
    ci_project.pipeline();
    let runner = shared_runner(forge, &[]);
    let build = runner.take().expect("it waits");
    let token = token_of(&build).to_owned();
    let (up, receive) = ("git-upload-pack", "git-receive-pack");
    let ci = "gitlab-ci-token";
    assert_eq!(fetch(forge, "/ada/ship.git", ci, &token, up), 200);
    assert_eq!(fetch(forge, "/ada/other.git", ci, &token, up), 200);
    assert_eq!(fetch(forge, "/root/other.git", ci, &token, up), 404);
    assert_eq!(fetch(forge, "/ada/ship.git", ci, &token, receive), 403);
    assert_eq!(fetch(forge, "/ada/ship.git", ci, "1-wrong", up), 401);
    assert_eq!(fetch(forge, "/ada/ship.git", "ada", &token, up), 401);
    // Builds have no other way, so that they may use HTTP even if it is switched off for Git clients.
    let only_ssh = [("enabled_git_access_protocol", "ssh")];
    forge.put("/application/settings").token(ROOT).form(&only_ssh).send().expect(200);
    assert_eq!(fetch(forge, "/ada/ship.git", ci, &token, up), 200);
    runner.end(&build, "success");
    assert_eq!(fetch(forge, "/ada/ship.git", ci, &token, up), 401);
}

/// Builds of triggers have no user. Without access to their own project they could not run.
fn a_build_that_nobody_started_reads_its_own_project(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    let fields = [("name", "other"), ("path", "other"), ("public", "true")];
    forge.post("/projects").token(&ci_project.owner).form(&fields).send().expect(201);
    let trigger =
        forge.post(&ci_project.path("/triggers")).token(&ci_project.owner).send().expect(201);
    let token = trigger["token"].as_str().expect("a text");
    let fields = [("token", token), ("ref", "master")];
    forge.post(&ci_project.path("/trigger/builds")).form(&fields).send().expect(201);
    let build = shared_runner(forge, &[]).take().expect("it waits");
    let token = token_of(&build);
    let ci = "gitlab-ci-token";
    assert_eq!(fetch(forge, "/ada/ship.git", ci, token, "git-upload-pack"), 200);
    assert_eq!(fetch(forge, "/ada/other.git", ci, token, "git-upload-pack"), 404);
    assert_ne!(fetch(forge, "/ada/ship.git", ci, token, "git-receive-pack"), 200);
}
