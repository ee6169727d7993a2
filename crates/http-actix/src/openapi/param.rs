//! The description of parameters in OpenAPI.

use serde_json::{Value, json};

/// A parameter.
#[derive(Clone, Copy)]
pub struct Param {
    name: &'static str,
    kind: Kind,
    pub(super) required: bool,
}

#[derive(Clone, Copy)]
enum Kind {
    Text(usize),
    Integer,
    Boolean,
    Date,
    Moment,
    Integers,
    Texts(usize),
    Map(usize),
    Objects(&'static [&'static str]),
    File,
    OneOf(&'static [&'static str]),
    SomeOf(&'static [&'static str]),
}

const fn param(name: &'static str, kind: Kind) -> Param {
    Param { name, kind, required: false }
}

/// A text of at most `max` characters; see [`limit`](hexforge_domain::text::limit).
pub(crate) const fn text(name: &'static str, max: usize) -> Param {
    param(name, Kind::Text(max))
}

/// A whole number.
pub(crate) const fn integer(name: &'static str) -> Param {
    param(name, Kind::Integer)
}

/// A boolean.
pub(crate) const fn boolean(name: &'static str) -> Param {
    param(name, Kind::Boolean)
}

/// A date.
pub(crate) const fn date(name: &'static str) -> Param {
    param(name, Kind::Date)
}

/// A date with a time.
pub(crate) const fn moment(name: &'static str) -> Param {
    param(name, Kind::Moment)
}

/// A list of whole numbers.
pub(crate) const fn integers(name: &'static str) -> Param {
    param(name, Kind::Integers)
}

/// A list of texts, each of at most `max` characters.
pub(crate) const fn texts(name: &'static str, max: usize) -> Param {
    param(name, Kind::Texts(max))
}

/// Texts by key, each of at most `max` characters.
pub(crate) const fn map(name: &'static str, max: usize) -> Param {
    param(name, Kind::Map(max))
}

/// A list of objects with these members, which are texts.
pub(crate) const fn objects(name: &'static str, members: &'static [&'static str]) -> Param {
    param(name, Kind::Objects(members))
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
pub(crate) const fn several_of(name: &'static str, words: &'static [&'static str]) -> Param {
    param(name, Kind::SomeOf(words))
}

impl Param {
    /// Marks the parameter as required.
    pub(crate) const fn needed(self) -> Self {
        Self { required: true, ..self }
    }

    pub(crate) const fn name(&self) -> &'static str {
        self.name
    }

    /// The words of which the value is one.
    pub(crate) const fn words(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::OneOf(words) | Kind::SomeOf(words) => words,
            _ => &[],
        }
    }

    pub(super) fn is_file(&self) -> bool {
        matches!(self.kind, Kind::File)
    }

    /// The description as a query parameter; `None` if it can only be sent in a body.
    pub(super) fn in_query(&self) -> Option<Value> {
        let name = match self.kind {
            Kind::File | Kind::Map(_) | Kind::Objects(_) => return None,
            Kind::Integers | Kind::Texts(_) | Kind::SomeOf(_) => format!("{}[]", self.name),
            Kind::Text(_)
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
            Kind::Text(max) => string(max),
            Kind::Integer => json!({ "type": "integer", "format": "int64" }),
            Kind::Boolean => json!({ "type": "boolean" }),
            Kind::Date => json!({ "type": "string", "format": "date" }),
            Kind::Moment => json!({ "type": "string", "format": "date-time" }),
            Kind::Integers => json!({ "type": "array", "items": { "type": "integer" } }),
            Kind::Texts(max) => json!({ "type": "array", "items": string(max) }),
            Kind::Map(max) => json!({ "type": "object", "additionalProperties": string(max) }),
            Kind::Objects(members) => {
                let members =
                    members.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" })));
                let members: serde_json::Map<String, Value> = members.collect();
                json!({ "type": "array", "items": { "type": "object", "properties": members } })
            }
            Kind::File => json!({ "type": "string", "format": "binary" }),
            Kind::OneOf(words) => json!({ "type": "string", "enum": words }),
            Kind::SomeOf(words) => {
                json!({ "type": "array", "items": { "type": "string", "enum": words } })
            }
        }
    }
}

/// The schema of a text of at most `max` characters.
pub(super) fn string(max: usize) -> Value {
    json!({ "type": "string", "maxLength": max })
}
