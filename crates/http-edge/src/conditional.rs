//! Conditional requests: entity tags, and the tags that a client sends in `If-None-Match`.
//!
//! The entity tag of a JSON response is a digest of its bytes, added
//! after the call. Calls that know the tag before they do the work add it themselves:
//! the content of a repository depends only on the commit. No tag uses the time of a change, because two changes
//! may have the same time.

use actix_web::HttpResponseBuilder;
use actix_web::http::header::{CACHE_CONTROL, ETAG, HeaderMap, IF_NONE_MATCH};
use hexforge_domain::commit::ObjectId;
use hexforge_domain::hex;
use sha2::{Digest, Sha256};

/// The `Cache-Control` of responses with an entity tag: only the client caches them, and it revalidates each use.
pub const REVALIDATE: &str = "max-age=0, private, must-revalidate";

/// An entity tag: the name of one state of a response.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ETag(String);

impl ETag {
    /// A weak tag, for responses that may be compressed. The parts are all inputs of the response.
    pub fn weak(parts: &[&[u8]]) -> Self {
        Self(format!("W/\"{}\"", digest(parts)))
    }

    /// A strong tag, for responses whose bytes never change.
    pub fn strong(parts: &[&[u8]]) -> Self {
        Self(format!("\"{}\"", digest(parts)))
    }

    /// A weak tag of a response computed from commits. It contains the version of the program, because another
    /// version may compute another response.
    pub fn of_commits(what: &str, commits: &[ObjectId]) -> Self {
        let names: Vec<String> = commits.iter().map(ToString::to_string).collect();
        let version = env!("CARGO_PKG_VERSION").as_bytes();
        Self::weak(&[what.as_bytes(), version, names.join(" ").as_bytes()])
    }

    /// The value of the header `ETag`.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Adds the tag to a response.
    pub fn put_on(&self, response: &mut HttpResponseBuilder) {
        response.insert_header((ETAG, self.as_str())).insert_header((CACHE_CONTROL, REVALIDATE));
    }
}

/// A digest of 128 bits, so that nobody can find two states with the same tag.
fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        // The length comes first, so that other parts with the same concatenation have another digest.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    hex::encode(&hash.finalize()[..16])
}

/// The entity tags that a client sent in `If-None-Match`.
#[derive(Clone, Debug, Default)]
pub struct IfNoneMatch(Vec<String>);

impl IfNoneMatch {
    /// Reads the tags of a request.
    pub fn of(headers: &HeaderMap) -> Self {
        let texts = headers.get_all(IF_NONE_MATCH).filter_map(|value| value.to_str().ok());
        let tags = texts.flat_map(|text| text.split(',')).map(str::trim);
        Self(tags.filter(|tag| !tag.is_empty()).map(str::to_owned).collect())
    }

    /// Whether the client has this state.
    pub fn has(&self, tag: &ETag) -> bool {
        self.0.iter().any(|known| opaque(known) == opaque(&tag.0))
    }

    /// Whether the header matches this tag: the client has the state, or accepts any state (`*`).
    pub fn matches(&self, tag: &ETag) -> bool {
        self.0.iter().any(|known| known == "*") || self.has(tag)
    }
}

/// The tag without the prefix of weak tags: GET compares weak and strong tags alike (RFC 9110, 13.1.2).
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    #[test]
    fn a_state_matches_only_its_whole_tag() {
        let tag = ETag::weak(&[b"a"]);
        let name = tag.as_str().trim_start_matches("W/").to_owned();
        for (given, known, or_any) in [
            (tag.as_str().to_owned(), true, true),
            (name.clone(), true, true),
            (format!("\"x\" , {name}"), true, true),
            ("*".to_owned(), false, true),
            (name.trim_matches('"').to_owned(), false, false),
            (format!("{name}x"), false, false),
            (String::new(), false, false),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(IF_NONE_MATCH, HeaderValue::from_str(&given).expect("a header"));
            let said = IfNoneMatch::of(&headers);
            assert_eq!((said.has(&tag), said.matches(&tag)), (known, or_any), "{given}");
        }
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(ETag::weak(&[b"ab", b"c"]), ETag::weak(&[b"a", b"bc"]));
        assert_ne!(ETag::weak(&[b"a"]), ETag::strong(&[b"a"]));
    }
}
