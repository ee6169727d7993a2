//! Logs: large ones, binary ones, and those of a server that goes away.

use std::process::Command;
use std::time::Duration;

use super::scene::{Scene, wait_until};

#[test]
fn a_log_of_more_than_ten_mebibytes_arrives_whole() {
    let scene = Scene::new();
    scene.push("job: {script: ['seq 1 1800000']}\n");
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "success");
    let log = scene.trace_bytes("job");
    let expected = Command::new("seq").args(["1", "1800000"]).output().expect("it runs").stdout;
    assert!(expected.len() > 11 << 20);
    let found = log.windows(16).position(|window| *window == expected[..16]).expect("it begins");
    assert!(log[found..].starts_with(&expected), "lines are missing");
    assert!(log.ends_with(b"Build succeeded\n"));
}

#[test]
fn a_log_is_cut_at_the_limit_and_the_build_goes_on() {
    let scene = Scene::new();
    scene.register(&[]);
    let file = scene.config_file();
    let text = std::fs::read_to_string(&file).expect("it was written") + "log_limit_mb = 1\n";
    std::fs::write(&file, text).expect("it can be written");
    scene.push("job: {script: ['seq 1 400000', 'echo done > file'], artifacts: {paths: [file]}}\n");
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "success");
    let log = scene.trace("job");
    assert!(log.len() < (1 << 20) + 1000);
    assert!(
        log.contains("the rest of the output is dropped") && log.ends_with("Build succeeded\n")
    );
    assert_eq!(scene.build("job")["artifacts_file"]["filename"], "artifacts.zip");
}

#[test]
fn binary_output_without_a_newline_arrives_unchanged() {
    let scene = Scene::new();
    let bytes = r"\001\377\000\033[31mred\033[0m\r\n\ttab";
    scene.push(&format!("job:\n  script:\n    - printf '{bytes}' # binary\n"));
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "success");
    let (log, expected) = (scene.trace_bytes("job"), b"\x01\xff\x00\x1b[31mred\x1b[0m\r\n\ttab");
    assert!(log.windows(expected.len()).any(|window| window == expected), "{log:?}");
}

/// The server is killed twice while the build writes. Nothing is lost or doubled.
#[test]
fn a_build_survives_restarts_of_the_server() {
    let mut scene = Scene::new();
    let loop_ = "for i in $(seq 1 60); do echo line-$i-; sleep 0.1; done";
    scene.push(&format!(
        "job:\n  script:\n    - {loop_}\n    - touch file\n  artifacts: {{paths: [file]}}\n"
    ));
    let _runner = scene.start_runner(&[]);
    assert!(wait_until(|| scene.trace("job").contains("line-5-\n")), "it does not start");
    scene.restart_server(Duration::from_millis(700));
    assert!(wait_until(|| scene.trace("job").contains("line-30-\n")), "it does not go on");
    scene.restart_server(Duration::ZERO);
    scene.wait_for_status("job", "success");
    let log = scene.trace("job");
    let lines: Vec<&str> = log.lines().filter(|line| line.starts_with("line-")).collect();
    let expected: Vec<String> = (1..=60).map(|i| format!("line-{i}-")).collect();
    assert_eq!(lines, expected);
    assert_eq!(scene.build("job")["artifacts_file"]["filename"], "artifacts.zip");
}
