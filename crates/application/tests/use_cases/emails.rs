//! The secondary addresses of users.

use crate::support::{FIRST_PAGE, World, actor, field_errors, invalid};
use hexforge_application::error::{Entity, Error};
use hexforge_application::user::{Owner, email};
use hexforge_domain::id::{EmailId, UserId};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::user::{Email, User};
use hexforge_domain_testing::builders::{a_user, an_address};

/// A world with an administrator and `ada`.
fn world_with_ada() -> (World, Actor, User) {
    let world = World::new();
    let admin = world.admin();
    let ada = world.user(a_user("ada"));
    (world, admin, ada)
}

fn stored(world: &World, user: &User, address: &str) -> Email {
    world.write(|tx| tx.emails().insert(user.id, &an_address(address)))
}

fn emails_of(world: &World, user: &User) -> Vec<Email> {
    world.read(|tx| tx.emails().list(user.id, Page::Whole)).items
}

#[test]
fn secondary_addresses_are_listed_newest_first_in_pages() {
    let (world, admin, ada) = world_with_ada();
    let [one, two, three] = ["1@x.org", "2@x.org", "3@x.org"].map(|a| stored(&world, &ada, a));
    let bob = world.user(a_user("bob"));
    stored(&world, &bob, "4@x.org");
    for (actor, owner) in [(actor(&ada), Owner::Actor), (admin, Owner::User(ada.id))] {
        let page = email::list(&world.app, actor, owner, FIRST_PAGE).expect("own or managed");
        assert_eq!(page.items, [three.clone(), two.clone(), one.clone()]);
        let second = Page::Numbered { number: 2, size: 2 };
        let page = email::list(&world.app, actor, owner, second).expect("own or managed");
        assert_eq!((page.items, page.total), (vec![one.clone()], 3));
    }
}

#[test]
fn the_addresses_of_a_missing_account_are_not_listed() {
    let (world, admin, _) = world_with_ada();
    let nobody = Owner::User(UserId(9999));
    let error = world.refusal(|app| email::list(app, admin, nobody, FIRST_PAGE));
    assert_error!(error, Error::NotFound(Entity::User));
}

#[test]
fn users_read_their_own_addresses_only() {
    let (world, admin, ada) = world_with_ada();
    let own = stored(&world, &ada, "ada@work.example.com");
    assert_eq!(email::get(&world.app, actor(&ada), own.id).expect("her own"), own);
    for (actor, id) in [(admin, own.id), (actor(&ada), EmailId(9999))] {
        let error = world.refusal(|app| email::get(app, actor, id));
        assert_error!(error, Error::NotFound(Entity::Record));
    }
}

#[test]
fn an_address_is_added_trimmed_and_in_lower_case_without_news() {
    let (world, admin, ada) = world_with_ada();
    for (actor, owner, given, expected) in [
        (actor(&ada), Owner::Actor, " Ada@Work.example.com ", "ada@work.example.com"),
        (admin, Owner::User(ada.id), "countess@example.com", "countess@example.com"),
    ] {
        let added = email::add(&world.app, actor, owner, Some(given)).expect("a free address");
        assert_eq!((added.user, added.address.as_str()), (ada.id, expected));
        assert_eq!(emails_of(&world, &ada)[0], added);
    }
    assert_eq!(world.reload(&ada), ada, "the account itself stays as it was");
    assert_eq!(world.outbox_events(), []);
}

#[test]
fn a_missing_address_is_named_before_the_account_is_looked_up() {
    let (world, admin, ada) = world_with_ada();
    for (actor, owner) in [(actor(&ada), Owner::Actor), (admin, Owner::User(UserId(9999)))] {
        let error = world.refusal(|app| email::add(app, actor, owner, None));
        assert_error!(error, Error::NotGiven("email"));
    }
}

#[test]
fn a_missing_account_gets_no_address_and_is_told_before_wrong_fields() {
    let (world, admin, _) = world_with_ada();
    for address in ["new@example.com", "no address", "ada@example.com"] {
        let nobody = Owner::User(UserId(9999));
        let error = world.refusal(|app| email::add(app, admin, nobody, Some(address)));
        assert_error!(error, Error::NotFound(Entity::Record));
    }
}

#[test]
fn what_is_no_address_is_refused() {
    let (world, _, ada) = world_with_ada();
    for address in ["no address", "@example.com", "a@b@c", ""] {
        let add = |app: &_| email::add(app, actor(&ada), Owner::Actor, Some(address));
        assert_eq!(
            invalid(world.refusal(add)),
            field_errors([("email", "is invalid")]),
            "{address}"
        );
    }
}

