//! The variables of a build: merging, expansion in texts, and the values that logs must not show.

use std::collections::BTreeMap;

use crate::protocol::Variable;

/// The variables of a build by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Merges the variables of an assignment; a later one overrides an earlier one. Values may refer to other variables
    /// and to those of `host`. Leaves out names and values that no environment can have, and values that find no room
    /// in [`MAX_EXPANDED`], and returns their names.
    pub fn merge(given: &[Variable], host: &[(String, String)]) -> (Self, Vec<String>) {
        let (mut merged, mut refused) = (BTreeMap::new(), Vec::new());
        for Variable { key, value, .. } in given {
            if key.is_empty() || key.contains(['=', '\0']) || value.contains('\0') {
                refused.push(key.replace('\0', "\u{fffd}"));
            } else {
                merged.insert(key.as_str(), value.as_str());
            }
        }
        let host: BTreeMap<&str, &str> =
            host.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        let (mut expanded, mut room) = (Self::default(), Room::default());
        // One pass: the values of `.gitlab-ci.yml` refer to predefined variables. A value that refers to its own name
        // means the value of the host, as in `PATH: $PATH:/more`.
        for (&key, &value) in &merged {
            let known = |name: &str| match name == key {
                true => host.get(name).copied(),
                false => merged.get(name).or_else(|| host.get(name)).copied(),
            };
            let value = match value.contains('$') {
                true => room.expand(value, known),
                false => Some(value.to_owned()),
            };
            match value {
                Some(value) => expanded.set(key, value),
                None => refused.push(key.to_owned()),
            }
        }
        (expanded, refused)
    }

    /// Sets a variable.
    pub fn set(&mut self, key: &str, value: impl Into<String>) {
        self.0.insert(key.to_owned(), value.into());
    }

    /// The value of a variable.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).map(String::as_str)
    }

    /// All variables by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }

    /// Replaces `$NAME` and `${NAME}` by values. An unknown name becomes empty; `$$` is a dollar. Returns `None` if
    /// there is no room for the result.
    pub fn expand(&self, text: &str, room: &mut Room) -> Option<String> {
        room.expand(text, |name| self.get(name))
    }
}

/// The maximum number of bytes of all texts together that are expanded in one [`Room`]. A short configuration could
/// fill the memory otherwise: a long value, and another one that refers to it many times.
pub const MAX_EXPANDED: usize = 8 << 20;

/// The room for texts in which variables are expanded.
#[derive(Debug)]
pub struct Room(usize);

impl Default for Room {
    fn default() -> Self {
        Self(MAX_EXPANDED)
    }
}

impl Room {
    fn expand<'a>(
        &mut self,
        text: &'a str,
        known: impl Fn(&'a str) -> Option<&'a str>,
    ) -> Option<String> {
        let parts = || Parts(text).map(|part| part.value(&known));
        let length = parts().fold(0, |length: usize, part| length.saturating_add(part.len()));
        self.0 = self.0.checked_sub(length)?;
        Some(parts().collect())
    }
}

/// A part of a text in which variables are expanded.
enum Part<'a> {
    Literal(&'a str),
    Name(&'a str),
}

impl<'a> Part<'a> {
    fn value(self, known: impl Fn(&'a str) -> Option<&'a str>) -> &'a str {
        match self {
            Part::Literal(text) => text,
            Part::Name(name) => known(name).unwrap_or_default(),
        }
    }
}

/// The parts of a text that is left.
struct Parts<'a>(&'a str);

impl<'a> Iterator for Parts<'a> {
    type Item = Part<'a>;

    fn next(&mut self) -> Option<Part<'a>> {
        let Some(rest) = self.0.strip_prefix('$') else {
            let end = self.0.find('$').unwrap_or(self.0.len());
            let (literal, rest) = self.0.split_at(end);
            self.0 = rest;
            return (!literal.is_empty()).then_some(Part::Literal(literal));
        };
        let (part, rest) = match rest.strip_prefix('$') {
            Some(rest) => (Part::Literal("$"), rest),
            None => match braced(rest).or_else(|| plain(rest)) {
                Some((name, rest)) => (Part::Name(name), rest),
                None => (Part::Literal("$"), rest),
            },
        };
        self.0 = rest;
        Some(part)
    }
}

fn braced(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.strip_prefix('{')?.split_once('}')?;
    (!name.is_empty() && name.bytes().all(is_word)).then_some((name, rest))
}

