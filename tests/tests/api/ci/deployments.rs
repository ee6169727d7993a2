//! Deployments of projects: reference section 11 of rest_of_v3.md.

use hexforge_domain::environment::EnvironmentState;
use hexforge_domain::id::{EnvironmentId, ProjectId};
use hexforge_tests::{Forge, Runner, on_every_store};
use serde_json::{Value, json};

use super::ci_support::{builds, ci_fixture, ci_fixture_with_visibility, push};
use super::runner_support::{CiProject, shared_runner};
use crate::api::groups::group_support::{error, forbidden};
use crate::api::repositories::refs_support::ProjectFixture;
use crate::api::support::{MISSING, assert_only_for_users, id_of, ids, message, read_store};

on_every_store!(
    a_successful_build_makes_a_deployment,
    only_success_makes_deployments_and_a_retry_another,
    variables_in_names_and_urls_are_replaced,
    names_and_urls_that_break_the_rules_are_ignored,
    a_build_that_stops_an_environment_makes_no_deployment,
    deployments_go_with_their_environment,
    the_deletion_of_a_branch_stops_its_environments,
    environments_of_other_branches_and_without_a_job_go_on,
    deployments_are_for_the_team,
    ids_of_deployments_are_declared,
);

/// The deployments of a project, oldest first.
#[track_caller]
fn deployments(forge: &Forge, project: i64, token: &str) -> Vec<Value> {
    let path = format!("/projects/{project}/deployments?per_page=100");
    let all = forge.get(&path).token(token).send().expect(200);
    all.as_array().expect("a list").clone()
}

/// The names and URLs of a project's environments.
#[track_caller]
fn environments(forge: &Forge, project: i64, token: &str) -> Vec<(String, Value)> {
    let path = format!("/projects/{project}/environments?per_page=100");
    let all = forge.get(&path).token(token).send().expect(200);
    let show = |one: &Value| {
        (one["name"].as_str().expect("a text").to_owned(), one["external_url"].clone())
    };
    all.as_array().expect("a list").iter().map(show).collect()
}

/// The state of an environment, which no call shows.
fn state_of(forge: &Forge, project: i64, environment: &Value) -> EnvironmentState {
    let id = EnvironmentId(id_of(environment));
    let found = read_store(forge, |tx| tx.environments().find(ProjectId(project), id));
    found.expect("the environment exists").state
}

/// Takes the next build and ends it.
#[track_caller]
fn run_next(runner: &Runner, state: &str) -> Value {
    let build = runner.take().expect("a build is waiting");
    runner.end(&build, state);
    build
}

/// "Object", "looked up or made", "stored with the build's `ref`, `sha` and user", through the protocol of runners.
/// GET /projects/:id/deployments, GET /projects/:id/deployments/:deployment_id
fn a_successful_build_makes_a_deployment(forge: &Forge) {
    let configuration = "\
stages: [build, deploy]
compile: {stage: build, script: make}
deploy: {stage: deploy, script: ship, environment: production}
";
    let ship = CiProject::new(forge, "ada", configuration);
    let runner = ship.runner(&[]);
    ship.pipeline();
    run_next(&runner, "success");
    assert!(deployments(forge, ship.project, &ship.owner).is_empty(), "compile deploys nothing");
    let build = run_next(&runner, "success");
    let listed = forge.get(&ship.path("/deployments")).token(&ship.owner).send();
    assert_eq!(listed.header("X-Total"), Some("1"));
    let listed = listed.expect(200);
    let shown = &listed[0];
    let environment =
        forge.get(&ship.path("/environments")).token(&ship.owner).send().expect(200)[0].clone();
    let user = forge.get("/user").token(&ship.owner).send().expect(200);
    let summary: serde_json::Map<String, Value> =
        ["name", "username", "id", "state", "avatar_url", "web_url"]
            .map(|field| (field.to_owned(), user[field].clone()))
            .into_iter()
            .collect();
    let deployable = ship.build(&build);
    assert_eq!(deployable["status"], "success");
    let expected = json!({
        "id": id_of(shown), "iid": 1, "ref": "master", "sha": ship.sha,
        "created_at": deployable["finished_at"], "user": summary,
        "environment": {
            "id": id_of(&environment), "name": "production", "external_url": null,
        },
        "deployable": deployable,
    });
    assert_eq!(*shown, expected);
    let keys: Vec<&String> = shown.as_object().expect("an object").keys().collect();
    let order = ["id", "iid", "ref", "sha", "created_at", "user", "environment", "deployable"];
    assert_eq!(keys, order);
    let one = ship.path(&format!("/deployments/{}", id_of(shown)));
    assert_eq!(forge.get(&one).token(&ship.owner).send().expect(200), expected);
}

