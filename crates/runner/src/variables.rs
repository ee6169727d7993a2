//! The variables of a build: merging, expansion in texts, and the values that logs must not show.

use std::collections::BTreeMap;

use crate::protocol::Variable;

/// The variables of a build by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Merges the variables of an assignment; a later one overrides an earlier one. Values may refer to other variables
    /// and to those of `host`. Leaves out names and values that no environment can have, and returns their names.
    pub fn merge(given: &[Variable], host: &[(String, String)]) -> (Self, Vec<String>) {
        let (mut merged, mut refused) = (BTreeMap::new(), Vec::new());
        for Variable { key, value, .. } in given {
            if key.is_empty() || key.contains(['=', '\0']) || value.contains('\0') {
                refused.push(key.replace('\0', "\u{fffd}"));
            } else {
                merged.insert(key.clone(), value.clone());
            }
        }
        let known = merged.iter().map(|(key, value)| (key.clone(), value.clone()));
        let known = Variables(host.iter().cloned().chain(known).collect());
        // One pass: the values of `.gitlab-ci.yml` refer to predefined variables. A value that refers to its own name
        // means the value of the host, as in `PATH: $PATH:/more`.
        let merged = merged.into_iter().map(|(key, value)| match value.contains('$') {
            true => {
                let own =
                    host.iter().find(|(name, _)| *name == key).map(|(_, value)| value.clone());
                let mut known = known.clone();
                known.set(&key, own.unwrap_or_default());
                (key, known.expand(&value))
            }
            false => (key, value),
        });
        (Variables(merged.collect()), refused)
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

    /// Replaces `$NAME` and `${NAME}` by values. An unknown name becomes empty; `$$` is a dollar.
    pub fn expand(&self, text: &str) -> String {
        let mut done = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find('$') {
            done.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix('$') {
                done.push('$');
                rest = after;
            } else if let Some((name, after)) = braced(rest).or_else(|| plain(rest)) {
                done.push_str(self.get(name).unwrap_or_default());
                rest = after;
            } else {
                done.push('$');
            }
        }
        done.push_str(rest);
        done
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

/// The values that logs must not show: those of variables that are not public. Each line of a value counts by itself,
/// because programs print values line by line.
pub fn secrets(given: &[Variable]) -> Vec<Vec<u8>> {
    let hidden = given.iter().filter(|variable| !variable.public);
    let lines = hidden.flat_map(|variable| variable.value.lines().map(str::trim));
    let lines = lines.filter(|line| line.len() >= SHORTEST_MASKED);
    let mut secrets: Vec<Vec<u8>> = lines.map(|line| line.as_bytes().to_vec()).collect();
    secrets.sort();
    secrets.dedup();
    secrets
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
            assert_eq!(variables.expand(text), expected, "{text}");
        }
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
        assert_eq!(secrets(&given), expected);
    }
}
