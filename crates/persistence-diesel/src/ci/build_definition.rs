//! The JSON form of build definitions. A tree of a configuration maps onto JSON one to one.

use hexforge_domain::build::BuildDefinition;
use hexforge_domain::ci::config::{Node, Options};
use serde_json::{Map, Number, Value};

use crate::database::backend;

pub(crate) fn options_to_text(options: &Options) -> String {
    to_json(options.as_node()).to_string()
}

pub(crate) fn variables_to_text(variables: &[(String, String)]) -> String {
    let pairs = variables.iter().map(|(key, value)| {
        Value::from(vec![backend::without_nul(key), backend::without_nul(value)])
    });
    Value::Array(pairs.collect()).to_string()
}

pub(crate) fn from_texts(
    commands: String,
    options: &str,
    variables: &str,
) -> Option<BuildDefinition> {
    let options = from_json(serde_json::from_str(options).ok()?);
    let variables = serde_json::from_str(variables).ok()?;
    Some(BuildDefinition { commands, options: Options::from_node(&options), variables })
}

fn to_json(node: &Node) -> Value {
    match node {
        Node::Null => Value::Null,
        Node::Bool(yes) => Value::Bool(*yes),
        Node::Integer(number) => Value::from(*number),
        // JSON has no form for NaN and infinity.
        Node::Float(number) => Number::from_f64(*number).map_or(Value::Null, Value::Number),
        Node::Text(text) => Value::String(backend::without_nul(text)),
        Node::List(list) => Value::Array(list.iter().map(to_json).collect()),
        Node::Map(map) => {
            let entries = map.iter().map(|(key, node)| (backend::without_nul(key), to_json(node)));
            Value::Object(entries.collect::<Map<_, _>>())
        }
    }
}

fn from_json(value: Value) -> Node {
    match value {
        Value::Null => Node::Null,
        Value::Bool(yes) => Node::Bool(yes),
        Value::Number(number) => match number.as_i64() {
            Some(number) => Node::Integer(number),
            None => Node::Float(number.as_f64().unwrap_or_default()),
        },
        Value::String(text) => Node::Text(text),
        Value::Array(list) => Node::List(list.into_iter().map(from_json).collect()),
        Value::Object(map) => {
            Node::Map(map.into_iter().map(|(key, value)| (key, from_json(value))).collect())
        }
    }
}
