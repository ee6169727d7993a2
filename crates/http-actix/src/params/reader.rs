//! Reads the parameters of one call by their rules, and collects the errors.

use std::collections::HashMap;
use std::num::{IntErrorKind, ParseIntError};

use chrono::NaiveDate;
use hexforge_application::commit::Action;
use hexforge_domain::Timestamp;
use hexforge_domain::application_settings::rule::SettingInput;
use hexforge_domain::text::{limit, parse_boolean, within};
use serde_json::Value;

use super::moment::{date, moment};
use super::{Params, actions};
use crate::dialect::Dialect;
use crate::error::{ApiError, ApiResult};

/// The parameters of a call and of its path, and the errors that were found in them.
pub struct Reader<'a> {
    params: &'a Params,
    in_path: &'a HashMap<String, String>,
    dialect: Dialect,
    /// Problems of declared parameters, in the order of declaration.
    problems: Vec<String>,
    /// The first error of a picked parameter, if no problem was found before it.
    error: Option<ApiError>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(
        params: &'a Params,
        in_path: &'a HashMap<String, String>,
        dialect: Dialect,
    ) -> Self {
        Self { params, in_path, dialect, problems: Vec::new(), error: None }
    }

    /// Ends the reading.
    /// # Errors
    /// All problems of declared parameters, or the first error of a picked one.
    pub(super) fn finish(self) -> ApiResult<()> {
        match self.error {
            Some(error) => Err(error),
            None if self.problems.is_empty() => Ok(()),
            None => Err(ApiError::bad_request(self.problems.join(", "))),
        }
    }

    /// The dialect in which the call is answered.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Whether the request has the parameter, even without a value.
    pub fn has(&self, name: &str) -> bool {
        self.params.has(name)
    }

    /// The value of a parameter in its JSON type. Parameters of a query or form are texts.
    pub fn value(&self, name: &str) -> Option<&'a Value> {
        self.params.value(name)
    }

    /// Requires at least one of these parameters.
    pub fn at_least_one(&mut self, names: &[&str]) {
        if !names.iter().any(|name| self.params.has(name)) {
            self.problems.push(format!(
                "{} are missing, at least one parameter must be provided",
                names.join(", ")
            ));
        }
    }

    /// Rejects the request with this error, unless another one was found before.
    pub fn refuse(&mut self, error: ApiError) {
        if self.problems.is_empty() {
            self.error.get_or_insert(error);
        }
    }

    pub(super) fn params(&self) -> &'a Params {
        self.params
    }

    /// Whether the request has the parameter with a value other than null.
    pub(super) fn has_value(&mut self, name: &str) -> bool {
        self.pick(|params| params.possibly_empty_text(name)).is_some()
    }

    /// Reads a picked parameter; the first error counts.
    pub(super) fn pick<T: Default>(&mut self, value: impl FnOnce(&Params) -> ApiResult<T>) -> T {
        value(self.params).unwrap_or_else(|error| {
            self.refuse(error);
            T::default()
        })
    }

    /// Requires this parameter; it may be empty.
    pub fn require(&mut self, name: &str) {
        if !self.params.has(name) {
            self.problems.push(format!("{name} is missing"));
        }
    }

    pub(super) fn text(&mut self, name: &str) -> Option<String> {
        match self.params.scalar(name) {
            Ok(text) => text.map(std::borrow::Cow::into_owned),
            Err(_) => self.invalid(name),
        }
    }

    pub(super) fn content(&mut self, name: &str) -> Option<String> {
        match self.params.content(name) {
            Ok(text) => text,
            Err(_) => self.invalid(name),
        }
    }

    pub(super) fn search(&mut self, name: &str) -> Option<String> {
        let text = self.nonempty_text(name)?;
        match within(&text, limit::SHORT) {
            Ok(()) => Some(text),
            Err(error) => {
                self.problems.push(format!("{name} {error}"));
                None
            }
        }
    }

    pub(super) fn date(&mut self, name: &str) -> Option<NaiveDate> {
        let text = self.nonempty_text(name)?;
        date(&text).or_else(|| self.invalid(name))
    }

    pub(super) fn moment(&mut self, name: &str) -> Option<Timestamp> {
        let text = self.nonempty_text(name)?;
        moment(&text).or_else(|| self.invalid(name))
    }

    pub(super) fn integer(&mut self, name: &str) -> Option<i64> {
        let text = self.nonempty_text(name)?;
        integer(&text).or_else(|| self.invalid(name))
    }

    pub(super) fn integer_in_path(&mut self, name: &str) -> i64 {
        let text = self.in_path.get(name).map_or("", String::as_str);
        integer(text).or_else(|| self.invalid(name)).unwrap_or_default()
    }

    pub(super) fn commit_in_path(&mut self, name: &str) -> String {
        let text = self.in_path.get(name).map_or("", String::as_str);
        let is_id = (6..=40).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit());
        let id = if is_id { Some(text.to_owned()) } else { self.invalid(name) };
        id.unwrap_or_default()
    }

    pub(super) fn boolean(&mut self, name: &str) -> Option<bool> {
        let text = self.nonempty_text(name)?;
        parse_boolean(&text).or_else(|| self.invalid(name))
    }

    pub(super) fn one_of(&mut self, name: &str, words: &[&'static str]) -> Option<&'static str> {
        let text = self.text(name)?;
        let found = words.iter().find(|word| **word == text).copied();
        found.or_else(|| self.no_such_word(name))
    }

    pub(super) fn several_of(
        &mut self,
        name: &str,
        words: &[&'static str],
    ) -> Option<Vec<&'static str>> {
        let known = |text: &str| words.iter().find(|word| **word == text).copied();
        let found = match self.params.values.get(name)? {
            Value::Null => return None,
            Value::String(text) => known(text).map(|word| vec![word]),
            Value::Array(items) => items.iter().map(|item| item.as_str().and_then(known)).collect(),
            Value::Bool(_) | Value::Number(_) | Value::Object(_) => None,
        };
        found.or_else(|| self.no_such_word(name))
    }

    pub(super) fn integers(&mut self, name: &str) -> Option<Vec<i64>> {
        match self.params.values.get(name)? {
            Value::Null => None,
            Value::Array(items) => {
                let numbers: Option<Vec<i64>> = items
                    .iter()
                    .map(|item| match item {
                        Value::String(text) => integer(text),
                        item => item.as_i64(),
                    })
                    .collect();
                numbers.or_else(|| self.invalid(name))
            }
            Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
                self.invalid(name)
            }
        }
    }

    pub(super) fn one_or_more_integers(&mut self, name: &str) -> Option<Vec<i64>> {
        match self.params.values.get(name)? {
            Value::Array(_) => self.integers(name),
            _ => self.integer(name).map(|number| vec![number]),
        }
    }

    pub(super) fn text_map(&mut self, name: &str) -> Option<Vec<(String, String)>> {
        match self.params.values.get(name) {
            None | Some(Value::Null | Value::Object(_)) => self.params.text_map(name),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Array(_)) => {
                self.invalid(name)
            }
        }
    }

    /// The value of a setting of the service; null and a blank text count as not given.
    pub(crate) fn setting(&self, name: &str) -> Option<SettingInput> {
        let scalar = |value: &Value| match value {
            Value::String(text) if text.contains('\0') => None,
            Value::String(text) => Some(text.clone()),
            Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
            Value::Null => Some(String::new()),
            Value::Array(_) | Value::Object(_) => None,
        };
        let value = self.params.values.get(name)?;
        let input = match value {
            Value::Array(items) => {
                items.iter().map(scalar).collect::<Option<_>>().map(SettingInput::List)
            }
            _ => match scalar(value) {
                Some(text) if text.trim().is_empty() => return None,
                text => text.map(SettingInput::Text),
            },
        };
        Some(input.unwrap_or(SettingInput::Other))
    }

    pub(super) fn actions(&mut self, name: &str) -> Option<Vec<Action>> {
        let given = self.params.values.get(name)?;
        actions::parse(given).or_else(|| self.invalid(name))
    }

    /// A text; an empty one counts as not given.
    fn nonempty_text(&mut self, name: &str) -> Option<String> {
        self.text(name).filter(|text| !text.is_empty())
    }

    fn invalid<T>(&mut self, name: &str) -> Option<T> {
        self.problems.push(format!("{name} is invalid"));
        None
    }

    fn no_such_word<T>(&mut self, name: &str) -> Option<T> {
        self.problems.push(format!("{name} does not have a valid value"));
        None
    }
}

