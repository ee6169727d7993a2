//! The SSH keys of users.

use crate::support::{FIRST_PAGE, World, actor, field_errors, invalid};
use hexforge_application::error::{Entity, Error};
use hexforge_application::user::Owner;
use hexforge_application::user::key::{self, KeyFields};
use hexforge_domain::id::{KeyId, UserId};
use hexforge_domain::outbox::{KeyFacts, SystemEvent};
use hexforge_domain::paging::Page;
use hexforge_domain::policy::Actor;
use hexforge_domain::user::{SshKey, User};
use hexforge_domain_testing::builders::{a_key, a_moment, a_user};

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ada@laptop";

fn laptop() -> KeyFields {
    KeyFields { title: Some("laptop".into()), key: Some(KEY.into()) }
}

/// A world with an administrator and `ada`.
fn world_with_ada() -> (World, Actor, User) {
    let world = World::new();
    let admin = world.admin();
    let ada = world.user(a_user("ada"));
    (world, admin, ada)
}

/// Stores the test key with this number.
fn stored(world: &World, user: &User, number: u32) -> SshKey {
    world.write(|tx| tx.keys().insert(user.id, a_key(number), a_moment()))
}

fn keys_of(world: &World, user: &User) -> Vec<SshKey> {
    world.read(|tx| tx.keys().list(user.id, Page::Whole)).items
}

#[test]
fn keys_are_listed_newest_first_in_pages() {
    let (world, admin, ada) = world_with_ada();
    let [one, two, three] = [1, 2, 3].map(|number| stored(&world, &ada, number));
    let bob = world.user(a_user("bob"));
    stored(&world, &bob, 4);
    for (actor, owner) in [(actor(&ada), Owner::Actor), (admin, Owner::User(ada.id))] {
        let page = key::list(&world.app, actor, owner, FIRST_PAGE).expect("own or managed");
        assert_eq!(page.items, [three.clone(), two.clone(), one.clone()]);
        let second = Page::Numbered { number: 2, size: 2 };
        let page = key::list(&world.app, actor, owner, second).expect("own or managed");
        assert_eq!((page.items, page.total), (vec![one.clone()], 3));
    }
}

#[test]
fn the_keys_of_a_missing_account_are_not_listed() {
    let (world, admin, _) = world_with_ada();
    let nobody = Owner::User(UserId(9999));
    let error = world.refusal(|app| key::list(app, admin, nobody, FIRST_PAGE));
    assert_error!(error, Error::NotFound(Entity::User));
}

#[test]
fn users_read_their_own_keys_only() {
    let (world, admin, ada) = world_with_ada();
    let own = stored(&world, &ada, 1);
    assert_eq!(key::get(&world.app, actor(&ada), own.id).expect("her own"), own);
    for (actor, id) in [(admin, own.id), (actor(&ada), KeyId(9999))] {
        let error = world.refusal(|app| key::get(app, actor, id));
        assert_error!(error, Error::NotFound(Entity::Record));
    }
}

#[test]
fn a_key_is_registered_with_its_news() {
    for by_admin in [false, true] {
        let (world, admin, ada) = world_with_ada();
        let (actor, owner) =
            if by_admin { (admin, Owner::User(ada.id)) } else { (actor(&ada), Owner::Actor) };
        let added = key::add(&world.app, actor, owner, &laptop()).expect("a valid key");
        assert_eq!((added.user, added.title.as_str()), (ada.id, "laptop"));
        assert_eq!((added.key.as_str(), added.created_at), (KEY, a_moment()));
        assert_eq!(keys_of(&world, &ada), std::slice::from_ref(&added));
        assert_eq!(world.outbox_events(), [SystemEvent::KeyCreated(KeyFacts::new(&added, &ada))]);
    }
}

#[test]
fn a_key_is_stored_without_surrounding_blanks() {
    let (world, _, ada) = world_with_ada();
    let fields = KeyFields { key: Some(format!("  {KEY}\n")), ..laptop() };
    let added = key::add(&world.app, actor(&ada), Owner::Actor, &fields).expect("a valid key");
    assert_eq!(added.key, KEY);
}

#[test]
fn missing_fields_are_named_before_the_account_is_looked_up() {
    let (world, admin, ada) = world_with_ada();
    for (actor, owner) in [(actor(&ada), Owner::Actor), (admin, Owner::User(UserId(9999)))] {
        let add = |fields: KeyFields| world.refusal(|app| key::add(app, actor, owner, &fields));
        assert_error!(add(KeyFields::default()), Error::NotGiven("title"));
        assert_error!(add(KeyFields { title: None, ..laptop() }), Error::NotGiven("title"));
        assert_error!(add(KeyFields { key: None, ..laptop() }), Error::NotGiven("key"));
    }
}

#[test]
fn a_missing_account_gets_no_key_and_is_told_before_wrong_fields() {
    let (world, admin, _) = world_with_ada();
    for fields in [laptop(), KeyFields { key: Some("garbage".into()), ..laptop() }] {
        let nobody = Owner::User(UserId(9999));
        let error = world.refusal(|app| key::add(app, admin, nobody, &fields));
        assert_error!(error, Error::NotFound(Entity::Record));
    }
}

