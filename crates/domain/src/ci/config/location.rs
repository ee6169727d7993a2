//! Validation of single values, with errors that name their location.

use super::ConfigError;
use super::node::Node;

/// The location of a value as a path of keys, such as `jobs:rspec:cache`.
pub(super) struct Location(String);

const TEXTS: &str = "should be an array of strings";
const BOOLEAN: &str = "should be a boolean value";

impl Location {
    /// The location of a top-level key.
    pub(super) fn top(key: &str) -> Location {
        Location(key.to_owned())
    }

    /// The location of a key below this one.
    pub(super) fn at(&self, key: &str) -> Location {
        Location(format!("{}:{key}", self.0))
    }

    /// An error in the form `<location> <attribute> <text>`. All of it is in lower case, job names and keys included.
    pub(super) fn error(&self, attribute: &str, text: &str) -> ConfigError {
        ConfigError(format!("{} {attribute} {text}", self.0).to_ascii_lowercase())
    }

    /// Requires a map and returns its entries.
    pub(super) fn require_map<'a>(
        &self,
        node: &'a Node,
    ) -> Result<&'a [(String, Node)], ConfigError> {
        node.as_map().ok_or_else(|| self.error("config", "should be a hash"))
    }

    /// Requires that a map has only known keys.
    pub(super) fn require_known_keys(
        &self,
        map: &[(String, Node)],
        known: &[&str],
    ) -> Result<(), ConfigError> {
        let unknown: Vec<&str> =
            map.iter().map(|(key, _)| key.as_str()).filter(|key| !known.contains(key)).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        Err(self.error("config", &format!("contains unknown keys: {}", unknown.join(", "))))
    }

    /// Requires a text.
    pub(super) fn require_text(&self, node: &Node) -> Result<String, ConfigError> {
        let text = node.as_text().map(str::to_owned);
        text.ok_or_else(|| self.error("config", "should be a string"))
    }

    /// Requires a list of texts.
    pub(super) fn require_texts(&self, node: &Node) -> Result<Vec<String>, ConfigError> {
        owned_texts(node).ok_or_else(|| self.error("config", TEXTS))
    }

    /// Requires a boolean.
    pub(super) fn require_boolean(&self, node: &Node) -> Result<bool, ConfigError> {
        as_boolean(node).ok_or_else(|| self.error("config", BOOLEAN))
    }

    /// Requires a list of texts. The error names `attribute`.
    pub(super) fn require_attribute_texts(
        &self,
        node: &Node,
        attribute: &str,
    ) -> Result<Vec<String>, ConfigError> {
        owned_texts(node).ok_or_else(|| self.error(attribute, TEXTS))
    }

    /// Requires a boolean. The error names `attribute`.
    pub(super) fn require_attribute_boolean(
        &self,
        node: &Node,
        attribute: &str,
    ) -> Result<bool, ConfigError> {
        as_boolean(node).ok_or_else(|| self.error(attribute, BOOLEAN))
    }
}

fn owned_texts(node: &Node) -> Option<Vec<String>> {
    Some(node.as_texts()?.into_iter().map(str::to_owned).collect())
}

fn as_boolean(node: &Node) -> Option<bool> {
    if let Node::Bool(value) = node { Some(*value) } else { None }
}

/// The value of a key. A key without a value is treated as missing.
pub(super) fn specified<'a>(map: &'a [(String, Node)], key: &str) -> Option<&'a Node> {
    map.iter().find(|(name, _)| name == key).map(|(_, value)| value).filter(|v| **v != Node::Null)
}
