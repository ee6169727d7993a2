//! Adds and removes memberships, and records the activity events and system hook events.

use std::collections::HashMap;

use hexforge_domain::Timestamp;
use hexforge_domain::event::{EventAction, NewEvent};
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::member::Membership;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::notification::NotificationScope;
use hexforge_domain::outbox::{GroupFacts, GroupMemberFacts, MemberFacts, SystemEvent, TeamFacts};
use hexforge_domain::paging::Paged;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::ProjectWithNamespace;
use hexforge_domain::user::User;

use super::source::Found;
use crate::project::ROWS_PER_READ;
use crate::view::project as project_view;

/// Makes a user a member, with the notification level that the user chose before. The user must not be a member yet.
/// Deletes the access request of the user.
pub(super) fn join(
    tx: &mut dyn Tx,
    found: &Found,
    user: &User,
    membership: Membership,
    now: Timestamp,
) -> Result<(), StoreError> {
    let member = MemberFacts::new(user, membership.level, now);
    let scope = match found {
        Found::Group(group) => NotificationScope::Group(group.id),
        Found::Project(project) => NotificationScope::Project(project.id),
    };
    let notification_level = tx.notification_settings().get(user.id, scope)?.level;
    let membership = Membership { notification_level, ..membership };
    tx.access_requests().delete(found.request_source(), user.id)?;
    match found {
        Found::Group(group) => {
            tx.group_members().insert(group.id, membership)?;
            let joined = GroupMemberFacts { group: GroupFacts::from(group), member };
            tx.outbox().record(&SystemEvent::GroupMemberAdded(joined), now)
        }
        Found::Project(project) => {
            let placed = project_view::with_namespace(tx, project.clone())?;
            tx.project_members().insert(placed.project.id, membership)?;
            if placed.place.namespace.owner != Some(user.id) {
                record_event(tx, placed.project.id, user.id, EventAction::Joined, now)?;
            }
            record_team_event(tx, &placed, member, SystemEvent::TeamMemberAdded, now)
        }
    }
}

/// Removes the membership of a user, with the todos of the user in the project, and records the event with this action.
pub(super) fn leave(
    tx: &mut dyn Tx,
    found: &Found,
    member: MemberFacts,
    action: EventAction,
) -> Result<(), StoreError> {
    let (user, now) = (member.user, member.at);
    match found {
        Found::Group(group) => {
            tx.group_members().delete(group.id, user)?;
            let left = GroupMemberFacts { group: GroupFacts::from(group), member };
            tx.outbox().record(&SystemEvent::GroupMemberRemoved(left), now)
        }
        Found::Project(project) => {
            let placed = project_view::with_namespace(tx, project.clone())?;
            tx.project_members().delete(placed.project.id, user)?;
            tx.todos().delete_in_project(user, placed.project.id)?;
            record_event(tx, placed.project.id, user, action, now)?;
            record_team_event(tx, &placed, member, SystemEvent::TeamMemberRemoved, now)
        }
    }
}

/// Records a system hook event for each membership that ends with the deletion of a user. Activity events are not
/// written, because the deletion removes them too.
pub(crate) fn record_departures(
    tx: &mut dyn Tx,
    user: &User,
    now: Timestamp,
) -> Result<(), StoreError> {
    for teams in tx.project_members().all_of_user(user.id)?.chunks(ROWS_PER_READ) {
        let projects: Vec<ProjectId> = teams.iter().map(|(project, _)| *project).collect();
        let projects = tx.projects().find_all(&projects)?;
        let total = projects.len() as u64;
        let projects =
            project_view::page_with_namespaces(tx, Paged { items: projects, total })?.items;
        let projects: HashMap<ProjectId, ProjectWithNamespace> =
            projects.into_iter().map(|placed| (placed.project.id, placed)).collect();
        for (project, membership) in teams {
            let member = MemberFacts::new(user, membership.level, now);
            if let Some(placed) = projects.get(project) {
                record_team_event(tx, placed, member, SystemEvent::TeamMemberRemoved, now)?;
            }
        }
    }
    let memberships = tx.group_members().all_of_user(user.id)?;
    let groups: Vec<NamespaceId> = memberships.iter().map(|(group, _)| *group).collect();
    let groups = tx.namespaces().find_all(&groups)?;
    let groups: HashMap<NamespaceId, Namespace> =
        groups.into_iter().map(|group| (group.id, group)).collect();
    for (group, membership) in memberships {
        let member = MemberFacts::new(user, membership.level, now);
        if let Some(group) = groups.get(&group) {
            let left = GroupMemberFacts { group: GroupFacts::from(group), member };
            tx.outbox().record(&SystemEvent::GroupMemberRemoved(left), now)?;
        }
    }
    Ok(())
}

/// Writes an activity event about a member and updates the project's time of last activity.
fn record_event(
    tx: &mut dyn Tx,
    project: ProjectId,
    author: UserId,
    action: EventAction,
    at: Timestamp,
) -> Result<(), StoreError> {
    tx.events().insert(NewEvent { project, author, action, target: None, push: None, at })?;
    tx.projects().record_activity(project, at)
}

fn record_team_event(
    tx: &mut dyn Tx,
    placed: &ProjectWithNamespace,
    member: MemberFacts,
    event: fn(TeamFacts) -> SystemEvent,
    at: Timestamp,
) -> Result<(), StoreError> {
    let project = placed.place.facts(&placed.project);
    tx.outbox().record(&event(TeamFacts { project, member }), at)
}
