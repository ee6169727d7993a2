//! The test coverage, extracted from the log of a build.

use std::sync::LazyLock;

use regex::Regex;

use super::regexp;

static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[0-9]+(\.[0-9]+)?").expect("the expression is valid"));

/// The maximum length of a line in bytes. Longer lines are truncated, because for the worst expressions the time to
/// find the last match is quadratic in the length of the line.
const LONGEST_LINE: usize = 4096;

/// The test coverage in a log: the first number in the last match of a project's regular expression. If the expression
/// has groups, only the last group of the match is searched. The expression may be enclosed in slashes. Lines are
/// matched one by one, because tools print their totals on one line.
pub fn coverage(log: &str, expression: &str) -> Option<f64> {
    let expression = compile(expression)?;
    let found = log.lines().rev().find_map(|line| last_match(&expression, truncate(line)))?;
    NUMBER.find(found)?.as_str().parse().ok()
}

/// Returns whether an expression is valid and small enough to be used.
pub fn is_usable(expression: &str) -> bool {
    compile(expression).is_some()
}

fn compile(expression: &str) -> Option<Regex> {
    let (source, flags) = regexp::between_slashes(expression).unwrap_or((expression, ""));
    if source.is_empty() { None } else { regexp::compile(source, flags) }
}

fn last_match<'a>(expression: &Regex, line: &'a str) -> Option<&'a str> {
    let last = expression.captures_iter(line).last()?;
    last.iter().flatten().last().map(|group| group.as_str())
}

fn truncate(line: &str) -> &str {
    let end = (0..=LONGEST_LINE.min(line.len())).rev().find(|end| line.is_char_boundary(*end));
    &line[..end.unwrap_or(0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_match_and_its_first_number_count() {
        let log = "Lines 10%\nCoverage 1033 / 1051 LOC (98.29%) covered\r\nTotal: 85 of 90\ndone";
        for (expression, expected) in [
            (r"\(\d+\.\d+%\) covered", Some(98.29)),
            (r"/\(\d+\.\d+%\) covered/", Some(98.29)),
            (r"/total: \d+/i", Some(85.0)),
            (r"total: \d+", None),
            (r"Coverage .*", Some(1033.0)),
            (r"Coverage .* covered$", Some(1033.0)),
            (r"\((\d+)\.(\d+)%\)", Some(29.0)),
            (r"(\d+\.\d+)%", Some(98.29)),
            (r"\d+", Some(90.0)),
            (r"done", None),
            (r"nowhere \d", None),
            (r"(", None),
            (r"", None),
            (r"//", None),
        ] {
            assert_eq!(coverage(log, expression), expected, "{expression}");
        }
        assert_eq!(coverage("", r"\d+"), None);
    }

    #[test]
    fn the_worst_expressions_take_little_time() {
        let log = "A".repeat(2_000_000);
        assert_eq!(coverage(&log, "(a+)+$|.*[^A-Z]"), None);
        assert_eq!(coverage(&log, ".*[^A-Z]|[A-Z]"), None);
        let umlauts = "ü".repeat(LONGEST_LINE);
        assert_eq!(coverage(&umlauts, r"\d"), None);
    }
}
