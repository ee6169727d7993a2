//! One call of the API, declared once: method, path, summary, handler and responses. The parameters follow from the
//! type of the handler. Routing, OpenAPI and `tests/endpoints.txt` are generated from the declaration.

mod calls;
mod takes;

use std::collections::BTreeMap;

use actix_web::http::{Method, StatusCode};
use actix_web::{FromRequest, Handler, Responder, Route, web};
use serde_json::{Value, json};
use utoipa::ToSchema;

pub(crate) use calls::Calls;
pub(crate) use takes::Takes;

use crate::openapi::Param;

/// Schemas by name.
pub(crate) type Schemas = BTreeMap<String, Value>;

/// A call: its route, its parameters and its responses.
pub(crate) struct Call {
    pub(crate) method: Method,
    /// The pattern of the route, such as `/users/{id:[0-9]+}`.
    pattern: String,
    /// More patterns for the same call, which OpenAPI does not show.
    aliases: Vec<&'static str>,
    route: Box<dyn Fn() -> Route>,
    pub(crate) summary: &'static str,
    /// Adds the description of each parameter. Only OpenAPI needs it, not the routes that each thread makes.
    describe: fn(&mut Vec<Param>),
    pub(crate) body: Option<&'static str>,
    pub(crate) headers: Vec<&'static str>,
    /// The number of the first page, if the call takes `page` and `per_page`.
    pub(crate) first_page: Option<u8>,
    pub(crate) is_open: bool,
    pub(crate) answers: Vec<Answer>,
    /// Each adds a schema with all schemas that it refers to.
    schemas: Vec<fn(&mut Schemas)>,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) content: Content,
    pub(crate) may_be_empty: bool,
}

