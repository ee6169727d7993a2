//! Logs and artifacts of builds: reference section 8.1.

use chrono::TimeDelta;
use hexforge_application::build::expiry;
use hexforge_application::ci_token;
use hexforge_domain::build::{Artifacts, Build};
use hexforge_domain::ci::status::Transition::Succeed;
use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::ports::store::StoreError;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::ci_support::{build, ci_fixture, path_of, push, run};
use crate::api::repositories::refs_support::ProjectFixture;
use crate::api::support::{id_of, message};

on_every_store!(
    a_log_is_shown_without_secrets,
    artifacts_are_downloaded,
    artifacts_of_a_ref_are_those_of_its_newest_success,
    an_erased_build_has_neither_log_nor_artifacts,
    artifacts_expire_unless_they_are_kept,
);

const JOBS: &str = "rspec: {script: x}\nlint: {script: x}\n";

fn stored_build(forge: &Forge, id: BuildId) -> Build {
    let found: Result<_, StoreError> = forge.app.store.read(|tx| tx.builds().find(id));
    found.expect("the store can be read").expect("the build is there")
}

/// Writes the log of a build, as its runner would.
fn write_log(forge: &Forge, fixture: &ProjectFixture, build: &Value, text: &str) {
    let project = ProjectId(fixture.project());
    let files = &forge.app.build_files;
    let written = files.replace_trace(project, BuildId(id_of(build)), text.as_bytes());
    written.expect("a log can be written");
}

/// Stores artifacts of a build, as its runner would.
fn add_artifacts(
    forge: &Forge,
    fixture: &ProjectFixture,
    build: &Value,
    content: &str,
    seconds: Option<i64>,
) {
    let (project, id) = (ProjectId(fixture.project()), BuildId(id_of(build)));
    let mut file = forge.app.build_files.begin_artifacts(project, id).expect("they can be begun");
    file.append(content.as_bytes()).expect("they can be written");
    file.finish().expect("they can be finished");
    let expire_at = seconds.map(|seconds| forge.app.clock.now() + TimeDelta::seconds(seconds));
    let size = content.len() as u64;
    let artifacts = Some(Artifacts { file_name: "artifacts.zip".into(), size, expire_at });
    let build = Build { artifacts, ..stored_build(forge, id) };
    let stored: Result<(), StoreError> = forge.app.store.write(|tx| tx.builds().update(&build));
    stored.expect("the store can be written");
}

/// GET /projects/:id/builds/:build_id/trace: plain text, not chunked; each character of a token is replaced by `x`.
fn a_log_is_shown_without_secrets(forge: &Forge) {
    let fixture = ci_fixture(forge, JOBS);
    push(forge, &fixture, "topic");
    let one = build(forge, &fixture, "rspec");
    let path = format!("{}/trace", path_of(&fixture, &one));
    let empty = forge.get(&path).token(fixture.token("reporter")).send();
    assert_eq!((empty.status, empty.text()), (200, ""));
    let token = ci_token::build_token(&forge.app, &stored_build(forge, BuildId(id_of(&one))));
    let project = forge.get(&fixture.cast.path).token(fixture.token("master")).send().expect(200);
    let runners = project["runners_token"].as_str().expect("shown to masters");
    write_log(forge, &fixture, &one, &format!("one {}\ntwo {runners} three\n", token.reveal()));
    let shown = forge.get(&path).token(fixture.token("reporter")).send();
    let (token, runners) = ("x".repeat(token.reveal().len()), "x".repeat(runners.len()));
    assert_eq!(shown.text(), format!("one {token}\ntwo {runners} three\n"));
    assert_eq!(shown.header("Content-Type"), Some("text/plain"));
    let disposition = format!("infile; filename=\"{}.log\"", id_of(&one));
    assert_eq!(shown.header("Content-Disposition"), Some(disposition.as_str()));
    forge.get(&path).token(fixture.token("guest")).send().expect(403);
}

/// GET /projects/:id/builds/:build_id/artifacts
fn artifacts_are_downloaded(forge: &Forge) {
    let fixture = ci_fixture(forge, JOBS);
    push(forge, &fixture, "topic");
    let one = build(forge, &fixture, "rspec");
    let path = format!("{}/artifacts", path_of(&fixture, &one));
    let none = forge.get(&path).token(fixture.token("reporter")).send();
    assert_eq!(none.expect(404), message("404 Not Found"));
    add_artifacts(forge, &fixture, &one, "PK content", None);
    let file = forge.get(&path).token(fixture.token("reporter")).send();
    assert_eq!((file.status, file.text()), (200, "PK content"));
    let disposition = file.header("Content-Disposition");
    assert_eq!(disposition, Some("attachment; filename=artifacts.zip"));
    assert_eq!(file.header("Content-Transfer-Encoding"), Some("binary"));
    forge.get(&path).token(fixture.token("guest")).send().expect(403);
    let shown = build(forge, &fixture, "rspec");
    assert_eq!(shown["artifacts_file"], json!({"filename": "artifacts.zip", "size": 10}));
}

