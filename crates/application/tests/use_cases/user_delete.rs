//! Removing accounts.

use crate::support::{World, actor};
use chrono::TimeDelta;
use hexforge_application::error::Error;
use hexforge_application::user::{self, Deletion};
use hexforge_application::view::user::FullUser;
use hexforge_domain::id::UserId;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::{KeyFacts, MemberFacts, SystemEvent, TeamFacts, UserFacts};
use hexforge_domain::policy::Actor;
use hexforge_domain::user::{Identity, User};
use hexforge_domain_testing::builders::{
    a_group, a_key, a_member, a_moment, a_project, a_text, a_token, a_user, an_address, an_event,
    home_of, join_project,
};

fn directory(extern_uid: &str) -> Identity {
    Identity { provider: a_text("directory"), extern_uid: Some(a_text(extern_uid)) }
}

/// Stores a user with one row of each kind that belongs to users.
fn with_belongings(world: &World, name: &str, number: u32) -> User {
    let user = world.user(a_user(name));
    world.write(|tx| {
        tx.identities().put(user.id, &directory(name))?;
        tx.keys().insert(user.id, a_key(number), a_moment())?;
        tx.emails().insert(user.id, &an_address(&format!("{name}@work.example.com")))?;
        tx.tokens().insert(a_token(user.id, name))?;
        let home = tx.namespaces().personal(user.id)?.expect("every user has a namespace");
        let project = a_project("diary", home.id, user.id).insert(tx)?;
        tx.project_members().insert(project.id, a_member(user.id, AccessLevel::Master))?;
        tx.events().insert(an_event(project.id, user.id))
    });
    user
}

#[test]
fn a_removed_account_is_answered_as_it_was() {
    let world = World::new();
    let admin = world.admin();
    let ada = with_belongings(&world, "ada", 1);
    let removed = user::delete(&world.app, admin, ada.id).expect("an administrator may");
    let ada = FullUser { user: ada, identities: vec![directory("ada")], personal_projects: 1 };
    assert_eq!(removed, Deletion::Deleted(Box::new(ada)));
}

#[test]
fn an_account_goes_with_all_that_hangs_on_it_and_nothing_else() {
    let world = World::new();
    let admin = world.admin();
    with_belongings(&world, "bob", 2);
    let before = world.stored();
    let ada = with_belongings(&world, "ada", 1);
    user::delete(&world.app, admin, ada.id).expect("an administrator may");
    assert_eq!(world.stored().accounts, before.accounts);
    assert_eq!(world.stored().projects, before.projects);
    // The unique values are free again.
    with_belongings(&world, "ada", 1);
}

#[test]
fn the_news_of_the_keys_comes_before_that_of_the_account() {
    let world = World::new();
    let admin = world.admin();
    let ada = world.user(a_user("ada"));
    let (old, new) = world.write(|tx| {
        let old = tx.keys().insert(ada.id, a_key(1), a_moment())?;
        Ok((old, tx.keys().insert(ada.id, a_key(2), a_moment())?))
    });
    world.clock.advance(TimeDelta::hours(1));
    user::delete(&world.app, admin, ada.id).expect("an administrator may");
    let expected = [
        SystemEvent::KeyDestroyed(KeyFacts::new(&new, &ada)),
        SystemEvent::KeyDestroyed(KeyFacts::new(&old, &ada)),
        SystemEvent::UserDestroyed(UserFacts::from(&ada)),
    ];
    assert_eq!(world.outbox_events(), expected);
    let mut moments = world.stored().outbox.into_iter().map(|entry| entry.at);
    assert!(moments.all(|at| at == a_moment() + TimeDelta::hours(1)));
}

#[test]
fn removing_an_unknown_account_succeeds_and_does_nothing() {
    let world = World::new();
    let admin = world.admin();
    let before = world.stored();
    for id in [0, 9999, i64::MAX] {
        let removed = user::delete(&world.app, admin, UserId(id));
        assert_eq!(removed.expect("there is nothing to refuse"), Deletion::Missing);
    }
    assert_eq!(world.stored(), before);
}

#[test]
fn an_account_is_removed_once() {
    let world = World::new();
    let admin = world.admin();
    let ada = world.user(a_user("ada"));
    let remove = || user::delete(&world.app, admin, ada.id).expect("an administrator may");
    assert!(matches!(remove(), Deletion::Deleted(_)));
    assert_eq!(remove(), Deletion::Missing);
    assert_eq!(world.outbox_events(), [SystemEvent::UserDestroyed(UserFacts::from(&ada))]);
}

#[test]
fn an_administrator_may_remove_itself() {
    let world = World::new();
    let admin = world.admin();
    let own = admin.user().expect("a user");
    let removed = user::delete(&world.app, admin, own).expect("nothing forbids it");
    assert!(matches!(removed, Deletion::Deleted(_)));
    assert_eq!(world.stored().accounts, []);
}

#[test]
fn only_administrators_remove_accounts_even_their_own() {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    for id in [ada.id, UserId(9999)] {
        let error = world.refusal(|app| user::delete(app, actor(&ada), id));
        assert_error!(error, Error::Forbidden(None));
        let error = world.refusal(|app| user::delete(app, Actor::Anonymous, id));
        assert_error!(error, Error::Unauthenticated);
    }
}

#[test]
fn the_projects_of_the_account_are_news_before_the_account_itself() {
    let world = World::new();
    let admin = world.admin();
    let ada = world.user(a_user("ada"));
    let bob = world.user(a_user("bob"));
    let home = home_of(&*world.app.store, ada.id);
    let diary = a_project("diary", home, ada.id).stored_in(&*world.app.store);
    join_project(&*world.app.store, diary.id, a_member(bob.id, AccessLevel::Guest));
    user::delete(&world.app, admin, ada.id).expect("an administrator may");
    let news = world.outbox_events();
    let [SystemEvent::TeamMemberRemoved(left), SystemEvent::ProjectDestroyed(gone), last] =
        &news[..]
    else {
        panic!("{news:?}")
    };
    assert_eq!((gone.id, gone.path_with_namespace.as_str()), (diary.id, "ada/diary"));
    let member = MemberFacts::new(&bob, AccessLevel::Guest, a_moment());
    assert_eq!(*left, TeamFacts { project: gone.clone(), member });
    assert_eq!(*last, SystemEvent::UserDestroyed(UserFacts::from(&ada)));
    assert_eq!(world.stored().projects, []);
}

#[test]
fn the_only_owner_of_a_group_stays_with_it() {
    let world = World::new();
    let admin = world.admin();
    let ada = world.user(a_user("ada"));
    let bob = world.user(a_user("bob"));
    let store = &*world.app.store;
    let group = a_group("crew").owner(ada.id).member(bob.id, AccessLevel::Master).stored_in(store);
    let before = world.stored();
    let kept = user::delete(&world.app, admin, ada.id).expect("an administrator may");
    assert_eq!(kept, Deletion::SoleOwner);
    assert_eq!(world.stored(), before);
    world.write(|tx| tx.group_members().update(group.id, a_member(bob.id, AccessLevel::Owner)));
    let removed = user::delete(&world.app, admin, ada.id).expect("an administrator may");
    assert!(matches!(removed, Deletion::Deleted(_)));
}
