//! Environments and deployments in large numbers: what one request does is bounded, and the rest follows.

use hexforge_application::removal;
use hexforge_domain::deployment::NewDeployment;
use hexforge_domain::environment::{Environment, EnvironmentState};
use hexforge_domain::id::{BuildId, DeploymentId, EnvironmentId, ProjectId};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain_testing::builders::{a_deployment, an_environment};
use hexforge_tests::{Forge, on_every_store};
use serde_json::json;

use super::ci_support::{builds, ci_fixture, push};
use super::runner_support::shared_runner;
use crate::api::repositories::refs_support::do_tasks;
use crate::api::support::{id_of, ids, message, read_store};

on_every_store!(
    a_branch_with_many_environments_stops_them_in_batches,
    an_environment_with_many_deployments_is_gone_at_once,
);

const REVIEW: &str = "\
deploy: {script: ship, environment: {name: review, on_stop: stop}}
stop: {script: rm, when: manual, environment: {name: review, action: stop}}
";

/// The environments that one push stops itself.
const AT_ONCE: usize = 100;

/// "environments whose last deployment came from it and names an `on_stop` job are stopped" (section 11): 100 of them
/// by the request that deletes the branch, the others by a background task.
fn a_branch_with_many_environments_stops_them_in_batches(forge: &Forge) {
    let fixture = ci_fixture(forge, REVIEW);
    let runner = shared_runner(forge, &[]);
    let project = ProjectId(fixture.project());
    push(forge, &fixture, "topic");
    let build = runner.take().expect("the job waits");
    runner.end(&build, "success");
    let made: Result<(), StoreError> = forge.app.store.write(|tx| {
        let build = tx.builds().find(BuildId(id_of(&build)))?.expect("it was just run");
        for number in 0..AT_ONCE + 60 {
            let new = an_environment(project, &format!("copy {number}"));
            let environment = tx.environments().insert(new)?;
            let on_stop = Some("stop".to_owned());
            tx.deployments()
                .insert(NewDeployment { on_stop, ..a_deployment(&environment, &build) })?;
            let stop_branch = Some("topic".to_owned());
            tx.environments().update(&Environment { stop_branch, ..environment })?;
        }
        Ok(())
    });
    made.expect("the store of the server can be written");
    let stopped = || {
        let all = read_store(forge, |tx| tx.environments().list(project, Page::Whole)).items;
        all.iter().filter(|one| one.state == EnvironmentState::Stopped).count()
    };
    let path = format!("{}/topic", fixture.branches);
    forge.delete(&path).token(fixture.token("developer")).send().expect(200);
    assert_eq!(stopped(), AT_ONCE);
    do_tasks(forge);
    assert_eq!(stopped(), AT_ONCE + 61);
    let all = builds(forge, &fixture);
    let started = all.iter().find(|build| build["name"] == "stop").expect("it is listed");
    assert_eq!(started["status"], "pending");
    assert_eq!(started["user"]["username"], "developer");
}

/// "its deployments go with it" (section 10), although their rows are deleted in steps.
/// DELETE /projects/:id/environments/:environment_id
fn an_environment_with_many_deployments_is_gone_at_once(forge: &Forge) {
    let fixture =
        ci_fixture(forge, "deploy: {script: ship, environment: {name: live, url: http://a}}");
    let runner = shared_runner(forge, &[]);
    let (project, master) = (ProjectId(fixture.project()), fixture.token("master"));
    push(forge, &fixture, "topic");
    let build = runner.take().expect("the job waits");
    runner.end(&build, "success");
    let path = |rest: &str| format!("{}/{rest}", fixture.cast.path);
    let get = |rest: &str| forge.get(&path(rest)).token(master).send();
    let live = ids(&get("environments").expect(200))[0];
    let kept = forge.post(&path("environments")).token(master).form(&[("name", "kept")]).send();
    let kept = EnvironmentId(id_of(&kept.expect(201)));
    let made: Result<DeploymentId, StoreError> = forge.app.store.write(|tx| {
        let build = tx.builds().find(BuildId(id_of(&build)))?.expect("it was just run");
        let live = tx.environments().find(project, EnvironmentId(live))?.expect("it was listed");
        let kept = tx.environments().find(project, kept)?.expect("it was just created");
        for _ in 0..2500 {
            tx.deployments().insert(a_deployment(&live, &build))?;
        }
        Ok(tx.deployments().insert(a_deployment(&kept, &build))?.id)
    });
    let last = made.expect("the store of the server can be written").0;
    let first = ids(&get("deployments?per_page=1").expect(200))[0];
    assert_eq!(get("deployments").header("X-Total"), Some("2502"));
    let one = path(&format!("environments/{live}"));
    let gone = forge.delete(&one).token(master).send().expect(200);
    assert_eq!((&gone["name"], &gone["external_url"]), (&json!("live"), &json!("http://a")));
    let assert_gone = || {
        assert_eq!(ids(&get("environments?per_page=1").expect(200)), [kept.0]);
        let left = get("deployments");
        assert_eq!((ids(&left.expect(200)), left.header("X-Total")), (vec![last], Some("1")));
        assert_eq!(ids(&get("deployments?per_page=1&page=1").expect(200)), [last]);
        assert_eq!(get(&format!("deployments/{first}")).expect(404), message("404 Not found"));
        let again = forge.delete(&one).token(master).send().expect(404);
        assert_eq!(again, message("404 Not found"));
    };
    assert_gone();
    // The name and the URL are free.
    let form = [("name", "live"), ("external_url", "http://a")];
    forge.post(&path("environments")).token(master).form(&form).send().expect(201);
    while removal::step(&forge.app).expect("rows can be removed") {}
    assert_gone();
}
