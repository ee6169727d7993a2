//! `POST /ci/api/v1/builds/:id/artifacts`, `GET /ci/api/v1/builds/:id/artifacts` and
//! `DELETE /ci/api/v1/builds/:id/artifacts`: reference section 8.2, "Artifacts".

use std::net::Ipv4Addr;
use std::pin::pin;
use std::task::{Context, Poll, Waker};

use chrono::TimeDelta;
use hexforge_domain::limiter::Caller;
use hexforge_tests::forge::MAX_ARTIFACTS;
use hexforge_tests::runner::{call, token_of};
use hexforge_tests::{Forge, Runner, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::runner_support::{CiProject, TWO_STAGES, shared_runner};
use crate::api::support::message;

on_every_store!(
    artifacts_are_kept_and_given_back,
    artifacts_expire_when_they_are_told_to,
    parameters_after_the_file_count,
    without_a_file_there_are_no_artifacts,
    only_running_builds_bring_artifacts,
    artifacts_have_a_limit,
    artifacts_are_brought_for_the_user_of_the_build,
    artifacts_are_removed,
);

fn running_build(forge: &Forge) -> (CiProject<'_>, Runner, Value) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    ci_project.pipeline();
    let runner = shared_runner(forge, &[]);
    let build = runner.take().expect("it waits");
    (ci_project, runner, build)
}

/// "201 the build as in register"; the stored file can be downloaded.
fn artifacts_are_kept_and_given_back(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge);
    assert_eq!(runner.artifacts("GET", &build).send().expect(404), message("404 Not Found"));
    let kept = runner.artifacts("POST", &build).file("a.zip", b"one").send().expect(201);
    assert_eq!(kept["artifacts_file"], json!({"filename": "a.zip", "size": 3}));
    assert_eq!(kept["artifacts_expire_at"], Value::Null);
    for (field, value) in build.as_object().expect("an object") {
        assert_eq!(&kept[field], value, "{field}");
    }
    let parts: [(&str, &[u8]); 2] = [
        ("name=\"metadata\"; filename=\"metadata.gz\"", b"about it"),
        ("name=\"file\"; filename=\"../b c.zip\"", b"\0\xff two"),
    ];
    let again = runner.artifacts("POST", &build).form_data(&parts).send().expect(201);
    assert_eq!(again["artifacts_file"]["size"], 6);
    let fetched = runner.artifacts("GET", &build).send();
    assert_eq!((fetched.status, fetched.body.as_slice()), (200, &b"\0\xff two"[..]));
    assert_eq!(fetched.header("content-disposition"), Some("attachment; filename=b_c.zip"));
    runner.end(&build, "success");
    let late = message("403 Forbidden  - build is not running");
    assert_eq!(runner.artifacts("GET", &build).send().expect(403), late, "the build has ended");
    let next = runner.take().expect("the second stage follows");
    assert_eq!(runner.artifacts("GET", &build).send().status, 200, "the next build needs them");
    assert_eq!(runner.artifacts("DELETE", &build).send().expect(403), late);
    runner.end(&next, "success");
    assert_eq!(runner.artifacts("GET", &build).send().expect(403), late, "everything is done");
    assert_eq!(runner.artifacts("DELETE", &build).send().expect(403), late);
    let path = ci_project.path(&format!("/builds/{}/artifacts", build["id"]));
    assert_eq!(forge.get(&path).token(&ci_project.owner).send().body, b"\0\xff two");
}

/// "`expire_in`"
fn artifacts_expire_when_they_are_told_to(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge);
    let query = [("expire_in", "1 hour")];
    let kept =
        runner.artifacts("POST", &build).query(&query).file("a.zip", b"x").send().expect(201);
    assert!(kept["artifacts_expire_at"].is_string());
    forge.clock.advance(TimeDelta::minutes(59));
    assert_eq!(runner.artifacts("GET", &build).send().status, 200);
    forge.clock.advance(TimeDelta::minutes(1));
    runner.artifacts("GET", &build).send().expect(404);
    assert_eq!(ci_project.build(&build).get("artifacts_file"), None);
    let wrong = [("expire_in", "soon")];
    let refused = runner.artifacts("POST", &build).query(&wrong).file("a.zip", b"x").send();
    assert_eq!(refused.expect(400), json!({"error": "expire_in is invalid"}));
}

