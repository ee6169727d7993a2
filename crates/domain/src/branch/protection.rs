//! Branch protection.

use crate::member::AccessLevel;

/// The protection of a branch, or of all branches that match a pattern. It restricts pushes to masters, and to
/// developers if they are given the right.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Protection {
    /// The name of the branch; `*` matches any characters, slashes included.
    pub pattern: String,
    /// The rights of developers. Masters always have all rights.
    pub developers: DeveloperRights,
}

/// The rights of developers on a protected branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeveloperRights {
    /// Whether developers may push to the branch.
    pub push: bool,
    /// Whether developers may merge into the branch.
    pub merge: bool,
}

impl DeveloperRights {
    /// Replaces the rights that are not `None` and keeps the others.
    pub fn with(self, push: Option<bool>, merge: Option<bool>) -> Self {
        Self { push: push.unwrap_or(self.push), merge: merge.unwrap_or(self.merge) }
    }
}

impl Protection {
    /// Returns whether the pattern matches this branch.
    pub fn covers(&self, branch: &str) -> bool {
        matches(self.pattern.as_bytes(), branch.as_bytes())
    }

    /// The lowest access level that may push.
    pub fn push_level(&self) -> AccessLevel {
        if self.developers.push { AccessLevel::Developer } else { AccessLevel::Master }
    }

    /// The lowest access level that may merge merge requests into the branch.
    pub fn merge_level(&self) -> AccessLevel {
        if self.developers.merge { AccessLevel::Developer } else { AccessLevel::Master }
    }
}

/// The combined effect of all protections on one branch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Protected {
    /// Whether any protection matches the branch.
    pub protected: bool,
    /// The rights that at least one of the matching protections gives to developers.
    pub developers: DeveloperRights,
}

impl Protected {
    /// Combines the protections that match the branch.
    pub fn of(branch: &str, protections: &[Protection]) -> Self {
        let mut all = Self::default();
        for protection in protections.iter().filter(|protection| protection.covers(branch)) {
            all.protected = true;
            all.developers.push |= protection.developers.push;
            all.developers.merge |= protection.developers.merge;
        }
        all
    }
}

/// Returns whether a text matches a pattern with `*`. After a mismatch only the last star is extended, by one byte, so
/// the time is at most proportional to the product of both lengths.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut last_star = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == b'*' {
            last_star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && pattern[p] == text[t] {
            p += 1;
            t += 1;
        } else if let Some((star, taken)) = last_star {
            last_star = Some((star, taken + 1));
            p = star + 1;
            t = taken + 1;
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|byte| *byte == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn protection(pattern: &str, push: bool, merge: bool) -> Protection {
        Protection { pattern: pattern.to_owned(), developers: DeveloperRights { push, merge } }
    }

    #[test]
    fn patterns() {
        for (pattern, branch, covered) in [
            ("master", "master", true),
            ("master", "Master", false),
            ("master", "master2", false),
            ("*", "anything/at/all", true),
            ("release/*", "release/1/2", true),
            ("release/*", "release", false),
            ("*-stable", "1-0-stable", true),
            ("a*b*c", "aXbYc", true),
            ("a*b*c", "aXbY", false),
            ("**", "x", true),
            ("", "x", false),
        ] {
            assert_eq!(
                protection(pattern, false, false).covers(branch),
                covered,
                "{pattern} {branch}"
            );
        }
    }

    #[test]
    fn a_named_right_replaces_and_an_unnamed_one_stays() {
        for (before, push, merge, after) in [
            ((false, false), None, None, (false, false)),
            ((false, false), Some(true), None, (true, false)),
            ((true, true), Some(false), None, (false, true)),
            ((true, false), None, Some(true), (true, true)),
            ((true, true), None, None, (true, true)),
        ] {
            let before = DeveloperRights { push: before.0, merge: before.1 };
            let after = DeveloperRights { push: after.0, merge: after.1 };
            assert_eq!(before.with(push, merge), after);
        }
    }

    #[test]
    fn rights_of_several_protections_add_up() {
        let all = [protection("m*", true, false), protection("master", false, true)];
        let both = DeveloperRights { push: true, merge: true };
        assert_eq!(Protected::of("master", &all), Protected { protected: true, developers: both });
        assert_eq!(Protected::of("other", &all), Protected::default());
    }
}
