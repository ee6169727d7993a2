//! What real runners do and the reference does not tell: long logs, slow bodies, information about themselves, many
//! requests, and runners that go away.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

use chrono::TimeDelta;
use hexforge_application::build::expiry;
use hexforge_domain::ci::status::Status;
use hexforge_domain::id::BuildId;
use hexforge_domain::limiter::TransferLimits;
use hexforge_domain::ports::store::StoreError;
use hexforge_http_actix::{Dialect, RateLimits};
use hexforge_tests::forge::{ROOT, RUNNERS};
use hexforge_tests::runner::{call, token_of};
use hexforge_tests::{Backend, Forge, ForgeOptions, Request, Restrictions, Runner, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::runner_support::{CiProject, TWO_STAGES, shared_runner};
use crate::api::support::message;

on_every_store!(
    a_final_update_may_contain_a_long_log,
    a_final_update_of_any_length_sets_the_state,
    refusals_come_before_the_log_is_read,
    a_long_piece_is_appended,
    a_piece_without_an_offset_is_refused,
    information_is_read_key_by_key,
    a_silent_runner_fails_its_builds_after_minutes,
    a_report_that_still_arrives_is_a_sign_of_life,
    a_build_that_its_runner_never_got_waits_again,
    the_end_of_a_log_is_compared_with_what_was_sent,
    builds_of_a_removed_runner_fail_at_once,
    time_limit_and_strategy_come_from_the_project,
    entries_of_scripts_are_given_to_runners_that_ask,
    a_request_may_wait_for_a_build,
);

fn running_build<'a>(forge: &'a Forge, owner: &str) -> (CiProject<'a>, Runner, Value) {
    let ci_project = CiProject::new(forge, owner, TWO_STAGES);
    ci_project.pipeline();
    let runner = ci_project.runner(&[]);
    let build = runner.take().expect("it waits");
    (ci_project, runner, build)
}

/// The final update of real runners: a JSON object with the whole log as its last member.
fn final_update(forge: &Forge, token: &str, build: &Value, trace: &str) -> Request {
    let request = call(forge.address, "PUT", &format!("/builds/{}.json", build["id"]));
    let info = json!({"name": "gitlab-ci-multi-runner", "features": {"variables": true}});
    request.json(&json!({"info": info, "token": token, "state": "success", "trace": trace}))
}

/// More than any other body may have.
fn long_log() -> String {
    "\u{1b}[32m$ make\u{1b}[0m \"quoted\" ünï 🦀\n".repeat(12 << 20 >> 5)
}

fn a_final_update_may_contain_a_long_log(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge, "ada");
    let log = long_log();
    assert!(log.len() > 12 << 20);
    final_update(forge, &runner.token, &build, &log).send().expect(200);
    assert_eq!(ci_project.build(&build)["status"], "success");
    assert!(ci_project.trace(&build) == log);
}

/// The log is cut, and the rest of it is read and discarded.
fn a_final_update_of_any_length_sets_the_state(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge, "ada");
    let head = format!(r#"{{"token":"{}","state":"success","trace":""#, runner.token);
    let (block, blocks) = (vec![b'x'; 4 << 20], 49);
    let length = head.len() + blocks * block.len() + 2;
    let mut stream = TcpStream::connect(forge.address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("it can be set");
    let request = format!(
        "PUT /ci/api/v1/builds/{}.json HTTP/1.1\r\nHost: forge.test\r\n\
         Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n{head}",
        build["id"]
    );
    stream.write_all(request.as_bytes()).expect("it is read");
    for _ in 0..blocks {
        stream.write_all(&block).expect("it is read");
    }
    stream.write_all(b"\"}").expect("it is read");
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("it answers");
    assert_eq!(String::from_utf8_lossy(&answer), "HTTP/1.1 200");
    assert_eq!(ci_project.build(&build)["status"], "success");
    let log = ci_project.trace(&build);
    assert!(log.len() < 65 << 20 && log.starts_with("xxx"), "{}", log.len());
}

/// "403 and 404 first": the server answers although the client sends only the beginning of a long body.
fn refusals_come_before_the_log_is_read(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge, "ada");
    let begin = |token: &str, id: &Value| {
        let head = json!({"token": token, "state": "success", "trace": long_log()}).to_string();
        let length = head.len() * 5;
        let request = format!(
            "PUT /ci/api/v1/builds/{id}.json HTTP/1.1\r\nHost: forge.test\r\n\
             Content-Type: application/json\r\nContent-Length: {length}\r\n\r\n"
        );
        let mut stream = TcpStream::connect(forge.address).expect("it listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("it can be set");
        stream.write_all(request.as_bytes()).expect("it is read");
        // The server may stop reading at any time.
        let _ = stream.write_all(&head.as_bytes()[..2 << 20]);
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).expect("it answers before the end of the body");
        String::from_utf8_lossy(&answer).into_owned()
    };
    assert_eq!(begin("wrong", &build["id"]), "HTTP/1.1 403");
    assert_eq!(begin(&runner.token, &json!(987_654)), "HTTP/1.1 404");
    ci_project.post_action(&build, "cancel");
    assert_eq!(begin(&runner.token, &build["id"]), "HTTP/1.1 404");
}

