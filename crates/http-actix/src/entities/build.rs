//! Builds.

use hexforge_application::view::build::BuildView;
use hexforge_domain::Timestamp;
use hexforge_domain::build::Artifacts;
use hexforge_domain::pipeline::Pipeline;
use serde::Serialize;
use utoipa::ToSchema;

use super::commit::CommitJson;
use super::runner_admin::RunnerJson;
use super::time::Iso;
use super::user::UserSingleJson;
use hexforge_http_edge::links::Links;

/// A build in a response.
#[derive(Serialize, ToSchema)]
pub struct BuildJson<'a> {
    id: i64,
    status: &'static str,
    stage: &'a str,
    name: &'a str,
    #[serde(rename = "ref")]
    reference: &'a str,
    tag: bool,
    coverage: Option<f64>,
    created_at: Iso,
    started_at: Option<Iso>,
    finished_at: Option<Iso>,
    user: Option<UserSingleJson<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ArtifactsJson<'a>, required = false)]
    artifacts_file: Option<ArtifactsJson<'a>>,
    commit: CommitJson,
    runner: Option<RunnerJson<'a>>,
    pipeline: PipelineJson<'a>,
}

/// The artifacts of a build.
#[derive(Serialize, ToSchema)]
pub(super) struct ArtifactsJson<'a> {
    filename: &'a str,
    size: u64,
}

impl<'a> From<&'a Artifacts> for ArtifactsJson<'a> {
    fn from(artifacts: &'a Artifacts) -> Self {
        Self { filename: &artifacts.file_name, size: artifacts.size }
    }
}

/// The pipeline of a build.
#[derive(Serialize, ToSchema)]
#[schema(as = BuildPipeline)]
struct PipelineJson<'a> {
    id: i64,
    sha: String,
    #[serde(rename = "ref")]
    reference: &'a str,
    status: &'static str,
}

impl<'a> From<&'a Pipeline> for PipelineJson<'a> {
    fn from(pipeline: &'a Pipeline) -> Self {
        Self {
            id: pipeline.id.0,
            sha: pipeline.sha.to_string(),
            reference: &pipeline.reference,
            status: pipeline.status.as_str(),
        }
    }
}

impl<'a> BuildJson<'a> {
    /// The build at a given time.
    pub fn new(view: &'a BuildView, now: Timestamp, links: &'a Links) -> Self {
        let (build, pipeline) = (&view.build, &view.pipeline);
        Self {
            id: build.id.0,
            status: build.status.as_str(),
            stage: &build.stage,
            name: &build.name,
            reference: &pipeline.reference,
            tag: pipeline.tag,
            coverage: build.coverage,
            created_at: Iso(build.created_at),
            started_at: build.started_at.map(Iso),
            finished_at: build.finished_at.map(Iso),
            user: view.user.as_ref().map(|user| UserSingleJson::new(user, links)),
            artifacts_file: build.artifacts_at(now).map(ArtifactsJson::from),
            commit: CommitJson::from_facts(pipeline.sha, &view.commit),
            runner: view.runner.as_ref().map(RunnerJson::from),
            pipeline: PipelineJson::from(pipeline),
        }
    }
}
