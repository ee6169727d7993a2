//! Settings as flags and environment variables.

use std::sync::LazyLock;

use clap::{Arg, ArgMatches, Args, Command, FromArgMatches};

use super::declaration::Description;
use super::settings::{self, Overrides};

fn flag(setting: &'static Description) -> Arg {
    let range = setting.range.as_ref().map(|range| format!(" [range: {range}]"));
    Arg::new(setting.name)
        .long(&*setting.flag)
        .global(true)
        .env(&*setting.variable)
        .hide_env_values(setting.is_secret)
        .value_name(setting.value_name)
        .help_heading("Settings")
        .help(format!(
            "{}{} [default: {}]",
            setting.meaning,
            range.unwrap_or_default(),
            setting.default
        ))
}

/// All settings, in the order of their declaration. Flags borrow their names from here.
pub(super) static DESCRIPTIONS: LazyLock<Vec<Description>> = LazyLock::new(settings::describe);

impl Args for Overrides {
    fn augment_args(command: Command) -> Command {
        command.args(DESCRIPTIONS.iter().map(flag))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for Overrides {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self::from_flags(|name| matches.get_one(name).cloned()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        Self::from_arg_matches(matches).map(|flags| *self = flags)
    }
}
