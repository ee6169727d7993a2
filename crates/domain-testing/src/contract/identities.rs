//! Identities of users at external providers; see
//! [`Identities`](hexforge_domain::user::port::Identities).

use super::check::{assert_duplicate, insert, read, write};
use crate::builders::{a_text, a_user};
use hexforge_domain::id::UserId;
use hexforge_domain::ports::store::Store;
use hexforge_domain::user::Identity;

fn at(provider: &str, extern_uid: &str) -> Identity {
    Identity { provider: a_text(provider), extern_uid: Some(a_text(extern_uid)) }
}

fn unnamed_at(provider: &str) -> Identity {
    Identity { provider: a_text(provider), extern_uid: None }
}

fn identities_of(store: &dyn Store, users: &[UserId]) -> Vec<(UserId, Identity)> {
    read(store, |tx| tx.identities().of_users(users))
}

/// Identities are ordered by user, then by insertion, whatever the order of the requested ids.
pub fn identities_come_by_user_and_then_in_their_order(store: &dyn Store) {
    let mut ids = ["ada", "bob", "cid", "dan"].map(|name| insert(store, a_user(name)).id);
    ids.sort();
    let [ada, bob, cid, dan] = ids;
    write(store, |tx| {
        tx.identities().put(bob, &at("saml", "bob"))?;
        tx.identities().put(ada, &at("zeta", "ada"))?;
        tx.identities().put(cid, &at("saml", "cid"))?;
        tx.identities().put(ada, &at("alpha", "ada"))?;
        tx.identities().put(bob, &unnamed_at("alpha"))
    });
    let of_ada = [(ada, at("zeta", "ada")), (ada, at("alpha", "ada"))];
    let of_bob = [(bob, at("saml", "bob")), (bob, unnamed_at("alpha"))];
    assert_eq!(identities_of(store, &[ada]), of_ada);
    assert_eq!(identities_of(store, &[bob, ada]), [of_ada, of_bob.clone()].concat());
    assert_eq!(identities_of(store, &[dan, bob, UserId(i64::MAX)]), of_bob);
    assert_eq!(identities_of(store, &[dan]), []);
}

/// An empty list of users returns an empty result.
pub fn no_users_have_no_identities(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    write(store, |tx| tx.identities().put(ada, &at("saml", "ada")));
    assert_eq!(identities_of(store, &[]), []);
}

/// See [`Identities::put`](hexforge_domain::user::port::Identities::put).
pub fn an_identity_takes_the_place_of_the_one_at_its_provider(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    write(store, |tx| {
        tx.identities().put(ada, &at("saml", "first"))?;
        tx.identities().put(ada, &at("directory", "ada"))
    });
    for replacement in [at("saml", "second"), at("saml", "second"), unnamed_at("saml")] {
        write(store, |tx| tx.identities().put(ada, &replacement));
        assert_eq!(
            identities_of(store, &[ada]),
            [(ada, replacement), (ada, at("directory", "ada"))]
        );
    }
    // The replaced identity is free again.
    let bob = insert(store, a_user("bob")).id;
    write(store, |tx| tx.identities().put(bob, &at("saml", "first")));
}

/// See [`Identities::put`](hexforge_domain::user::port::Identities::put).
pub fn an_identity_belongs_to_one_user_of_its_provider(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    write(store, |tx| {
        tx.identities().put(ada, &at("saml", "42"))?;
        tx.identities().put(bob, &at("saml", "43"))
    });
    assert_duplicate(store, "extern_uid", |tx| tx.identities().put(bob, &at("saml", "42")));
    let cid = insert(store, a_user("cid")).id;
    assert_duplicate(store, "extern_uid", |tx| tx.identities().put(cid, &at("saml", "42")));
    write(store, |tx| tx.identities().put(cid, &at("directory", "42")));
    assert_eq!(identities_of(store, &[ada]), [(ada, at("saml", "42"))]);
    assert_eq!(identities_of(store, &[bob]), [(bob, at("saml", "43"))]);
}

/// Identities without an external id do not collide.
pub fn several_users_may_have_no_id_at_a_provider(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    write(store, |tx| {
        tx.identities().put(ada, &unnamed_at("saml"))?;
        tx.identities().put(bob, &unnamed_at("saml"))
    });
    assert_eq!(identities_of(store, &[ada, bob]).len(), 2);
    assert_eq!(read(store, |tx| tx.identities().holder("saml", "")), None);
}

/// See [`Identities::holder`](hexforge_domain::user::port::Identities::holder).
pub fn an_identity_leads_to_its_user(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    write(store, |tx| {
        tx.identities().put(ada, &at("saml", "42"))?;
        tx.identities().put(bob, &at("directory", "42"))
    });
    for (provider, extern_uid, holder) in [
        ("saml", "42", Some(ada)),
        ("directory", "42", Some(bob)),
        ("saml", "4", None),
        ("saml", "%", None),
        ("other", "42", None),
    ] {
        let found = read(store, |tx| tx.identities().holder(provider, extern_uid));
        assert_eq!(found, holder, "{provider} {extern_uid}");
    }
}
