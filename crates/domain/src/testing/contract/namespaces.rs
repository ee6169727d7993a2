//! Namespaces; see [`Namespaces`](crate::namespace::port::Namespaces).

use super::check::{assert_duplicate, insert, read, write};
use crate::id::UserId;
use crate::namespace::{Namespace, NamespacePath};
use crate::ports::store::Store;
use crate::testing::builders::a_user;

fn path(path: &str) -> NamespacePath {
    NamespacePath::parse(path).expect("tests use valid paths")
}

fn found(store: &dyn Store, at: &str) -> Option<Namespace> {
    read(store, |tx| tx.namespaces().find_by_path(&path(at)))
}

fn owner(store: &dyn Store, at: &str) -> Option<UserId> {
    found(store, at).and_then(|namespace| namespace.owner)
}

/// The path is found in any case, and shown in the one it was given in.
pub fn a_namespace_is_found_by_its_path_in_any_case(store: &dyn Store) {
    let ada = insert(store, a_user("Ada_L")).id;
    write(store, |tx| tx.namespaces().insert_personal(ada, &path("Ada_L")));
    for at in ["Ada_L", "ada_l", "ADA_L"] {
        let namespace = found(store, at).expect("it was made");
        assert_eq!((namespace.path, namespace.owner), (path("Ada_L"), Some(ada)), "{at}");
    }
    for at in ["AdaxL", "Ada", "Ada_Lo"] {
        assert_eq!(found(store, at), None, "{at}");
    }
}

/// See [`Namespaces::insert_personal`](crate::namespace::port::Namespaces::insert_personal).
pub fn a_path_is_taken_once_in_any_case(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    write(store, |tx| tx.namespaces().insert_personal(ada, &path("Team.a")));
    for taken in ["Team.a", "team.a", "TEAM.A"] {
        assert_duplicate(store, "path", |tx| tx.namespaces().insert_personal(bob, &path(taken)));
    }
    write(store, |tx| tx.namespaces().insert_personal(bob, &path("Team_a")));
    assert_eq!(owner(store, "team.a"), Some(ada));
    assert_eq!(owner(store, "team_a"), Some(bob));
}

/// See [`Namespaces::rename_personal`](crate::namespace::port::Namespaces::rename_personal).
pub fn a_renamed_namespace_stays_the_same_one(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    write(store, |tx| {
        tx.namespaces().insert_personal(ada, &path("ada"))?;
        tx.namespaces().insert_personal(bob, &path("bob"))
    });
    let before = found(store, "ada").expect("it was made");
    write(store, |tx| tx.namespaces().rename_personal(ada, &path("Lovelace")));
    let after = Namespace { path: path("Lovelace"), ..before };
    assert_eq!(found(store, "lovelace"), Some(after));
    assert_eq!(owner(store, "bob"), Some(bob));
    // The old path is free.
    assert_eq!(found(store, "ada"), None);
    write(store, |tx| tx.namespaces().rename_personal(bob, &path("ada")));
    assert_eq!(owner(store, "ada"), Some(bob));
}

/// See [`Namespaces::rename_personal`](crate::namespace::port::Namespaces::rename_personal).
pub fn a_namespace_may_change_the_case_of_its_path(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    write(store, |tx| tx.namespaces().insert_personal(ada, &path("ada")));
    for own in ["Ada", "ADA", "ADA"] {
        write(store, |tx| tx.namespaces().rename_personal(ada, &path(own)));
        assert_eq!(found(store, "ada").map(|namespace| namespace.path), Some(path(own)));
    }
}

/// See [`Namespaces::rename_personal`](crate::namespace::port::Namespaces::rename_personal).
pub fn a_namespace_cannot_take_the_path_of_another(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    write(store, |tx| {
        tx.namespaces().insert_personal(ada, &path("Ada"))?;
        tx.namespaces().insert_personal(bob, &path("bob"))
    });
    for taken in ["Ada", "ada", "ADA"] {
        assert_duplicate(store, "path", |tx| tx.namespaces().rename_personal(bob, &path(taken)));
    }
    assert_eq!(owner(store, "ada"), Some(ada));
    assert_eq!(owner(store, "bob"), Some(bob));
}
