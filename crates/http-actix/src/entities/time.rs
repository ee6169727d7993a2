//! Timestamps in responses.

use std::fmt;

use chrono::{Datelike, Timelike};
use hexforge_domain::Timestamp;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

/// `2016-11-15T09:30:00.123Z`: UTC with exactly three decimals. Formatted by hand, because chrono's
/// formatting takes longer than the rest of the entity.
#[derive(ToSchema)]
#[schema(as = Moment, description = "UTC with three decimals", value_type = String, format = DateTime)]
pub struct Iso(pub Timestamp);

impl fmt::Display for Iso {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (date, time) = (self.0.date_naive(), self.0.time());
        // A leap second is shown as the last one of its minute.
        let millis = (time.nanosecond() / 1_000_000).min(999);
        write!(
            f,
            "{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{millis:03}Z",
            date.year(),
            date.month(),
            date.day(),
            time.hour(),
            time.minute(),
            time.second()
        )
    }
}

impl Serialize for Iso {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_decimals_always() {
        for (micros, text) in [
            (1_479_202_200_123_999, "2016-11-15T09:30:00.123Z"),
            (1_479_202_200_000_000, "2016-11-15T09:30:00.000Z"),
            (0, "1970-01-01T00:00:00.000Z"),
        ] {
            let moment = Timestamp::from_timestamp_micros(micros).expect("in range");
            assert_eq!(Iso(moment).to_string(), text);
        }
    }
}
