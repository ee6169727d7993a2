//! Finds the users that a text mentions.

/// The name that mentions the team of the project.
pub const ALL_MEMBERS: &str = "all";

/// The maximum number of mentions that are read from a text.
const MAX_MENTIONS: usize = 50;

/// Returns the usernames after an `@`, each once. The users need not exist.
pub fn mentioned_usernames(text: &str) -> Vec<&str> {
    let is_name_char = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let mut found: Vec<&str> = Vec::new();
    let mut before = None;
    for (at, c) in text.char_indices() {
        // A name character before the `@` makes it an e-mail address.
        if c == '@' && !before.is_some_and(is_name_char) {
            let rest = &text[at + 1..];
            let end = rest.find(|c| !is_name_char(c)).unwrap_or(rest.len());
            let name = rest[..end].trim_end_matches('.');
            if !name.is_empty() && name.len() <= 255 && !found.contains(&name) {
                found.push(name);
            }
            if found.len() == MAX_MENTIONS {
                break;
            }
        }
        before = Some(c);
    }
    found
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
