//! A build that succeeds and deploys locks its project. Only the report of its own runner waits for that lock, and its
//! log is stored before, without a lock. The fake and SQLite have one writer at a time, so these tests need PostgreSQL.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::StoreError;
use hexforge_http_actix::Dialect;
use hexforge_tests::{Backend, Forge, ForgeOptions};

use super::runner_support::CiProject;
use crate::api::support::message;

const DEPLOY: &str = "deploy: {script: ship, environment: production}";

/// The time for which a test waits for something that should happen soon.
const SOON: Duration = Duration::from_secs(10);

/// Holds the lock of a project while `work` runs.
fn while_locked(forge: &Forge, project: i64, work: impl FnOnce()) {
    let (locked, is_locked) = mpsc::channel();
    let (done, is_done) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let holder = scope.spawn(move || {
            let held: Result<(), StoreError> = forge.app.store.write(move |tx| {
                tx.projects().lock(ProjectId(project))?;
                locked.send(()).expect("the test waits");
                // Ends also when `work` panics.
                let _ = is_done.recv();
                Ok(())
            });
            held.expect("a project can be locked");
        });
        is_locked.recv().expect("the lock is taken");
        work();
        drop(done);
        holder.join().expect("no panic");
    });
}

fn start() -> Option<Forge> {
    Forge::start(ForgeOptions { backend: Backend::Postgres, dialect: Dialect::Specification })
}

/// PUT /ci/api/v1/builds/:id
#[test]
fn a_runner_without_the_build_does_not_wait_for_the_project() {
    let Some(forge) = start() else { return };
    let ship = CiProject::new(&forge, "ada", DEPLOY);
    let runner = ship.runner(&[]);
    let stranger = ship.runner(&[]);
    ship.pipeline();
    let build = runner.take().expect("a build is waiting");
    while_locked(&forge, ship.project, || {
        let begun = Instant::now();
        let success = [("state", "success")];
        let refused = stranger.update_request(&build, &success).send().expect(404);
        assert_eq!(refused, message("404 Not found"));
        assert!(begun.elapsed() < SOON, "{:?}", begun.elapsed());
    });
    runner.end(&build, "success");
}

/// PUT /ci/api/v1/builds/:id
#[test]
fn the_log_of_a_build_is_stored_before_the_project_is_locked() {
    let Some(forge) = start() else { return };
    let ship = CiProject::new(&forge, "ada", DEPLOY);
    let runner = ship.runner(&[]);
    ship.pipeline();
    let build = runner.take().expect("a build is waiting");
    let trace = ship.path(&format!("/builds/{}/trace", build["id"]));
    let report = [("state", "success"), ("trace", "all is well")];
    thread::scope(|scope| {
        let mut reporting = None;
        while_locked(&forge, ship.project, || {
            reporting = Some(scope.spawn(|| runner.update_request(&build, &report).send()));
            let begun = Instant::now();
            while !forge.get(&trace).token(&ship.owner).send().text().contains("all is well") {
                assert!(begun.elapsed() < SOON, "the log is not stored");
                thread::sleep(Duration::from_millis(20));
            }
            assert_eq!(ship.build(&build)["status"], "running", "the end waits for the project");
        });
        reporting.expect("it was sent").join().expect("no panic").expect(200);
    });
    assert_eq!(ship.build(&build)["status"], "success");
}