/// "A failed or canceled build makes none; a second success (retry) makes another."
fn only_success_makes_deployments_and_a_retry_another(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", "deploy: {script: ship, environment: production}");
    let runner = ship.runner(&[]);
    ship.pipeline();
    let failed = run_next(&runner, "failed");
    ship.post_action(&failed, "retry");
    let canceled = runner.take().expect("a build is waiting");
    ship.post_action(&canceled, "cancel");
    runner.update_request(&canceled, &[("state", "success")]).send().expect(404);
    assert!(deployments(forge, ship.project, &ship.owner).is_empty());
    assert!(environments(forge, ship.project, &ship.owner).is_empty());
    ship.post_action(&canceled, "retry");
    let first = run_next(&runner, "success");
    ship.post_action(&first, "retry");
    let second = run_next(&runner, "success");
    let made = deployments(forge, ship.project, &ship.owner);
    let of = |one: &Value| (one["iid"].as_i64(), one["deployable"]["id"].clone());
    let expected = [(Some(1), first["id"].clone()), (Some(2), second["id"].clone())];
    assert_eq!(made.iter().map(of).collect::<Vec<_>>(), expected);
    assert_eq!(made[0]["environment"], made[1]["environment"]);
}

/// "Variables (`$X`, `${X}`, `%X%`) in `name` and `url` are replaced by the build's variables first.", "`url` becomes its
/// `external_url`"
fn variables_in_names_and_urls_are_replaced(forge: &Forge) {
    let configuration = "\
variables: {HOST: global.example.com, PART: a}
deploy:
  script: ship
  variables: {PART: b}
  environment: {name: 'review/$CI_BUILD_REF_NAME/${PART}-$NOBODY.', url: 'https://%HOST%/$SECRET'}
";
    let ship = CiProject::new(forge, "ada", configuration);
    let secret = [("key", "SECRET"), ("value", "s1")];
    forge.post(&ship.path("/variables")).token(&ship.owner).form(&secret).send().expect(201);
    let runner = ship.runner(&[]);
    ship.pipeline();
    run_next(&runner, "success");
    let url = json!("https://global.example.com/s1");
    let expected = [("review/master/b-.".to_owned(), url)];
    assert_eq!(environments(forge, ship.project, &ship.owner), expected);
}

/// "a name that breaks the rules of 10: nothing happens". A URL that breaks them leaves the environment as it is.
fn names_and_urls_that_break_the_rules_are_ignored(forge: &Forge) {
    let configuration = "\
stages: [a, b, c, d]
wrong name: {stage: a, script: x, environment: 'review/$NAME'}
empty name: {stage: a, script: x, environment: '$NOBODY'}
long name: {stage: a, script: x, environment: '$LONG$LONG'}
wrong url: {stage: b, script: x, environment: {name: one, url: 'http://$NAME'}}
good url: {stage: c, script: x, environment: {name: one, url: 'http://$GOOD'}}
taken url: {stage: d, script: x, environment: {name: two, url: 'http://$GOOD'}}
no url: {stage: d, script: x, environment: one}
";
    let ship = CiProject::new(forge, "ada", configuration);
    let long = "x".repeat(60_000);
    for (key, value) in [("NAME", "a,ö b"), ("GOOD", "example.com"), ("LONG", &long)] {
        let form = [("key", key), ("value", value)];
        forge.post(&ship.path("/variables")).token(&ship.owner).form(&form).send().expect(201);
    }
    let runner = ship.runner(&[]);
    let pipeline = ship.pipeline();
    let now = || environments(forge, ship.project, &ship.owner);
    for _ in 0..3 {
        run_next(&runner, "success");
    }
    assert!(now().is_empty() && deployments(forge, ship.project, &ship.owner).is_empty());
    run_next(&runner, "success");
    assert_eq!(now(), [("one".to_owned(), Value::Null)]);
    run_next(&runner, "success");
    let good = ("one".to_owned(), json!("http://example.com"));
    assert_eq!(now(), std::slice::from_ref(&good));
    run_next(&runner, "success");
    run_next(&runner, "success");
    assert_eq!(now(), [good, ("two".to_owned(), Value::Null)]);
    assert_eq!(deployments(forge, ship.project, &ship.owner).len(), 4);
    assert_eq!(ship.status_of(&pipeline), "success");
}

