//! Environments.

use hexforge_application::view::project::ProjectView;
use hexforge_domain::environment::{Environment, ExternalUrl};
use serde::Serialize;
use utoipa::ToSchema;

use super::project::ProjectJson;
use hexforge_http_edge::links::Links;

/// An environment with its project.
#[derive(Serialize, ToSchema)]
pub struct EnvironmentJson<'a> {
    id: i64,
    name: &'a str,
    external_url: Option<&'a str>,
    project: ProjectJson<'a>,
}

impl<'a> EnvironmentJson<'a> {
    /// The environment, with the URLs of its project built by `links`.
    pub fn new(environment: &'a Environment, project: &'a ProjectView, links: &Links) -> Self {
        let BasicEnvironmentJson { id, name, external_url } = environment.into();
        Self { id, name, external_url, project: ProjectJson::new(project, links) }
    }
}

/// An environment in the JSON of a deployment.
#[derive(Serialize, ToSchema)]
pub struct BasicEnvironmentJson<'a> {
    id: i64,
    name: &'a str,
    external_url: Option<&'a str>,
}

impl<'a> From<&'a Environment> for BasicEnvironmentJson<'a> {
    fn from(environment: &'a Environment) -> Self {
        Self {
            id: environment.id.0,
            name: environment.name.as_str(),
            external_url: environment.external_url.as_ref().map(ExternalUrl::as_str),
        }
    }
}
