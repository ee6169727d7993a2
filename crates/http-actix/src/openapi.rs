//! The description of the API in OpenAPI 3.1, at `GET /api/v3/openapi.json` and by `hexforge openapi`.
//!
//! The files of `routes` declare each call with the types of its parameters and responses; the schemas of responses are
//! derived in [`entities`](crate::entities). Tests compare every response that they get with the description.

mod operation;
mod param;

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

pub use param::Param;
pub(crate) use param::{
    boolean, date, file, integer, integers, map, moment, objects, one_of, several_of, text, texts,
};

use crate::dialect::Dialect;
use crate::routes;

/// The description of all calls, with the responses of a dialect.
pub fn document(dialect: Dialect) -> Value {
    let (mut paths, mut schemas, mut tags) = (Map::new(), BTreeMap::new(), Vec::new());
    for (section, call) in routes::calls(dialect).into_sections() {
        let tag = json!({ "name": section });
        if !tags.contains(&tag) {
            tags.push(tag);
        }
        let (path, method) = (call.template(), call.method.as_str().to_lowercase());
        let operation = call.into_operation(section, &mut schemas);
        let operations = paths.entry(path).or_insert_with(|| json!({}));
        operations[method] = operation;
    }
    schemas.insert("Error".to_owned(), error());
    let schemas: Map<String, Value> = schemas.into_iter().map(finished).collect();
    let mut document = json!({
        "openapi": "3.1.0",
        "info": {
            "title": "hexforge",
            "version": routes::VERSION,
            "description": ABOUT,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "servers": [{ "url": "/" }],
        "tags": tags,
        "security": [{ "private_token": [] }, { "bearer": [] }, { "private_token_parameter": [] }],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {
                "private_token": { "type": "apiKey", "in": "header", "name": "PRIVATE-TOKEN" },
                "private_token_parameter": { "type": "apiKey", "in": "query", "name": "private_token" },
                "bearer": { "type": "http", "scheme": "bearer" },
            },
        },
    });
    rename(&mut document);
    document
}

const ABOUT: &str = "REST v3. Parameters may be sent in the query, as a form, as multipart or as JSON. \
    Numbers and booleans may be sent as text. Administrators may act as another user with the parameter or header `sudo`.";

/// The schema of errors: rules and lookups use `message`, malformed requests use `error`.
fn error() -> Value {
    let field = |about: &str| json!({ "description": about });
    json!({
        "type": "object",
        "properties": {
            "message": field("a text, or texts by field"),
            "error": field("a text, or a list of texts"),
            "error_description": { "type": "string" },
        },
        "anyOf": [{ "required": ["message"] }, { "required": ["error"] }],
    })
}

/// Marks nullable properties as required: a property may be null or absent, never both.
fn finished((name, mut schema): (String, Value)) -> (String, Value) {
    require_nullable(&mut schema);
    (name, schema)
}

fn require_nullable(schema: &mut Value) {
    if let Some(parts) = schema.get_mut("allOf").and_then(Value::as_array_mut) {
        parts.iter_mut().for_each(require_nullable);
    }
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    let nullable = properties.iter().filter(|(_, property)| takes_null(property));
    let nullable: Vec<Value> = nullable.map(|(name, _)| json!(name)).collect();
    if let Some(schema) = schema.as_object_mut() {
        let required = schema.entry("required").or_insert_with(|| json!([]));
        if let Some(required) = required.as_array_mut() {
            let new: Vec<Value> =
                nullable.into_iter().filter(|name| !required.contains(name)).collect();
            required.extend(new);
        }
    }
}

fn takes_null(schema: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null";
    let by_type = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().any(is_null),
        kind => is_null(kind),
    };
    let among = |key: &str| schema[key].as_array().is_some_and(|one| one.iter().any(takes_null));
    by_type || among("oneOf") || among("anyOf")
}

/// Removes the suffix `Json` of Rust types from the names of schemas.
fn rename(value: &mut Value) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get_mut("$ref") {
                *reference = shown_name(reference).to_owned();
            }
            let renamed = std::mem::take(map).into_iter().map(|(name, mut value)| {
                rename(&mut value);
                (shown_name(&name).to_owned(), value)
            });
            *map = renamed.collect();
        }
        Value::Array(items) => items.iter_mut().for_each(rename),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => (),
    }
}

fn shown_name(name: &str) -> &str {
    name.strip_suffix("Json").unwrap_or(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nullable_properties_are_required() {
        let mut schema = json!({
            "properties": {
                "a": { "type": ["string", "null"] },
                "b": { "oneOf": [{ "type": "null" }, { "$ref": "x" }] },
                "c": { "type": "string" },
            },
            "required": ["a"],
        });
        require_nullable(&mut schema);
        assert_eq!(schema["required"], json!(["a", "b"]));
    }

    #[test]
    fn both_dialects_are_described() {
        let status = |dialect: Dialect| {
            let document = document(dialect);
            let labels = &document["paths"]["/api/v3/projects/{id}/labels"]["post"]["responses"];
            (labels.get("200").is_some(), labels.get("201").is_some())
        };
        assert_eq!(status(Dialect::Specification), (true, false));
        assert_eq!(status(Dialect::Original), (false, true));
    }
}