fn a_long_piece_is_appended(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge, "ada");
    let log = long_log();
    let answer = runner.append_request(&build, 0, &log).send();
    assert_eq!(answer.status, 202);
    assert_eq!(answer.header("range"), Some(format!("0-{}", log.len()).as_str()));
    assert!(ci_project.trace(&build) == log);
    let long = log.clone();
    let request = call(forge.address, "PATCH", &format!("/builds/{}/trace.txt", build["id"]));
    let request = request.header("BUILD-TOKEN", "wrong").header("Content-Range", "0-1").body(long);
    assert_eq!(request.send().expect(403), message("403 Forbidden"));
}

fn a_piece_without_an_offset_is_refused(forge: &Forge) {
    let (_, _, build) = running_build(forge, "ada");
    let request = call(forge.address, "PATCH", &format!("/builds/{}/trace.txt", build["id"]));
    let refused = request.header("BUILD-TOKEN", token_of(&build)).body("x").send().expect(400);
    assert_eq!(refused, json!({"error": "400 Missing header Content-Range"}));
}

fn information_is_read_key_by_key(forge: &Forge) {
    let info = |version: &str| {
        json!({
            "name": "gitlab-ci-multi-runner", "version": version, "revision": 7, "platform": "linux",
            "architecture": "amd64", "features": {"variables": true, "image": false},
        })
    };
    let body = json!({"token": RUNNERS, "info": info("1.11.5")});
    let made = call(forge.address, "POST", "/runners/register.json").json(&body).send().expect(201);
    let shown = || {
        let path = format!("/runners/{}", made["id"]);
        let shown = forge.get(&path).token(ROOT).send().expect(200);
        ["name", "version", "revision", "platform", "architecture"].map(|key| shown[key].clone())
    };
    let expected = |version: &str| {
        [
            json!("gitlab-ci-multi-runner"),
            json!(version),
            Value::Null,
            json!("linux"),
            json!("amd64"),
        ]
    };
    assert_eq!(shown(), expected("1.11.5"));
    let body = json!({"token": made["token"], "info": info("1.11.6")});
    call(forge.address, "POST", "/builds/register.json").json(&body).send().expect(404);
    assert_eq!(shown(), expected("1.11.6"));
    // What a runner does not report stays as it was.
    let body = json!({"token": made["token"], "info": {"version": "9.9"}});
    call(forge.address, "POST", "/builds/register.json").json(&body).send().expect(404);
    assert_eq!(shown(), expected("9.9"));
}

/// Default minutes since the last sign of life; a build that waits for a runner is not affected.
fn a_silent_runner_fails_its_builds_after_minutes(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge, "ada");
    ci_project.pipeline();
    let failed =
        || expiry::fail_silent_builds(&forge.app, &|| true).expect("the store can be written");
    for piece in ["", "x", ""] {
        forge.clock.advance(TimeDelta::minutes(4));
        let length = ci_project.trace(&build).len();
        assert_eq!(runner.append_request(&build, length, piece).send().status, 202);
        assert_eq!(failed(), 0);
    }
    forge.clock.advance(TimeDelta::minutes(6));
    assert_eq!(failed(), 1);
    assert_eq!(ci_project.build(&build)["status"], "failed");
    let waiting = runner.take().expect("the other build waits");
    assert_ne!(waiting["id"], build["id"]);
}

