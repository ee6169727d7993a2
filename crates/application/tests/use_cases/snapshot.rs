//! The reads of one request.

use hexforge_domain::ports::store::StoreError;
use hexforge_domain_testing::builders::a_user;

use crate::support::World;

#[test]
fn the_reads_of_a_request_see_one_state_until_it_writes() {
    let world = World::new();
    let request = world.app.in_snapshot();
    let has = |name: &str| {
        let found = request.store.read::<_, StoreError>(|tx| tx.users().find_by_username(name));
        found.expect("the store can be read").is_some()
    };
    assert!(!has("ada"));
    world.write(|tx| a_user("ada").insert(tx));
    assert!(!has("ada"), "others wrote it later");
    let bob = request.store.write::<_, StoreError>(|tx| a_user("bob").insert(tx));
    assert!(bob.is_ok());
    assert!(has("ada") && has("bob"), "a request sees what it wrote");
}

#[test]
fn a_read_inside_another_one_has_no_snapshot() {
    let world = World::new();
    let request = world.app.in_snapshot();
    let outcome = request.store.read::<_, StoreError>(|_| {
        request.store.read::<_, StoreError>(|tx| Ok(tx.users().find_by_username("ada")?.is_some()))
    });
    assert_eq!(outcome.ok(), Some(false));
}

#[test]
fn a_released_snapshot_waits_for_nothing_and_sees_what_others_wrote() {
    let world = World::new();
    let request = world.app.in_snapshot();
    let has_ada = || {
        let found = request.store.read::<_, StoreError>(|tx| tx.users().find_by_username("ada"));
        found.expect("the store can be read").is_some()
    };
    assert!(!has_ada());
    world.write(|tx| a_user("ada").insert(tx));
    request.store.release_snapshot();
    assert!(has_ada());
}
