//! Parameters of calls, as they are described.

use serde_json::{Value, json};

/// A parameter.
#[derive(Clone, Copy)]
pub(crate) struct Param {
    pub(super) name: &'static str,
    kind: Kind,
    pub(super) required: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Integer,
    Boolean,
    Date,
    Moment,
    Integers,
    Texts,
    Map,
    File,
    OneOf(&'static [&'static str]),
    SomeOf(&'static [&'static str]),
}

const fn param(name: &'static str, kind: Kind) -> Param {
    Param { name, kind, required: false }
}

/// A text.
pub(crate) const fn text(name: &'static str) -> Param {
    param(name, Kind::Text)
}

/// A whole number.
pub(crate) const fn integer(name: &'static str) -> Param {
    param(name, Kind::Integer)
}

/// A switch.
pub(crate) const fn boolean(name: &'static str) -> Param {
    param(name, Kind::Boolean)
}

/// A day.
pub(crate) const fn date(name: &'static str) -> Param {
    param(name, Kind::Date)
}

/// A day and a time.
pub(crate) const fn moment(name: &'static str) -> Param {
    param(name, Kind::Moment)
}

/// A list of whole numbers.
pub(crate) const fn integers(name: &'static str) -> Param {
    param(name, Kind::Integers)
}

/// A list of texts.
pub(crate) const fn texts(name: &'static str) -> Param {
    param(name, Kind::Texts)
}

/// Texts by name.
pub(crate) const fn map(name: &'static str) -> Param {
    param(name, Kind::Map)
}

/// A file.
pub(crate) const fn file(name: &'static str) -> Param {
    param(name, Kind::File)
}

/// One of these words.
pub(crate) const fn one_of(name: &'static str, words: &'static [&'static str]) -> Param {
    param(name, Kind::OneOf(words))
}

/// Any of these words.
pub(crate) const fn some_of(name: &'static str, words: &'static [&'static str]) -> Param {
    param(name, Kind::SomeOf(words))
}

impl Param {
    /// One that has to be there.
    pub(crate) const fn needed(self) -> Self {
        Self { required: true, ..self }
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.kind, Kind::File)
    }

    /// In the query; `None` for what fits only into a body.
    pub(super) fn in_query(&self) -> Option<Value> {
        let name = match self.kind {
            Kind::File | Kind::Map => return None,
            Kind::Integers | Kind::Texts | Kind::SomeOf(_) => format!("{}[]", self.name),
            Kind::Text
            | Kind::Integer
            | Kind::Boolean
            | Kind::Date
            | Kind::Moment
            | Kind::OneOf(_) => self.name.to_owned(),
        };
        Some(json!({
            "name": name, "in": "query", "required": self.required, "schema": self.schema(),
        }))
    }

    pub(super) fn schema(&self) -> Value {
        match self.kind {
            Kind::Text => json!({ "type": "string" }),
            Kind::Integer => json!({ "type": "integer", "format": "int64" }),
            Kind::Boolean => json!({ "type": "boolean" }),
            Kind::Date => json!({ "type": "string", "format": "date" }),
            Kind::Moment => json!({ "type": "string", "format": "date-time" }),
            Kind::Integers => json!({ "type": "array", "items": { "type": "integer" } }),
            Kind::Texts => json!({ "type": "array", "items": { "type": "string" } }),
            Kind::Map => {
                json!({ "type": "object", "additionalProperties": { "type": "string" } })
            }
            Kind::File => json!({ "type": "string", "format": "binary" }),
            Kind::OneOf(words) => json!({ "type": "string", "enum": words }),
            Kind::SomeOf(words) => {
                json!({ "type": "array", "items": { "type": "string", "enum": words } })
            }
        }
    }
}
