//! Builds: reference section 8.1.

use hexforge_application::app::{App, Settings};
use hexforge_application::error::Error;
use hexforge_application::{build as use_case, tag};
use hexforge_domain::ci::status::Transition::{Fail, Succeed};
use hexforge_domain::id::{BuildId, ProjectId, UserId};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::policy::strict::StrictRules;
use hexforge_domain::project::ProjectRef;
use hexforge_tests::{Forge, on_every_store};
use serde_json::{Value, json};

use crate::api::ci::ci_support::{
    CONFIGURATION, assert_statuses, build, builds, ci_fixture, ci_fixture_with_visibility, path_of,
    push, run,
};
use crate::api::groups::group_support::{
    error, fields_of, forbidden, new_project, path_of_project,
};
use crate::api::repositories::refs_support::ProjectFixture;
use crate::api::support::{MISSING, id_of, ids, message};

on_every_store!(
    a_build_has_every_field,
    builds_are_listed_by_scope,
    builds_of_a_commit_are_found_by_its_full_id,
    unknown_builds_are_404,
    who_may_read_builds,
    who_may_change_builds,
    a_build_is_canceled_unless_it_is_done,
    a_build_is_retried_once_it_is_done,
    only_manual_builds_that_wait_are_played,
    rules_can_be_stricter_than_those_of_the_reference,
    configurations_are_checked_without_authentication,
);

#[track_caller]
fn post(forge: &Forge, fixture: &ProjectFixture, name: &str, what: &str, status: u16) -> Value {
    let path = format!("{}/{what}", path_of(fixture, &build(forge, fixture, name)));
    forge.post(&path).token(fixture.token("developer")).send().expect(status)
}

/// GET /projects/:id/builds/:build_id
fn a_build_has_every_field(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    let pipeline = push(forge, &fixture, "topic");
    let one = build(forge, &fixture, "compile");
    let user = forge.get("/user").token(fixture.token("developer")).send().expect(200);
    let user =
        forge.get(&format!("/users/{}", id_of(&user))).token(fixture.token("reporter")).send();
    let sha = fixture.id("topic");
    let expected = json!({
        "id": id_of(&one), "status": "pending", "stage": "build", "name": "compile",
        "ref": "topic", "tag": false, "coverage": null,
        "created_at": "2016-09-22T10:30:00.000Z", "started_at": null, "finished_at": null,
        "user": user.expect(200),
        "commit": {
            "id": sha, "short_id": sha[..8], "title": "Build it", "author_name": "Ada",
            "author_email": "ada@example.com", "created_at": "2016-09-22T12:30:00.000+02:00",
            "message": "Build it\n\nAll of it.\n"
        },
        "runner": null,
        "pipeline": {
            "id": id_of(&pipeline), "sha": sha, "ref": "topic", "status": "pending"
        }
    });
    let path = path_of(&fixture, &one);
    let shown = forge.get(&path).token(fixture.token("reporter")).send().expect(200);
    assert_eq!(shown, expected);
    assert_eq!(fields_of(&shown), fields_of(&expected), "in this order");
    assert_eq!(one, expected, "lists show the same");
}

/// GET /projects/:id/builds: newest first, paged, `scope` once or several times.
fn builds_are_listed_by_scope(forge: &Forge) {
    let fixture = ci_fixture(forge, "a: {script: a}\nb: {script: b}\nc: {script: c}\n");
    push(forge, &fixture, "topic");
    let all: Vec<i64> = builds(forge, &fixture).iter().map(id_of).collect();
    assert!(all.is_sorted_by(|newer, older| newer > older) && all.len() == 3, "{all:?}");
    run(forge, &fixture, "a", Succeed);
    run(forge, &fixture, "b", Fail);
    let (a, b, c) = (all[2], all[1], all[0]);
    let scoped = |query: &str, status: u16| {
        let path = format!("{}/builds?{query}", fixture.cast.path);
        forge.get(&path).token(fixture.token("reporter")).send().expect(status)
    };
    for (query, expected) in [
        ("scope=success", vec![a]),
        ("scope=pending", vec![c]),
        ("scope=running", vec![]),
        ("scope[]=failed&scope[]=success", vec![b, a]),
        ("scope[0]=canceled&scope[1]=pending", vec![c]),
        ("per_page=1&page=2", vec![b]),
    ] {
        assert_eq!(ids(&scoped(query, 200)), expected, "{query}");
    }
    for query in ["scope=created", "scope=x", "scope[]=success&scope[]=x", "scope="] {
        assert_eq!(scoped(query, 400), error("scope does not have a valid value"), "{query}");
    }
}

