//! One call of the interface, declared once: method, path, summary, handler and answers. The parameters follow from
//! the type of the handler. Routing, OpenAPI and `tests/endpoints.txt` follow from the declaration.

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

/// A call: its route, what it takes and what it answers.
pub(crate) struct Call {
    pub(crate) method: Method,
    /// The pattern of the route, such as `/users/{id:[0-9]+}`.
    pattern: String,
    /// More patterns for the same call, which the description does not show.
    aliases: Vec<&'static str>,
    route: Box<dyn Fn() -> Route>,
    pub(crate) summary: &'static str,
    pub(crate) takes: Vec<Param>,
    pub(crate) body: Option<&'static str>,
    pub(crate) headers: Vec<&'static str>,
    pub(crate) pages: bool,
    pub(crate) open: bool,
    pub(crate) answers: Vec<Answer>,
    pub(crate) schemas: Schemas,
}

pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) content: Content,
    pub(crate) may_be_empty: bool,
}

pub(crate) enum Content {
    /// Any of these.
    One(Vec<Value>),
    /// A list of any of these.
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
    /// Declares a call that makes or starts something.
    post: POST;
    /// Declares a call that changes something.
    put: PUT;
    /// Declares a call that adds to something.
    patch: PATCH;
    /// Declares a call that removes something.
    delete: DELETE;
}

/// The request of a call.
impl Call {
    fn new<F, Args>(method: Method, pattern: String, summary: &'static str, handler: F) -> Self
    where
        F: Handler<Args, Output: Responder + 'static>,
        Args: FromRequest + Takes + 'static,
    {
        let mut takes = Vec::new();
        Args::describe(&mut takes);
        let by_method = method.clone();
        let route = move || web::method(by_method.clone()).to(handler.clone());
        Self {
            method,
            pattern,
            aliases: Vec::new(),
            route: Box::new(route),
            summary,
            takes,
            body: None,
            headers: Vec::new(),
            pages: false,
            open: false,
            answers: Vec::new(),
            schemas: Schemas::new(),
        }
    }

    /// Serves the call under another pattern too, which the description does not show.
    pub(crate) fn also_at(mut self, pattern: &'static str) -> Self {
        self.aliases.push(pattern);
        self
    }

    /// The patterns and the route of the call.
    pub(crate) fn routes(&self) -> impl Iterator<Item = (&str, Route)> {
        let patterns = std::iter::once(self.pattern.as_str()).chain(self.aliases.iter().copied());
        patterns.map(|pattern| (pattern, (self.route)()))
    }

    /// The pattern without expressions: `/users/{id}`.
    pub(crate) fn path(&self) -> String {
        let segments = self.pattern.split('/').map(|segment| match segment.split_once(':') {
            Some((name, _)) => format!("{name}}}"),
            None => segment.to_owned(),
        });
        segments.collect::<Vec<_>>().join("/")
    }

    /// The names in the path.
    pub(crate) fn names_in_path(&self) -> Vec<String> {
        let path = self.path();
        let names = path.split('/').filter_map(|segment| segment.strip_prefix('{'));
        names.map(|name| name.trim_end_matches('}').to_owned()).collect()
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

    /// Serves callers who are not signed in.
    pub(crate) fn open(mut self) -> Self {
        self.open = true;
        self
    }
}

/// The answers of a call.
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
