//! The actions of a commit, as a list of objects.

use hexforge_application::commit::Action;
use serde_json::{Map, Value};

use super::lenient_base64;

/// The members of an action. Others are ignored.
pub(super) const MEMBERS: &[&str] =
    &["action", "file_path", "previous_path", "content", "encoding"];

/// Parses the actions; `None` if the value is no list of actions.
pub(super) fn parse(value: &Value) -> Option<Vec<Action>> {
    value.as_array()?.iter().map(|action| parse_one(action.as_object()?)).collect()
}

fn parse_one(members: &Map<String, Value>) -> Option<Action> {
    let action = text(members, "action")?.filter(|action| !action.trim().is_empty())?;
    let content = match members.get("content") {
        None | Some(Value::Null) => None,
        Some(content) => Some(decode(content.as_str()?, text(members, "encoding")?.as_deref())),
    };
    if matches!(action.as_str(), "create" | "update") && content.is_none() {
        return None;
    }
    let (path, previous_path) = (text(members, "file_path")?, text(members, "previous_path")?);
    Some(Action { action, path, previous_path, content })
}

/// The bytes of a content in an encoding. Every encoding but `base64` is text.
pub fn decode(content: &str, encoding: Option<&str>) -> Vec<u8> {
    match encoding {
        Some("base64") => lenient_base64::decode(content),
        Some(_) | None => content.as_bytes().to_vec(),
    }
}

/// A member as text; the outer `None` means that it is a list or an object.
fn text(members: &Map<String, Value>, name: &str) -> Option<Option<String>> {
    match members.get(name) {
        None | Some(Value::Null) => Some(None),
        Some(Value::String(text)) => Some(Some(text.clone())),
        Some(Value::Bool(value)) => Some(Some(value.to_string())),
        Some(Value::Number(number)) => Some(Some(number.to_string())),
        Some(Value::Array(_) | Value::Object(_)) => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// commits_files.md 5.3, first row.
    #[test]
    fn everything_but_a_list_of_actions_is_invalid() {
        for value in [
            json!(null),
            json!("x"),
            json!({}),
            json!([1]),
            json!([{}]),
            json!([{"action": null}]),
            json!([{"action": "create", "file_path": "a"}]),
            json!([{"action": "update", "file_path": "a", "content": null}]),
            json!([{"action": "delete", "file_path": "a", "content": 1}]),
            json!([{"action": "move", "file_path": ["a"]}]),
        ] {
            assert_eq!(parse(&value), None, "{value}");
        }
        let value = json!([{"action": "create", "file_path": "a", "content": "eA", "encoding": "base64", "x": 1}]);
        let action = Action {
            action: "create".into(),
            path: Some("a".into()),
            previous_path: None,
            content: Some(b"x".to_vec()),
        };
        assert_eq!(parse(&value), Some(vec![action]));
    }
}
