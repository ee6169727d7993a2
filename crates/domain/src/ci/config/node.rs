//! A document as a tree, independent of the YAML library.

/// A value of a document. The configuration is parsed from a node. The options of a job are also stored as a node,
/// because every node can be written as JSON and read back unchanged.
#[derive(Clone, Debug, PartialEq)]
pub enum Node {
    /// No value, as for a key without a value.
    Null,
    /// True or false.
    Bool(bool),
    /// A whole number.
    Integer(i64),
    /// Any other number.
    Float(f64),
    /// Text, and every scalar that has none of the types above.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// Keys and values in the order of the document, without duplicate keys.
    Map(Vec<(String, Node)>),
}

impl Node {
    /// A text.
    pub fn text(text: impl Into<String>) -> Node {
        Node::Text(text.into())
    }

    /// A list of texts.
    pub fn texts<T: Into<String>>(texts: impl IntoIterator<Item = T>) -> Node {
        Node::List(texts.into_iter().map(Node::text).collect())
    }

    /// A map.
    pub fn map<K: Into<String>>(entries: impl IntoIterator<Item = (K, Node)>) -> Node {
        Node::Map(entries.into_iter().map(|(key, value)| (key.into(), value)).collect())
    }

    /// The value of a key; `None` when the key is missing or the node is not a map.
    pub fn get(&self, key: &str) -> Option<&Node> {
        self.as_map()?.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The text, if the node is a text.
    pub fn as_text(&self) -> Option<&str> {
        if let Node::Text(text) = self { Some(text) } else { None }
    }

    /// The elements, if the node is a list.
    pub fn as_list(&self) -> Option<&[Node]> {
        if let Node::List(list) = self { Some(list) } else { None }
    }

    /// The entries, if the node is a map.
    pub fn as_map(&self) -> Option<&[(String, Node)]> {
        if let Node::Map(map) = self { Some(map) } else { None }
    }

    /// The elements as texts, if the node is a list that contains only texts.
    pub fn as_texts(&self) -> Option<Vec<&str>> {
        self.as_list()?.iter().map(Node::as_text).collect()
    }

    /// The approximate memory size in bytes.
    pub(super) fn weight(&self) -> usize {
        let inside = match self {
            Node::Null | Node::Bool(_) | Node::Integer(_) | Node::Float(_) => 0,
            Node::Text(text) => text.len(),
            Node::List(list) => list.iter().map(Node::weight).sum(),
            Node::Map(map) => map.iter().map(|(key, value)| key.len() + value.weight()).sum(),
        };
        size_of::<Node>() + inside
    }

    /// Returns whether the value is blank: null, false, an empty list or map, or a text of whitespace.
    pub fn is_blank(&self) -> bool {
        match self {
            Node::Null | Node::Bool(false) => true,
            Node::Bool(true) | Node::Integer(_) | Node::Float(_) => false,
            Node::Text(text) => text.trim().is_empty(),
            Node::List(list) => list.is_empty(),
            Node::Map(map) => map.is_empty(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_convert_to_their_own_type_only() {
        let node = Node::map([("list", Node::texts(["a", "b"])), ("text", Node::text("t"))]);
        assert_eq!(node.get("text").and_then(Node::as_text), Some("t"));
        assert_eq!(node.get("list").and_then(Node::as_texts), Some(vec!["a", "b"]));
        assert_eq!(node.get("nothing"), None);
        assert_eq!(Node::text("t").get("text"), None);
        assert_eq!(Node::List(vec![Node::Null]).as_texts(), None);
        assert_eq!((Node::Null.as_list(), Node::Null.as_map()), (None, None));
    }

    #[test]
    fn null_false_and_empty_values_are_blank() {
        for (node, expected) in [
            (Node::Null, true),
            (Node::Bool(false), true),
            (Node::text(" \n"), true),
            (Node::List(vec![]), true),
            (Node::Map(vec![]), true),
            (Node::Bool(true), false),
            (Node::Integer(0), false),
            (Node::Float(0.0), false),
            (Node::text("x"), false),
            (Node::List(vec![Node::Null]), false),
        ] {
            assert_eq!(node.is_blank(), expected, "{node:?}");
        }
    }
}
