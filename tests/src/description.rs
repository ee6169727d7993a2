//! Compares responses with the OpenAPI document. A response must have all required properties, no property that the
//! document does not describe, and no undocumented status below 400.

use std::collections::HashMap;
use std::sync::OnceLock;

use hexforge_http_actix::{Dialect, openapi};
use serde_json::Value;

use crate::client::Response;

/// Panics unless the OpenAPI document of at least one dialect allows the response.
#[track_caller]
pub fn check(method: &str, target: &str, answer: &Response) {
    // Malformed HTTP is refused before routing, so the document does not describe it.
    if answer.status == 400 && answer.body.is_empty() && answer.header("x-request-id").is_none() {
        return;
    }
    let [specification, original] = documents();
    let Some(problem) = specification.problem(method, target, answer) else { return };
    assert!(
        original.problem(method, target, answer).is_none(),
        "the response to {method} {target} differs from the OpenAPI document: {problem}\n{} {}",
        answer.status,
        String::from_utf8_lossy(&answer.body)
    );
}

fn documents() -> &'static [ApiDocument; 2] {
    static DOCUMENTS: OnceLock<[ApiDocument; 2]> = OnceLock::new();
    DOCUMENTS.get_or_init(|| [Dialect::Specification, Dialect::Original].map(ApiDocument::new))
}

struct ApiDocument {
    document: Value,
    routes: Vec<Route>,
}

struct Route {
    method: String,
    template: String,
    segments: Vec<Segment>,
}

enum Segment {
    Literal(String),
    Parameter,
    /// One or more segments, because names of branches and tags may contain slashes.
    Parameters,
}

impl ApiDocument {
    fn new(dialect: Dialect) -> Self {
        let document = openapi::document(dialect);
        let paths = document["paths"].as_object().expect("there are paths");
        let mut routes: Vec<Route> = paths
            .iter()
            .flat_map(|(path, calls)| {
                let methods = calls.as_object().expect("there are calls").keys();
                methods.map(|method| Route::new(&method.to_uppercase(), path))
            })
            .collect();
        // Routes with literal segments come before routes with parameters.
        routes.sort_by_key(|route| {
            let literal = |segment: &Segment| matches!(segment, Segment::Literal(_));
            route.segments.iter().map(|segment| !literal(segment)).collect::<Vec<_>>()
        });
        Self { document, routes }
    }

    /// Describes how a response differs from the document. Returns `None` if it conforms or if the path is not in the
    /// document.
    fn problem(&self, method: &str, target: &str, answer: &Response) -> Option<String> {
        let path = target.split(['?', '#']).next().unwrap_or_default();
        let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
        let fits = |route: &&Route| route.method == method && matches(&route.segments, &segments);
        let route = self.routes.iter().find(fits)?;
        let operation = &self.document["paths"][&route.template][method.to_lowercase()];
        let responses = operation["responses"].as_object().expect("there are answers");
        let status = answer.status.to_string();
        let response = match responses.get(&status) {
            Some(response) => response,
            None if answer.status < 400 => {
                return Some(format!("status {status} is not documented"));
            }
            None => &responses["default"],
        };
        let is_json = answer.header("content-type") == Some("application/json");
        match &response["content"]["application/json"]["schema"] {
            Value::Null if is_json => {
                Some(format!("the document has no JSON body for status {status}"))
            }
            Value::Null => None,
            _ if answer.body.is_empty() && response["x-may-be-empty"] == true => None,
            // Compressed bodies are not compared; one test requests them.
            _ if answer.header("content-encoding").is_some() => None,
            schema if is_json => {
                let body: Value = serde_json::from_slice(&answer.body).expect("JSON is JSON");
                self.compare(schema, &body, "").err()
            }
            _ => Some(format!("the document has a JSON body for status {status}")),
        }
    }

