//! Runners as users and administrators see them.

use hexforge_application::runner::administer::RunnerDetails;
use hexforge_domain::runner::Runner;
use hexforge_domain::text::Secret;
use serde::Serialize;
use utoipa::ToSchema;

use super::project::SimpleProjectJson;
use super::time::Iso;
use hexforge_http_edge::links::Links;

/// A runner in a list.
#[derive(Serialize, ToSchema)]
pub struct RunnerJson<'a> {
    id: i64,
    description: &'a str,
    active: bool,
    is_shared: bool,
    name: Option<&'a str>,
}

impl<'a> From<&'a Runner> for RunnerJson<'a> {
    fn from(runner: &'a Runner) -> Self {
        Self {
            id: runner.id.0,
            description: &runner.description,
            active: runner.active,
            is_shared: runner.shared,
            name: runner.info.name.as_deref(),
        }
    }
}

/// A runner with its details.
#[derive(Serialize, ToSchema)]
pub struct RunnerDetailsJson<'a> {
    #[serde(flatten)]
    runner: RunnerJson<'a>,
    tag_list: Vec<&'a str>,
    run_untagged: bool,
    locked: bool,
    version: Option<&'a str>,
    revision: Option<&'a str>,
    platform: Option<&'a str>,
    architecture: Option<&'a str>,
    contacted_at: Option<Iso>,
    /// Absent for a shared runner, unless the caller is an administrator.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    token: Option<&'a str>,
    projects: Vec<SimpleProjectJson<'a>>,
}

impl<'a> RunnerDetailsJson<'a> {
    /// The runner, with URLs built by `links`.
    pub fn new(details: &'a RunnerDetails, links: &Links) -> Self {
        let RunnerDetails { runner, token, projects } = details;
        Self {
            runner: RunnerJson::from(runner),
            tag_list: runner.tags.iter().collect(),
            run_untagged: runner.run_untagged,
            locked: runner.locked,
            version: runner.info.version.as_deref(),
            revision: runner.info.revision.as_deref(),
            platform: runner.info.platform.as_deref(),
            architecture: runner.info.architecture.as_deref(),
            contacted_at: runner.contacted_at.map(Iso),
            token: token.as_ref().map(Secret::reveal),
            projects: projects.iter().map(|one| SimpleProjectJson::new(one, links)).collect(),
        }
    }
}
