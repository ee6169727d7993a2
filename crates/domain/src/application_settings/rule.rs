//! The types of settings, and the rules for their values in requests.

use super::{DefaultBranchProtection, GitProtocol};
use crate::field_errors::FieldProblem;
use crate::hook::HookUrl;
use crate::text::{parse_boolean, within};
use crate::user::ProjectsLimit;
use crate::visibility::Visibility;

/// The value of a setting in a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingInput {
    /// A text, a number or a boolean, as text.
    Text(String),
    /// A list of such values.
    List(Vec<String>),
    /// A value that no setting has, such as an object.
    Other,
}

/// The value of a setting, as it is stored and shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SettingValue {
    /// No value.
    Null,
    /// A boolean.
    Switch(bool),
    /// A whole number.
    Integer(i64),
    /// A text.
    Text(String),
    /// A list.
    List(Vec<SettingValue>),
}

impl SettingValue {
    /// The value as a text of a request. A list has none.
    fn to_text(&self) -> String {
        match self {
            Self::Null | Self::List(_) => String::new(),
            Self::Switch(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Text(value) => value.clone(),
        }
    }
}

/// The rule for the values of a setting in requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettingRule {
    /// A boolean.
    Switch,
    /// A whole number in a range.
    Integer {
        /// The smallest number.
        least: i64,
        /// The largest number.
        most: i64,
    },
    /// One of these numbers.
    OneOf(&'static [i64]),
    /// One of these words.
    Word(&'static [&'static str]),
    /// A text.
    Text {
        /// The maximum number of characters.
        max: usize,
    },
    /// A URL with http or https.
    Url,
    /// A list of texts. Blank entries are left out.
    Texts {
        /// The maximum number of characters of an entry.
        max: usize,
        /// The maximum number of entries.
        most: usize,
    },
    /// A list of visibility levels. Blank entries are left out.
    SomeLevels,
}

/// The maximum number of characters of an invalid value that an error text repeats.
const QUOTED: usize = 50;

impl SettingRule {
    /// Returns whether the setting is a list.
    pub fn takes_list(self) -> bool {
        matches!(self, Self::Texts { .. } | Self::SomeLevels)
    }

    /// Parses the value of a request. A single value for a list is its only entry.
    /// # Errors
    /// The text of the error, without the name of the setting.
    pub fn parse(self, input: &SettingInput) -> Result<SettingValue, String> {
        match (self.takes_list(), input) {
            (true, SettingInput::List(items)) => self.parse_list(items),
            (true, SettingInput::Text(item)) => self.parse_list(std::slice::from_ref(item)),
            (false, SettingInput::Text(text)) => self.parse_text(text),
            (true, SettingInput::Other) => Err(FieldProblem::Invalid.to_string()),
            (false, SettingInput::List(_) | SettingInput::Other) => Err(self.wrong_type()),
        }
    }

    /// Returns whether a stored value is one that [`parse`](Self::parse) makes. Whether a setting may have no value is
    /// decided by its type.
    pub fn allows(self, value: &SettingValue) -> bool {
        let input = match value {
            SettingValue::Null => return true,
            SettingValue::List(items) => {
                SettingInput::List(items.iter().map(SettingValue::to_text).collect())
            }
            value => SettingInput::Text(value.to_text()),
        };
        self.parse(&input).as_ref() == Ok(value)
    }

    /// The error text for a list or object in place of a single value.
    fn wrong_type(self) -> String {
        match self {
            Self::Integer { .. } => NOT_A_NUMBER.to_owned(),
            Self::Switch | Self::OneOf(_) | Self::Word(_) => FieldProblem::NotInList.to_string(),
            Self::Text { .. } | Self::Url | Self::Texts { .. } | Self::SomeLevels => {
                FieldProblem::Invalid.to_string()
            }
        }
    }

