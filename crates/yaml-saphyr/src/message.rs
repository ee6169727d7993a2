//! Error messages for configuration files that cannot be parsed.

use serde_saphyr::Error;
use serde_saphyr::budget::BudgetBreach;

use crate::{MAX_DEPTH, MAX_DOCUMENTS, MAX_MERGE_KEYS, MAX_NODES, MAX_SCALAR_BYTES};

/// Formats an error in one line. Exceeded limits have our own messages, which name the limit. All other errors have the
/// message of the library.
pub(crate) fn describe(error: &Error) -> String {
    let Some(limit) = limit_message(root_cause(error)) else {
        return error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
    };
    match error.location() {
        Some(place) => format!("{limit} at line {}, column {}", place.line(), place.column()),
        None => limit,
    }
}

/// The error inside nested alias errors.
fn root_cause(error: &Error) -> &Error {
    match error {
        Error::AliasError { error, .. } => root_cause(error),
        error => error,
    }
}

/// Returns the message for an exceeded limit; `None` for other errors.
fn limit_message(error: &Error) -> Option<String> {
    let values = format!("more than {MAX_NODES} values, with aliases replaced by their anchors,");
    match error {
        Error::Budget { breach, .. } => Some(match breach {
            BudgetBreach::Depth { .. } => {
                format!("lists and maps nested deeper than {MAX_DEPTH} levels")
            }
            BudgetBreach::ScalarBytes { .. } => format!(
                "more than {MAX_SCALAR_BYTES} bytes of text, with aliases replaced by their anchors,"
            ),
            BudgetBreach::Documents { .. } => format!("more than {MAX_DOCUMENTS} documents"),
            BudgetBreach::MergeKeys { .. } => format!("more than {MAX_MERGE_KEYS} merge keys"),
            _ => values,
        }),
        Error::AliasReplayLimitExceeded { .. }
        | Error::AliasReplayStackDepthExceeded { .. }
        | Error::AliasExpansionLimitExceeded { .. } => Some(values),
        Error::RecursiveReferencesRequireWeakTypes { .. } => {
            Some("an alias within its own anchor".to_owned())
        }
        _ => None,
    }
}
