//! Project hooks: webhooks for the events of one project.

use crate::Timestamp;
use crate::hook::HookUrl;
use crate::id::{ProjectHookId, ProjectId};
use crate::text::Secret;

/// A registered hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectHook {
    /// Assigned by the store.
    pub id: ProjectHookId,
    /// The project of the hook.
    pub project: ProjectId,
    /// The URL, the events and the other settings.
    pub settings: ProjectHookSettings,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// The settings of a project hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectHookSettings {
    /// The URL that receives the payloads.
    pub url: HookUrl,
    /// The secret token with which the receiver authenticates the request. Never shown.
    pub token: Option<Secret>,
    /// The events that the hook receives.
    pub switches: HookSwitches,
    /// Whether the TLS certificate of the receiver is verified.
    pub enable_ssl_verification: bool,
}

/// The events that a project hook receives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HookSwitches {
    /// Pushes to branches.
    pub push: bool,
    /// Pushes of tags.
    pub tag_push: bool,
    /// Issues.
    pub issues: bool,
    /// Merge requests.
    pub merge_requests: bool,
    /// Comments.
    pub note: bool,
    /// Builds.
    pub build: bool,
    /// Pipelines.
    pub pipeline: bool,
    /// Pages of the wiki.
    pub wiki_page: bool,
}

impl Default for HookSwitches {
    fn default() -> Self {
        Self {
            push: true,
            tag_push: false,
            issues: false,
            merge_requests: false,
            note: false,
            build: false,
            pipeline: false,
            wiki_page: false,
        }
    }
}