    fn parse_text(self, text: &str) -> Result<SettingValue, String> {
        let unknown = || FieldProblem::NotInList.to_string();
        match self {
            Self::Integer { least, most } => integer(text, least, most).map(SettingValue::Integer),
            Self::Switch => parse_boolean(text).map(SettingValue::Switch).ok_or_else(unknown),
            Self::OneOf(numbers) => {
                let number = text.trim().parse().ok().filter(|number| numbers.contains(number));
                number.map(SettingValue::Integer).ok_or_else(unknown)
            }
            Self::Word(words) => {
                let word = words.iter().find(|word| **word == text.trim());
                word.map(|word| SettingValue::Text((*word).to_owned())).ok_or_else(unknown)
            }
            Self::Text { max } => bounded(text, max),
            Self::Url => match HookUrl::parse(text) {
                Ok(url) => Ok(SettingValue::Text(url.as_str().to_owned())),
                Err(error) => Err(error.to_string()),
            },
            Self::Texts { .. } | Self::SomeLevels => Err(self.wrong_type()),
        }
    }

    fn parse_list(self, items: &[String]) -> Result<SettingValue, String> {
        let items = items.iter().map(|item| item.trim()).filter(|item| !item.is_empty());
        let mut values: Vec<SettingValue> = Vec::new();
        for item in items {
            let value = match self {
                Self::SomeLevels => SettingValue::Integer(level(item)?),
                Self::Texts { max, most } => {
                    if values.len() == most {
                        return Err(format!("is too long (maximum is {most} entries)"));
                    }
                    bounded(item, max)?
                }
                _ => return Err(self.wrong_type()),
            };
            if !values.contains(&value) {
                values.push(value);
            }
        }
        Ok(SettingValue::List(values))
    }
}

const NOT_A_NUMBER: &str = "is not a number";

fn bounded(text: &str, max: usize) -> Result<SettingValue, String> {
    within(text, max).map_err(|error| error.to_string())?;
    Ok(SettingValue::Text(text.to_owned()))
}

fn level(item: &str) -> Result<i64, String> {
    let found = item.parse().ok().filter(|level| Visibility::from_level(*level).is_some());
    found.ok_or_else(|| {
        let item: String = item.chars().take(QUOTED).collect();
        format!("'{item}' is not a valid visibility level")
    })
}

/// Parses a whole number of any length.
fn integer(text: &str, least: i64, most: i64) -> Result<i64, String> {
    let text = text.trim();
    let (is_negative, digits) = match text.strip_prefix(['-', '+']) {
        Some(digits) => (text.starts_with('-'), digits),
        None => (false, text),
    };
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        let is_number = text.parse::<f64>().is_ok_and(f64::is_finite);
        return Err(if is_number { "must be an integer" } else { NOT_A_NUMBER }.to_owned());
    }
    // A number that does not fit is out of every range.
    let number = text.parse().unwrap_or(if is_negative { i64::MIN } else { i64::MAX });
    match number {
        number if number < least && least == 1 => Err("must be greater than 0".to_owned()),
        number if number < least => Err(format!("must be greater than or equal to {least}")),
        number if number > most => Err(format!("must be less than or equal to {most}")),
        number => Ok(number),
    }
}

/// A type of settings, with its conversion to and from stored values.
pub trait SettingType: Sized {
    /// Returns the value as it is stored.
    fn to_value(&self) -> SettingValue;

    /// Converts a stored value. Returns `None` for a value of another type.
    fn from_value(value: &SettingValue) -> Option<Self>;
}

/// Implements [`SettingType`] by one kind of value and two conversions.
macro_rules! setting_type {
    ($($type:ty, $kind:ident: $to:expr, $from:expr;)+) => {$(
        impl SettingType for $type {
            fn to_value(&self) -> SettingValue {
                SettingValue::$kind($to(self))
            }

            fn from_value(value: &SettingValue) -> Option<Self> {
                match value {
                    SettingValue::$kind(value) => $from(value),
                    _ => None,
                }
            }
        }
    )+};
}

