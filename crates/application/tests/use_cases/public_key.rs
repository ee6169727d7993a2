//! Signing in by a registered SSH key.

use crate::support::World;
use hexforge_application::public_key::{KeyHolder, holder};
use hexforge_domain::policy::Actor;
use hexforge_domain::text::ShortText;
use hexforge_domain::user::UserState;
use hexforge_domain::user::key::NewSshKey;
use hexforge_domain_testing::builders::{a_moment, a_user};

const KEY: &str = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5 ada@laptop";

fn registered(world: &World, state: UserState, key: &str) {
    let user = world.in_state(&world.user(a_user("ada")), state);
    let fingerprint = world.app.public_keys.fingerprint(KEY).expect("a key");
    let title = ShortText::parse("laptop").expect("a title");
    let new = NewSshKey { title, key: key.to_owned(), fingerprint };
    world.write(|tx| tx.keys().insert(user.id, new, a_moment()));
}

#[test]
fn the_holder_is_whoever_registered_the_key() {
    let world = World::new();
    assert_eq!(holder(&world.app, KEY).expect("a store"), None);
    registered(&world, UserState::Active, KEY);
    let found = holder(&world.app, KEY).expect("a store").expect("a holder");
    assert!(matches!(found, KeyHolder::User { actor: Actor::User { .. }, .. }), "{found:?}");
    // The comment is not part of the key.
    let same = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5";
    assert_eq!(holder(&world.app, same).expect("a store"), Some(found));
    for other in ["ssh-ed25519 AAAAC3NzaC1lZDI1NTE6", "ssh-rsa AAAAC3NzaC1lZDI1NTE5", "", "x"] {
        assert_eq!(holder(&world.app, other).expect("a store"), None, "{other}");
    }
}

#[test]
fn keys_of_blocked_users_have_no_holder() {
    for state in [UserState::Blocked, UserState::DirectoryBlocked] {
        let world = World::new();
        registered(&world, state, KEY);
        assert_eq!(holder(&world.app, KEY).expect("a store"), None, "{state:?}");
    }
}

/// Two different keys may have the same fingerprint.
#[test]
fn a_fingerprint_alone_is_not_enough() {
    let world = World::new();
    registered(&world, UserState::Active, "ssh-ed25519 AAAAC3NzaC1lZDI1NTE6 ada@laptop");
    assert_eq!(holder(&world.app, KEY).expect("a store"), None);
}