/// Parses a whole number of any length. One that does not fit becomes the smallest or largest `i64`, which no id is.
fn integer(text: &str) -> Option<i64> {
    let text = text.trim();
    text.parse()
        .or_else(|error: ParseIntError| match error.kind() {
            IntErrorKind::PosOverflow => Ok(i64::MAX),
            IntErrorKind::NegOverflow => Ok(i64::MIN),
            _ => Err(error),
        })
        .ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::{Parameters, declared, parameters, picked};
    use serde_json::json;

    parameters! {
        #[derive(Debug)]
        struct Everything {
            _name: String = declared::text("name", 9).needed(),
            _flag: Option<bool> = declared::boolean("flag"),
            _ids: Option<Vec<i64>> = declared::integers("ids"),
            _sort: Option<&'static str> = declared::one_of("sort", &["asc", "desc"]),
            _n: Option<i64> = declared::integer("n"),
        },
        |from| from.at_least_one(&["a", "b"])
    }

    parameters! {
        struct Empty {
            name: String = declared::text("name", 9).needed(),
            flag: Option<bool> = declared::boolean("flag"),
            n: Option<i64> = declared::integer("n"),
            ids: Option<Vec<i64>> = declared::integers("ids"),
            b: Option<bool> = declared::boolean("b"),
        }
    }

    parameters! {
        struct Mixed {
            _first: Option<String> = picked::text("first", 9),
            _second: Option<String> = picked::text("second", 9),
            _third: Option<i64> = declared::integer("third"),
        }
    }

    fn read<P: Parameters>(params: &Params) -> ApiResult<P> {
        params.read_declared(&HashMap::new(), Dialect::Specification)
    }

    #[test]
    fn of_picked_parameters_the_first_problem_is_told() {
        for (values, message) in [
            (json!({"first": [], "second": [], "third": "x"}), "first is invalid"),
            (json!({"first": "a", "second": [], "third": "x"}), "second is invalid"),
            (json!({"first": "a", "second": "b", "third": "x"}), "third is invalid"),
        ] {
            let Err(error) = read::<Mixed>(&params(values)) else { panic!("{message}") };
            assert_eq!(error.body(), json!({ "error": message }).to_string());
        }
    }

    fn params(values: Value) -> Params {
        let Value::Object(values) = values else { panic!("an object") };
        Params { values: values.into_iter().collect(), query: vec![] }
    }

    #[test]
    fn everything_wrong_is_told_in_the_order_of_declaration() {
        let params = params(json!({"flag": "foo", "ids": "1", "sort": "up", "n": "1.5"}));
        let error = read::<Everything>(&params).expect_err("all of it is wrong");
        assert_eq!(
            error.to_string(),
            "400 Bad Request {\"error\":\"name is missing, flag is invalid, ids is invalid, \
             sort does not have a valid value, n is invalid, \
             a, b are missing, at least one parameter must be provided\"}"
        );
    }

    #[test]
    fn whole_numbers_have_digits_and_may_have_a_sign() {
        for (text, expected) in [
            ("7", Some(7)),
            ("-7", Some(-7)),
            ("+7", Some(7)),
            ("99999999999999999999", Some(i64::MAX)),
            ("-99999999999999999999", Some(i64::MIN)),
            ("7.5", None),
            ("7x", None),
            ("-", None),
        ] {
            assert_eq!(integer(text), expected, "{text}");
        }
    }

    #[test]
    fn an_empty_value_counts_as_given_but_has_no_value() {
        let params = params(json!({"name": "", "flag": "", "n": "", "ids": [1, "2"], "b": false}));
        let read = read::<Empty>(&params).expect("nothing is wrong");
        assert_eq!((read.name.as_str(), read.flag, read.n), ("", None, None));
        assert_eq!((read.ids, read.b), (Some(vec![1, 2]), Some(false)));
    }
}
