//! Addresses in pages. Every byte but unreserved characters is encoded, and slashes in paths are kept.

use hexforge_domain::repository;
use percent_encoding::{AsciiSet, CONTROLS, NON_ALPHANUMERIC, percent_encode};

/// What is encoded in a segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What is encoded in a path of several segments.
const PATH: &AsciiSet = &SEGMENT.remove(b'/');

/// What is encoded in an address that is complete already.
const IN_HEADER: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'\\');

/// An address as a header sends it. What is encoded already stays as it is.
pub(crate) fn in_header(address: &str) -> String {
    percent_encode(address.as_bytes(), IN_HEADER).to_string()
}

/// Encodes a path, a ref, or both with a slash between them. Names that are not UTF-8 are encoded byte by byte.
pub(crate) fn path(text: impl AsRef<[u8]>) -> String {
    let text = text.as_ref();
    match std::str::from_utf8(text) {
        Ok(text) => percent_encode(&repository::path::to_bytes(text), PATH).to_string(),
        Err(_) => percent_encode(text, PATH).to_string(),
    }
}

/// Encodes a value of a query.
pub(crate) fn value(text: &str) -> String {
    percent_encode(text.as_bytes(), SEGMENT).to_string()
}

/// Encodes a query.
pub(crate) fn query<'a>(pairs: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let pairs = pairs.into_iter().map(|(name, text)| format!("{}={}", value(name), value(text)));
    pairs.collect::<Vec<_>>().join("&")
}

/// The address to which a form may return: a path of this service, otherwise `/`. Browsers read `//host` and `/\host`
/// as another host, and drop control characters.
pub(crate) fn return_to(text: Option<&str>) -> &str {
    let is_own = |text: &&str| {
        let mut bytes = text.bytes();
        bytes.next() == Some(b'/')
            && !matches!(bytes.next(), Some(b'/' | b'\\'))
            && !text.chars().any(char::is_control)
    };
    text.filter(is_own).unwrap_or("/")
}

/// The parameter by which feed readers send their token.
pub(crate) const TOKEN: &str = "private_token";

/// An address without a token in its query. The rest stays as it was written.
pub(crate) fn without_token(address: &str) -> String {
    let Some((path, query)) = address.split_once('?') else { return address.to_owned() };
    let is_token = |pair: &&str| {
        form_urlencoded::parse(pair.as_bytes()).next().is_some_and(|(name, _)| name == TOKEN)
    };
    if !query.split('&').any(|pair| is_token(&pair)) {
        return address.to_owned();
    }
    let others: Vec<_> = query.split('&').filter(|pair| !is_token(pair)).collect();
    if others.is_empty() { path.to_owned() } else { format!("{path}?{}", others.join("&")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_of_this_service_are_returned_to() {
        for (given, expected) in [
            (None, "/"),
            (Some(""), "/"),
            (Some("/"), "/"),
            (Some("/ada/ship?x=//y"), "/ada/ship?x=//y"),
            (Some("//evil.test"), "/"),
            (Some("/\\evil.test"), "/"),
            (Some("/\t/evil.test"), "/"),
            (Some("https://evil.test"), "/"),
            (Some("javascript:alert(1)"), "/"),
            (Some(" /x"), "/"),
        ] {
            assert_eq!(return_to(given), expected, "{given:?}");
        }
    }

    #[test]
    fn tokens_are_dropped() {
        for (given, expected) in [
            ("/a", "/a"),
            ("/a?", "/a?"),
            ("/a?b=%20&&c", "/a?b=%20&&c"),
            ("/a?private_token=x", "/a"),
            ("/a?b=1&private%5Ftoken=x&c=2&private_token", "/a?b=1&c=2"),
            ("/a?private_tokens=1&b=private_token", "/a?private_tokens=1&b=private_token"),
        ] {
            assert_eq!(without_token(given), expected, "{given}");
        }
    }

    #[test]
    fn addresses_are_encoded() {
        assert_eq!(path("a b/ü%#?"), "a%20b/%C3%BC%25%23%3F");
        assert_eq!(path([b'x', 0xff, b'/']), "x%FF/");
        assert_eq!(path(repository::path::from_bytes(b"x\xff/")), "x%FF/");
        assert_eq!(query([("a", "1/2"), ("b", "&")]), "a=1%2F2&b=%26");
        assert_eq!(in_header("/ada/ü x?y=%20&z=\"\\"), "/ada/%C3%BC%20x?y=%20&z=%22%5C");
    }
}
