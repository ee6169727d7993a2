//! The keys that only jobs have: `only`, `except`, `artifacts` and `environment`.

use super::ConfigError;
use super::expiry;
use super::job::{Environment, EnvironmentAction};
use super::node::Node;
use super::place::{Place, specified};
use super::refs::{MAX_REGEXPS, RefPattern, RefPatterns, WrongPattern};

/// Parses `only` or `except`.
pub(super) fn references(
    job: &[(String, Node)],
    key: &str,
    place: &Place,
    patterns: &mut RefPatterns,
) -> Result<Vec<RefPattern>, ConfigError> {
    let Some(node) = specified(job, key) else { return Ok(Vec::new()) };
    let wrong = |wrong: WrongPattern| match wrong {
        WrongPattern::Invalid => place.wrong("config", "should be an array of strings or regexps"),
        WrongPattern::TooMany => {
            place.wrong("config", &format!("makes more than {MAX_REGEXPS} regexps in the file"))
        }
    };
    let entries = node.as_texts().ok_or_else(|| wrong(WrongPattern::Invalid))?;
    entries.into_iter().map(|entry| patterns.parse(entry).map_err(wrong)).collect()
}

/// Validates `artifacts` and returns them in the form that runners get.
pub(super) fn artifacts(
    job: &[(String, Node)],
    place: &Place,
) -> Result<Option<Node>, ConfigError> {
    let Some(node) = specified(job, "artifacts") else { return Ok(None) };
    let artifacts = place.map(node)?;
    place.only_keys(artifacts, &["name", "untracked", "paths", "when", "expire_in"])?;
    if specified(artifacts, "name").is_some_and(|name| name.as_text().is_none()) {
        return Err(place.wrong("name", "should be a string"));
    }
    if let Some(untracked) = specified(artifacts, "untracked") {
        place.boolean_of(untracked, "untracked")?;
    }
    if let Some(paths) = specified(artifacts, "paths") {
        place.texts_of(paths, "paths")?;
    }
    if let Some(when) = specified(artifacts, "when")
        && !matches!(when.as_text(), Some("on_success" | "on_failure" | "always"))
    {
        return Err(place.wrong("when", "should be on_success, on_failure or always"));
    }
    if let Some(expire_in) = specified(artifacts, "expire_in")
        && expire_in.as_text().and_then(expiry::seconds).is_none()
    {
        return Err(place.wrong("expire in", "should be a duration"));
    }
    let said = artifacts.iter().filter(|(_, value)| *value != Node::Null);
    Ok(Some(Node::Map(said.cloned().collect())))
}

/// Parses `environment`. Returns it as an [`Environment`] and in the form that runners get.
pub(super) fn environment(
    job: &[(String, Node)],
    place: &Place,
) -> Result<Option<(Environment, Node)>, ConfigError> {
    match specified(job, "environment") {
        None => Ok(None),
        Some(Node::Text(name)) => {
            let environment = Environment {
                name: environment_name(Some(&Node::text(name)), place)?,
                url: None,
                action: EnvironmentAction::Start,
                on_stop: None,
            };
            let entries = [("name", Node::text(name)), ("action", Node::text("start"))];
            Ok(Some((environment, Node::map(entries))))
        }
        Some(Node::Map(map)) => {
            let entries = map.iter().filter(|(_, value)| *value != Node::Null).cloned().collect();
            Ok(Some((environment_map(map, place)?, Node::Map(entries))))
        }
        Some(Node::Null | Node::Bool(_) | Node::Integer(_) | Node::Float(_) | Node::List(_)) => {
            Err(place.wrong("config", "should be a hash or a string"))
        }
    }
}

fn environment_map(map: &[(String, Node)], place: &Place) -> Result<Environment, ConfigError> {
    let name = environment_name(specified(map, "name"), place)?;
    place.only_keys(map, &["name", "url", "action", "on_stop"])?;
    let url = match specified(map, "url") {
        None => None,
        Some(url) => Some(environment_url(url, place)?),
    };
    let action = match specified(map, "action") {
        None => EnvironmentAction::Start,
        Some(action) => action
            .as_text()
            .and_then(EnvironmentAction::parse)
            .ok_or_else(|| place.wrong("action", "should be start or stop"))?,
    };
    let on_stop = specified(map, "on_stop").map(|job| {
        job.as_text().map(str::to_owned).ok_or_else(|| place.wrong("on stop", "should be a string"))
    });
    Ok(Environment { name, url, action, on_stop: on_stop.transpose()? })
}

fn environment_name(name: Option<&Node>, place: &Place) -> Result<String, ConfigError> {
    let Some(name) = name.filter(|name| !name.is_blank()) else {
        return Err(place.wrong("name", "can't be blank"));
    };
    let allowed = |char: char| char.is_ascii_alphanumeric() || "-_/\\${}. ".contains(char);
    match name.as_text() {
        Some(name) if name.chars().all(allowed) => Ok(name.to_owned()),
        Some(_) | None => Err(place.wrong(
            "name",
            "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces",
        )),
    }
}

/// Validates only the beginning of the URL, because variables in it are expanded when it is shown.
fn environment_url(url: &Node, place: &Place) -> Result<String, ConfigError> {
    let url = url.as_text().unwrap_or_default();
    if url.chars().count() > 255 {
        return Err(place.wrong("url", "is too long (maximum is 255 characters)"));
    }
    let host = ["http", "https", "ssh", "git"]
        .iter()
        .find_map(|scheme| url.strip_prefix(scheme)?.strip_prefix("://"));
    if host.is_none_or(|host| host.is_empty() || host.contains(char::is_whitespace)) {
        return Err(place.wrong("url", "must be a valid url"));
    }
    Ok(url.to_owned())
}
