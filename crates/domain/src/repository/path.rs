//! Paths in repositories. Git stores them as bytes; in hexforge they are text in which each byte that is not part of
//! UTF-8 is one private character. So two names that look the same stay different.

use std::borrow::Cow;

/// The character for the byte 0. Nobody uses this part of the last private plane.
const FIRST: u32 = 0x10_FE00;

/// The text for the bytes of a path.
pub fn from_bytes(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match byte_of(c) {
                None => text.push(c),
                // What looks like one of our characters is kept byte by byte.
                Some(_) => {
                    c.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| push(&mut text, byte));
                }
            }
        }
        chunk.invalid().iter().for_each(|byte| push(&mut text, *byte));
    }
    text
}

/// The bytes of a path.
pub fn to_bytes(text: &str) -> Cow<'_, [u8]> {
    if text.chars().all(|c| byte_of(c).is_none()) {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::with_capacity(text.len());
    for c in text.chars() {
        match byte_of(c) {
            Some(byte) => bytes.push(byte),
            None => bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
    Cow::Owned(bytes)
}

/// A path as readers see it, with replacement characters for what is not UTF-8.
pub fn shown(text: &str) -> Cow<'_, str> {
    match to_bytes(text) {
        Cow::Borrowed(_) => Cow::Borrowed(text),
        Cow::Owned(bytes) => Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()),
    }
}

fn push(text: &mut String, byte: u8) {
    text.extend(char::from_u32(FIRST + u32::from(byte)));
}

fn byte_of(c: char) -> Option<u8> {
    u8::try_from(u32::from(c).checked_sub(FIRST)?).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_survive() {
        for (bytes, seen) in [
            (&b"a/b"[..], "a/b"),
            ("schön".as_bytes(), "schön"),
            (b"a\xff/\xfe", "a\u{fffd}/\u{fffd}"),
            (b"\xe2\x82", "\u{fffd}"),
            ("\u{10fe41}".as_bytes(), "\u{10fe41}"),
            (b"", ""),
        ] {
            let text = from_bytes(bytes);
            assert_eq!(*to_bytes(&text), *bytes, "{seen}");
            assert_eq!(shown(&text), seen);
        }
        assert_ne!(from_bytes(b"a\xff"), from_bytes(b"a\xfe"));
    }
}