/// A long log on a slow line takes longer than a runner may be silent.
fn a_report_that_still_arrives_is_a_sign_of_life(forge: &Forge) {
    let (ci_project, runner, build) = running_build(forge, "ada");
    let id = BuildId(build["id"].as_i64().expect("it is a number"));
    let log = "x".repeat(4 << 20);
    let body = json!({"state": "success", "token": runner.token, "trace": log}).to_string();
    let head = format!(
        "PUT /ci/api/v1/builds/{id}.json HTTP/1.1\r\nHost: forge.test\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    let mut stream = TcpStream::connect(forge.address).expect("it listens");
    stream.write_all(head.as_bytes()).expect("it is read");
    for piece in body.as_bytes().chunks(body.len() / 3 + 1) {
        forge.clock.advance(TimeDelta::minutes(4));
        stream.write_all(piece).expect("it is read");
        let since = Instant::now();
        let is_noted = || {
            let found = forge.app.store.read::<_, StoreError>(|tx| tx.builds().find(id));
            let found = found.expect("it can be read").expect("it exists");
            found.status != Status::Running || found.updated_at == forge.app.clock.now()
        };
        while !is_noted() {
            assert!(since.elapsed() < Duration::from_secs(20), "the report is no sign of life");
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(expiry::fail_silent_builds(&forge.app, &|| true).expect("it can"), 0);
    }
    let mut answer = [0; 12];
    stream.read_exact(&mut answer).expect("it answers");
    assert_eq!(&answer, b"HTTP/1.1 200");
    assert_eq!(ci_project.build(&build)["status"], "success");
    assert_eq!(ci_project.trace(&build).len(), log.len());
}

/// Only runners that report about a new build at once lose it. Older ones may prepare for minutes.
fn a_build_that_its_runner_never_got_waits_again(forge: &Forge) {
    let lost = || expiry::requeue_lost_builds(&forge.app).expect("the store can be written");
    for (owner, name, returned) in
        [("ada", "gitlab-ci-multi-runner", 0), ("bob", "hexforge-runner", 1)]
    {
        let ci_project = CiProject::new(forge, owner, "job: {script: [a]}\nother: {script: [a]}\n");
        ci_project.pipeline();
        let runner = ci_project.runner(&[]);
        let take = || {
            let body = json!({"token": runner.token, "info": {"name": name}});
            call(forge.address, "POST", "/builds/register.json").json(&body).send().expect(201)
        };
        let (build, reported) = (take(), take());
        forge.clock.advance(TimeDelta::seconds(5));
        assert_eq!(runner.append_request(&reported, 0, "").send().status, 202);
        forge.clock.advance(TimeDelta::seconds(20));
        assert_eq!(lost(), 0);
        forge.clock.advance(TimeDelta::seconds(10));
        assert_eq!(lost(), returned, "{name}");
        assert_eq!(ci_project.build(&reported)["status"], "running");
        if returned == 1 {
            let shown = ci_project.build(&build);
            assert_eq!((&shown["status"], &shown["runner"]), (&json!("pending"), &Value::Null));
            assert_eq!(shown["started_at"], Value::Null);
            assert_eq!(runner.append_request(&build, 0, "late").send().status, 403);
            let again = take();
            assert_eq!(again["id"], build["id"]);
            assert_eq!(runner.append_request(&again, 0, "").send().status, 202);
        }
        assert_eq!(lost(), 0);
    }
}

fn the_end_of_a_log_is_compared_with_what_was_sent(forge: &Forge) {
    let end = |runner: &Runner, build: &Value, length: &str, checksum: &str| {
        let fields = [("state", "success"), ("trace_length", length), ("trace_checksum", checksum)];
        runner.update_request(build, &fields).send()
    };
    let (ci_project, runner, build) = running_build(forge, "ada");
    assert_eq!(runner.append_request(&build, 0, "1234").send().status, 202);
    let short = end(&runner, &build, "9", "crc32:cbf43926");
    assert_eq!((short.status, short.header("Range")), (416, Some("0-4")));
    assert_eq!(ci_project.build(&build)["status"], "running");
    assert_eq!(runner.append_request(&build, 4, "56789").send().status, 202);
    end(&runner, &build, "9", "crc32:cbf43926").expect(200);
    assert_eq!(ci_project.build(&build)["status"], "success");
    assert_eq!(ci_project.trace(&build), "123456789");

    let (ci_project, runner, build) = running_build(forge, "bob");
    assert_eq!(runner.append_request(&build, 0, "12345678?").send().status, 202);
    end(&runner, &build, "9", "crc32:cbf43926").expect(200);
    assert_eq!(ci_project.build(&build)["status"], "success");
    assert!(ci_project.trace(&build).contains("WARNING: this log is damaged"));

    let (_, runner, build) = running_build(forge, "eve");
    end(&runner, &build, "0", "crc32:00000000").expect(200);
}

fn builds_of_a_removed_runner_fail_at_once(forge: &Forge) {
    for (owner, way) in [("ada", "runner"), ("bob", "api")] {
        let (ci_project, runner, build) = running_build(forge, owner);
        match way {
            "runner" => {
                let request = call(forge.address, "DELETE", "/runners/delete");
                request.form(&[("token", &runner.token)]).send().expect(200);
            }
            _ => {
                forge.delete(&format!("/runners/{}", runner.id)).token(ROOT).send().expect(200);
            }
        }
        let shown = ci_project.build(&build);
        assert_eq!((&shown["status"], &shown["runner"]), (&json!("failed"), &Value::Null), "{way}");
    }
}

fn time_limit_and_strategy_come_from_the_project(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    let runner = shared_runner(forge, &[]);
    let given = || {
        ci_project.pipeline();
        let build = runner.take().expect("it waits");
        (build["timeout"].clone(), build["allow_git_fetch"].clone())
    };
    assert_eq!(given(), (json!(3600), json!(true)));
    ci_project.set("build_timeout", "7200");
    ci_project.set("build_allow_git_fetch", "false");
    assert_eq!(given(), (json!(7200), json!(false)));
    let shown = forge.get(&ci_project.path("")).token(&ci_project.owner).send().expect(200);
    assert_eq!(
        (&shown["build_timeout"], &shown["build_allow_git_fetch"]),
        (&json!(7200), &json!(false))
    );
    let wrong = forge.put(&ci_project.path("")).token(&ci_project.owner);
    let wrong = wrong.form(&[("name", "Ship"), ("build_timeout", "1")]).send().expect(400);
    assert_eq!(wrong["message"]["build_timeout"][0], "must be between 5 and 2592000 seconds");
    assert_eq!(given(), (json!(7200), json!(false)));
}

fn entries_of_scripts_are_given_to_runners_that_ask(forge: &Forge) {
    let configuration = "before_script: [\"a\\nb\"]\njob: {script: [c, \"d\\ne\"]}\n";
    let ci_project = CiProject::new(forge, "ada", configuration);
    let runner = shared_runner(forge, &[]);
    let given = |parameters: &[(&str, &str)]| {
        ci_project.pipeline();
        let request = call(forge.address, "POST", "/builds/register.json");
        let form = [&[("token", runner.token.as_str())], parameters].concat();
        let build = request.form(&form).send().expect(201);
        assert_eq!(build["commands"], "a\nb\nc\nd\ne");
        build["options"].clone()
    };
    assert_eq!(given(&[]), json!({}));
    assert_eq!(given(&[("entries", "false")]), json!({}));
    assert_eq!(given(&[("entries", "true")]), json!({ "script": ["a\nb", "c", "d\ne"] }));
}

fn a_request_may_wait_for_a_build(forge: &Forge) {
    let ci_project = CiProject::new(forge, "ada", TWO_STAGES);
    let runner = shared_runner(forge, &[]);
    let ask = |wait: &str| {
        let request = call(forge.address, "POST", "/builds/register.json");
        let request = request.header("User-Agent", hexforge_tests::runner::AGENT);
        request.form(&[("token", &*runner.token), ("wait", wait)]).send()
    };
    let since = Instant::now();
    assert_eq!(ask("1").status, 204);
    assert!((Duration::from_millis(500)..Duration::from_secs(5)).contains(&since.elapsed()));
    for nonsense in ["0", "-5", "x", ""] {
        assert_eq!(ask(nonsense).status, 204);
    }
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| (ask("8").status, Instant::now()));
        std::thread::sleep(Duration::from_millis(600));
        ci_project.pipeline();
        let created = Instant::now();
        let (status, answered) = waiting.join().expect("no thread panics");
        assert_eq!(status, 201);
        assert!(answered.saturating_duration_since(created) < Duration::from_secs(2));
    });
}

