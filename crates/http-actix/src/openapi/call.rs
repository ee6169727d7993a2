//! One call, as it is described.

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

use super::Param;

/// Schemas by name.
type Schemas = BTreeMap<String, Value>;

/// A call in the making: what it is, what it takes, what it answers.
pub(crate) struct Call {
    method: &'static str,
    /// As in endpoints.txt: `/users/:id`.
    path: String,
    about: &'static str,
    takes: Vec<Param>,
    body: Option<&'static str>,
    headers: Vec<&'static str>,
    pages: bool,
    open: bool,
    answers: Vec<Answer>,
    schemas: Schemas,
}

struct Answer {
    status: StatusCode,
    content: Content,
    may_be_empty: bool,
}

enum Content {
    /// Any of these.
    One(Vec<Value>),
    /// A list of any of these.
    List(Vec<Value>),
    Bytes(&'static str),
    Nothing,
}

/// GET.
pub(crate) fn get(path: impl Into<String>, about: &'static str) -> Call {
    Call::new("get", path, about)
}

/// POST.
pub(crate) fn post(path: impl Into<String>, about: &'static str) -> Call {
    Call::new("post", path, about)
}

/// PUT.
pub(crate) fn put(path: impl Into<String>, about: &'static str) -> Call {
    Call::new("put", path, about)
}

/// PATCH.
pub(crate) fn patch(path: impl Into<String>, about: &'static str) -> Call {
    Call::new("patch", path, about)
}

/// DELETE.
pub(crate) fn delete(path: impl Into<String>, about: &'static str) -> Call {
    Call::new("delete", path, about)
}

/// What a call takes.
impl Call {
    fn new(method: &'static str, path: impl Into<String>, about: &'static str) -> Self {
        Self {
            method,
            path: path.into(),
            about,
            takes: Vec::new(),
            body: None,
            headers: Vec::new(),
            pages: false,
            open: false,
            answers: Vec::new(),
            schemas: Schemas::new(),
        }
    }

    /// These parameters: in the query of a call that reads or removes, in the body of others.
    pub(crate) fn takes(mut self, params: &[Param]) -> Self {
        self.takes.extend(params);
        self
    }

    /// A body that is no parameters but bytes of a type.
    pub(crate) fn takes_bytes(mut self, media_type: &'static str) -> Self {
        self.body = Some(media_type);
        self
    }

    /// A header.
    pub(crate) fn takes_header(mut self, name: &'static str) -> Self {
        self.headers.push(name);
        self
    }

    /// The page of what is a list.
    pub(crate) fn paged(mut self) -> Self {
        self.pages = true;
        self
    }

    /// Nobody has to be signed in.
    pub(crate) fn open(mut self) -> Self {
        self.open = true;
        self
    }
}

/// What a call answers.
impl Call {
    /// 200 with one of these.
    pub(crate) fn ok<T: ToSchema>(self) -> Self {
        self.with::<T>(StatusCode::OK)
    }

    /// 201 with one of these.
    pub(crate) fn made<T: ToSchema>(self) -> Self {
        self.with::<T>(StatusCode::CREATED)
    }

    /// The status with one of these.
    pub(crate) fn with<T: ToSchema>(mut self, status: StatusCode) -> Self {
        let schema = self.schema::<T>();
        self.answer(status, Content::One(vec![schema]))
    }

    /// 200 with a page of these.
    pub(crate) fn list<T: ToSchema>(mut self) -> Self {
        let schema = self.schema::<T>();
        self.paged().answer(StatusCode::OK, Content::List(vec![schema]))
    }

    /// The last answer may be, or list, one of these instead.
    pub(crate) fn or<T: ToSchema>(mut self) -> Self {
        let schema = self.schema::<T>();
        self.or_schema(schema)
    }

    /// The last answer may be null instead.
    pub(crate) fn or_null(self) -> Self {
        self.or_schema(json!({ "type": "null" }))
    }

    /// The last answer may be empty instead.
    pub(crate) fn or_empty(mut self) -> Self {
        if let Some(answer) = self.answers.last_mut() {
            answer.may_be_empty = true;
        }
        self
    }

    /// 200 with yes or no.
    pub(crate) fn yes_or_no(self) -> Self {
        self.answer(StatusCode::OK, Content::One(vec![json!({ "type": "boolean" })]))
    }

    /// 200 with something that is described by this.
    pub(crate) fn json(self, schema: Value) -> Self {
        self.answer(StatusCode::OK, Content::One(vec![schema]))
    }

    /// 304 where nothing had to be done.
    pub(crate) fn unchanged(self) -> Self {
        self.answer(StatusCode::NOT_MODIFIED, Content::Nothing)
    }

    /// The status and nothing else.
    pub(crate) fn nothing(self, status: StatusCode) -> Self {
        self.answer(status, Content::Nothing)
    }

    /// 200 with bytes of a type.
    pub(crate) fn bytes(self, media_type: &'static str) -> Self {
        self.answer(StatusCode::OK, Content::Bytes(media_type))
    }

    fn answer(mut self, status: StatusCode, content: Content) -> Self {
        self.answers.push(Answer { status, content, may_be_empty: false });
        self
    }

