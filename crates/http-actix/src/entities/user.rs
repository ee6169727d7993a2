//! Users in their four forms, each the one before and more.

use hexforge_application::view::user::{FullUser, LoginView, UserView};
use hexforge_domain::text::ShortText;
use hexforge_domain::user::{Identity, User};
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::links::Links;
use super::time::Iso;

/// A user as an answer shows it.
pub struct UserJson<'a> {
    user: &'a User,
    form: Form<'a>,
    links: &'a Links,
}

enum Form<'a> {
    Summary,
    Owner,
    Single,
    Full(&'a FullUser),
    Login(&'a LoginView),
}

impl<'a> UserJson<'a> {
    /// The summary, which everybody sees in lists and inside other entities.
    pub fn summary(user: &'a User, links: &'a Links) -> Self {
        Self { user, form: Form::Summary, links }
    }

    /// The owner of a project: a summary, and since when there is one.
    pub fn owner(user: &'a User, links: &'a Links) -> Self {
        Self { user, form: Form::Owner, links }
    }

    /// The public profile.
    pub fn single(user: &'a User, links: &'a Links) -> Self {
        Self { user, form: Form::Single, links }
    }

    /// The profile with the fields that the reader may see.
    pub fn view(view: &'a UserView, links: &'a Links) -> Self {
        match view {
            UserView::Single(user) => Self { user, form: Form::Single, links },
            UserView::Full(full) => Self::full(full, links),
        }
    }

    /// All fields, for administrators and the user itself.
    pub fn full(full: &'a FullUser, links: &'a Links) -> Self {
        Self { user: &full.user, form: Form::Full(full), links }
    }

    /// All fields and the private token, for `POST /session`.
    pub fn login(login: &'a LoginView, links: &'a Links) -> Self {
        Self { user: &login.user.user, form: Form::Login(login), links }
    }
}

impl Serialize for UserJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        summary(&mut map, self.user, self.links)?;
        match &self.form {
            Form::Summary => (),
            Form::Owner => map.serialize_entry("created_at", &Iso(self.user.created_at))?,
            Form::Single => single(&mut map, self.user)?,
            Form::Full(user) => {
                single(&mut map, &user.user)?;
                full(&mut map, user)?;
            }
            Form::Login(login) => {
                single(&mut map, &login.user.user)?;
                full(&mut map, &login.user)?;
                map.serialize_entry("private_token", login.private_token.reveal())?;
            }
        }
        map.end()
    }
}

/// The fields that stand wherever a user does.
pub(super) fn summary<M: SerializeMap>(
    map: &mut M,
    user: &User,
    links: &Links,
) -> Result<(), M::Error> {
    map.serialize_entry("name", user.name.as_str())?;
    map.serialize_entry("username", user.username.as_str())?;
    map.serialize_entry("id", &user.id.0)?;
    map.serialize_entry("state", user.state.as_str())?;
    map.serialize_entry("avatar_url", &links.avatar(user))?;
    map.serialize_entry("web_url", &links.user(user))
}

fn single<M: SerializeMap>(map: &mut M, user: &User) -> Result<(), M::Error> {
    fn text(text: &Option<ShortText>) -> Option<&str> {
        text.as_ref().map(ShortText::as_str)
    }
    let profile = &user.profile;
    map.serialize_entry("created_at", &Iso(user.created_at))?;
    map.serialize_entry("is_admin", &user.privileges.admin)?;
    map.serialize_entry("bio", &text(&profile.bio))?;
    map.serialize_entry("location", &text(&profile.location))?;
    // These four were never null, and clients rely on it.
    map.serialize_entry("skype", text(&profile.skype).unwrap_or_default())?;
    map.serialize_entry("linkedin", text(&profile.linkedin).unwrap_or_default())?;
    map.serialize_entry("twitter", text(&profile.twitter).unwrap_or_default())?;
    map.serialize_entry("website_url", text(&profile.website_url).unwrap_or_default())?;
    map.serialize_entry("organization", &text(&profile.organization))
}

fn full<M: SerializeMap>(map: &mut M, full: &FullUser) -> Result<(), M::Error> {
    let user = &full.user;
    map.serialize_entry("last_sign_in_at", &user.last_sign_in_at.map(Iso))?;
    map.serialize_entry("confirmed_at", &user.confirmed_at.map(Iso))?;
    map.serialize_entry("email", user.email.as_str())?;
    map.serialize_entry("theme_id", &user.appearance.theme_id)?;
    map.serialize_entry("color_scheme_id", &user.appearance.color_scheme_id)?;
    map.serialize_entry("projects_limit", &user.privileges.projects_limit.0)?;
    map.serialize_entry("current_sign_in_at", &user.current_sign_in_at.map(Iso))?;
    let identities: Vec<_> = full.identities.iter().map(IdentityJson::from).collect();
    map.serialize_entry("identities", &identities)?;
    map.serialize_entry("can_create_group", &full.can_create_group())?;
    map.serialize_entry("can_create_project", &full.can_create_project())?;
    map.serialize_entry("two_factor_enabled", &user.two_factor_enabled)?;
    map.serialize_entry("external", &user.privileges.external)
}

// The schemas of `UserJson`. These types are never constructed.

/// A user in lists and beside other things.
#[derive(Serialize, ToSchema)]
pub struct UserSummary {
    name: String,
    username: String,
    id: i64,
    state: String,
    avatar_url: String,
    web_url: String,
}

/// The owner of a project.
#[derive(Serialize, ToSchema)]
pub struct UserOwner {
    #[serde(flatten)]
    summary: UserSummary,
    created_at: Iso,
}

/// A user as everybody sees it.
#[derive(Serialize, ToSchema)]
pub struct UserSingle {
    #[serde(flatten)]
    summary: UserSummary,
    created_at: Iso,
    is_admin: bool,
    bio: Option<String>,
    location: Option<String>,
    skype: String,
    linkedin: String,
    twitter: String,
    website_url: String,
    organization: Option<String>,
}

/// A user as administrators see it, and users see themselves.
#[derive(Serialize, ToSchema)]
pub struct UserFull {
    #[serde(flatten)]
    single: UserSingle,
    last_sign_in_at: Option<Iso>,
    confirmed_at: Option<Iso>,
    email: String,
    theme_id: i32,
    color_scheme_id: i32,
    projects_limit: i32,
    current_sign_in_at: Option<Iso>,
    identities: Vec<IdentityJson<'static>>,
    can_create_group: bool,
    can_create_project: bool,
    two_factor_enabled: bool,
    external: bool,
}

/// A user who signs in, with a token.
#[derive(Serialize, ToSchema)]
pub struct UserLogin {
    #[serde(flatten)]
    full: UserFull,
    private_token: String,
}

/// An account elsewhere.
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
