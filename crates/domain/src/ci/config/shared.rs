//! The keys that are allowed both at the top level and in jobs.

use super::ConfigError;
use super::location::{Location, specified};
use super::node::Node;

/// The settings that a job inherits from the top level unless it has its own.
#[derive(Clone, Default)]
pub(super) struct Shared {
    pub(super) before_script: Option<Vec<String>>,
    pub(super) image: Option<String>,
    pub(super) services: Option<Vec<String>>,
    pub(super) after_script: Option<Vec<String>>,
    pub(super) cache: Option<Node>,
}

impl Shared {
    /// These settings; the top-level settings replace those that are missing.
    pub(super) fn or(self, global: &Shared) -> Shared {
        Shared {
            before_script: self.before_script.or_else(|| global.before_script.clone()),
            image: self.image.or_else(|| global.image.clone()),
            services: self.services.or_else(|| global.services.clone()),
            after_script: self.after_script.or_else(|| global.after_script.clone()),
            cache: self.cache.or_else(|| global.cache.clone()),
        }
    }
}

/// The value of a key, which has to be a text; `None` when the key is missing.
pub(super) fn optional_text(
    map: &[(String, Node)],
    key: &str,
    location: &Location,
) -> Result<Option<String>, ConfigError> {
    specified(map, key).map(|node| location.require_text(node)).transpose()
}

/// The value of a key, which has to be a list of texts; `None` when the key is missing.
pub(super) fn optional_texts(
    map: &[(String, Node)],
    key: &str,
    location: &Location,
) -> Result<Option<Vec<String>>, ConfigError> {
    specified(map, key).map(|node| location.require_texts(node)).transpose()
}

/// Parses `variables`, in the order of the file. Integers are converted to texts.
pub(super) fn parse_variables(
    map: &[(String, Node)],
    location: &Location,
) -> Result<Vec<(String, String)>, ConfigError> {
    let Some(node) = specified(map, "variables") else { return Ok(Vec::new()) };
    let pair = |(key, value): &(String, Node)| match value {
        Node::Text(text) => Some((key.clone(), text.clone())),
        Node::Integer(number) => Some((key.clone(), number.to_string())),
        Node::Null | Node::Bool(_) | Node::Float(_) | Node::List(_) | Node::Map(_) => None,
    };
    let pairs = node.as_map().and_then(|map| map.iter().map(pair).collect());
    pairs.ok_or_else(|| location.error("config", "should be a hash of key value pairs"))
}

/// Validates `cache` and returns it in the form that runners get.
pub(super) fn parse_cache(
    map: &[(String, Node)],
    location: &Location,
) -> Result<Option<Node>, ConfigError> {
    const KEYS: [&str; 3] = ["key", "untracked", "paths"];
    let Some(node) = specified(map, "cache") else { return Ok(None) };
    let cache = location.require_map(node)?;
    location.require_known_keys(cache, &KEYS)?;
    if specified(cache, "key").is_some_and(|key| key.as_text().is_none()) {
        return Err(location.at("key").error("config", "should be a string or symbol"));
    }
    if let Some(untracked) = specified(cache, "untracked") {
        location.at("untracked").require_boolean(untracked)?;
    }
    optional_texts(cache, "paths", &location.at("paths"))?;
    let present = KEYS.into_iter().filter_map(|key| Some((key, specified(cache, key)?.clone())));
    Ok(Some(Node::map(present)))
}
