//! Kills of the program: no build runs forever, and the status of each pipeline agrees with its builds.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chrono::{TimeDelta, Utc};
use hexforge_domain::build::{Build, Silence};
use hexforge_domain::ci::set::{SetMember, pipeline_status};
use hexforge_domain::ci::status::Status;
use hexforge_domain::id::{BuildId, PipelineId, ProjectId};
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::{self, Program, ROOT, RUNNERS};
use hexforge_tests::{Runner, WorkTree};
use serde_json::Value;

const CONFIGURATION: &str = "\
stages: [build, test, deploy]
compile: {stage: build, script: x}
one: {stage: test, script: x}
two: {stage: test, script: x}
deploy: {stage: deploy, script: x}
";
const RUNNERS_AT_ONCE: usize = 4;

#[test]
fn a_kill_leaves_nothing_running_for_ever_on_sqlite() {
    kill_again_and_again(&TestDatabase::sqlite());
}

#[test]
fn a_kill_leaves_nothing_running_for_ever_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        kill_again_and_again(&database);
    }
}

/// The number of kills; `HEXFORGE_KILLS` changes it.
fn kills() -> usize {
    let kills = std::env::var("HEXFORGE_KILLS").ok();
    kills.and_then(|kills| kills.parse().ok()).unwrap_or(2)
}

fn kill_again_and_again(database: &TestDatabase) {
    let program = program::executable();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let start = || Program::start(&program, folder.path(), &database.url).expect("it serves");
    let mut server = start();
    let fields = [("name", "ship")];
    server.request("POST", "/projects").token(ROOT).form(&fields).send().expect(201);
    let tree = WorkTree::new(&folder.path().join("unused.git"));
    tree.write(".gitlab-ci.yml", CONFIGURATION).commit("Build it");
    let push = format!("http://root:{ROOT}@{}/root/ship.git", server.address);
    tree.git(&["push", "-q", &push, "master"]);
    let runners: Vec<Runner> =
        (0..RUNNERS_AT_ONCE).map(|_| Runner::register(server.address, RUNNERS, &[])).collect();

    for round in 0..kills() {
        let acknowledged = work_until_killed(&mut server, &runners, 7 + 5 * round);
        server = start();
        let store = database.open(hexforge_persistence_diesel::Options::default());
        assert_consistent(&store, &acknowledged);
    }
    // The remaining builds are run, or fail by the timeout of silent builds.
    let left = Runner::register(server.address, RUNNERS, &[]);
    while let Some(build) = left.take() {
        left.end(&build, "success");
    }
    let store = database.open(hexforge_persistence_diesel::Options::default());
    let tomorrow = Utc::now() + TimeDelta::hours(25);
    let silent = read(&store, |tx| {
        tx.builds().silent_since(Silence { pending: tomorrow, running: tomorrow }, 10_000)
    });
    let of_running = every_build(&store)
        .into_iter()
        .filter(|build| matches!(build.status, Status::Pending | Status::Running));
    for build in of_running {
        assert_eq!(build.status, Status::Running, "nothing waits any more");
        assert!(silent.iter().any(|one| one.id == build.id), "{build:?} runs for ever");
    }
}

fn read<T: Send>(
    store: &dyn Store,
    work: impl FnOnce(&mut dyn hexforge_domain::ports::store::Tx) -> Result<T, StoreError> + Send,
) -> T {
    store.read(work).expect("the store can be read")
}

/// Creates pipelines and runs builds until the program is killed. Returns the builds whose end was acknowledged.
fn work_until_killed(server: &mut Program, runners: &[Runner], after: usize) -> Vec<i64> {
    let (address, ended, stopped) = (server.address, AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        let goes_on = || stopped.load(Ordering::Relaxed) == 0;
        let maker = scope.spawn({
            let server: &Program = server;
            let make = move || {
                let request = server.request("POST", "/projects/1/pipeline").token(ROOT);
                request.form(&[("ref", "master")])
            };
            let requests: Vec<_> = (0..200).map(|_| make()).collect();
            move || {
                for request in requests {
                    if !goes_on() || request.try_send().is_none() {
                        return;
                    }
                }
            }
        });
        let workers: Vec<_> = runners
            .iter()
            .map(|runner| {
                let (runner, ended) = (runner.at(address), &ended);
                scope.spawn(move || {
                    let mut acknowledged = Vec::new();
                    while goes_on() {
                        let Some(answer) = runner.build_request().try_send() else { continue };
                        if answer.status != 201 {
                            continue;
                        }
                        let build: Value = answer.json();
                        let _ = runner.append_request(&build, 0, "some output\n").try_send();
                        let told =
                            runner.update_request(&build, &[("state", "success")]).try_send();
                        if told.is_some_and(|told| told.status == 200) {
                            acknowledged.push(build["id"].as_i64().expect("an id"));
                            ended.fetch_add(1, Ordering::Relaxed);
                        }
                    }
                    acknowledged
                })
            })
            .collect();
        while ended.load(Ordering::Relaxed) < after {
            std::thread::sleep(Duration::from_millis(1));
        }
        let pid = server.pid();
        let killed = std::process::Command::new("kill").args(["-9", &pid.to_string()]).status();
        assert!(killed.is_ok_and(|status| status.success()), "a running process can be killed");
        stopped.store(1, Ordering::Relaxed);
        maker.join().expect("no thread panics");
        workers.into_iter().flat_map(|worker| worker.join().expect("no thread panics")).collect()
    })
}

fn every_build(store: &dyn Store) -> Vec<Build> {
    let filter = hexforge_domain::build::BuildFilter::default();
    let page = hexforge_domain::paging::Page::Whole;
    read(store, |tx| tx.builds().list(ProjectId(1), &filter, page)).items
}

fn assert_consistent(store: &dyn Store, acknowledged: &[i64]) {
    let mut of: HashMap<PipelineId, Vec<Build>> = HashMap::new();
    for build in every_build(store) {
        if acknowledged.contains(&build.id.0) {
            assert_eq!(build.status, Status::Success, "{:?} was acknowledged", BuildId(build.id.0));
        }
        of.entry(build.pipeline).or_default().push(build);
    }
    let ids: Vec<PipelineId> = of.keys().copied().collect();
    for pipeline in read(store, |tx| tx.pipelines().find_all(&ids)) {
        let builds = &of[&pipeline.id];
        let latest = builds.iter().filter(|build| !build.superseded);
        let members = latest.map(|build| SetMember {
            status: build.status,
            allow_failure: build.allow_failure,
            when: build.when,
        });
        let expected = pipeline_status(members, pipeline.yaml_errors.is_some());
        assert_eq!(pipeline.status, expected, "{pipeline:?} {builds:?}");
    }
}
