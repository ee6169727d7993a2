//! Regular expressions that users write in Ruby syntax, matched in linear time.

use regex::{Regex, RegexBuilder};

/// The maximum size of a compiled expression in bytes. A larger one is refused as invalid.
const SIZE_LIMIT: usize = 1 << 18;

/// Splits `/source/flags` into the source and the flags; `None` if the text does not have this form.
pub fn between_slashes(text: &str) -> Option<(&str, &str)> {
    let (source, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
    let are_known = flags.chars().all(|flag| matches!(flag, 'i' | 'm' | 'x' | 'o' | 'u'));
    are_known.then_some((source, flags))
}

/// Compiles an expression with the semantics of Ruby: `^` and `$` match at line boundaries, and the flag `m` lets a dot
/// match a line break.
///
/// Look-around and back references are refused: they cannot be matched in linear time, and an expression of one project
/// must not keep the whole service busy.
pub fn compile(source: &str, flags: &str) -> Option<Regex> {
    RegexBuilder::new(&translate(source))
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

/// Rewrites the escapes that only Ruby has, and those that match only ASCII in Ruby. A class is replaced by a
/// bracketed class; inside brackets this is a nested class, so the replacement works there too.
fn translate(source: &str) -> String {
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
            Some('d') => translated.push_str("[0-9]"),
            Some('D') => translated.push_str("[^0-9]"),
            Some('w') => translated.push_str("[0-9A-Za-z_]"),
            Some('W') => translated.push_str("[^0-9A-Za-z_]"),
            Some('s') => translated.push_str(r"[ \t\r\n\f\v]"),
            Some('S') => translated.push_str(r"[^ \t\r\n\f\v]"),
            Some('Z') => translated.push_str(r"\z"),
            Some(escaped) => translated.extend(['\\', escaped]),
            None => translated.push('\\'),
        }
    }
    translated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_stands_between_slashes() {
        for (text, expected) in [
            ("/a/", Some(("a", ""))),
            ("/a/i", Some(("a", "i"))),
            ("/a/b/", Some(("a/b", ""))),
            ("//", Some(("", ""))),
            ("/a", None),
            ("/", None),
            ("a/", None),
            ("/a/path", None),
            ("", None),
        ] {
            assert_eq!(between_slashes(text), expected, "{text}");
        }
    }

    #[test]
    fn expressions_mean_what_they_mean_in_ruby() {
        for (source, flags, text, expected) in [
            ("^v", "", "dev", false),
            ("v", "", "dev", true),
            (r"^\d+$", "", "12", true),
            ("MASTER", "", "master", false),
            ("MASTER", "i", "master", true),
            ("a b", "x", "ab", true),
            (r"^feature\/\h+\Z", "", "feature/0aF", true),
            (r"^\H+$", "", "0", false),
            (r"^[\w-.]+$", "", "a-b.c_9", true),
            (r"^[^\d\s]+$", "", "a1", false),
            (r"^[\D]\S\W$", "", "ab!", true),
            (r"\d", "", "\u{664}", false),
            ("^b", "", "a\nb", true),
            ("a.b", "", "a\nb", false),
            ("a.b", "m", "a\nb", true),
        ] {
            let regexp = compile(source, flags).unwrap_or_else(|| panic!("{source} is valid"));
            assert_eq!(regexp.is_match(text), expected, "/{source}/{flags} in {text:?}");
        }
    }

    #[test]
    fn invalid_and_too_large_expressions_are_refused() {
        let deep = "(".repeat(100) + &")".repeat(100);
        for source in ["(", "*", "[", "(?!a)", r"(a)\1", "((a{1000}){1000}){1000}", &deep] {
            assert!(compile(source, "").is_none(), "{source}");
        }
    }
}
