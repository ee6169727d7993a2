//! Which events are delivered to which hooks, and the event names of deliveries.

use crate::outbox::SystemEvent;
use crate::outbox::project::ProjectEvent;
use crate::project::hook::HookSwitches;
use crate::push::{HookScope, RefKind};
use crate::system_hook::SystemHookSettings;

/// The kinds of events that a project hook can receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HookKind {
    /// A branch was changed.
    Push,
    /// A tag was changed.
    TagPush,
    /// An issue was changed.
    Issue,
    /// A comment was written.
    Note,
    /// A merge request was changed.
    MergeRequest,
    /// The status of a build changed.
    Build,
    /// The status of a pipeline changed.
    Pipeline,
    /// A wiki page was changed.
    WikiPage,
}

/// The event name of all deliveries to system hooks.
pub const SYSTEM_HOOK: &str = "System Hook";

impl HookKind {
    /// The kind of an event for the hooks of its project; `None` if project hooks do not receive it. Events about
    /// confidential issues and their comments are never delivered, because no switch of a hook covers them.
    pub fn of(event: &SystemEvent) -> Option<Self> {
        match event {
            SystemEvent::Pushed(push) => match RefKind::of(&push.reference) {
                RefKind::Branch(_) => Some(HookKind::Push),
                RefKind::Tag(_) => Some(HookKind::TagPush),
                RefKind::Reserved | RefKind::Other => None,
            },
            SystemEvent::InProject(event) => match &**event {
                ProjectEvent::Issue(event) => {
                    (!event.issue.confidential).then_some(HookKind::Issue)
                }
                ProjectEvent::NoteOnIssue(event) => {
                    (!event.issue.confidential).then_some(HookKind::Note)
                }
                ProjectEvent::MergeRequest(_) => Some(HookKind::MergeRequest),
                ProjectEvent::NoteOnMergeRequest(_)
                | ProjectEvent::NoteOnCommit(_)
                | ProjectEvent::NoteOnSnippet(_) => Some(HookKind::Note),
                ProjectEvent::Build(_) => Some(HookKind::Build),
                ProjectEvent::Pipeline(_) => Some(HookKind::Pipeline),
            },
            SystemEvent::UserCreated(_)
            | SystemEvent::UserDestroyed(_)
            | SystemEvent::KeyCreated(_)
            | SystemEvent::KeyDestroyed(_)
            | SystemEvent::DeployKeyCreated(_)
            | SystemEvent::DeployKeyDestroyed(_)
            | SystemEvent::ProjectCreated(_)
            | SystemEvent::ProjectDestroyed(_)
            | SystemEvent::ProjectRenamed(..)
            | SystemEvent::ProjectTransferred(..)
            | SystemEvent::TeamMemberAdded(_)
            | SystemEvent::TeamMemberRemoved(_)
            | SystemEvent::GroupCreated(_)
            | SystemEvent::GroupDestroyed(_)
            | SystemEvent::GroupMemberAdded(_)
            | SystemEvent::GroupMemberRemoved(_) => None,
        }
    }

    /// The event name of a delivery.
    pub fn name(self) -> &'static str {
        match self {
            HookKind::Push => "Push Hook",
            HookKind::TagPush => "Tag Push Hook",
            HookKind::Issue => "Issue Hook",
            HookKind::Note => "Note Hook",
            HookKind::MergeRequest => "Merge Request Hook",
            HookKind::Build => "Build Hook",
            HookKind::Pipeline => "Pipeline Hook",
            HookKind::WikiPage => "Wiki Page Hook",
        }
    }
}

impl HookSwitches {
    /// Returns whether a hook with these switches receives events of this kind.
    pub fn receives(self, kind: HookKind) -> bool {
        match kind {
            HookKind::Push => self.push,
            HookKind::TagPush => self.tag_push,
            HookKind::Issue => self.issues,
            HookKind::Note => self.note,
            HookKind::MergeRequest => self.merge_requests,
            HookKind::Build => self.build,
            HookKind::Pipeline => self.pipeline,
            HookKind::WikiPage => self.wiki_page,
        }
    }
}

impl SystemHookSettings {
    /// Returns whether this system hook receives an event. Events about users, keys, projects, groups and members are
    /// sent to all system hooks.
    pub fn receives(&self, event: &SystemEvent) -> bool {
        match event {
            SystemEvent::Pushed(push) => match (RefKind::of(&push.reference), push.reach) {
                (RefKind::Branch(_), HookScope::Everywhere) => self.push_events,
                (RefKind::Tag(_), HookScope::Everywhere) => self.tag_push_events,
                (RefKind::Branch(_) | RefKind::Tag(_), HookScope::Project) => false,
                (
                    RefKind::Reserved | RefKind::Other,
                    HookScope::Everywhere | HookScope::Project,
                ) => false,
            },
            SystemEvent::InProject(_) => false,
            SystemEvent::UserCreated(_)
            | SystemEvent::UserDestroyed(_)
            | SystemEvent::KeyCreated(_)
            | SystemEvent::KeyDestroyed(_)
            | SystemEvent::DeployKeyCreated(_)
            | SystemEvent::DeployKeyDestroyed(_)
            | SystemEvent::ProjectCreated(_)
            | SystemEvent::ProjectDestroyed(_)
            | SystemEvent::ProjectRenamed(..)
            | SystemEvent::ProjectTransferred(..)
            | SystemEvent::TeamMemberAdded(_)
            | SystemEvent::TeamMemberRemoved(_)
            | SystemEvent::GroupCreated(_)
            | SystemEvent::GroupDestroyed(_)
            | SystemEvent::GroupMemberAdded(_)
            | SystemEvent::GroupMemberRemoved(_) => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_its_own_switch() {
        use HookKind::*;
        let none = HookSwitches { push: false, ..HookSwitches::default() };
        let all = [Push, TagPush, Issue, Note, MergeRequest, Build, Pipeline, WikiPage];
        for (place, (kind, switches)) in [
            (Push, HookSwitches { push: true, ..none }),
            (TagPush, HookSwitches { tag_push: true, ..none }),
            (Issue, HookSwitches { issues: true, ..none }),
            (Note, HookSwitches { note: true, ..none }),
            (MergeRequest, HookSwitches { merge_requests: true, ..none }),
            (Build, HookSwitches { build: true, ..none }),
            (Pipeline, HookSwitches { pipeline: true, ..none }),
            (WikiPage, HookSwitches { wiki_page: true, ..none }),
        ]
        .into_iter()
        .enumerate()
        {
            assert_eq!(all[place], kind);
            for other in all {
                assert_eq!(switches.receives(other), other == kind, "{kind:?} hears {other:?}");
            }
        }
    }
}
