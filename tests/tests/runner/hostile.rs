//! What jobs try against the runner and against the builds after them.

use std::time::Duration;

use super::scene::{Scene, sleeps, wait_at_most, wait_until};

#[test]
fn a_job_that_kills_its_supervisor_leaves_no_process() {
    let scene = Scene::new();
    scene.push(
        "job:\n  script:\n    - setsid sleep 3011.5 & sleep 3011.5 &\n    - sleep 0.5\n    - kill -9 $PPID; sleep 3011.5\n",
    );
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "failed");
    let log = scene.trace("job");
    assert!(log.contains("the supervisor of the build was killed"), "{log}");
    assert!(!sleeps("3011.5"), "a process is left");
    scene.push("next: {script: [echo]}\n");
    scene.wait_for_status("next", "success");
}

/// A stopped supervisor answers to nothing.
#[test]
fn a_job_that_stops_its_supervisor_is_canceled() {
    let scene = Scene::new();
    scene.push("job:\n  script:\n    - kill -STOP $PPID; sleep 3013.5\n");
    let _runner = scene.start_runner(&[]);
    assert!(wait_until(|| sleeps("3013.5")), "{}", scene.trace("job"));
    scene.post(&format!("/builds/{}/cancel", scene.build("job")["id"]), &[]);
    assert!(wait_at_most(Duration::from_secs(10), &mut || !sleeps("3013.5")), "a process is left");
}

/// What one build plants in its repository: a hook, settings that run programs, a filter, a changed file that git is
/// told not to look at, and another place for the working copy.
const PLANT: &str = r#"
plant:
  script:
    - test "$(cat file)" = original
    - mkdir -p .git/hooks .git/info
    - printf '#!/bin/sh\necho PLANTED hook\n' > .git/hooks/post-checkout && chmod 755 .git/hooks/post-checkout
    - git config core.fsmonitor 'echo PLANTED monitor'
    - git config filter.evil.smudge 'echo PLANTED filter; cat'
    - git config core.worktree /tmp
    - git config credential.helper '!echo PLANTED helper'
    - git config url.ext::sh.insteadOf http
    - git config protocol.ext.allow always
    - echo '* filter=evil' > .git/info/attributes
    - echo PLANTED > file
    - git -c core.worktree="$PWD" update-index --assume-unchanged file || true
    - git branch planted && git -c core.worktree="$PWD" tag planted && git pack-refs --all
    - git replace "$(git rev-parse HEAD:file)" "$(echo PLANTED | git hash-object -w --stdin)"
    - touch left-over
    - ln -s /etc outside
"#;

const FIND: &str = r#"
find:
  script:
    - test "$(cat file)" = original
    - test ! -e left-over && test ! -L outside
    - "! git config --get-regexp '^(filter|url|protocol|core.fsmonitor|core.worktree)'"
    - "! grep -rs PLANTED . --exclude=.gitlab-ci.yml"
    - test -z "$(git status --porcelain)"
    - test -z "$(git replace -l)$(git branch --list planted)$(git tag -l)"
"#;

fn nothing_planted_reaches_the_next_build(scene: &Scene) {
    scene.tree.write("file", "original\n").commit("A file");
    scene.push(PLANT);
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("plant", "success");
    scene.push(FIND);
    scene.wait_for_status("find", "success");
    let log = scene.trace("find");
    assert!(!log.contains("PLANTED hook") && !log.contains("trying again"), "{log}");
    assert!(log.contains("Fetching changes..."), "{log}");
}

#[test]
fn nothing_planted_reaches_the_next_build_in_the_shell() {
    nothing_planted_reaches_the_next_build(&Scene::new());
}

#[test]
fn nothing_planted_reaches_the_next_build_in_a_sandbox() {
    if let Some(scene) = Scene::sandboxed() {
        nothing_planted_reaches_the_next_build(&scene);
    }
}

/// The history of later builds is out of reach: otherwise a build could store another content under the name of a file.
#[test]
fn a_sandboxed_job_cannot_change_the_history_of_later_builds() {
    let Some(scene) = Scene::sandboxed() else { return };
    scene.push(
        "job:\n  script:\n    - objects=$(cat .git/objects/info/alternates)\n    - test -d \"$objects\"\n    \
         - '! touch \"$objects/x\" 2>/dev/null'\n    - git log -1 --format=%s\n    - git commit -q --allow-empty -m x || true\n",
    );
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "success");
}

/// A damaged repository of an earlier build is replaced.
#[test]
fn a_destroyed_repository_is_cloned_again() {
    let scene = Scene::new();
    scene.push("job: {script: ['rm -rf .git', 'ln -s /etc .git']}\n");
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "success");
    scene.push("next: {script: ['rm -rf .git/objects/*', 'echo x > .git/packed-refs']}\n");
    scene.wait_for_status("next", "success");
    scene.push("last: {script: ['git log -1 --format=%H | grep \"$CI_BUILD_REF\"']}\n");
    scene.wait_for_status("last", "success");
}

fn a_read_only_folder_does_not_stop_later_builds(scene: &Scene) {
    scene.push("job: {script: ['mkdir -p a/b', 'touch a/b/f', 'chmod 000 a/b a']}\n");
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "success");
    for (name, strategy) in [("next", "fetch"), ("last", "clone")] {
        scene.push(&format!(
            "{name}:\n  variables: {{GIT_STRATEGY: {strategy}}}\n  \
             script: ['test ! -e a', 'mkdir -p a/b', 'touch a/b/f', 'chmod 555 a/b', 'chmod 000 a']\n"
        ));
        scene.wait_for_status(name, "success");
        assert!(!scene.trace(name).contains("trying again"), "{}", scene.trace(name));
    }
}