fn restricted(restrictions: Restrictions) -> Forge {
    let options = ForgeOptions { backend: Backend::Fake, dialect: Dialect::Specification };
    Forge::start_restricted(options, restrictions).expect("the fake is always there")
}

/// Polling does not use up the requests of uploads, and the requests of one runner not those of another.
#[test]
fn runners_and_builds_count_for_their_own_tokens() {
    let rate_limits =
        RateLimits { per_token: NonZeroU32::new(30), per_address: NonZeroU32::new(25) };
    let forge = restricted(Restrictions { rate_limits, ..Restrictions::default() });
    let ci_project = CiProject::new(&forge, "ada", TWO_STAGES);
    ci_project.pipeline();
    let (one, other) = (shared_runner(&forge, &[]), shared_runner(&forge, &[]));
    let build = one.take().expect("it waits");
    let mut polls = (0..40).map(|_| one.build_request().send().status);
    assert_eq!(polls.by_ref().take_while(|status| *status == 204).count(), 30);
    let refused = one.build_request().send();
    assert_eq!(refused.expect(429), message("429 Too Many Requests"));
    assert_eq!(refused.header("Retry-After"), Some("60"));
    for piece in 0..20 {
        assert_eq!(one.append_request(&build, piece, "x").send().status, 202);
    }
    assert_eq!(other.build_request().send().status, 204);
    // Made-up tokens count for the address.
    let made_up = |n: usize| {
        let request = call(forge.address, "POST", "/builds/register.json");
        request.form(&[("token", format!("made-up-{n}").as_str())]).send().status
    };
    assert!((0..30).any(|n| made_up(n) == 429));
    assert_eq!(other.build_request().send().status, 204);
    // A long report is one request.
    ci_project.pipeline();
    let build = other.take().expect("it waits");
    let log = "x".repeat(12 << 20);
    final_update(&forge, &other.token, &build, &log).send().expect(200);
}

