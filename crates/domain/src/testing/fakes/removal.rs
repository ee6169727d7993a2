//! What goes along with what: the rows that hang on a removed one.

use super::tx::Tables;
use crate::id::{NamespaceId, ProjectId, UserId};
use crate::member::request::RequestSource;

impl Tables {
    pub fn remove_user(&mut self, id: UserId) {
        let homes = self.namespaces.iter().filter(|namespace| namespace.owner == Some(id));
        for home in homes.map(|namespace| namespace.id).collect::<Vec<_>>() {
            self.remove_namespace(home);
        }
        self.users.remove(&id);
        self.keys.retain(|key| key.user != id);
        self.emails.retain(|email| email.user != id);
        self.tokens.retain(|row| row.token.user != id);
        self.identities.retain(|(user, _)| *user != id);
        self.events.retain(|event| event.author != id);
        self.group_members.retain(|(_, member)| member.user != id);
        self.project_members.retain(|(_, member)| member.user != id);
        self.access_requests.retain(|(_, user, _)| *user != id);
        self.stars.retain(|(_, user)| *user != id);
        self.repository_tasks.retain(|task| task.user() != Some(id));
        for project in self.projects.values_mut().filter(|project| project.creator == Some(id)) {
            project.creator = None;
        }
    }

    pub fn remove_namespace(&mut self, id: NamespaceId) {
        let inside = self.projects.values().filter(|project| project.namespace == id);
        for project in inside.map(|project| project.id).collect::<Vec<_>>() {
            self.remove_project(project);
        }
        self.namespaces.retain(|namespace| namespace.id != id);
        self.group_members.retain(|(group, _)| *group != id);
        self.access_requests.retain(|(source, ..)| *source != RequestSource::Group(id));
        self.shares.retain(|(_, share)| share.group != id);
    }

    pub fn remove_project(&mut self, id: ProjectId) {
        self.projects.remove(&id);
        self.project_members.retain(|(project, _)| *project != id);
        self.access_requests.retain(|(source, ..)| *source != RequestSource::Project(id));
        self.stars.retain(|(project, _)| *project != id);
        self.shares.retain(|(_, share)| share.project != id);
        self.project_hooks.retain(|hook| hook.project != id);
        self.protections.retain(|(project, _)| *project != id);
        self.releases.retain(|(project, _)| *project != id);
        // A task that copies from it stays, and will find nothing there.
        self.repository_tasks.retain(|task| task.project != id);
        self.events.retain(|event| event.project != id);
        for fork in self.projects.values_mut().filter(|fork| fork.forked_from == Some(id)) {
            fork.forked_from = None;
        }
    }
}
