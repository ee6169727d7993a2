//! GET /openapi.json: the document describes all calls and no others. The test client compares every response with it.

use std::collections::BTreeSet;

use hexforge_http_actix::{Dialect, openapi};
use hexforge_tests::{Forge, on_every_store};
use serde_json::Value;

const ENDPOINTS: &str = include_str!("../../../endpoints.txt");

on_every_store!(the_document_is_public,);

fn the_document_is_public(forge: &Forge) {
    let shown = forge.get("/openapi.json").send().expect(200);
    assert_eq!(shown, openapi::document(Dialect::Specification));
    assert_eq!(shown["openapi"], "3.1.0");
}

/// The calls of the document in the format of `endpoints.txt`: `GET /users/:id`.
fn described_calls(document: &Value) -> BTreeSet<String> {
    let paths = document["paths"].as_object().expect("there are paths");
    let calls = paths.iter().flat_map(|(path, calls)| {
        let path = path.strip_prefix("/api/v3").unwrap_or(path);
        let path = path.replace('{', ":").replace('}', "");
        let methods = calls.as_object().expect("there are calls").keys();
        methods.map(move |method| format!("{} {path}", method.to_uppercase()))
    });
    calls.collect()
}

#[test]
fn every_call_is_described_and_nothing_else() {
    let served = ENDPOINTS.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let served = served.map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        format!("{} {}", words[0], words[1])
    });
    let served: BTreeSet<String> = served.collect();
    for dialect in [Dialect::Specification, Dialect::Original] {
        assert_eq!(described_calls(&openapi::document(dialect)), served);
    }
}

#[test]
fn every_call_has_an_id_of_its_own_and_answers_something() {
    let document = openapi::document(Dialect::Specification);
    let calls = document["paths"].as_object().expect("there are paths").values();
    let calls = calls.flat_map(|calls| calls.as_object().expect("there are calls").values());
    let mut ids = BTreeSet::new();
    for call in calls {
        let id = call["operationId"].as_str().expect("a call has an id");
        assert!(ids.insert(id.to_owned()), "{id} is there twice");
        let answers = call["responses"].as_object().expect("there are answers").keys();
        assert!(answers.filter(|status| status.starts_with('2')).count() > 0, "{id}");
    }
}

fn references(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(map) => {
            if let Some(Value::String(reference)) = map.get("$ref") {
                found.insert(reference.trim_start_matches('#').to_owned());
            }
            map.values().for_each(|value| references(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| references(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => (),
    }
}

#[test]
fn every_schema_is_there_and_used() {
    let document = openapi::document(Dialect::Specification);
    let mut found = BTreeSet::new();
    references(&document, &mut found);
    let schemas = document["components"]["schemas"].as_object().expect("there are schemas");
    let there: BTreeSet<String> =
        schemas.keys().map(|name| format!("/components/schemas/{name}")).collect();
    assert_eq!(found, there);
}

/// The text parameters of a call with their schemas: `title`, `tag_list[]`, `variables{}`.
pub fn texts(call: &Value) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    let mut note = |name: &str, schema: &Value| {
        let inner = [("items", "[]"), ("additionalProperties", "{}")];
        let inner = inner.into_iter().find(|(key, _)| schema[*key].is_object());
        let (schema, mark) = inner.map_or((schema, ""), |(key, mark)| (&schema[key], mark));
        // Enumerated texts and texts with a format need no length.
        let free = schema["type"] == "string" && schema["enum"].is_null();
        if free && schema["format"].is_null() {
            found.push((format!("{name}{mark}"), schema.clone()));
        }
    };
    for parameter in call["parameters"].as_array().into_iter().flatten() {
        note(parameter["name"].as_str().expect("a parameter has a name"), &parameter["schema"]);
    }
    let content = call["requestBody"]["content"].as_object();
    if let Some(content) = content.and_then(|content| content.values().next()) {
        for (name, schema) in content["schema"]["properties"].as_object().into_iter().flatten() {
            note(name, schema);
        }
    }
    found
}

#[test]
fn every_text_has_a_longest_length() {
    let document = openapi::document(Dialect::Specification);
    let mut count = 0;
    for (path, calls) in document["paths"].as_object().expect("there are paths") {
        for (method, call) in calls.as_object().expect("there are calls") {
            for (name, schema) in texts(call) {
                assert!(schema["maxLength"].as_u64().is_some(), "{method} {path}: {name}");
                count += 1;
            }
        }
    }
    assert!(count > 200, "{count} texts");
}

/// Section 2.3 of rest_of_v3.md: all fields are demanded of a new snippet, and none of a change.
#[test]
fn a_change_of_a_snippet_demands_no_field() {
    let document = openapi::document(Dialect::Specification);
    let schema = |path: &str, method: &str| {
        let content = &document["paths"][path][method]["requestBody"]["content"];
        let content = content.as_object().and_then(|content| content.values().next());
        content.expect("the call has a body")["schema"].clone()
    };
    let required = |schema: &Value| schema["required"].as_array().map_or(0, Vec::len);
    let new = schema("/api/v3/projects/{id}/snippets", "post");
    assert_eq!(required(&new), 4, "{new}");
    let change = schema("/api/v3/projects/{id}/snippets/{snippet_id}", "put");
    assert_eq!(required(&change), 0, "{change}");
    for (path, method) in [("/api/v3/snippets", "post"), ("/api/v3/snippets/{id}", "put")] {
        let schema = schema(path, method);
        assert_eq!(schema["properties"]["visibility_level"]["type"], "integer", "{schema}");
    }
}
