//! Rules of *declared* parameters: the response names all invalid parameters, in the order of declaration.

use chrono::NaiveDate;
use hexforge_application::commit::Action;
use hexforge_domain::Timestamp;

use super::actions;
use super::parameter::Rule;
use crate::openapi as doc;

/// A text; an empty one is a value.
pub fn text(name: &'static str, max: usize) -> Rule<Option<String>> {
    Rule::new(doc::text(name, max), |from, param| from.text(param.name()))
}

/// A text with any characters, NUL included; an empty one is a value. The use case checks the characters.
pub fn content(name: &'static str, max: usize) -> Rule<Option<String>> {
    Rule::new(doc::text(name, max), |from, param| from.content(param.name()))
}

/// A text to search for; an empty one counts as not given.
pub fn search(name: &'static str, max: usize) -> Rule<Option<String>> {
    Rule::new(doc::text(name, max), |from, param| from.search(param.name()))
}

/// A whole number; an empty text counts as not given.
pub fn integer(name: &'static str) -> Rule<Option<i64>> {
    Rule::new(doc::integer(name), |from, param| from.integer(param.name()))
}

/// A list of whole numbers; a single number is invalid.
pub fn integers(name: &'static str) -> Rule<Option<Vec<i64>>> {
    Rule::new(doc::integers(name), |from, param| from.integers(param.name()))
}

/// One whole number, or a list of them; an empty text counts as not given.
pub fn one_or_more_integers(name: &'static str) -> Rule<Option<Vec<i64>>> {
    Rule::new(doc::integers(name), |from, param| from.one_or_more_integers(param.name()))
}

/// A boolean; an empty text counts as not given.
pub fn boolean(name: &'static str) -> Rule<Option<bool>> {
    Rule::new(doc::boolean(name), |from, param| from.boolean(param.name()))
}

/// A date, with or without a time; an empty text counts as not given.
pub fn date(name: &'static str) -> Rule<Option<NaiveDate>> {
    Rule::new(doc::date(name), |from, param| from.date(param.name()))
}

/// A date with a time; an empty text counts as not given.
pub fn moment(name: &'static str) -> Rule<Option<Timestamp>> {
    Rule::new(doc::moment(name), |from, param| from.moment(param.name()))
}

/// One of these words.
pub fn one_of(name: &'static str, words: &'static [&'static str]) -> Rule<Option<&'static str>> {
    Rule::new(doc::one_of(name, words), |from, param| from.one_of(param.name(), param.words()))
}

/// The number of a visibility level.
pub fn level(name: &'static str) -> Rule<Option<i64>> {
    Rule::new(doc::integer(name), |from, param| {
        let level = from.one_of(param.name(), &["0", "10", "20"])?;
        level.parse().ok()
    })
}

/// One of these words; a blank text counts as not given.
pub fn one_of_unless_blank(
    name: &'static str,
    words: &'static [&'static str],
) -> Rule<Option<&'static str>> {
    Rule::new(doc::one_of(name, words), |from, param| {
        let given = from.pick(|params| params.text(param.name()));
        given.and_then(|_| from.one_of(param.name(), param.words()))
    })
}

/// One of these words, or a list of them.
pub fn several_of(
    name: &'static str,
    words: &'static [&'static str],
) -> Rule<Option<Vec<&'static str>>> {
    Rule::new(doc::several_of(name, words), |from, param| {
        from.several_of(param.name(), param.words())
    })
}

/// Words, given as a list or as one text with commas.
pub fn words(name: &'static str, max: usize) -> Rule<Option<Vec<String>>> {
    Rule::new(doc::texts(name, max), |from, param| {
        let is_given = from.has(param.name());
        is_given.then(|| from.pick(|params| params.words(param.name())))
    })
}

/// Texts by key; `None` if a value of the object is not a text. Everything but an object is invalid.
pub fn text_map(name: &'static str, max: usize) -> Rule<Option<Vec<(String, String)>>> {
    Rule::new(doc::map(name, max), |from, param| from.text_map(param.name()))
}

/// The actions of a commit. Everything else is invalid, null included.
pub fn actions(name: &'static str) -> Rule<Option<Vec<Action>>> {
    Rule::new(doc::objects(name, actions::MEMBERS), |from, param| from.actions(param.name()))
}

/// The id of a commit in the path, which may be abbreviated: 6 to 40 hexadecimal digits.
pub fn commit_in_path(name: &'static str) -> Rule<String> {
    Rule::commit_in_path(name)
}

/// A whole number in the path, under its name in the pattern.
pub fn in_path(name: &'static str) -> Rule<i64> {
    Rule::in_path(name)
}
