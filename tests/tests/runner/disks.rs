//! Full disks, of the runner and of the server.

use hexforge_persistence_diesel::testing::TestDatabase;
use hexforge_tests::SmallDisk;

use super::scene::{Scene, wait_until};

/// A job fills the disk of the runner. Its build fails with the reason, and the next build has room again.
#[test]
fn a_job_that_fills_the_disk_fails_and_later_builds_run() {
    let Some(disk) = SmallDisk::mount(24) else { return };
    let scene = Scene::new();
    scene.push("job: {script: ['echo begun', 'yes 0123456789abcdef > fill']}\n");
    let folder = disk.path().join("builds").display().to_string();
    let _runner = scene.start_runner(&["--builds-dir", &folder]);
    scene.wait_for_status("job", "failed");
    let log = scene.trace("job");
    assert!(log.contains("begun\n") && log.contains("No space left on device"), "{log}");
    assert!(log.contains("Build failed: exit status 1"), "{log}");
    scene.push("next: {script: ['test ! -e fill', 'head -c 9000000 /dev/zero > file']}\n");
    scene.wait_for_status("next", "success");
}

/// The same with output that does not fit: the end of the log says that something is missing.
#[test]
fn output_that_finds_no_room_is_missing_and_the_log_says_so() {
    let Some(disk) = SmallDisk::mount(24) else { return };
    let scene = Scene::new();
    scene.push(
        "job: {script: ['yes 0123456789abcdef > fill || true', 'head -c 3000000 /dev/zero', 'exit 3']}\n",
    );
    let folder = disk.path().join("builds").display().to_string();
    let _runner = scene.start_runner(&["--builds-dir", &folder]);
    scene.wait_for_status("job", "failed");
    let log = scene.trace("job");
    assert!(log.contains("WARNING: output is missing"), "{log}");
    assert!(log.ends_with("ERROR: Build failed: exit status 3\n"), "{log}");
}

/// Archives that find no room: the cache is left out, and the build with artifacts fails.
#[test]
fn artifacts_that_find_no_room_fail_their_build() {
    let Some(disk) = SmallDisk::mount(24) else { return };
    let scene = Scene::new();
    scene.push(
        "job:\n  script: ['head -c 14000000 /dev/urandom > file']\n  cache: {paths: [file]}\n  \
         artifacts: {paths: [file]}\n",
    );
    let folder = disk.path().join("builds").display().to_string();
    let _runner = scene.start_runner(&["--builds-dir", &folder]);
    scene.wait_for_status("job", "failed");
    let log = scene.trace("job");
    assert!(
        log.contains("could not be stored") && log.contains("No space left on device"),
        "{log}"
    );
    scene.push("next: {script: [echo]}\n");
    scene.wait_for_status("next", "success");
}

/// The disk for logs and artifacts is full for a while. The runner sends the log when there is room again.
#[test]
fn a_full_disk_of_the_server_loses_no_line() {
    let Some(disk) = SmallDisk::mount(24) else { return };
    let folder = tempfile::tempdir_in(disk.path()).expect("there is room");
    let scene = Scene::with(folder, TestDatabase::sqlite(), &[]);
    scene.push("job:\n  script:\n    - for i in $(seq 1 60); do echo line-$i-; sleep 0.1; done\n");
    let builds = tempfile::tempdir().expect("a folder for temporary files exists");
    let _runner = scene.start_runner(&["--builds-dir", &builds.path().display().to_string()]);
    assert!(wait_until(|| scene.trace("job").contains("line-5-\n")), "it does not start");
    disk.fill_except(0);
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert_eq!(scene.status("job"), "running");
    disk.remove_filling();
    scene.wait_for_status("job", "success");
    let log = scene.trace("job");
    let lines: Vec<&str> = log.lines().filter(|line| line.starts_with("line-")).collect();
    let expected: Vec<String> = (1..=60).map(|i| format!("line-{i}-")).collect();
    assert_eq!(lines, expected);
}