/// GET /projects/:id/repository/commits/:sha/builds
fn builds_of_a_commit_are_found_by_its_full_id(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    push(forge, &fixture, "topic");
    fixture.tree.commit("Next");
    forge.fill(fixture.project(), &fixture.tree);
    push(forge, &fixture, "later");
    let of = |sha: &str, query: &str, status: u16| {
        let path = format!("{}/repository/commits/{sha}/builds{query}", fixture.cast.path);
        forge.get(&path).token(fixture.token("reporter")).send().expect(status)
    };
    let first = of(&fixture.id("topic"), "", 200);
    assert_eq!(first.as_array().map(Vec::len), Some(3));
    assert!(first.as_array().expect("a list").iter().all(|build| build["ref"] == "topic"));
    assert_eq!(ids(&of(&fixture.id("later"), "?scope=pending", 200)).len(), 1);
    assert_eq!(of("topic", "", 200), json!([]), "only the whole name");
    assert_eq!(of("nowhere", "", 404), message("404 Commit Not Found"));
    assert_eq!(of("topic", "?scope=x", 400), error("scope does not have a valid value"));
}

/// 404 for builds that do not exist or belong to another project; 400 for ids that are not numbers.
fn unknown_builds_are_404(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    push(forge, &fixture, "topic");
    let other = new_project(forge, fixture.token("developer"), "Other", &[]);
    let one = id_of(&build(forge, &fixture, "compile"));
    let elsewhere = format!("{}/builds/{one}", path_of_project(&other));
    let missing = format!("{}/builds/{MISSING}", fixture.cast.path);
    let nonsense = format!("{}/builds/x", fixture.cast.path);
    for (method, suffix) in [
        ("GET", ""),
        ("GET", "/trace"),
        ("GET", "/artifacts"),
        ("POST", "/cancel"),
        ("POST", "/retry"),
        ("POST", "/erase"),
        ("POST", "/play"),
        ("POST", "/artifacts/keep"),
    ] {
        let token = fixture.token("developer");
        for path in [&elsewhere, &missing] {
            let answer = forge.request(method, &format!("{path}{suffix}")).token(token).send();
            assert_eq!(answer.expect(404), message("404 Not Found"), "{method} {path}{suffix}");
        }
        let answer = forge.request(method, &format!("{nonsense}{suffix}")).token(token).send();
        assert_eq!(answer.expect(400), error("build_id is invalid"));
    }
}

/// Lists are for everybody who sees the project. Single builds are for reporters; for others only if `public_builds` is
/// true.
fn who_may_read_builds(forge: &Forge) {
    let fixture = ci_fixture_with_visibility(forge, "20", CONFIGURATION);
    push(forge, &fixture, "topic");
    let one = path_of(&fixture, &build(forge, &fixture, "compile"));
    let list = format!("{}/builds", fixture.cast.path);
    let commit = format!("{}/repository/commits/{}/builds", fixture.cast.path, fixture.id("topic"));
    let change = |form: &[(&str, &str)]| {
        forge.put(&fixture.cast.path).token(fixture.token("owner")).form(form).send().expect(200)
    };
    let assert = |path: &str, table: &[(&str, u16)]| {
        for (who, status) in table {
            let answer = forge.get(path).token(fixture.token(who)).send();
            assert_eq!(answer.status, *status, "{who} {path}");
        }
    };
    let all = ["stranger", "external", "guest", "reporter", "root"].map(|who| (who, 200));
    for path in [&one, &list, &commit] {
        assert(path, &all);
        assert_eq!(forge.get(path).send().expect(401), message("401 Unauthorized"));
    }
    change(&[("name", "Ship"), ("public_builds", "false")]);
    assert(&list, &all);
    for path in [&one, &commit] {
        assert(path, &[("stranger", 403), ("guest", 403), ("reporter", 200), ("root", 200)]);
    }
    change(&[("name", "Ship"), ("visibility_level", "0")]);
    assert(&list, &[("stranger", 404), ("guest", 200), ("reporter", 200)]);
    assert(&one, &[("stranger", 404), ("guest", 403), ("reporter", 200)]);
    change(&[("name", "Ship"), ("builds_enabled", "false")]);
    assert(&one, &[("guest", 403), ("reporter", 403), ("master", 403), ("root", 403)]);
}