/// GET /projects/:id/builds/artifacts/:ref_name/download
fn artifacts_of_a_ref_are_those_of_its_newest_success(forge: &Forge) {
    let fixture = ci_fixture(forge, JOBS);
    push(forge, &fixture, "feature/x");
    let of = |reference: &str, query: &str| {
        let path = format!("{}/builds/artifacts/{reference}/download{query}", fixture.cast.path);
        forge.get(&path).token(fixture.token("reporter")).send()
    };
    let first = build(forge, &fixture, "rspec");
    add_artifacts(forge, &fixture, &first, "first", None);
    assert_eq!(of("feature/x", "?job=rspec").expect(404), message("404 Not Found"), "not done");
    run(forge, &fixture, "rspec", Succeed);
    run(forge, &fixture, "lint", Succeed);
    for reference in ["feature/x", "feature%2Fx"] {
        assert_eq!(of(reference, "?job=rspec").text(), "first", "{reference}");
    }
    assert_eq!(of("feature/x", "?job=lint").expect(404), message("404 Not Found"), "none");
    assert_eq!(of("feature/x", "?job=other").expect(404), message("404 Not Found"));
    assert_eq!(of("nowhere", "?job=rspec").expect(404), message("404 Not Found"));
    assert_eq!(of("feature/x", "").expect(400), json!({"error": "job is missing"}));
}

/// POST /projects/:id/builds/:build_id/erase: 201; 403 unless the build is finished and has a log or artifacts.
fn an_erased_build_has_neither_log_nor_artifacts(forge: &Forge) {
    let fixture = ci_fixture(forge, JOBS);
    push(forge, &fixture, "topic");
    let one = build(forge, &fixture, "rspec");
    write_log(forge, &fixture, &one, "a log");
    add_artifacts(forge, &fixture, &one, "content", None);
    let erase = || {
        let path = format!("{}/erase", path_of(&fixture, &one));
        forge.post(&path).token(fixture.token("developer")).send()
    };
    let refused = message("403 Forbidden  - Build is not erasable!");
    assert_eq!(erase().expect(403), refused, "it is not done");
    run(forge, &fixture, "rspec", Succeed);
    let erased = erase().expect(201);
    assert_eq!((id_of(&erased), &erased["status"]), (id_of(&one), &json!("success")));
    assert_eq!(erased.get("artifacts_file"), None);
    let token = fixture.token("reporter");
    let trace = forge.get(&format!("{}/trace", path_of(&fixture, &one))).token(token).send();
    assert_eq!((trace.status, trace.text()), (200, ""));
    forge.get(&format!("{}/artifacts", path_of(&fixture, &one))).token(token).send().expect(404);
    assert_eq!(erase().expect(403), refused, "once");
    run(forge, &fixture, "lint", Succeed);
    let bare = format!("{}/erase", path_of(&fixture, &build(forge, &fixture, "lint")));
    let bare = forge.post(&bare).token(fixture.token("developer")).send().expect(403);
    assert_eq!(bare, refused, "there is nothing");
}

/// POST /projects/:id/builds/:build_id/artifacts/keep: 200, and the artifacts no longer expire; 404 without artifacts.
fn artifacts_expire_unless_they_are_kept(forge: &Forge) {
    let fixture = ci_fixture(forge, JOBS);
    push(forge, &fixture, "topic");
    let (one, other) = (build(forge, &fixture, "rspec"), build(forge, &fixture, "lint"));
    let keep = |build: &Value| {
        let path = format!("{}/artifacts/keep", path_of(&fixture, build));
        forge.post(&path).token(fixture.token("developer")).send()
    };
    assert_eq!(keep(&one).expect(404), message("404 Not Found"));
    add_artifacts(forge, &fixture, &one, "kept", Some(60));
    add_artifacts(forge, &fixture, &other, "lost", Some(60));
    assert_eq!(keep(&one).expect(200)["artifacts_file"]["size"], 4);
    forge.clock.advance(TimeDelta::seconds(60));
    let token = fixture.token("reporter");
    let get = |build: &Value| {
        forge.get(&format!("{}/artifacts", path_of(&fixture, build))).token(token).send()
    };
    assert_eq!(get(&one).text(), "kept");
    assert_eq!(get(&other).expect(404), message("404 Not Found"));
    assert_eq!(build(forge, &fixture, "lint").get("artifacts_file"), None);
    assert_eq!(keep(&other).expect(404), message("404 Not Found"));
    let removed =
        expiry::remove_expired_artifacts(&forge.app, &|| true).expect("they can be removed");
    assert_eq!(removed, 1);
    let (project, lost) = (ProjectId(fixture.project()), BuildId(id_of(&other)));
    let left = forge.app.build_files.open_artifacts(project, lost).expect("readable");
    assert!(left.is_none(), "the file is gone");
    assert_eq!(get(&one).text(), "kept");
}
