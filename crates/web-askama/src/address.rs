//! Addresses in pages. Every byte but unreserved characters is encoded, and slashes in paths are kept.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};

/// What is encoded in a segment of a path.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// What is encoded in a path of several segments.
const PATH: &AsciiSet = &SEGMENT.remove(b'/');

/// Encodes a path, a ref, or both with a slash between them.
pub(crate) fn path(text: impl AsRef<[u8]>) -> String {
    percent_encode(text.as_ref(), PATH).to_string()
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
    fn addresses_are_encoded() {
        assert_eq!(path("a b/ü%#?"), "a%20b/%C3%BC%25%23%3F");
        assert_eq!(path([b'x', 0xff, b'/']), "x%FF/");
        assert_eq!(query([("a", "1/2"), ("b", "&")]), "a=1%2F2&b=%26");
    }
}