pub(crate) enum Content {
    /// A value with any of these schemas.
    One(Vec<Value>),
    /// A list of values with any of these schemas.
    List(Vec<Value>),
    Bytes(&'static str),
    Nothing,
}

macro_rules! declares {
    ($($(#[$about:meta])* $name:ident: $method:ident;)+) => {$(
        $(#[$about])*
        pub(crate) fn $name<F, Args>(
            path: impl Into<String>,
            summary: &'static str,
            handler: F,
        ) -> Call
        where
            F: Handler<Args, Output: Responder + 'static>,
            Args: FromRequest + Takes + 'static,
        {
            Call::new(Method::$method, path.into(), summary, handler)
        }
    )+};
}

declares! {
    /// Declares a call that reads.
    get: GET;
    /// Declares a call that creates or starts something.
    post: POST;
    /// Declares a call that changes something.
    put: PUT;
    /// Declares a call that adds to something.
    patch: PATCH;
    /// Declares a call that removes something.
    delete: DELETE;
}

/// The declaration of the request.
impl Call {
    fn new<F, Args>(method: Method, pattern: String, summary: &'static str, handler: F) -> Self
    where
        F: Handler<Args, Output: Responder + 'static>,
        Args: FromRequest + Takes + 'static,
    {
        let by_method = method.clone();
        let route = move || web::method(by_method.clone()).to(handler.clone());
        Self {
            method,
            pattern,
            aliases: Vec::new(),
            route: Box::new(route),
            summary,
            describe: Args::describe,
            body: None,
            headers: Vec::new(),
            first_page: None,
            is_open: false,
            answers: Vec::new(),
            schemas: Vec::new(),
        }
    }

    /// Also serves the call under another pattern, which OpenAPI does not show.
    pub(crate) fn also_at(mut self, pattern: &'static str) -> Self {
        self.aliases.push(pattern);
        self
    }

    /// The patterns and the route of the call.
    pub(crate) fn routes(&self) -> impl Iterator<Item = (&str, Route)> {
        let patterns = std::iter::once(self.pattern.as_str()).chain(self.aliases.iter().copied());
        patterns.map(|pattern| (pattern, (self.route)()))
    }

    /// The pattern without regular expressions: `/users/{id}`.
    pub(crate) fn path(&self) -> String {
        let segments = self.pattern.split('/').map(|segment| match segment.split_once(':') {
            Some((name, _)) => format!("{name}}}"),
            None => segment.to_owned(),
        });
        segments.collect::<Vec<_>>().join("/")
    }

    /// The parameters that are not in the path.
    pub(crate) fn takes(&self) -> Vec<Param> {
        let mut takes = Vec::new();
        (self.describe)(&mut takes);
        takes
    }

    /// Adds the schemas of the responses.
    pub(crate) fn add_schemas(&self, to: &mut Schemas) {
        for add in &self.schemas {
            add(to);
        }
    }

    /// The names of the parameters in the path.
    pub(crate) fn names_in_path(&self) -> Vec<String> {
        let path = self.path();
        let names = path.split('/').filter_map(|segment| segment.strip_prefix('{'));
        names.map(|name| name.trim_end_matches('}').to_owned()).collect()
    }

    /// The body is bytes of this media type and has no parameters.
    pub(crate) fn takes_bytes(mut self, media_type: &'static str) -> Self {
        self.body = Some(media_type);
        self
    }

    /// The call reads this header.
    pub(crate) fn takes_header(mut self, name: &'static str) -> Self {
        self.headers.push(name);
        self
    }

    /// The call takes the parameters `page` and `per_page`.
    pub(crate) fn paged(mut self) -> Self {
        self.first_page = Some(1);
        self
    }

    /// Like [`paged`](Self::paged), with pages that are counted from 0.
    pub(crate) fn paged_from_zero(mut self) -> Self {
        self.first_page = Some(0);
        self
    }

    /// Serves callers who are not signed in.
    pub(crate) fn without_sign_in(mut self) -> Self {
        self.is_open = true;
        self
    }
}

/// The declaration of the responses.
impl Call {
    /// 200 with a value of this type.
    pub(crate) fn ok<T: ToSchema>(self) -> Self {
        self.with::<T>(StatusCode::OK)
    }

    /// 201 with a value of this type.
    pub(crate) fn created<T: ToSchema>(self) -> Self {
        self.with::<T>(StatusCode::CREATED)
    }

    /// The status with a value of this type.
    pub(crate) fn with<T: ToSchema>(mut self, status: StatusCode) -> Self {
        let schema = self.schema::<T>();
        self.answer(status, Content::One(vec![schema]))
    }

    /// 200 with a page of values of this type.
    pub(crate) fn list<T: ToSchema>(mut self) -> Self {
        let schema = self.schema::<T>();
        self.paged().answer(StatusCode::OK, Content::List(vec![schema]))
    }

    /// 200 with all values of this type.
    pub(crate) fn whole_list<T: ToSchema>(mut self) -> Self {
        let schema = self.schema::<T>();
        self.answer(StatusCode::OK, Content::List(vec![schema]))
    }

    /// The last response may have, or list, values of this type instead.
    pub(crate) fn or<T: ToSchema>(mut self) -> Self {
        let schema = self.schema::<T>();
        self.or_schema(schema)
    }

    /// The last response may be null instead.
    pub(crate) fn or_null(self) -> Self {
        self.or_schema(json!({ "type": "null" }))
    }

    /// The last response may be empty instead.
    pub(crate) fn or_empty(mut self) -> Self {
        if let Some(answer) = self.answers.last_mut() {
            answer.may_be_empty = true;
        }
        self
    }

    /// 200 with a boolean.
    pub(crate) fn boolean(self) -> Self {
        self.answer(StatusCode::OK, Content::One(vec![json!({ "type": "boolean" })]))
    }

    /// 200 with JSON of this schema.
    pub(crate) fn json(self, schema: Value) -> Self {
        self.answer(StatusCode::OK, Content::One(vec![schema]))
    }

    /// 304 if nothing had to be changed.
    pub(crate) fn unchanged(self) -> Self {
        self.answer(StatusCode::NOT_MODIFIED, Content::Nothing)
    }

    /// The status without a body.
    pub(crate) fn empty(self, status: StatusCode) -> Self {
        self.answer(status, Content::Nothing)
    }

    /// 200 with bytes of this media type.
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

    /// Notes the schema of a type, and returns a reference to it.
    fn schema<T: ToSchema>(&mut self) -> Value {
        self.schemas.push(|schemas| {
            let mut all = vec![(T::name().into_owned(), T::schema())];
            T::schemas(&mut all);
            schemas.extend(all.into_iter().map(|(name, schema)| (name, json!(schema))));
        });
        json!({ "$ref": format!("#/components/schemas/{}", T::name()) })
    }
}
