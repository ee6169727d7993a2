//! Cascading deletes: the rows that are deleted with another row.

use super::tx::Tables;
use hexforge_domain::delivery::HookRef;
use hexforge_domain::event::EventTarget;
use hexforge_domain::id::{
    IssueId, LabelId, MergeRequestId, MilestoneId, NamespaceId, NoteId, PipelineId, ProjectId,
    UserId,
};
use hexforge_domain::issuable::Issuable;
use hexforge_domain::member::request::RequestSource;
use hexforge_domain::notification::NotificationScope;

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
        self.browser_sessions.retain(|row| row.session.user != id);
        self.sign_in_addresses.retain(|(user, _), _| *user != id);
        self.identities.retain(|(user, _)| *user != id);
        self.events.retain(|event| event.author != id);
        self.group_members.retain(|(_, member)| member.user != id);
        self.project_members.retain(|(_, member)| member.user != id);
        self.access_requests.retain(|(_, user, _)| *user != id);
        self.notification_settings.retain(|(user, _), _| *user != id);
        self.stars.retain(|(_, user)| *user != id);
        self.repository_tasks.retain(|task| task.user() != Some(id));
        self.remove_writings_of(id);
        self.forget_in_pipelines(id);
        for project in self.projects.values_mut().filter(|project| project.creator == Some(id)) {
            project.creator = None;
        }
    }

    pub fn remove_namespace(&mut self, id: NamespaceId) {
        self.group_labels.retain(|label| label.group != id);
        let inside = self.projects.values().filter(|project| project.namespace == id);
        for project in inside.map(|project| project.id).collect::<Vec<_>>() {
            self.remove_project(project);
        }
        self.namespaces.retain(|namespace| namespace.id != id);
        self.group_members.retain(|(group, _)| *group != id);
        self.access_requests.retain(|(source, ..)| *source != RequestSource::Group(id));
        self.notification_settings.retain(|(_, scope), _| *scope != NotificationScope::Group(id));
        self.shares.retain(|(_, share)| share.group != id);
    }

    pub fn remove_project(&mut self, id: ProjectId) {
        self.projects.remove(&id);
        self.project_members.retain(|(project, _)| *project != id);
        self.access_requests.retain(|(source, ..)| *source != RequestSource::Project(id));
        self.notification_settings.retain(|(_, scope), _| *scope != NotificationScope::Project(id));
        self.stars.retain(|(project, _)| *project != id);
        self.shares.retain(|(_, share)| share.project != id);
        let hooks = self.project_hooks.iter().filter(|hook| hook.project == id);
        for hook in hooks.map(|hook| HookRef::Project(hook.id)).collect::<Vec<_>>() {
            self.remove_lane(hook);
        }
        self.project_hooks.retain(|hook| hook.project != id);
        let services = self.services.iter().filter(|service| service.project == id);
        for service in services.map(|service| HookRef::Service(service.id)).collect::<Vec<_>>() {
            self.remove_lane(service);
        }
        self.services.retain(|service| service.project != id);
        self.project_deploy_keys.retain(|(project, _)| *project != id);
        self.protections.retain(|(project, _)| *project != id);
        self.releases.retain(|(project, _)| *project != id);
        self.repositories.remove(&id);
        self.refs.retain(|(project, _), _| *project != id);
        for pack in self.packs.iter_mut().filter(|pack| pack.project == Some(id)) {
            pack.project = None;
        }
        // A task that copies from the project is kept, and will find no content.
        self.repository_tasks.retain(|task| task.project != id);
        self.leave_fork_network(id);
        self.events.retain(|event| event.project != id);
        self.remove_tracker_of(id);
        self.remove_pipelines_of(id);
        for fork in self.projects.values_mut().filter(|fork| fork.forked_from == Some(id)) {
            fork.forked_from = None;
        }
    }

    /// Pipelines, builds and deployments that a user started are kept without a user.
    fn forget_in_pipelines(&mut self, user: UserId) {
        for (pipeline, _) in &mut self.pipelines {
            pipeline.user = pipeline.user.filter(|other| *other != user);
        }
        for build in &mut self.builds {
            build.user = build.user.filter(|other| *other != user);
        }
        for deployment in &mut self.deployments {
            deployment.user = deployment.user.filter(|other| *other != user);
        }
    }

    fn remove_pipelines_of(&mut self, project: ProjectId) {
        let doomed: Vec<PipelineId> = (self.pipelines.iter())
            .filter(|(pipeline, _)| pipeline.project == project)
            .map(|(pipeline, _)| pipeline.id)
            .collect();
        self.pipelines.retain(|(pipeline, _)| pipeline.project != project);
        self.definitions.retain(|_, (pipeline, _)| !doomed.contains(pipeline));
        self.trigger_requests.retain(|request| !doomed.contains(&request.pipeline));
        self.builds.retain(|build| build.project != project);
        self.runner_projects.retain(|(_, other)| *other != project);
        self.triggers.retain(|trigger| trigger.project != project);
        self.variables.retain(|variable| variable.project != project);
        self.environments.retain(|environment| environment.project != project);
        self.deployments.retain(|deployment| deployment.project != project);
    }

    /// Issues and merge requests of which the user is author or assignee, and notes of the user, are
    /// deleted with the user.
    fn remove_writings_of(&mut self, user: UserId) {
        self.remove_snippets(|snippet| snippet.author == user);
        let issues = self.issues.iter().filter(|issue| issue.concerns(user));
        for issue in issues.map(|issue| issue.id).collect::<Vec<_>>() {
            self.remove_issue(issue);
        }
        let requests = self.merge_requests.iter().filter(|request| request.concerns(user));
        for request in requests.map(|request| request.id).collect::<Vec<_>>() {
            self.remove_merge_request(request);
        }
        let notes = self.notes.iter().filter(|note| note.author == user);
        for note in notes.map(|note| note.id).collect::<Vec<_>>() {
            self.remove_note(note);
        }
        self.label_subscriptions.retain(|(_, other)| *other != user);
        self.subscriptions.retain(|(_, other), _| *other != user);
        self.awards.retain(|award| award.user != user);
        self.todos.retain(|todo| todo.user != user && todo.author != user);
        self.participants.retain(|(_, other)| *other != user);
        for issue in &mut self.issues {
            issue.updated_by = issue.updated_by.filter(|other| *other != user);
        }
        for request in &mut self.merge_requests {
            request.updated_by = request.updated_by.filter(|other| *other != user);
            request.automatic_merge.take_if(|automatic| automatic.user == user);
        }
        for note in &mut self.notes {
            note.updated_by = note.updated_by.filter(|other| *other != user);
        }
    }

    fn remove_tracker_of(&mut self, project: ProjectId) {
        let issues = self.issues.iter().filter(|issue| issue.project == project);
        for issue in issues.map(|issue| issue.id).collect::<Vec<_>>() {
            self.remove_issue(issue);
        }
        let requests = self.merge_requests.iter().filter(|request| request.project() == project);
        for request in requests.map(|request| request.id).collect::<Vec<_>>() {
            self.remove_merge_request(request);
        }
        self.notes.retain(|note| note.project != project);
        self.todos.retain(|todo| todo.project != project);
        self.remove_snippets(|snippet| snippet.project == Some(project));
        let labels = self.labels.iter().filter(|label| label.project == project);
        for label in labels.map(|label| label.id).collect::<Vec<_>>() {
            self.remove_label(label);
        }
        self.milestones.retain(|milestone| milestone.project != project);
        self.boards.retain(|board| board.project != project);
        self.iids.remove(&project);
    }

    pub fn remove_issue(&mut self, id: IssueId) {
        self.issues.retain(|issue| issue.id != id);
        self.issue_labels.retain(|(issue, _)| *issue != id);
        self.remove_issuable(id.into());
        for issue in &mut self.issues {
            issue.moved_to = issue.moved_to.filter(|other| *other != id);
        }
    }

    pub fn remove_milestone(&mut self, id: MilestoneId) {
        self.milestones.retain(|milestone| milestone.id != id);
        let had = |milestone: Option<MilestoneId>| milestone.filter(|other| *other != id);
        for issue in &mut self.issues {
            issue.milestone = had(issue.milestone);
        }
        for request in &mut self.merge_requests {
            request.milestone = had(request.milestone);
        }
        let about = |on: &EventTarget| on.kind == "Milestone" && on.id == Some(id.0);
        self.events.retain(|event| !event.target.as_ref().is_some_and(about));
    }

    pub fn remove_merge_request(&mut self, id: MergeRequestId) {
        self.merge_requests.retain(|request| request.id != id);
        self.merge_request_labels.retain(|(request, _)| *request != id);
        self.versions.retain(|version| version.request != id);
        self.remove_issuable(id.into());
    }

    /// Removes the rows that issues and merge requests both have.
    fn remove_issuable(&mut self, id: Issuable) {
        self.subscriptions.retain(|(on, _), _| *on != id);
        self.participants.retain(|(on, _)| *on != id);
        let notes = self.notes.iter().filter(|note| note.on == id.into());
        for note in notes.map(|note| note.id).collect::<Vec<_>>() {
            self.remove_note(note);
        }
        self.awards.retain(|award| award.on != id.into());
        self.todos.retain(|todo| todo.target != id.into());
        self.events
            .retain(|event| event.target.as_ref().and_then(|on| on.belongs_to) != Some(id.into()));
    }

    pub fn remove_note(&mut self, id: NoteId) {
        self.notes.retain(|note| note.id != id);
        self.awards.retain(|award| award.on != id.into());
        self.todos.retain(|todo| todo.note != Some(id));
        self.events.retain(|event| {
            let about = |on: &EventTarget| on.kind.ends_with("Note") && on.id == Some(id.0);
            !event.target.as_ref().is_some_and(about)
        });
    }

    pub fn remove_label(&mut self, id: LabelId) {
        self.labels.retain(|label| label.id != id);
        self.issue_labels.retain(|(_, label)| *label != id);
        self.merge_request_labels.retain(|(_, label)| *label != id);
        self.label_subscriptions.retain(|(label, _)| *label != id);
        let lists = self.board_lists.iter().filter(|list| list.label == id);
        for gone in lists.copied().collect::<Vec<_>>() {
            self.board_lists.retain(|list| list.id != gone.id);
            for list in self.board_lists.iter_mut().filter(|list| list.board == gone.board) {
                if list.position > gone.position {
                    list.position -= 1;
                }
            }
        }
    }
}
