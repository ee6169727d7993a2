//! reqwest's errors as those of the port.

use std::error::Error;

use hexforge_domain::ports::outgoing::OutgoingError;

use crate::guard::Refusal;

/// What a failure to get an answer means. reqwest's own text is not used: it may show the whole URL.
pub(crate) fn translated(error: &reqwest::Error, host: &str) -> OutgoingError {
    if let Some(refusal) = chain(error).find_map(|error| error.downcast_ref::<Refusal>()) {
        return refusal.clone().into();
    }
    if error.is_timeout() {
        return OutgoingError::TimedOut;
    }
    if error.is_builder() {
        return OutgoingError::Refused("the request is not valid".into());
    }
    let why = innermost(error);
    if error.is_connect() {
        OutgoingError::Unreachable(format!("could not connect to `{host}`: {why}"))
    } else {
        OutgoingError::Unreachable(format!("`{host}` gave no answer: {why}"))
    }
}

/// What was wrong in the end.
pub(crate) fn innermost(error: &reqwest::Error) -> String {
    match chain(error).last() {
        Some(cause) if !cause.is::<reqwest::Error>() => cause.to_string(),
        _ => "the connection failed".into(),
    }
}

/// The error, what caused it, what caused that.
fn chain<'a>(error: &'a reqwest::Error) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let mut next = Some(error as &'a (dyn Error + 'static));
    std::iter::from_fn(move || {
        let error = next?;
        next = error.source();
        Some(error)
    })
}
