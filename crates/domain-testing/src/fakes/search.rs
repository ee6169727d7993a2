//! How texts are found in fields.

/// Whether one of the fields contains the text, ignoring case.
pub(super) fn is_part(text: &str, fields: &[&str]) -> bool {
    let part = text.to_lowercase();
    fields.iter().any(|field| field.to_lowercase().contains(&part))
}

/// Whether two texts are the same, ignoring case.
pub(super) fn is_same(one: &str, other: &str) -> bool {
    one.to_lowercase() == other.to_lowercase()
}
