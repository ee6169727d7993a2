//! Reading the activity feeds.

use hexforge_application::error::{Entity, Error};
use hexforge_application::event;
use hexforge_application::view::event::EventView;
use hexforge_domain::id::ProjectId;
use hexforge_domain::id::UserId;
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::user::User;
use hexforge_domain::user::UserState;
use hexforge_domain_testing::builders::{a_project, a_user, an_event, home_of};

use crate::support::{FIRST_PAGE, World, actor};

/// Stores a public project of a user.
fn project_of(world: &World, user: &User) -> ProjectId {
    let home = home_of(&*world.app.store, user.id);
    a_project("poem", home, user.id).public().stored_in(&*world.app.store).id
}

#[test]
fn a_feed_shows_what_its_user_did_newest_first_with_the_user() {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    let bob = world.user(a_user("bob"));
    let poem = project_of(&world, &ada);
    let [first, _, last] = [&ada, &bob, &ada]
        .map(|user| world.write(|tx| tx.events().insert(an_event(poem, user.id))));
    for reader in [actor(&bob), actor(&ada), world.admin()] {
        let feed =
            event::list_of_user(&world.app, reader, ada.id, FIRST_PAGE).expect("every user may");
        let view = |event: &_| EventView {
            event: Clone::clone(event),
            author: ada.clone(),
            note: None,
            number: None,
        };
        assert_eq!(feed.items, [view(&last), view(&first)]);
        assert_eq!(feed.total, 2);
    }
}

#[test]
fn a_feed_comes_in_pages() {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    let poem = project_of(&world, &ada);
    let first = world.write(|tx| {
        let first = tx.events().insert(an_event(poem, ada.id))?;
        for _ in 0..2 {
            tx.events().insert(an_event(poem, ada.id))?;
        }
        Ok(first)
    });
    let second = Page::Numbered { number: 2, size: 2 };
    let feed =
        event::list_of_user(&world.app, actor(&ada), ada.id, second).expect("every user may");
    assert_eq!(feed.items, [EventView { event: first, author: ada, note: None, number: None }]);
    assert_eq!(feed.total, 3);
}

#[test]
fn a_user_without_activity_has_an_empty_feed() {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    let feed = event::list_of_user(&world.app, actor(&ada), ada.id, FIRST_PAGE).expect("may");
    assert_eq!((feed.items, feed.total), (vec![], 0));
}

#[test]
fn the_feed_of_a_blocked_user_stays() {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    let poem = project_of(&world, &ada);
    world.write(|tx| tx.events().insert(an_event(poem, ada.id)));
    world.in_state(&ada, UserState::Blocked);
    let reader = world.admin();
    let feed = event::list_of_user(&world.app, reader, ada.id, FIRST_PAGE).expect("every user may");
    assert_eq!(feed.total, 1);
}

#[test]
fn an_unknown_user_has_no_feed() {
    let world = World::new();
    let ada = actor(&world.user(a_user("ada")));
    let error = world.refusal(|app| event::list_of_user(app, ada, UserId(9999), FIRST_PAGE));
    assert_error!(error, Error::NotFound(Entity::User));
}

#[test]
fn an_anonymous_caller_reads_no_feed() {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    for id in [ada.id, UserId(9999)] {
        let error = world.refusal(|app| event::list_of_user(app, Actor::Anonymous, id, FIRST_PAGE));
        assert_error!(error, Error::Unauthenticated);
    }
}

#[test]
fn a_feed_is_silent_about_projects_that_its_reader_does_not_see() {
    let world = World::new();
    let ada = world.user(a_user("ada"));
    let bob = world.user(a_user("bob"));
    let home = home_of(&*world.app.store, ada.id);
    let diary = a_project("diary", home, ada.id).stored_in(&*world.app.store);
    let event = world.write(|tx| tx.events().insert(an_event(diary.id, ada.id)));
    // Administrators see no more events than others.
    for reader in [actor(&bob), world.admin()] {
        let feed =
            event::list_of_user(&world.app, reader, ada.id, FIRST_PAGE).expect("every user may");
        assert_eq!((feed.items, feed.total), (vec![], 0));
    }
    let feed = event::list_of_user(&world.app, actor(&ada), ada.id, FIRST_PAGE).expect("may");
    assert_eq!(
        (feed.items, feed.total),
        (vec![EventView { event, author: ada, note: None, number: None }], 1)
    );
}
