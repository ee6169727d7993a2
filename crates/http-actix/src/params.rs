//! The parameters of a call: query, form, multipart and JSON body as one flat set.

pub mod actions;
mod body;
mod credentials;
pub mod declared;
mod encoded;
mod file;
mod form;
pub(crate) mod json;
pub(crate) mod lenient_base64;
mod long_text;
mod moment;
mod parameter;
pub mod picked;
mod reader;
mod stream;

pub(crate) use body::too_large;
pub use body::{BodyUse, WantedFile};
pub use credentials::{basic, credentials};
pub(crate) use file::too_slow;
pub use file::{FilePart, MaxSize, SizeLimit};
pub(crate) use long_text::LongText;
pub(crate) use parameter::parameters;
pub use parameter::{Parameter, Parameters, nested};
pub use reader::Reader;
pub use stream::BodyStream;

use std::borrow::Cow;
use std::collections::HashMap;

use actix_web::HttpRequest;
use actix_web::dev::Payload;
use actix_web::http::StatusCode;
use hexforge_domain::text::{limit, parse_boolean, within};
use serde_json::Value;

use crate::dialect::Dialect;
use crate::error::{ApiError, ApiResult};
use crate::shared::Shared;

/// The maximum number of parameters. No legitimate call has more, and each costs memory.
const MAX_PARAMS: usize = 1000;

/// All parameters of a call by name. If one is given several times, the last one counts, and the body takes precedence
/// over the query. Unknown parameters are ignored.
///
/// Methods that return an `ApiResult` read picked parameters, see [`picked`].
#[derive(Default)]
pub struct Params {
    values: HashMap<String, Value>,
    query: Vec<(String, String)>,
}

impl Params {
    /// Reads the query and the body. If the call takes a file, reads the body only up to it.
    pub async fn read(
        request: &HttpRequest,
        payload: Payload,
        shared: &Shared,
        body: BodyUse,
    ) -> ApiResult<(Self, Option<FilePart>)> {
        let Self { mut values, query } = Self::of_query(request)?;
        let file = body::read(request, payload, shared, body, &mut values).await?;
        Ok((Self { values, query }, file))
    }

    /// Reads the query only, for calls whose body has no parameters.
    pub fn of_query(request: &HttpRequest) -> ApiResult<Self> {
        let query = encoded::pairs(request.query_string().as_bytes())?;
        let mut values = HashMap::new();
        for (name, value) in &query {
            encoded::insert(&mut values, name, value.clone());
        }
        Ok(Self { values, query })
    }

    /// The same with the members of a JSON object, which take precedence.
    /// # Errors
    /// The text is not a JSON object.
    pub(crate) fn with_json(&self, object: &[u8]) -> ApiResult<Self> {
        let mut values = self.values.clone();
        body::read_json(object, &mut values)?;
        Ok(Self { values, query: self.query.clone() })
    }

    /// The same with the fields of a form, which take precedence.
    /// # Errors
    /// The form is invalid.
    pub(crate) fn with_form(&self, form: &[u8]) -> ApiResult<Self> {
        let mut values = self.values.clone();
        body::read_form(form, &mut values)?;
        Ok(Self { values, query: self.query.clone() })
    }

    /// The same with this text.
    pub(crate) fn with_text(mut self, name: &str, text: String) -> Self {
        self.values.insert(name.to_owned(), Value::String(text));
        self
    }

    /// Whether the request has the parameter, even without a value.
    pub fn has(&self, name: &str) -> bool {
        self.values.contains_key(name)
    }

