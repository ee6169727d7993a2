//! Regular expressions that users write, in the manner of Ruby, matched in linear time.

use regex::{Regex, RegexBuilder};

/// How large a compiled expression may be, in bytes; what needs more is refused as invalid.
const SIZE_LIMIT: usize = 1 << 20;

/// The expression between slashes, with the letters after them; nothing where there are no slashes.
pub fn between_slashes(text: &str) -> Option<(&str, &str)> {
    let (source, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    let known = flags.chars().all(|flag| matches!(flag, 'i' | 'm' | 'x' | 'o' | 'u'));
    known.then_some((source, flags))
}

/// Compiles an expression with Ruby's meaning of its parts: `^` and `$` are the ends of lines,
/// `m` lets a dot stand for the end of a line.
///
/// Looking around and back references are refused: they cannot be matched in linear time, and an
/// expression of a project must not keep the whole service busy.
pub fn compile(source: &str, flags: &str) -> Option<Regex> {
    RegexBuilder::new(&translated(source))
        .multi_line(true)
        .case_insensitive(flags.contains('i'))
        .dot_matches_new_line(flags.contains('m'))
        .ignore_whitespace(flags.contains('x'))
        .size_limit(SIZE_LIMIT)
        .dfa_size_limit(SIZE_LIMIT)
        .nest_limit(50)
        .build()
        .ok()
}

/// Rewrites the escapes that only Ruby knows.
fn translated(source: &str) -> String {
    let mut translated = String::with_capacity(source.len());
    let mut rest = source.chars();
    while let Some(char) = rest.next() {
        if char != '\\' {
            translated.push(char);
            continue;
        }
        match rest.next() {
            Some('h') => translated.push_str("[0-9a-fA-F]"),
            Some('H') => translated.push_str("[^0-9a-fA-F]"),
            Some('Z') => translated.push_str(r"\z"),
            Some(escaped) => translated.extend(['\\', escaped]),
            None => translated.push('\\'),
        }
    }
    translated
}
