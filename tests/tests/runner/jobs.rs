//! What jobs can do: every keyword of `.gitlab-ci.yml` that concerns runners.

use hexforge_persistence_diesel::testing::TestDatabase;

use super::scene::{Scene, has_bubblewrap};

const WHOLE: &str = r#"
stages: [build, test, deploy]
variables:
  GREETING: hello
  BOTH: "$GREETING-$CI_BUILD_REF_NAME"
before_script:
  - echo "before in $CI_BUILD_NAME"
compile:
  stage: build
  variables: {GREETING: "good morning"}
  script:
    - mkdir -p bin
    - |
      cat > bin/text <<END
      $GREETING from a heredoc
        with two lines
      END
    - chmod 755 bin/text && ln -s text bin/link
    - echo scrap > scrap.tmp
    - test "$BOTH" = "good morning-master"
    - test -z "$HOST_SECRET"
    - echo "the secret is $DEPLOY_KEY"
  after_script:
    - echo "after_script of $CI_BUILD_NAME"
  artifacts: {paths: ["bin/"], name: "ship-$CI_BUILD_REF_NAME", expire_in: 1 week}
other:
  stage: build
  script: echo other > other.txt
  artifacts: {untracked: true, when: always}
test:
  stage: test
  before_script: []
  dependencies: [compile]
  script:
    - test "$(cat bin/link)" = "$(printf 'good morning from a heredoc\n  with two lines')"
    - test -x bin/text && test -L bin/link
    - test ! -e other.txt
all:
  stage: test
  script:
    - test -f bin/text && test -f other.txt
    - git status --porcelain && git log -1 --format=%H | grep "$CI_BUILD_REF"
    - test "$(git rev-parse HEAD)" = "$CI_BUILD_REF" && test "$PWD" = "$CI_PROJECT_DIR"
    - umask | grep 022
allowed:
  stage: test
  allow_failure: true
  script: ["false", "echo not reached"]
  after_script: ["echo cleaned up"]
  artifacts: {paths: [.gitlab-ci.yml], when: on_failure}
ship:
  stage: deploy
  script: "echo shipped 93.5% covered"
  environment: {name: production}
"#;

fn a_whole_pipeline_succeeds(scene: &Scene) {
    scene.post("/variables", &[("key", "DEPLOY_KEY"), ("value", "s3cr3t-v4lue")]);
    scene.set("build_coverage_regex", r"(\d+\.\d+)% covered");
    let commit = scene.push(WHOLE);
    let _runner = scene.start_runner(&["--concurrent", "2"]);
    scene.wait_for_pipeline("success");
    let log = scene.trace("compile");
    for expected in [
        "before in compile",
        "$ cat > bin/text <<END\n",
        "the secret is [MASKED]\n",
        "after_script of compile",
        "Uploading artifacts ship-master.zip: 2 files",
        "Build succeeded",
        &commit[..7],
    ] {
        assert!(log.contains(expected), "`{expected}` is missing:\n{log}");
    }
    assert!(!log.contains("s3cr3t") && !log.contains("@127.0.0.1"), "{log}");
    let compile = scene.build("compile");
    assert_eq!(compile["artifacts_file"]["filename"], "ship-master.zip");
    assert_eq!(compile["runner"]["name"], "hexforge-runner");
    assert_eq!(scene.build("other")["artifacts_file"]["filename"], "artifacts.zip");
    assert_eq!(scene.status("allowed"), "failed");
    assert_eq!(scene.build("allowed")["artifacts_file"]["filename"], "artifacts.zip");
    let log = scene.trace("allowed");
    assert!(log.contains("Build failed: exit status 1") && log.contains("cleaned up"), "{log}");
    assert!(!log.contains("not reached\n"), "{log}");
    assert_eq!(scene.build("ship")["coverage"], 93.5);
    assert_eq!(scene.get("/environments")[0]["name"], "production");
}

#[test]
fn a_whole_pipeline_succeeds_on_sqlite() {
    a_whole_pipeline_succeeds(&Scene::new());
}

#[test]
fn a_whole_pipeline_succeeds_on_postgres() {
    if let Some(database) = TestDatabase::postgres() {
        a_whole_pipeline_succeeds(&Scene::on(database));
    }
}

#[test]
fn a_whole_pipeline_succeeds_in_a_sandbox() {
    if let Some(scene) = Scene::sandboxed() {
        a_whole_pipeline_succeeds(&scene);
    }
}

