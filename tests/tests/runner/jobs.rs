//! What jobs can do: every keyword of `.gitlab-ci.yml` that concerns runners.

use hexforge_persistence_diesel::testing::TestDatabase;

use super::scene::{Scene, has_bubblewrap};

/// Its pipeline waited while a forced push took the commit from its branch.
#[test]
fn a_commit_that_no_branch_contains_any_more_is_built() {
    let scene = Scene::new();
    scene.register(&[]);
    // The default branch is protected against forced pushes.
    scene.push("other: {script: [echo]}\n");
    let (url, tree) = (scene.push_url(), &scene.tree);
    let push = || tree.git(&["push", "-q", "--force", &url, "HEAD:refs/heads/topic"]);
    tree.write(".gitlab-ci.yml", "first: {script: ['git log -1 --format=%H']}\n");
    let commit = tree.commit("Build it");
    push();
    tree.write(".gitlab-ci.yml", "second: {script: [echo]}\n");
    tree.git(&["commit", "-q", "-a", "--amend", "-m", "Rewrite it"]);
    push();
    let _runner = scene.start_runner(&[]);
    scene.wait_for_status("second", "success");
    scene.wait_for_status("first", "success");
    assert!(scene.trace("first").contains(&commit));
}

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
    - test -x bin/text && test -L bin/link && test "$(stat -c %a bin)" = 755
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
fn a_whole_pipeline_succeeds_in_the_shell() {
    a_whole_pipeline_succeeds(&Scene::new());
}

