//! One call, as it is described.

use std::collections::BTreeMap;

use actix_web::http::StatusCode;
use serde_json::{Value, json};
use utoipa::ToSchema;

use super::Param;

/// Schemas by name.
pub(super) type Schemas = BTreeMap<String, Value>;

/// A call in the making: what it is, what it takes, what it answers.
pub(crate) struct Call {
    pub(super) method: &'static str,
    /// As in endpoints.txt: `/users/:id`.
    pub(super) path: String,
    pub(super) about: &'static str,
    pub(super) takes: Vec<Param>,
    pub(super) body: Option<&'static str>,
    pub(super) headers: Vec<&'static str>,
    pub(super) pages: bool,
    pub(super) open: bool,
    pub(super) answers: Vec<Answer>,
    pub(super) schemas: Schemas,
}

pub(super) struct Answer {
    pub(super) status: StatusCode,
    pub(super) content: Content,
    pub(super) may_be_empty: bool,
}

pub(super) enum Content {
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
