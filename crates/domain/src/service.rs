//! Services: the integrations of a project with other systems, one settings object per service.

pub mod port;
pub mod slack;
pub mod table;

use std::collections::BTreeMap;
use std::fmt;

use crate::Timestamp;
use crate::field_errors::FieldErrors;
use crate::hook::{HookUrl, HookUrlError, is_http_url};
use crate::id::{ProjectId, ServiceId};
use crate::text::{limit, within};
pub use table::{Property, ServiceKind};

/// Stands for the number of an issue in the address of an issue tracker.
pub const ISSUE_ID: &str = ":id";

/// The settings of a service of a project, as they are stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectService {
    /// Assigned by the store.
    pub id: ServiceId,
    /// The project.
    pub project: ProjectId,
    /// The kind of service.
    pub kind: ServiceKind,
    /// Whether the service is in use.
    pub active: bool,
    /// The properties.
    pub properties: Properties,
    /// When the settings were first changed.
    pub created_at: Timestamp,
    /// When the settings were last changed.
    pub updated_at: Timestamp,
}

impl ProjectService {
    /// The URL to which events of the project are delivered; `None` for a service that is not active, and for kinds that
    /// are only stored.
    pub fn delivery_url(&self) -> Option<HookUrl> {
        let url = self.properties.text(slack::WEBHOOK)?;
        let delivers = self.active && self.kind.is_chat();
        delivers.then(|| HookUrl::stored(url.trim().to_owned()))
    }

    /// The address of the tracker or wiki that takes the place of a page of the project; `None` for a service that is not
    /// active, and for kinds that change no links.
    pub fn link(&self) -> Option<&str> {
        let names = ["project_url", "external_wiki_url", "url"];
        let changes_links = self.active && self.kind.is_link();
        let given = || names.into_iter().find_map(|name| self.properties.text(name));
        changes_links.then(given).flatten().map(str::trim).filter(|url| is_http_url(url))
    }

    /// The address of an issue in the tracker, as a template that contains `:id`; `None` for a service that is not active,
    /// and for kinds that have no such address.
    pub fn issue_template(&self) -> Option<&str> {
        let given = || self.properties.text("issues_url").map(str::trim);
        let is_tracker = self.active && self.kind.is_tracker();
        is_tracker.then(given).flatten().filter(|url| is_http_url(url) && url.contains(ISSUE_ID))
    }

    /// The title: the property `title` of an issue tracker, else that of the kind.
    pub fn title(&self) -> &str {
        let own = self.kind.property("title").and_then(|title| self.properties.text(title.name));
        own.unwrap_or(self.kind.title())
    }
}

/// The value of a property, as it was given.
#[derive(Clone, PartialEq, Eq)]
pub enum PropertyValue {
    /// A text.
    Text(String),
    /// A boolean.
    Flag(bool),
    /// A number, in the notation of JSON.
    Number(String),
}

impl PropertyValue {
    /// Returns whether the value is a blank text, which counts as not given.
    fn is_blank(&self) -> bool {
        match self {
            PropertyValue::Text(text) => text.trim().is_empty(),
            PropertyValue::Flag(_) | PropertyValue::Number(_) => false,
        }
    }

    /// Returns whether the value stands for yes. Forms send booleans as texts.
    fn is_true(&self) -> bool {
        match self {
            PropertyValue::Flag(is_true) => *is_true,
            PropertyValue::Text(text) | PropertyValue::Number(text) => {
                matches!(
                    text.trim().to_ascii_lowercase().as_str(),
                    "true" | "t" | "1" | "yes" | "on"
                )
            }
        }
    }
}

/// The properties of a service by name. A null is the value of a property that was removed.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Properties(BTreeMap<String, Option<PropertyValue>>);

/// Values may be secrets, so only the names are printed.
impl fmt::Debug for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.keys()).finish()
    }
}

impl FromIterator<(String, Option<PropertyValue>)> for Properties {
    fn from_iter<I: IntoIterator<Item = (String, Option<PropertyValue>)>>(all: I) -> Self {
        Self(all.into_iter().collect())
    }
}

impl Properties {
    /// The properties of a request: those of the kind that are given and not blank.
    pub fn given(kind: ServiceKind, all: Vec<(&'static str, PropertyValue)>) -> Self {
        let known = all
            .into_iter()
            .filter(|(name, value)| kind.property(name).is_some() && !value.is_blank());
        known.map(|(name, value)| (name.to_owned(), Some(value))).collect()
    }

    /// All properties of a kind, removed.
    pub fn removed(kind: ServiceKind) -> Self {
        kind.properties().map(|property| (property.name.to_owned(), None)).collect()
    }

    /// All names with their values, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, Option<&PropertyValue>)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_ref()))
    }

