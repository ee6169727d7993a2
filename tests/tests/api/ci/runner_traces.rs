//! Logs in pieces: reference section 8.2, "PATCH /ci/api/v1/builds/:id/trace.txt".

use chrono::TimeDelta;
use hexforge_application::build::expiry;
use hexforge_tests::runner::{call, token_of};
use hexforge_tests::{Forge, Runner, on_every_store};
use serde_json::Value;

use crate::api::ci::runner_support::{CiProject, TWO_STAGES, shared_runner};
use crate::api::support::message;

on_every_store!(
    pieces_are_put_together,
    a_piece_begins_where_the_log_ends,
    only_the_token_of_the_build_opens_its_log,
    the_token_of_a_finished_build_adds_nothing,
    bytes_are_kept_as_they_come,
    a_log_that_grows_keeps_its_build_alive,
);

fn running_build(forge: &Forge) -> (CiProject<'_>, Runner, Value) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    ci_project.pipeline();
    let runner = shared_runner(forge, &[]);
    let build = runner.take().expect("it waits");
    (ci_project, runner, build)
}

/// "202 with headers `Build-Status: <status>` and `Range: 0-<length>`"
fn pieces_are_put_together(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge);
    let last = runner.log(&build, &["one\n", "", "two\n", "three"]);
    assert_eq!(last.header("build-status"), Some("running"));
    assert_eq!(last.header("range"), Some("0-13"));
    assert!(last.body.is_empty());
    assert_eq!(ci_project.trace(&build), "one\ntwo\nthree");
}

/// "400 without Content-Range; 416 with `Range: 0-<length>` when `<first>` is not the present length"
fn a_piece_begins_where_the_log_ends(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge);
    runner.log(&build, &["hello"]);
    for first in [0, 4, 6, 100] {
        let refused = runner.append_request(&build, first, "x").send();
        assert_eq!((refused.status, refused.header("range")), (416, Some("0-5")), "{first}");
    }
    let path = format!("/builds/{}/trace.txt", build["id"]);
    let bare =
        || call(forge.address, "PATCH", &path).header("BUILD-TOKEN", token_of(&build)).body("x");
    bare().send().expect(400);
    assert_eq!(bare().header("Content-Range", "nonsense").send().status, 416);
    assert_eq!(ci_project.trace(&build), "hello");
    assert_eq!(bare().header("Content-Range", "5-5").send().status, 202);
    assert_eq!(ci_project.trace(&build), "hellox");
}

/// "403 wrong token or erased; 404 unknown build"; the token may be a parameter.
fn only_the_token_of_the_build_opens_its_log(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge);
    let path = format!("/builds/{}/trace.txt", build["id"]);
    let patch = |path: &str, token: &str| {
        let request = call(forge.address, "PATCH", path).header("Content-Range", "0-0");
        request.header("BUILD-TOKEN", token).body("x").send()
    };
    for token in ["", "wrong", &runner.token] {
        assert_eq!(patch(&path, token).expect(403), message("403 Forbidden"));
    }
    let token = token_of(&build);
    assert_eq!(patch("/builds/987654/trace.txt", token).expect(404), message("404 Not Found"));
    assert_eq!(patch("/builds/x/trace.txt", token).expect(404), message("404 Not Found"));
    let query = format!("{path}?token={token}");
    assert_eq!(patch(&query, "wrong").status, 202);
    runner.end(&build, "failed");
    ci_project.post_action(&build, "erase");
    assert_eq!(patch(&path, token).expect(403), message("403 Forbidden  - Build has been erased!"));
}

/// The `Content-Type` of a piece does not matter.
fn bytes_are_kept_as_they_come(forge: &Forge) {
    let (ci_project, _, build) = running_build(forge);
    let bytes = b"\x1b[32m{\"a\": 1}\xff\0\r\n".to_vec();
    let path = format!("/builds/{}/trace.txt", build["id"]);
    let sent = call(forge.address, "PATCH", &path)
        .header("BUILD-TOKEN", token_of(&build))
        .header("Content-Type", "application/json")
        .header("Content-Range", "0-16")
        .body(bytes.clone())
        .send();
    assert_eq!(sent.status, 202);
    let path = ci_project.path(&format!("/builds/{}/trace", build["id"]));
    assert_eq!(forge.get(&path).token(&ci_project.owner).send().body, bytes);
}

/// A running build fails when its runner is silent for minutes: a piece of a log is an update.
fn a_log_that_grows_keeps_its_build_alive(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge);
    let silent =
        || expiry::fail_silent_builds(&forge.app, &|| true).expect("the store can be written");
    forge.clock.advance(TimeDelta::minutes(4));
    runner.log(&build, &["still here\n"]);
    forge.clock.advance(TimeDelta::minutes(4));
    assert_eq!(silent(), 0);
    runner.update_request(&build, &[]).send().expect(200);
    forge.clock.advance(TimeDelta::minutes(4));
    assert_eq!(silent(), 0);
    forge.clock.advance(TimeDelta::minutes(1));
    assert_eq!(silent(), 1);
    assert_eq!(ci_project.build(&build)["status"], "failed");
    assert_eq!(runner.update_request(&build, &[]).send().expect(404), message("404 Not found"));
}

/// The token of a build becomes invalid when the build ends. The last update of a runner carries the rest of the log.
fn the_token_of_a_finished_build_adds_nothing(forge: &Forge) {
    for state in ["success", "failed"] {
        let owner = format!("owner-{state}");
        let ci_project = CiProject::new(forge, &owner, TWO_STAGES);
        ci_project.pipeline();
        let runner = ci_project.runner(&[]);
        let build = runner.take().expect("it waits");
        runner.log(&build, &["hello\n"]);
        let report = [("state", state), ("trace", "hello\nthe end\n")];
        runner.update_request(&build, &report).send().expect(200);
        for piece in ["", "more\n"] {
            let refused = runner.append_request(&build, 14, piece).send().expect(403);
            assert_eq!(refused, message("403 Forbidden  - build is not running"), "{state}");
        }
        assert_eq!(ci_project.trace(&build), "hello\nthe end\n", "{state}");
    }
}
