//! Builds that are canceled, time out or lose their runner leave no process behind.

use std::time::{Duration, Instant};

use super::scene::{Scene, sleeps, wait_at_most, wait_until};

/// A job that sleeps: in the foreground, in the background and in a session of its own.
fn sleepers(seconds: &str) -> String {
    format!(
        "job:\n  script:\n    - setsid sleep {seconds} &\n    - (sleep {seconds} &)\n    - sleep {seconds}\n"
    )
}

#[test]
fn a_silent_build_is_canceled_within_seconds_in_the_shell() {
    a_silent_build_is_canceled_within_seconds(&Scene::new(), "3001.5");
}

#[test]
fn a_silent_build_is_canceled_within_seconds_in_a_sandbox() {
    if let Some(scene) = Scene::sandboxed() {
        a_silent_build_is_canceled_within_seconds(&scene, "3007.5");
    }
}

fn a_silent_build_is_canceled_within_seconds(scene: &Scene, seconds: &str) {
    scene.push(&sleepers(seconds));
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "running");
    assert!(wait_until(|| sleeps(seconds)), "{}", scene.trace("job"));
    scene.post(&format!("/builds/{}/cancel", scene.build("job")["id"]), &[]);
    let since = Instant::now();
    assert!(wait_until(|| !sleeps(seconds)));
    assert!(since.elapsed() < Duration::from_secs(4), "it took {:?}", since.elapsed());
    assert_eq!(scene.status("job"), "canceled");
    // The slot is free again.
    scene.push("next: {script: [echo]}\n");
    scene.wait_for_status("next", "success");
}

#[test]
fn a_background_process_does_not_hold_its_build() {
    let scene = Scene::new();
    scene.push("job:\n  script:\n    - sleep 3002.5 & setsid sleep 3002.5 &\n    - echo done\n");
    let _runner = scene.start_runner(&[]);
    let since = Instant::now();
    scene.wait_for_status("job", "success");
    assert!(since.elapsed() < Duration::from_secs(15), "it took {:?}", since.elapsed());
    assert!(!sleeps("3002.5"), "a process is left");
}

#[test]
fn a_build_that_takes_too_long_fails() {
    let scene = Scene::new();
    scene.set("build_timeout", "5");
    scene.push(&(sleepers("3003.5") + "  after_script: [echo cleaned up]\n"));
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "failed");
    let log = scene.trace("job");
    assert!(log.contains("the time limit of the build was reached"), "{log}");
    assert!(log.contains("cleaned up"), "{log}");
    assert!(!sleeps("3003.5"), "a process is left");
}

#[test]
fn processes_that_resist_are_killed_in_the_shell() {
    processes_that_resist_are_killed(&Scene::new(), "3010.75", "0.0131");
}

#[test]
fn processes_that_resist_are_killed_in_a_sandbox() {
    if let Some(scene) = Scene::sandboxed() {
        processes_that_resist_are_killed(&scene, "3010.25", "0.0132");
    }
}

/// A job that ignores SIGTERM, and one that starts processes faster than they can be counted.
fn processes_that_resist_are_killed(scene: &Scene, long: &str, short: &str) {
    scene.push(&format!(
        "job:\n  script:\n    - trap '' TERM\n    - for i in $(seq 20); do (while :; do setsid sleep {short}; done) & done\n    \
         - while :; do sleep {long}; done\n",
    ));
    let _runner = scene.start_runner(&[]);
    assert!(wait_until(|| sleeps(long)), "{}", scene.trace("job"));
    scene.post(&format!("/builds/{}/cancel", scene.build("job")["id"]), &[]);
    let is_gone = || !sleeps(long) && !sleeps(short);
    assert!(wait_at_most(Duration::from_secs(8), &mut { is_gone }), "a process is left");
    // Nothing comes back.
    std::thread::sleep(Duration::from_millis(300));
    assert!(is_gone(), "a process is left");
}

/// The next start of the runner sends the rest of the log and reports the build.
#[test]
fn a_build_of_a_killed_runner_is_reported_by_the_next_run() {
    let scene = Scene::new();
    scene.push("job:\n  script:\n    - echo begun\n    - sleep 3009.5\n");
    let mut runner = scene.start_runner(&[]);
    assert!(wait_until(|| sleeps("3009.5")));
    runner.kill();
    let since = Instant::now();
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "failed");
    assert!(since.elapsed() < Duration::from_secs(5), "it took {:?}", since.elapsed());
    let log = scene.trace("job");
    assert!(log.contains("begun\n") && log.contains("the runner was killed"), "{log}");
    assert!(wait_until(|| !sleeps("3009.5")));
}

/// The supervisor of the build notices the end of the runner. The server fails the build after its silence.
#[test]
fn a_killed_runner_leaves_no_process_and_its_build_fails() {
    let scene = Scene::new();
    scene.push(&sleepers("3004.5"));
    let mut runner = scene.start_runner(&[]);
    assert!(wait_until(|| sleeps("3004.5")));
    // A build that was never reported would return to the queue.
    assert!(wait_until(|| !scene.trace("job").is_empty()), "no log arrived");
    runner.kill();
    assert!(wait_at_most(Duration::from_secs(4), &mut || !sleeps("3004.5")), "a process is left");
    scene.wait_for_status("job", "failed");
}

#[test]
fn a_removed_runner_fails_its_build_at_once() {
    let scene = Scene::new();
    scene.push(&sleepers("3005.5"));
    let _runner = scene.start_runner(&[]);
    assert!(wait_until(|| sleeps("3005.5")));
    let id = &scene.build("job")["runner"]["id"];
    let remove = scene.server.request("DELETE", &format!("/runners/{id}"));
    remove.token(hexforge_tests::program::ROOT).send().expect(200);
    assert_eq!(scene.status("job"), "failed");
    assert!(wait_at_most(Duration::from_secs(4), &mut || !sleeps("3005.5")), "a process is left");
}

#[test]
fn the_first_signal_drains_and_the_second_stops() {
    let scene = Scene::new();
    scene.push("job: {script: ['sleep 2.25', 'echo finished']}\n");
    let mut runner = scene.start_runner(&[]);
    assert!(wait_until(|| sleeps("2.25")));
    scene.post("/pipeline", &[("ref", "master")]);
    runner.signal("-TERM");
    assert!(runner.wait().success());
    let statuses: Vec<String> = scene
        .get("/builds")
        .as_array()
        .into_iter()
        .flatten()
        .map(|build| build["status"].to_string())
        .collect();
    assert_eq!(statuses, ["\"pending\"", "\"success\""]);

    scene.push(&sleepers("3006.5"));
    scene.post(&format!("/builds/{}/cancel", scene.get("/builds")[1]["id"]), &[]);
    let mut runner = scene.start_runner(&[]);
    assert!(wait_until(|| sleeps("3006.5")));
    for _ in 0..2 {
        runner.signal("-INT");
        std::thread::sleep(Duration::from_millis(300));
    }
    assert!(runner.wait().success());
    assert!(!sleeps("3006.5"), "a process is left");
    assert_eq!(scene.status("job"), "failed");
}
