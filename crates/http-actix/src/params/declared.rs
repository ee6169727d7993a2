//! Parameters of calls that declare them: everything wrong is told at once, in the order of
//! declaration.

use serde_json::Value;

use super::{Params, boolean};
use crate::error::{ApiError, ApiResult};

/// Reads declared parameters and collects what is wrong with them.
pub struct Declared<'a> {
    params: &'a Params,
    problems: Vec<String>,
}

impl<'a> Declared<'a> {
    pub(super) fn new(params: &'a Params) -> Self {
        Self { params, problems: Vec::new() }
    }

    /// A text that has to be there; an empty one is.
    pub fn required_text(&mut self, name: &str) -> String {
        self.require(name);
        self.text(name).unwrap_or_default()
    }

    /// A text that may be there.
    pub fn text(&mut self, name: &str) -> Option<String> {
        match self.params.scalar(name) {
            Ok(text) => text.map(std::borrow::Cow::into_owned),
            Err(_) => self.invalid(name),
        }
    }

    /// A whole number that may be there; an empty text counts as not given.
    pub fn integer(&mut self, name: &str) -> Option<i64> {
        let text = self.text(name).filter(|text| !text.is_empty())?;
        integer(&text).or_else(|| self.invalid(name))
    }

    /// A switch that may be there; an empty text counts as not given.
    pub fn boolean(&mut self, name: &str) -> Option<bool> {
        let text = self.text(name).filter(|text| !text.is_empty())?;
        boolean(&text).or_else(|| self.invalid(name))
    }

    /// A text out of a list of words.
    pub fn one_of(&mut self, name: &str, words: &[&'static str]) -> Option<&'static str> {
        let text = self.text(name)?;
        let found = words.iter().find(|word| **word == text).copied();
        if found.is_none() {
            self.problems.push(format!("{name} does not have a valid value"));
        }
        found
    }

    /// A list of whole numbers; a single value is not one.
    pub fn integers(&mut self, name: &str) -> Option<Vec<i64>> {
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

    /// At least one of these has to be there.
    pub fn at_least_one(&mut self, names: &[&str]) {
        if !names.iter().any(|name| self.params.has(name)) {
            self.problems.push(format!(
                "{} are missing, at least one parameter must be provided",
                names.join(", ")
            ));
        }
    }

    /// Ends the reading.
    /// # Errors
    /// Everything that was wrong.
    pub fn finish(self) -> ApiResult<()> {
        if self.problems.is_empty() {
            Ok(())
        } else {
            Err(ApiError::bad_request(self.problems.join(", ")))
        }
    }

    fn require(&mut self, name: &str) {
        if !self.params.has(name) {
            self.problems.push(format!("{name} is missing"));
        }
    }

    fn invalid<T>(&mut self, name: &str) -> Option<T> {
        self.problems.push(format!("{name} is invalid"));
        None
    }
}

fn integer(text: &str) -> Option<i64> {
    text.trim().parse().ok()
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
    fn everything_wrong_is_told_in_the_order_of_declaration() {
        let params = params(json!({"flag": "foo", "ids": "1", "sort": "up", "n": "1.5"}));
        let mut declared = params.declared();
        declared.required_text("name");
        declared.boolean("flag");
        declared.integers("ids");
        declared.one_of("sort", &["asc", "desc"]);
        declared.integer("n");
        declared.at_least_one(&["a", "b"]);
        let error = declared.finish().expect_err("all of it is wrong");
        assert_eq!(
            error.to_string(),
            "400 Bad Request {\"error\":\"name is missing, flag is invalid, ids is invalid, \
             sort does not have a valid value, n is invalid, \
             a, b are missing, at least one parameter must be provided\"}"
        );
    }

    #[test]
    fn an_empty_value_is_there_and_says_nothing() {
        let params = params(json!({"name": "", "flag": "", "n": "", "ids": [1, "2"], "b": false}));
        let mut declared = params.declared();
        assert_eq!(declared.required_text("name"), "");
        assert_eq!(declared.boolean("flag"), None);
        assert_eq!(declared.integer("n"), None);
        assert_eq!(declared.integers("ids"), Some(vec![1, 2]));
        assert_eq!(declared.boolean("b"), Some(false));
        assert!(declared.finish().is_ok());
    }
}
