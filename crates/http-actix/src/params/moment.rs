//! Parses dates and times of requests.

use chrono::{DateTime, Datelike, FixedOffset, NaiveDate, NaiveDateTime};
use hexforge_domain::Timestamp;

/// Parses a date, or the date of a date with a time.
pub(super) fn date(text: &str) -> Option<NaiveDate> {
    let text = text.trim();
    let read = |text: &str, form| NaiveDate::parse_from_str(text, form).ok();
    let day = text.get(..10).and_then(|day| read(day, "%Y-%m-%d"));
    let is_moment =
        || text.len() == 10 || with_offset(text).is_some() || without_offset(text).is_some();
    match day {
        Some(day) => is_moment().then_some(day),
        None => {
            let forms = [
                "%Y/%m/%d",
                "%Y%m%d",
                "%d-%m-%Y",
                "%d %B %Y",
                "%B %d %Y",
                "%B %d, %Y",
                "%d. %B %Y",
            ];
            let day = forms.into_iter().find_map(|form| read(text, form));
            day.filter(|day| (1000..=9999).contains(&day.year()))
        }
    }
}

/// Parses a time with its offset from UTC, in the format of RFC 3339 or of Ruby.
fn with_offset(text: &str) -> Option<DateTime<FixedOffset>> {
    DateTime::parse_from_rfc3339(text)
        .or_else(|_| DateTime::parse_from_str(text, "%F %T%.f %z"))
        .ok()
}

/// Parses a time without an offset from UTC.
fn without_offset(text: &str) -> Option<NaiveDateTime> {
    let local = text.trim_end_matches('Z').trim_end_matches(" UTC");
    let forms = ["%FT%T%.f", "%F %T%.f", "%FT%H:%M", "%F %H:%M"];
    forms.into_iter().find_map(|form| NaiveDateTime::parse_from_str(local, form).ok())
}

/// Parses a time, with microsecond precision. Without an offset it is UTC, without a time of day it is midnight.
pub(super) fn moment(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let moment = with_offset(text).map(|moment| moment.to_utc());
    let moment = moment.or_else(|| {
        let midnight = || date(text).filter(|_| text.len() == 10)?.and_hms_opt(0, 0, 0);
        Some(without_offset(text).or_else(midnight)?.and_utc())
    })?;
    // The databases and the API can represent only these years.
    let year = moment.year();
    if !(1..=9999).contains(&year) {
        return None;
    }
    Timestamp::from_timestamp_micros(moment.timestamp_micros())
}

/// Parses a time in ISO 8601, or a date, which means its midnight. Without an offset it is UTC.
pub(super) fn timestamp(text: &str) -> Option<Timestamp> {
    let text = text.trim();
    let with_offset = || DateTime::parse_from_str(text, "%FT%T%.f%#z").ok();
    let without_offset = || NaiveDateTime::parse_from_str(text, "%FT%T%.f").ok();
    let day = || NaiveDate::parse_from_str(text, "%F").ok()?.and_hms_opt(0, 0, 0);
    let moment = with_offset().map(|moment| moment.to_utc());
    let moment = moment.or_else(|| without_offset().or_else(day).map(|moment| moment.and_utc()))?;
    (1..=9999).contains(&moment.year()).then_some(moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_may_come_with_a_time() {
        for text in [
            "2016-10-05",
            " 2016-10-05 ",
            "2016-10-05T10:00:00Z",
            "2016-10-05T10:00:00.123+02:00",
            "2016-10-05 10:00:00",
            "2016-10-05 10:00:00 UTC",
            "2016-10-05T10:00Z",
            "2016/10/05",
            "20161005",
            "5 Oct 2016",
            "October 5, 2016",
        ] {
            assert_eq!(date(text), NaiveDate::from_ymd_opt(2016, 10, 5), "{text}");
        }
        for text in [
            "",
            "soon",
            "2016-13-01",
            "2016-10-05x",
            "2016-10-05T10:00:00junk",
            "5.10.2016",
            "5 Oct",
        ] {
            assert_eq!(date(text), None, "{text}");
        }
    }

    #[test]
    fn a_moment_may_come_without_offset_or_time() {
        for (text, micros) in [
            ("2016-10-05T10:00:00Z", 1_475_661_600_000_000_i64),
            ("2016-10-05 12:00:00 +0200", 1_475_661_600_000_000),
            ("2016-10-05T12:00:00.123456789+02:00", 1_475_661_600_123_456),
            ("2016-10-05 10:00:00", 1_475_661_600_000_000),
            ("2016-10-05 10:00:00 UTC", 1_475_661_600_000_000),
            ("2016-10-05", 1_475_625_600_000_000),
        ] {
            assert_eq!(
                moment(text).map(|moment| moment.timestamp_micros()),
                Some(micros),
                "{text}"
            );
        }
        for text in ["", "soon", "2016-13-01", "2016-10-05T10:00:00junk", "0000-01-01T00:00:00Z"] {
            assert_eq!(moment(text), None, "{text}");
        }
    }

    /// commits_files.md 2.2.
    #[test]
    fn timestamps_have_the_forms_of_iso_8601() {
        for (text, seconds) in [
            ("2016-01-31T10:00:00Z", 1_454_234_400),
            ("2016-01-31T12:00:00+02:00", 1_454_234_400),
            ("2016-01-31T12:00:00+0200", 1_454_234_400),
            ("2016-01-31T12:00:00+02", 1_454_234_400),
            ("2016-01-31T10:00:00.5Z", 1_454_234_400),
            ("2016-01-31T10:00:00", 1_454_234_400),
            (" 2016-01-31 ", 1_454_198_400),
        ] {
            assert_eq!(timestamp(text).map(|at| at.timestamp()), Some(seconds), "{text}");
        }
        for text in
            ["soon", "2016-13-01", "31.1.2016", "2016-01-31T10:00:00junk", "2016-01-31T25:00:00Z"]
        {
            assert_eq!(timestamp(text), None, "{text}");
        }
    }
}
