//! The pages, one file for each group of addresses.

mod archive;
mod blame;
mod branches;
mod commit;
mod compare;
mod editing;
mod explore;
mod file;
mod finder;
mod folder;
mod graphs;
mod history;
mod network;
mod profile;
mod project;
mod pushing;
mod raw;
mod service;
mod session;
mod tags;

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
    pages.get("/{namespace}/{project}/tree/{rest...}", folder::tree);
    pages.get("/{namespace}/{project}/blob/{rest...}", file::blob);
    pages.get("/{namespace}/{project}/raw/{rest...}", raw::raw);
    pages.get("/{namespace}/{project}/blame/{rest...}", blame::show);
    pages.get("/{namespace}/{project}/commits/{rest...}", history::commits);
    pages.get("/{namespace}/{project}/commit/{sha}.diff", commit::plain_diff);
    pages.get("/{namespace}/{project}/commit/{sha}.patch", commit::email_patch);
    pages.get("/{namespace}/{project}/commit/{sha}", commit::show);
    pages.get("/{namespace}/{project}/find_file/{rest...}", finder::page);
    pages.get("/{namespace}/{project}/files/{rest...}", finder::json);
    pages.get("/{namespace}/{project}/repository/{file}", archive::send);
    graphs::declare(pages);
    pages.get("/{namespace}/{project}/network/{rest...}", network::show);
    compare::declare(pages);
    branches::declare(pages);
    tags::declare(pages);
    editing::declare(pages);
    pages.get("/{namespace}/{project}/refs/switch", file::switch);
    pages.post("/{namespace}/{project}/star", project::star);
    pages.post("/{namespace}/{project}/unstar", project::unstar);
    pages.get("/{namespace}/{project}.git", project::of_repository);
    pages.get("/{namespace}/{project}", project::home);
}
