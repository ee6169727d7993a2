//! Rules of *picked* parameters: the response names only the first invalid parameter, and most values are accepted.

use chrono::NaiveDate;
use hexforge_application::error::Error;
use hexforge_domain::Timestamp;
use hexforge_domain::visibility::Visibility;

use super::parameter::Rule;
use crate::error::ApiError;
use crate::openapi as doc;

/// A text; a blank one counts as not given.
pub fn text(name: &'static str, max: usize) -> Rule<Option<String>> {
    Rule::new(doc::text(name, max), |from, param| from.pick(|params| params.text(param.name())))
}

/// A text that is required; a blank one counts as not given.
pub fn needed_text(name: &'static str, max: usize) -> Rule<String> {
    Rule::new(doc::text(name, max).needed(), |from, param| {
        from.pick(|params| {
            let text = params.text(param.name())?;
            Ok(text.ok_or(Error::NotGiven(param.name()))?)
        })
    })
}

/// A required text with any characters, NUL included; a blank one counts as not given.
pub fn needed_content(name: &'static str, max: usize) -> Rule<String> {
    Rule::new(doc::text(name, max).needed(), |from, param| {
        from.pick(|params| {
            let text = params.content(param.name())?;
            let text = text.filter(|text| !text.trim().is_empty());
            Ok(text.ok_or(Error::NotGiven(param.name()))?)
        })
    })
}

/// A date with a time in ISO 8601; a blank text counts as not given.
pub fn timestamp(name: &'static str) -> Rule<Option<Timestamp>> {
    Rule::new(doc::moment(name), |from, param| from.pick(|params| params.timestamp(param.name())))
}

/// A text that may be empty; null counts as not given.
pub fn possibly_empty_text(name: &'static str, max: usize) -> Rule<Option<String>> {
    Rule::new(doc::text(name, max), |from, param| {
        from.pick(|params| params.possibly_empty_text(param.name()))
    })
}

/// A text to search for; a blank one counts as not given.
pub fn search(name: &'static str, max: usize) -> Rule<Option<String>> {
    Rule::new(doc::text(name, max), |from, param| from.pick(|params| params.search(param.name())))
}

/// A value of any type as a text; a blank one counts as not given.
pub fn any_text(name: &'static str, max: usize) -> Rule<Option<String>> {
    Rule::new(doc::text(name, max), |from, param| from.params().any_text(param.name()))
}

/// A text with any characters, NUL included, such as the output of a program.
pub fn content(name: &'static str, max: usize) -> Rule<Option<String>> {
    Rule::new(doc::text(name, max), |from, param| from.pick(|params| params.content(param.name())))
}

/// A number as text; the use case parses it.
pub fn text_of_number(name: &'static str) -> Rule<Option<String>> {
    Rule::new(doc::integer(name), |from, param| from.pick(|params| params.text(param.name())))
}

/// A whole number; another text becomes 0, which is the id of nothing.
pub fn number(name: &'static str) -> Rule<Option<i64>> {
    Rule::new(doc::integer(name), |from, param| from.pick(|params| params.number(param.name())))
}

/// A boolean; another text counts as not given.
pub fn switch(name: &'static str) -> Rule<Option<bool>> {
    Rule::new(doc::boolean(name), |from, param| from.pick(|params| params.switch(param.name())))
}

/// A boolean; every other value, lists included, counts as not given.
pub fn lenient_switch(name: &'static str) -> Rule<Option<bool>> {
    Rule::new(doc::boolean(name), |from, param| from.params().switch(param.name()).ok().flatten())
}

/// A boolean; another text counts as `false`.
pub fn switch_or_false(name: &'static str) -> Rule<Option<bool>> {
    Rule::new(doc::boolean(name), |from, param| {
        from.pick(|params| params.switch_or_false(param.name()))
    })
}

/// A date, with or without a time.
pub fn day(name: &'static str) -> Rule<Option<NaiveDate>> {
    Rule::new(doc::date(name), |from, param| from.pick(|params| params.day(param.name())))
}

/// A date with a time.
pub fn moment(name: &'static str) -> Rule<Option<Timestamp>> {
    Rule::new(doc::moment(name), |from, param| from.pick(|params| params.moment(param.name())))
}

/// A text that OpenAPI describes as one of these words; the use case accepts every text.
pub fn word(name: &'static str, words: &'static [&'static str]) -> Rule<Option<String>> {
    Rule::new(doc::one_of(name, words), |from, param| from.pick(|params| params.text(param.name())))
}

/// The name of a visibility level.
pub fn visibility(name: &'static str) -> Rule<Option<Visibility>> {
    Rule::new(doc::one_of(name, &["public", "internal", "private"]), |from, param| {
        let word = from.pick(|params| params.text(param.name()))?;
        let visibility = Visibility::parse(word.trim());
        if visibility.is_none() {
            let problem = format!("{} does not have a valid value", param.name());
            from.refuse(ApiError::bad_request(problem));
        }
        visibility
    })
}

/// Words, given as a list or as one text with commas.
pub fn words(name: &'static str, max: usize) -> Rule<Vec<String>> {
    Rule::new(doc::texts(name, max), |from, param| from.pick(|params| params.words(param.name())))
}

/// Texts by key; `None` if the value is something else.
pub fn text_map(name: &'static str, max: usize) -> Rule<Option<Vec<(String, String)>>> {
    Rule::new(doc::map(name, max), |from, param| from.params().text_map(param.name()))
}

/// Texts by key; members that are not texts are left out.
pub fn lenient_text_map(name: &'static str, max: usize) -> Rule<Vec<(String, String)>> {
    Rule::new(doc::map(name, max), |from, param| from.params().lenient_text_map(param.name()))
}
