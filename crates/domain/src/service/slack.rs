//! Which events a chat is told, and the properties that decide it.

use super::Properties;
use crate::ci::status::Status;
use crate::hook::kind::HookKind;
use crate::outbox::SystemEvent;
use crate::outbox::merge_request::MergeRequestAction;
use crate::outbox::project::{IssueAction, ProjectEvent};

/// The property with the URL to which messages are sent.
pub const WEBHOOK: &str = "webhook";

/// The settings of a chat for the messages about one project.
#[derive(Clone, Copy, Debug)]
pub struct ChatSettings<'a> {
    /// The properties of the service.
    pub properties: &'a Properties,
    /// The display name of the project with that of its namespace, without blanks.
    pub project_name: &'a str,
}

impl<'a> ChatSettings<'a> {
    /// The name under which messages appear, if one is set.
    pub fn username(self) -> Option<&'a str> {
        self.properties.text("username")
    }

    /// The channel for events of a kind, if one is set.
    pub fn channel(self, kind: HookKind) -> Option<&'a str> {
        let own = match kind {
            HookKind::Push => "push_channel",
            HookKind::TagPush => "tag_push_channel",
            HookKind::Issue => "issue_channel",
            HookKind::Note => "note_channel",
            HookKind::MergeRequest => "merge_request_channel",
            HookKind::Build => "build_channel",
            HookKind::Pipeline => "pipeline_channel",
            HookKind::WikiPage => "wiki_page_channel",
        };
        self.properties.text(own).or_else(|| self.properties.text("channel"))
    }

    /// The kind of an event, if the chat is told of it: neither plain updates of issues and merge requests, nor builds
    /// and pipelines that have not ended, nor their success while only failures are told.
    pub fn told(self, event: &SystemEvent) -> Option<HookKind> {
        let kind = HookKind::of(event)?;
        let SystemEvent::InProject(event) = event else { return Some(kind) };
        let is_told = match &**event {
            ProjectEvent::Issue(event) => event.action != IssueAction::Update,
            ProjectEvent::MergeRequest(event) => event.action != MergeRequestAction::Update,
            ProjectEvent::Build(event) => {
                self.tells_status(event.build.status, "notify_only_broken_builds")
            }
            ProjectEvent::Pipeline(event) => {
                self.tells_status(event.pipeline.status, "notify_only_broken_pipelines")
            }
            ProjectEvent::NoteOnIssue(_)
            | ProjectEvent::NoteOnMergeRequest(_)
            | ProjectEvent::NoteOnCommit(_)
            | ProjectEvent::NoteOnSnippet(_) => true,
        };
        is_told.then_some(kind)
    }

    fn tells_status(self, status: Status, only_broken: &str) -> bool {
        match status {
            Status::Failed => true,
            Status::Success => !self.properties.is_true(only_broken, true),
            Status::Created
            | Status::Pending
            | Status::Running
            | Status::Canceled
            | Status::Skipped => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::service::PropertyValue;

    #[test]
    fn each_kind_has_a_channel_of_its_own() {
        let text = |text: &str| Some(PropertyValue::Text(text.into()));
        let own = [("push_channel", "#pushes"), ("channel", "#all"), ("note_channel", " ")];
        let properties: Properties =
            own.iter().map(|(name, value)| ((*name).to_owned(), text(value))).collect();
        let settings = ChatSettings { properties: &properties, project_name: "A/B" };
        for (kind, expected) in
            [(HookKind::Push, "#pushes"), (HookKind::Note, "#all"), (HookKind::Issue, "#all")]
        {
            assert_eq!(settings.channel(kind), Some(expected), "{kind:?}");
        }
        let none = Properties::default();
        let settings = ChatSettings { properties: &none, project_name: "A/B" };
        assert_eq!((settings.channel(HookKind::Push), settings.username()), (None, None));
    }

    #[test]
    fn success_is_told_on_request_and_failure_always() {
        let flag = |value| {
            Properties::from_iter([(
                "notify_only_broken_builds".to_owned(),
                Some(PropertyValue::Flag(value)),
            )])
        };
        for (properties, success) in
            [(Properties::default(), false), (flag(true), false), (flag(false), true)]
        {
            let settings = ChatSettings { properties: &properties, project_name: "A/B" };
            for status in Status::ALL {
                let expected = match status {
                    Status::Failed => true,
                    Status::Success => success,
                    _ => false,
                };
                let told = settings.tells_status(status, "notify_only_broken_builds");
                assert_eq!(told, expected, "{status:?}");
            }
        }
    }
}
