//! The settings of the service. The rules of the settings decide which field each one has.

use actix_web::HttpResponse;
use actix_web::http::StatusCode;
use askama::Template;
use hexforge_application::application_settings;
use hexforge_domain::application_settings::ApplicationSettings;
use hexforge_domain::application_settings::rule::{SettingInput, SettingRule, SettingValue};

use super::super::explore::visibility_name;
use super::frame_of;
use crate::cookies::Notice;
use crate::error::PageResult;
use crate::faults::Faults;
use crate::forms::{Choice, Form};
use crate::frame::Frame;
use crate::render;
use crate::table::Pages;
use crate::visit::{Viewer, Visit};
use hexforge_domain::visibility::Visibility;

const SETTINGS: &str = "/admin/application_settings";

pub(super) fn declare(pages: &mut Pages) {
    pages.get(SETTINGS, edit);
    pages.post(SETTINGS, change);
}

/// A setting with its field.
struct Setting {
    name: &'static str,
    label: String,
    field: Field,
}

enum Field {
    Switch(bool),
    Number(String),
    Text(String),
    /// Several lines: a long text, or a list with an entry in each line.
    Lines(String),
    Choices(Vec<Choice>),
    Checks(Vec<Choice>),
}

#[derive(Template)]
#[template(path = "admin/settings.html")]
struct SettingsPage {
    frame: Frame,
    faults: Faults,
    settings: Vec<Setting>,
}

async fn edit(visit: Visit) -> PageResult<HttpResponse> {
    let (viewer, settings) = load(&visit).await?;
    Ok(show(&visit, &viewer, StatusCode::OK, &settings, Faults::default()))
}

async fn load(visit: &Visit) -> PageResult<(Viewer, ApplicationSettings)> {
    let (viewer, view) =
        visit.run(|app, viewer| application_settings::get(app, viewer.actor())).await?;
    Ok((viewer, view.settings))
}

fn show(
    visit: &Visit,
    viewer: &Viewer,
    status: StatusCode,
    settings: &ApplicationSettings,
    faults: Faults,
) -> HttpResponse {
    let values = settings.values();
    let rows = ApplicationSettings::RULES.iter().zip(values);
    let row = |((name, rule), (_, value)): (&(&'static str, SettingRule), (_, SettingValue))| {
        let typed = (!visit.form().raw("sent").is_empty()).then(|| visit.form());
        Setting { name, label: label_of(name), field: field_of(*rule, &value, name, typed) }
    };
    let page = SettingsPage {
        frame: frame_of(visit, viewer, "Settings"),
        faults,
        settings: rows.map(row).collect(),
    };
    render::page_with(status, visit, viewer, &page)
}

/// The label of a setting: its name in words.
fn label_of(name: &str) -> String {
    let words = name.replace('_', " ");
    let mut letters = words.chars();
    let first = letters.next().map_or_else(String::new, |first| first.to_uppercase().to_string());
    format!("{first}{}", letters.as_str())
}

/// The texts of a value: one, or those of a list.
fn texts_of(value: &SettingValue) -> Vec<String> {
    match value {
        SettingValue::Null => vec![],
        SettingValue::Switch(is_set) => vec![is_set.to_string()],
        SettingValue::Integer(number) => vec![number.to_string()],
        SettingValue::Text(text) => vec![text.clone()],
        SettingValue::List(values) => values.iter().flat_map(texts_of).collect(),
    }
}

fn field_of(rule: SettingRule, value: &SettingValue, name: &str, typed: Option<&Form>) -> Field {
    let texts = match typed {
        Some(form) => form.all(name).map(str::to_owned).collect(),
        None => texts_of(value),
    };
    let text = || texts.first().cloned().unwrap_or_default();
    let is_chosen = |value: &str| texts.iter().any(|text| text == value);
    let choice = |value: String, label: String| {
        let is_chosen = is_chosen(&value);
        Choice::new(value, label, is_chosen)
    };
    match rule {
        SettingRule::Switch => Field::Switch(is_chosen("true") || is_chosen("1")),
        SettingRule::Integer { .. } => Field::Number(text()),
        SettingRule::OneOf(numbers) => {
            let options = numbers
                .iter()
                .map(|number| choice(number.to_string(), number_label(name, *number)));
            Field::Choices(with_default(name, texts.is_empty(), options.collect()))
        }
        SettingRule::Word(words) => {
            let options = words.iter().map(|word| choice((*word).to_owned(), (*word).to_owned()));
            Field::Choices(with_default(name, texts.is_empty(), options.collect()))
        }
        SettingRule::Text { max } if max > 1000 => Field::Lines(text()),
        SettingRule::Text { .. } | SettingRule::Url => Field::Text(text()),
        SettingRule::Texts { .. } => Field::Lines(texts.join("\n")),
        SettingRule::SomeLevels => Field::Checks(
            [Visibility::Private, Visibility::Internal, Visibility::Public]
                .map(|level| choice(level.level().to_string(), visibility_name(level).to_owned()))
                .into(),
        ),
    }
}

/// Adds an option without a value, for settings that may have none.
fn with_default(name: &str, is_chosen: bool, options: Vec<Choice>) -> Vec<Choice> {
    match name {
        "default_group_visibility" | "enabled_git_access_protocol" => {
            let none = Choice::new("", "Default", is_chosen);
            [none].into_iter().chain(options).collect()
        }
        _ => options,
    }
}

fn number_label(name: &str, number: i64) -> String {
    let level = name.ends_with("visibility").then(|| Visibility::from_level(number)).flatten();
    match (level, number) {
        (Some(level), _) => visibility_name(level).to_owned(),
        (None, 0) => "Not protected".to_owned(),
        (None, 1) => "Partially protected".to_owned(),
        (None, 2) => "Fully protected".to_owned(),
        (None, 3) => "Protected, developers can merge".to_owned(),
        (None, number) => number.to_string(),
    }
}

/// The settings of the form. A checkbox that is not set is not sent.
fn given(form: &Form) -> Vec<(&'static str, SettingInput)> {
    let input = |(name, rule): &(&'static str, SettingRule)| {
        let text = || form.given(name).map(|text| SettingInput::Text(text.to_owned()));
        let value = match rule {
            SettingRule::Switch => Some(SettingInput::Text(form.is_set(name).to_string())),
            SettingRule::SomeLevels => {
                Some(SettingInput::List(form.all(name).map(str::to_owned).collect()))
            }
            SettingRule::Texts { .. } => form.given(name).map(|text| {
                let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
                SettingInput::List(lines.map(str::to_owned).collect())
            }),
            SettingRule::Integer { .. }
            | SettingRule::OneOf(_)
            | SettingRule::Word(_)
            | SettingRule::Text { .. }
            | SettingRule::Url => text(),
        };
        value.map(|value| (*name, value))
    };
    ApplicationSettings::RULES.iter().filter_map(input).collect()
}

async fn change(visit: Visit) -> PageResult<HttpResponse> {
    let (_, settings) = load(&visit).await?;
    let given = given(visit.form());
    let (viewer, changed) = visit
        .submit(move |app, signed_in| {
            application_settings::update(app, signed_in.actor, &given).map(drop)
        })
        .await?;
    match changed {
        Ok(()) => Ok(render::see_other_with(&visit, SETTINGS, Notice::Saved)),
        Err(faults) => {
            let status = StatusCode::UNPROCESSABLE_ENTITY;
            Ok(show(&visit, &viewer, status, &settings, faults))
        }
    }
}
