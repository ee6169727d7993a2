//! The lifetime of artifacts, written as `3 days` or `2 hrs 20 min`.

const MINUTE: f64 = 60.0;
const HOUR: f64 = 60.0 * MINUTE;
const DAY: f64 = 24.0 * HOUR;

/// The number of seconds in a unit of time.
fn seconds_in_unit(word: &str) -> Option<f64> {
    match word {
        "seconds" | "second" | "secs" | "sec" | "s" => Some(1.0),
        "minutes" | "minute" | "mins" | "min" | "m" => Some(MINUTE),
        "hours" | "hour" | "hrs" | "hr" | "h" => Some(HOUR),
        "days" | "day" | "dy" | "d" => Some(DAY),
        "weeks" | "week" | "wks" | "wk" | "w" => Some(7.0 * DAY),
        "months" | "month" | "mos" | "mo" => Some(30.0 * DAY),
        "years" | "year" | "yrs" | "yr" | "y" => Some(365.25 * DAY),
        _ => None,
    }
}

/// Parses a number from zero to twelve that is written as a word.
fn parse_number_word(word: &str) -> Option<f64> {
    const WORDS: [&str; 13] = [
        "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten",
        "eleven", "twelve",
    ];
    WORDS.iter().position(|number| *number == word).map(|number| number as f64)
}

/// A part of a duration in words.
enum Part<'a> {
    Number(f64),
    Word(&'a str),
}

/// The duration in whole seconds. A number without a unit means seconds, a unit without a number means one of it, and
/// `1:20` means minutes and seconds. `None` when the text is not a duration, is shorter than a second, or is too long.
pub fn seconds(text: &str) -> Option<i64> {
    let text = text.to_ascii_lowercase();
    let total = if text.contains(':') { parse_clock(&text)? } else { parse_words(&text)? };
    // A longer duration would exceed the range of dates.
    const LONGEST: f64 = 1000.0 * 365.25 * DAY;
    (1.0..=LONGEST).contains(&total).then_some(total as i64)
}

/// Parses `h:m:s`, which may be preceded by days, months and years.
fn parse_clock(text: &str) -> Option<f64> {
    const UNITS: [f64; 6] = [1.0, MINUTE, HOUR, DAY, 30.0 * DAY, 365.25 * DAY];
    let mut total = 0.0;
    let mut units = UNITS.iter();
    for part in text.split(':').rev() {
        let (number, rest) = leading_number(part.trim())?;
        if !rest.is_empty() {
            return None;
        }
        total += number * units.next()?;
    }
    Some(total)
}

/// Parses numbers and units, such as `2 hrs 20 min`.
fn parse_words(text: &str) -> Option<f64> {
    let mut total = 0.0;
    let mut pending = None;
    let mut first = true;
    for part in split_parts(text)? {
        match part {
            Part::Number(number) => total += pending.replace(number).unwrap_or(0.0),
            Part::Word(word) => {
                let unit = seconds_in_unit(word)?;
                // A unit without a number, like `day`, means one, but only at the beginning.
                let number = pending.take().or(first.then_some(1.0));
                total += number.unwrap_or(0.0) * unit;
            }
        }
        first = false;
    }
    Some(total + pending.unwrap_or(0.0))
}

/// Splits a text into numbers and words, without conjunctions. `None` when a part is not a valid number or word.
fn split_parts(text: &str) -> Option<Vec<Part<'_>>> {
    let mut parts = Vec::new();
    let mut rest = text.trim_start();
    while !rest.is_empty() {
        if let Some((number, after)) = leading_number(rest) {
            parts.push(Part::Number(number));
            rest = after.trim_start();
            continue;
        }
        let end = rest
            .find(|char: char| char.is_whitespace() || char.is_ascii_digit())
            .unwrap_or(rest.len());
        if end == 0 {
            return None;
        }
        let (word, after) = rest.split_at(end);
        rest = after.trim_start();
        match word.trim_matches(',') {
            "" | "and" | "with" | "plus" => (),
            word => parts.push(parse_number_word(word).map_or(Part::Word(word), Part::Number)),
        }
    }
    Some(parts)
}

/// Splits a text into the number at its beginning and the rest.
fn leading_number(text: &str) -> Option<(f64, &str)> {
    let end = text.find(|char: char| !char.is_ascii_digit() && char != '.').unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    Some((digits.parse().ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_in_words_and_by_the_clock() {
        for (text, expected) in [
            ("42", Some(42)),
            ("3 mins 4 sec", Some(184)),
            ("2 hrs 20 min", Some(8_400)),
            ("2h20min", Some(8_400)),
            ("6 mos 1 day", Some(181 * 86_400)),
            ("47 yrs 6 mos and 4d", Some(47 * 31_557_600 + 184 * 86_400)),
            ("3 weeks and 2 days", Some(23 * 86_400)),
            ("1 Week", Some(604_800)),
            ("1 day, 2 hours", Some(93_600)),
            ("1.5 hours", Some(5_400)),
            ("day", Some(86_400)),
            ("minute 30sec", Some(90)),
            ("two days", Some(172_800)),
            ("1:20", Some(80)),
            ("1:00:00", Some(3_600)),
            ("1 : 20", Some(80)),
            ("", None),
            ("0", None),
            ("0 days", None),
            ("7 elephants", None),
            ("never", None),
            ("-1 day", None),
            ("1:", None),
            ("1:x", None),
            ("1:1:1:1:1:1:1", None),
            ("99999999999 years", None),
            ("1..5 days", None),
            ("ü", None),
        ] {
            assert_eq!(seconds(text), expected, "{text:?}");
        }
    }

    #[test]
    fn random_input_never_panics() {
        let alphabet = ["1", "0", ".", ":", " ", "day", "s", ",", "-", "and", "ü", "9"];
        let mut state = 1_u64;
        for _ in 0..20_000 {
            let text: String = (0..8)
                .map(|_| {
                    state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    alphabet[(state >> 33) as usize % alphabet.len()]
                })
                .collect();
            assert!(seconds(&text).is_none_or(|seconds| seconds > 0), "{text:?}");
        }
    }
}
