//! For which references a job is.

use regex::Regex;

use crate::ci::regexp;

/// An entry of `only` or `except`.
#[derive(Clone, Debug)]
pub struct RefPattern {
    /// The entry as it was written.
    written: String,
    matcher: Matcher,
    /// The only project in which it matches.
    project: Option<String>,
}

impl PartialEq for RefPattern {
    /// What was written decides everything else.
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

/// What a pipeline is made for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'a> {
    /// The name of the branch or tag.
    pub reference: &'a str,
    /// Whether it is a tag.
    pub is_tag: bool,
    /// Whether a trigger asked for it.
    pub triggered: bool,
    /// The full path of the project.
    pub project_path: &'a str,
}

impl RefPattern {
    /// Reads an entry; nothing for an invalid regular expression.
    pub fn parse(entry: &str) -> Option<RefPattern> {
        let (pattern, project) = split(entry);
        let matcher = match (pattern, regexp::between_slashes(pattern)) {
            (_, Some((source, flags))) => Matcher::Regexp(regexp::compile(source, flags)?),
            ("branches", None) => Matcher::Branches,
            ("tags", None) => Matcher::Tags,
            ("triggers", None) => Matcher::Triggers,
            (name, None) => Matcher::Name(name.to_owned()),
        };
        let project = project.map(str::to_owned);
        Some(RefPattern { written: entry.to_owned(), matcher, project })
    }

    /// The entry as it was written.
    pub fn as_str(&self) -> &str {
        &self.written
    }

    /// Whether it matches. Besides being a keyword, `branches` is also the name of a branch.
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

/// The pattern and the project after its `@`. An `@` within a regular expression is part of it.
fn split(entry: &str) -> (&str, Option<&str>) {
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
