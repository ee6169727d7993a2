//! The keys that only jobs have: `only`, `except`, `artifacts` and `environment`.

use super::ConfigError;
use super::expiry;
use super::job::{Environment, EnvironmentAction};
use super::location::{Location, specified};
use super::node::Node;
use super::refs::{MAX_REGEXPS, PatternError, RefPattern, RefPatterns};
use crate::environment::{ExternalUrl, is_name_character};

/// Parses `only` or `except`.
pub(super) fn parse_ref_patterns(
    job: &[(String, Node)],
    key: &str,
    location: &Location,
    patterns: &mut RefPatterns,
) -> Result<Vec<RefPattern>, ConfigError> {
    let Some(node) = specified(job, key) else { return Ok(Vec::new()) };
    let to_error = |error: PatternError| match error {
        PatternError::Invalid => {
            location.error("config", "should be an array of strings or regexps")
        }
        PatternError::TooMany => {
            location.error("config", &format!("makes more than {MAX_REGEXPS} regexps in the file"))
        }
    };
    let entries = node.as_texts().ok_or_else(|| to_error(PatternError::Invalid))?;
    entries.into_iter().map(|entry| patterns.parse(entry).map_err(to_error)).collect()
}

/// Validates `artifacts` and returns them in the form that runners get.
pub(super) fn parse_artifacts(
    job: &[(String, Node)],
    location: &Location,
) -> Result<Option<Node>, ConfigError> {
    let Some(node) = specified(job, "artifacts") else { return Ok(None) };
    let artifacts = location.require_map(node)?;
    location.require_known_keys(artifacts, &["name", "untracked", "paths", "when", "expire_in"])?;
    if specified(artifacts, "name").is_some_and(|name| name.as_text().is_none()) {
        return Err(location.error("name", "should be a string"));
    }
    if let Some(untracked) = specified(artifacts, "untracked") {
        location.require_attribute_boolean(untracked, "untracked")?;
    }
    if let Some(paths) = specified(artifacts, "paths") {
        location.require_attribute_texts(paths, "paths")?;
    }
    if let Some(when) = specified(artifacts, "when")
        && !matches!(when.as_text(), Some("on_success" | "on_failure" | "always"))
    {
        return Err(location.error("when", "should be on_success, on_failure or always"));
    }
    if let Some(expire_in) = specified(artifacts, "expire_in")
        && expire_in.as_text().and_then(expiry::seconds).is_none()
    {
        return Err(location.error("expire in", "should be a duration"));
    }
    let present = artifacts.iter().filter(|(_, value)| *value != Node::Null);
    Ok(Some(Node::Map(present.cloned().collect())))
}

/// Parses `environment`. Returns it as an [`Environment`] and in the form that runners get.
pub(super) fn parse_environment(
    job: &[(String, Node)],
    location: &Location,
) -> Result<Option<(Environment, Node)>, ConfigError> {
    match specified(job, "environment") {
        None => Ok(None),
        Some(Node::Text(name)) => {
            let environment = Environment {
                name: parse_environment_name(Some(&Node::text(name)), location)?,
                url: None,
                action: EnvironmentAction::Start,
                on_stop: None,
            };
            let entries = [("name", Node::text(name)), ("action", Node::text("start"))];
            Ok(Some((environment, Node::map(entries))))
        }
        Some(Node::Map(map)) => {
            let entries = map.iter().filter(|(_, value)| *value != Node::Null).cloned().collect();
            Ok(Some((parse_environment_map(map, location)?, Node::Map(entries))))
        }
        Some(Node::Null | Node::Bool(_) | Node::Integer(_) | Node::Float(_) | Node::List(_)) => {
            Err(location.error("config", "should be a hash or a string"))
        }
    }
}

fn parse_environment_map(
    map: &[(String, Node)],
    location: &Location,
) -> Result<Environment, ConfigError> {
    let name = parse_environment_name(specified(map, "name"), location)?;
    location.require_known_keys(map, &["name", "url", "action", "on_stop"])?;
    let url = match specified(map, "url") {
        None => None,
        Some(url) => Some(parse_environment_url(url, location)?),
    };
    let action = match specified(map, "action") {
        None => EnvironmentAction::Start,
        Some(action) => action
            .as_text()
            .and_then(EnvironmentAction::parse)
            .ok_or_else(|| location.error("action", "should be start or stop"))?,
    };
    let on_stop = specified(map, "on_stop").map(|job| {
        job.as_text()
            .map(str::to_owned)
            .ok_or_else(|| location.error("on stop", "should be a string"))
    });
    Ok(Environment { name, url, action, on_stop: on_stop.transpose()? })
}

fn parse_environment_name(name: Option<&Node>, location: &Location) -> Result<String, ConfigError> {
    let Some(name) = name.filter(|name| !name.is_blank()) else {
        return Err(location.error("name", "can't be blank"));
    };
    match name.as_text() {
        Some(name) if name.chars().all(is_name_character) => Ok(name.to_owned()),
        Some(_) | None => Err(location.error(
            "name",
            "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces",
        )),
    }
}

/// Validates only the beginning of the URL, because variables in it are expanded when it is shown.
fn parse_environment_url(url: &Node, location: &Location) -> Result<String, ConfigError> {
    let url = url.as_text().unwrap_or_default();
    if url.chars().count() > 255 {
        return Err(location.error("url", "is too long (maximum is 255 characters)"));
    }
    let host = ExternalUrl::SCHEMES
        .iter()
        .find_map(|scheme| url.strip_prefix(scheme)?.strip_prefix("://"));
    if host.is_none_or(|host| host.is_empty() || host.contains(char::is_whitespace)) {
        return Err(location.error("url", "must be a valid url"));
    }
    Ok(url.to_owned())
}
