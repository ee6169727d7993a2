//! Texts of settings as values. Every mistake is a sentence that names the setting.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};
use std::str::FromStr;

use anyhow::{Result, anyhow, bail};
use hexforge_domain::network::{Network, NotANetwork};

/// A value of any type; `expected` says what it has to be.
pub(super) fn value<T: FromStr>(
    name: &str,
    chosen: Option<String>,
    default: &str,
    expected: &str,
) -> Result<T> {
    let text = chosen.as_deref().unwrap_or(default);
    text.trim().parse().map_err(|_| anyhow!("{name} is `{text}` and has to be {expected}"))
}

/// A number within a range.
pub(super) fn number<T: FromStr + PartialOrd + Display>(
    name: &str,
    chosen: Option<String>,
    default: T,
    range: impl RangeBounds<T>,
) -> Result<T> {
    let expected = expected_number(&range);
    let Some(text) = chosen else { return Ok(default) };
    let Ok(number) = text.trim().parse() else {
        bail!("{name} is `{text}` and has to be {expected}");
    };
    if !range.contains(&number) {
        bail!("{name} has to be {expected}");
    }
    Ok(number)
}

fn expected_number<T: Display>(range: &impl RangeBounds<T>) -> String {
    let end = |bound: Bound<&T>| match bound {
        Bound::Included(number) => Some(number.to_string()),
        Bound::Excluded(number) => Some(format!("below {number}")),
        Bound::Unbounded => None,
    };
    match (end(range.start_bound()), end(range.end_bound())) {
        (Some(first), Some(last)) => format!("a number from {first} to {last}"),
        (Some(first), None) => format!("a number from {first} on"),
        (None, Some(last)) => format!("a number up to {last}"),
        (None, None) => "a number".to_owned(),
    }
}

/// Networks, separated by commas.
pub(super) fn networks(listed: Option<&str>) -> Result<Vec<Network>> {
    let entries = listed.unwrap_or_default().split(',').map(str::trim);
    let parse = |entry: &str| {
        entry
            .parse()
            .map_err(|error: NotANetwork| anyhow!("trusted_proxies has `{entry}`, which {error}"))
    };
    entries.filter(|entry| !entry.is_empty()).map(parse).collect()
}
