//! SSH keys; see [`Keys`](hexforge_domain::user::port::Keys).

use super::check::{assert_duplicate, assert_pages, insert, read, write};
use crate::builders::{a_key, a_moment, a_user, at};
use hexforge_domain::id::KeyId;
use hexforge_domain::ports::store::Store;
use hexforge_domain::user::SshKey;

/// See [`Keys::insert`](hexforge_domain::user::port::Keys::insert).
pub fn a_key_is_registered_with_every_field(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    let new = a_key(1);
    let key = write(store, |tx| tx.keys().insert(ada, new.clone(), at(7)));
    let expected = SshKey {
        id: key.id,
        user: ada,
        title: new.title,
        key: new.key,
        fingerprint: new.fingerprint,
        created_at: at(7),
    };
    assert_eq!(key, expected);
    assert_eq!(read(store, |tx| tx.keys().find(ada, key.id)), Some(expected));
}

/// Keys are ordered newest first, also within the same moment.
pub fn keys_of_a_user_are_listed_newest_first(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    let mut keys = Vec::new();
    for (number, moment) in [(1, at(0)), (2, at(1)), (3, at(1)), (4, at(1)), (5, at(9))] {
        keys.insert(0, write(store, |tx| tx.keys().insert(ada, a_key(number), moment)));
        write(store, |tx| tx.keys().insert(bob, a_key(100 + number), moment));
    }
    assert_pages(store, &keys, |tx, page| tx.keys().list(ada, page));
    let cid = insert(store, a_user("cid")).id;
    assert_pages(store, &[], |tx, page| tx.keys().list(cid, page));
}

/// See [`Keys::find`](hexforge_domain::user::port::Keys::find).
pub fn a_key_of_another_user_is_not_found(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    let key = write(store, |tx| tx.keys().insert(ada, a_key(1), a_moment()));
    read(store, |tx| {
        assert_eq!(tx.keys().find(ada, key.id)?, Some(key.clone()));
        assert_eq!(tx.keys().find(bob, key.id)?, None);
        assert_eq!(tx.keys().find(ada, KeyId(i64::MAX))?, None);
        Ok(())
    });
}

/// See [`Keys::find_by_fingerprint`](hexforge_domain::user::port::Keys::find_by_fingerprint).
pub fn a_key_is_found_by_its_fingerprint_whoever_has_it(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    let of_ada = write(store, |tx| tx.keys().insert(ada, a_key(1), a_moment()));
    let of_bob = write(store, |tx| tx.keys().insert(bob, a_key(2), a_moment()));
    for (number, found) in [(1, Some(of_ada)), (2, Some(of_bob)), (3, None)] {
        let fingerprint = a_key(number).fingerprint;
        assert_eq!(read(store, |tx| tx.keys().find_by_fingerprint(&fingerprint)), found);
    }
}

/// See [`Keys::insert`](hexforge_domain::user::port::Keys::insert).
pub fn a_key_is_registered_once_in_all(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    write(store, |tx| tx.keys().insert(ada, a_key(1), a_moment()));
    for user in [ada, bob] {
        assert_duplicate(store, "fingerprint", |tx| tx.keys().insert(user, a_key(1), a_moment()));
    }
}

/// See [`Keys::delete`](hexforge_domain::user::port::Keys::delete).
pub fn a_deleted_key_is_gone_and_may_be_registered_again(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    let (one, two) = write(store, |tx| {
        let one = tx.keys().insert(ada, a_key(1), a_moment())?;
        Ok((one, tx.keys().insert(ada, a_key(2), a_moment())?))
    });
    write(store, |tx| tx.keys().delete(one.id));
    assert_pages(store, &[two], |tx, page| tx.keys().list(ada, page));
    assert_eq!(read(store, |tx| tx.keys().find(ada, one.id)), None);
    assert_eq!(read(store, |tx| tx.keys().find_by_fingerprint(&one.fingerprint)), None);
    write(store, |tx| tx.keys().insert(bob, a_key(1), a_moment()));
}
