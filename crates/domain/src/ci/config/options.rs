//! The options of a job for its runner, besides commands and variables.

use super::job::{Environment, EnvironmentAction};
use super::node::Node;

/// The options of a job in the form that runners get: a map with some of [`Options::KEYS`], in that order. It is a
/// tree, so that a store can write it as JSON and read it back unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct Options(Node);

impl Default for Options {
    fn default() -> Self {
        Options(Node::Map(Vec::new()))
    }
}

impl Options {
    /// All possible keys.
    pub const KEYS: [&'static str; 8] = [
        "image",
        "services",
        "artifacts",
        "cache",
        "dependencies",
        "after_script",
        "environment",
        Options::SCRIPT,
    ];

    /// Not in the original: the entries of `before_script` and `script`, which the commands join to one text.
    pub const SCRIPT: &'static str = "script";

    /// The options in a tree. Unknown keys and null values are left out. A tree that is not a map has no options.
    pub fn from_node(node: &Node) -> Options {
        let present = Options::KEYS.into_iter().filter_map(|key| Some((key, node.get(key)?)));
        let present = present.filter(|(_, value)| **value != Node::Null);
        Options(Node::map(present.map(|(key, value)| (key, value.clone()))))
    }

    /// The tree, always a map.
    pub fn as_node(&self) -> &Node {
        &self.0
    }

    /// The value of an option.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.0.get(key)
    }

    /// The names of the jobs whose artifacts the job downloads, if it specifies them.
    pub fn dependencies(&self) -> Option<Vec<&str>> {
        self.get("dependencies")?.as_texts()
    }

    /// The environment to which the job deploys.
    pub fn environment(&self) -> Option<Environment> {
        let node = self.get("environment")?;
        let text = |key: &str| node.get(key).and_then(Node::as_text).map(str::to_owned);
        let action = text("action").as_deref().and_then(EnvironmentAction::parse);
        Some(Environment {
            name: text("name")?,
            url: text("url"),
            action: action.unwrap_or_default(),
            on_stop: text("on_stop"),
        })
    }

    /// The number of seconds after which the artifacts expire, if the job specifies it.
    pub fn artifacts_expire_in(&self) -> Option<i64> {
        super::expiry::seconds(self.get("artifacts")?.get("expire_in")?.as_text()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_environment_is_read_from_the_options() {
        let of = |entries: &[(&'static str, &str)]| {
            let entries = entries.iter().map(|(key, value)| (*key, Node::text(*value)));
            Options::from_node(&Node::map([("environment", Node::map(entries))])).environment()
        };
        let named = Environment {
            name: "review/$A".into(),
            url: None,
            action: EnvironmentAction::Start,
            on_stop: None,
        };
        assert_eq!(of(&[("name", "review/$A"), ("action", "start")]), Some(named.clone()));
        let whole = [("name", "review/$A"), ("url", "http://$A"), ("on_stop", "stop")];
        let (url, on_stop) = (Some("http://$A".into()), Some("stop".into()));
        assert_eq!(of(&whole), Some(Environment { url, on_stop, ..named.clone() }));
        let stop = Environment { action: EnvironmentAction::Stop, ..named };
        assert_eq!(of(&[("name", "review/$A"), ("action", "stop")]), Some(stop));
        assert_eq!(of(&[]), None);
        assert_eq!(Options::default().environment(), None);
    }

    #[test]
    fn options_survive_a_round_trip() {
        let node = Node::map([
            ("environment", Node::map([("name", Node::text("production"))])),
            ("unknown", Node::Bool(true)),
            ("cache", Node::Null),
            ("image", Node::text("ruby")),
        ]);
        let options = Options::from_node(&node);
        let expected = Node::map([
            ("image", Node::text("ruby")),
            ("environment", Node::map([("name", Node::text("production"))])),
        ]);
        assert_eq!(options.as_node(), &expected);
        assert_eq!(Options::from_node(options.as_node()), options);
        let with_entries =
            Node::map([("image", Node::text("ruby")), ("script", Node::texts(["a", "b"]))]);
        assert_eq!(Options::from_node(&with_entries).as_node(), &with_entries);
        assert_eq!(Options::from_node(&Node::Null), Options::default());
    }
}
