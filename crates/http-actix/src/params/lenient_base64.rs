//! Lenient base64, as Ruby decodes it: foreign characters are skipped, and padding may be missing.

/// Decodes a text. It ends at the padding, if there is any.
pub(crate) fn decode(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 3);
    let (mut group, mut digits) = (0_u32, 0_u32);
    for byte in text.bytes() {
        let Some(digit) = digit(byte) else {
            if byte == b'=' && digits >= 2 {
                break;
            }
            continue;
        };
        group = group << 6 | u32::from(digit);
        digits += 1;
        if digits == 4 {
            bytes.extend_from_slice(&group.to_be_bytes()[1..]);
            (group, digits) = (0, 0);
        }
    }
    match digits {
        2 => bytes.extend_from_slice(&(group >> 4).to_be_bytes()[3..]),
        3 => bytes.extend_from_slice(&(group >> 2).to_be_bytes()[2..]),
        _ => (),
    }
    bytes
}

fn digit(byte: u8) -> Option<u8> {
    match byte {
        b'A'..=b'Z' => Some(byte - b'A'),
        b'a'..=b'z' => Some(byte - b'a' + 26),
        b'0'..=b'9' => Some(byte - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;

    use super::*;

    #[test]
    fn line_breaks_and_foreign_characters_are_skipped() {
        for (text, bytes) in [
            ("aGVsbG8=", &b"hello"[..]),
            ("aGVs\r\nbG8", b"hello"),
            ("a-G_V!sbG8=", b"hello"),
            ("aGVsbG8=aGVs", b"hello"),
            ("=", b""),
            ("a", b""),
            ("!!!", b""),
        ] {
            assert_eq!(decode(text), bytes, "{text}");
        }
    }

    #[test]
    fn strict_base64_is_decoded() {
        let bytes: Vec<u8> = (0..=255).collect();
        for length in 0..bytes.len() {
            let bytes = &bytes[..length];
            assert_eq!(decode(&STANDARD.encode(bytes)), bytes);
        }
    }
}
