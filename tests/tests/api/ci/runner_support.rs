//! Helpers of the tests about runners: projects with a configuration, and runners.

use hexforge_tests::forge::{ROOT, RUNNERS};
use hexforge_tests::{Forge, Runner};
use serde_json::Value;

use crate::api::support::id_of;

/// A project with a configuration on `master` and without pipelines.
pub struct CiProject<'a> {
    pub forge: &'a Forge,
    pub project: i64,
    /// The token of its owner.
    pub owner: String,
    /// The registration token for runners of this project.
    pub runners_token: String,
    /// The newest commit of `master`.
    pub sha: String,
}

/// A configuration with two jobs in two stages.
pub const TWO_STAGES: &str = "\
stages: [build, test]
compile:
  stage: build
  script: [make, make install]
rspec:
  script: rspec
";

impl<'a> CiProject<'a> {
    /// A private project `owner/ship`.
    pub fn new(forge: &'a Forge, owner: &str, configuration: &str) -> Self {
        let (_, token) = forge.user(owner);
        let fields = [("name", "Ship"), ("path", "ship")];
        let made = forge.post("/projects").token(&token).form(&fields).send().expect(201);
        let project = id_of(&made);
        let tree = forge.work_tree(project);
        let sha = tree.write(".gitlab-ci.yml", configuration).commit("Build it");
        forge.fill(project, &tree);
        let shown = forge.get(&format!("/projects/{project}")).token(&token).send().expect(200);
        let runners_token = shown["runners_token"].as_str().expect("owners see it").to_owned();
        Self { forge, project, owner: token, runners_token, sha }
    }

    pub fn path(&self, rest: &str) -> String {
        format!("/projects/{}{rest}", self.project)
    }

    /// Creates a pipeline of `master`.
    #[track_caller]
    pub fn pipeline(&self) -> Value {
        self.pipeline_of("master")
    }

    #[track_caller]
    pub fn pipeline_of(&self, reference: &str) -> Value {
        let path = self.path("/pipeline");
        let fields = [("ref", reference)];
        self.forge.post(&path).token(&self.owner).form(&fields).send().expect(201)
    }

    /// The current status of a pipeline.
    #[track_caller]
    pub fn status_of(&self, pipeline: &Value) -> String {
        let path = self.path(&format!("/pipelines/{}", pipeline["id"]));
        let shown = self.forge.get(&path).token(&self.owner).send().expect(200);
        shown["status"].as_str().expect("a text").to_owned()
    }

    /// A build as the API for users shows it.
    #[track_caller]
    pub fn build(&self, build: &Value) -> Value {
        let path = self.path(&format!("/builds/{}", build["id"]));
        self.forge.get(&path).token(&self.owner).send().expect(200)
    }

    /// Calls `cancel`, `retry` or `erase` on a build.
    #[track_caller]
    pub fn post_action(&self, build: &Value, what: &str) -> Value {
        let path = self.path(&format!("/builds/{}/{what}", build["id"]));
        self.forge.post(&path).token(&self.owner).send().expect(201)
    }

    /// The log of a build.
    #[track_caller]
    pub fn trace(&self, build: &Value) -> String {
        let path = self.path(&format!("/builds/{}/trace", build["id"]));
        let answer = self.forge.get(&path).token(&self.owner).send();
        assert_eq!(answer.status, 200);
        answer.text().to_owned()
    }

    /// Sets a field of the project.
    #[track_caller]
    pub fn set(&self, field: &str, value: &str) {
        let path = self.path("");
        let fields = [("name", "Ship"), (field, value)];
        self.forge.put(&path).token(ROOT).form(&fields).send().expect(200);
    }

    /// Registers a runner of this project.
    #[track_caller]
    pub fn runner(&self, more: &[(&str, &str)]) -> Runner {
        Runner::register(self.forge.address, &self.runners_token, more)
    }
}

/// Registers a shared runner.
#[track_caller]
pub fn shared_runner(forge: &Forge, more: &[(&str, &str)]) -> Runner {
    Runner::register(forge.address, RUNNERS, more)
}

/// Takes all builds that the runner gets, and returns their names.
#[track_caller]
pub fn take_build_names(runner: &Runner) -> Vec<String> {
    let all = std::iter::from_fn(|| runner.take());
    all.map(|build| build["name"].as_str().expect("a text").to_owned()).collect()
}
