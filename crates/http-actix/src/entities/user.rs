//! Users in five forms, each with more fields than the one before.

use hexforge_application::view::user::{FullUser, LoginView, UserView};
use hexforge_domain::text::ShortText;
use hexforge_domain::user::{Identity, User};
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;
use hexforge_http_edge::links::Links;

/// The summary, which everybody sees in lists and inside other entities.
#[derive(Serialize, ToSchema)]
pub struct UserSummaryJson<'a> {
    name: &'a str,
    username: &'a str,
    id: i64,
    state: &'static str,
    avatar_url: Option<String>,
    web_url: String,
}

impl<'a> UserSummaryJson<'a> {
    /// The summary of a user.
    pub fn new(user: &'a User, links: &Links) -> Self {
        Self {
            name: user.name.as_str(),
            username: user.username.as_str(),
            id: user.id.0,
            state: user.state.as_str(),
            avatar_url: links.avatar(user),
            web_url: links.user(user),
        }
    }
}

/// The owner of a project.
#[derive(Serialize, ToSchema)]
pub struct UserOwnerJson<'a> {
    #[serde(flatten)]
    summary: UserSummaryJson<'a>,
    created_at: Iso,
}

impl<'a> UserOwnerJson<'a> {
    /// A user as the owner of a project.
    pub fn new(user: &'a User, links: &Links) -> Self {
        Self { summary: UserSummaryJson::new(user, links), created_at: Iso(user.created_at) }
    }
}

/// The public profile.
#[derive(Serialize, ToSchema)]
pub struct UserSingleJson<'a> {
    #[serde(flatten)]
    summary: UserSummaryJson<'a>,
    created_at: Iso,
    is_admin: bool,
    bio: Option<&'a str>,
    location: Option<&'a str>,
    // The next four are never null, because clients rely on it.
    skype: &'a str,
    linkedin: &'a str,
    twitter: &'a str,
    website_url: &'a str,
    organization: Option<&'a str>,
}

impl<'a> UserSingleJson<'a> {
    /// The public profile of a user.
    pub fn new(user: &'a User, links: &Links) -> Self {
        fn text(text: &Option<ShortText>) -> Option<&str> {
            text.as_ref().map(ShortText::as_str)
        }
        let profile = &user.profile;
        Self {
            summary: UserSummaryJson::new(user, links),
            created_at: Iso(user.created_at),
            is_admin: user.privileges.admin,
            bio: text(&profile.bio),
            location: text(&profile.location),
            skype: text(&profile.skype).unwrap_or_default(),
            linkedin: text(&profile.linkedin).unwrap_or_default(),
            twitter: text(&profile.twitter).unwrap_or_default(),
            website_url: text(&profile.website_url).unwrap_or_default(),
            organization: text(&profile.organization),
        }
    }
}

/// All fields, for administrators and the user itself.
#[derive(Serialize, ToSchema)]
pub struct UserFullJson<'a> {
    #[serde(flatten)]
    single: UserSingleJson<'a>,
    last_sign_in_at: Option<Iso>,
    confirmed_at: Option<Iso>,
    email: &'a str,
    theme_id: i32,
    color_scheme_id: i32,
    projects_limit: i32,
    current_sign_in_at: Option<Iso>,
    identities: Vec<IdentityJson<'a>>,
    can_create_group: bool,
    can_create_project: bool,
    two_factor_enabled: bool,
    external: bool,
}

impl<'a> UserFullJson<'a> {
    /// All fields of a user.
    pub fn new(full: &'a FullUser, links: &Links) -> Self {
        let user = &full.user;
        Self {
            single: UserSingleJson::new(user, links),
            last_sign_in_at: user.last_sign_in_at.map(Iso),
            confirmed_at: user.confirmed_at.map(Iso),
            email: user.email.as_str(),
            theme_id: user.appearance.theme_id,
            color_scheme_id: user.appearance.color_scheme_id,
            projects_limit: user.privileges.projects_limit.0,
            current_sign_in_at: user.current_sign_in_at.map(Iso),
            identities: full.identities.iter().map(IdentityJson::from).collect(),
            can_create_group: full.can_create_group(),
            can_create_project: full.can_create_project(),
            two_factor_enabled: user.two_factor_enabled,
            external: user.privileges.external,
        }
    }
}

/// All fields and a private token, for `POST /session`.
#[derive(Serialize, ToSchema)]
pub struct UserLoginJson<'a> {
    #[serde(flatten)]
    full: UserFullJson<'a>,
    private_token: &'a str,
}

impl<'a> UserLoginJson<'a> {
    /// The user who signed in.
    pub fn new(login: &'a LoginView, links: &Links) -> Self {
        let private_token = login.private_token.reveal();
        Self { full: UserFullJson::new(&login.user, links), private_token }
    }
}

/// The fields that the reader may see.
#[derive(Serialize)]
#[serde(untagged)]
pub enum UserViewJson<'a> {
    /// The public profile.
    Single(Box<UserSingleJson<'a>>),
    /// All fields.
    Full(Box<UserFullJson<'a>>),
}

impl<'a> UserViewJson<'a> {
    /// A user as a reader sees it.
    pub fn new(view: &'a UserView, links: &Links) -> Self {
        match view {
            UserView::Single(user) => Self::Single(Box::new(UserSingleJson::new(user, links))),
            UserView::Full(full) => Self::Full(Box::new(UserFullJson::new(full, links))),
        }
    }
}

/// An account at another service.
#[derive(Serialize, ToSchema)]
pub struct IdentityJson<'a> {
    provider: &'a str,
    extern_uid: Option<&'a str>,
}

impl<'a> From<&'a Identity> for IdentityJson<'a> {
    fn from(identity: &'a Identity) -> Self {
        Self {
            provider: identity.provider.as_str(),
            extern_uid: identity.extern_uid.as_ref().map(ShortText::as_str),
        }
    }
}
