//! The OpenAPI operation of a call.

use actix_web::http::{Method, StatusCode};
use hexforge_domain::text::limit;
use serde_json::{Map, Value, json};

use super::param::{Param, string};
use crate::call::{Answer, Call, Content, Schemas};
use crate::routes::{INTERFACE, RUNNERS};

impl Call {
    /// `/api/v3/users/{id}`.
    pub(super) fn template(&self) -> String {
        let path = self.path();
        // The calls for runners have a prefix of their own.
        if path.starts_with(RUNNERS) { path } else { format!("{INTERFACE}{path}") }
    }

    pub(super) fn into_operation(self, section: &str, schemas: &mut Schemas) -> Value {
        self.add_schemas(schemas);
        let takes = self.takes();
        let in_query = matches!(self.method, Method::GET | Method::DELETE);
        let mut operation = json!({
            "tags": [section],
            "summary": self.summary,
            "operationId": self.id(),
            "parameters": self.parameters(in_query, &takes),
            "responses": self.responses(),
        });
        if let Some(media_type) = self.body {
            let schema = json!({ "type": "string", "format": "binary" });
            operation["requestBody"] = json!({ "content": { media_type: { "schema": schema } } });
        } else if !in_query && !takes.is_empty() {
            operation["requestBody"] = self.request_body(&takes);
        }
        if self.is_open {
            operation["security"] = json!([{}, { "private_token": [] }]);
        }
        operation
    }

    /// `get_users_id`.
    fn id(&self) -> String {
        let (method, path) = (self.method.as_str().to_lowercase(), self.path());
        let words = path.split(['/', '{', '}', '.']).filter(|word| !word.is_empty());
        [method.as_str()].into_iter().chain(words).collect::<Vec<_>>().join("_")
    }

    fn parameters(&self, in_query: bool, takes: &[Param]) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        for name in &self.names_in_path() {
            let (schema, example) = if self.is_number(name) {
                (json!({ "type": "integer", "format": "int64" }), json!(1))
            } else {
                let mut schema = string(longest(name));
                schema["minLength"] = json!(1);
                (schema, json!(example(name)))
            };
            all.push(json!({
                "name": name, "in": "path", "required": true, "schema": schema, "example": example,
            }));
        }
        for name in &self.headers {
            let schema = string(limit::SHORT);
            all.push(json!({ "name": name, "in": "header", "required": false, "schema": schema }));
        }
        if in_query {
            all.extend(takes.iter().filter_map(Param::in_query));
        }
        if let Some(first) = self.first_page {
            for (name, minimum) in [("page", first), ("per_page", 1)] {
                let schema = json!({ "type": "integer", "minimum": minimum });
                all.push(
                    json!({ "name": name, "in": "query", "required": false, "schema": schema }),
                );
            }
        }
        all
    }

    /// Whether a path parameter is a number. Projects and groups can also be named by paths, and some things by texts.
    fn is_number(&self, name: &str) -> bool {
        match name {
            "id" => !["/projects/", "/groups/"].iter().any(|start| self.path().starts_with(start)),
            "label_id" | "forked_from_id" => false,
            name => name.ends_with("id"),
        }
    }

    /// The request body, with the same schema for every accepted content type.
    fn request_body(&self, takes: &[Param]) -> Value {
        let properties: Map<String, Value> =
            takes.iter().map(|param| (param.name().to_owned(), param.schema())).collect();
        let required: Vec<&str> =
            takes.iter().filter(|param| param.required).map(Param::name).collect();
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        let content = json!({ "schema": schema });
        let forms: &[&str] = match takes.iter().any(Param::is_file) {
            true => &["multipart/form-data"],
            false => &["application/json", "application/x-www-form-urlencoded"],
        };
        let content: Map<String, Value> =
            forms.iter().map(|form| ((*form).to_owned(), content.clone())).collect();
        json!({ "required": !required.is_empty(), "content": content })
    }

    fn responses(&self) -> Value {
        let mut all = Map::new();
        for Answer { status, content, may_be_empty } in &self.answers {
            let mut answer = json!({ "description": describe(*status) });
            if *may_be_empty {
                answer["x-may-be-empty"] = json!(true);
            }
            match content {
                Content::Nothing => (),
                Content::Bytes(media_type) => {
                    let schema = json!({ "type": "string", "format": "binary" });
                    answer["content"] = json!({ *media_type: { "schema": schema } });
                }
                Content::One(options) => answer["content"] = json_of(any_of(options)),
                Content::List(options) => {
                    let items = any_of(options);
                    answer["content"] = json_of(json!({ "type": "array", "items": items }));
                }
            }
            all.insert(status.as_str().to_owned(), answer);
        }
        if self.method == Method::GET {
            let known =
                json!({ "description": "The client has this state already (If-None-Match)" });
            all.insert("304".to_owned(), known);
        }
        let error = json!({ "$ref": "#/components/schemas/Error" });
        let error = json!({ "description": "An error", "content": json_of(error) });
        all.insert("default".to_owned(), error);
        Value::Object(all)
    }
}

/// An example value for a path parameter, which exists in most installations.
fn example(name: &str) -> &'static str {
    match name {
        "sha" | "branch" | "ref_name" => "master",
        "tag_name" => "v1",
        "key" => "KEY",
        _ => "1",
    }
}

/// The maximum length of a path parameter. No name is longer.
fn longest(name: &str) -> usize {
    match name {
        "sha" | "branch" | "ref_name" | "tag_name" => limit::REF_NAME,
        // The path of a namespace, a slash, the path of a project.
        "id" => 2 * limit::SHORT + 1,
        _ => limit::SHORT,
    }
}

fn json_of(schema: Value) -> Value {
    json!({ "application/json": { "schema": schema } })
}

fn any_of(options: &[Value]) -> Value {
    match options {
        [one] => one.clone(),
        several => json!({ "anyOf": several }),
    }
}

/// The description of a response with this status.
fn describe(status: StatusCode) -> &'static str {
    match status {
        StatusCode::CREATED => "Created or started",
        StatusCode::NOT_MODIFIED => "Nothing had to be changed",
        StatusCode::NO_CONTENT => "There is no content",
        _ => "Success",
    }
}
