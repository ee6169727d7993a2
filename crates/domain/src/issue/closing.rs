//! Finds the issues that a commit message closes, such as `Fixes #7`.

use super::reference::{MAX_REFERENCES, Reference, ReferenceKind, reference_at};

/// The keywords that close an issue. Their first letter may be a capital.
const WORDS: [&str; 12] = [
    "close",
    "closes",
    "closed",
    "closing",
    "fix",
    "fixes",
    "fixed",
    "fixing",
    "resolve",
    "resolves",
    "resolved",
    "resolving",
];

/// The length of the longest keyword.
const LONGEST: usize = 9;

/// Returns the issues that a message closes, each once: `Fixes #7, #8 and ada/ship#9`. `address` is
/// the base URL of this service without a trailing slash.
pub fn closed_issues(message: &str, address: &str) -> Vec<Reference> {
    let mut found: Vec<Reference> = Vec::new();
    let mut rest = message;
    while let Some(start) = rest.find(|c: char| c.is_ascii_alphabetic()) {
        let word = &rest[start..];
        let end = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
        rest = &word[end..];
        let is_whole_word =
            !char_before(message, word).is_some_and(|c| c.is_alphanumeric() || c == '_');
        if !is_whole_word || !is_closing_keyword(&word[..end]) {
            continue;
        }
        let after = rest.strip_prefix(':').unwrap_or(rest);
        let Some(list) = skip_blanks(after) else { continue };
        rest = parse_list(list, address, &mut found);
        if found.len() >= MAX_REFERENCES {
            found.truncate(MAX_REFERENCES);
            break;
        }
    }
    found
}

/// Returns the character before `part`, which must be a suffix of `text`.
fn char_before(text: &str, part: &str) -> Option<char> {
    text[..text.len() - part.len()].chars().next_back()
}

fn is_closing_keyword(word: &str) -> bool {
    let mut letters = word.chars();
    let Some(first) = letters.next().filter(|_| word.len() <= LONGEST) else { return false };
    let first = first.to_ascii_lowercase();
    WORDS
        .iter()
        .any(|keyword| keyword.strip_prefix(first).is_some_and(|rest| rest == letters.as_str()))
}

/// Parses a list of issue references into `found`; returns the text after the last reference.
fn parse_list<'a>(mut list: &'a str, address: &str, found: &mut Vec<Reference>) -> &'a str {
    let mut end = list;
    while found.len() < MAX_REFERENCES {
        let after_noun =
            ["issues", "issue"].iter().find_map(|noun| skip_blanks(list.strip_prefix(noun)?));
        let text = after_noun.unwrap_or(list);
        let Some((reference, length)) = reference_at(text, address) else { break };
        if reference.kind != ReferenceKind::Issue {
            break;
        }
        end = &text[length..];
        if !found.contains(&reference) {
            found.push(reference);
        }
        let Some(next) = skip_separator(end) else { break };
        list = next;
    }
    end
}

/// Returns the text after a separator: a comma, "and", or both.
fn skip_separator(text: &str) -> Option<&str> {
    let trimmed = text.trim_start_matches(BLANKS);
    let comma = trimmed.strip_prefix(',');
    let after = comma.unwrap_or(text);
    let and = skip_blanks(after).and_then(|word| skip_blanks(word.strip_prefix("and")?));
    and.or_else(|| comma.map(|after| after.trim_start_matches(BLANKS)))
}

const BLANKS: [char; 2] = [' ', '\t'];

/// Returns the text after leading blanks; `None` when there are none.
fn skip_blanks(text: &str) -> Option<&str> {
    let rest = text.trim_start_matches(BLANKS);
    (rest.len() < text.len()).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn closed(message: &str) -> Vec<String> {
        let show = |reference: Reference| {
            format!("{}#{}", reference.project.unwrap_or_default(), reference.iid)
        };
        closed_issues(message, "https://forge.test").into_iter().map(show).collect()
    }

    #[test]
    fn every_word_closes() {
        for word in WORDS {
            assert_eq!(closed(&format!("{word} #7")), ["#7"], "{word}");
            let capital = format!("{}{}", word[..1].to_uppercase(), &word[1..]);
            assert_eq!(closed(&format!("It {capital}: #7.")), ["#7"], "{capital}");
            assert_eq!(closed(&format!("{} #7", word.to_uppercase())), Vec::<String>::new());
        }
    }

    #[test]
    fn lists_paths_and_addresses_are_read() {
        for (message, expected) in [
            ("", vec![]),
            ("Begin\n\nCloses #1, #2,#3 and #4 #5", vec!["#1", "#2", "#3", "#4"]),
            ("Fix issue #1", vec!["#1"]),
            ("Fixes issues #1, issue #2, and #3", vec!["#1", "#2", "#3"]),
            ("Fixes ada/ship#1 and #2", vec!["ada/ship#1", "#2"]),
            ("Fixes https://forge.test/ada/ship/issues/1, #2", vec!["ada/ship#1", "#2"]),
            ("Fixes https://other.test/ada/ship/issues/1", vec![]),
            ("Fixes #1, closes #2. Resolved: #1", vec!["#1", "#2"]),
            ("Fixes #1 and resolves #2", vec!["#1", "#2"]),
            ("Fixes\t #1", vec!["#1"]),
            ("(fixes #1)", vec!["#1"]),
            ("fixes:#1 fixes#1 fixes\n#1 fixes the #1", vec![]),
            ("prefix #1 fix2 #1 fix_ #1 _fix #1 unclosed #1 fixer #1 üfix #1", vec![]),
            ("see #1", vec![]),
            ("fixes !1, #2", vec![]),
            ("fixes #1x fixes C#1", vec![]),
            ("fixes issue 1", vec![]),
        ] {
            assert_eq!(closed(message), expected, "{message}");
        }
    }

    #[test]
    fn hostile_messages_take_no_longer_than_others() {
        for message in [
            "fixes ".repeat(200_000),
            "fixes a/".repeat(150_000),
            format!("fixes {}", "a/".repeat(500_000)),
            format!("fixes {}#1", " ".repeat(1_000_000)).replace("#1", "#1x"),
            "fixes #1x, ".repeat(100_000),
            "x".repeat(1_000_000),
            "fixes issues ".repeat(100_000),
        ] {
            assert_eq!(closed(&message), Vec::<String>::new());
        }
        let many: Vec<String> = (0..80).map(|number| format!("#{number}")).collect();
        assert_eq!(closed(&format!("fixes {}", many.join(", "))).len(), MAX_REFERENCES);
    }
}
