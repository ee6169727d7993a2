//! Parses the labels of an issue in a request: a comma-separated list of titles.

use std::collections::BTreeSet;

use crate::field_errors::FieldErrors;
use crate::label::LabelTitle;

/// The maximum number of labels of an issue.
pub const MAX_LABELS: usize = 500;

/// Parses a list of titles. Blanks around titles, empty titles and duplicates are dropped.
/// # Errors
/// The errors of the first invalid title, or an error for too many titles; all under `labels`.
pub fn parse(list: &str) -> Result<Vec<LabelTitle>, FieldErrors> {
    let mut titles = BTreeSet::new();
    for name in list.split(',').map(str::trim).filter(|name| !name.is_empty()) {
        titles.insert(LabelTitle::parse(name).map_err(|invalid| under_labels(&invalid))?);
        if titles.len() > MAX_LABELS {
            break;
        }
    }
    sort_and_limit(titles.into_iter().collect())
}

/// Reports errors of a title as errors of the parameter `labels`.
fn under_labels(invalid: &FieldErrors) -> FieldErrors {
    let mut errors = FieldErrors::default();
    for message in invalid.messages("title") {
        errors.add("labels", message);
    }
    errors
}

/// Sorts the titles and removes duplicates.
/// # Errors
/// An error under `labels` when there are more than [`MAX_LABELS`] titles.
pub fn sort_and_limit(mut titles: Vec<LabelTitle>) -> Result<Vec<LabelTitle>, FieldErrors> {
    titles.sort_unstable();
    titles.dedup();
    if titles.len() > MAX_LABELS {
        let message = format_args!("are too many (maximum is {MAX_LABELS})");
        return Err(FieldErrors::single("labels", message));
    }
    Ok(titles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commas_separate_and_blanks_mean_nothing() {
        for (list, expected) in [
            ("", vec![]),
            (" , ,", vec![]),
            ("bug", vec!["bug"]),
            (" to do , bug,,bug", vec!["bug", "to do"]),
            ("Bug,bug", vec!["Bug", "bug"]),
            (&format!("{}b", "a,".repeat(MAX_LABELS + 1)), vec!["a", "b"]),
        ] {
            let titles = parse(list).expect("good titles");
            let titles: Vec<&str> = titles.iter().map(LabelTitle::as_str).collect();
            assert_eq!(titles, expected, "{list}");
        }
    }

    #[test]
    fn invalid_and_too_many_titles_are_reported_once() {
        let many: Vec<String> = (0..=MAX_LABELS).map(|number| number.to_string()).collect();
        for (list, message) in [
            ("a,b&#44;c,d&#44;e".to_owned(), "is invalid"),
            (many.join(","), "are too many (maximum is 500)"),
        ] {
            assert_eq!(parse(&list).expect_err("wrong").messages("labels"), [message]);
        }
        assert_eq!(parse(&many[1..].join(",")).map(|titles| titles.len()), Ok(MAX_LABELS));
    }
}
