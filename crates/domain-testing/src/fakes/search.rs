//! Text search in fields.

/// Returns whether one of the fields contains the text, ignoring case.
pub(super) fn is_part(text: &str, fields: &[&str]) -> bool {
    let part = text.to_lowercase();
    fields.iter().any(|field| field.to_lowercase().contains(&part))
}

/// Returns whether two texts are equal, ignoring case.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}