/// "`start` makes it available, `stop` makes it stopped, and a stopped one gets no deployment"
fn a_build_that_stops_an_environment_makes_no_deployment(forge: &Forge) {
    let configuration = "\
deploy: {script: ship, environment: {name: review, on_stop: stop}}
stop: {script: rm, when: manual, environment: {name: review, action: stop}}
";
    let ship = CiProject::new(forge, "ada", configuration);
    let runner = ship.runner(&[]);
    ship.pipeline();
    run_next(&runner, "success");
    let made = deployments(forge, ship.project, &ship.owner);
    let environment = made[0]["environment"].clone();
    assert_eq!(state_of(forge, ship.project, &environment), EnvironmentState::Available);
    let all = forge.get(&ship.path("/builds")).token(&ship.owner).send().expect(200);
    let stop = all.as_array().expect("a list").iter().find(|build| build["name"] == "stop");
    let play = format!("/builds/{}/play", id_of(stop.expect("the job was created")));
    forge.post(&ship.path(&play)).token(&ship.owner).send().expect(200);
    run_next(&runner, "success");
    assert_eq!(state_of(forge, ship.project, &environment), EnvironmentState::Stopped);
    assert_eq!(deployments(forge, ship.project, &ship.owner).len(), 1);
    // The next build that deploys starts it again.
    ship.pipeline();
    run_next(&runner, "success");
    assert_eq!(state_of(forge, ship.project, &environment), EnvironmentState::Available);
    assert_eq!(deployments(forge, ship.project, &ship.owner).len(), 2);
}

/// "its deployments go with it" (section 10); numbers are not given twice.
fn deployments_go_with_their_environment(forge: &Forge) {
    let ship = CiProject::new(forge, "ada", "deploy: {script: ship, environment: production}");
    let runner = ship.runner(&[]);
    ship.pipeline();
    run_next(&runner, "success");
    let made = deployments(forge, ship.project, &ship.owner);
    let path = ship.path(&format!("/environments/{}", id_of(&made[0]["environment"])));
    forge.delete(&path).token(&ship.owner).send().expect(200);
    assert!(deployments(forge, ship.project, &ship.owner).is_empty());
    ship.pipeline();
    run_next(&runner, "success");
    assert_eq!(deployments(forge, ship.project, &ship.owner)[0]["iid"], 2);
}

const REVIEW: &str = "\
deploy: {script: ship, environment: {name: review/$CI_BUILD_REF_NAME, on_stop: stop}}
stop:
  script: rm
  when: manual
  environment: {name: review/$CI_BUILD_REF_NAME, action: stop}
";

#[track_caller]
fn delete_branch(forge: &Forge, fixture: &ProjectFixture, branch: &str, who: &str) {
    let path = format!("{}/{branch}", fixture.branches);
    forge.delete(&path).token(fixture.token(who)).send().expect(200);
}

/// "When a branch is deleted, environments whose last deployment came from it and names an `on_stop` job are stopped and
/// that job is started"
fn the_deletion_of_a_branch_stops_its_environments(forge: &Forge) {
    let fixture = ci_fixture(forge, REVIEW);
    let runner = shared_runner(forge, &[]);
    let (project, developer) = (fixture.project(), fixture.token("developer"));
    push(forge, &fixture, "topic");
    run_next(&runner, "success");
    push(forge, &fixture, "other");
    run_next(&runner, "success");
    let made = deployments(forge, project, developer);
    let [topic, other] = [0, 1].map(|place: usize| made[place]["environment"].clone());
    assert_eq!((&topic["name"], &other["name"]), (&json!("review/topic"), &json!("review/other")));
    assert!(runner.take().is_none(), "the manual jobs wait");
    delete_branch(forge, &fixture, "topic", "master");
    assert_eq!(state_of(forge, project, &topic), EnvironmentState::Stopped);
    assert_eq!(state_of(forge, project, &other), EnvironmentState::Available);
    let stop = run_next(&runner, "success");
    assert_eq!((&stop["name"], &stop["ref"]), (&json!("stop"), &json!("topic")));
    let all = builds(forge, &fixture);
    let started = all.iter().find(|build| build["id"] == stop["id"]).expect("it is listed");
    assert_eq!(started["user"]["username"], "master", "the user who deleted the branch");
    assert!(runner.take().is_none(), "no other job was started");
    assert_eq!(deployments(forge, project, developer).len(), 2);
    // A job that ran before is started again.
    push(forge, &fixture, "topic");
    run_next(&runner, "success");
    let again = builds(forge, &fixture);
    let manual = again.iter().find(|build| build["name"] == "stop").expect("the newest");
    let play = format!("{}/builds/{}/play", fixture.cast.path, id_of(manual));
    forge.post(&play).token(developer).send().expect(200);
    run_next(&runner, "failed");
    delete_branch(forge, &fixture, "topic", "developer");
    assert_eq!(state_of(forge, project, &topic), EnvironmentState::Stopped);
    let stop = runner.take().expect("a new build of the job");
    assert!(stop["name"] == "stop" && stop["id"] != manual["id"]);
}

