//! Users: the people and bots that act on the service.

pub mod email;
pub mod identity;
pub mod key;
pub mod name;
pub mod password;
pub mod port;
pub mod privileges;
pub mod state;

pub use email::{Email, EmailAddress};
pub use identity::Identity;
pub use key::SshKey;
pub use name::{DisplayName, Username};
pub use password::{Password, PasswordHash};
pub use privileges::{Privileges, ProjectsLimit};
pub use state::{UserCommand, UserState};

use crate::Timestamp;
use crate::id::UserId;
use crate::text::ShortText;

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    /// Assigned by the store, never reused.
    pub id: UserId,
    /// Unique among users and groups, ignoring case.
    pub username: Username,
    /// The name shown to people.
    pub name: DisplayName,
    /// The primary address.
    pub email: EmailAddress,
    /// Whether the account may be used.
    pub state: UserState,
    /// What the account may do beside its memberships.
    pub privileges: Privileges,
    /// What the user tells about itself.
    pub profile: Profile,
    /// Choices for the pages of the service.
    pub appearance: Appearance,
    /// File name of the uploaded avatar.
    pub avatar: Option<String>,
    /// Whether a second factor is registered.
    pub two_factor_enabled: bool,
    /// When the primary address was confirmed.
    pub confirmed_at: Option<Timestamp>,
    /// The session before the current one.
    pub last_sign_in_at: Option<Timestamp>,
    /// The current session on the pages of the service.
    pub current_sign_in_at: Option<Timestamp>,
    /// When the account was made.
    pub created_at: Timestamp,
    /// When the account was last changed.
    pub updated_at: Timestamp,
}

/// What a user tells about itself. `None` means never set, where the interface shows null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// A few words.
    pub bio: Option<ShortText>,
    /// Where the user is.
    pub location: Option<ShortText>,
    /// For whom the user works.
    pub organization: Option<ShortText>,
    /// Name at that service.
    pub skype: Option<ShortText>,
    /// Name at that service.
    pub linkedin: Option<ShortText>,
    /// Name at that service.
    pub twitter: Option<ShortText>,
    /// A page of the user.
    pub website_url: Option<ShortText>,
}

/// Choices for the pages of the service, kept because clients read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appearance {
    /// Number of the theme.
    pub theme_id: i32,
    /// Number of the colours in which code is shown.
    pub color_scheme_id: i32,
}

impl Default for Appearance {
    fn default() -> Self {
        Self { theme_id: 2, color_scheme_id: 1 }
    }
}

/// What is needed to make an account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUser {
    /// See [`User::username`].
    pub username: Username,
    /// See [`User::name`].
    pub name: DisplayName,
    /// See [`User::email`].
    pub email: EmailAddress,
    /// See [`User::privileges`].
    pub privileges: Privileges,
    /// See [`User::profile`].
    pub profile: Profile,
    /// The hash of the first password.
    pub password: PasswordHash,
    /// See [`User::confirmed_at`].
    pub confirmed_at: Option<Timestamp>,
    /// The moment of creation.
    pub at: Timestamp,
}

/// Which users a list shows. All conditions hold together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserFilter {
    /// Only users whose account may be used.
    pub active: bool,
    /// Only users who are blocked, by whomever.
    pub blocked: bool,
    /// Only external users.
    pub external: bool,
    /// A part of the name, the primary address or the username, ignoring case.
    pub search: Option<String>,
}
