//! Atom feeds.

use std::fmt::Write as _;

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use chrono::SecondsFormat;
use hexforge_domain::Timestamp;
use hexforge_http_edge::conditional::ETag;

use crate::visit::Visit;

/// A feed.
pub(crate) struct Feed {
    pub(crate) title: String,
    /// The address of the page, and of the feed itself.
    pub(crate) page: String,
    pub(crate) address: String,
    pub(crate) entries: Vec<Entry>,
}

/// An entry of a feed.
pub(crate) struct Entry {
    /// A name that no other entry has, and that stays.
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) author: String,
    pub(crate) link: String,
    pub(crate) updated: Timestamp,
}

impl Feed {
    /// Sends the feed, or 304 if the reader has it.
    pub(crate) fn send(&self, visit: &Visit) -> HttpResponse {
        let xml = self.xml();
        let tag = ETag::weak(&[xml.as_bytes()]);
        if visit.if_none_match().has(&tag) {
            let mut response = HttpResponse::NotModified();
            tag.put_on(&mut response);
            return response.finish();
        }
        let mut response = HttpResponse::Ok();
        tag.put_on(&mut response);
        response
            .content_type("application/atom+xml; charset=utf-8")
            .insert_header((CACHE_CONTROL, "private, no-cache"))
            .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
            .body(xml)
    }

    fn xml(&self) -> String {
        let updated = self.entries.iter().map(|entry| entry.updated).max().unwrap_or_default();
        let mut xml = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
        // Writing to a string does not fail.
        let _ = write!(
            xml,
            "<feed xmlns=\"http://www.w3.org/2005/Atom\"><title>{}</title><link href=\"{}\" rel=\"self\" \
             type=\"application/atom+xml\"/><link href=\"{}\" rel=\"alternate\" type=\"text/html\"/>\
             <id>{}</id><updated>{}</updated>",
            escaped(&self.title),
            escaped(&self.address),
            escaped(&self.page),
            escaped(&self.page),
            time(updated),
        );
        for entry in &self.entries {
            let _ = write!(
                xml,
                "\n<entry><id>{}</id><link href=\"{}\"/><title>{}</title><updated>{}</updated>\
                 <author><name>{}</name></author></entry>",
                escaped(&entry.id),
                escaped(&entry.link),
                escaped(&entry.title),
                time(entry.updated),
                escaped(&entry.author),
            );
        }
        xml.push_str("\n</feed>\n");
        xml
    }
}

fn time(at: Timestamp) -> String {
    at.to_rfc3339_opts(SecondsFormat::Secs, true)
}

/// Text in XML. Characters that XML does not allow are replaced.
fn escaped(text: &str) -> String {
    let mut xml = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '&' => xml.push_str("&amp;"),
            '"' => xml.push_str("&quot;"),
            '\t' | '\n' => xml.push(letter),
            '\0'..='\u{1f}' | '\u{fffe}' | '\u{ffff}' => xml.push('\u{fffd}'),
            letter => xml.push(letter),
        }
    }
    xml
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_users_are_escaped() {
        assert_eq!(
            escaped("<a href=\"x\">&\u{1}\n"),
            "&lt;a href=&quot;x&quot;&gt;&amp;\u{fffd}\n"
        );
    }
}
