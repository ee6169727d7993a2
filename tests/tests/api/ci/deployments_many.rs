//! Environments and deployments in large numbers: what one request does is bounded, and the rest follows.

use hexforge_domain::deployment::NewDeployment;
use hexforge_domain::environment::{Environment, EnvironmentState};
use hexforge_domain::id::{BuildId, ProjectId};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::StoreError;
use hexforge_domain_testing::builders::{a_deployment, an_environment};
use hexforge_tests::{Forge, on_every_store};

use super::ci_support::{builds, ci_fixture, push};
use super::runner_support::shared_runner;
use crate::api::repositories::refs_support::do_tasks;
use crate::api::support::{id_of, read_store};

on_every_store!(a_branch_with_many_environments_stops_them_in_batches);

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
