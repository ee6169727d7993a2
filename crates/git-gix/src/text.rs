//! Bytes of git as text: git keeps whatever it was given.

use gix::bstr::ByteSlice;

/// The text that these bytes are, whatever they are encoded in; what is no text in any encoding is dropped.
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

/// The same, from an encoding that the commit names.
pub(crate) fn decode_as(bytes: &[u8], label: Option<&[u8]>) -> String {
    let named = label.and_then(encoding_rs::Encoding::for_label);
    match (bytes.to_str(), named) {
        (Ok(text), _) => text.to_owned(),
        (Err(_), Some(encoding)) => encoding.decode(bytes).0.replace('\u{fffd}', ""),
        (Err(_), None) => decode(bytes),
    }
}

/// A path as text: paths are shown, and asked for again, byte by byte, so nothing is guessed.
pub(crate) fn path(bytes: &[u8]) -> String {
    bytes.to_str_lossy().into_owned()
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
