//! Clocks that are wrong. The library `CLOCK` shifts the time of day of one process by the seconds in a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use hexforge_persistence_diesel::testing::TestDatabase;

use super::scene::{RunnerProcess, Scene, sleeps, wait_until};

const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>

int clock_gettime(clockid_t id, struct timespec *out) {
    int result = syscall(SYS_clock_gettime, id, out);
    const char *name = getenv("SHIFTED_BY");
    if (id == CLOCK_REALTIME && name != NULL) {
        FILE *file = fopen(name, "r");
        long seconds = 0;
        if (file != NULL) {
            if (fscanf(file, "%ld", &seconds) == 1) out->tv_sec += seconds;
            fclose(file);
        }
    }
    return result;
}
"#;

/// A clock that can be set, for processes with these variables.
struct Clock {
    folder: tempfile::TempDir,
}

impl Clock {
    fn new(seconds: i64) -> Self {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let source = folder.path().join("clock.c");
        fs::write(&source, CLOCK).expect("written");
        let mut compile = Command::new("cc");
        compile.args(["-shared", "-fPIC", "-o"]).arg(folder.path().join("clock.so")).arg(source);
        assert!(compile.status().expect("a C compiler is installed").success());
        let clock = Self { folder };
        clock.shift(seconds);
        clock
    }

    fn shift(&self, seconds: i64) {
        // At once, because a process may read it now.
        let new = self.folder.path().join("new");
        fs::write(&new, seconds.to_string()).expect("written");
        fs::rename(new, self.file()).expect("it is ours");
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("seconds")
    }

    fn library(&self) -> PathBuf {
        self.folder.path().join("clock.so")
    }

    fn runner(&self, scene: &Scene) -> RunnerProcess {
        if !scene.config_file().exists() {
            scene.register(&[]);
        }
        let mut command = scene.runner_command(&["run"]);
        command.env("LD_PRELOAD", self.library()).env("SHIFTED_BY", self.file());
        RunnerProcess::start(command)
    }

    /// A server with this clock.
    fn scene(&self) -> Scene {
        let folder = tempfile::tempdir().expect("a folder for temporary files exists");
        let text = |path: &Path| path.display().to_string();
        let (library, file) = (text(&self.library()), text(&self.file()));
        let settings = [("LD_PRELOAD", &*library), ("SHIFTED_BY", &*file)];
        Scene::with(folder, TestDatabase::sqlite(), &settings)
    }
}

const YEAR: i64 = 366 * 24 * 3600;

const PIPELINE: &str = "
stages: [one, two]
cache: {key: all, paths: [cached]}
make:
  stage: one
  script: [touch cached made, sleep 1]
  artifacts: {paths: [made], expire_in: 1 hour}
use: {stage: two, script: [test -f made && test -f cached]}
";

#[test]
fn builds_run_with_a_wrong_clock_of_the_runner() {
    for seconds in [YEAR, -YEAR] {
        let (scene, clock) = (Scene::new(), Clock::new(seconds));
        scene.push(PIPELINE);
        let _runner = clock.runner(&scene);
        scene.wait_for_pipeline("success");
        assert!(
            scene.build("make")["artifacts_file"].is_object(),
            "they expire by the server's clock"
        );
    }
}

/// What a killed runner left is reported, not removed as old.
#[test]
fn a_killed_runner_with_a_wrong_clock_reports_its_build() {
    let (scene, clock) = (Scene::new(), Clock::new(YEAR));
    scene.push("job: {script: ['echo begun', 'sleep 3022.5']}\n");
    let mut runner = scene.start_runner(&[]);
    assert!(wait_until(|| sleeps("3022.5") && scene.trace("job").contains("begun")));
    runner.kill();
    let _runner = clock.runner(&scene);
    scene.wait_for_status("job", "failed");
    assert!(scene.trace("job").contains("the runner was killed"), "{}", scene.trace("job"));
}

#[test]
fn builds_run_with_a_wrong_clock_of_the_server() {
    let scene = Clock::new(YEAR).scene();
    scene.push(PIPELINE);
    let _runner = scene.start_runner(&[]);
    scene.wait_for_pipeline("success");
}

/// The clock of the server is set forward, or the machine slept: that is no silence of the runner.
#[test]
fn a_jump_of_the_clock_fails_no_build() {
    let clock = Clock::new(0);
    let scene = clock.scene();
    scene.push("job: {script: ['echo begun', 'sleep 16', 'echo finished']}\n");
    let _runner = scene.start_runner(&[]);
    // Longer than the silence that is allowed, so that the server fails silent builds.
    std::thread::sleep(std::time::Duration::from_secs(7));
    assert!(wait_until(|| scene.trace("job").contains("begun")));
    clock.shift(3600);
    scene.wait_for_status("job", "success");
}
