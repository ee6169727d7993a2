//! Value formats: how the text of a setting is parsed, checked and printed.

use std::fmt::Display;
use std::ops::{Bound, RangeBounds};
use std::path::PathBuf;
use std::str::FromStr;

use hexforge_domain::network::{Network, NotANetwork};
use hexforge_domain::text::Secret;

type Parse<T> = Box<dyn Fn(&str) -> Result<T, String>>;
type Print<T> = Box<dyn Fn(&T) -> Option<String>>;

/// The format of a value: how it is parsed from text and printed as TOML.
pub(super) struct Form<T> {
    /// Parses the text. The error completes a sentence that begins with the name of the setting.
    pub(super) parse: Parse<T>,
    /// Prints the value. Returns `None` for a secret and for a value that is not set.
    pub(super) print: Print<T>,
    /// The range of a number, as `--help` and the documentation show it.
    pub(super) range: Option<String>,
    /// Whether `--help` hides the value of the environment variable.
    pub(super) is_secret: bool,
}

impl<T: 'static> Form<T> {
    fn new(
        parse: impl Fn(&str) -> Result<T, String> + 'static,
        print: impl Fn(&T) -> Option<String> + 'static,
    ) -> Self {
        Self { parse: Box::new(parse), print: Box::new(print), range: None, is_secret: false }
    }

    /// Also accepts the word `off`, which means `None`.
    pub(super) fn or_off(self) -> Form<Option<T>> {
        let (parse, print) = (self.parse, self.print);
        Form::new(
            move |text| if text.trim() == "off" { Ok(None) } else { parse(text).map(Some) },
            move |value| value.as_ref().map_or_else(|| Some(quoted("off")), &print),
        )
    }

    /// Hides the value in `--help`. Whether it is printed elsewhere depends on the format.
    pub(super) fn secret(self) -> Self {
        Self { is_secret: true, ..self }
    }
}

fn quoted(text: impl Display) -> String {
    toml::Value::String(text.to_string()).to_string()
}

fn not_expected(text: &str, expected: impl Display) -> String {
    format!("is `{text}` and has to be {expected}")
}

/// A text that a function parses.
pub(super) fn text<T: Display + 'static>(
    parse: impl Fn(&str) -> Result<T, String> + 'static,
) -> Form<T> {
    Form::new(parse, |value| Some(quoted(value)))
}

/// A text that the type parses; `expected` describes it in the error.
pub(super) fn parsed<T: FromStr + Display + 'static>(expected: &'static str) -> Form<T> {
    text(move |text| text.trim().parse().map_err(|_| not_expected(text, expected)))
}

/// The path of a file or folder.
pub(super) fn path() -> Form<PathBuf> {
    Form::new(|text| Ok(text.into()), |path: &PathBuf| Some(quoted(path.display())))
}

/// One of several words.
pub(super) fn choice<T: Copy + PartialEq + 'static, const N: usize>(
    choices: [(&'static str, T); N],
) -> Form<T> {
    let words = choices.map(|(word, _)| format!("`{word}`")).join(" or ");
    let parse = move |text: &str| {
        let found = choices.iter().find(|(word, _)| *word == text);
        found.map(|(_, value)| *value).ok_or_else(|| not_expected(text, &words))
    };
    let print = move |value: &T| {
        choices.iter().find(|(_, choice)| choice == value).map(|(word, _)| quoted(word))
    };
    Form::new(parse, print)
}

/// Names, separated by commas. `parse` fails with the first name that is unknown; `problem` says what is wrong with it.
pub(super) fn names<T: Display + 'static>(
    parse: fn(&str) -> Result<T, String>,
    problem: &'static str,
) -> Form<T> {
    text(move |names| parse(names).map_err(|name| format!("has `{name}`, which {problem}")))
}

/// Networks, separated by commas.
pub(super) fn networks() -> Form<Vec<Network>> {
    let parse = |entry: &str| {
        entry.parse().map_err(|error: NotANetwork| format!("has `{entry}`, which {error}"))
    };
    Form::new(
        move |list| {
            list.split(',').map(str::trim).filter(|entry| !entry.is_empty()).map(parse).collect()
        },
        |networks: &Vec<Network>| {
            let networks: Vec<String> = networks.iter().map(Network::to_string).collect();
            Some(quoted(networks.join(", ")))
        },
    )
}

/// A number within a range.
pub(super) fn number<T: FromStr + PartialOrd + Display + 'static>(
    range: impl RangeBounds<T> + 'static,
) -> Form<T> {
    let (bounds, expected) = match (range.start_bound(), range.end_bound()) {
        (Bound::Included(first), Bound::Included(last)) => {
            (Some(format!("{first} to {last}")), format!("a number from {first} to {last}"))
        }
        (Bound::Included(first), _) => (None, format!("a number from {first} on")),
        _ => (None, "a number".to_owned()),
    };
    let parse = move |text: &str| match text.trim().parse() {
        Ok(number) if range.contains(&number) => Ok(number),
        Ok(_) => Err(format!("has to be {expected}")),
        Err(_) => Err(not_expected(text, &expected)),
    };
    Form { range: bounds, ..Form::new(parse, |number: &T| Some(number.to_string())) }
}

/// `true` or `false`.
pub(super) fn switch() -> Form<bool> {
    let parse = |text: &str| text.trim().parse().map_err(|_| not_expected(text, "true or false"));
    Form::new(parse, |switch: &bool| Some(switch.to_string()))
}

/// `true` or `false`, also written as `1` or `0`.
pub(super) fn switch_or_digit() -> Form<bool> {
    let Form { parse, print, .. } = switch();
    let parse = move |text: &str| match text.trim() {
        "1" => Ok(true),
        "0" => Ok(false),
        _ => parse(text),
    };
    Form::new(parse, print)
}

/// A value that is never printed.
pub(super) fn hidden<T: 'static>(parse: fn(&str) -> Result<T, String>) -> Form<T> {
    Form::new(parse, |_| None).secret()
}

/// A password or token.
pub(super) fn secret() -> Form<Secret> {
    hidden(|text| Ok(Secret::new(text)))
}
