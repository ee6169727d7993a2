//! Many concurrent runners, on PostgreSQL with two processes: every build runs exactly once.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::{self, Program, ROOT, RUNNERS};
use hexforge_tests::{Request, Runner, WorkTree};
use serde_json::Value;

const RUNNERS_AT_ONCE: usize = 20;
const PROJECTS: usize = 4;
const JOBS: usize = 10;

#[test]
fn every_build_is_run_once_on_sqlite() {
    race(&TestDatabase::sqlite(), 1);
}

#[test]
fn every_build_is_run_once_on_postgres_by_two_processes() {
    if let Some(database) = TestDatabase::postgres() {
        race(&database, 2);
    }
}

/// The number of builds; `HEXFORGE_RACE_BUILDS=2000` for the full race.
fn wanted() -> usize {
    let builds = std::env::var("HEXFORGE_RACE_BUILDS").ok();
    builds.and_then(|builds| builds.parse().ok()).unwrap_or(80)
}

fn api(address: SocketAddr, method: &str, path: &str) -> Request {
    Request::new(address, method, &format!("/api/v3{path}")).token(ROOT)
}

fn race(database: &TestDatabase, processes: usize) {
    let program = program::executable();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let servers: Vec<Program> = (0..processes)
        .map(|_| Program::start(&program, folder.path(), &database.url).expect("it serves"))
        .collect();
    let addresses: Vec<SocketAddr> = servers.iter().map(|server| server.address).collect();
    let (projects, total) = filled(addresses[0], folder.path());

    let taken: Mutex<HashMap<i64, usize>> = Mutex::new(HashMap::new());
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for number in 0..RUNNERS_AT_ONCE {
            let runner = Runner::register(addresses[number % processes], RUNNERS, &[]);
            let (taken, done) = (&taken, &done);
            scope.spawn(move || {
                while done.load(Ordering::Relaxed) < total {
                    let Some(build) = runner.take() else {
                        std::thread::sleep(std::time::Duration::from_millis(5));
                        continue;
                    };
                    let id = build["id"].as_i64().expect("an id");
                    *taken.lock().expect("nobody panics").entry(id).or_default() += 1;
                    runner.end(&build, "success");
                    done.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    let taken = taken.into_inner().expect("nobody panics");
    let twice: Vec<_> = taken.iter().filter(|(_, times)| **times != 1).collect();
    assert!(twice.is_empty(), "{twice:?}");
    assert_eq!(taken.len(), total);
    for project in projects {
        for page in 1.. {
            let path = format!("/projects/{project}/pipelines?per_page=100&page={page}");
            let pipelines = api(addresses[0], "GET", &path).send().expect(200);
            let pipelines = pipelines.as_array().expect("a list").clone();
            assert!(pipelines.iter().all(|pipeline| pipeline["status"] == "success"));
            if pipelines.is_empty() {
                break;
            }
        }
    }
}

/// Creates projects with pipelines. Returns the projects and the number of pending builds.
fn filled(address: SocketAddr, folder: &std::path::Path) -> (Vec<i64>, usize) {
    let jobs: String = (0..JOBS).map(|n| format!("job {n}: {{script: x}}\n")).collect();
    let tree = WorkTree::new(&folder.join("unused.git"));
    tree.write(".gitlab-ci.yml", jobs).commit("Build it");
    let pipelines = wanted().div_ceil(PROJECTS * JOBS);
    let projects: Vec<i64> = (0..PROJECTS)
        .map(|number| {
            let name = format!("ship-{number}");
            let made =
                api(address, "POST", "/projects").form(&[("name", &name)]).send().expect(201);
            let push = format!("http://root:{ROOT}@{address}/root/{name}.git");
            // The push has created the first pipeline.
            tree.git(&["push", "-q", &push, "master"]);
            let project = made["id"].as_i64().expect("an id");
            for _ in 1..pipelines {
                let path = format!("/projects/{project}/pipeline");
                let made: Value =
                    api(address, "POST", &path).form(&[("ref", "master")]).send().expect(201);
                assert_eq!(made["status"], "pending");
            }
            project
        })
        .collect();
    (projects, PROJECTS * JOBS * pipelines)
}