/// A minimum rate, and no limit on the total time.
#[test]
fn slow_bodies_are_read_and_stalled_ones_are_not() {
    let transfer = TransferLimits { idle: Duration::from_millis(400), min_rate: 100 };
    let forge = restricted(Restrictions { transfer, ..Restrictions::default() });
    let (ci_project, runner, build) = running_build(&forge, "ada");
    let send = |method: &str, path: &str, head: &str, body: &str, stalls: bool| {
        let request = format!(
            "{method} /ci/api/v1/builds/{}{path} HTTP/1.1\r\nHost: forge.test\r\n{head}\
             Content-Length: {}\r\nConnection: close\r\n\r\n",
            build["id"],
            body.len()
        );
        let mut stream = TcpStream::connect(forge.address).expect("it listens");
        stream.write_all(request.as_bytes()).expect("it is read");
        for piece in body.as_bytes().chunks(body.len() / 10 + 1) {
            stream.write_all(piece).expect("it is read");
            if stalls {
                break;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let mut answer = [0; 12];
        stream.read_exact(&mut answer).expect("it answers");
        String::from_utf8_lossy(&answer).into_owned()
    };
    let head = format!("BUILD-TOKEN: {}\r\nContent-Range: 0-9\r\n", token_of(&build));
    let piece = "0123456789".repeat(100);
    assert_eq!(send("PATCH", "/trace.txt", &head, &piece, true), "HTTP/1.1 408");
    assert_eq!(send("PATCH", "/trace.txt", &head, &piece, false), "HTTP/1.1 202");
    assert_eq!(ci_project.trace(&build), piece);
    let report = json!({"token": runner.token, "state": "success", "trace": piece}).to_string();
    let head = "Content-Type: application/json\r\n";
    assert_eq!(send("PUT", ".json", head, &report, true), "HTTP/1.1 408");
    assert_eq!(send("PUT", ".json", head, &report, false), "HTTP/1.1 200");
    assert_eq!(ci_project.build(&build)["status"], "success");
}
