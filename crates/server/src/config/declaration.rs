//! The declaration of a setting, and the macro that generates fields and functions from it.

use std::fmt::Display;

use anyhow::{Result, anyhow};

use super::form::Form;

/// A setting: how its value is parsed, its default, and its documentation.
pub(super) struct Setting<T> {
    pub(super) form: Form<T>,
    pub(super) fallback: Fallback<T>,
    pub(super) default_shown: String,
    pub(super) note: &'static str,
}

/// The value of a setting that is not set.
pub(super) enum Fallback<T> {
    Text(String),
    Unset(T),
}

impl<T: 'static> Form<T> {
    /// A setting with a default value.
    pub(super) fn default(self, default: impl Display) -> Setting<T> {
        let text = default.to_string();
        Setting {
            form: self,
            fallback: Fallback::Text(text.clone()),
            default_shown: text,
            note: "",
        }
    }

    /// An optional setting; `meaning` describes the behavior without a value.
    pub(super) fn optional(self, meaning: &str) -> Setting<Option<T>> {
        let Self { parse, print, range, is_secret } = self;
        let parse = Box::new(move |text: &str| parse(text).map(Some));
        let print = Box::new(move |value: &Option<T>| value.as_ref().and_then(&print));
        let (form, fallback) = (Form { parse, print, range, is_secret }, Fallback::Unset(None));
        Setting { form, fallback, default_shown: meaning.to_owned(), note: "" }
    }
}

impl<T> Setting<T> {
    /// Replaces the default in the documentation by words, where its text would mislead.
    pub(super) fn default_in_words(self, words: &str) -> Self {
        Self { default_shown: words.to_owned(), ..self }
    }

    /// Adds a sentence to the documentation that `--help` does not have.
    pub(super) fn note(self, note: &'static str) -> Self {
        Self { note, ..self }
    }

    /// Parses the given text, or the default.
    pub(super) fn read(self, name: &str, chosen: Option<String>) -> Result<T> {
        let text = match (chosen, self.fallback) {
            (Some(text), _) | (None, Fallback::Text(text)) => text,
            (None, Fallback::Unset(value)) => return Ok(value),
        };
        (self.form.parse)(&text).map_err(|problem| anyhow!("{name} {problem}"))
    }

    /// The line of `--print-config`, unless the value is secret or not set.
    pub(super) fn print(&self, name: &str, value: &T) -> Option<String> {
        (self.form.print)(value).map(|value| format!("{name} = {value}\n"))
    }

    pub(super) fn describe(
        self,
        name: &'static str,
        value_name: &'static str,
        help: &[&str],
    ) -> Description {
        let help = help.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
        Description {
            name,
            flag: name.replace('_', "-"),
            variable: format!("HEXFORGE_{}", name.to_uppercase()),
            value_name,
            meaning: help.trim_end_matches('.').to_owned(),
            note: self.note,
            range: self.form.range,
            default: self.default_shown,
            is_secret: self.form.is_secret,
        }
    }
}

/// A setting as `--help` and the documentation show it.
pub(super) struct Description {
    pub(super) name: &'static str,
    pub(super) flag: String,
    pub(super) variable: String,
    pub(super) value_name: &'static str,
    pub(super) meaning: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "a test generates the documentation"))]
    pub(super) note: &'static str,
    pub(super) range: Option<String>,
    pub(super) default: String,
    pub(super) is_secret: bool,
}

/// The value of a flag or variable. An empty one counts as not set.
pub(super) fn unless_empty(value: Option<String>) -> Option<String> {
    value.filter(|value| !value.trim().is_empty())
}

/// Declares settings. Each has the form
/// ```text
/// /// The text of `--help`, of the documentation and of the field.
/// name: Type = "VALUE_NAME", form.default(value);
/// ```
/// The name is the key in the file; `--name` and `HEXFORGE_NAME` follow from it.
macro_rules! declare_settings {
    ($($(#[doc = $help:literal])+ $name:ident: $type:ty = $value_name:literal, $setting:expr;)+) => {
        /// The settings of one run, all valid.
        #[derive(Clone)]
        pub struct Config {
            $($(#[doc = $help])+ pub $name: $type,)+
        }

        /// Settings given by flag, variable or file. They are kept as text, so that an error reads
        /// the same whatever the source.
        #[derive(Clone, Default, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Overrides {
            $($(#[doc = $help])+ pub $name: Option<String>,)+
        }

        impl Overrides {
            pub(super) fn from_flags(flag: impl Fn(&str) -> Option<String>) -> Self {
                Self { $($name: flag(stringify!($name)),)+ }
            }

            /// Fills missing settings from `others`. An empty flag or variable counts as not set.
            pub(super) fn or(self, others: Self) -> Self {
                Self { $($name: unless_empty(self.$name).or(others.$name),)+ }
            }
        }

        impl Config {
            /// Parses the given settings. The error names the first invalid setting.
            pub(super) fn parse(chosen: Overrides) -> Result<Self> {
                Ok(Self {
                    $($name: Setting::<$type>::read($setting, stringify!($name), chosen.$name)?,)+
                })
            }

            /// The lines of a settings file with these values, without secrets.
            pub(super) fn lines(&self) -> Vec<String> {
                let lines = [$(Setting::<$type>::print(&$setting, stringify!($name), &self.$name),)+];
                lines.into_iter().flatten().collect()
            }
        }

        pub(super) fn describe() -> Vec<Description> {
            vec![$(Setting::<$type>::describe($setting, stringify!($name), $value_name, &[$($help),+]),)+]
        }
    };
}
pub(super) use declare_settings;
