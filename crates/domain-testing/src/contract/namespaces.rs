//! Namespaces; see [`Namespaces`](hexforge_domain::namespace::port::Namespaces).

use super::check::{assert_duplicate, insert, read, write};
use crate::builders::{a_user, at};
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::namespace::{Namespace, NamespacePath};
use hexforge_domain::ports::store::Store;
use hexforge_domain::visibility::Visibility;

fn path(path: &str) -> NamespacePath {
    NamespacePath::parse(path).expect("tests use valid paths")
}

fn find_namespace(store: &dyn Store, place: &str) -> Option<Namespace> {
    read(store, |tx| tx.namespaces().find_by_path(&path(place)))
}

fn find_owner(store: &dyn Store, place: &str) -> Option<UserId> {
    find_namespace(store, place).and_then(|namespace| namespace.owner)
}

/// The path is found ignoring case, and returned as it was given.
pub fn a_namespace_is_found_by_its_path_in_any_case(store: &dyn Store) {
    let ada = insert(store, a_user("Ada_L")).id;
    write(store, |tx| tx.namespaces().insert_personal(ada, &path("Ada_L"), at(0)));
    for place in ["Ada_L", "ada_l", "ADA_L"] {
        let namespace = find_namespace(store, place).expect("it was made");
        assert_eq!((namespace.path, namespace.owner), (path("Ada_L"), Some(ada)), "{place}");
    }
    for place in ["AdaxL", "Ada", "Ada_Lo"] {
        assert_eq!(find_namespace(store, place), None, "{place}");
    }
}

/// The name of a personal namespace is its path, and it is public.
pub fn a_new_namespace_of_a_user_has_every_field(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    write(store, |tx| tx.namespaces().insert_personal(ada, &path("Ada.L"), at(7)));
    let made = find_namespace(store, "ada.l").expect("it was made");
    let expected = Namespace {
        id: made.id,
        path: path("Ada.L"),
        name: "Ada.L".into(),
        owner: Some(ada),
        description: String::new(),
        visibility: Visibility::Public,
        lfs_enabled: None,
        request_access_enabled: false,
        share_with_group_lock: false,
        avatar: None,
        created_at: at(7),
        updated_at: at(7),
    };
    assert_eq!(made, expected);
    read(store, |tx| {
        assert_eq!(tx.namespaces().find(made.id)?.as_ref(), Some(&made));
        assert_eq!(tx.namespaces().personal(ada)?.as_ref(), Some(&made));
        assert_eq!(tx.namespaces().find(NamespaceId(i64::MAX))?, None);
        Ok(())
    });
}

/// See [`Namespaces::insert_personal`](hexforge_domain::namespace::port::Namespaces::insert_personal).
pub fn a_path_is_taken_once_in_any_case(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    write(store, |tx| tx.namespaces().insert_personal(ada, &path("Team.a"), at(0)));
    for taken in ["Team.a", "team.a", "TEAM.A"] {
        assert_duplicate(store, "path", |tx| {
            tx.namespaces().insert_personal(bob, &path(taken), at(0))
        });
    }
    write(store, |tx| tx.namespaces().insert_personal(bob, &path("Team_a"), at(0)));
    assert_eq!(find_owner(store, "team.a"), Some(ada));
    assert_eq!(find_owner(store, "team_a"), Some(bob));
}

/// See [`Namespaces::rename_personal`](hexforge_domain::namespace::port::Namespaces::rename_personal).
pub fn a_renamed_namespace_stays_the_same_one(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    write(store, |tx| {
        tx.namespaces().insert_personal(ada, &path("ada"), at(0))?;
        tx.namespaces().insert_personal(bob, &path("bob"), at(0))
    });
    let before = find_namespace(store, "ada").expect("it was made");
    write(store, |tx| tx.namespaces().rename_personal(ada, &path("Lovelace"), at(5)));
    let after =
        Namespace { path: path("Lovelace"), name: "Lovelace".into(), updated_at: at(5), ..before };
    assert_eq!(find_namespace(store, "lovelace"), Some(after));
    assert_eq!(find_owner(store, "bob"), Some(bob));
    // The old path is free again.
    assert_eq!(find_namespace(store, "ada"), None);
    write(store, |tx| tx.namespaces().rename_personal(bob, &path("ada"), at(0)));
    assert_eq!(find_owner(store, "ada"), Some(bob));
}

/// See [`Namespaces::rename_personal`](hexforge_domain::namespace::port::Namespaces::rename_personal).
pub fn a_namespace_may_change_the_case_of_its_path(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    write(store, |tx| tx.namespaces().insert_personal(ada, &path("ada"), at(0)));
    for own in ["Ada", "ADA", "ADA"] {
        write(store, |tx| tx.namespaces().rename_personal(ada, &path(own), at(0)));
        assert_eq!(find_namespace(store, "ada").map(|namespace| namespace.path), Some(path(own)));
    }
}

/// See [`Namespaces::rename_personal`](hexforge_domain::namespace::port::Namespaces::rename_personal).
pub fn a_namespace_cannot_take_the_path_of_another(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    write(store, |tx| {
        tx.namespaces().insert_personal(ada, &path("Ada"), at(0))?;
        tx.namespaces().insert_personal(bob, &path("bob"), at(0))
    });
    for taken in ["Ada", "ada", "ADA"] {
        assert_duplicate(store, "path", |tx| {
            tx.namespaces().rename_personal(bob, &path(taken), at(0))
        });
    }
    assert_eq!(find_owner(store, "ada"), Some(ada));
    assert_eq!(find_owner(store, "bob"), Some(bob));
}
