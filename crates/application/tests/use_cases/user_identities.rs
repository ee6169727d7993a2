//! Changing the identities of a user at external providers.

use crate::support::{World, field_errors, invalid};
use hexforge_application::user;
use hexforge_application::user::fields::UserFields;
use hexforge_application::view::user::FullUser;
use hexforge_domain::policy::Actor;
use hexforge_domain::user::{Identity, User};
use hexforge_domain_testing::builders::{a_text, a_user};

fn identity(provider: &str, extern_uid: &str) -> Identity {
    Identity { provider: a_text(provider), extern_uid: Some(a_text(extern_uid)) }
}

/// A world in which `ada` has the id `7` in the directory.
fn world_with_ada() -> (World, Actor, User) {
    let world = World::new();
    let admin = world.admin();
    let ada = world.user(a_user("ada"));
    world.write(|tx| tx.identities().put(ada.id, &identity("directory", "7")));
    (world, admin, ada)
}

fn giving(provider: Option<&str>, extern_uid: Option<&str>) -> UserFields {
    UserFields {
        provider: provider.map(Into::into),
        extern_uid: extern_uid.map(Into::into),
        ..UserFields::default()
    }
}

fn update(world: &World, admin: Actor, user: &User, fields: UserFields) -> FullUser {
    user::update(&world.app, admin, user.id, &fields).expect("a valid identity")
}

#[test]
fn an_identity_takes_the_place_of_the_one_at_the_same_provider() {
    let (world, admin, ada) = world_with_ada();
    let changed = update(&world, admin, &ada, giving(Some("directory"), Some("8")));
    assert_eq!(changed.identities, [identity("directory", "8")]);
    assert_eq!(world.read(|tx| tx.identities().holder("directory", "7")), None);
}

#[test]
fn an_identity_at_another_provider_is_added() {
    let (world, admin, ada) = world_with_ada();
    let changed = update(&world, admin, &ada, giving(Some("elsewhere"), Some("7")));
    assert_eq!(changed.identities, [identity("directory", "7"), identity("elsewhere", "7")]);
}

#[test]
fn ones_own_identity_is_no_conflict() {
    let (world, admin, ada) = world_with_ada();
    let changed = update(&world, admin, &ada, giving(Some("directory"), Some("7")));
    assert_eq!(changed.identities, [identity("directory", "7")]);
}

/// Fields that are not given stay unchanged.
#[test]
fn a_provider_alone_leaves_the_name_there_as_it_was() {
    let (world, admin, ada) = world_with_ada();
    let changed = update(&world, admin, &ada, giving(Some("directory"), None));
    assert_eq!(changed.identities, [identity("directory", "7")]);
}

#[test]
fn the_identity_of_another_user_is_refused() {
    let (world, admin, _) = world_with_ada();
    let bob = world.user(a_user("bob"));
    let fields = giving(Some("directory"), Some("7"));
    let error = world.refusal(|app| user::update(app, admin, bob.id, &fields));
    assert_eq!(invalid(error), field_errors([("identities.extern_uid", "has already been taken")]));
}

#[test]
fn an_identity_without_its_provider_is_refused() {
    let (world, admin, ada) = world_with_ada();
    let fields = giving(None, Some("8"));
    let error = world.refusal(|app| user::update(app, admin, ada.id, &fields));
    assert_eq!(invalid(error), field_errors([("identities.provider", "can't be blank")]));
}
