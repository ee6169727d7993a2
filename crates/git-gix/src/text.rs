//! Decodes text in repositories: git stores bytes in any encoding.

use std::borrow::Cow;

use gix::bstr::ByteSlice;
use hexforge_domain::repository::path;

/// Decodes text in an unknown encoding. Invalid characters are dropped.
pub(crate) fn decode(bytes: &[u8]) -> String {
    match bytes.to_str() {
        Ok(text) => text.to_owned(),
        Err(_) => {
            let mut detector =
                chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
            detector.feed(bytes, true);
            let encoding = detector.guess(None, chardetng::Utf8Detection::Deny);
            let (text, _, _) = encoding.decode(bytes);
            text.replace('\u{fffd}', "")
        }
    }
}

/// Decodes text in the encoding that the commit declares, if it is not UTF-8.
pub(crate) fn decode_as(bytes: &[u8], label: Option<&[u8]>) -> String {
    let named = label.and_then(encoding_rs::Encoding::for_label);
    match (bytes.to_str(), named) {
        (Ok(text), _) => text.to_owned(),
        (Err(_), Some(encoding)) => encoding.decode(bytes).0.replace('\u{fffd}', ""),
        (Err(_), None) => decode(bytes),
    }
}

/// Decodes a path without guessing its encoding: clients send paths back, so the bytes matter.
pub(crate) fn path(bytes: &[u8]) -> String {
    bytes.to_str_lossy().into_owned()
}

/// Keeps all bytes of a path.
pub(crate) fn exact_path(bytes: &[u8]) -> String {
    path::from_bytes(bytes)
}

/// The bytes of a path.
pub(crate) fn bytes_of(path: &str) -> Cow<'_, [u8]> {
    path::to_bytes(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_in_other_encodings_are_read() {
        assert_eq!(decode("schön".as_bytes()), "schön");
        assert_eq!(decode(b"sch\xf6n und gr\xfcn"), "schön und grün");
        assert_eq!(decode_as(b"sch\xf6n", Some(b"ISO-8859-1")), "schön");
        assert_eq!(decode_as("schön".as_bytes(), Some(b"no such thing")), "schön");
    }
}
