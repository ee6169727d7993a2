//! Parses a JSON object with one long text, such as the log of a build, while it arrives. Only the decoded text and the
//! short rest are in memory.

/// The state of the parser.
pub struct LongText {
    name: &'static str,
    /// The longest part of the text that is kept.
    cap: usize,
    /// The object without the long text.
    rest: Vec<u8>,
    text: Vec<u8>,
    place: Place,
    depth: usize,
    /// The text that was read last outside of the long text: a key, if a colon follows.
    last: Vec<u8>,
    /// Whether the next value at the top level is the long text.
    is_next: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Outside,
    String {
        escaped: bool,
    },
    Long,
    /// Inside of an escape sequence of the long text: its bytes so far, and a high surrogate before it.
    Escape {
        code: u32,
        digits: u8,
        high: Option<u16>,
    },
    /// Behind a high surrogate.
    High(u16),
}

impl LongText {
    /// Expects the long text in the member `name`.
    pub fn new(name: &'static str, cap: usize) -> Self {
        let (rest, text, last) = (Vec::new(), Vec::new(), Vec::new());
        Self { name, cap, rest, text, place: Place::Outside, depth: 0, last, is_next: false }
    }

    /// The length of the object without the long text.
    pub fn rest_length(&self) -> usize {
        self.rest.len()
    }

    /// The object so far without the long text, closed. Only valid JSON while the parser is in the long text.
    pub fn head(&self) -> Option<Vec<u8>> {
        let in_text = !matches!(self.place, Place::Outside | Place::String { .. });
        in_text.then(|| [&self.rest, &b"\"}"[..]].concat())
    }

