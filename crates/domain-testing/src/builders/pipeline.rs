//! Builders of pipelines, builds, environments, deployments and runners.

use super::{a_moment, at};
use hexforge_domain::build::{Build, BuildDefinition, BuildKind, NewBuild, Tags};
use hexforge_domain::ci::config::{Node, Options};
use hexforge_domain::ci::status::Status;
use hexforge_domain::ci::when::When;
use hexforge_domain::commit::{ObjectId, Signature};
use hexforge_domain::deployment::NewDeployment;
use hexforge_domain::environment::{Environment, EnvironmentName, NewEnvironment};
use hexforge_domain::id::{DefinitionId, ProjectId};
use hexforge_domain::pipeline::{CommitFacts, NewPipeline, Pipeline};
use hexforge_domain::runner::{NewRunner, RunnerInfo};

/// An object id that repeats a byte.
pub fn a_commit_id(byte: u8) -> ObjectId {
    ObjectId::from_bytes([byte; 20])
}

/// A pending pipeline for a commit of the branch `master`, without a user.
pub fn a_pipeline(project: ProjectId) -> NewPipeline {
    NewPipeline {
        project,
        user: None,
        sha: a_commit_id(1),
        before_sha: a_commit_id(1),
        reference: "master".into(),
        tag: false,
        status: Status::Pending,
        yaml_errors: None,
        commit: CommitFacts {
            message: "Fix it\n\nReally.\n".into(),
            author_name: "Ada".into(),
            author_email: "ada@example.com".into(),
            authored_at: Signature::time(1_340_801_499, -7 * 3600),
            committed_at: Signature::time(1_340_801_500, 2 * 3600),
        },
        at: a_moment(),
    }
}

/// A build definition that sets every option.
pub fn a_definition() -> BuildDefinition {
    let options = Node::map([
        ("image", Node::text("rust:1 🦀")),
        ("services", Node::texts(["postgres"])),
        (
            "artifacts",
            Node::map([("paths", Node::texts(["a", "b"])), ("untracked", Node::Bool(true))]),
        ),
    ]);
    BuildDefinition {
        commands: "echo \"hello\"\nexit 1".into(),
        options: Options::from_node(&options),
        variables: vec![("B".into(), "2".into()), ("A".into(), "1".into())],
    }
}

/// A pending build in the stage `test`.
pub fn a_build(pipeline: &Pipeline, definition: DefinitionId, name: &str) -> NewBuild {
    NewBuild {
        project: pipeline.project,
        pipeline: pipeline.id,
        kind: BuildKind::Job(definition),
        name: name.to_owned(),
        stage: "test".into(),
        stage_index: 1,
        status: Status::Pending,
        when: When::OnSuccess,
        allow_failure: false,
        tags: Tags::default(),
        user: None,
        at: at(1),
    }
}

/// A commit status that an external system reported.
pub fn an_external(pipeline: &Pipeline, name: &str) -> NewBuild {
    let kind = BuildKind::External {
        target_url: Some("http://example.com".into()),
        description: Some("good".into()),
    };
    let stage = "external".to_owned();
    NewBuild { kind, stage, ..a_build(pipeline, DefinitionId(0), name) }
}

/// An environment without a URL.
pub fn an_environment(project: ProjectId, name: &str) -> NewEnvironment {
    let name = EnvironmentName::parse(name).expect("tests use valid names");
    NewEnvironment { project, name, external_url: None, at: a_moment() }
}

/// A deployment of a build of the branch `master`, without a user.
pub fn a_deployment(environment: &Environment, build: &Build) -> NewDeployment {
    NewDeployment {
        project: environment.project,
        environment: environment.id,
        build: build.id,
        reference: "master".into(),
        sha: a_commit_id(1),
        user: None,
        on_stop: None,
        at: at(2),
    }
}

/// A shared runner.
pub fn a_runner(description: &str) -> NewRunner {
    NewRunner {
        description: description.to_owned(),
        shared: true,
        run_untagged: true,
        locked: false,
        tags: Tags::default(),
        info: RunnerInfo::default(),
        at: a_moment(),
    }
}
