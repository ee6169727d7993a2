//! Awards.

use hexforge_application::view::award::AwardView;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;
use super::user::UserSummaryJson;
use hexforge_http_edge::links::Links;

/// An emoji that a user gave to an issue, a merge request or a note.
#[derive(Serialize, ToSchema)]
pub struct AwardJson<'a> {
    id: i64,
    name: &'a str,
    user: UserSummaryJson<'a>,
    created_at: Iso,
    updated_at: Iso,
    awardable_id: i64,
    awardable_type: &'static str,
}

impl<'a> AwardJson<'a> {
    /// The award, with URLs built by `links`.
    pub fn new(view: &'a AwardView, links: &'a Links) -> Self {
        let AwardView { award, user } = view;
        Self {
            id: award.id.0,
            name: award.name.as_str(),
            user: UserSummaryJson::new(user, links),
            created_at: Iso(award.created_at),
            updated_at: Iso(award.created_at),
            awardable_id: award.on.id(),
            awardable_type: award.on.type_name(),
        }
    }
}
