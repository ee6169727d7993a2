//! Commit statuses.

use hexforge_application::view::build::BuildView;
use hexforge_domain::build::BuildKind;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;
use super::user::UserSummaryJson;
use hexforge_http_edge::links::Links;

/// A commit status in a response.
#[derive(Serialize, ToSchema)]
pub struct CommitStatusJson<'a> {
    id: i64,
    sha: String,
    #[serde(rename = "ref")]
    reference: &'a str,
    status: &'static str,
    name: &'a str,
    target_url: Option<&'a str>,
    description: Option<&'a str>,
    created_at: Iso,
    started_at: Option<Iso>,
    finished_at: Option<Iso>,
    allow_failure: bool,
    author: Option<UserSummaryJson<'a>>,
}

impl<'a> CommitStatusJson<'a> {
    /// The entity, with URLs built by `links`.
    pub fn new(view: &'a BuildView, links: &'a Links) -> Self {
        let (build, pipeline) = (&view.build, &view.pipeline);
        let (target_url, description) = match &build.kind {
            BuildKind::Job(_) => (None, None),
            BuildKind::External { target_url, description } => {
                (target_url.as_deref(), description.as_deref())
            }
        };
        Self {
            id: build.id.0,
            sha: pipeline.sha.to_string(),
            reference: &pipeline.reference,
            status: build.status.as_str(),
            name: &build.name,
            target_url,
            description,
            created_at: Iso(build.created_at),
            started_at: build.started_at.map(Iso),
            finished_at: build.finished_at.map(Iso),
            allow_failure: build.allow_failure,
            author: view.user.as_ref().map(|user| UserSummaryJson::new(user, links)),
        }
    }
}
