//! Runner and server are killed at random while builds run.

use std::collections::BTreeMap;
use std::time::Duration;

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::program::ROOT;
use hexforge_tests::random::{RandomNumbers, number_from_env};
use serde_json::Value;

use super::scene::{Scene, sleeps, wait_at_most};

/// The kills unless `HEXFORGE_KILLS` names another number.
const KILLS: usize = 6;

/// The lines of a build that runs to its end.
const LINES: usize = 25;

/// The longest time until all builds have ended.
const PATIENCE: Duration = Duration::from_secs(150);

/// The logs that the server acknowledged, as they were last read.
#[derive(Default)]
struct Seen(BTreeMap<i64, Vec<u8>>);

impl Seen {
    /// Reads all logs. What was there before must still be there.
    fn look(&mut self, scene: &Scene) {
        for build in builds(scene) {
            let id = build["id"].as_i64().expect("a number");
            let path = format!("/projects/1/builds/{id}/trace");
            let log = scene.server.request("GET", &path).token(ROOT).send().body;
            let before = self.0.entry(id).or_default();
            assert!(log.starts_with(before), "build {id} lost a part of its log");
            *before = log;
        }
    }
}

fn builds(scene: &Scene) -> Vec<Value> {
    scene.get("/builds?per_page=100").as_array().expect("a list").clone()
}

fn unfinished(scene: &Scene) -> Vec<Value> {
    let ended = |build: &Value| matches!(build["status"].as_str(), Some("success" | "failed"));
    builds(scene).into_iter().filter(|build| !ended(build)).collect()
}

#[test]
fn kills_lose_no_line_leave_no_process_and_stop_no_build() {
    kill_at_random(Scene::new(), "3012.5");
}

#[test]
fn kills_lose_no_line_leave_no_process_and_stop_no_build_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        kill_at_random(Scene::on(database), "3013.5");
    }
}

/// `seconds` identifies the sleeping processes that the builds leave.
fn kill_at_random(mut scene: Scene, seconds: &str) {
    let jobs: String = (1..=4)
        .map(|job| {
            format!(
                "job{job}:\n  script:\n    - setsid sleep {seconds} &\n    \
                 - for i in $(seq {LINES}); do echo \"line-$i-\"; sleep 0.06; done\n"
            )
        })
        .collect();
    scene.push(&jobs);
    let mut random = RandomNumbers::seeded_by_time();
    let mut seen = Seen::default();
    let mut runner = scene.start_runner(&["--concurrent", "3"]);
    for _ in 0..number_from_env("HEXFORGE_KILLS").unwrap_or(KILLS) {
        if unfinished(&scene).is_empty() {
            scene.post("/pipeline", &[("ref", "master")]);
        }
        std::thread::sleep(Duration::from_millis(200 + random.below(1200) as u64));
        seen.look(&scene);
        if random.below(3) == 0 {
            scene.restart_server(Duration::from_millis(random.below(700) as u64));
        } else {
            runner.kill();
            runner = scene.start_runner(&["--concurrent", "3"]);
        }
    }
    let ended = wait_at_most(PATIENCE, &mut || {
        seen.look(&scene);
        unfinished(&scene).is_empty()
    });
    assert!(ended, "builds are stuck: {:#?}", unfinished(&scene));
    // The last look was before the last build ended.
    seen.look(&scene);
    let expected: Vec<String> = (1..=LINES).map(|line| format!("line-{line}-")).collect();
    for build in builds(&scene) {
        let id = build["id"].as_i64().expect("a number");
        let log = String::from_utf8_lossy(&seen.0[&id]).into_owned();
        let lines: Vec<&str> = log.lines().filter(|line| line.starts_with("line-")).collect();
        let whole = if build["status"] == "success" { LINES } else { lines.len() };
        assert_eq!(lines, expected[..whole], "{}: {log}", build["status"]);
    }
    drop(runner);
    let is_gone = wait_at_most(Duration::from_secs(5), &mut || !sleeps(seconds));
    assert!(is_gone, "a process is left");
}