    /// The value of a property: `Some(None)` if it was removed, `None` if it was never set.
    pub fn get(&self, name: &str) -> Option<Option<&PropertyValue>> {
        self.0.get(name).map(Option::as_ref)
    }

    /// The value of a text property that is not blank.
    pub fn text(&self, name: &str) -> Option<&str> {
        match self.get(name)?? {
            PropertyValue::Text(text) if !text.trim().is_empty() => Some(text),
            PropertyValue::Text(_) | PropertyValue::Flag(_) | PropertyValue::Number(_) => None,
        }
    }

    /// Returns whether a property stands for yes; `default` if it was never set.
    pub fn is_true(&self, name: &str, default: bool) -> bool {
        match self.get(name) {
            None => default,
            Some(value) => value.is_some_and(PropertyValue::is_true),
        }
    }

    /// Sets the given properties; all others stay.
    pub fn set(&mut self, given: Properties) {
        self.0.extend(given.0);
    }

    /// Returns the first required property of a kind that is not given.
    pub fn first_missing(&self, kind: ServiceKind) -> Option<&'static str> {
        let mut demands = kind.demands();
        demands.find(|name| self.get(name).flatten().is_none())
    }

    /// Validates the lengths of texts and the form of required URLs.
    /// # Errors
    /// All errors, in the order of the table.
    pub fn check(&self, kind: ServiceKind) -> Result<(), FieldErrors> {
        let mut errors = FieldErrors::default();
        for property in kind.properties() {
            let Some(Some(value)) = self.get(property.name) else { continue };
            let text = match value {
                PropertyValue::Text(text) | PropertyValue::Number(text) => text.as_str(),
                PropertyValue::Flag(_) => "",
            };
            if let Err(error) = within(text, limit::SERVICE_PROPERTY) {
                errors.add(property.name, error);
            } else if property.is_url() && !is_http_url(text.trim()) {
                errors.add(property.name, HookUrlError::Format);
            }
        }
        errors.into_result()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(name: &str) -> ServiceKind {
        ServiceKind::parse(name).expect("a known service")
    }

    fn text(text: &str) -> PropertyValue {
        PropertyValue::Text(text.into())
    }

    #[test]
    fn blank_and_unknown_properties_are_not_given() {
        let slack = kind("slack");
        let given = Properties::given(
            slack,
            vec![
                ("webhook", text(" ")),
                ("username", text("bot")),
                ("token", text("x")),
                ("channel", PropertyValue::Flag(false)),
            ],
        );
        let names: Vec<&str> = given.iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["channel", "username"]);
        assert_eq!(given.first_missing(slack), Some("webhook"));
        assert_eq!(format!("{given:?}"), r#"{"channel", "username"}"#);
    }

    #[test]
    fn required_urls_are_http() {
        for (name, property, url, is_good) in [
            ("slack", "webhook", "https://example.com/x", true),
            ("slack", "webhook", "ftp://example.com/x", false),
            ("jira", "url", "x", false),
            ("redmine", "issues_url", "http://example.com/:id", true),
            ("asana", "restrict_to_branch", "x", true),
        ] {
            let given = Properties::given(kind(name), vec![(property, text(url))]);
            assert_eq!(given.check(kind(name)).is_ok(), is_good, "{name} {url}");
        }
        let number = vec![("webhook", PropertyValue::Number("7".into()))];
        let errors = Properties::given(kind("slack"), number).check(kind("slack"));
        let errors = errors.expect_err("a number is no URL");
        assert_eq!(errors.messages("webhook"), ["must be a valid URL"]);
    }

    #[test]
    fn texts_are_bounded() {
        for (length, is_good) in [(2000, true), (2001, false)] {
            let given = vec![("username", text(&"ü".repeat(length)))];
            let given = Properties::given(kind("slack"), given);
            assert_eq!(given.check(kind("slack")).is_ok(), is_good, "{length}");
        }
    }

    #[test]
    fn flags_are_also_texts() {
        let flag = |value: Option<PropertyValue>| {
            Properties::from_iter([("a".to_owned(), value)]).is_true("a", true)
        };
        for (value, expected) in [
            (Some(PropertyValue::Flag(true)), true),
            (Some(PropertyValue::Flag(false)), false),
            (Some(text("true")), true),
            (Some(text("1")), true),
            (Some(text("false")), false),
            (Some(text("0")), false),
            (Some(PropertyValue::Number("1".into())), true),
            (None, false),
        ] {
            assert_eq!(flag(value), expected);
        }
        assert!(Properties::default().is_true("a", true));
    }
}
