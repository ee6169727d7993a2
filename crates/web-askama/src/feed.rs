//! Atom feeds.

use actix_web::HttpResponse;
use askama::Template;
use chrono::{DateTime, TimeZone, Utc};
use hexforge_http_edge::conditional::ETag;

use crate::error::{PageError, PageResult};
use crate::render;
use crate::visit::Visit;

/// The entries of a feed.
pub(crate) const ENTRIES: usize = 20;

/// A feed. All addresses are paths of this service.
#[derive(Default)]
pub(crate) struct Feed {
    /// The title.
    pub(crate) title: String,
    /// The page that shows the same.
    pub(crate) page: String,
    /// The entries, newest first.
    pub(crate) entries: Vec<FeedEntry>,
}

/// An entry of a feed.
pub(crate) struct FeedEntry {
    /// The page of the entry.
    pub(crate) page: String,
    /// The title.
    pub(crate) title: String,
    /// The name of the author.
    pub(crate) author: String,
    /// The last change.
    pub(crate) updated: DateTime<Utc>,
    /// More text; it may be empty.
    pub(crate) summary: String,
}

#[derive(Template)]
#[template(path = "feed.xml")]
struct FeedXml {
    id: String,
    title: String,
    page: String,
    updated: String,
    entries: Vec<Entry>,
}

struct Entry {
    id: String,
    title: String,
    author: String,
    updated: String,
    summary: String,
}

/// Sends a feed, unless the reader has the same one.
pub(crate) fn send(visit: &Visit, feed: Feed) -> PageResult<HttpResponse> {
    let newest = feed.entries.iter().map(|entry| entry.updated).max();
    let entry = |entry: FeedEntry| Entry {
        id: visit.external(&entry.page),
        title: xml_text(&entry.title),
        author: xml_text(&entry.author),
        updated: time(entry.updated),
        summary: xml_text(&entry.summary),
    };
    let xml = FeedXml {
        id: visit.external(&visit.path_and_query()),
        title: xml_text(&feed.title),
        page: visit.external(&feed.page),
        updated: time(newest.unwrap_or(DateTime::UNIX_EPOCH)),
        entries: feed.entries.into_iter().map(entry).collect(),
    };
    let xml = xml.render().map_err(|error| PageError::internal(&error.to_string()))?;
    let tag = ETag::weak(&[xml.as_bytes()]);
    if visit.if_none_match().has(&tag) {
        return Ok(render::not_modified(&tag));
    }
    let mut response = render::foreign_bytes("application/atom+xml; charset=utf-8");
    tag.put_on(&mut response);
    Ok(response.body(xml))
}

fn time<Z: TimeZone>(at: DateTime<Z>) -> String {
    at.with_timezone(&Utc).format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

/// A text without the characters that XML does not allow.
pub(crate) fn xml_text(text: &str) -> String {
    let is_allowed = |c: &char| {
        matches!(c, '\t' | '\n' | '\r') || !c.is_control() && !matches!(c, '\u{fffe}' | '\u{ffff}')
    };
    text.chars().filter(is_allowed).collect()
}
