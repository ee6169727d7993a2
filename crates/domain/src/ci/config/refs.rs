//! Patterns of refs for which a job runs or does not run.

use std::collections::HashMap;

use regex::Regex;

use crate::ci::regexp;

/// The maximum number of different regular expressions in a file. Each takes time and memory to compile; real files
/// have far fewer.
pub(super) const MAX_REGEXPS: usize = 200;

/// An entry of `only` or `except`.
#[derive(Clone, Debug)]
pub struct RefPattern {
    /// The entry as it was written.
    written: String,
    matcher: Matcher,
    /// The path of the only project in which the entry matches.
    project: Option<String>,
}

impl PartialEq for RefPattern {
    /// Compares the written text, which determines all other fields.
    fn eq(&self, other: &Self) -> bool {
        self.written == other.written
    }
}

#[derive(Clone, Debug)]
enum Matcher {
    Branches,
    Tags,
    Triggers,
    Regexp(Regex),
    Name(String),
}

/// The ref and the circumstances for which a pipeline is created.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// The name of the branch or tag.
    pub reference: &'a str,
    /// Whether the ref is a tag.
    pub is_tag: bool,
    /// Whether a trigger created the pipeline.
    pub triggered: bool,
    /// The full path of the project.
    pub project_path: &'a str,
}

/// Parses the entries of a file, and compiles each regular expression once.
#[derive(Default)]
pub(super) struct RefPatterns {
    compiled: HashMap<String, Regex>,
}

/// Why an entry is invalid.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum PatternError {
    /// The regular expression is invalid.
    Invalid,
    /// The file has more than [`MAX_REGEXPS`] regular expressions.
    TooMany,
}

impl RefPatterns {
    /// Parses an entry.
    pub(super) fn parse(&mut self, entry: &str) -> Result<RefPattern, PatternError> {
        let (pattern, project) = split_project(entry);
        let matcher = match (pattern, regexp::between_slashes(pattern)) {
            (_, Some((source, flags))) => Matcher::Regexp(self.compile(pattern, source, flags)?),
            ("branches", None) => Matcher::Branches,
            ("tags", None) => Matcher::Tags,
            ("triggers", None) => Matcher::Triggers,
            (name, None) => Matcher::Name(name.to_owned()),
        };
        let project = project.map(str::to_owned);
        Ok(RefPattern { written: entry.to_owned(), matcher, project })
    }

    fn compile(&mut self, pattern: &str, source: &str, flags: &str) -> Result<Regex, PatternError> {
        if let Some(regexp) = self.compiled.get(pattern) {
            return Ok(regexp.clone());
        }
        if self.compiled.len() == MAX_REGEXPS {
            return Err(PatternError::TooMany);
        }
        let regexp = regexp::compile(source, flags).ok_or(PatternError::Invalid)?;
        self.compiled.insert(pattern.to_owned(), regexp.clone());
        Ok(regexp)
    }
}

impl RefPattern {
    /// The entry as it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Returns whether the entry matches the target. A keyword like `branches` also matches a ref with that name.
    pub fn matches(&self, target: Target<'_>) -> bool {
        if self.project.as_ref().is_some_and(|project| project != target.project_path) {
            return false;
        }
        match &self.matcher {
            Matcher::Branches => !target.is_tag || target.reference == "branches",
            Matcher::Tags => target.is_tag || target.reference == "tags",
            Matcher::Triggers => target.triggered || target.reference == "triggers",
            Matcher::Regexp(regexp) => regexp.is_match(target.reference),
            Matcher::Name(name) => name == target.reference,
        }
    }
}

/// Splits an entry into the pattern and the project after `@`. An `@` within a regular expression belongs to the
/// pattern.
fn split_project(entry: &str) -> (&str, Option<&str>) {
    if regexp::between_slashes(entry).is_some() {
        return (entry, None);
    }
    let in_regexp = entry
        .starts_with('/')
        .then(|| entry.match_indices('@'))
        .and_then(|mut at| at.find(|(at, _)| regexp::between_slashes(&entry[..*at]).is_some()));
    let at = in_regexp.map(|(at, _)| at).or_else(|| entry.find('@'));
    match at {
        Some(at) => (&entry[..at], Some(&entry[at + 1..])),
        None => (entry, None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(entry: &str, reference: &str) -> bool {
        let target =
            Target { reference, is_tag: false, triggered: false, project_path: "group/project" };
        let pattern = RefPatterns::default().parse(entry);
        pattern.unwrap_or_else(|wrong| panic!("{entry}: {wrong:?}")).matches(target)
    }

    #[test]
    fn entries_match_names_keywords_and_expressions() {
        for (entry, reference, expected) in [
            ("master", "master", true),
            ("master", "master2", false),
            ("master@group/project", "master", true),
            ("master@group/other", "master", false),
            ("branches", "topic", true),
            ("branches@group/project", "topic", true),
            ("tags", "topic", false),
            ("tags", "tags", true),
            ("triggers", "topic", false),
            ("/aster/", "master", true),
            ("/^aster/", "master", false),
            ("/ASTER/i", "master", true),
            ("/a@b/", "xa@by", true),
            ("/a@b/@group/project", "xa@by", true),
            ("/a@b/@group/other", "xa@by", false),
            ("/a/b@group/project", "/a/b", true),
            ("/a", "/a", true),
            ("", "master", false),
            ("@group/project", "", true),
        ] {
            assert_eq!(matches(entry, reference), expected, "{entry} for {reference}");
        }
    }

    #[test]
    fn keywords_follow_the_kind_of_the_reference_and_the_trigger() {
        for (is_tag, triggered, expected) in [
            (false, false, [true, false, false]),
            (true, false, [false, true, false]),
            (false, true, [true, false, true]),
            (true, true, [false, true, true]),
        ] {
            let target = Target { reference: "x", is_tag, triggered, project_path: "a/b" };
            let found = ["branches", "tags", "triggers"].map(|word| {
                RefPatterns::default().parse(word).is_ok_and(|pattern| pattern.matches(target))
            });
            assert_eq!(found, expected, "tag: {is_tag}, triggered: {triggered}");
        }
    }

    #[test]
    fn expressions_are_counted_once_each_and_bounded() {
        let mut patterns = RefPatterns::default();
        assert_eq!(patterns.parse("/(/"), Err(PatternError::Invalid));
        for number in 0..MAX_REGEXPS {
            assert!(patterns.parse(&format!("/{number}/")).is_ok());
        }
        assert!(patterns.parse("/1/@group/project").is_ok(), "it is compiled already");
        assert_eq!(patterns.parse("/new/"), Err(PatternError::TooMany));
        assert!(patterns.parse("name").is_ok());
    }
}
