//! Conditional requests: names for the states of answers, and those that a caller says it knows.
//!
//! An answer that is JSON is named by its own bytes once it is made, in
//! [`represent`](crate::middleware::represent). Calls that can name the state before they do the work do it
//! by themselves: what is in a repository is decided by the commit. Moments of changes name nothing, because
//! two changes may have the same.

use actix_web::HttpResponseBuilder;
use actix_web::http::header::{CACHE_CONTROL, ETAG, HeaderMap, IF_NONE_MATCH};
use hexforge_domain::commit::ObjectId;
use sha2::{Digest, Sha256};

/// Answers belong to whoever asked, and are asked for again before they are used again.
pub(crate) const REVALIDATE: &str = "max-age=0, private, must-revalidate";

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
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut hash = Sha256::new();
    for part in parts {
        // With its length, so that no part can be taken for the end of another.
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let digit = |nibble: u8| char::from(DIGITS[usize::from(nibble)]);
    hash.finalize()[..16].iter().flat_map(|b| [digit(b >> 4), digit(b & 15)]).collect()
}

/// The entity tags that a client sent in `If-None-Match`.
#[derive(Clone, Debug, Default)]
pub struct Known(Vec<String>);

impl Known {
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

    /// Whether the client has this state, or accepts any (`*`).
    pub(crate) fn has_or_takes_any(&self, tag: &ETag) -> bool {
        self.0.iter().any(|known| known == "*") || self.has(tag)
    }
}

/// The tag without its weakness: GET compares weak and strong tags alike (RFC 9110, 13.1.2).
fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use super::*;
    use actix_web::http::header::HeaderValue;

    #[test]
    fn a_state_is_known_by_its_whole_name() {
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
            let said = Known::of(&headers);
            assert_eq!((said.has(&tag), said.has_or_takes_any(&tag)), (known, or_any), "{given}");
        }
    }

    #[test]
    fn parts_do_not_run_into_each_other() {
        assert_ne!(ETag::weak(&[b"ab", b"c"]), ETag::weak(&[b"a", b"bc"]));
        assert_ne!(ETag::weak(&[b"a"]), ETag::strong(&[b"a"]));
    }
}
