//! The server is away for seconds in each phase of a build, or takes away the right of a runner.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use hexforge_tests::program::ROOT;

use super::scene::{RunnerProcess, Scene, wait_until};

/// The time that the server is away: longer than a few quick retries take.
const AWAY: Duration = Duration::from_secs(9);

/// A program in the place of git that waits before its first fetch, until a file is removed.
const GIT: &str = "#!/bin/sh
case \" $* \" in *' fetch '*)
    if mkdir FOLDER/fetching 2>/dev/null; then while [ -e FOLDER/wait ]; do sleep 0.1; done; fi ;;
esac
exec REAL \"$@\"
";

/// The server goes away right before git asks it.
#[test]
fn sources_are_fetched_after_the_server_was_away() {
    let mut scene = Scene::new();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let here = folder.path().display().to_string();
    let path = std::env::var("PATH").unwrap_or_default();
    let real = std::env::split_paths(&path).map(|folder| folder.join("git"));
    let real = real.into_iter().find(|file| file.is_file()).expect("git is installed");
    let git = folder.path().join("git");
    let script = GIT.replace("FOLDER", &here).replace("REAL", &real.display().to_string());
    fs::write(&git, script).expect("written");
    fs::set_permissions(&git, fs::Permissions::from_mode(0o755)).expect("it is ours");
    let wait = folder.path().join("wait");
    fs::write(&wait, "").expect("written");
    scene.push("job: {script: [echo]}\n");
    scene.register(&[]);
    let mut command = scene.runner_command(&["run"]);
    command.env("PATH", format!("{here}:{path}"));
    let _runner = RunnerProcess::start(command);
    assert!(wait_until(|| folder.path().join("fetching").exists()), "{}", scene.trace("job"));
    scene.server.kill().expect("it runs");
    fs::remove_file(&wait).expect("it was written");
    scene.restart_server(AWAY);
    scene.wait_for_status("job", "success");
    assert!(scene.trace("job").contains("trying again"), "{}", scene.trace("job"));
}

/// The job ends while the server is away. Artifacts, log and result wait for it.
#[test]
fn artifacts_and_results_arrive_after_the_server_was_away() {
    let mut scene = Scene::new();
    scene.push(
        "
stages: [one, two]
make:
  stage: one
  script: ['echo begun', 'sleep 2', 'echo made > file']
  artifacts: {paths: [file]}
use: {stage: two, script: ['grep made file']}
",
    );
    let _runner = scene.start_runner(&[]);
    assert!(wait_until(|| scene.trace("make").contains("begun\n")), "it does not start");
    scene.restart_server(AWAY);
    scene.wait_for_pipeline("success");
    assert!(scene.trace("make").contains("the server was away"), "{}", scene.trace("make"));
}

/// The next run finds the server away too, and is stopped. The run after it reports how the build ended.
#[test]
fn a_result_outlives_a_runner_that_stops_while_the_server_is_away() {
    let mut scene = Scene::new();
    scene.push("job: {script: ['echo begun', 'sleep 2', 'echo finished']}\n");
    let mut runner = scene.start_runner(&[]);
    assert!(wait_until(|| scene.trace("job").contains("begun\n")), "it does not start");
    scene.server.kill().expect("it runs");
    let folders = scene.config_file().with_file_name("builds").join("tmp");
    let has_result = || {
        let folders = fs::read_dir(&folders).expect("the build runs").flatten();
        folders.into_iter().any(|folder| folder.path().join("result").exists())
    };
    assert!(wait_until(has_result), "the job does not end");
    runner.kill();
    let mut second = scene.start_runner(&[]);
    std::thread::sleep(Duration::from_secs(2));
    second.signal("-TERM");
    assert!(second.wait().success());
    assert!(has_result(), "the result is gone");
    scene.restart_server(Duration::ZERO);
    let _third = scene.start_runner(&[]);
    scene.wait_for_status("job", "success");
    let log = scene.trace("job");
    assert!(log.contains("finished\n") && log.ends_with("Build succeeded\n"), "{log}");
    assert!(wait_until(|| !has_result()), "the folder of the build stays");
}

/// The token of one of two runners in a file is revoked while it builds. Its build fails, and the other runner goes on.
#[test]
fn a_revoked_token_stops_its_own_builds_only() {
    let scene = Scene::new();
    scene.register(&["--tag-list", "first"]);
    let url = format!("http://{}", scene.server.address);
    let token = hexforge_tests::program::RUNNERS;
    let second =
        ["register", "--url", &url, "--token", token, "--name", "two", "--tag-list", "second"];
    assert!(scene.run(&second).status.success());
    scene.push(
        "revoked: {tags: [first], script: ['sleep 3021.5']}\n\
         kept: {tags: [second], script: ['sleep 4', 'echo finished']}\n",
    );
    let _runner = scene.start_runner(&["--concurrent", "2"]);
    scene.wait_for_status("revoked", "running");
    scene.wait_for_status("kept", "running");
    let id = &scene.build("revoked")["runner"]["id"];
    let remove = scene.server.request("DELETE", &format!("/runners/{id}"));
    remove.token(ROOT).send().expect(200);
    scene.wait_for_status("revoked", "failed");
    assert!(wait_until(|| !super::scene::sleeps("3021.5")), "a process is left");
    scene.wait_for_status("kept", "success");
    // Other builds are taken as before.
    scene.push("next: {tags: [second], script: [echo]}\n");
    scene.wait_for_status("next", "success");
}

/// A paused runner finishes what it runs and gets nothing new.
#[test]
fn a_paused_runner_finishes_its_build() {
    let scene = Scene::new();
    scene.push("job: {script: ['sleep 1.5', 'echo finished']}\n");
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "running");
    let set_active = |value| {
        let change = scene.server.request("PUT", "/runners/1").token(ROOT);
        change.form(&[("active", value)]).send().expect(200)
    };
    set_active("false");
    scene.push("next: {script: [echo]}\n");
    scene.wait_for_status("job", "success");
    std::thread::sleep(Duration::from_secs(2));
    assert_eq!(scene.status("next"), "pending");
    set_active("true");
    scene.wait_for_status("next", "success");
}
