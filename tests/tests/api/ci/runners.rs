//! `POST /ci/api/v1/runners/register` and `DELETE /ci/api/v1/runners/delete`: reference section 8.2.

use hexforge_domain::build::Tags;
use hexforge_domain::id::{ProjectId, RunnerId};
use hexforge_domain::runner::{Runner as Stored, RunnerInfo};
use hexforge_tests::forge::RUNNERS;
use hexforge_tests::runner::call;
use hexforge_tests::{Forge, on_every_store};
use serde_json::json;

use crate::api::ci::runner_support::{CiProject, TWO_STAGES, shared_runner};
use crate::api::support::{id_of, message, no_route, read_store};

on_every_store!(
    the_token_of_the_service_makes_a_shared_runner,
    the_token_of_a_project_makes_a_runner_of_that_project,
    registering_needs_a_valid_token,
    a_runner_that_could_take_no_build_is_refused,
    tags_come_as_a_list_or_with_commas,
    a_runner_is_removed_by_its_token,
    unknown_routes_for_runners_are_404,
);

fn stored(forge: &Forge, id: i64) -> Stored {
    read_store(forge, |tx| tx.runners().find(RunnerId(id))).expect("the runner is there")
}

/// "the instance's registration token (HEXFORGE_RUNNERS_TOKEN) makes a shared runner", with all optional fields.
fn the_token_of_the_service_makes_a_shared_runner(forge: &Forge) {
    let made = call(forge.address, "POST", "/runners/register.json")
        .json(&json!({
            "token": RUNNERS, "description": "the big one", "tag_list": "ruby, linux",
            "run_untagged": false, "locked": true,
            "info": {"name": "gitlab-ci-multi-runner", "version": "1.5.2", "revision": "76fdacd",
                     "platform": "linux", "architecture": "amd64"},
        }))
        .send()
        .expect(201);
    let fields: Vec<&String> = made.as_object().expect("an object").keys().collect();
    assert_eq!(fields, ["id", "token"]);
    let runner = stored(forge, id_of(&made));
    assert_eq!(runner.description, "the big one");
    assert!(runner.shared && runner.active && runner.locked && !runner.run_untagged);
    assert_eq!(runner.tags, Tags::from_iter(["linux", "ruby"]));
    let text = |text: &str| Some(text.to_owned());
    let info = RunnerInfo {
        name: text("gitlab-ci-multi-runner"),
        version: text("1.5.2"),
        revision: text("76fdacd"),
        platform: text("linux"),
        architecture: text("amd64"),
    };
    assert_eq!(runner.info, info);
}

/// "a project's `runners_token` … makes a runner bound to that project", with the defaults of optional fields.
fn the_token_of_a_project_makes_a_runner_of_that_project(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    let fields = [("token", ci_project.runners_token.as_str()), ("info[name]", "mine")];
    let made = call(forge.address, "POST", "/runners/register").form(&fields).send().expect(201);
    let runner = stored(forge, id_of(&made));
    assert!(!runner.shared && !runner.locked && runner.run_untagged && runner.tags.is_empty());
    assert_eq!((runner.description.as_str(), runner.info.name.as_deref()), ("", Some("mine")));
    let projects = read_store(forge, |tx| tx.runners().newest_projects(runner.id, None, 9));
    assert_eq!(projects, [ProjectId(ci_project.project)]);
}

/// "`token` required (else 400 …) … any other 403".
fn registering_needs_a_valid_token(forge: &Forge) {
    let register = |fields: &[(&str, &str)]| {
        call(forge.address, "POST", "/runners/register").form(fields).send()
    };
    let missing = message("400 (Bad request) \"token\" not given");
    assert_eq!(register(&[]).expect(400), missing);
    assert_eq!(register(&[("token", "")]).expect(400), missing);
    let runner = shared_runner(forge, &[]);
    for token in ["wrong", "1-wrong", &runner.token, "0"] {
        assert_eq!(register(&[("token", token)]).expect(403), message("403 Forbidden"));
    }
}

/// "Not allowed to run untagged jobs and without tags: 404."
fn a_runner_that_could_take_no_build_is_refused(forge: &Forge) {
    let fields = [("token", RUNNERS), ("run_untagged", "false"), ("tag_list", " , ")];
    let refused = call(forge.address, "POST", "/runners/register").form(&fields).send();
    assert_eq!(refused.expect(404), message("404 Not Found"));
}

/// "`tag_list` (array or comma-separated)".
fn tags_come_as_a_list_or_with_commas(forge: &Forge) {
    let tags = |fields: &[(&str, &str)]| stored(forge, shared_runner(forge, fields).id).tags;
    let both = Tags::from_iter(["a", "b"]);
    assert_eq!(tags(&[("tag_list", "b, a")]), both);
    assert_eq!(tags(&[("tag_list[]", "a"), ("tag_list[]", "b")]), both);
    assert_eq!(tags(&[]), Tags::default());
}

/// "`token` of the runner. 200; 403 unknown; 400 absent."
fn a_runner_is_removed_by_its_token(forge: &Forge) {
    let (runner, other) = (shared_runner(forge, &[]), shared_runner(forge, &[]));
    let delete = |fields: &[(&str, &str)]| {
        call(forge.address, "DELETE", "/runners/delete").form(fields).send()
    };
    let missing = message("400 (Bad request) \"token\" not given");
    assert_eq!(delete(&[]).expect(400), missing);
    assert_eq!(delete(&[("token", "wrong")]).expect(403), message("403 Forbidden"));
    delete(&[("token", &runner.token)]).expect(200);
    assert_eq!(delete(&[("token", &runner.token)]).expect(403), message("403 Forbidden"));
    assert_eq!(read_store(forge, |tx| tx.runners().find(RunnerId(runner.id))), None);
    assert_eq!(other.take(), None);
    assert_eq!(runner.build_request().send().expect(403), message("403 Forbidden"));
}

fn unknown_routes_for_runners_are_404(forge: &Forge) {
    for (method, path) in [("GET", "/runners/register"), ("POST", "/nothing"), ("GET", "")] {
        assert_eq!(call(forge.address, method, path).send().expect(404), no_route(), "{path}");
    }
}