/// POST /projects/:id/builds/:build_id/cancel, POST /projects/:id/builds/:build_id/retry,
/// POST /projects/:id/builds/:build_id/erase, POST /projects/:id/builds/:build_id/artifacts/keep: developers.
fn who_may_change_builds(forge: &Forge) {
    let fixture = ci_fixture(forge, CONFIGURATION);
    push(forge, &fixture, "topic");
    let one = path_of(&fixture, &build(forge, &fixture, "compile"));
    for what in ["cancel", "retry", "erase", "artifacts/keep"] {
        for (who, status) in [("stranger", 404), ("guest", 403), ("reporter", 403)] {
            let answer = forge.post(&format!("{one}/{what}")).token(fixture.token(who)).send();
            assert_eq!(answer.status, status, "{who} {what}");
            if status == 403 {
                assert_eq!(answer.json(), forbidden());
            }
        }
    }
    let answer = forge.post(&format!("{one}/play")).token(fixture.token("guest")).send();
    assert_eq!(answer.expect(403), forbidden());
    assert_statuses(
        forge,
        &fixture,
        &[("compile", "pending"), ("rspec", "created"), ("lint", "created")],
    );
}

/// 201; "a finished build stays as it is".
fn a_build_is_canceled_unless_it_is_done(forge: &Forge) {
    let fixture = ci_fixture(forge, "a: {script: a}\nb: {script: b}\n");
    push(forge, &fixture, "topic");
    let canceled = post(forge, &fixture, "a", "cancel", 201);
    assert_eq!(canceled["status"], "canceled");
    assert_eq!(canceled["finished_at"], "2016-09-22T10:30:00.000Z");
    run(forge, &fixture, "b", Succeed);
    let kept = post(forge, &fixture, "b", "cancel", 201);
    assert_eq!(
        (&kept["status"], &kept["pipeline"]["status"]),
        (&json!("success"), &json!("canceled"))
    );
}

/// 201 with the new build; 403 (with two spaces in its text) unless the build is finished. Later builds that were
/// skipped are created again.
fn a_build_is_retried_once_it_is_done(forge: &Forge) {
    let fixture =
        ci_fixture(forge, "a: {stage: build, script: a}\nb: {stage: deploy, script: b}\n");
    push(forge, &fixture, "topic");
    for name in ["a", "b"] {
        let refused = post(forge, &fixture, name, "retry", 403);
        assert_eq!(refused, message("403 Forbidden  - Build is not retryable"), "{name}");
    }
    run(forge, &fixture, "a", Fail);
    assert_statuses(forge, &fixture, &[("a", "failed"), ("b", "skipped")]);
    let old = build(forge, &fixture, "a");
    let new = post(forge, &fixture, "a", "retry", 201);
    assert!(id_of(&new) > id_of(&old));
    assert_eq!((&new["status"], &new["started_at"]), (&json!("pending"), &Value::Null));
    assert_eq!(new["pipeline"]["status"], "pending");
    assert_statuses(forge, &fixture, &[("b", "created"), ("a", "pending")]);
    run(forge, &fixture, "a", Succeed);
    assert_statuses(forge, &fixture, &[("b", "pending"), ("a", "success")]);
    let again = post(forge, &fixture, "a", "retry", 201);
    assert_eq!(again["status"], "pending", "what succeeded too");
}