    fn compare(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let schema = self.resolved(schema);
        for key in ["anyOf", "oneOf"] {
            // Beside a `type`, these options only say which properties are required.
            let Some(options) = schema[key].as_array() else { continue };
            if schema.get("type").is_some() {
                continue;
            }
            let tried = options.iter().map(|option| self.compare(option, value, at));
            let problems: Vec<String> = tried.filter_map(Result::err).collect();
            return match problems.len() < options.len() {
                true => Ok(()),
                false => Err(problems.join("; or ")),
            };
        }
        if let Some(words) = schema["enum"].as_array()
            && !words.contains(value)
        {
            return Err(format!("{at} is {value}"));
        }
        let kinds: Vec<&str> = match &schema["type"] {
            Value::String(kind) => vec![kind],
            Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).collect(),
            _ if schema.get("allOf").is_some() => vec!["object"],
            _ => return Ok(()),
        };
        match kind_of(value, &kinds) {
            None => Err(format!("{at} is {value}, expected a type of {kinds:?}")),
            Some("object") => self.compare_object(schema, value, at),
            Some("array") => {
                let mut items = value.as_array().into_iter().flatten().enumerate();
                items.try_for_each(|(n, item)| {
                    self.compare(&schema["items"], item, &format!("{at}/{n}"))
                })
            }
            Some(_) if schema["format"] == "date-time" && value.is_string() => {
                let text = value.as_str().unwrap_or_default();
                let moment = chrono::DateTime::parse_from_rfc3339(text);
                moment.map(drop).map_err(|_| format!("{at} is {value}, expected a date and time"))
            }
            Some(_) => Ok(()),
        }
    }

    fn compare_object(&self, schema: &Value, value: &Value, at: &str) -> Result<(), String> {
        let (mut properties, mut required) = (HashMap::new(), Vec::new());
        self.collect(schema, &mut properties, &mut required);
        let value = value.as_object().expect("it is an object");
        if let Some(missing) = required.iter().find(|name| !value.contains_key(**name)) {
            return Err(format!("{at}/{missing} is missing"));
        }
        let others = &schema["additionalProperties"];
        // A schema that lists no properties allows any.
        let is_open = properties.is_empty() && others.is_null();
        for (name, value) in value {
            let at = format!("{at}/{name}");
            match properties.get(name.as_str()) {
                Some(property) => self.compare(property, value, &at)?,
                None if is_open => (),
                None if others.is_object() => self.compare(others, value, &at)?,
                None => return Err(format!("{at} is not described")),
            }
        }
        Ok(())
    }

    /// Collects all properties and the names of the required ones, from all parts of an `allOf`.
    fn collect<'a>(
        &'a self,
        schema: &'a Value,
        properties: &mut HashMap<&'a str, &'a Value>,
        required: &mut Vec<&'a str>,
    ) {
        let schema = self.resolved(schema);
        for part in schema["allOf"].as_array().into_iter().flatten() {
            self.collect(part, properties, required);
        }
        if let Some(own) = schema["properties"].as_object() {
            properties.extend(own.iter().map(|(name, schema)| (name.as_str(), schema)));
        }
        let own = schema["required"].as_array().into_iter().flatten();
        required.extend(own.filter_map(Value::as_str));
    }

    fn resolved<'a>(&'a self, schema: &'a Value) -> &'a Value {
        match schema["$ref"].as_str() {
            Some(reference) => {
                let place = reference.trim_start_matches('#');
                self.document.pointer(place).unwrap_or_else(|| panic!("there is no {reference}"))
            }
            None => schema,
        }
    }
}

impl Route {
    fn new(method: &str, template: &str) -> Self {
        let segments = template.split('/').filter(|segment| !segment.is_empty());
        let segments = segments.map(|segment| match segment {
            "{branch}" | "{tag_name}" | "{ref_name}" => Segment::Parameters,
            segment if segment.starts_with('{') => Segment::Parameter,
            literal => Segment::Literal(literal.to_owned()),
        });
        let segments = segments.collect();
        Self { method: method.to_owned(), template: template.to_owned(), segments }
    }
}

fn matches(pattern: &[Segment], path: &[&str]) -> bool {
    match (pattern, path) {
        ([], []) => true,
        ([Segment::Parameters, rest @ ..], [_, path @ ..]) => {
            matches(rest, path) || matches(pattern, path)
        }
        ([Segment::Parameter, rest @ ..], [_, path @ ..]) => matches(rest, path),
        ([Segment::Literal(word), rest @ ..], [first, path @ ..]) => {
            word == first && matches(rest, path)
        }
        ([], _) | (_, []) => false,
    }
}

/// The first of these JSON types that the value has.
fn kind_of<'a>(value: &Value, kinds: &[&'a str]) -> Option<&'a str> {
    let is = |kind: &str| match kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        _ => false,
    };
    kinds.iter().copied().find(|kind| is(kind))
}