fn a_cache_survives_from_build_to_build(scene: &Scene) {
    let configuration = "
count:
  cache: {key: \"$CI_BUILD_REF_NAME\", paths: [count, more/], untracked: false}
  script:
    - echo x >> count
    - mkdir -p more && cp count more/copy
    - echo \"lines $(wc -l < count) $(wc -l < more/copy)\"
";
    let _runner = scene.start_runner(&[]);
    for run in 1..=3 {
        scene.push(&format!("{configuration}    - echo run {run}\n"));
        let done = format!("lines {run} {run}\n");
        scene.wait_for_status("count", "success");
        assert!(scene.trace("count").contains(&done), "{}", scene.trace("count"));
    }
}

#[test]
fn a_cache_survives_from_build_to_build_in_the_shell() {
    a_cache_survives_from_build_to_build(&Scene::new());
}

#[test]
fn a_cache_survives_from_build_to_build_in_a_sandbox() {
    if let Some(scene) = Scene::sandboxed() {
        a_cache_survives_from_build_to_build(&scene);
    }
}

/// `types` and `type` are the old names of `stages` and `stage`; a hidden job is the template of others.
const MORE_KEYWORDS: &str = r#"
types: [one, two, three]
cache: {untracked: true, key: all}
.template: &template
  before_script: ["echo from the template > made"]
  variables: {PART: template}
  tags: [linux]
first:
  <<: *template
  type: one
  script: 'test "$PART" = template && echo ok > untracked'
  artifacts: {name: "$CI_BUILD_NAME", paths: ["*.none", made], when: on_success, expire_in: 1 day}
broken:
  type: one
  tags: [linux]
  script: exit 3
  allow_failure: true
  artifacts: {untracked: true, when: on_failure}
branches:
  type: two
  tags: [linux]
  only: [branches, /^never$/]
  except: [tags]
  dependencies: [first]
  script: ["test -f made", "test -f untracked"]
tags:
  type: two
  only: [tags]
  script: exit 1
none:
  type: two
  tags: [linux]
  dependencies: []
  cache: {}
  script: test ! -e made
by-hand:
  type: three
  tags: [linux]
  when: manual
  script: 'test "$CI_BUILD_MANUAL" = true'
failed:
  type: three
  when: on_failure
  script: exit 1
always:
  type: three
  tags: [linux]
  when: always
  script: test -n "$CI_SERVER_VERSION"
"#;

fn every_other_keyword_works(scene: &Scene) {
    scene.push(MORE_KEYWORDS);
    let _runner = scene.start_runner(&[]);
    scene.wait_for_pipeline("success");
    let statuses = ["first", "broken", "branches", "none", "by-hand", "failed", "always"]
        .map(|name| (name, scene.status(name)));
    let expected = ["success", "failed", "success", "success", "skipped", "skipped", "success"];
    assert_eq!(statuses.each_ref().map(|(_, status)| status.as_str()), expected, "{statuses:?}");
    assert_eq!(scene.build("first")["artifacts_file"]["filename"], "first.zip");
    assert_eq!(scene.build("broken")["artifacts_file"]["filename"], "artifacts.zip");
    scene.post(&format!("/builds/{}/play", scene.build("by-hand")["id"]), &[]);
    scene.wait_for_status("by-hand", "success");
    let builds = scene.get("/builds");
    let names = builds.as_array().into_iter().flatten().filter_map(|build| build["name"].as_str());
    assert!(!names.into_iter().any(|name| name == "tags"), "it is for tags only");
}

#[test]
fn every_other_keyword_works_in_the_shell() {
    let scene = Scene::new();
    scene.register(&["--tag-list", "linux"]);
    every_other_keyword_works(&scene);
}

#[test]
fn every_other_keyword_works_in_a_sandbox() {
    if has_bubblewrap() {
        let scene = Scene::new();
        scene.register(&["--tag-list", "linux", "--executor", "sandbox"]);
        every_other_keyword_works(&scene);
    }
}

fn sources_come_as_the_variables_say(scene: &Scene) {
    for name in ["a", "b", "c"] {
        scene.tree.write(name, name).commit(name);
    }
    let configuration = "
stages: [one, two, three]
shallow:
  stage: one
  variables: {GIT_DEPTH: 2, GIT_STRATEGY: clone}
  script: ['test \"$(git rev-list --count HEAD)\" = 2', 'touch left-over']
none:
  stage: two
  variables: {GIT_STRATEGY: none}
  script: ['test -f left-over', 'test ! -e .git/hooks/post-checkout']
again:
  stage: three
  script:
    - test ! -e left-over
    - test \"$(git rev-list --count HEAD)\" -gt 2
    - git fetch -q origin && git rev-parse origin/master
    - '! grep -r \"$CI_BUILD_TOKEN\" .git'
";
    scene.push(configuration);
    let _runner = scene.start_runner(&[]);
    scene.wait_for_pipeline("success");
}

#[test]
fn sources_come_as_the_variables_say_in_the_shell() {
    sources_come_as_the_variables_say(&Scene::new());
}

#[test]
fn sources_come_as_the_variables_say_in_a_sandbox() {
    if let Some(scene) = Scene::sandboxed() {
        sources_come_as_the_variables_say(&scene);
    }
}

#[test]
fn submodules_are_checked_out_with_the_token_of_the_build_in_the_shell() {
    submodules_are_checked_out_with_the_token_of_the_build(&Scene::new());
}

#[test]
fn submodules_are_checked_out_with_the_token_of_the_build_in_a_sandbox() {
    if let Some(scene) = Scene::sandboxed() {
        submodules_are_checked_out_with_the_token_of_the_build(&scene);
    }
}

fn submodules_are_checked_out_with_the_token_of_the_build(scene: &Scene) {
    let made = scene.server.request("POST", "/projects").token(hexforge_tests::program::ROOT);
    made.form(&[("name", "part")]).send().expect(201);
    let part = scene.push_url().replace("ship.git", "part.git");
    scene.tree.write("inner", "content").commit("The part");
    scene.tree.git(&["push", "-q", &part, "master"]);
    let commit = scene.tree.git(&["rev-parse", "HEAD"]);
    let url = format!("http://{}/root/part.git", scene.server.address);
    scene.tree.git(&["rm", "-q", "inner"]);
    scene.tree.write(".gitmodules", format!("[submodule \"part\"]\npath = part\nurl = {url}\n"));
    scene.tree.git(&["update-index", "--add", "--cacheinfo", &format!("160000,{commit},part")]);
    scene.tree.write(
        ".gitlab-ci.yml",
        "job: {variables: {GIT_SUBMODULE_STRATEGY: recursive}, script: ['grep content part/inner']}\n",
    );
    scene.tree.git(&["add", ".gitmodules", ".gitlab-ci.yml"]);
    scene.tree.git(&["commit", "-q", "-m", "Use the part"]);
    scene.tree.git(&["push", "-q", &scene.push_url(), "master"]);
    let _runner = scene.start_runner(&[]);
    scene.wait_for_pipeline("success");
}