fn plain(text: &str) -> Option<(&str, &str)> {
    let end = text.bytes().position(|b| !is_word(b)).unwrap_or(text.len());
    let starts = text.bytes().next().is_some_and(|b| is_word(b) && !b.is_ascii_digit());
    starts.then(|| text.split_at(end))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// The shortest value that is masked. Shorter ones occur in every log by chance.
pub const SHORTEST_MASKED: usize = 6;

/// The values that logs must not show: those of variables that are not public, as they were given and as the build gets
/// them in `expanded`. Each line of a value counts by itself, because programs print values line by line. Shells print
/// values quoted when they show commands.
pub fn secrets(given: &[Variable], expanded: &Variables) -> Vec<Vec<u8>> {
    let hidden = given.iter().filter(|variable| !variable.public);
    let values = hidden.flat_map(|Variable { key, value, .. }| {
        [Some(value.as_str()), expanded.get(key)].into_iter().flatten()
    });
    let lines = values.flat_map(|value| value.lines().map(str::trim));
    let lines = lines.filter(|line| line.len() >= SHORTEST_MASKED);
    let mut secrets: Vec<Vec<u8>> = lines.flat_map(quoted_forms).map(String::into_bytes).collect();
    secrets.sort();
    secrets.dedup();
    secrets
}

/// A text as it is, and as it is within the quotes of bash (also in `$'...'`) and dash.
fn quoted_forms(text: &str) -> [String; 4] {
    let escaped = text.replace('\\', r"\\").replace('\'', r"\'").replace('\t', r"\t");
    [text.to_owned(), text.replace('\'', r"'\''"), text.replace('\'', r#"'"'"'"#), escaped]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variable(key: &str, value: &str, public: bool) -> Variable {
        Variable { key: key.into(), value: value.into(), public }
    }

    #[test]
    fn later_variables_override_and_refer_to_others() {
        let given = [
            variable("A", "1", true),
            variable("B", "$A-${A}-$C.$$A", true),
            variable("A", "2", true),
            variable("PATH", "$PATH:/more", true),
            variable("bad=name", "x", true),
            variable("NUL", "a\0b", true),
            variable("with-dash", "kept", true),
        ];
        let host = [("PATH".to_owned(), "/bin".to_owned())];
        let (merged, refused) = Variables::merge(&given, &host);
        assert_eq!(merged.get("PATH"), Some("/bin:/more"));
        assert_eq!(merged.get("A"), Some("2"));
        assert_eq!(merged.get("B"), Some("2-2-.$A"));
        assert_eq!(merged.get("with-dash"), Some("kept"));
        assert_eq!(refused, ["bad=name", "NUL"]);
    }

    #[test]
    fn a_text_is_expanded_once() {
        let mut variables = Variables::default();
        variables.set("A", "$B");
        variables.set("B", "b");
        for (text, expected) in [
            ("$A", "$B"),
            ("x${B}y", "xby"),
            ("$", "$"),
            ("${", "${"),
            ("$1", "$1"),
            ("a$B-", "ab-"),
        ] {
            let expanded = variables.expand(text, &mut Room::default());
            assert_eq!(expanded.as_deref(), Some(expected), "{text}");
        }
    }

    /// Without a bound, these values have forty gigabytes.
    #[test]
    fn expanded_values_are_bounded() {
        let given = [
            variable("A", &"a".repeat(400_000), true),
            variable("B", &"$A".repeat(100_000), true),
            variable("C", "$A$A", true),
            variable("D", &"$A".repeat(19), true),
            variable("PLAIN", "kept", true),
        ];
        let (merged, refused) = Variables::merge(&given, &[]);
        assert_eq!(refused, ["B", "D"]);
        let length = |key: &str| merged.get(key).map(str::len);
        assert_eq!((length("C"), length("PLAIN")), (Some(800_000), Some(4)));
        let mut room = Room::default();
        assert_eq!(merged.expand(&"$C".repeat(100_000), &mut room), None);
        let fitting = (0..100).filter(|_| merged.expand("$C", &mut room).is_some()).count();
        assert_eq!(fitting, MAX_EXPANDED / 800_000, "all texts count together");
    }

    #[test]
    fn long_values_that_are_not_public_are_secret() {
        let given = [
            variable("TOKEN", "s3cr3t-value", false),
            variable("KEY", "-----BEGIN\nabcdefgh\nxy\n", false),
            variable("SHORT", "ab", false),
            variable("PUBLIC", "everybody-knows", true),
        ];
        let expected = [&b"-----BEGIN"[..], b"abcdefgh", b"s3cr3t-value"];
        let (expanded, _) = Variables::merge(&given, &[]);
        assert_eq!(secrets(&given, &expanded), expected);
    }

    /// As `set -x` and `export -p` show them.
    #[test]
    fn quoted_values_are_secret() {
        let given = [variable("KEY", r"it's\secret", false)];
        let (expanded, _) = Variables::merge(&given, &[]);
        let found = secrets(&given, &expanded);
        for shown in [r"it's\secret", r"it'\''s\secret", r#"it'"'"'s\secret"#, r"it\'s\\secret"] {
            assert!(found.contains(&shown.as_bytes().to_vec()), "{shown}");
        }
        assert_eq!(found.len(), 4);
    }

    /// Other variables refer to the value as it was given, and the build has the expanded one.
    #[test]
    fn a_value_is_secret_as_given_and_as_expanded() {
        let given = [
            variable("KEY", "correct$horse-battery", false),
            variable("horse", "-public", true),
            variable("SHOWN", "a$horse", true),
        ];
        let (expanded, _) = Variables::merge(&given, &[]);
        let found = secrets(&given, &expanded);
        assert_eq!(found, [&b"correct$horse-battery"[..], b"correct-public-battery"]);
    }
}