    /// The value of a parameter in its JSON type. Parameters of a query or form are texts.
    pub(crate) fn value(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The pairs of the query, in their order.
    pub fn query_pairs(&self) -> impl Iterator<Item = (&str, &str)> {
        self.query.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// A text; a blank one counts as not given.
    /// # Errors
    /// The value is a list or an object.
    pub fn text(&self, name: &str) -> ApiResult<Option<String>> {
        let text = self.scalar(name)?.map(Cow::into_owned);
        Ok(text.filter(|text| !text.trim().is_empty()))
    }

    /// A text to search for; a blank one counts as not given.
    /// # Errors
    /// The value is a list or an object, or longer than every stored name.
    pub fn search(&self, name: &str) -> ApiResult<Option<String>> {
        let text = self.text(name)?;
        if let Some(text) = &text {
            check_search(name, text)?;
        }
        Ok(text)
    }

    /// A text that may be empty; null counts as not given.
    /// # Errors
    /// The value is a list or an object.
    pub fn possibly_empty_text(&self, name: &str) -> ApiResult<Option<String>> {
        Ok(self.scalar(name)?.map(Cow::into_owned))
    }

    /// A text that may be empty and may contain every character, NUL included; null counts as not given.
    /// # Errors
    /// The value is a list or an object.
    pub fn content(&self, name: &str) -> ApiResult<Option<String>> {
        match self.values.get(name) {
            Some(Value::String(text)) => Ok(Some(text.clone())),
            _ => self.possibly_empty_text(name),
        }
    }

    /// A date with a time in ISO 8601. Another text is an error.
    pub fn timestamp(&self, name: &str) -> ApiResult<Option<hexforge_domain::Timestamp>> {
        let Some(text) = self.text(name)? else { return Ok(None) };
        let refused = || {
            let form = "YYYY-MM-DDTHH:MM:SSZ";
            let text = format!("\"{name}\" must be a timestamp in ISO 8601 format: {form}");
            ApiError::message(StatusCode::BAD_REQUEST, text)
        };
        moment::timestamp(&text).map(Some).ok_or_else(refused)
    }

    /// A date with a time. Another text is an error.
    pub fn moment(&self, name: &str) -> ApiResult<Option<hexforge_domain::Timestamp>> {
        match self.text(name)? {
            None => Ok(None),
            Some(text) => moment::moment(&text).map(Some).ok_or_else(|| invalid(name)),
        }
    }

    /// A boolean; another text counts as not given.
    pub fn switch(&self, name: &str) -> ApiResult<Option<bool>> {
        Ok(self.scalar(name)?.and_then(|text| parse_boolean(&text)))
    }

    /// A boolean; another text counts as `false`.
    pub fn switch_or_false(&self, name: &str) -> ApiResult<Option<bool>> {
        Ok(self.text(name)?.map(|text| parse_boolean(&text).unwrap_or(false)))
    }

    /// A date. Another text is an error.
    pub fn day(&self, name: &str) -> ApiResult<Option<chrono::NaiveDate>> {
        match self.text(name)? {
            None => Ok(None),
            Some(text) => moment::date(&text).map(Some).ok_or_else(|| invalid(name)),
        }
    }

    /// A whole number; another text becomes 0, which is the id of nothing.
    pub fn number(&self, name: &str) -> ApiResult<Option<i64>> {
        Ok(self.text(name)?.map(|text| text.trim().parse().unwrap_or(0)))
    }

    /// A text; a blank one and values of other types count as not given.
    pub(crate) fn lenient_text(&self, name: &str) -> Option<Cow<'_, str>> {
        self.scalar(name).ok().flatten().filter(|text| !text.trim().is_empty())
    }

    /// A value of any type as text, for parameters that must not be ignored, such as tokens; a blank one counts as not
    /// given.
    pub(crate) fn any_text(&self, name: &str) -> Option<String> {
        let text = match self.values.get(name)? {
            Value::Null => return None,
            Value::String(text) => text.replace('\0', "\u{fffd}"),
            other => other.to_string(),
        };
        let text = text.trim();
        (!text.is_empty()).then(|| text.to_owned())
    }

    /// Texts by key, given as `name[key]=text` or as an object, in the order of the keys; `None` if the value is
    /// something else.
    pub fn text_map(&self, name: &str) -> Option<Vec<(String, String)>> {
        let mut map = std::collections::BTreeMap::new();
        match self.values.get(name) {
            None | Some(Value::Null) => (),
            Some(Value::Object(given)) => {
                for (key, value) in given {
                    map.insert(key.clone(), value.as_str()?.to_owned());
                }
            }
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                return None;
            }
        }
        for (given, value) in &self.values {
            let key = given.strip_prefix(name).and_then(|rest| rest.strip_prefix('['));
            if let Some(key) = key.and_then(|rest| rest.strip_suffix(']')) {
                map.insert(key.to_owned(), value.as_str()?.to_owned());
            }
        }
        Some(map.into_iter().collect())
    }

    /// Like [`text_map`](Self::text_map), without the members that are not texts.
    pub fn lenient_text_map(&self, name: &str) -> Vec<(String, String)> {
        let mut map = std::collections::BTreeMap::new();
        if let Some(Value::Object(given)) = self.values.get(name) {
            let texts = given.iter().filter_map(|(key, value)| Some((key, value.as_str()?)));
            map.extend(texts.map(|(key, text)| (key.clone(), text.to_owned())));
        }
        for (given, value) in &self.values {
            let key = given.strip_prefix(name).and_then(|rest| rest.strip_prefix('['));
            let key = key.and_then(|rest| rest.strip_suffix(']'));
            if let (Some(key), Some(text)) = (key, value.as_str()) {
                map.insert(key.to_owned(), text.to_owned());
            }
        }
        map.into_iter().collect()
    }

