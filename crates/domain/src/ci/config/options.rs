//! What a runner is told about a job, beyond its commands and variables.

use super::node::Node;

/// The options of a job, as its runner gets them: a map with some of [`Options::KEYS`], in that
/// order. Kept as a tree, so that a store can write it as JSON and read it back unchanged.
#[derive(Clone, Debug, PartialEq)]
pub struct Options(Node);

impl Default for Options {
    fn default() -> Self {
        Options(Node::Map(Vec::new()))
    }
}

impl Options {
    /// Every key there can be.
    pub const KEYS: [&'static str; 7] =
        ["image", "services", "artifacts", "cache", "dependencies", "after_script", "environment"];

    /// The options that a tree holds; keys that are none are left out, as is everything of a tree
    /// that is no map.
    pub fn from_node(node: &Node) -> Options {
        let present = Options::KEYS.into_iter().filter_map(|key| Some((key, node.get(key)?)));
        let present = present.filter(|(_, value)| **value != Node::Null);
        Options(Node::map(present.map(|(key, value)| (key, value.clone()))))
    }

    /// The tree, always a map.
    pub fn as_node(&self) -> &Node {
        &self.0
    }

    /// One of them.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.0.get(key)
    }

    /// The names of the jobs whose artifacts it takes, if it says so.
    pub fn dependencies(&self) -> Option<Vec<&str>> {
        self.get("dependencies")?.as_texts()
    }

    /// After how many seconds the artifacts are removed, if it says so.
    pub fn artifacts_expire_in(&self) -> Option<i64> {
        super::expiry::seconds(self.get("artifacts")?.get("expire_in")?.as_text()?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_kept_is_read_back_unchanged() {
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
        assert_eq!(Options::from_node(&Node::Null), Options::default());
    }
}
