//! Notification settings; see [`NotificationSettings`](hexforge_domain::notification::port::NotificationSettings).

use super::check::{read, write};
use super::labels::a_project_with_owner;
use crate::builders::{a_group, a_user, an_address};
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::notification::NotificationEvent::{NewIssue, NewNote, SuccessPipeline};
use hexforge_domain::notification::{
    NotificationChange, NotificationEvent, NotificationLevel, NotificationScope,
    NotificationSetting,
};
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::user::EmailAddress;

fn get(store: &dyn Store, user: UserId, scope: NotificationScope) -> NotificationSetting {
    read(store, |tx| tx.notification_settings().get(user, scope))
}

/// Applies a change, and asserts that the result is stored.
#[track_caller]
fn change(
    store: &dyn Store,
    user: UserId,
    scope: NotificationScope,
    change: &NotificationChange,
) -> NotificationSetting {
    let after = write(store, |tx| tx.notification_settings().change(user, scope, change));
    assert_eq!(get(store, user, scope), after);
    after
}

fn to_level(level: NotificationLevel) -> NotificationChange {
    NotificationChange { level: Some(level), ..NotificationChange::default() }
}

/// Events to add and events to remove.
fn events(added: &[NotificationEvent], removed: &[NotificationEvent]) -> NotificationChange {
    let set = |events: &[NotificationEvent]| events.iter().copied().collect();
    let (added, removed) = (set(added), set(removed));
    NotificationChange { added, removed, ..NotificationChange::default() }
}

/// Everything, a group and a project.
fn scopes(store: &dyn Store, project: ProjectId) -> [NotificationScope; 3] {
    let group = a_group("team").stored_in(store).id;
    let (group, project) = (NotificationScope::Group(group), NotificationScope::Project(project));
    [NotificationScope::Global, group, project]
}

/// Changes keep what they do not name, and concern one user and one scope.
pub fn settings_change_one_by_one(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let scopes = scopes(store, project);
    let default = NotificationSetting::default_of;
    for scope in scopes {
        assert_eq!(get(store, ada, scope), default(scope));
        assert_eq!(change(store, ada, scope, &NotificationChange::default()), default(scope));
        let expected = events(&[NewNote, SuccessPipeline], &[]);
        let first = change(store, ada, scope, &expected);
        assert_eq!(first, expected.apply(default(scope)));
        for level in NotificationLevel::ALL {
            let after = change(store, ada, scope, &to_level(level));
            assert_eq!(after, NotificationSetting { level, ..first.clone() });
        }
        let last = change(store, ada, scope, &events(&[NewIssue], &[NewNote]));
        let expected = events(&[NewIssue, SuccessPipeline], &[]).apply(default(scope));
        assert_eq!(last.events, expected.events);
        assert_eq!(get(store, bob, scope), default(scope));
    }
    change(store, bob, scopes[2], &to_level(NotificationLevel::Watch));
    assert_eq!(get(store, ada, scopes[2]).level, NotificationLevel::Custom);
    assert_eq!(get(store, bob, scopes[1]), default(scopes[1]));
}

/// The address stays until another one is chosen.
pub fn the_address_for_notifications_is_stored(store: &dyn Store) {
    let (_, ada) = a_project_with_owner(store, "ada");
    let address = |text: &str| EmailAddress::parse(text).ok();
    for text in ["ada@example.com", "other@example.com"] {
        let chosen = NotificationChange { address: address(text), ..Default::default() };
        let after = change(store, ada, NotificationScope::Global, &chosen);
        assert_eq!(after.address, address(text));
        let after =
            change(store, ada, NotificationScope::Global, &to_level(NotificationLevel::Watch));
        assert_eq!(after.address, address(text));
    }
}

/// Forgetting an address changes the settings of one user, and only those with this address.
pub fn a_forgotten_address_is_removed_from_the_settings(store: &dyn Store) {
    let (_, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let [chosen, other] = ["chosen@example.com", "other@example.com"].map(an_address);
    let forget = |address: &EmailAddress| {
        write(store, |tx| tx.notification_settings().forget_address(ada, address));
        get(store, ada, NotificationScope::Global)
    };
    let default = NotificationSetting::default_of(NotificationScope::Global);
    assert_eq!(forget(&chosen), default, "nothing is stored yet");
    let choice = NotificationChange { address: Some(chosen.clone()), ..events(&[NewNote], &[]) };
    let [of_ada, of_bob] =
        [ada, bob].map(|user| change(store, user, NotificationScope::Global, &choice));
    assert_eq!(forget(&other), of_ada);
    assert_eq!(forget(&chosen), NotificationSetting { address: None, ..of_ada });
    assert_eq!(get(store, bob, NotificationScope::Global), of_bob);
}

/// Settings go with their user, group or project.
pub fn settings_go_with_everything_that_they_refer_to(store: &dyn Store) {
    let (project, ada) = a_project_with_owner(store, "ada");
    let bob = a_user("bob").stored_in(store).id;
    let scopes = scopes(store, project);
    for scope in scopes {
        for user in [ada, bob] {
            change(store, user, scope, &to_level(NotificationLevel::Watch));
        }
    }
    let left = |user| scopes.map(|scope| get(store, user, scope).level == NotificationLevel::Watch);
    write(store, |tx| tx.users().delete(bob));
    assert_eq!((left(ada), left(bob)), ([true; 3], [false; 3]));
    let NotificationScope::Group(group) = scopes[1] else { panic!("a group") };
    write(store, |tx| tx.groups().delete(group));
    assert_eq!(left(ada), [true, false, true]);
    write(store, |tx| tx.projects().delete(project));
    assert_eq!(left(ada), [true, false, false]);
}

/// Users, groups and projects must exist.
pub fn settings_for_something_unknown_are_refused(store: &dyn Store) {
    let (_, ada) = a_project_with_owner(store, "ada");
    let none = i64::MAX;
    for (user, scope) in [
        (UserId(none), NotificationScope::Global),
        (ada, NotificationScope::Group(NamespaceId(none))),
        (ada, NotificationScope::Project(ProjectId(none))),
    ] {
        let change = to_level(NotificationLevel::Watch);
        let refused = store.write(|tx| tx.notification_settings().change(user, scope, &change));
        assert!(matches!(refused, Err(StoreError::Gone)), "{refused:?}");
    }
}
