//! How much of the code the tests reached, as a build's log tells it.

use std::sync::LazyLock;

use regex::Regex;

use super::regexp;

static NUMBER: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"[0-9]+(\.[0-9]+)?").expect("the expression is valid"));

/// Longer lines are cut. Looking for the last match takes time that grows with the square of a
/// line's length, for the worst of expressions.
const LONGEST_LINE: usize = 4096;

/// The first number of the last match of a project's expression in a log. The expression may stand
/// between slashes; of one with groups the last group counts. Lines are looked at one by one, as
/// tools print their totals on one.
pub fn coverage(log: &str, expression: &str) -> Option<f64> {
    let (source, flags) = regexp::between_slashes(expression).unwrap_or((expression, ""));
    if source.is_empty() {
        return None;
    }
    let expression = regexp::compile(source, flags)?;
    let found = log.lines().rev().find_map(|line| last_match(&expression, cut(line)))?;
    NUMBER.find(found)?.as_str().parse().ok()
}

fn last_match<'a>(expression: &Regex, line: &'a str) -> Option<&'a str> {
    let last = expression.captures_iter(line).last()?;
    last.iter().flatten().last().map(|group| group.as_str())
}

fn cut(line: &str) -> &str {
    let end = (0..=LONGEST_LINE.min(line.len())).rev().find(|end| line.is_char_boundary(*end));
    &line[..end.unwrap_or(0)]
}
