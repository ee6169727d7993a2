//! The calendar of a year: a picture with a square for each day, and its facts as text.

use std::collections::BTreeMap;

use chrono::{Datelike, Days, NaiveDate};
use hexforge_domain::Timestamp;

use crate::moment::count;

/// The weeks of a calendar, and the size of the square of a day with the space around it.
const WEEKS: u32 = 53;
const STEP: u32 = 12;

/// A day with contributions.
pub(super) struct Day {
    pub(super) x: u32,
    pub(super) y: u32,
    /// From 1 (few) to 4 (many).
    pub(super) level: u8,
    pub(super) title: String,
}

/// The contributions of a year.
pub(super) struct Calendar {
    /// The accessible name of the picture.
    pub(super) label: String,
    /// The outline of all days without contributions.
    pub(super) empty_days: String,
    pub(super) days: Vec<Day>,
    pub(super) summary: String,
    /// The months of the year with their numbers, newest first.
    pub(super) months: Vec<(String, u64)>,
}

impl Calendar {
    pub(super) fn new(name: &str, times: &[Timestamp], today: NaiveDate) -> Self {
        // The last column is the week of today, which begins with Monday.
        let monday = today - Days::new(today.weekday().num_days_from_monday().into());
        let first = monday - Days::new(u64::from(WEEKS - 1) * 7);
        let mut by_day: BTreeMap<NaiveDate, u64> = BTreeMap::new();
        for day in times.iter().map(Timestamp::date_naive) {
            if (first..=today).contains(&day) {
                *by_day.entry(day).or_default() += 1;
            }
        }
        let total: u64 = by_day.values().sum();
        let most = by_day.iter().max_by_key(|(_, count)| **count);
        let (mut empty_days, mut days) = (String::new(), Vec::new());
        let all = first.iter_days().take_while(|day| *day <= today);
        for (at, day) in (0u32..).zip(all) {
            let (x, y) = (at / 7 * STEP, at % 7 * STEP);
            match (by_day.get(&day), most) {
                (Some(number), Some((_, most))) => days.push(Day {
                    x,
                    y,
                    level: level(*number, *most),
                    title: format!("{}: {}", day, count(*number, "contribution")),
                }),
                _ => empty_days.push_str(&format!("M{x} {y}h10v10h-10z")),
            }
        }
        let summary = match most {
            Some((day, most)) => format!(
                "{} in the last year, most on {day} ({most}).",
                count(total, "contribution")
            ),
            None => "No contributions in the last year.".to_owned(),
        };
        Self {
            label: format!("Contributions of {name} in the last year: {total}"),
            empty_days,
            days,
            summary,
            months: months(&by_day),
        }
    }
}

/// The numbers of months, newest first.
fn months(by_day: &BTreeMap<NaiveDate, u64>) -> Vec<(String, u64)> {
    let mut months: BTreeMap<String, u64> = BTreeMap::new();
    for (day, number) in by_day {
        *months.entry(day.format("%Y-%m").to_string()).or_default() += number;
    }
    months.into_iter().rev().collect()
}

/// The quarter of the largest number in which a number is.
fn level(number: u64, most: u64) -> u8 {
    match number * 4 / most.max(1) {
        0 | 1 => 1,
        2 => 2,
        3 => 3,
        _ => 4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_counted_and_placed() {
        let today = NaiveDate::from_ymd_opt(2026, 11, 18).expect("it is a day");
        let at = |day: NaiveDate| day.and_hms_opt(12, 0, 0).expect("it is a time").and_utc();
        let (yesterday, old) = (today - Days::new(1), today - Days::new(400));
        let times = [at(today), at(today), at(yesterday), at(old)];
        let calendar = Calendar::new("Ada", &times, today);
        assert_eq!(calendar.label, "Contributions of Ada in the last year: 3");
        assert_eq!(calendar.summary, "3 contributions in the last year, most on 2026-11-18 (2).");
        assert_eq!(calendar.months, [("2026-11".to_owned(), 3)]);
        // A Wednesday is the third day of the last week.
        let placed: Vec<_> = calendar.days.iter().map(|d| (d.x, d.y, d.level)).collect();
        assert_eq!(placed, [(52 * STEP, STEP, 2), (52 * STEP, 2 * STEP, 4)]);
        assert_eq!(calendar.empty_days.matches('M').count(), 52 * 7 + 1);
        assert_eq!(Calendar::new("Ada", &[], today).days.len(), 0);
    }
}
