//! Wildcards in the paths of artifacts and caches: `*` and `?` stay within a folder, `**` crosses folders.

/// A pattern for paths below the project folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern(Vec<String>);

impl Pattern {
    /// Parses a pattern. `None` if it is empty, absolute or leaves the project folder.
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.starts_with('/') {
            return None;
        }
        let parts = text.split('/').filter(|part| !part.is_empty() && *part != ".");
        let mut parts: Vec<String> = parts.map(str::to_owned).collect();
        // Two in a row mean the same as one.
        parts.dedup_by(|one, other| one == "**" && other == "**");
        // `.` alone is the whole project folder.
        let leaves = parts.iter().any(|part| part == "..");
        (!leaves && !text.is_empty()).then_some(Self(parts))
    }

    /// Returns whether the pattern matches the path, or a folder that contains it: a folder stands for all its files.
    ///
    /// Takes time in proportion to the parts of the pattern times those of the path.
    pub fn matches(&self, path: &[&str]) -> bool {
        // Whether the parts of the pattern so far match the first `n` parts of the path, for each `n`.
        let mut reached = vec![false; path.len() + 1];
        reached[0] = true;
        for part in &self.0 {
            if part == "**" {
                let first = reached.iter().position(|is_reached| *is_reached);
                reached.iter_mut().skip(first.unwrap_or(usize::MAX)).for_each(|it| *it = true);
                continue;
            }
            for (at, name) in path.iter().enumerate().rev() {
                reached[at + 1] = reached[at] && matches_name(part.as_bytes(), name.as_bytes());
            }
            reached[0] = false;
        }
        // The pattern matched the path, or a folder that contains it.
        reached.contains(&true)
    }
}

/// Returns whether a name matches a pattern without slashes. Takes at most quadratic time.
fn matches_name(pattern: &[u8], name: &[u8]) -> bool {
    let (mut at, mut of) = (0, 0);
    // The last star, and where the name continued behind it.
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match step(pattern, of, name[at]) {
            Some(next) => (at, of) = (at + 1, next),
            None if pattern.get(of) == Some(&b'*') => {
                star = Some((of + 1, at));
                of += 1;
            }
            None => match star {
                Some((behind, from)) => {
                    star = Some((behind, from + 1));
                    (at, of) = (from + 1, behind);
                }
                None => return false,
            },
        }
    }
    pattern[of..].iter().all(|byte| *byte == b'*')
}

/// Returns where the pattern continues if its element at `of` matches the byte.
fn step(pattern: &[u8], of: usize, byte: u8) -> Option<usize> {
    match pattern.get(of)? {
        b'*' => None,
        b'?' => Some(of + 1),
        b'[' => match class(&pattern[of + 1..]) {
            Some((set, length)) => in_class(set, byte).then_some(of + 1 + length),
            None => (byte == b'[').then_some(of + 1),
        },
        b'\\' if of + 1 < pattern.len() => (pattern[of + 1] == byte).then_some(of + 2),
        plain => (*plain == byte).then_some(of + 1),
    }
}

/// The content of a class such as `a-z]`, and its length with the bracket.
fn class(pattern: &[u8]) -> Option<(&[u8], usize)> {
    let end = pattern.iter().skip(1).position(|byte| *byte == b']')? + 1;
    Some((&pattern[..end], end + 1))
}

fn in_class(set: &[u8], byte: u8) -> bool {
    let (negated, set) = match set.split_first() {
        Some((b'!' | b'^', rest)) => (true, rest),
        _ => (false, set),
    };
    let (mut at, mut found) = (0, false);
    while at < set.len() {
        if at + 2 < set.len() && set[at + 1] == b'-' {
            found |= (set[at]..=set[at + 2]).contains(&byte);
            at += 3;
        } else {
            found |= set[at] == byte;
            at += 1;
        }
    }
    found != negated
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_files_and_what_folders_contain() {
        for (pattern, path, expected) in [
            ("bin", "bin", true),
            ("bin/", "bin/a/b", true),
            ("./bin/*", "bin/a", true),
            ("bin/*", "bin/a/b", true),
            ("bin", "binary", false),
            ("*.o", "a.o", true),
            ("*.o", "x/a.o", false),
            ("**/*.o", "x/y/a.o", true),
            ("**/*.o", "a.o", true),
            ("x/**", "x/y/z", true),
            ("a?c", "abc", true),
            ("[a-c]1", "b1", true),
            ("[!a-c]1", "b1", false),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("\\*", "*", true),
            ("\\*", "a", false),
            ("[", "[", true),
            (".", "anything/at/all", true),
        ] {
            let parts: Vec<&str> = path.split('/').collect();
            let found = Pattern::parse(pattern).expect("valid").matches(&parts);
            assert_eq!(found, expected, "{pattern} {path}");
        }
    }

    #[test]
    fn patterns_stay_below_the_project() {
        for pattern in ["/etc/passwd", "../x", "a/../../x", "", "  "] {
            assert_eq!(Pattern::parse(pattern), None, "{pattern}");
        }
    }

    #[test]
    fn hostile_patterns_are_matched_in_bounded_time() {
        let pattern = "*a".repeat(200);
        let name = "a".repeat(5_000) + "b";
        assert!(!Pattern::parse(&pattern).expect("valid").matches(&[&name]));
        let pattern = Pattern::parse(&("**/*/".repeat(20) + "z")).expect("valid");
        let mut deep = vec!["a"; 200];
        assert!(!pattern.matches(&deep));
        deep.push("z");
        assert!(pattern.matches(&deep));
        assert!(!pattern.matches(&deep[190..]), "20 folders are needed");
    }
}