/// POST /projects/:id/builds/:build_id/play: 200 for everybody who may read builds, 400 with the text of the reference
/// for builds that cannot be played.
fn only_manual_builds_that_wait_are_played(forge: &Forge) {
    let fixture = ci_fixture(forge, "a: {script: a}\nb: {script: b, when: manual}\n");
    push(forge, &fixture, "topic");
    let refused = message("400 (Bad request) \"Unplayable Build\" not given");
    assert_eq!(post(forge, &fixture, "a", "play", 400), refused);
    let played = post(forge, &fixture, "b", "play", 200);
    assert_eq!(
        (&played["status"], &played["user"]["username"]),
        (&json!("pending"), &json!("developer"))
    );
    assert_eq!(post(forge, &fixture, "b", "play", 400), refused, "once");
}

/// The setting `strict_rules` for outsiders of a public project and for developers.
fn rules_can_be_stricter_than_those_of_the_reference(forge: &Forge) {
    let fixture =
        ci_fixture_with_visibility(forge, "20", "a: {script: a}\nb: {script: b, when: manual}\n");
    push(forge, &fixture, "topic");
    let tag = [("tag_name", "v1"), ("ref", "master")];
    let tags = format!("{}/repository/tags", fixture.cast.path);
    forge.post(&tags).token(fixture.token("developer")).form(&tag).send().expect(201);
    let named = ProjectRef::Id(ProjectId(fixture.project()));
    let manual = BuildId(id_of(&build(forge, &fixture, "b")));
    let actor = |name: &str| {
        let user = forge.get("/user").token(fixture.token(name)).send().expect(200);
        Actor::User { id: UserId(id_of(&user)), external: false }
    };
    let (outsider, developer) = (actor("stranger"), actor("developer"));
    let with = |names: &str| {
        let strict = StrictRules::parse(names).expect("these are rules");
        App { settings: Settings { strict, ..forge.app.settings.clone() }, ..forge.app.clone() }
    };
    let list = |app: &App, actor| use_case::list(app, actor, &named, None, Page::Whole);
    let open_builds = |choice: &str| {
        let name = fixture.cast.project["name"].as_str().expect("a name");
        let form = [("name", name), ("public_builds", choice)];
        forge.put(&fixture.cast.path).token(fixture.token("owner")).form(&form).send().expect(200);
    };
    open_builds("false");
    assert!(list(&with(""), outsider).is_ok());
    assert!(matches!(list(&with("build_lists"), outsider), Err(Error::Forbidden(_))));
    assert!(list(&with("build_lists"), developer).is_ok());
    open_builds("true");
    assert!(list(&with("build_lists"), outsider).is_ok());
    let play = |app: &App, actor| use_case::play(app, actor, &named, manual);
    assert!(matches!(play(&with("manual_jobs"), outsider), Err(Error::Forbidden(_))));
    assert!(play(&with(""), outsider).is_ok());
    let remove = |app: &App| tag::delete(app, developer, &named, "v1");
    assert!(matches!(remove(&with("tags")), Err(Error::Forbidden(_))));
    assert!(remove(&with("")).is_ok());
}

/// POST /ci/lint
fn configurations_are_checked_without_authentication(forge: &Forge) {
    let lint = |content: &str| {
        let form = [("content", content)];
        forge.post("/ci/lint").form(&form).send().expect(200)
    };
    assert_eq!(lint("rspec: {script: x}\n"), json!({"status": "valid", "errors": []}));
    let wrong = "jobs config should contain at least one visible job";
    assert_eq!(lint("image: x\n"), json!({"status": "invalid", "errors": [wrong]}));
    let empty = "Please provide content of .gitlab-ci.yml";
    assert_eq!(lint(""), json!({"status": "invalid", "errors": [empty]}));
    assert_eq!(forge.post("/ci/lint").send().expect(400), error("content is missing"));
}
