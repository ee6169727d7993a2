//! Deployments.

use hexforge_application::deployment::DeploymentView;
use hexforge_domain::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::build::BuildJson;
use super::environment::BasicEnvironmentJson;
use super::time::Iso;
use super::user::UserSummaryJson;
use hexforge_http_edge::links::Links;

/// A deployment.
#[derive(Serialize, ToSchema)]
pub struct DeploymentJson<'a> {
    id: i64,
    iid: i64,
    #[serde(rename = "ref")]
    reference: &'a str,
    sha: String,
    created_at: Iso,
    user: Option<UserSummaryJson<'a>>,
    environment: BasicEnvironmentJson<'a>,
    deployable: BuildJson<'a>,
}

impl<'a> DeploymentJson<'a> {
    /// The deployment, with its build at a given time.
    pub fn new(view: &'a DeploymentView, now: Timestamp, links: &'a Links) -> Self {
        let deployment = &view.deployment;
        Self {
            id: deployment.id.0,
            iid: deployment.iid,
            reference: &deployment.reference,
            sha: deployment.sha.to_string(),
            created_at: Iso(deployment.created_at),
            user: view.user.as_ref().map(|user| UserSummaryJson::new(user, links)),
            environment: (&view.environment).into(),
            deployable: BuildJson::new(&view.build, now, links),
        }
    }
}
