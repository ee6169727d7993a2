//! The encoding of queries and forms.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::{MAX_PARAMS, too_many};
use crate::error::{ApiError, ApiResult};

/// Decodes `a=1&b=2`. An invalid encoding is an error.
pub(super) fn pairs(encoded: &[u8]) -> ApiResult<Vec<(String, String)>> {
    let mut pairs = Vec::new();
    for pair in encoded.split(|b| *b == b'&').filter(|pair| !pair.is_empty()) {
        if pairs.len() == MAX_PARAMS {
            return Err(too_many());
        }
        let (name, value) = match pair.iter().position(|b| *b == b'=') {
            Some(at) => (&pair[..at], &pair[at + 1..]),
            None => (pair, &[][..]),
        };
        pairs.push((decode(name)?, decode(value)?));
    }
    Ok(pairs)
}

fn decode(encoded: &[u8]) -> ApiResult<String> {
    let mut bytes = Vec::with_capacity(encoded.len());
    let mut rest = encoded;
    while let [first, tail @ ..] = rest {
        rest = tail;
        bytes.push(match first {
            b'+' => b' ',
            b'%' => {
                let [high, low, tail @ ..] = tail else { return Err(invalid_encoding()) };
                let (Some(high), Some(low)) = (hex(*high), hex(*low)) else {
                    return Err(invalid_encoding());
                };
                rest = tail;
                high * 16 + low
            }
            byte => *byte,
        });
    }
    String::from_utf8(bytes).map_err(|_| ApiError::bad_request("a parameter is not valid UTF-8"))
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

fn invalid_encoding() -> ApiError {
    ApiError::bad_request("a parameter has an invalid %-encoding")
}

/// Adds a parameter: `name[]=` and `name[0]=` append to a list, `name[][key]=` adds to the last object of a list, other
/// names replace an earlier value.
pub(super) fn insert(values: &mut HashMap<String, Value>, name: &str, value: String) {
    if let Some((name, key)) = member_of_list(name) {
        return insert_member(values, name, key, value);
    }
    let list = name
        .strip_suffix(']')
        .and_then(|name| name.rsplit_once('['))
        .filter(|(name, index)| !name.is_empty() && index.bytes().all(|b| b.is_ascii_digit()));
    let Some((name, _)) = list else {
        values.insert(name.to_owned(), Value::String(value));
        return;
    };
    match values.get_mut(name) {
        Some(Value::Array(items)) => items.push(Value::String(value)),
        _ => {
            values.insert(name.to_owned(), Value::Array(vec![Value::String(value)]));
        }
    }
}

/// The list and the key of a name like `list[][key]`.
fn member_of_list(name: &str) -> Option<(&str, &str)> {
    let (list, key) = name.strip_suffix(']')?.rsplit_once("[][")?;
    (!list.is_empty() && !list.contains('[') && !key.is_empty()).then_some((list, key))
}

/// Adds a member to the last object of a list. A key that the object has already begins the next object.
fn insert_member(values: &mut HashMap<String, Value>, list: &str, key: &str, value: String) {
    let (key, value) = (key.to_owned(), Value::String(value));
    let items = values.entry(list.to_owned()).or_insert_with(|| Value::Array(vec![]));
    if !items.is_array() {
        *items = Value::Array(vec![]);
    }
    let Value::Array(items) = items else { return };
    match items.last_mut() {
        Some(Value::Object(members)) if !members.contains_key(&key) => {
            members.insert(key, value);
        }
        _ => items.push(Value::Object(Map::from_iter([(key, value)]))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn parsed(query: &str) -> ApiResult<Value> {
        let mut values = HashMap::new();
        for (name, value) in pairs(query.as_bytes())? {
            insert(&mut values, &name, value);
        }
        Ok(Value::Object(values.into_iter().collect()))
    }

    #[test]
    fn a_repeated_key_begins_the_next_object() {
        let query = "a[][x]=1&a[][y]=2&a[][x]=3&b[][]=4&[][x]=5&c[d][][x]=6";
        assert_eq!(
            parsed(query).expect("well formed")["a"],
            json!([{"x": "1", "y": "2"}, {"x": "3"}])
        );
    }

    #[test]
    fn pairs_are_decoded_and_the_last_one_counts() {
        for (query, expected) in [
            ("", json!({})),
            ("a=1&b=x+y%20z", json!({"a": "1", "b": "x y z"})),
            ("a", json!({"a": ""})),
            ("&&a=1&", json!({"a": "1"})),
            ("a=1&a=2", json!({"a": "2"})),
            ("a=b=c", json!({"a": "b=c"})),
            ("a=%C3%BC", json!({"a": "ü"})),
            ("a[]=1&a[]=2", json!({"a": ["1", "2"]})),
            ("a%5B%5D=1&a%5b%5d=2", json!({"a": ["1", "2"]})),
            ("a[0]=1&a[1]=2", json!({"a": ["1", "2"]})),
            ("a[b]=1", json!({"a[b]": "1"})),
            ("[]=1", json!({"[]": "1"})),
        ] {
            assert_eq!(parsed(query).expect("well formed"), expected, "{query}");
        }
    }

    #[test]
    fn broken_encodings_are_refused() {
        for query in ["a=%", "a=%4", "a=%zz", "%=1", "a=%ff", "a=%C3"] {
            assert!(parsed(query).is_err(), "{query}");
        }
        let many = vec!["a=1"; MAX_PARAMS + 1].join("&");
        assert!(parsed(&many).is_err());
    }
}