#[test]
fn a_whole_pipeline_succeeds_in_the_shell_on_postgres() {
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
  script:
    - test \"$(git rev-list --count HEAD)\" = 2
    - test \"$(git rev-parse \"${CI_BUILD_TAG:-origin/master}\")\" = \"$CI_BUILD_REF\"
    - touch left-over
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
    scene.tree.git(&["tag", "v1"]);
    scene.tree.git(&["push", "-q", &scene.push_url(), "v1"]);
    assert!(super::scene::wait_until(|| scene.get("/pipelines")[0]["ref"] == "v1"));
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

/// Names of projects may begin with a dot.
#[test]
fn projects_with_odd_names_are_built() {
    let scene = Scene::new();
    let made = scene.server.request("POST", "/projects").token(hexforge_tests::program::ROOT);
    made.form(&[("name", "Odd"), ("path", ".dot_files-1.x")]).send().expect(201);
    scene.tree.write(".gitlab-ci.yml", "job: {script: ['test -d .git']}\n").commit("Build it");
    let url = scene.push_url().replace("ship.git", ".dot_files-1.x.git");
    scene.tree.git(&["push", "-q", &url, "master"]);
    let _runner = scene.start_runner(&[]);
    let status = || {
        let builds = scene.server.request("GET", "/projects/2/builds");
        builds.token(hexforge_tests::program::ROOT).send().expect(200)[0]["status"].clone()
    };
    assert!(super::scene::wait_until(|| status() == "success"), "{}", status());
}

/// The second build uses the working copy of the first one again.
fn submodules_are_checked_out_with_the_token_of_the_build(scene: &Scene) {
    scene.use_submodule();
    let _runner = scene.start_runner(&[]);
    for job in ["job", "next"] {
        scene.push_with_submodule(&format!(
            "{job}: {{variables: {{GIT_SUBMODULE_STRATEGY: recursive}}, script: ['grep content part/inner']}}\n"
        ));
        scene.wait_for_status(job, "success");
        assert!(!scene.trace(job).contains("trying again"), "{}", scene.trace(job));
    }
}

const REMAINING_KEYWORDS: &str = r#"
image: ruby:2.1
services: [mysql]
stages: [build, deploy]
after_script: ["echo after $CI_BUILD_NAME"]
regex: {stage: build, only: [/^mas.*$/], script: [echo]}
path: {stage: build, only: [branches@root/ship], script: [echo]}
elsewhere: {stage: build, only: [branches@root/other], script: [exit 1]}
name: {stage: build, only: [master], except: [/^feature/], script: [echo]}
places:
  stage: build
  variables: {INSIDE: "$CI_PROJECT_DIR/bin"}
  script:
    - test "$INSIDE" = "$PWD/bin" && mkdir bin && echo > bin/new && test "$CI_DEBUG_TRACE" = false
    - git ls-remote "$CI_BUILD_REPO" | grep "$CI_BUILD_REF"
  artifacts: {paths: [$CI_PROJECT_DIR/bin]}
input:
  stage: build
  script: [sort, test -e /proc/self/fd/0, "cat; echo end of input", "! read -r line"]
pushed: {stage: build, except: [triggers], script: [echo]}
triggered:
  stage: build
  only: [triggers]
  script: ['test "$CI_BUILD_TRIGGERED" = true && test "$FROM" = somewhere']
traced:
  stage: build
  variables: {CI_DEBUG_TRACE: "true", "odd.name-1": kept, EMPTY: "", NUMBER: 7}
  script:
    - 'word=traced; echo "$word $NUMBER"'
    - 'test -z "$EMPTY" && test -n "$DEPLOY_KEY" && test -n "$QUOTED_KEY"'
    - env | grep -q '^odd.name-1=kept$'
    - |
      for part in one two; do
        echo "part $part"
      done
review:
  stage: deploy
  environment: {name: "review/$CI_BUILD_REF_NAME", url: "http://$CI_BUILD_REF_NAME.example.com", on_stop: stop}
  script: [echo]
stop:
  stage: deploy
  when: manual
  environment: {name: "review/$CI_BUILD_REF_NAME", action: stop}
  script: [echo]
"#;

fn the_remaining_keywords_work(scene: &Scene) {
    scene.post("/variables", &[("key", "DEPLOY_KEY"), ("value", "s3cr3t-v4lue")]);
    scene.post("/variables", &[("key", "QUOTED_KEY"), ("value", "it's-h1dden")]);
    let names = || {
        let builds = scene.get("/pipelines")[0]["id"].clone();
        let all = scene.get("/builds");
        let all = all.as_array().expect("a list").iter();
        let newest = all.filter(|build| build["pipeline"]["id"] == builds);
        let mut names: Vec<String> =
            newest.filter_map(|build| Some(build["name"].as_str()?.to_owned())).collect();
        names.sort();
        names.join(" ")
    };
    scene.push(REMAINING_KEYWORDS);
    let _runner = scene.start_runner(&["--concurrent", "2"]);
    scene.wait_for_pipeline("success");
    assert_eq!(names(), "input name path places pushed regex review stop traced");
    assert!(scene.trace("regex").contains("after regex\n"), "{}", scene.trace("regex"));
    assert_eq!(scene.build("places")["artifacts_file"]["filename"], "artifacts.zip");
    assert!(scene.trace("input").contains("end of input\n"), "{}", scene.trace("input"));
    let log = scene.trace("traced");
    for expected in ["+ word=traced", "traced 7\n", "+ test -n '[MASKED]'", "part two\n"] {
        let unquoted = expected.replace('\'', "");
        assert!(
            log.contains(expected) || log.contains(&unquoted),
            "`{expected}` is missing:\n{log}"
        );
    }
    assert!(!log.contains("s3cr3t") && !log.contains("h1dden"), "{log}");
    assert!(!log.contains("+ printf"), "{log}");
    assert!(!scene.trace("regex").contains("+ echo"), "{}", scene.trace("regex"));
    let environment = scene.get("/environments")[0].clone();
    assert_eq!(environment["name"], "review/master");
    assert_eq!(environment["external_url"], "http://master.example.com");
    scene.post(&format!("/builds/{}/play", scene.build("stop")["id"]), &[]);
    scene.wait_for_status("stop", "success");

    let token = scene.post("/triggers", &[])["token"].as_str().expect("a text").to_owned();
    let fields = [("token", &*token), ("ref", "master"), ("variables[FROM]", "somewhere")];
    scene.post("/trigger/builds", &fields);
    scene.wait_for_pipeline("success");
    assert_eq!(names(), "input name path places regex review stop traced triggered");
}

#[test]
fn the_remaining_keywords_work_in_the_shell() {
    the_remaining_keywords_work(&Scene::new());
}

#[test]
fn the_remaining_keywords_work_in_a_sandbox() {
    if let Some(scene) = Scene::sandboxed() {
        the_remaining_keywords_work(&scene);
    }
}