setting_type! {
    bool, Switch: |value: &bool| *value, |value: &bool| Some(*value);
    i64, Integer: |value: &i64| *value, |value: &i64| Some(*value);
    String, Text: String::clone, |value: &String| Some(value.clone());
    ProjectsLimit, Integer: |limit: &Self| limit.0.into(),
        |value: &i64| i32::try_from(*value).ok().map(ProjectsLimit);
    Visibility, Integer: |level: &Self| level.level().into(),
        |value: &i64| Visibility::from_level(*value);
    DefaultBranchProtection, Integer: |one: &Self| one.number(),
        |value: &i64| DefaultBranchProtection::from_number(*value);
    GitProtocol, Text: |protocol: &Self| protocol.as_str().to_owned(),
        |value: &String| GitProtocol::parse(value);
}

impl<T: SettingType> SettingType for Option<T> {
    fn to_value(&self) -> SettingValue {
        self.as_ref().map_or(SettingValue::Null, T::to_value)
    }

    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::Null => Some(None),
            value => T::from_value(value).map(Some),
        }
    }
}

impl<T: SettingType> SettingType for Vec<T> {
    fn to_value(&self) -> SettingValue {
        SettingValue::List(self.iter().map(T::to_value).collect())
    }

    fn from_value(value: &SettingValue) -> Option<Self> {
        match value {
            SettingValue::List(items) => items.iter().map(T::from_value).collect(),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_whole_and_in_their_range() {
        let rule = SettingRule::Integer { least: 1, most: 9 };
        for (text, expected) in [
            ("1", Ok(1)),
            (" +9 ", Ok(9)),
            ("0", Err("must be greater than 0")),
            ("-99999999999999999999", Err("must be greater than 0")),
            ("10", Err("must be less than or equal to 9")),
            ("99999999999999999999", Err("must be less than or equal to 9")),
            ("1.5", Err("must be an integer")),
            ("1e0", Err("must be an integer")),
            ("inf", Err("is not a number")),
            ("1x", Err("is not a number")),
            ("-", Err("is not a number")),
        ] {
            let parsed = rule.parse(&SettingInput::Text(text.to_owned()));
            let expected = expected.map(SettingValue::Integer).map_err(str::to_owned);
            assert_eq!(parsed, expected, "{text}");
        }
    }

    #[test]
    fn lists_leave_out_blank_and_repeated_entries() {
        let texts = SettingRule::Texts { max: 3, most: 2 };
        let list = |items: &[&str]| {
            SettingInput::List(items.iter().map(|item| (*item).to_owned()).collect())
        };
        let shown = |items: &[&str]| {
            let items = items.iter().map(|item| SettingValue::Text((*item).to_owned()));
            Ok(SettingValue::List(items.collect()))
        };
        for (input, expected) in [
            (list(&[]), shown(&[])),
            (list(&["", " "]), shown(&[])),
            (list(&[" a ", "a", "b"]), shown(&["a", "b"])),
            (SettingInput::Text("a".to_owned()), shown(&["a"])),
            (list(&["abcd"]), Err("is too long (maximum is 3 characters)".to_owned())),
            (list(&["a", "b", "c"]), Err("is too long (maximum is 2 entries)".to_owned())),
            (SettingInput::Other, Err("is invalid".to_owned())),
        ] {
            assert_eq!(texts.parse(&input), expected, "{input:?}");
        }
        let long = "9".repeat(1000);
        let refused = SettingRule::SomeLevels.parse(&list(&[&long])).expect_err("no level");
        assert_eq!(refused, format!("'{}' is not a valid visibility level", &long[..QUOTED]));
    }

    #[test]
    fn single_values_are_not_lists() {
        for (rule, problem) in [
            (SettingRule::Switch, "is not included in the list"),
            (SettingRule::Integer { least: 0, most: 1 }, "is not a number"),
            (SettingRule::OneOf(&[0]), "is not included in the list"),
            (SettingRule::Word(&["a"]), "is not included in the list"),
            (SettingRule::Text { max: 1 }, "is invalid"),
            (SettingRule::Url, "is invalid"),
        ] {
            for input in [SettingInput::List(vec![]), SettingInput::Other] {
                assert_eq!(rule.parse(&input), Err(problem.to_owned()), "{rule:?}");
            }
        }
    }
}
