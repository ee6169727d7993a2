//! Finds the users that a text mentions.

use std::collections::HashMap;

use crate::note::commands::is_code_fence;

/// The name that mentions the team of the project.
pub const ALL_MEMBERS: &str = "all";

/// The maximum number of mentions that are read from a text.
const MAX_MENTIONS: usize = 50;

/// Returns the usernames after an `@`, each once. The users need not exist. Code mentions nobody, because `@` begins
/// names of other things there.
pub fn mentioned_usernames(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut is_code = false;
    for line in text.lines() {
        if is_code_fence(line.trim_start()) {
            is_code = !is_code;
        } else if !is_code {
            for part in outside_code_spans(line) {
                add_usernames(part, &mut found);
            }
        }
    }
    found
}

/// Returns the parts of a line outside of code spans. As in Markdown, a run of backticks begins a span if a run of the
/// same length follows.
fn outside_code_spans(line: &str) -> Vec<&str> {
    let mut runs: Vec<(usize, usize)> = Vec::new();
    for (at, _) in line.match_indices('`') {
        match runs.last_mut() {
            Some((start, length)) if *start + *length == at => *length += 1,
            _ => runs.push((at, 1)),
        }
    }
    let last_of_length: HashMap<usize, usize> =
        runs.iter().enumerate().map(|(index, (_, length))| (*length, index)).collect();
    let (mut parts, mut from, mut index) = (Vec::new(), 0, 0);
    while let Some(&(start, length)) = runs.get(index) {
        if last_of_length.get(&length).is_some_and(|last| *last > index) {
            let rest = &runs[index + 1..];
            let closing = rest.iter().position(|run| run.1 == length).unwrap_or_default();
            index += 1 + closing;
            parts.push(&line[from..start]);
            from = runs[index].0 + length;
        }
        index += 1;
    }
    parts.push(&line[from..]);
    parts
}

/// Adds the usernames of a text without code.
fn add_usernames<'a>(text: &'a str, found: &mut Vec<&'a str>) {
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut before = None;
    for (at, c) in text.char_indices() {
        if found.len() == MAX_MENTIONS {
            return;
        }
        // A name character before the `@` makes it an e-mail address.
        if c == '@' && !before.is_some_and(is_name_char) {
            let rest = &text[at + 1..];
            let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
            let name = rest[..end].trim_end_matches('.');
            if !name.is_empty() && name.len() <= 255 && !found.contains(&name) {
                found.push(name);
            }
        }
        before = Some(c);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_an_at_sign_that_no_letter_precedes() {
        for (text, names) in [
            ("", vec![]),
            ("ask @ada or @bob.", vec!["ada", "bob"]),
            ("@ada @ada", vec!["ada"]),
            ("(@a.b-c_d)", vec!["a.b-c_d"]),
            ("ada@example.com", vec![]),
            ("@ @@ @ü", vec![]),
            ("ü@ada", vec!["ada"]),
            ("`@ada` @bob `@eve`", vec!["bob"]),
            ("``@ada`` @bob", vec!["bob"]),
            ("``a ` @ada`` @bob", vec!["bob"]),
            ("it`s @ada", vec!["ada"]),
            ("``it`s @ada", vec!["ada"]),
            ("@ada\n```java\n@Override\n```\n@bob", vec!["ada", "bob"]),
            ("  ```\n@ada", vec![]),
        ] {
            assert_eq!(mentioned_usernames(text), names, "{text}");
        }
        assert_eq!(mentioned_usernames(&"@".repeat(1_000_000)), Vec::<&str>::new());
    }

    #[test]
    fn the_number_of_mentions_is_limited() {
        let text: Vec<String> = (0..80).map(|number| format!("@user{number}")).collect();
        assert_eq!(mentioned_usernames(&text.join(" ")).len(), MAX_MENTIONS);
    }
}