    /// Words, given as a list or as one text with commas; blank words are left out.
    pub fn words(&self, name: &str) -> ApiResult<Vec<String>> {
        let words = match self.values.get(name) {
            Some(Value::Array(items)) => {
                let texts = items.iter().map(|item| item.as_str().map(str::to_owned));
                texts.collect::<Option<Vec<_>>>().ok_or_else(|| invalid(name))?
            }
            _ => {
                let text = self.scalar(name)?.unwrap_or_default();
                text.split(',').map(str::to_owned).collect()
            }
        };
        let words = words.iter().map(|word| word.trim());
        Ok(words.filter(|word| !word.is_empty()).map(str::to_owned).collect())
    }

    /// Reads parameters by their declaration.
    /// # Errors
    /// The parameters are invalid.
    pub fn read_declared<P: Parameters>(
        &self,
        in_path: &HashMap<String, String>,
        dialect: Dialect,
    ) -> ApiResult<P> {
        let mut reader = Reader::new(self, in_path, dialect);
        let read = P::read(&mut reader);
        reader.finish()?;
        Ok(read)
    }

    /// A single value as text; null counts as not given.
    fn scalar(&self, name: &str) -> ApiResult<Option<Cow<'_, str>>> {
        let text = match self.values.get(name) {
            None if self.has_member_of(name) => return Err(invalid(name)),
            None | Some(Value::Null) => return Ok(None),
            Some(Value::String(text)) => Cow::Borrowed(text.as_str()),
            Some(Value::Bool(value)) => Cow::Borrowed(if *value { "true" } else { "false" }),
            Some(Value::Number(number)) => Cow::Owned(number.to_string()),
            Some(Value::Array(_) | Value::Object(_)) => return Err(invalid(name)),
        };
        // PostgreSQL cannot store NUL characters.
        if text.contains('\0') { Err(invalid(name)) } else { Ok(Some(text)) }
    }

    /// Whether a query or form gives the parameter as an object, `name[key]=value`. An object that were ignored in the
    /// place of a filter would make a call act on everything.
    fn has_member_of(&self, name: &str) -> bool {
        let is_member = |given: &String| {
            given
                .strip_prefix(name)
                .is_some_and(|rest| rest.starts_with('[') && rest.ends_with(']'))
        };
        self.values.keys().any(is_member)
    }
}

/// Checks the length of a text to search for.
/// # Errors
/// The text is too long.
pub fn check_search(name: &str, text: &str) -> ApiResult<()> {
    within(text, limit::SHORT).map_err(|error| ApiError::bad_request(format!("{name} {error}")))
}

fn invalid(name: &str) -> ApiError {
    ApiError::bad_request(format!("{name} is invalid"))
}

fn too_many() -> ApiError {
    ApiError::bad_request(format!("too many parameters (maximum is {MAX_PARAMS})"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn params(values: Value) -> Params {
        let Value::Object(values) = values else { panic!("an object") };
        Params { values: values.into_iter().collect(), query: vec![] }
    }

    #[test]
    fn a_member_of_an_object_is_no_single_value() {
        let params = params(json!({"type[a]": "x", "typed": "y", "other[": "z"}));
        assert!(params.text("type").is_err());
        for name in ["typ", "typed[a", "other", "missing"] {
            assert_eq!(params.text(name).expect("not given"), None, "{name}");
        }
    }

    #[test]
    fn blank_texts_count_as_not_given() {
        let params = params(json!({"a": "", "b": "  ", "c": null, "d": " x ", "e": 7, "f": false}));
        let text = |name| params.text(name).expect("a scalar");
        assert_eq!((text("a"), text("b"), text("c"), text("missing")), (None, None, None, None));
        assert_eq!(text("d").as_deref(), Some(" x "));
        assert_eq!(text("e").as_deref(), Some("7"));
        assert_eq!(text("f").as_deref(), Some("false"));
    }

    #[test]
    fn structures_and_nul_bytes_are_no_texts() {
        let params = params(json!({"a": ["x"], "b": {"x": 1}, "c": "x\u{0}y"}));
        for name in ["a", "b", "c"] {
            let error = params.text(name).expect_err("no text");
            assert_eq!(
                error.to_string(),
                format!("400 Bad Request {{\"error\":\"{name} is invalid\"}}")
            );
        }
    }
}
