//! The pages, one file for each group of addresses.

mod activity;
mod badges;
mod blame;
mod builds;
mod commit;
mod environments;
mod explore;
mod file;
mod history;
mod hooks;
mod members;
mod new_project;
mod pipelines;
mod profile;
mod project;
pub(crate) mod service;
mod session;
mod settings;

pub(crate) use file::visible;

use crate::assets;
use crate::forms::Guard;
use crate::table::Pages;

/// Declares all pages. Addresses with fixed words come before those with parameters.
pub(crate) fn declare(pages: &mut Pages) {
    pages.get("/", explore::home);
    pages.get("/users/sign_in", session::form);
    pages.post_guarded(Guard::Stranger, "/users/sign_in", session::sign_in);
    pages.post("/users/sign_out", session::sign_out);
    profile::declare(pages);
    pages.get("/dashboard", explore::own);
    pages.get("/dashboard/projects", explore::own);
    pages.get("/dashboard/projects/starred", explore::starred);
    pages.get("/explore", explore::explore);
    pages.get("/explore/projects", explore::explore);
    pages.get("/public", explore::public);
    pages.get("/public/projects", explore::public);
    pages.get("/help", service::help);
    pages.get("/robots.txt", service::robots);
    pages.get("/favicon.ico", assets::favicon);
    pages.get("/-/assets/{file}", assets::show);
    pages.get("/-/identicon/{name}.svg", service::identicon);
    pages.post_guarded(Guard::Headers, "/-/color_scheme", service::choose_scheme);
    new_project::declare(pages);
    settings::declare(pages);
    members::declare(pages);
    hooks::declare(pages);
    pipelines::declare(pages);
    builds::declare(pages);
    badges::declare(pages);
    environments::declare(pages);
    activity::declare(pages);
    pages.get("/{namespace}/{project}/tree/{rest...}", file::tree);
    pages.get("/{namespace}/{project}/blob/{rest...}", file::blob);
    pages.get("/{namespace}/{project}/raw/{rest...}", file::raw);
    pages.get("/{namespace}/{project}/blame/{rest...}", blame::show);
    pages.get("/{namespace}/{project}/commits/{rest...}", history::commits);
    pages.get("/{namespace}/{project}/commit/{sha}", commit::show);
    pages.get("/{namespace}/{project}/refs/switch", file::switch);
    pages.post("/{namespace}/{project}/star", project::star);
    pages.post("/{namespace}/{project}/unstar", project::unstar);
    pages.get("/{namespace}/{project}.git", project::of_repository);
    pages.get("/{namespace}/{project}", project::home);
}
