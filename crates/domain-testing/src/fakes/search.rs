//! Text search in fields.

/// Returns whether one of the fields contains the text, ignoring case.
pub(super) fn any_contains(text: &str, fields: &[&str]) -> bool {
    let part = text.to_lowercase();
    fields.iter().any(|field| field.to_lowercase().contains(&part))
}

/// Returns whether two texts are equal, ignoring case.
pub(super) fn equals_ignoring_case(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}
