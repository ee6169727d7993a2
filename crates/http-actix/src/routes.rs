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
mod openapi;
mod pipelines;
mod project_hooks;
mod projects;
mod repository;
mod runner_artifacts;
mod runner_builds;
mod runners;
mod session;
mod table;
mod tags;
mod tokens;
mod triggers;
mod uploads;
mod users;
mod variables;
mod version;

use actix_web::middleware::from_fn;
use actix_web::{HttpResponse, ResponseError, web};

use crate::error::ApiError;
use crate::middleware::represent;
use crate::openapi::Description;
use crate::{git_http, health};
use table::Table;

/// The interface's own level, because clients compare it.
pub const VERSION: &str = "8.14.10";

/// Adds everything the server answers.
pub fn configure(cfg: &mut web::ServiceConfig) {
    health::configure(cfg);
    let table = Table::default()
        .configure(session::configure)
        .configure(version::configure)
        .configure(openapi::configure)
        .configure(users::configure)
        .configure(keys::configure)
        .configure(tokens::configure)
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
        .configure(ci_lint::configure);
    cfg.service(table.under("/api/v3").wrap(from_fn(represent)));
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

/// Describes the interface, in the order in which it is read.
pub(crate) fn describe(to: &mut Description) {
    groups::describe(to);
    projects::describe(to);
    uploads::describe(to);
    fork_links::describe(to);
    project_hooks::describe(to);
    branches::describe(to);
    tags::describe(to);
    repository::describe(to);
    labels::describe(to);
    boards::describe(to);
    hooks::describe(to);
    pipelines::describe(to);
    users::describe(to);
    keys::describe(to);
    tokens::describe(to);
    emails::describe(to);
    session::describe(to);
    version::describe(to);
    openapi::describe(to);
    members::describe(to);
    access_requests::describe(to);
    namespaces::describe(to);
    group_labels::describe(to);
    issues::describe(to);
    notes::describe(to);
    milestones::describe(to);
    builds::describe(to);
    commit_statuses::describe(to);
    triggers::describe(to);
    variables::describe(to);
    ci_lint::describe(to);
    runners::describe(to);
    runner_builds::describe(to);
    runner_artifacts::describe(to);
}

/// A path that nobody has, or a method that the path does not have.
async fn no_route() -> HttpResponse {
    ApiError::no_route().error_response()
}
