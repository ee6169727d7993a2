//! A pipeline with three stages, artifacts and a failing job.

use hexforge_tests::forge::{PASSWORD, RUNNERS};
use hexforge_tests::{Forge, Runner, WorkTree, on_every_store};
use serde_json::{Value, json};

on_every_store!(a_pushed_repository_is_built, a_canceled_pipeline_is_seen_by_its_runner);

const CONFIGURATION: &str = "\
stages: [build, test, deploy]
compile:
  stage: build
  script: make
  artifacts: {paths: [bin]}
rspec:
  stage: test
  script: rspec
lint:
  stage: test
  script: lint
deploy:
  stage: deploy
  script: deploy
";

struct Scene<'a> {
    forge: &'a Forge,
    ada: String,
    project: i64,
    runner: Runner,
    _elsewhere: tempfile::TempDir,
}

impl<'a> Scene<'a> {
    /// A private project, to which a configuration was pushed over HTTP.
    fn pushed(forge: &'a Forge) -> Self {
        let (_, ada) = forge.user("ada");
        let made = forge.post("/projects").token(&ada).form(&[("name", "ship")]).send().expect(201);
        let elsewhere = tempfile::tempdir().expect("a temporary folder can be made");
        let tree = WorkTree::new(&elsewhere.path().join("unused.git"));
        tree.write(".gitlab-ci.yml", CONFIGURATION).commit("Build it");
        let password = PASSWORD.replace(' ', "%20");
        let address = format!("http://ada:{password}@{}/ada/ship.git", forge.address);
        tree.git(&["push", "-q", &address, "master"]);
        let runner = Runner::register(forge.address, RUNNERS, &[]);
        let project = made["id"].as_i64().expect("an id");
        Self { forge, ada, project, runner, _elsewhere: elsewhere }
    }

    #[track_caller]
    fn get(&self, path: &str) -> Value {
        let path = format!("/projects/{}{path}", self.project);
        self.forge.get(&path).token(&self.ada).send().expect(200)
    }

    /// The status of the only pipeline, and names and statuses of its newest builds.
    #[track_caller]
    fn state(&self) -> (String, Vec<(String, String)>) {
        let text = |value: &Value| value.as_str().expect("a text").to_owned();
        let pipeline = &self.get("/pipelines")[0];
        let mut newest: Vec<(String, String)> = Vec::new();
        for build in self.get("/builds").as_array().expect("a list") {
            let name = text(&build["name"]);
            if newest.iter().all(|(known, _)| *known != name) {
                newest.push((name, text(&build["status"])));
            }
        }
        newest.sort();
        (text(&pipeline["status"]), newest)
    }

    #[track_caller]
    fn assert_state(&self, pipeline: &str, builds: [&str; 4]) {
        let names = ["compile", "deploy", "lint", "rspec"];
        let builds = names.iter().zip(builds).map(|(a, b)| ((*a).to_owned(), b.to_owned()));
        assert_eq!(self.state(), (pipeline.to_owned(), builds.collect()));
    }

    #[track_caller]
    fn take(&self, name: &str) -> Value {
        let build = self.runner.take().unwrap_or_else(|| panic!("{name} does not wait"));
        assert_eq!(build["name"], name);
        build
    }
}

/// Statuses change from pending to running and failed. A retry runs the failed job and the later ones. Logs and
/// artifacts are complete.
fn a_pushed_repository_is_built(forge: &Forge) {
    let scene = Scene::pushed(forge);
    let runner = &scene.runner;
    scene.assert_state("pending", ["pending", "created", "created", "created"]);
    let compile = scene.take("compile");
    scene.assert_state("running", ["running", "created", "created", "created"]);
    runner.log(&compile, &["$ make\n", "all good\n"]);
    runner.artifacts("POST", &compile).file("bin.zip", b"a program").send().expect(201);
    runner.end(&compile, "success");

    let (rspec, lint) = (scene.take("rspec"), scene.take("lint"));
    assert_eq!(runner.take(), None);
    let earlier = &rspec["depends_on_builds"][0];
    assert_eq!(earlier["artifacts_file"], json!({"filename": "bin.zip", "size": 9}));
    assert_eq!(runner.artifacts("GET", earlier).send().body, b"a program");
    runner.log(&rspec, &["1 example, ", "1 failure\n"]);
    runner.end(&rspec, "failed");
    scene.assert_state("running", ["success", "created", "running", "failed"]);
    runner.end(&lint, "success");
    scene.assert_state("failed", ["success", "skipped", "success", "failed"]);
    assert_eq!(runner.take(), None);

    let pipeline = &scene.get("/pipelines")[0];
    let retry = format!("/projects/{}/pipelines/{}/retry", scene.project, pipeline["id"]);
    forge.post(&retry).token(&scene.ada).send().expect(201);
    let again = scene.take("rspec");
    assert_ne!(again["id"], rspec["id"]);
    scene.assert_state("running", ["success", "created", "success", "running"]);
    runner.log(&again, &["1 example, 0 failures\n"]);
    runner.end(&again, "success");
    runner.end(&scene.take("deploy"), "success");
    scene.assert_state("success", ["success", "success", "success", "success"]);
    assert_eq!(runner.take(), None);

    for (build, log) in [
        (&compile, "$ make\nall good\n"),
        (&rspec, "1 example, 1 failure\n"),
        (&again, "1 example, 0 failures\n"),
    ] {
        let path = format!("/projects/{}/builds/{}/trace", scene.project, build["id"]);
        assert_eq!(forge.get(&path).token(&scene.ada).send().text(), log);
    }
}

/// The runner learns of the cancellation with its next request.
fn a_canceled_pipeline_is_seen_by_its_runner(forge: &Forge) {
    let scene = Scene::pushed(forge);
    let (runner, compile) = (&scene.runner, scene.take("compile"));
    runner.log(&compile, &["$ make\n"]);
    let pipeline = &scene.get("/pipelines")[0];
    let cancel = format!("/projects/{}/pipelines/{}/cancel", scene.project, pipeline["id"]);
    forge.post(&cancel).token(&scene.ada).send().expect(200);
    let appended = runner.append_request(&compile, 7, "^C\n").send();
    assert_eq!(appended.header("build-status"), Some("canceled"));
    assert_eq!(runner.update_request(&compile, &[("state", "success")]).send().status, 404);
    scene.assert_state("canceled", ["canceled", "skipped", "skipped", "skipped"]);
    assert_eq!(runner.take(), None);
}
