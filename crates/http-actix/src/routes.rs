//! The route table. One file for each group of calls, named as in the URL.

mod access_requests;
mod boards;
mod branches;
mod builds;
mod ci_lint;
mod commit_statuses;
mod emails;
mod fork_links;
mod group_labels;
mod groups;
mod hooks;
mod ids;
mod issues;
mod keys;
mod labels;
mod members;
mod milestones;
mod namespaces;
mod notes;
mod pipelines;
mod project_hooks;
mod projects;
mod repository;
mod runner_artifacts;
mod runner_builds;
mod runners;
mod session;
mod tags;
mod triggers;
mod uploads;
mod users;
mod variables;
mod version;

use actix_web::middleware::from_fn;
use actix_web::{HttpResponse, ResponseError, web};

use crate::error::ApiError;
use crate::middleware::represent;
use crate::{git_http, health};

/// The interface's own level, because clients compare it.
pub const VERSION: &str = "8.14.10";

/// Adds everything the server answers.
pub fn configure(cfg: &mut web::ServiceConfig) {
    health::configure(cfg);
    cfg.service(
        web::scope("/api/v3")
            .configure(session::configure)
            .configure(version::configure)
            .configure(users::configure)
            .configure(keys::configure)
            .configure(emails::configure)
            .configure(groups::configure)
            .configure(projects::configure)
            .configure(uploads::configure)
            .configure(fork_links::configure)
            .configure(project_hooks::configure)
            .configure(branches::configure)
            .configure(tags::configure)
            .configure(repository::configure)
            .configure(members::configure)
            .configure(access_requests::configure)
            .configure(namespaces::configure)
            .configure(hooks::configure)
            .configure(labels::configure)
            .configure(group_labels::configure)
            .configure(milestones::configure)
            .configure(issues::configure)
            .configure(notes::configure)
            .configure(boards::configure)
            .configure(pipelines::configure)
            .configure(builds::configure)
            .configure(commit_statuses::configure)
            .configure(triggers::configure)
            .configure(variables::configure)
            .configure(ci_lint::configure)
            .default_service(web::to(no_route))
            .wrap(from_fn(represent)),
    );
    cfg.service(
        web::scope("/ci/api/v1")
            .configure(runners::configure)
            .configure(runner_builds::configure)
            .configure(runner_artifacts::configure)
            .default_service(web::to(no_route))
            .wrap(from_fn(represent)),
    );
    uploads::configure_files(cfg);
    git_http::configure(cfg);
    cfg.default_service(web::to(no_route));
}

/// A path that nobody has, or a method that the path does not have.
async fn no_route() -> HttpResponse {
    ApiError::no_route().error_response()
}