/// An environment goes on whose last deployment came from elsewhere, or names no job.
fn environments_of_other_branches_and_without_a_job_go_on(forge: &Forge) {
    let configuration = "\
stages: [test, later]
plain: {script: ship, environment: plain/$CI_BUILD_REF_NAME}
shared: {stage: later, script: ship, environment: {name: shared, on_stop: stop}}
stop: {stage: later, script: rm, when: manual, environment: {name: shared, action: stop}}
";
    let fixture = ci_fixture(forge, configuration);
    let runner = shared_runner(forge, &[]);
    let (project, developer) = (fixture.project(), fixture.token("developer"));
    for branch in ["one", "two"] {
        push(forge, &fixture, branch);
        run_next(&runner, "success");
        run_next(&runner, "success");
    }
    let made = deployments(forge, project, developer);
    let environments: Vec<Value> = made.iter().map(|one| one["environment"].clone()).collect();
    delete_branch(forge, &fixture, "one", "developer");
    for environment in &environments {
        let state = state_of(forge, project, environment);
        assert_eq!(state, EnvironmentState::Available, "{environment}");
    }
    assert!(runner.take().is_none());
    // With builds disabled, nobody may deploy.
    let set = |on: &str| {
        let form = [("name", "Ship"), ("builds_enabled", on)];
        forge.put(&fixture.cast.path).token(fixture.token("owner")).form(&form).send().expect(200);
    };
    set("false");
    delete_branch(forge, &fixture, "two", "developer");
    set("true");
    assert!(runner.take().is_none());
    assert_eq!(state_of(forge, project, &environments[1]), EnvironmentState::Available);
}

/// "reporter+, 403 otherwise"
fn deployments_are_for_the_team(forge: &Forge) {
    let configuration = "deploy: {script: ship, environment: production}";
    let fixture = ci_fixture_with_visibility(forge, "20", configuration);
    let runner = shared_runner(forge, &[]);
    push(forge, &fixture, "topic");
    run_next(&runner, "success");
    let list = format!("{}/deployments", fixture.cast.path);
    let made = forge.get(&list).token(fixture.token("reporter")).send().expect(200);
    let one = format!("{list}/{}", ids(&made)[0]);
    assert_only_for_users(forge, &[("GET", list.clone()), ("GET", one.clone())]);
    for path in [&list, &one] {
        for who in ["stranger", "guest"] {
            let refused = forge.get(path).token(fixture.token(who)).send().expect(403);
            assert_eq!(refused, forbidden(), "{who} {path}");
        }
        for who in ["reporter", "developer", "root"] {
            forge.get(path).token(fixture.token(who)).send().expect(200);
        }
    }
    let off = [("name", "Ship"), ("builds_enabled", "false")];
    forge.put(&fixture.cast.path).token(fixture.token("owner")).form(&off).send().expect(200);
    for path in [&list, &one] {
        assert_eq!(forge.get(path).token(fixture.token("root")).send().expect(403), forbidden());
    }
}

/// "404 `404 Not found`"; a text is 400 (1.2).
fn ids_of_deployments_are_declared(forge: &Forge) {
    let fixture = ci_fixture(forge, "deploy: {script: ship}");
    let list = format!("{}/deployments", fixture.cast.path);
    let stranger = fixture.token("stranger");
    let answer = forge.get(&format!("{list}/x")).token(stranger).send().expect(400);
    assert_eq!(answer, error("deployment_id is invalid"));
    let path = format!("{list}/{MISSING}");
    let hidden = forge.get(&path).token(stranger).send().expect(404);
    assert_eq!(hidden, message("404 Project Not Found"));
    let missing = forge.get(&path).token(fixture.token("reporter")).send().expect(404);
    assert_eq!(missing, message("404 Not found"));
}
