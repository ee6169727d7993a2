//! The container executor, with a program in the place of podman: it writes down its command line and runs the script.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::scene::{RunnerProcess, Scene, sleeps, wait_at_most, wait_until};

/// A service leaves a process that is no child of its client, as podman does.
const PODMAN: &str = r#"#!/bin/sh
printf '%s\n' "$*" >> LOG
case "$1" in
    run) ;;
    start) setsid sleep SECONDS & echo $! > LOG.service; exec sleep SECONDS ;;
    *) exit 0 ;;
esac
folder=; scripts=
while [ $# -gt 2 ]; do
    case "$1" in
        --user) exit 0 ;;
        -w) folder=$2 ;;
        -v) case "$2" in *:/hexforge:ro) scripts=${2%%:*} ;; esac ;;
    esac
    shift
done
stat -c 'mode %a %n' "$scripts" "$scripts/${2##*/}" >> LOG
cd "$folder" && exec "$1" "$scripts/${2##*/}"
"#;

/// Installs the program and returns the file with its command lines. Its services sleep for so many seconds.
fn install(folder: &Path, seconds: &str) -> PathBuf {
    let (program, log) = (folder.join("podman"), folder.join("podman.log"));
    let text = PODMAN.replace("LOG", &log.display().to_string()).replace("SECONDS", seconds);
    fs::write(&program, text).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    log
}

/// Starts a runner that finds the program in this folder.
fn start_runner(scene: &Scene, folder: &Path) -> RunnerProcess {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = scene.runner_command(&["run"]);
    command.env("PATH", format!("{}:{path}", folder.display()));
    RunnerProcess::start(command)
}

#[test]
fn a_container_gets_image_services_limits_and_volumes() {
    let scene = Scene::new();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let log = install(folder.path(), "3023.5");
    scene.register(&["--executor", "container", "--image", "debian:12"]);
    let file = scene.config_file();
    let text = fs::read_to_string(&file).expect("it was written");
    let more = "pull = \"always\"\nvolumes = [\"/root/.cargo\"]\nmemory_mb = 512\nprocesses = 90\ncpus = 1.5\n";
    fs::write(&file, text + more).expect("it can be written");
    scene.push(
        r#"
stages: [one, two]
plain:
  stage: one
  script:
    - echo value $GREETING
    - test "$(stat -c %a . .gitlab-ci.yml | xargs)" = "777 666"
    - mkdir out && touch out/made
  variables: {GREETING: "it's me"}
  artifacts: {untracked: true}
served:
  stage: two
  variables: {TAG: "2.1", BASE: mysql}
  image: "ruby:$TAG"
  services: ["${BASE}:5.7", tutum/wordpress]
  script: ["test -f out/made", "test $(stat -c %a out) = 755"]
  after_script: [echo after]
refused:
  stage: two
  image: --privileged
  allow_failure: true
  script: [echo]
"#,
    );
    let _runner = start_runner(&scene, folder.path());
    scene.wait_for_pipeline("success");
    assert!(scene.trace("plain").contains("value it's me\n"), "{}", scene.trace("plain"));
    assert!(scene.trace("refused").contains("`--privileged` is not the name of an image"));
    let lines = fs::read_to_string(log).expect("it was written");
    assert!(!lines.contains("it's me"), "everybody can read command lines: {lines}");
    let line = |part: &str| {
        let found = lines.lines().find(|line| line.contains(part));
        found.unwrap_or_else(|| panic!("`{part}` is missing:\n{lines}"))
    };
    let plain = line("debian:12 sh /hexforge/script");
    for part in [
        "run --rm --init --name hexforge-1-",
        "--pull=always",
        "--memory=512m",
        "--pids-limit=90",
        "--cpus=1.5",
        "-v hexforge-1-",
        "-1-0:/root/.cargo",
        "--label hexforge-runner",
    ] {
        assert!(plain.contains(part), "`{part}` is missing: {plain}");
    }
    assert!(!plain.contains("--network"), "{plain}");
    // Users of images read them.
    let modes: Vec<&str> = lines.lines().filter(|line| line.starts_with("mode ")).collect();
    let (folder, script) = (modes[0], modes[1]);
    assert!(folder.starts_with("mode 755 ") && folder.ends_with("/scripts"), "{folder}");
    assert!(script.starts_with("mode 644 ") && script.ends_with("/scripts/script"), "{script}");
    line("network create hexforge-1-");
    let service = line("mysql:5.7");
    assert!(service.contains("--network-alias mysql "), "{lines}");
    assert!(service.contains("--memory=512m") && service.contains("--pids-limit=90"), "{service}");
    let other = line("tutum/wordpress");
    let aliases = "--network-alias tutum__wordpress --network-alias tutum-wordpress";
    assert!(other.starts_with("create --rm") && other.contains(aliases), "{other}");
    line("start --attach hexforge-1-");
    assert!(line("ruby:2.1 sh /hexforge/script").contains("--network hexforge-1-"));
    line("ruby:2.1 sh /hexforge/after_script");
    assert!(line("rm -f hexforge-1-").contains("hexforge-1-"), "{lines}");
    line("network rm hexforge-1-");
}

#[test]
fn services_run_until_their_build_ends_or_its_runner_is_killed() {
    let scene = Scene::new();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let log = install(folder.path(), "3024.5");
    scene.register(&["--executor", "container", "--image", "debian:12"]);
    let service = log.with_extension("log.service").display().to_string();
    let job = format!(
        "{{services: [mysql], script: ['for i in $(seq 50); do test -s {service} && break; sleep 0.1; done', 'sleep 1', \
         'kill -0 $(cat {service})']"
    );
    scene.push(&format!(
        "job: {job}, after_script: ['kill -0 $(cat {service}) && echo it is there']}}\n"
    ));
    let mut runner = start_runner(&scene, folder.path());
    scene.wait_for_status("job", "success");
    assert!(scene.trace("job").contains("it is there\n"), "{}", scene.trace("job"));
    assert!(wait_until(|| !sleeps("3024.5")), "a service is left");
    scene.push(&format!("next: {job}}}\n").replace("'sleep 1'", "'sleep 3025.5'"));
    assert!(wait_until(|| sleeps("3024.5") && sleeps("3025.5")), "{}", scene.trace("next"));
    runner.kill();
    let is_gone = || !sleeps("3024.5") && !sleeps("3025.5");
    assert!(wait_at_most(Duration::from_secs(4), &mut { is_gone }), "a service is left");
}

/// Root in a container owns what it makes, which a runner that is not root cannot remove.
#[test]
fn files_of_other_users_are_removed_in_a_container_before_the_next_build() {
    let scene = Scene::new();
    if !scene.is_root() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let log = install(folder.path(), "3026.5");
    scene.register(&["--executor", "container", "--image", "debian:12"]);
    let _runner = start_runner(&scene, folder.path());
    let emptied = || fs::read_to_string(&log).expect("it was written").contains(" find /");
    for (name, script, expected) in [
        ("first", "touch made", false),
        ("second", "touch made && chown 65534 made", false),
        ("third", "test ! -e made", true),
    ] {
        scene.push(&format!("{name}: {{script: ['{script}']}}\n"));
        scene.wait_for_status(name, "success");
        assert_eq!(emptied(), expected, "{name}");
    }
    let lines = fs::read_to_string(&log).expect("it was written");
    let line = lines.lines().find(|line| line.contains(" find /")).expect("it is there");
    assert!(line.contains("--network none --user 0:0 -v /"), "{line}");
    assert!(line.contains(" debian:12 find /") && line.ends_with("/root/ship -delete"), "{line}");
}