#[test]
fn an_address_belongs_to_one_user_be_it_primary_or_secondary() {
    let (world, _, ada) = world_with_ada();
    let bob = world.user(a_user("bob"));
    stored(&world, &bob, "bobby@example.com");
    stored(&world, &ada, "countess@example.com");
    for address in [
        "bob@example.com",
        "BOBBY@example.com",
        "countess@example.com",
        // Her own primary address.
        "ada@example.com",
    ] {
        let add = |app: &_| email::add(app, actor(&ada), Owner::Actor, Some(address));
        let expected = field_errors([("email", "has already been taken")]);
        assert_eq!(invalid(world.refusal(add)), expected, "{address}");
    }
}

#[test]
fn users_remove_their_own_addresses_without_news() {
    let (world, _, ada) = world_with_ada();
    let [one, two] = ["1@x.org", "2@x.org"].map(|address| stored(&world, &ada, address));
    let removed = email::remove_own(&world.app, actor(&ada), one.id).expect("her own");
    assert_eq!(removed, Some(one.clone()));
    assert_eq!(emails_of(&world, &ada), [two]);
    assert_eq!(world.read(|tx| tx.emails().holder(&one.address)), None, "it is free again");
    assert_eq!(world.outbox_events(), []);
}

#[test]
fn removing_what_is_not_ones_own_address_does_nothing() {
    let (world, admin, ada) = world_with_ada();
    let own = stored(&world, &ada, "ada@work.example.com");
    let before = world.stored();
    for (actor, id) in [(admin, own.id), (actor(&ada), EmailId(9999))] {
        assert_eq!(email::remove_own(&world.app, actor, id).expect("nothing to refuse"), None);
    }
    assert_eq!(world.stored(), before);
}

#[test]
fn administrators_remove_the_addresses_of_others() {
    let (world, admin, ada) = world_with_ada();
    let own = stored(&world, &ada, "ada@work.example.com");
    let removed = email::remove_of(&world.app, admin, ada.id, own.id).expect("ada's address");
    assert_eq!(removed, own);
    assert_eq!(emails_of(&world, &ada), []);
}

#[test]
fn administrators_are_told_what_is_missing() {
    let (world, admin, ada) = world_with_ada();
    let bob = world.user(a_user("bob"));
    let bobs = stored(&world, &bob, "bobby@example.com");
    for id in [bobs.id, EmailId(9999)] {
        let error = world.refusal(|app| email::remove_of(app, admin, ada.id, id));
        assert_error!(error, Error::NotFound(Entity::Email));
        let error = world.refusal(|app| email::remove_of(app, admin, UserId(9999), id));
        assert_error!(error, Error::NotFound(Entity::User));
    }
}

#[test]
fn only_administrators_use_the_addresses_of_others() {
    let (world, _, ada) = world_with_ada();
    let own = stored(&world, &ada, "ada@work.example.com");
    let of_ada = Owner::User(ada.id);
    let caller = actor(&ada);
    assert_error!(
        world.refusal(|app| email::list(app, caller, of_ada, FIRST_PAGE)),
        Error::Forbidden(None)
    );
    assert_error!(
        world.refusal(|app| email::add(app, caller, of_ada, None)),
        Error::Forbidden(None)
    );
    assert_error!(
        world.refusal(|app| email::remove_of(app, caller, ada.id, own.id)),
        Error::Forbidden(None)
    );
}

#[test]
fn an_anonymous_caller_has_no_addresses() {
    let (world, _, ada) = world_with_ada();
    let own = stored(&world, &ada, "ada@work.example.com");
    let nobody = Actor::Anonymous;
    for owner in [Owner::Actor, Owner::User(ada.id)] {
        assert_error!(
            world.refusal(|app| email::list(app, nobody, owner, FIRST_PAGE)),
            Error::Unauthenticated
        );
        assert_error!(
            world.refusal(|app| email::add(app, nobody, owner, None)),
            Error::Unauthenticated
        );
    }
    assert_error!(world.refusal(|app| email::get(app, nobody, own.id)), Error::Unauthenticated);
    assert_error!(
        world.refusal(|app| email::remove_own(app, nobody, own.id)),
        Error::Unauthenticated
    );
    assert_error!(
        world.refusal(|app| email::remove_of(app, nobody, ada.id, own.id)),
        Error::Unauthenticated
    );
}

#[test]
fn a_caller_whose_account_was_just_removed_is_nobody() {
    let (world, _, ada) = world_with_ada();
    world.write(|tx| tx.users().delete(ada.id));
    let add = |app: &_| email::add(app, actor(&ada), Owner::Actor, Some("new@example.com"));
    assert_error!(world.refusal(add), Error::Unauthenticated);
}
