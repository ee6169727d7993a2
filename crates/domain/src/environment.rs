//! Environments: the places to which the builds of a project deploy.

pub mod port;

use crate::Timestamp;
use crate::ci::config::EnvironmentAction;
use crate::field_errors::FieldErrors;
use crate::hook::is_well_formed_url;
use crate::id::{EnvironmentId, ProjectId};
use crate::text::{Blank, limit, within};

/// An environment as it is stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Environment {
    /// Assigned by the store, never reused.
    pub id: EnvironmentId,
    /// The project of the environment.
    pub project: ProjectId,
    /// The name, unique in the project.
    pub name: EnvironmentName,
    /// The URL at which the environment is reached, unique in the project.
    pub external_url: Option<ExternalUrl>,
    /// Whether the environment is in use.
    pub state: EnvironmentState,
    /// The branch whose deletion stops the environment: that of the last deployment, if it names a job that stops the
    /// environment.
    pub stop_branch: Option<String>,
    /// The creation time.
    pub created_at: Timestamp,
    /// The time of the last change.
    pub updated_at: Timestamp,
}

/// The data to create an environment, which is available.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEnvironment {
    /// See [`Environment::project`].
    pub project: ProjectId,
    /// See [`Environment::name`].
    pub name: EnvironmentName,
    /// See [`Environment::external_url`].
    pub external_url: Option<ExternalUrl>,
    /// The creation time.
    pub at: Timestamp,
}

/// The state of an environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EnvironmentState {
    /// The environment is in use.
    Available,
    /// The environment was stopped, until the next build that deploys to it.
    Stopped,
}

impl EnvironmentState {
    const ALL: [EnvironmentState; 2] = [Self::Available, Self::Stopped];

    /// The name of the state in the database.
    pub fn as_str(self) -> &'static str {
        match self {
            EnvironmentState::Available => "available",
            EnvironmentState::Stopped => "stopped",
        }
    }

    /// Parses the name of a state.
    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == word)
    }

    /// The state after a successful build with this action, whatever the state was before.
    pub fn after(action: EnvironmentAction) -> Self {
        match action {
            EnvironmentAction::Start => EnvironmentState::Available,
            EnvironmentAction::Stop => EnvironmentState::Stopped,
        }
    }
}

/// The name of an environment: not blank, at most 255 characters, only letters, digits, spaces and some signs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EnvironmentName(String);

crate::text::stored_text!(EnvironmentName);

impl EnvironmentName {
    /// Parses a name.
    /// # Errors
    /// All errors of the name, under `name`.
    pub fn parse(name: &str) -> Result<Self, FieldErrors> {
        let mut errors = FieldErrors::default();
        if name.trim().is_empty() {
            errors.add("name", Blank);
        }
        let is_valid = within(name, limit::SHORT).is_ok() && name.chars().all(is_name_character);
        if !is_valid || name.is_empty() {
            errors.add("name", NameFormat);
        }
        errors.into_result_with(|| Some(Self(name.to_owned())))
    }
}

/// Returns whether names of environments may contain a character. In a configuration, the name may contain variables.
pub fn is_name_character(char: char) -> bool {
    char.is_ascii_alphanumeric() || "-_/\\${}. ".contains(char)
}

/// The name contains other characters, or is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("can contain only letters, digits, '-', '_', '/', '$', '{{', '}}', '.' and spaces")]
pub struct NameFormat;

/// The URL of an environment: http, https, ssh or git, at most 255 characters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExternalUrl(String);

crate::text::stored_text!(ExternalUrl);

impl ExternalUrl {
    /// The schemes of URLs of environments.
    pub const SCHEMES: [&'static str; 4] = ["http", "https", "ssh", "git"];

    /// Parses a URL.
    /// # Errors
    /// [`InvalidUrl`] when it has another scheme, no valid host, or is too long.
    pub fn parse(url: &str) -> Result<Self, InvalidUrl> {
        if within(url, limit::SHORT).is_ok() && is_well_formed_url(url, &Self::SCHEMES) {
            Ok(Self(url.to_owned()))
        } else {
            Err(InvalidUrl)
        }
    }
}

/// The URL does not have the form `http://host/...`, or is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a valid URL")]
pub struct InvalidUrl;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_few_characters_and_are_not_blank() {
        const FORMAT: &str =
            "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.' and spaces";
        for name in ["a", "review/feature_1", "A-z 0.9", "a\\b", "${x}", &"x".repeat(255)] {
            let parsed = EnvironmentName::parse(name).map(|name| name.as_str().to_owned());
            assert_eq!(parsed, Ok(name.to_owned()));
        }
        for (name, messages) in [
            ("", &["can't be blank", FORMAT][..]),
            ("  ", &["can't be blank"]),
            ("\n", &["can't be blank", FORMAT]),
            ("ä", &[FORMAT]),
            ("a,b", &[FORMAT]),
            ("a\nb", &[FORMAT]),
            (&"x".repeat(256), &[FORMAT]),
        ] {
            let errors = EnvironmentName::parse(name).expect_err("no name");
            assert_eq!(errors.messages("name"), messages, "{name:?}");
        }
    }

    #[test]
    fn urls_have_one_of_four_schemes() {
        let long = format!("http://example.com/{}", "x".repeat(236));
        for url in ["http://a", "https://a.b:8/c?d#e", "ssh://git@host/a", "git://host", &long] {
            assert!(ExternalUrl::parse(url).is_ok(), "{url}");
        }
        let too_long = format!("{long}x");
        for url in
            ["", "a", "ftp://host", "http://", "http:///a", "javascript:alert(1)", "http://a b"]
        {
            assert_eq!(ExternalUrl::parse(url), Err(InvalidUrl), "{url}");
        }
        assert_eq!(ExternalUrl::parse(&too_long), Err(InvalidUrl));
    }

    #[test]
    fn the_action_of_a_build_decides_the_state() {
        use EnvironmentState::*;
        for (action, expected) in
            [(EnvironmentAction::Start, Available), (EnvironmentAction::Stop, Stopped)]
        {
            assert_eq!(EnvironmentState::after(action), expected);
        }
        for state in EnvironmentState::ALL {
            assert_eq!(EnvironmentState::parse(state.as_str()), Some(state));
        }
        assert_eq!(EnvironmentState::parse("gone"), None);
    }
}