#[test]
fn what_is_no_key_is_refused() {
    let (world, _, ada) = world_with_ada();
    let add = |fields: KeyFields| {
        invalid(world.refusal(|app| key::add(app, actor(&ada), Owner::Actor, &fields)))
    };
    let garbage = KeyFields { key: Some("garbage".into()), ..laptop() };
    let expected = field_errors([("key", "is invalid"), ("fingerprint", "cannot be generated")]);
    assert_eq!(add(garbage), expected);
    let broken = KeyFields { key: Some("ssh-rsa garbage".into()), ..laptop() };
    assert_eq!(add(broken), field_errors([("fingerprint", "cannot be generated")]));
    let untitled = KeyFields { title: Some("t".repeat(256)), ..laptop() };
    assert_eq!(add(untitled), field_errors([("title", "is too long (maximum is 255 characters)")]));
}

#[test]
fn a_key_is_registered_once_in_the_whole_service() {
    let (world, _, ada) = world_with_ada();
    let bob = world.user(a_user("bob"));
    key::add(&world.app, actor(&bob), Owner::Actor, &laptop()).expect("a new key");
    let other_words = KeyFields {
        title: Some("another title".into()),
        key: Some(KEY.replace("ada@laptop", "another comment")),
    };
    for (user, fields) in [(&ada, laptop()), (&ada, other_words.clone()), (&bob, other_words)] {
        let error = world.refusal(|app| key::add(app, actor(user), Owner::Actor, &fields));
        assert_eq!(invalid(error), field_errors([("fingerprint", "has already been taken")]));
    }
}

#[test]
fn users_remove_their_own_keys_with_the_news() {
    let (world, _, ada) = world_with_ada();
    let [one, two] = [1, 2].map(|number| stored(&world, &ada, number));
    let removed = key::remove_own(&world.app, actor(&ada), one.id).expect("her own");
    assert_eq!(removed, Some(one.clone()));
    assert_eq!(keys_of(&world, &ada), [two]);
    assert_eq!(world.outbox_events(), [SystemEvent::KeyDestroyed(KeyFacts::new(&one, &ada))]);
}

#[test]
fn removing_what_is_not_ones_own_key_does_nothing() {
    let (world, admin, ada) = world_with_ada();
    let own = stored(&world, &ada, 1);
    let before = world.stored();
    for (actor, id) in [(admin, own.id), (actor(&ada), KeyId(9999))] {
        assert_eq!(key::remove_own(&world.app, actor, id).expect("nothing to refuse"), None);
    }
    assert_eq!(world.stored(), before);
}

#[test]
fn administrators_remove_the_keys_of_others_with_the_news() {
    let (world, admin, ada) = world_with_ada();
    let own = stored(&world, &ada, 1);
    let removed = key::remove_of(&world.app, admin, ada.id, own.id).expect("ada's key");
    assert_eq!(removed, own);
    assert_eq!(keys_of(&world, &ada), []);
    assert_eq!(world.outbox_events(), [SystemEvent::KeyDestroyed(KeyFacts::new(&own, &ada))]);
}

#[test]
fn administrators_are_told_what_is_missing() {
    let (world, admin, ada) = world_with_ada();
    let bob = world.user(a_user("bob"));
    let bobs = stored(&world, &bob, 1);
    for id in [bobs.id, KeyId(9999)] {
        let error = world.refusal(|app| key::remove_of(app, admin, ada.id, id));
        assert_error!(error, Error::NotFound(Entity::Key));
        let error = world.refusal(|app| key::remove_of(app, admin, UserId(9999), id));
        assert_error!(error, Error::NotFound(Entity::User));
    }
}

#[test]
fn only_administrators_use_the_keys_of_others() {
    let (world, _, ada) = world_with_ada();
    let own = stored(&world, &ada, 1);
    let of_ada = Owner::User(ada.id);
    let caller = actor(&ada);
    assert_error!(
        world.refusal(|app| key::list(app, caller, of_ada, FIRST_PAGE)),
        Error::Forbidden(None)
    );
    assert_error!(
        world.refusal(|app| key::add(app, caller, of_ada, &KeyFields::default())),
        Error::Forbidden(None)
    );
    assert_error!(
        world.refusal(|app| key::remove_of(app, caller, ada.id, own.id)),
        Error::Forbidden(None)
    );
}

#[test]
fn an_anonymous_caller_has_no_keys() {
    let (world, _, ada) = world_with_ada();
    let own = stored(&world, &ada, 1);
    let nobody = Actor::Anonymous;
    for owner in [Owner::Actor, Owner::User(ada.id)] {
        assert_error!(
            world.refusal(|app| key::list(app, nobody, owner, FIRST_PAGE)),
            Error::Unauthenticated
        );
        assert_error!(
            world.refusal(|app| key::add(app, nobody, owner, &KeyFields::default())),
            Error::Unauthenticated
        );
    }
    assert_error!(world.refusal(|app| key::get(app, nobody, own.id)), Error::Unauthenticated);
    assert_error!(
        world.refusal(|app| key::remove_own(app, nobody, own.id)),
        Error::Unauthenticated
    );
    assert_error!(
        world.refusal(|app| key::remove_of(app, nobody, ada.id, own.id)),
        Error::Unauthenticated
    );
}

#[test]
fn a_caller_whose_account_was_just_removed_is_nobody() {
    let (world, _, ada) = world_with_ada();
    world.write(|tx| tx.users().delete(ada.id));
    assert_error!(
        world.refusal(|app| key::add(app, actor(&ada), Owner::Actor, &laptop())),
        Error::Unauthenticated
    );
    assert_error!(
        world.refusal(|app| key::list(app, actor(&ada), Owner::Actor, FIRST_PAGE)),
        Error::Unauthenticated
    );
}