    fn or_schema(mut self, schema: Value) -> Self {
        if let Some(Answer { content: Content::One(all) | Content::List(all), .. }) =
            self.answers.last_mut()
        {
            all.push(schema);
        }
        self
    }

    /// A reference to the schema of a type, which is kept with all that it refers to.
    fn schema<T: ToSchema>(&mut self) -> Value {
        let mut all = vec![(T::name().into_owned(), T::schema())];
        T::schemas(&mut all);
        for (name, schema) in all {
            self.schemas.insert(name, json!(schema));
        }
        json!({ "$ref": format!("#/components/schemas/{}", T::name()) })
    }
}

/// How a call is written down.
impl Call {
    pub(super) fn method(&self) -> &'static str {
        self.method
    }

    /// `/api/v3/users/{id}`.
    pub(super) fn template(&self) -> String {
        let segments = self.path.split('/').map(|segment| match segment.strip_prefix(':') {
            Some(name) => format!("{{{name}}}"),
            None => segment.to_owned(),
        });
        let path = segments.collect::<Vec<_>>().join("/");
        // What runners call is beside the interface.
        if path.starts_with("/ci/api/") { path } else { format!("/api/v3{path}") }
    }

    pub(super) fn into_operation(mut self, section: &str, schemas: &mut Schemas) -> Value {
        schemas.append(&mut self.schemas);
        let in_query = matches!(self.method, "get" | "delete");
        let mut operation = json!({
            "tags": [section],
            "summary": self.about,
            "operationId": self.id(),
            "parameters": self.parameters(in_query),
            "responses": self.responses(),
        });
        if let Some(media_type) = self.body {
            let schema = json!({ "type": "string", "format": "binary" });
            operation["requestBody"] = json!({ "content": { media_type: { "schema": schema } } });
        } else if !in_query && !self.takes.is_empty() {
            operation["requestBody"] = self.request_body();
        }
        if self.open {
            operation["security"] = json!([{}, { "private_token": [] }]);
        }
        operation
    }

    /// `get_users_id`.
    fn id(&self) -> String {
        let words = self.path.split(['/', ':', '.']).filter(|word| !word.is_empty());
        [self.method].into_iter().chain(words).collect::<Vec<_>>().join("_")
    }

    fn parameters(&self, in_query: bool) -> Vec<Value> {
        let mut all: Vec<Value> = Vec::new();
        for name in self.path.split('/').filter_map(|segment| segment.strip_prefix(':')) {
            let (schema, example) = if self.is_number(name) {
                (json!({ "type": "integer", "format": "int64" }), json!(1))
            } else {
                (json!({ "type": "string", "minLength": 1 }), json!(example(name)))
            };
            all.push(json!({
                "name": name, "in": "path", "required": true, "schema": schema, "example": example,
            }));
        }
        for name in &self.headers {
            let schema = json!({ "type": "string" });
            all.push(json!({ "name": name, "in": "header", "required": false, "schema": schema }));
        }
        if in_query {
            all.extend(self.takes.iter().filter_map(Param::in_query));
        }
        if self.pages {
            for name in ["page", "per_page"] {
                let schema = json!({ "type": "integer", "minimum": 1 });
                all.push(
                    json!({ "name": name, "in": "query", "required": false, "schema": schema }),
                );
            }
        }
        all
    }

    /// Projects and groups are named by numbers or paths, and some other things by texts.
    fn is_number(&self, name: &str) -> bool {
        match name {
            "id" => !self.path.starts_with("/projects/") && !self.path.starts_with("/groups/"),
            "label_id" | "forked_from_id" => false,
            name => name.ends_with("id"),
        }
    }

    /// The same in every form in which parameters come.
    fn request_body(&self) -> Value {
        let properties: Map<String, Value> =
            self.takes.iter().map(|param| (param.name.to_owned(), param.schema())).collect();
        let required: Vec<&str> =
            self.takes.iter().filter(|param| param.required).map(|param| param.name).collect();
        let mut schema = json!({ "type": "object", "properties": properties });
        if !required.is_empty() {
            schema["required"] = json!(required);
        }
        let content = json!({ "schema": schema });
        let forms: &[&str] = match self.takes.iter().any(Param::is_file) {
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
            let mut answer = json!({ "description": about(*status) });
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
        if self.method == "get" {
            let known = json!({ "description": "The caller knows this state (If-None-Match)" });
            all.insert("304".to_owned(), known);
        }
        let error = json!({ "$ref": "#/components/schemas/Error" });
        let error = json!({ "description": "What is wrong", "content": json_of(error) });
        all.insert("default".to_owned(), error);
        Value::Object(all)
    }
}

/// What the first project of an installation may well have.
fn example(name: &str) -> &'static str {
    match name {
        "sha" | "branch" | "ref_name" => "master",
        "tag_name" => "v1",
        "key" => "KEY",
        _ => "1",
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

fn about(status: StatusCode) -> &'static str {
    match status {
        StatusCode::CREATED => "Done",
        StatusCode::NOT_MODIFIED => "There was nothing to do",
        StatusCode::NO_CONTENT => "There is nothing",
        _ => "As asked for",
    }
}
