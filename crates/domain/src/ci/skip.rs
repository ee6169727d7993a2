//! Markers in commit messages that suppress builds.

/// Returns whether a commit message contains `[ci skip]` or `[skip ci]`, ignoring case.
pub fn has_skip_marker(message: &str) -> bool {
    let message = message.to_ascii_lowercase();
    ["[ci skip]", "[skip ci]"].iter().any(|mark| message.contains(mark))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_marks_skip_in_any_case_and_anywhere() {
        for (message, expected) in [
            ("Fix [ci skip]", true),
            ("[skip ci] Fix", true),
            ("Fix\n\nbody [CI Skip] goes on", true),
            ("Fix [Skip CI]\n", true),
            ("Fix ci skip", false),
            ("Fix [ci  skip]", false),
            ("Fix [skip]", false),
            ("", false),
        ] {
            assert_eq!(has_skip_marker(message), expected, "{message:?}");
        }
    }
}
