//! Converts the values of serde-saphyr to the tree of the domain.

use std::collections::HashMap;
use std::fmt;

use hexforge_domain::ci::config::Node;
use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::Spanned;

/// A parsed value with the positions of its parts.
pub(crate) enum Tree {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Spanned<Tree>>),
    Map(Vec<(String, Spanned<Tree>)>),
}

/// Converts a value that was parsed from `text`.
pub(crate) fn into_node(tree: Spanned<Tree>, text: &str) -> Node {
    match tree.value {
        Tree::Null => Node::Null,
        // Ruby reads the single letters as text; this library reads them as booleans.
        Tree::Bool(value) => match source_text(&tree.defined, text) {
            Some(letter @ ("y" | "Y" | "n" | "N")) => Node::text(letter),
            Some(_) | None => Node::Bool(value),
        },
        Tree::Integer(value) => Node::Integer(value),
        Tree::Float(value) => Node::Float(value),
        Tree::Text(value) => Node::Text(value),
        Tree::List(list) => {
            Node::List(list.into_iter().map(|tree| into_node(tree, text)).collect())
        }
        Tree::Map(map) => {
            let mut entries: Vec<(String, Node)> = Vec::with_capacity(map.len());
            for (key, value) in map {
                let value = into_node(value, text);
                entries.push((key, value));
            }
            Node::Map(merge_duplicate_keys(entries))
        }
    }
}

/// The source text at a position.
fn source_text<'a>(place: &serde_saphyr::Location, text: &'a str) -> Option<&'a str> {
    let span = place.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let length = usize::try_from(span.byte_len()?).ok()?;
    text.get(start..start.checked_add(length)?)
}

/// Merges entries with the same key: the position of the first and the value of the last.
fn merge_duplicate_keys(entries: Vec<(String, Node)>) -> Vec<(String, Node)> {
    let mut positions: HashMap<String, usize> = HashMap::with_capacity(entries.len());
    let mut merged: Vec<(String, Node)> = Vec::with_capacity(entries.len());
    for (key, value) in entries {
        match positions.get(&key) {
            Some(position) => merged[*position].1 = value,
            None => {
                positions.insert(key.clone(), merged.len());
                merged.push((key, value));
            }
        }
    }
    merged
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(TreeVisitor)
    }
}

struct TreeVisitor;

impl<'de> Visitor<'de> for TreeVisitor {
    type Value = Tree;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_none<E>(self) -> Result<Tree, E> {
        Ok(Tree::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Tree, D::Error> {
        Tree::deserialize(deserializer)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Tree, D::Error> {
        Tree::deserialize(inner)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Tree, E> {
        Ok(Tree::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Tree, E> {
        Ok(Tree::Integer(value))
    }

    /// A number too large for the domain becomes text with its digits.
    fn visit_u64<E>(self, value: u64) -> Result<Tree, E> {
        Ok(i64::try_from(value).map_or_else(|_| Tree::Text(value.to_string()), Tree::Integer))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Tree, E> {
        Ok(Tree::Float(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Tree, E> {
        Ok(Tree::Text(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Tree, E> {
        Ok(Tree::Text(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Tree, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = seq.next_element()? {
            list.push(value);
        }
        Ok(Tree::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Tree, A::Error> {
        let mut entries = Vec::new();
        while let Some(key) = map.next_key()? {
            entries.push((key, map.next_value()?));
        }
        Ok(Tree::Map(entries))
    }
}
