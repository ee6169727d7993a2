//! `hexforge settings`.

use std::process::ExitCode;

use anyhow::{Context, Result, bail};
use hexforge_application::app::App;
use hexforge_application::application_settings;
use hexforge_domain::application_settings::ApplicationSettings;
use hexforge_domain::application_settings::rule::{SettingInput, SettingRule, SettingValue};
use hexforge_domain::policy::Actor;

use super::{print, remove_control_characters};
use crate::cli::Settings;

pub(super) fn run(app: &App, command: Settings) -> Result<ExitCode> {
    match command {
        Settings::Show => show(app)?,
        Settings::Set { name, values } => set(app, &name, values)?,
        Settings::Reset { name } => reset(app, &name)?,
    }
    Ok(ExitCode::SUCCESS)
}

fn show(app: &App) -> Result<()> {
    let values = application_settings::get(app, Actor::OPERATOR)?.settings.values();
    let initial = app.application_settings.initial().values();
    for ((name, value), (_, initial)) in values.into_iter().zip(initial) {
        let mark = if value == initial { "" } else { "\tchanged" };
        print(&format!("{name}\t{}{mark}\n", text(&value)))?;
    }
    Ok(())
}

fn set(app: &App, name: &str, values: Vec<String>) -> Result<()> {
    let (name, rule) = find(name)?;
    let input = match (rule.takes_list(), <[String; 1]>::try_from(values)) {
        (true, Ok(one)) => SettingInput::List(one.to_vec()),
        (true, Err(values)) => SettingInput::List(values),
        (false, Ok([value])) if !value.trim().is_empty() => SettingInput::Text(value),
        (false, _) => bail!("the setting `{name}` needs one value; `settings reset` removes it"),
    };
    let changed = application_settings::update(app, Actor::OPERATOR, &[(name, input)]);
    let changed = changed.with_context(|| format!("the setting `{name}` cannot be changed"))?;
    let value = changed.settings.values().into_iter().find(|(shown, _)| *shown == name);
    let value = value.map_or(SettingValue::Null, |(_, value)| value);
    print(&format!("{name}\t{}\n", text(&value)))
}

fn reset(app: &App, name: &str) -> Result<()> {
    let (name, _) = find(name)?;
    let outcome = application_settings::reset(app, Actor::OPERATOR, name);
    let was_changed = outcome.with_context(|| format!("the setting `{name}` cannot be reset"))?;
    print(&match was_changed {
        true => format!("the setting `{name}` has its initial value again\n"),
        false => format!("the setting `{name}` has its initial value already\n"),
    })
}

fn find(name: &str) -> Result<(&'static str, SettingRule)> {
    let found = ApplicationSettings::RULES.iter().find(|(known, _)| *known == name);
    found.copied().with_context(|| {
        format!("there is no setting `{name}`; `hexforge settings show` lists all of them")
    })
}

/// A value on one line.
fn text(value: &SettingValue) -> String {
    match value {
        SettingValue::Null => "-".to_owned(),
        SettingValue::Switch(value) => value.to_string(),
        SettingValue::Integer(value) => value.to_string(),
        SettingValue::Text(value) => remove_control_characters(value),
        SettingValue::List(items) => items.iter().map(text).collect::<Vec<_>>().join(" "),
    }
}
