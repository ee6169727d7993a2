//! Hooks of projects: who hears of what happens in one.

use crate::Timestamp;
use crate::hook::HookUrl;
use crate::id::{ProjectHookId, ProjectId};
use crate::text::Secret;

/// A registered hook.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectHook {
    /// Assigned by the store.
    pub id: ProjectHookId,
    /// Of which project.
    pub project: ProjectId,
    /// Where to send to, and what.
    pub settings: ProjectHookSettings,
    /// When it was registered.
    pub created_at: Timestamp,
}

/// Where to send to, and what.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProjectHookSettings {
    /// The receiver.
    pub url: HookUrl,
    /// By which the receiver knows us. Never shown.
    pub token: Option<Secret>,
    /// What it hears of.
    pub switches: HookSwitches,
    /// Whether the receiver's certificate has to be good.
    pub enable_ssl_verification: bool,
}

/// What a project hook hears of.
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
