//! The executors that isolate builds.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use super::scene::{Scene, has_bubblewrap};

const ISOLATED: &str = r#"
variables: {"with-dash": kept, PLACES: "$HOME $USER $TMPDIR", PATH: "$PATH:/more"}
stages: [one, two]
isolated:
  stage: one
  script:
    - test "$(ps ax 2>/dev/null | wc -l)" -lt 20
    - "! touch /usr/x 2>/dev/null"
    - touch ~/private /tmp/private result
    - test "$HOME" = /home/build && test -z "$HOST_SECRET"
    - env | grep -q '^with-dash=kept$'
    - test "$PLACES" = "/home/build build /tmp" && test "$PATH" != :/more
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

/// A runner that is root has builds of another user in its sandbox, without capabilities: root could mount the system
/// again, writable, and change settings of the kernel.
#[test]
fn a_sandbox_of_root_has_no_rights_of_root() {
    let Some(scene) = Scene::sandboxed() else { return };
    scene.push(
        r#"
job:
  script:
    - 'grep -q "^CapEff:[[:space:]]*0*$" /proc/self/status'
    - "! mount -o remount,rw,bind /usr 2>/dev/null"
    - "! mount -t tmpfs none /tmp 2>/dev/null"
    - test "$(id -u)" != 0
    - "! (cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern) 2>/dev/null"
    - "! cat /etc/shadow 2>/dev/null"
"#,
    );
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "success");
}

/// The error names what to change.
#[test]
fn a_folder_that_the_user_of_builds_cannot_reach_is_named() {
    let scene = Scene::new();
    if !scene.is_root() {
        return;
    }
    scene.register(&["--user", "nobody"]);
    scene.push("job: {script: [echo]}\n");
    let closed = tempfile::tempdir().expect("a folder for temporary files exists");
    let private = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(closed.path(), private).expect("it is ours");
    let folder = closed.path().join("builds").display().to_string();
    let _runner = scene.start_runner(&["--builds-dir", &folder]);
    scene.wait_for_status("job", "failed");
    let log = scene.trace("job");
    assert!(log.contains("user `nobody` cannot reach the folder of the builds"), "{log}");
}

/// The runner is root, and its builds are not.
#[test]
fn builds_run_as_the_chosen_user() {
    let scene = Scene::new();
    let refused = scene.run(&[
        "register",
        "--url",
        "http://127.0.0.1:1",
        "--token",
        "x",
        "--executor",
        "container",
        "--user",
        "nobody",
    ]);
    assert!(String::from_utf8_lossy(&refused.stderr).contains("--user is for the executors"));
    if !scene.is_root() {
        return;
    }
    scene.register(&["--user", "nobody"]);
    let config = scene.config_file().display().to_string();
    scene.push(&format!(
        "stages: [one, two]\nvariables: {{PLACES: \"$HOME $USER $TMPDIR\"}}\n\
         one:\n  stage: one\n  script:\n    - test \"$(id -un)\" = nobody && test \"$USER\" = nobody\n    \
         - test \"$PLACES\" = \"$HOME $USER $TMPDIR\"\n    \
         - '! cat {config} 2>/dev/null'\n    - touch new && mkdir -p folder && touch folder/file \"$TMPDIR/x\"\n  \
         artifacts: {{untracked: true}}\n  cache: {{paths: [folder]}}\n\
         two:\n  stage: two\n  cache: {{key: one/master, paths: [folder]}}\n  \
         script: ['test -O new && test -O folder/file', 'echo more >> new', 'git status', 'git fetch -q']\n"
    ));
    // A folder that this user can reach.
    let builds = tempfile::tempdir().expect("a folder for temporary files exists");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(builds.path(), open).expect("it is ours");
    let folder = builds.path().join("builds").display().to_string();
    for _ in 0..2 {
        let _runner = scene.start_runner(&["--builds-dir", &folder]);
        scene.wait_for_pipeline("success");
        scene.post("/pipeline", &[("ref", "master")]);
    }
}

/// The job replaces its working copy by a link. The runner is root, but packs and unpacks as the user of the job.
#[test]
fn a_job_that_moves_its_working_copy_gets_no_rights_of_the_runner() {
    let scene = Scene::new();
    if !scene.is_root() {
        return;
    }
    let builds = tempfile::tempdir().expect("a folder for temporary files exists");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(builds.path(), open.clone()).expect("it is ours");
    let secrets = builds.path().join("secrets");
    std::fs::create_dir(&secrets).expect("it is ours");
    std::fs::set_permissions(&secrets, open).expect("it is ours");
    let secret = secrets.join("secret");
    std::fs::write(&secret, "SECRET").expect("written");
    let private = std::fs::Permissions::from_mode(0o600);
    std::fs::set_permissions(&secret, private).expect("it is ours");
    scene.register(&["--user", "nobody"]);
    let place = secrets.display();
    scene.push(&format!(
        "stages: [one, two, three]\n\
         store:\n  stage: one\n  script: [touch planted]\n  artifacts: {{paths: [planted]}}\n\
         move:\n  stage: two\n  dependencies: []\n  script:\n    - here=$PWD; cd ..; mv \"$here\" moved; ln -s {place} \"$here\"\n  \
         artifacts: {{paths: [secret]}}\n\
         unpack:\n  stage: three\n  when: always\n  variables: {{GIT_STRATEGY: none}}\n  dependencies: [store]\n  script: [echo]\n"
    ));
    let folder = builds.path().join("builds").display().to_string();
    let _runner = scene.start_runner(&["--builds-dir", &folder]);
    scene.wait_for_status("store", "success");
    scene.wait_for_status("move", "failed");
    assert!(scene.trace("move").contains("secret"), "{}", scene.trace("move"));
    scene.wait_for_status("unpack", "failed");
    assert!(!secrets.join("planted").exists(), "{}", scene.trace("unpack"));
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
