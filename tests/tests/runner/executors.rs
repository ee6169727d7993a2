//! The executors that isolate builds.

use std::process::{Command, Stdio};

use super::scene::Scene;

#[expect(clippy::print_stderr, reason = "what is skipped is to be seen")]
fn has_bubblewrap() -> bool {
    let check = ["--ro-bind", "/", "/", "--unshare-pid", "true"];
    let works = Command::new("bwrap").args(check).stderr(Stdio::null()).status();
    let works = works.is_ok_and(|status| status.success());
    if !works {
        assert!(std::env::var_os("HEXFORGE_REQUIRE_BWRAP").is_none(), "there is no bubblewrap");
        eprintln!("SKIPPED: there is no bubblewrap that works here");
    }
    works
}

const ISOLATED: &str = r#"
variables: {"with-dash": kept}
stages: [one, two]
isolated:
  stage: one
  script:
    - test "$(ps ax 2>/dev/null | wc -l)" -lt 20
    - "! touch /usr/x 2>/dev/null"
    - touch ~/private /tmp/private result
    - test "$HOME" = /home/build && test -z "$HOST_SECRET"
    - env | grep -q '^with-dash=kept$'
    - "! ls /root/* 2>/dev/null"
    - "! cat CONFIG 2>/dev/null"
    - test "$(git rev-parse HEAD)" = "$CI_BUILD_REF"
    - "! (exec 3<>/dev/tcp/ADDRESS) 2>/dev/null"
    - sleep 3010.5 &
    - echo "the token is $CI_BUILD_TOKEN"
  artifacts: {untracked: true}
  cache: {paths: [result]}
next:
  stage: two
  script:
    - test -f result
    - test ! -e ~/private && test ! -e /tmp/private
"#;

#[test]
fn a_sandbox_isolates_builds() {
    if !has_bubblewrap() {
        return;
    }
    let scene = Scene::new();
    scene.register(&["--executor", "sandbox", "--network", "off"]);
    let address = scene.server.address.to_string().replace(':', "/");
    let config = scene.config_file().display().to_string();
    scene.push(&ISOLATED.replace("ADDRESS", &address).replace("CONFIG", &config));
    let _runner = scene.start_runner(&[]);
    scene.wait_for_pipeline("success");
    let log = scene.trace("isolated");
    assert!(log.contains("the token is [MASKED]"), "{log}");
    assert!(!super::scene::sleeps("3010.5"), "a process is left");
}

/// The error names what has to be installed.
#[test]
fn a_missing_program_fails_the_build_with_a_reason() {
    let scene = Scene::new();
    scene.register(&["--executor", "container"]);
    scene.push("job: {script: [echo]}\n");
    let mut command = scene.runner_command(&["run", "--once"]);
    // Only what the runner itself needs, without podman and docker.
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    for program in ["sh", "bash", "git"] {
        let found = Command::new("which").arg(program).output().expect("it runs").stdout;
        let found = String::from_utf8_lossy(&found).trim().to_owned();
        std::os::unix::fs::symlink(found, folder.path().join(program)).expect("it can be linked");
    }
    let status = command.env("PATH", folder.path()).status().expect("it can be started");
    assert!(status.success());
    assert_eq!(scene.status("job"), "failed");
    let log = scene.trace("job");
    assert!(log.contains("needs podman or docker: neither is installed"), "{log}");
}
