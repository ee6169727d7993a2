//! Members of groups and projects, and users who request access.

use hexforge_application::member::MemberView;
use hexforge_application::member::request::RequestView;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;
use super::user::UserSummaryJson;
use hexforge_http_edge::links::Links;

/// A member: the user's summary and its access level.
#[derive(Serialize, ToSchema)]
pub struct MemberJson<'a> {
    #[serde(flatten)]
    user: UserSummaryJson<'a>,
    access_level: i32,
    expires_at: Option<String>,
}

impl<'a> MemberJson<'a> {
    /// A member of a group or a project.
    pub fn new((user, membership): &'a MemberView, links: &Links) -> Self {
        Self {
            user: UserSummaryJson::new(user, links),
            access_level: membership.level.level(),
            expires_at: membership.expires_at.map(|day| day.to_string()),
        }
    }
}

/// A user who requests access: the summary and the time of the request.
#[derive(Serialize, ToSchema)]
pub struct AccessRequesterJson<'a> {
    #[serde(flatten)]
    user: UserSummaryJson<'a>,
    requested_at: Iso,
}

impl<'a> AccessRequesterJson<'a> {
    /// A user who requested access at a time.
    pub fn new((user, since): &'a RequestView, links: &Links) -> Self {
        Self { user: UserSummaryJson::new(user, links), requested_at: Iso(*since) }
    }
}

/// The response if there was no member to remove.
#[derive(Serialize, ToSchema)]
pub struct AccessRevoked {
    message: String,
    id: i64,
}
