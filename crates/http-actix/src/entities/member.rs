//! Members of groups and projects, and who asks to become one.

use hexforge_application::member::MemberView;
use hexforge_application::member::request::RequestView;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use super::links::Links;
use super::time::Iso;
use super::user::{self, UserSummary};

/// A member as an answer shows it: the user's summary, and what it is here.
pub struct MemberJson<'a>(pub &'a MemberView, pub &'a Links);

impl Serialize for MemberJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self((user, membership), links) = self;
        let mut map = serializer.serialize_map(None)?;
        user::summary(&mut map, user, links)?;
        map.serialize_entry("access_level", &membership.level.level())?;
        map.serialize_entry("expires_at", &membership.expires_at.map(|day| day.to_string()))?;
        map.end()
    }
}

/// A user who requests access: the summary and the time of the request.
pub struct RequesterJson<'a>(pub &'a RequestView, pub &'a Links);

impl Serialize for RequesterJson<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Self((user, since), links) = self;
        let mut map = serializer.serialize_map(None)?;
        user::summary(&mut map, user, links)?;
        map.serialize_entry("requested_at", &Iso(*since))?;
        map.end()
    }
}

// Schemas of the types above. These types are never constructed.

/// A member: the user's summary, and what it is here.
#[derive(Serialize, ToSchema)]
pub struct Member {
    #[serde(flatten)]
    user: UserSummary,
    access_level: i32,
    expires_at: Option<String>,
}

/// A user who requests access: the summary and the time of the request.
#[derive(Serialize, ToSchema)]
pub struct AccessRequester {
    #[serde(flatten)]
    user: UserSummary,
    requested_at: Iso,
}

/// The response if there was no member to remove.
#[derive(Serialize, ToSchema)]
pub struct AccessRevoked {
    message: String,
    id: i64,
}
