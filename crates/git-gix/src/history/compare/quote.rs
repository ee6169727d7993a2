//! Quotes paths as git does in diffs.

use std::fmt::Write;

/// Returns a path with a prefix such as `a/`. It is quoted when it contains a quote, a backslash or a byte that is not
/// printable ASCII.
pub(super) fn quoted(prefix: &str, path: &[u8]) -> String {
    let mut text = String::with_capacity(prefix.len() + path.len() + 2);
    text.push_str(prefix);
    let mut plain = true;
    for &byte in path {
        let escape = match byte {
            0x07 => 'a',
            0x08 => 'b',
            b'\t' => 't',
            b'\n' => 'n',
            0x0b => 'v',
            0x0c => 'f',
            b'\r' => 'r',
            b'"' | b'\\' => char::from(byte),
            b' '..=b'~' => {
                text.push(char::from(byte));
                continue;
            }
            _ => {
                plain = false;
                let _ = write!(text, "\\{byte:03o}");
                continue;
            }
        };
        plain = false;
        text.push('\\');
        text.push(escape);
    }
    if plain { text } else { format!("\"{text}\"") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unusual_paths_are_quoted() {
        for (path, expected) in [
            (&b"src/lib.rs"[..], "a/src/lib.rs"),
            (b"with space", "a/with space"),
            ("schön".as_bytes(), r#""a/sch\303\266n""#),
            (b"tab\tquote\"back\\slash", r#""a/tab\tquote\"back\\slash""#),
            (b"\x01\x7f\xff", r#""a/\001\177\377""#),
        ] {
            assert_eq!(quoted("a/", path), expected);
        }
    }
}
