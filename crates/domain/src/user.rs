//! Users: the people and bots that act on the service.

pub mod email;
pub mod fingerprint;
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
    /// The display name.
    pub name: DisplayName,
    /// The primary address.
    pub email: EmailAddress,
    /// Whether the account is active or blocked.
    pub state: UserState,
    /// The rights of the account apart from its memberships.
    pub privileges: Privileges,
    /// The information that users give about themselves.
    pub profile: Profile,
    /// Preferences for the web pages of the service.
    pub appearance: Appearance,
    /// File name of the uploaded avatar.
    pub avatar: Option<String>,
    /// Whether a second factor is registered.
    pub two_factor_enabled: bool,
    /// When the primary address was confirmed.
    pub confirmed_at: Option<Timestamp>,
    /// When the session before the current one began.
    pub last_sign_in_at: Option<Timestamp>,
    /// When the current session on the web pages began.
    pub current_sign_in_at: Option<Timestamp>,
    /// When the account was created.
    pub created_at: Timestamp,
    /// When the account was last changed.
    pub updated_at: Timestamp,
}

/// The information that users give about themselves. `None` means never set; the API shows null.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// A short self-description.
    pub bio: Option<ShortText>,
    /// The user's location.
    pub location: Option<ShortText>,
    /// The user's employer.
    pub organization: Option<ShortText>,
    /// The user's name on Skype.
    pub skype: Option<ShortText>,
    /// The user's name on LinkedIn.
    pub linkedin: Option<ShortText>,
    /// The user's name on Twitter.
    pub twitter: Option<ShortText>,
    /// The URL of the user's website.
    pub website_url: Option<ShortText>,
}

/// Preferences for the web pages of the service, stored because clients read them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Appearance {
    /// The id of the theme.
    pub theme_id: i32,
    /// The id of the color scheme for code.
    pub color_scheme_id: i32,
}

impl Default for Appearance {
    fn default() -> Self {
        Self { theme_id: 2, color_scheme_id: 1 }
    }
}

/// The data to create an account.
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
    /// The time of creation.
    pub at: Timestamp,
}

/// A filter for lists of users. All conditions have to hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserFilter {
    /// Only users with active accounts.
    pub active: bool,
    /// Only blocked users, whether an administrator or the directory blocked them.
    pub blocked: bool,
    /// Only external users.
    pub external: bool,
    /// A substring of the name, the primary address or the username, ignoring case.
    pub search: Option<String>,
}
