//! Conversion between domain timestamps, which carry UTC, and columns, which store UTC without a time zone.

use chrono::NaiveDateTime;
use hexforge_domain::Timestamp;

pub(crate) fn stored(moment: Timestamp) -> NaiveDateTime {
    moment.naive_utc()
}

pub(crate) fn stored_opt(moment: Option<Timestamp>) -> Option<NaiveDateTime> {
    moment.map(stored)
}

pub(crate) fn moment(stored: NaiveDateTime) -> Timestamp {
    stored.and_utc()
}

pub(crate) fn moment_opt(stored: Option<NaiveDateTime>) -> Option<Timestamp> {
    stored.map(moment)
}
