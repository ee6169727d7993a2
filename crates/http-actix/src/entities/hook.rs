//! Project hooks and system hooks. Their tokens are never shown.

use hexforge_domain::project::hook::ProjectHook;
use hexforge_domain::system_hook::SystemHook;
use serde::Serialize;
use utoipa::ToSchema;

use super::time::Iso;

/// A project hook in a response.
#[derive(Serialize, ToSchema)]
pub struct ProjectHookJson {
    id: i64,
    url: String,
    created_at: Iso,
    push_events: bool,
    tag_push_events: bool,
    enable_ssl_verification: bool,
    project_id: i64,
    issues_events: bool,
    merge_requests_events: bool,
    note_events: bool,
    build_events: bool,
    pipeline_events: bool,
    wiki_page_events: bool,
}

impl From<ProjectHook> for ProjectHookJson {
    fn from(hook: ProjectHook) -> Self {
        let switches = hook.settings.switches;
        Self {
            id: hook.id.0,
            url: hook.settings.url.as_str().to_owned(),
            created_at: Iso(hook.created_at),
            push_events: switches.push,
            tag_push_events: switches.tag_push,
            enable_ssl_verification: hook.settings.enable_ssl_verification,
            project_id: hook.project.0,
            issues_events: switches.issues,
            merge_requests_events: switches.merge_requests,
            note_events: switches.note,
            build_events: switches.build,
            pipeline_events: switches.pipeline,
            wiki_page_events: switches.wiki_page,
        }
    }
}

/// A system hook in lists and after its creation.
#[derive(Serialize, ToSchema)]
pub struct SystemHookJson {
    id: i64,
    url: String,
    created_at: Iso,
    push_events: bool,
    tag_push_events: bool,
    enable_ssl_verification: bool,
}

impl From<SystemHook> for SystemHookJson {
    fn from(hook: SystemHook) -> Self {
        Self {
            id: hook.id.0,
            url: hook.settings.url.as_str().to_owned(),
            created_at: Iso(hook.created_at),
            push_events: hook.settings.push_events,
            tag_push_events: hook.settings.tag_push_events,
            enable_ssl_verification: hook.settings.enable_ssl_verification,
        }
    }
}

/// A system hook that was removed. It shows more columns, as in the original service.
#[derive(Serialize, ToSchema)]
pub struct RemovedSystemHookJson {
    id: i64,
    url: String,
    created_at: Iso,
    push_events: bool,
    tag_push_events: bool,
    enable_ssl_verification: bool,
    note_events: bool,
    project_id: Option<i64>,
    updated_at: Iso,
    issues_events: bool,
    merge_requests_events: bool,
    service_id: Option<i64>,
}

impl From<SystemHook> for RemovedSystemHookJson {
    fn from(hook: SystemHook) -> Self {
        let updated_at = Iso(hook.updated_at);
        let shown = SystemHookJson::from(hook);
        Self {
            id: shown.id,
            url: shown.url,
            created_at: shown.created_at,
            push_events: shown.push_events,
            tag_push_events: shown.tag_push_events,
            enable_ssl_verification: shown.enable_ssl_verification,
            note_events: false,
            project_id: None,
            updated_at,
            issues_events: false,
            merge_requests_events: false,
            service_id: None,
        }
    }
}