    /// Parses the next bytes.
    pub fn push(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            if self.place == Place::Long {
                // Most of the text needs no look at single bytes.
                let plain = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\'));
                let (plain, rest) = bytes.split_at(plain.unwrap_or(bytes.len()));
                self.keep(plain);
                bytes = rest;
            }
            if let Some((byte, rest)) = bytes.split_first() {
                self.step(*byte);
                bytes = rest;
            }
        }
    }

    /// The whole object without the long text, and the long text.
    pub fn finish(self) -> (Vec<u8>, Vec<u8>) {
        (self.rest, self.text)
    }

    fn step(&mut self, byte: u8) {
        match self.place {
            Place::Outside => self.outside(byte),
            Place::String { escaped } => {
                self.rest.push(byte);
                self.place = match (escaped, byte) {
                    (false, b'"') => Place::Outside,
                    (false, b'\\') => Place::String { escaped: true },
                    _ => Place::String { escaped: false },
                };
                if self.place != Place::Outside && self.last.len() <= self.name.len() {
                    self.last.push(byte);
                }
            }
            Place::Long => match byte {
                b'"' => {
                    self.rest.push(b'"');
                    self.place = Place::Outside;
                }
                b'\\' => self.place = Place::Escape { code: 0, digits: 0, high: None },
                byte => self.keep(&[byte]),
            },
            Place::High(high) => match byte {
                b'\\' => self.place = Place::Escape { code: 0, digits: 0, high: Some(high) },
                byte => {
                    self.keep_char(u32::from(high));
                    self.place = Place::Long;
                    self.step(byte);
                }
            },
            Place::Escape { code, digits, high } => self.escape(byte, code, digits, high),
        }
    }

    fn outside(&mut self, byte: u8) {
        match byte {
            b'"' if self.is_next => {
                self.rest.push(b'"');
                self.place = Place::Long;
                self.is_next = false;
                return;
            }
            b'"' => {
                self.last.clear();
                self.place = Place::String { escaped: false };
            }
            b'{' | b'[' => self.depth += 1,
            b'}' | b']' => self.depth = self.depth.saturating_sub(1),
            b':' => self.is_next = self.depth == 1 && self.last == self.name.as_bytes(),
            b',' => self.is_next = false,
            _ => (),
        }
        if !byte.is_ascii_whitespace() && byte != b':' {
            self.is_next = false;
        }
        self.rest.push(byte);
    }

    fn escape(&mut self, byte: u8, code: u32, digits: u8, high: Option<u16>) {
        if digits == 0 && byte != b'u' {
            if let Some(high) = high {
                self.keep_char(u32::from(high));
            }
            let plain = match byte {
                b'n' => b'\n',
                b't' => b'\t',
                b'r' => b'\r',
                b'b' => 8,
                b'f' => 12,
                other => other,
            };
            self.keep(&[plain]);
            self.place = Place::Long;
            return;
        }
        if digits == 0 {
            self.place = Place::Escape { code, digits: 1, high };
            return;
        }
        let code = code * 16 + char::from(byte).to_digit(16).unwrap_or_default();
        if digits < 4 {
            self.place = Place::Escape { code, digits: digits + 1, high };
            return;
        }
        self.place = Place::Long;
        match (high, code) {
            (Some(high), 0xdc00..=0xdfff) => {
                self.keep_char(0x10000 + ((u32::from(high) - 0xd800) << 10) + (code - 0xdc00));
            }
            (_, 0xd800..=0xdbff) => {
                if let Some(high) = high {
                    self.keep_char(u32::from(high));
                }
                self.place = Place::High(u16::try_from(code).unwrap_or_default());
            }
            (high, code) => {
                if let Some(high) = high {
                    self.keep_char(u32::from(high));
                }
                self.keep_char(code);
            }
        }
    }

    /// Half of a surrogate pair becomes the replacement character.
    fn keep_char(&mut self, code: u32) {
        let char = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        self.keep(char.encode_utf8(&mut [0; 4]).as_bytes());
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = self.cap.saturating_sub(self.text.len());
        self.text.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn parsed(json: &str, size: usize, cap: usize) -> (Value, String) {
        let mut parser = LongText::new("trace", cap);
        for piece in json.as_bytes().chunks(size) {
            parser.push(piece);
        }
        let (rest, text) = parser.finish();
        (serde_json::from_slice(&rest).expect("valid"), String::from_utf8(text).expect("UTF-8"))
    }

    #[test]
    fn a_long_text_is_taken_out_wherever_it_is_cut() {
        let trace = "\u{1b}[32m$ make\n\t\"quoted\" \\ ünï 🦀\u{0}";
        for object in [
            json!({"token": "t", "state": "success", "trace": trace}),
            json!({"trace": trace, "info": {"trace": "inner", "list": ["trace", "x"]}, "token": "trace"}),
        ] {
            for text in [object.to_string(), format!("{object:#}"), escaped(&object.to_string())] {
                for size in 1..20 {
                    let (rest, long) = parsed(&text, size, 1000);
                    let mut expected = object.clone();
                    expected["trace"] = json!("");
                    assert_eq!((rest, long.as_str()), (expected, trace), "{text} {size}");
                }
            }
        }
    }

    /// Writes all characters beyond ASCII as escapes.
    fn escaped(text: &str) -> String {
        let mut done = String::new();
        for c in text.chars() {
            match c.is_ascii() {
                true => done.push(c),
                false => {
                    for unit in c.encode_utf16(&mut [0; 2]) {
                        done.push_str(&format!("\\u{unit:04x}"));
                    }
                }
            }
        }
        done
    }

    #[test]
    fn halves_of_pairs_are_replaced_and_long_texts_are_cut() {
        let (_, text) = parsed(r#"{"trace": "a\ud83dx\ud83d\ud83e\udd80"}"#, 3, 1000);
        assert_eq!(text, "a\u{fffd}x\u{fffd}🦀");
        assert_eq!(parsed(r#"{"trace": "0123456789"}"#, 3, 4).1, "0123");
        let (rest, text) = parsed(r#"{"trace": null, "a": "trace", "b": "x"}"#, 2, 9);
        assert_eq!((rest, text), (json!({"trace": null, "a": "trace", "b": "x"}), String::new()));
    }

    #[test]
    fn the_head_is_readable_before_the_end() {
        let mut parser = LongText::new("trace", 100);
        parser.push(br#"{"token": "t", "tra"#);
        assert_eq!(parser.head(), None);
        parser.push(br#"ce": "some"#);
        let head: Value =
            serde_json::from_slice(&parser.head().expect("in the text")).expect("valid");
        assert_eq!(head, json!({"token": "t", "trace": ""}));
    }
}
