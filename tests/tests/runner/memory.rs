//! Large artifacts and logs take bounded memory, in the runner as in the server.

use super::scene::{PeakMemory, Scene};

/// The most memory in mebibytes that a process may need in addition, for artifacts and logs that are larger. It
/// includes the parts of the program's own file that are read meanwhile, some 30 MiB of a dev build.
const BOUND: u64 = 60;

/// 64 MiB that cannot be compressed are packed, uploaded, downloaded and unpacked.
#[test]
fn artifacts_are_streamed() {
    let scene = Scene::new();
    scene.push(
        "
stages: [one, two]
make:
  stage: one
  script: ['head -c 67108864 /dev/urandom > big', 'sha256sum big > sum']
  artifacts: {paths: [big, sum]}
use:
  stage: two
  script: ['sha256sum -c sum']
",
    );
    let runner = scene.start_runner(&[]);
    let memory = [PeakMemory::of(runner.pid()), PeakMemory::of(scene.server.pid())];
    scene.wait_for_status("make", "success");
    scene.wait_for_status("use", "success");
    let size = scene.build("make")["artifacts_file"]["size"].as_u64().unwrap_or_default();
    assert!(size > 60 << 20, "{size}");
    let grown = memory.map(|memory| memory.growth());
    assert!(grown.iter().all(|grown| *grown < BOUND), "runner and server grew by {grown:?} MiB");
}

/// One line of 100 MiB. The runner keeps the first 60 MiB.
#[test]
fn a_log_of_100_mebibytes_is_cut_and_the_build_succeeds() {
    let scene = Scene::new();
    scene.push("job: {script: [\"head -c 104857600 /dev/zero | tr '\\\\0' x\", 'touch end']}\n");
    let runner = scene.start_runner(&[]);
    let memory = [PeakMemory::of(runner.pid()), PeakMemory::of(scene.server.pid())];
    scene.wait_for_status("job", "success");
    let grown = memory.map(|memory| memory.growth());
    assert!(grown.iter().all(|grown| *grown < BOUND), "runner and server grew by {grown:?} MiB");
    let log = scene.trace_bytes("job");
    assert!((60 << 20..(60 << 20) + 1000).contains(&log.len()), "{}", log.len());
    assert!(log.ends_with(b"Build succeeded\n"));
}
