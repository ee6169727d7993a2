//! Deploy keys; see [`DeployKeys`](hexforge_domain::deploy_key::port::DeployKeys).

use super::check::{assert_duplicate, assert_pages, read, write};
use crate::builders::{a_day, a_group, a_key, a_member, a_moment, a_project, a_user, at, home_of};
use hexforge_domain::deploy_key::DeployKey;
use hexforge_domain::id::{KeyId, ProjectId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::ports::store::{Store, StoreError};

/// Creates a user with two projects.
fn two_projects(store: &dyn Store) -> (UserId, [ProjectId; 2]) {
    let ada = a_user("ada").stored_in(store).id;
    let home = home_of(store, ada);
    (ada, ["one", "two"].map(|name| a_project(name, home, ada).stored_in(store).id))
}

fn insert_key(store: &dyn Store, number: u32, projects: &[ProjectId]) -> DeployKey {
    write(store, |tx| {
        let key = tx.deploy_keys().insert(a_key(number), at(7))?;
        for project in projects {
            tx.deploy_keys().attach(key.id, *project)?;
        }
        Ok(key)
    })
}

/// See [`DeployKeys::insert`](hexforge_domain::deploy_key::port::DeployKeys::insert).
pub fn a_deploy_key_is_registered_with_every_field(store: &dyn Store) {
    let (ada, [one, two]) = two_projects(store);
    let new = a_key(1);
    let key = insert_key(store, 1, &[one]);
    let expected = DeployKey {
        id: key.id,
        title: new.title,
        key: new.key,
        fingerprint: new.fingerprint,
        created_at: at(7),
    };
    assert_eq!(key, expected);
    read(store, |tx| {
        let keys = tx.deploy_keys();
        assert_eq!(keys.find(one, key.id)?, Some(expected.clone()));
        assert_eq!(keys.find(two, key.id)?, None);
        assert_eq!(keys.find_by_id(key.id)?, Some(expected.clone()));
        assert_eq!(keys.find_by_id(KeyId(i64::MAX))?, None);
        assert_eq!(keys.find_by_fingerprint(&expected.fingerprint)?, Some(expected.clone()));
        assert_eq!(keys.find_by_fingerprint(&a_key(2).fingerprint)?, None);
        // Keys of users are apart.
        assert_eq!(tx.keys().find_by_id(key.id)?, None);
        assert_eq!(tx.keys().find_by_fingerprint(&expected.fingerprint)?, None);
        Ok(())
    });
    let of_ada = write(store, |tx| tx.keys().insert(ada, a_key(2), a_moment()));
    assert_ne!(of_ada.id, key.id);
    read(store, |tx| {
        assert_eq!(tx.keys().find_by_id(of_ada.id)?, Some(of_ada.clone()));
        assert_eq!(tx.deploy_keys().find_by_id(of_ada.id)?, None);
        assert_eq!(tx.deploy_keys().find_by_fingerprint(&of_ada.fingerprint)?, None);
        Ok(())
    });
}

/// The fingerprint is unique among the keys of users and deploy keys.
pub fn a_key_is_of_a_user_or_a_deploy_key(store: &dyn Store) {
    let (ada, [one, _]) = two_projects(store);
    insert_key(store, 1, &[one]);
    write(store, |tx| tx.keys().insert(ada, a_key(2), a_moment()));
    assert_duplicate(store, "fingerprint", |tx| tx.deploy_keys().insert(a_key(1), a_moment()));
    assert_duplicate(store, "fingerprint", |tx| tx.deploy_keys().insert(a_key(2), a_moment()));
    assert_duplicate(store, "fingerprint", |tx| tx.keys().insert(ada, a_key(1), a_moment()));
}

/// See [`DeployKeys::list`](hexforge_domain::deploy_key::port::DeployKeys::list) and
/// [`DeployKeys::all`](hexforge_domain::deploy_key::port::DeployKeys::all).
pub fn deploy_keys_are_listed_newest_first(store: &dyn Store) {
    let (ada, [one, two]) = two_projects(store);
    let first = insert_key(store, 1, &[one]);
    let second = insert_key(store, 2, &[two]);
    let third = insert_key(store, 3, &[one, two]);
    write(store, |tx| tx.keys().insert(ada, a_key(4), a_moment()));
    // The time of attaching does not count.
    write(store, |tx| tx.deploy_keys().attach(first.id, two));
    let all = [third.clone(), second.clone(), first.clone()];
    assert_pages(store, &all, |tx, page| tx.deploy_keys().all(page));
    assert_pages(store, &[third.clone(), first.clone()], |tx, page| {
        tx.deploy_keys().list(one, page)
    });
    assert_pages(store, &all, |tx, page| tx.deploy_keys().list(two, page));
    assert_pages(store, &[], |tx, page| tx.deploy_keys().list(ProjectId(i64::MAX), page));
}

/// See [`DeployKeys::attach`](hexforge_domain::deploy_key::port::DeployKeys::attach) and
/// [`DeployKeys::detach`](hexforge_domain::deploy_key::port::DeployKeys::detach).
pub fn a_deploy_key_is_deleted_with_its_last_project(store: &dyn Store) {
    let (_, [one, two]) = two_projects(store);
    let key = insert_key(store, 1, &[one, one, two]);
    assert!(!write(store, |tx| tx.deploy_keys().detach(key.id, one)));
    assert!(!write(store, |tx| tx.deploy_keys().detach(key.id, one)), "it is detached already");
    assert_eq!(read(store, |tx| tx.deploy_keys().find(one, key.id)), None);
    assert_eq!(read(store, |tx| tx.deploy_keys().find(two, key.id)), Some(key.clone()));
    assert!(write(store, |tx| tx.deploy_keys().detach(key.id, two)));
    assert_eq!(read(store, |tx| tx.deploy_keys().find_by_id(key.id)), None);
    assert!(!write(store, |tx| tx.deploy_keys().detach(key.id, two)));
    let gone = store.write(|tx| tx.deploy_keys().attach(key.id, one));
    assert!(matches!(gone, Err(StoreError::Gone)), "{gone:?}");
    let key = insert_key(store, 1, &[]);
    let gone = store.write(|tx| tx.deploy_keys().attach(key.id, ProjectId(i64::MAX)));
    assert!(matches!(gone, Err(StoreError::Gone)), "{gone:?}");
}

/// See [`DeployKeys::is_reachable`](hexforge_domain::deploy_key::port::DeployKeys::is_reachable).
pub fn a_deploy_key_is_reachable_through_any_project_of_the_user(store: &dyn Store) {
    let (ada, [one, two]) = two_projects(store);
    let bob = a_user("bob").stored_in(store).id;
    let group = a_group("team").owner(ada).stored_in(store).id;
    let in_group = a_project("three", group, ada).stored_in(store).id;
    let key = insert_key(store, 1, &[one, in_group]);
    let other = insert_key(store, 2, &[two]);
    let reachable = |id, user| read(store, |tx| tx.deploy_keys().is_reachable(id, user, a_day()));
    assert!(reachable(key.id, ada) && reachable(other.id, ada));
    assert!(!reachable(key.id, bob) && !reachable(KeyId(i64::MAX), ada));
    write(store, |tx| tx.group_members().insert(group, a_member(bob, AccessLevel::Guest)));
    assert!(reachable(key.id, bob) && !reachable(other.id, bob));
    write(store, |tx| tx.project_members().insert(two, a_member(bob, AccessLevel::Guest)));
    assert!(reachable(other.id, bob));
}

/// The keys of a deleted user and of a deleted project leave those of others alone.
pub fn deploy_keys_stay_when_a_user_or_another_project_is_deleted(store: &dyn Store) {
    let (_, [one, two]) = two_projects(store);
    let bob = a_user("bob").stored_in(store).id;
    let key = insert_key(store, 1, &[one, two]);
    write(store, |tx| tx.keys().insert(bob, a_key(2), a_moment()));
    write(store, |tx| tx.users().delete(bob));
    write(store, |tx| tx.projects().delete(one));
    assert_eq!(read(store, |tx| tx.deploy_keys().find(two, key.id)), Some(key.clone()));
    assert_pages(store, &[], |tx, page| tx.deploy_keys().list(one, page));
    assert!(write(store, |tx| tx.deploy_keys().detach(key.id, two)));
}
