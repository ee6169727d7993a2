//! The route table. One file for each group of calls, named as in the URL.

mod access_requests;
mod application_settings;
mod award_emoji;
mod boards;
mod branches;
mod broadcast_messages;
mod builds;
mod ci_lint;
mod commit_comments;
mod commit_statuses;
mod commits;
mod deploy_keys;
mod deployments;
mod emails;
mod environments;
mod files;
mod fork_links;
mod group_labels;
mod groups;
mod hooks;
mod ids;
mod issues;
mod keys;
mod labels;
mod members;
mod merge_requests;
mod milestones;
mod namespaces;
mod notes;
mod notification_settings;
mod openapi;
mod pipelines;
mod project_hooks;
mod projects;
mod repository;
mod runner_admin;
mod runner_artifacts;
mod runner_builds;
mod runners;
mod services;
mod session;
mod snippets;
mod table;
mod tags;
mod templates;
mod todos;
mod tokens;
mod triggers;
pub(crate) mod uploads;
mod users;
mod variables;
mod version;

use actix_web::middleware::from_fn;
use actix_web::{HttpResponse, ResponseError, Route, web};

use crate::call::Calls;
use crate::dialect::Dialect;
use crate::error::ApiError;
use crate::middleware::{cors, exposed, represent};
use crate::{git_http, health};
use table::Table;

/// The version of the API that `GET /version` shows. Clients compare it.
pub const VERSION: &str = "8.14.10";

/// The prefix of the paths of all calls except those for runners.
pub(crate) const INTERFACE: &str = "/api/v3";

/// The prefix of the paths of the calls for runners.
pub(crate) const RUNNERS: &str = "/ci/api/v1";

/// All calls, in the order in which OpenAPI shows them.
pub(crate) fn calls(dialect: Dialect) -> Calls {
    let mut calls = Calls::new(dialect);
    for declare in [
        groups::declare,
        projects::declare,
        uploads::declare,
        fork_links::declare,
        project_hooks::declare,
        deploy_keys::declare,
        services::declare,
        branches::declare,
        tags::declare,
        repository::declare,
        labels::declare,
        boards::declare,
        hooks::declare,
        pipelines::declare,
        users::declare,
        keys::declare,
        tokens::declare,
        emails::declare,
        session::declare,
        version::declare,
        openapi::declare,
        members::declare,
        access_requests::declare,
        namespaces::declare,
        group_labels::declare,
        issues::declare,
        merge_requests::declare,
        snippets::declare,
        notes::declare,
        award_emoji::declare,
        todos::declare,
        notification_settings::declare,
        application_settings::declare,
        broadcast_messages::declare,
        milestones::declare,
        builds::declare,
        commits::declare,
        commit_comments::declare,
        files::declare,
        commit_statuses::declare,
        triggers::declare,
        variables::declare,
        environments::declare,
        deployments::declare,
        ci_lint::declare,
        templates::declare,
        runner_admin::declare,
        runners::declare,
        runner_builds::declare,
        runner_artifacts::declare,
    ] {
        declare(&mut calls);
    }
    calls
}

/// All calls, in the format of `tests/endpoints.txt`.
pub fn endpoints() -> String {
    calls(Dialect::Specification).lines()
}

/// Adds all routes of the server.
pub fn configure(cfg: &mut web::ServiceConfig) {
    health::configure(cfg);
    let (mut interface, mut of_runners) = (Table::default(), Table::default());
    for (_, call) in calls(Dialect::Specification).into_sections() {
        for (pattern, route) in call.routes() {
            match pattern.strip_prefix(RUNNERS) {
                Some(rest) => of_runners.route(rest, route),
                None => interface.route(pattern, route),
            }
        }
    }
    for (table, prefix) in [(interface, INTERFACE), (of_runners, RUNNERS)] {
        let scope = table.under(prefix).wrap(from_fn(represent)).wrap(cors()).wrap(exposed());
        cfg.service(scope);
    }
    uploads::configure_files(cfg);
    git_http::configure(cfg);
    // Every other address is a page.
    for prefix in ["/api", "/ci"] {
        let scope = web::scope(prefix).default_service(web::to(no_route));
        cfg.service(scope.wrap(cors()).wrap(exposed()));
    }
}

/// Adds a route outside of the API that pages of any origin may use.
pub(crate) fn open_resource(cfg: &mut web::ServiceConfig, path: &str, route: Route) {
    let resource = web::resource(path).route(route).default_service(web::to(no_route));
    cfg.service(resource.wrap(cors()).wrap(exposed()));
}

/// The response for an unknown path, or for a method that the path does not have.
async fn no_route() -> HttpResponse {
    ApiError::no_route().error_response()
}
