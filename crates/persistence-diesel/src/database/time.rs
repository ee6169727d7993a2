//! Conversion between domain timestamps, which carry UTC, and columns, which store UTC without a time zone.

use chrono::NaiveDateTime;
use hexforge_domain::Timestamp;

/// Converts a timestamp for a column.
pub(crate) fn to_naive(at: Timestamp) -> NaiveDateTime {
    at.naive_utc()
}

pub(crate) fn to_naive_opt(at: Option<Timestamp>) -> Option<NaiveDateTime> {
    at.map(to_naive)
}

/// Converts the value of a column into a timestamp.
pub(crate) fn to_utc(stored: NaiveDateTime) -> Timestamp {
    stored.and_utc()
}

pub(crate) fn to_utc_opt(stored: Option<NaiveDateTime>) -> Option<Timestamp> {
    stored.map(to_utc)
}
