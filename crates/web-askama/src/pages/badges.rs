//! Badges: small pictures of the state of a branch, for other sites. What is hidden looks like what is unknown.

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use hexforge_application::pipeline::badge::{self, Badge};
use hexforge_domain::ci::status::Status;

use crate::error::PageResult;
use crate::table::Pages;
use crate::visit::Visit;

pub(super) fn declare(pages: &mut Pages) {
    pages.get("/{namespace}/{project}/badges/{rest...}", show);
}

const GREEN: &str = "#116329";
const RED: &str = "#a40e26";
const AMBER: &str = "#7d4e00";
const GRAY: &str = "#57606a";

/// The text and the color of the state.
fn of_build(badge: Badge) -> (String, &'static str) {
    let Some(status) = badge.status else { return ("unknown".to_owned(), GRAY) };
    let color = match status {
        Status::Success => GREEN,
        Status::Failed => RED,
        Status::Created | Status::Pending | Status::Running => AMBER,
        Status::Canceled | Status::Skipped => GRAY,
    };
    (status.as_str().to_owned(), color)
}

/// The text and the color of the coverage.
fn of_coverage(badge: Badge) -> (String, &'static str) {
    match badge.coverage {
        None => ("unknown".to_owned(), GRAY),
        Some(percent) if percent >= 90.0 => (format!("{percent:.0}%"), GREEN),
        Some(percent) if percent >= 75.0 => (format!("{percent:.0}%"), AMBER),
        Some(percent) => (format!("{percent:.0}%"), RED),
    }
}

async fn show(visit: Visit) -> PageResult<HttpResponse> {
    let (named, rest) = (visit.project(), visit.param("rest"));
    let (reference, name) = rest.rsplit_once('/').unwrap_or(("", rest.as_str()));
    let shown: fn(Badge) -> (String, &'static str) = match name {
        "build.svg" if !reference.is_empty() => of_build,
        "coverage.svg" if !reference.is_empty() => of_coverage,
        _ => return Err(visit.not_found().await),
    };
    let label = name.trim_end_matches(".svg").to_owned();
    let reference = reference.to_owned();
    let (_, badge) =
        visit.run(move |app, viewer| badge::get(app, viewer.actor(), &named, &reference)).await?;
    let (text, color) = shown(badge);
    Ok(HttpResponse::Ok()
        .content_type("image/svg+xml")
        .insert_header((CACHE_CONTROL, "private, no-cache"))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .body(svg(&label, &text, color)))
}

/// A picture of two words. Both are words of ours, so nothing has to be escaped.
fn svg(label: &str, text: &str, color: &str) -> String {
    let width = |word: &str| 7 * word.len() + 10;
    let (left, right) = (width(label), width(text));
    let all = left + right;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{all}\" height=\"20\" role=\"img\" \
         aria-label=\"{label}: {text}\"><title>{label}: {text}</title><rect width=\"{left}\" height=\"20\" \
         fill=\"#333\"/><rect x=\"{left}\" width=\"{right}\" height=\"20\" fill=\"{color}\"/><g fill=\"#fff\" \
         font-family=\"Verdana,sans-serif\" font-size=\"11\"><text x=\"5\" y=\"14\">{label}</text><text x=\"{}\" \
         y=\"14\">{text}</text></g></svg>",
        left + 5
    )
}
