//! The account fields of a request, and their parsing into domain types.

use hexforge_domain::field_errors::FieldErrors;
use hexforge_domain::text::{Secret, ShortText};
use hexforge_domain::user::{
    DisplayName, EmailAddress, Identity, Password, Profile, ProjectsLimit, Username,
};

use crate::error::Error;

/// The account fields of a request. `None` means not given: an update leaves the field unchanged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserFields {
    pub email: Option<String>,
    pub password: Option<Secret>,
    pub username: Option<String>,
    pub name: Option<String>,
    pub bio: Option<String>,
    pub location: Option<String>,
    pub organization: Option<String>,
    pub skype: Option<String>,
    pub linkedin: Option<String>,
    pub twitter: Option<String>,
    pub website_url: Option<String>,
    pub projects_limit: Option<String>,
    pub provider: Option<String>,
    pub extern_uid: Option<String>,
    pub admin: Option<bool>,
    pub can_create_group: Option<bool>,
    pub external: Option<bool>,
}

/// The parsed fields. A field is `None` when it was not given or was invalid; invalid fields are added to the errors.
pub(super) struct ParsedFields {
    pub email: Option<EmailAddress>,
    pub password: Option<Password>,
    pub username: Option<Username>,
    pub name: Option<DisplayName>,
    pub profile: Profile,
    pub projects_limit: Option<ProjectsLimit>,
    pub identity: Option<Identity>,
}

impl UserFields {
    /// Returns an error for the first missing field that a new account requires.
    pub(super) fn require_for_creation(&self) -> Result<(), Error> {
        let missing = [
            ("email", self.email.is_none()),
            ("password", self.password.is_none()),
            ("name", self.name.is_none()),
            ("username", self.username.is_none()),
        ];
        match missing.iter().find(|(_, missing)| *missing) {
            Some((field, _)) => Err(Error::NotGiven(field)),
            None => Ok(()),
        }
    }

    /// Returns the fields that users may change themselves.
    pub(super) fn of_profile(&self) -> Self {
        let Self {
            name, bio, location, organization, skype, linkedin, twitter, website_url, ..
        } = self.clone();
        let none = Self::default();
        Self { name, bio, location, organization, skype, linkedin, twitter, website_url, ..none }
    }

    pub(super) fn parse(&self, errors: &mut FieldErrors) -> ParsedFields {
        fn check<T, E: std::fmt::Display>(
            errors: &mut FieldErrors,
            field: &'static str,
            given: Option<&str>,
            parse: impl FnOnce(&str) -> Result<T, E>,
        ) -> Option<T> {
            errors.check_optional(field, given.map(parse)).flatten()
        }
        let password = self.password.as_ref().map(Secret::reveal);
        ParsedFields {
            email: check(errors, "email", self.email.as_deref(), EmailAddress::parse),
            password: check(errors, "password", password, Password::parse),
            name: check(errors, "name", self.name.as_deref(), DisplayName::parse),
            username: check(errors, "username", self.username.as_deref(), Username::parse),
            profile: Profile {
                bio: check(errors, "bio", self.bio.as_deref(), ShortText::parse),
                location: check(errors, "location", self.location.as_deref(), ShortText::parse),
                organization: check(
                    errors,
                    "organization",
                    self.organization.as_deref(),
                    ShortText::parse,
                ),
                skype: check(errors, "skype", self.skype.as_deref(), ShortText::parse_plain),
                linkedin: check(
                    errors,
                    "linkedin",
                    self.linkedin.as_deref(),
                    ShortText::parse_plain,
                ),
                twitter: check(errors, "twitter", self.twitter.as_deref(), ShortText::parse_plain),
                website_url: check(
                    errors,
                    "website_url",
                    self.website_url.as_deref(),
                    ShortText::parse,
                ),
            },
            projects_limit: check(
                errors,
                "projects_limit",
                self.projects_limit.as_deref(),
                ProjectsLimit::parse,
            ),
            identity: self.parse_identity(errors),
        }
    }

    fn parse_identity(&self, errors: &mut FieldErrors) -> Option<Identity> {
        if self.provider.is_none() && self.extern_uid.is_none() {
            return None;
        }
        match Identity::parse(self.provider.as_deref(), self.extern_uid.as_deref()) {
            Ok(identity) => Some(identity),
            Err(found) => {
                errors.extend(found);
                None
            }
        }
    }
}

/// Returns the profile with the given fields replaced.
pub(super) fn merge_profile(before: &Profile, given: Profile) -> Profile {
    let or =
        |given: Option<ShortText>, before: &Option<ShortText>| given.or_else(|| before.clone());
    Profile {
        bio: or(given.bio, &before.bio),
        location: or(given.location, &before.location),
        organization: or(given.organization, &before.organization),
        skype: or(given.skype, &before.skype),
        linkedin: or(given.linkedin, &before.linkedin),
        twitter: or(given.twitter, &before.twitter),
        website_url: or(given.website_url, &before.website_url),
    }
}
