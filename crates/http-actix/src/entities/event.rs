//! Lines of the activity feeds.

use hexforge_application::view::event::EventView;
use serde::Serialize;
use utoipa::ToSchema;

use super::note::NoteJson;
use super::push::PushJson;
use super::time::Iso;
use super::user::UserSummaryJson;
use hexforge_http_edge::links::Links;

/// An event in a response.
#[derive(Serialize, ToSchema)]
pub struct EventJson<'a> {
    /// Always null. Clients show `target_title`.
    title: Option<&'a str>,
    project_id: i64,
    action_name: &'static str,
    target_id: Option<i64>,
    target_type: Option<&'a str>,
    author_id: i64,
    data: Option<PushJson<'a>>,
    target_title: Option<&'a str>,
    created_at: Iso,
    /// The note of the event, until it is removed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = NoteJson<'a>, required = false)]
    note: Option<NoteJson<'a>>,
    author: UserSummaryJson<'a>,
    author_username: &'a str,
}

impl<'a> EventJson<'a> {
    /// The event, with URLs built by `links`.
    pub fn new(view: &'a EventView, links: &'a Links) -> Self {
        let event = &view.event;
        let target = event.target.as_ref();
        Self {
            title: None,
            project_id: event.project.0,
            action_name: event.action.as_str(),
            target_id: target.and_then(|target| target.id),
            target_type: target.map(|target| target.kind.as_str()),
            author_id: event.author.0,
            data: event.push.as_deref().map(|push| PushJson::new(push, links)),
            target_title: target.and_then(|target| target.title.as_deref()),
            created_at: Iso(event.created_at),
            note: view.note.as_ref().map(|note| NoteJson::new(note, links)),
            author: UserSummaryJson::new(&view.author, links),
            author_username: view.author.username.as_str(),
        }
    }
}
