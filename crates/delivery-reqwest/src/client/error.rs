//! Maps errors of reqwest to those of the port.

use std::error::Error;

use hexforge_domain::ports::outgoing::OutgoingError;

use crate::guard::Refusal;

/// Maps a failed request. The message of reqwest is not used, because it may contain the whole URL.
pub(crate) fn map_error(error: &reqwest::Error, host: &str) -> OutgoingError {
    if let Some(refusal) = chain(error).find_map(|error| error.downcast_ref::<Refusal>()) {
        return refusal.clone().into();
    }
    if error.is_timeout() {
        return OutgoingError::TimedOut;
    }
    if error.is_builder() {
        return OutgoingError::Refused("the request is not valid".into());
    }
    let cause = root_cause_text(error);
    if error.is_connect() {
        OutgoingError::Unreachable(format!("could not connect to `{host}`: {cause}"))
    } else {
        OutgoingError::Unreachable(format!("`{host}` gave no answer: {cause}"))
    }
}

/// The message of the root cause.
pub(crate) fn root_cause_text(error: &reqwest::Error) -> String {
    match chain(error).last() {
        Some(cause) if !cause.is::<reqwest::Error>() => cause.to_string(),
        _ => "the connection failed".into(),
    }
}

/// The error and its chain of sources.
fn chain<'a>(error: &'a reqwest::Error) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let mut next = Some(error as &'a (dyn Error + 'static));
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}
