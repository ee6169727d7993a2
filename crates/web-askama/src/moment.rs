//! Times in words, with the exact moment beside them.

use std::fmt::{self, Display};

use chrono::{DateTime, TimeZone, Utc};
use hexforge_domain::Timestamp;

/// A moment as a page shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Moment {
    /// The machine-readable form.
    pub(crate) datetime: String,
    /// The exact moment for people.
    pub(crate) exact: String,
    /// The distance in words: `3 days ago`.
    pub(crate) words: String,
}

impl Moment {
    /// Describes a moment as seen now.
    pub(crate) fn new<Z: TimeZone<Offset: Display>>(at: DateTime<Z>, now: Timestamp) -> Self {
        let utc = at.with_timezone(&Utc);
        Self {
            datetime: utc.format("%Y-%m-%dT%H:%M:%SZ").to_string(),
            exact: at.format("%Y-%m-%d %H:%M:%S %:z").to_string(),
            words: words((now - utc).num_seconds()),
        }
    }
}

impl Display for Moment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

/// The units of distances, with their length in seconds.
const UNITS: [(i64, &str); 5] = [
    (365 * 86_400, "year"),
    (30 * 86_400, "month"),
    (86_400, "day"),
    (3_600, "hour"),
    (60, "minute"),
];

fn words(seconds: i64) -> String {
    let distance = seconds.saturating_abs();
    let Some((length, unit)) = UNITS.into_iter().find(|(length, _)| distance >= *length) else {
        return "just now".to_owned();
    };
    let amount = count(distance.unsigned_abs() / length.unsigned_abs(), unit);
    if seconds < 0 { format!("in {amount}") } else { format!("{amount} ago") }
}

/// A number with its unit: `1 star`, `2 stars`.
pub(crate) fn count(number: u64, unit: &str) -> String {
    if number == 1 { format!("1 {unit}") } else { format!("{number} {unit}s") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_told_in_the_largest_unit() {
        for (seconds, told) in [
            (0, "just now"),
            (59, "just now"),
            (60, "1 minute ago"),
            (3_599, "59 minutes ago"),
            (7_200, "2 hours ago"),
            (86_400, "1 day ago"),
            (40 * 86_400, "1 month ago"),
            (800 * 86_400, "2 years ago"),
            (-120, "in 2 minutes"),
        ] {
            assert_eq!(words(seconds), told, "{seconds}");
        }
    }
}
