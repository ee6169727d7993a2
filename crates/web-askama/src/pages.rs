//! The pages, one file for each group of addresses.

mod activity;
mod admin;
mod blame;
mod commit;
mod explore;
mod file;
mod groups;
mod history;
mod person;
mod profile;
mod project;
mod search;
mod service;
mod session;
mod sign_up;

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
    sign_up::declare(pages);
    profile::declare(pages);
    activity::declare(pages);
    groups::declare(pages);
    person::declare(pages);
    admin::declare(pages);
    search::declare(pages);
    pages.get("/dashboard", explore::own);
    pages.get("/dashboard/projects", explore::own);
    pages.get("/dashboard/projects/starred", explore::starred);
    pages.get("/explore", explore::explore);
    pages.get("/explore/projects", explore::explore);
    pages.get("/public", explore::public);
    pages.get("/public/projects", explore::public);
    pages.get("/help", service::help);
    pages.get("/help/shortcuts", service::shortcuts);
    pages.get("/help/{path...}", service::other_help);
    pages.get("/robots.txt", service::robots);
    pages.get("/favicon.ico", assets::favicon);
    pages.get("/-/assets/{file}", assets::show);
    pages.get("/-/identicon/{name}.svg", service::identicon);
    pages.post_guarded(Guard::Headers, "/-/color_scheme", service::choose_scheme);
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
    person::declare_names(pages);
}