/// "multipart `file`, optional `metadata`, `expire_in`", in any order
fn parameters_after_the_file_count(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge);
    let send = |expiry: &'static [u8]| {
        let parts: [(&str, &[u8]); 3] = [
            ("name=\"file\"; filename=\"a.zip\"", b"x"),
            ("name=\"metadata\"; filename=\"metadata.gz\"", b"about it"),
            ("name=\"expire_in\"", expiry),
        ];
        runner.artifacts("POST", &build).form_data(&parts).send()
    };
    for unreadable in [&b"soon"[..], b"\xff"] {
        send(unreadable).expect(400);
        assert_eq!(ci_project.build(&build).get("artifacts_file"), None, "nothing of it stays");
    }
    assert!(send(b"1 hour").expect(201)["artifacts_expire_at"].is_string());
    forge.clock.advance(TimeDelta::minutes(60));
    runner.artifacts("GET", &build).send().expect(404);
}

/// "400 `400 (Bad request) "Missing artifacts file!" not given`"
fn without_a_file_there_are_no_artifacts(forge: &Forge) {
    let (_, runner, build) = running_build(forge);
    let missing = message("400 (Bad request) \"Missing artifacts file!\" not given");
    assert_eq!(runner.artifacts("POST", &build).send().expect(400), missing);
    let text = runner.artifacts("POST", &build).multipart(&[("file", "no file")]).send();
    assert_eq!(text.expect(400), missing);
}

/// "403 not running"; 404 for unknown builds, 403 for wrong tokens.
fn only_running_builds_bring_artifacts(forge: &Forge) {
    let (_, runner, build) = running_build(forge);
    let path = format!("/builds/{}/artifacts", build["id"]);
    for method in ["POST", "GET", "DELETE"] {
        let with = |path: &str, token: &str| {
            call(forge.address, method, path).header("BUILD-TOKEN", token).send()
        };
        assert_eq!(with(&path, "wrong").expect(403), message("403 Forbidden"), "{method}");
        assert_eq!(with(&path, &runner.token).expect(403), message("403 Forbidden"), "{method}");
        let unknown = with("/builds/987654/artifacts", token_of(&build)).expect(404);
        assert_eq!(unknown, message("404 Not Found"), "{method}");
    }
    runner.end(&build, "success");
    let late = runner.artifacts("POST", &build).file("a.zip", b"x").send().expect(403);
    assert_eq!(late, message("403 Forbidden  - build is not running"));
}

/// "413 over the limit"; nothing is stored.
fn artifacts_have_a_limit(forge: &Forge) {
    let (_, runner, build) = running_build(forge);
    let most = vec![b'x'; MAX_ARTIFACTS];
    runner.artifacts("POST", &build).file("a.zip", &most).send().expect(201);
    let more = vec![b'y'; MAX_ARTIFACTS + 1];
    let refused = runner.artifacts("POST", &build).file("b.zip", &more).send().expect(413);
    assert_eq!(refused, message("413 Request Entity Too Large"));
    assert_eq!(runner.artifacts("GET", &build).send().body, most);
}

/// "GET and DELETE on the same path: the file; 200."
fn artifacts_are_removed(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge);
    runner.artifacts("POST", &build).file("a.zip", b"x").send().expect(201);
    runner.artifacts("DELETE", &build).send().expect(200);
    runner.artifacts("GET", &build).send().expect(404);
    runner.artifacts("DELETE", &build).send().expect(200);
    assert_eq!(ci_project.build(&build).get("artifacts_file"), None);
    assert_eq!(ci_project.build(&build)["status"], "running");
}

/// Runners of many users share an address and are not signed in. Their uploads count for the users who pushed, so that
/// builds of one user do not delay those of others.
fn artifacts_are_brought_for_the_user_of_the_build(forge: &Forge) {
    let (_ci_project, runner, build) = running_build(forge);
    let address = Some(Ipv4Addr::LOCALHOST.into());
    let pool = &forge.limiter().uploads;
    let mut held = Vec::new();
    let mut context = Context::from_waker(Waker::noop());
    while let Poll::Ready(permit) =
        pin!(pool.wait_for_permit(Caller::anonymous(address))).as_mut().poll(&mut context)
    {
        held.push(permit.expect("the queue is empty"));
    }
    assert_eq!(held.len(), 16, "the share of callers who are not signed in");
    runner.artifacts("POST", &build).file("a.zip", b"one").send().expect(201);
    let large = vec![7; 1 << 20];
    runner.artifacts("POST", &build).file("a.zip", &large).send().expect(201);
    let fetched = runner.artifacts("GET", &build).send();
    assert!(fetched.status == 200 && fetched.body == large);
}
