//! Pipelines.

use hexforge_application::pipeline::PipelineView;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;
use super::user::UserSummaryJson;
use hexforge_http_edge::links::Links;

/// A pipeline in a response.
#[derive(Serialize, ToSchema)]
pub struct PipelineJson<'a> {
    id: i64,
    sha: String,
    #[serde(rename = "ref")]
    reference: &'a str,
    status: &'static str,
    before_sha: String,
    tag: bool,
    yaml_errors: Option<&'a str>,
    user: Option<UserSummaryJson<'a>>,
    created_at: Iso,
    updated_at: Iso,
    started_at: Option<Iso>,
    finished_at: Option<Iso>,
    /// Always null. Clients expect the field.
    committed_at: Option<Iso>,
    duration: Option<i64>,
}

impl<'a> PipelineJson<'a> {
    /// The entity, with URLs built by `links`.
    pub fn new(view: &'a PipelineView, links: &'a Links) -> Self {
        let pipeline = &view.pipeline;
        Self {
            id: pipeline.id.0,
            sha: pipeline.sha.to_string(),
            reference: &pipeline.reference,
            status: pipeline.status.as_str(),
            before_sha: pipeline.before_sha.to_string(),
            tag: pipeline.tag,
            yaml_errors: pipeline.yaml_errors.as_deref(),
            user: view.user.as_ref().map(|user| UserSummaryJson::new(user, links)),
            created_at: Iso(pipeline.created_at),
            updated_at: Iso(pipeline.updated_at),
            started_at: pipeline.started_at.map(Iso),
            finished_at: pipeline.finished_at.map(Iso),
            committed_at: None,
            duration: pipeline.duration,
        }
    }
}
