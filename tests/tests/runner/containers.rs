//! The container executor, with a program in the place of podman: it writes down its command line and runs the script.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::scene::Scene;

const PODMAN: &str = r#"#!/bin/sh
printf '%s\n' "$*" >> LOG
[ "$1" = run ] || exit 0
folder=; scripts=; detached=
while [ $# -gt 2 ]; do
    case "$1" in
        -d) detached=yes ;;
        -w) folder=$2 ;;
        -v) case "$2" in *:/hexforge:ro) scripts=${2%%:*} ;; esac ;;
    esac
    shift
done
[ -z "$detached" ] || exit 0
cd "$folder" && exec "$1" "$scripts/${2##*/}"
"#;

fn install(folder: &Path) -> std::path::PathBuf {
    let (program, log) = (folder.join("podman"), folder.join("podman.log"));
    fs::write(&program, PODMAN.replace("LOG", &log.display().to_string())).expect("written");
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).expect("it is ours");
    log
}

#[test]
fn a_container_gets_image_services_limits_and_volumes() {
    let scene = Scene::new();
    let folder = tempfile::tempdir().expect("a folder for temporary files exists");
    let log = install(folder.path());
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
  script: ["echo value $GREETING", "touch made"]
  variables: {GREETING: "it's me"}
  artifacts: {untracked: true}
served:
  stage: two
  image: ruby:2.1
  services: ["mysql:5.7", tutum/wordpress]
  script: [test -f made]
  after_script: [echo after]
refused:
  stage: two
  image: --privileged
  allow_failure: true
  script: [echo]
"#,
    );
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = scene.runner_command(&["run"]);
    command.env("PATH", format!("{}:{path}", folder.path().display()));
    let _runner = super::scene::RunnerProcess::start(command);
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
    line("network create hexforge-1-");
    let service = line("mysql:5.7");
    assert!(service.contains("--network-alias mysql "), "{lines}");
    assert!(service.contains("--memory=512m") && service.contains("--pids-limit=90"), "{service}");
    let other = line("tutum/wordpress");
    let aliases = "--network-alias tutum__wordpress --network-alias tutum-wordpress";
    assert!(other.starts_with("run -d --rm") && other.contains(aliases), "{other}");
    assert!(line("ruby:2.1 sh /hexforge/script").contains("--network hexforge-1-"));
    line("ruby:2.1 sh /hexforge/after_script");
    assert!(line("rm -f hexforge-1-").contains("hexforge-1-"), "{lines}");
    line("network rm hexforge-1-");
}
