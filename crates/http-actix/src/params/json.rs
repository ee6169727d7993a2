//! Parses the JSON of a request into a bounded number of values. A value takes many times the memory of its text, so a
//! limit on the size of the body is not enough.

use std::cell::Cell;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// The maximum number of values in one body, including nested ones. A commit of 10,000 files has half as many.
const MAX_VALUES: usize = 100_000;

/// Parses one value.
pub(super) fn parse(text: &[u8]) -> serde_json::Result<Value> {
    parse_at_most(text, MAX_VALUES)
}

/// Parses one value that has at most this many values in it. More of them are a data error, not a syntax error.
pub(crate) fn parse_at_most(text: &[u8], max_values: usize) -> serde_json::Result<Value> {
    let left = Cell::new(max_values);
    let mut deserializer = serde_json::Deserializer::from_slice(text);
    let value = Bounded { left: &left }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct Bounded<'a> {
    left: &'a Cell<usize>,
}

impl<'de> DeserializeSeed<'de> for Bounded<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        match self.left.get().checked_sub(1) {
            Some(left) => self.left.set(left),
            None => return Err(D::Error::custom("more values than are accepted")),
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Bounded<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = sequence.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut map = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            map.insert(name, members.next_value_seed(self)?);
        }
        Ok(Value::Object(map))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn json_of_legitimate_calls_is_parsed() {
        let text = br#"{"a": [1, -2, 2.5, "x", null, true], "b": {"c": {}}, "a2": "\u00fc"}"#;
        let expected = json!({"a": [1, -2, 2.5, "x", null, true], "b": {"c": {}}, "a2": "\u{fc}"});
        assert_eq!(parse(text).expect("well formed"), expected);
        for broken in ["", "{", "[1,]", "{} {}", "nul", "\"\\x\""] {
            assert!(parse(broken.as_bytes()).is_err(), "{broken}");
        }
    }

    #[test]
    fn no_body_makes_more_values_than_a_call_can_have() {
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        assert!(parse(many.as_bytes()).is_err());
        let nested = format!("[{}0]", "{\"\":0},".repeat(MAX_VALUES));
        assert!(parse(nested.as_bytes()).is_err());
        let deep = "[".repeat(100_000);
        assert!(parse(deep.as_bytes()).is_err());
    }
}
