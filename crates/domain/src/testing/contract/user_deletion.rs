//! The end of accounts; see [`Users::delete`](crate::user::port::Users::delete).

use super::check::{read, write};
use crate::id::UserId;
use crate::outbox::{SystemEvent, UserFacts};
use crate::paging::Page;
use crate::ports::store::{Store, StoreError, Tx};
use crate::testing::builders::{a_key, a_moment, a_text, a_token, a_user, an_address, an_event};
use crate::user::{Identity, User, UserFilter};

/// An account with one of everything. The number keeps those of two users apart.
fn furnish(tx: &mut dyn Tx, name: &str, number: u32) -> Result<User, StoreError> {
    let user = a_user(name).insert(tx)?;
    tx.namespaces().insert_personal(user.id, user.username.path())?;
    tx.keys().insert(user.id, a_key(number), a_moment())?;
    tx.emails().insert(user.id, &an_address(&format!("second-{name}@example.com")))?;
    tx.tokens().insert(a_token(user.id, name))?;
    tx.identities().put(user.id, &an_identity(name))?;
    tx.events().insert(an_event(user.id))?;
    Ok(user)
}

fn an_identity(name: &str) -> Identity {
    Identity { provider: a_text("directory"), extern_uid: Some(a_text(name)) }
}

/// How many rows of each kind hang on a user.
fn belongings(
    tx: &mut dyn Tx,
    id: UserId,
    name: &str,
    number: u32,
) -> Result<Vec<u64>, StoreError> {
    let path = a_user(name).build().username;
    let fingerprint = a_key(number).fingerprint;
    let (primary, secondary) =
        (format!("{name}@example.com"), format!("second-{name}@example.com"));
    Ok(vec![
        tx.users().find(id)?.into_iter().count() as u64,
        tx.users().find_by_username(name)?.into_iter().count() as u64,
        tx.users().find_by_login(name)?.into_iter().count() as u64,
        tx.namespaces().find_by_path(path.path())?.into_iter().count() as u64,
        tx.keys().list(id, Page::Whole)?.total,
        tx.keys().find_by_fingerprint(&fingerprint)?.into_iter().count() as u64,
        tx.emails().list(id, Page::Whole)?.total,
        tx.emails().holder(&an_address(&primary))?.into_iter().count() as u64,
        tx.emails().holder(&an_address(&secondary))?.into_iter().count() as u64,
        tx.tokens().list(id, Page::Whole)?.total,
        tx.tokens().holder(&a_token(id, name).hash)?.into_iter().count() as u64,
        tx.identities().of(&[id])?.len() as u64,
        tx.identities().holder("directory", name)?.into_iter().count() as u64,
        tx.events().authored_by(id, Page::Whole)?.total,
    ])
}

/// The account goes with everything that hangs on it, and nobody else loses anything.
pub fn deleting_a_user_takes_everything_along_and_nothing_of_others(store: &dyn Store) {
    let (ada, bob) = write(store, |tx| Ok((furnish(tx, "ada", 1)?, furnish(tx, "bob", 2)?)));
    let whole = read(store, |tx| belongings(tx, ada.id, "ada", 1));
    assert!(whole.iter().all(|rows| *rows == 1), "{whole:?}");

    write(store, |tx| tx.users().delete(ada.id));
    let left = read(store, |tx| belongings(tx, ada.id, "ada", 1));
    assert!(left.iter().all(|rows| *rows == 0), "{left:?}");
    assert_eq!(read(store, |tx| belongings(tx, bob.id, "bob", 2)), whole);
    let listed = read(store, |tx| tx.users().list(&UserFilter::default(), Page::Whole));
    assert_eq!((listed.items, listed.total), (vec![bob], 1));
}

/// Names, addresses, keys and paths may be claimed by the next one.
pub fn what_a_deleted_user_had_is_free_again(store: &dyn Store) {
    let first = write(store, |tx| furnish(tx, "ada", 1));
    write(store, |tx| tx.users().delete(first.id));
    let second = write(store, |tx| furnish(tx, "ada", 1));
    assert_ne!(first.id, second.id);

    // In one transaction as well, and with the addresses in each other's place.
    let third = write(store, |tx| {
        tx.users().delete(second.id)?;
        let third = a_user("ada").email("second-ada@example.com").insert(tx)?;
        tx.emails().insert(third.id, &second.email)?;
        tx.keys().insert(third.id, a_key(1), a_moment())?;
        tx.namespaces().insert_personal(third.id, third.username.path())?;
        Ok(third)
    });
    assert_ne!(second.id, third.id);
}

/// The outbox tells of users who are gone.
pub fn deleting_a_user_leaves_the_outbox_alone(store: &dyn Store) {
    let ada = write(store, |tx| furnish(tx, "ada", 1));
    let event = SystemEvent::UserDestroyed(UserFacts::from(&ada));
    write(store, |tx| {
        tx.outbox().record(&event, a_moment())?;
        tx.users().delete(ada.id)
    });
    let waiting = read(store, |tx| tx.outbox().oldest(10));
    assert_eq!(waiting.into_iter().map(|entry| entry.event).collect::<Vec<_>>(), [event]);
}

/// See [`StoreError::Gone`].
pub fn nothing_can_be_hung_on_a_user_who_is_gone(store: &dyn Store) {
    type Work = fn(&mut dyn Tx, &User) -> Result<(), StoreError>;
    let ada = write(store, |tx| furnish(tx, "ada", 1));
    write(store, |tx| tx.users().delete(ada.id));
    let works: [(&str, Work); 6] = [
        ("namespace", |tx, ada| tx.namespaces().insert_personal(ada.id, ada.username.path())),
        ("key", |tx, ada| tx.keys().insert(ada.id, a_key(1), a_moment()).map(|_| ())),
        ("address", |tx, ada| tx.emails().insert(ada.id, &ada.email).map(|_| ())),
        ("token", |tx, ada| tx.tokens().insert(a_token(ada.id, "ada")).map(|_| ())),
        ("identity", |tx, ada| tx.identities().put(ada.id, &an_identity("ada"))),
        ("event", |tx, ada| tx.events().insert(an_event(ada.id)).map(|_| ())),
    ];
    for (name, work) in works {
        let outcome = store.write(|tx| work(tx, &ada));
        assert!(matches!(outcome, Err(StoreError::Gone)), "{name}: {outcome:?}");
    }
    let left = read(store, |tx| belongings(tx, ada.id, "ada", 1));
    assert!(left.iter().all(|rows| *rows == 0), "{left:?}");
}
