//! JSON payloads of hooks.

use std::sync::Arc;

use hexforge_application::application_settings::SettingsCache;
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::outbox::project::ProjectEvent;
use hexforge_domain::ports::payloads::{Audience, Payloads};
use hexforge_domain::service::slack::ChatSettings;
use serde_json::{Value, json};

use crate::entities::payload::{ci, issue, merge_request, note, slack, system};
use crate::entities::push::PushJson;
use hexforge_http_edge::links::Links;

/// Renders payloads, with URLs below the external URL.
#[derive(Clone, Debug)]
pub struct JsonPayloads(Links);

impl JsonPayloads {
    /// Uses URLs below this one, with SSH on that port of the same host. The settings tell whether Gravatars are shown.
    pub fn new(external_url: &str, ssh_port: u16, settings: Arc<SettingsCache>) -> Self {
        Self(Links::new(external_url, ssh_port, settings))
    }

    /// Uses the URLs of responses.
    pub(crate) fn with(links: &Links) -> Self {
        Self(links.clone())
    }
}

impl Payloads for JsonPayloads {
    fn payload_json(&self, event: &SystemEvent, audience: Audience) -> String {
        payload_json(event, audience, &self.0).to_string()
    }

    fn chat_form(&self, event: &SystemEvent, settings: ChatSettings<'_>) -> Option<String> {
        let message = slack::message(event, settings, &self.0)?.to_string();
        let mut form = form_urlencoded::Serializer::new(String::new());
        Some(form.append_pair("payload", &message).finish())
    }

    fn sample_json(&self) -> String {
        sample().to_string()
    }
}

/// The sample payload that `GET /hooks/:id` sends.
pub fn sample() -> Value {
    json!({
        "event_name": "project_create",
        "name": "Ruby",
        "path": "ruby",
        "project_id": 1,
        "owner_name": "Someone",
        "owner_email": "example@gitlabhq.com",
    })
}

fn payload_json(event: &SystemEvent, audience: Audience, links: &Links) -> Value {
    match event {
        SystemEvent::UserCreated(facts) => system::user("user_create", facts),
        SystemEvent::UserDestroyed(facts) => system::user("user_destroy", facts),
        SystemEvent::KeyCreated(facts) => system::key("key_create", facts),
        SystemEvent::KeyDestroyed(facts) => system::key("key_destroy", facts),
        SystemEvent::DeployKeyCreated(facts) => system::deploy_key("deploykey_create", facts),
        SystemEvent::DeployKeyDestroyed(facts) => system::deploy_key("deploykey_destroy", facts),
        SystemEvent::ProjectCreated(facts) => system::project("project_create", facts, None),
        SystemEvent::ProjectDestroyed(facts) => system::project("project_destroy", facts, None),
        SystemEvent::ProjectRenamed(facts, before) => {
            system::project("project_rename", facts, Some(before))
        }
        SystemEvent::ProjectTransferred(facts, before) => {
            system::project("project_transfer", facts, Some(before))
        }
        SystemEvent::TeamMemberAdded(facts) => system::team("user_add_to_team", facts),
        SystemEvent::TeamMemberRemoved(facts) => system::team("user_remove_from_team", facts),
        SystemEvent::GroupCreated(facts) => system::group("group_create", facts),
        SystemEvent::GroupDestroyed(facts) => system::group("group_destroy", facts),
        SystemEvent::GroupMemberAdded(facts) => system::group_member("user_add_to_group", facts),
        SystemEvent::GroupMemberRemoved(facts) => {
            system::group_member("user_remove_from_group", facts)
        }
        SystemEvent::Pushed(push) => match audience {
            Audience::Project => json!(PushJson::new(push, links)),
            Audience::Service => json!(PushJson::for_service(push, links)),
        },
        SystemEvent::InProject(event) => match &**event {
            ProjectEvent::Issue(event) => issue::payload_json(event, links),
            ProjectEvent::NoteOnIssue(event) => note::on_issue(event, links),
            ProjectEvent::MergeRequest(event) => merge_request::payload_json(event, links),
            ProjectEvent::NoteOnMergeRequest(event) => note::on_merge_request(event, links),
            ProjectEvent::NoteOnCommit(event) => note::on_commit(event, links),
            ProjectEvent::NoteOnSnippet(event) => note::on_snippet(event, links),
            ProjectEvent::Build(event) => ci::build(event, links),
            ProjectEvent::Pipeline(event) => ci::pipeline(event, links),
        },
    }
}
