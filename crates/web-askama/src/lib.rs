//! The web pages of hexforge: HTML from the same use cases and the same policy as the REST interface. Every page works
//! without scripts.
//!
//! - `table`: the addresses of all pages;
//! - `visit`: one request for a page, and the only bridge to the synchronous use cases;
//! - `cookies`, `forms`: sessions, color schemes, messages; forms and their protection against forgery;
//! - `frame`: what all pages have in common;
//! - `faults`: what is wrong with a form that was sent;
//! - `error`: the only mapping from errors to pages;
//! - `refusals`: pages for requests that middleware refused;
//! - `prose`: comments and descriptions, with links to what they name;
//! - `log`: logs of builds as HTML;
//! - `markdown`, `address`, `moment`: texts of users, addresses, and times;
//! - `diff`, `highlight`, `visible`, `kept`: diffs, highlighted code, lines of code, and the cache of rendered files;
//! - `feed`: Atom feeds;
//! - `assets`: styles and scripts, embedded in the program;
//! - `pages`: the pages.

mod address;
mod assets;
mod cookies;
mod diff;
mod error;
mod faults;
mod feed;
mod forms;
mod frame;
mod highlight;
mod kept;
mod log;
mod markdown;
mod moment;
mod pages;
mod prose;
mod refusals;
mod render;
mod table;
mod visible;
mod visit;

use actix_web::web;

pub use refusals::explain;
pub use table::list;
pub use visit::WebSettings;

/// Adds the pages. They answer every address that no other route serves.
pub fn configure(settings: WebSettings) -> impl FnOnce(&mut web::ServiceConfig) {
    let pages = web::Data::new(table::Pages::new());
    let settings = web::Data::new(settings);
    move |cfg| {
        cfg.app_data(pages).app_data(settings).default_service(web::to(table::dispatch));
    }
}