/// Root removes everything, so these builds are of another user.
#[test]
fn a_read_only_folder_does_not_stop_later_builds_in_the_shell() {
    let scene = Scene::new();
    match scene.is_root() {
        true => scene.register(&["--user", "nobody"]),
        false => scene.register(&[]),
    }
    a_read_only_folder_does_not_stop_later_builds(&scene);
}

#[test]
fn a_read_only_folder_does_not_stop_later_builds_in_a_sandbox() {
    if let Some(scene) = Scene::sandboxed() {
        a_read_only_folder_does_not_stop_later_builds(&scene);
    }
}

/// The folder of a submodule with a repository of its own, whose settings run a program when files are checked out.
#[test]
fn nothing_planted_in_a_submodule_reaches_the_next_build() {
    let scene = Scene::new();
    scene.use_submodule();
    scene.push_with_submodule(
        r#"
plant:
  variables: {GIT_SUBMODULE_STRATEGY: normal}
  script:
    - cd part && rm -rf .git && git init -q && mkdir -p .git/info
    - git config filter.evil.smudge 'echo PLANTED filter >&2; cat'
    - echo '* filter=evil' > .git/info/attributes
    - git fetch -q "$(git config -f ../.gitmodules submodule.part.url)" master
"#,
    );
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("plant", "success");
    scene.push_with_submodule(
        "find:\n  variables: {GIT_SUBMODULE_STRATEGY: normal}\n  script: ['grep content part/inner', 'test -f part/.git']\n",
    );
    scene.wait_for_status("find", "success");
    let log = scene.trace("find");
    assert!(!log.contains("PLANTED") && !log.contains("trying again"), "{log}");
}

/// Jobs name what leaves the project in every way; only files of the project arrive.
#[test]
fn artifacts_and_caches_contain_files_of_the_project_only() {
    let scene = Scene::new();
    scene.push(
        r#"
stages: [one, two]
collect:
  stage: one
  script:
    - mkdir in && echo ok > in/file
    - ln -s /etc folder && ln -s ../../../../../../etc/passwd up && mkfifo pipe
    - echo secret > ../outside-of-the-project
  artifacts: {paths: [in, folder/passwd, "folder/*", "../outside-of-the-project", /etc/passwd, pipe]}
  cache: {paths: ["../..", "folder/**", in], key: "../../x"}
use:
  stage: two
  script:
    - test "$(cat in/file)" = ok
    - test ! -e folder/passwd && test ! -e pipe && test ! -e up
"#,
    );
    let _runner = scene.start_runner(&[]);
    scene.wait_for_pipeline("success");
    let log = scene.trace("collect");
    assert!(log.contains("`/etc/passwd` is not a path below the project"), "{log}");
    assert!(log.contains("Uploading artifacts artifacts.zip: 1 files"), "{log}");
}

/// A file of a terabyte without content is not packed for hours.
#[test]
fn a_build_is_canceled_while_its_artifacts_are_packed() {
    let scene = Scene::new();
    scene.push("job:\n  script: ['truncate -s 1T huge']\n  artifacts: {paths: [huge]}\n  after_script: [echo after it]\n");
    let _runner = scene.start_runner(&[]);
    assert!(wait_until(|| scene.trace("job").contains("after it\n")));
    std::thread::sleep(Duration::from_millis(500));
    scene.post(&format!("/builds/{}/cancel", scene.build("job")["id"]), &[]);
    scene.push("next: {script: [echo]}\n");
    scene.wait_for_status("next", "success");
}

/// Folders in one another by the thousand, in the folder for temporary files: they are removed, and the runner
/// stays alive.
#[test]
fn deep_folders_do_not_end_the_runner() {
    let scene = Scene::new();
    scene.push(
        "job:\n  script:\n    - cd \"$TMPDIR\" && deep=$(printf 'd/%.0s' $(seq 400))\n    \
         - for i in $(seq 8); do mkdir -p \"$deep\" && cd -P \"$deep\" || break; done\n",
    );
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "success");
    scene.push("next: {script: ['test -z \"$(ls \"$TMPDIR\")\"']}\n");
    scene.wait_for_status("next", "success");
}

/// The secrets of a build do not reach its log, however they are printed.
#[test]
fn secrets_stay_out_of_the_log() {
    let scene = Scene::new();
    scene.post("/variables", &[("key", "KEY"), ("value", "first-line-1\nsecond-line-2")]);
    // The job gets it without `$nothing`.
    scene.post("/variables", &[("key", "PASSWORD"), ("value", "s3cret$nothing-tail")]);
    scene.push(
        r#"
job:
  script:
    - echo "$KEY" && printf %s "$CI_BUILD_TOKEN"
    - test -n "$PASSWORD" && echo "$PASSWORD"
    - for i in 1 2 3 4 5 6; do printf first-; sleep 0.05; printf line-1; done
    - git remote -v && env && cat .git/config
    - "! false $KEY && exit 1"
"#,
    );
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("job", "failed");
    let log = scene.trace("job");
    assert!(log.contains("[MASKED]"), "{log}");
    for secret in ["first-line", "second-line", "s3cret-tail", "s3cret$nothing"] {
        assert!(!log.contains(secret), "{log}");
    }
    assert!(!log.contains("gitlab-ci-token:"), "{log}");
}
