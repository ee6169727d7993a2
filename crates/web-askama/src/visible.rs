//! Lines of files as pages show them: not longer than a limit, and without characters that change the direction of text.

use hexforge_domain::repository::path;

/// The longest line in characters; the rest is cut.
const MAX_LINE: usize = 2_000;

/// Cuts a line to its maximum length. Returns the start, and the number of characters that are missing.
pub(crate) fn cut(line: &str) -> (&str, usize) {
    match line.char_indices().nth(MAX_LINE) {
        None => (line, 0),
        Some((at, _)) => (&line[..at], line[at..].chars().count()),
    }
}

/// Shows the characters that change the direction of text by their numbers: they make code look like other code.
pub(crate) fn reveal(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if is_hidden(c) => {
                shown.push_str(&format!("[U+{:04X}]", u32::from(c)));
            }
            c => shown.push(c),
        }
    }
    shown
}

/// A name as it is shown: a path, a ref, or a person.
pub(crate) fn name(text: &str) -> String {
    reveal(&path::shown(text))
}

/// Whether a text has characters that change the direction of text.
pub(crate) fn has_hidden(text: &str) -> bool {
    text.contains(is_hidden)
}

fn is_hidden(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A line as it is shown.
pub(crate) fn line(text: &str) -> String {
    reveal(cut(text).0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_cut_and_hidden_characters_are_shown() {
        assert_eq!(cut("äb"), ("äb", 0));
        let (start, missing) = ("ä".repeat(2_005), 5);
        assert_eq!(cut(&start), ("ä".repeat(2_000).as_str(), missing));
        assert_eq!(line("a\u{202e}b"), "a[U+202E]b");
        assert_eq!(name(&path::from_bytes(b"a\xff\xe2\x80\xae")), "a\u{fffd}[U+202E]");
        assert!(has_hidden("a\u{2066}b") && !has_hidden("שלום"));
    }
}
