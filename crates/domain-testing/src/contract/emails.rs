//! E-mail addresses; see [`Emails`](hexforge_domain::user::port::Emails).

use super::check::{assert_duplicate, assert_pages, insert, read, user, write};
use crate::builders::{a_user, an_address};
use hexforge_domain::id::{EmailId, UserId};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::user::email::{EmailHolder, EmailRole};
use hexforge_domain::user::{Email, User};

fn insert_email(store: &dyn Store, user: UserId, address: &str) -> Email {
    write(store, |tx| tx.emails().insert(user, &an_address(address)))
}

fn find_holder(store: &dyn Store, address: &str) -> Option<(UserId, EmailRole)> {
    let holder = read(store, |tx| tx.emails().holder(&an_address(address)));
    holder.map(|EmailHolder { user, role }| (user, role))
}

/// Returns the secondary addresses of a user, sorted.
fn secondary_addresses(store: &dyn Store, user: UserId) -> Vec<String> {
    let emails = read(store, |tx| tx.emails().list(user, Page::Whole)).items;
    let mut addresses: Vec<_> = emails.iter().map(|e| e.address.as_str().to_owned()).collect();
    addresses.sort();
    addresses
}

/// See [`Emails::insert`](hexforge_domain::user::port::Emails::insert).
pub fn a_secondary_address_is_added_with_every_field(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    let address = an_address("second@example.com");
    let email = insert_email(store, ada.id, "second@example.com");
    assert_eq!(email, Email { id: email.id, user: ada.id, address });
    assert_eq!(read(store, |tx| tx.emails().find(ada.id, email.id)), Some(email));
    assert_eq!(user(store, ada.id), ada);
}

/// Addresses are listed newest first, without the primary one.
pub fn secondary_addresses_are_listed_newest_first(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    let mut emails = Vec::new();
    for name in ["m", "z", "a", "k"] {
        emails.insert(0, insert_email(store, ada, &format!("{name}@example.com")));
        insert_email(store, bob, &format!("{name}.bob@example.com"));
    }
    assert_pages(store, &emails, |tx, page| tx.emails().list(ada, page));
    let cid = insert(store, a_user("cid")).id;
    assert_pages(store, &[], |tx, page| tx.emails().list(cid, page));
}

/// See [`Emails::find`](hexforge_domain::user::port::Emails::find).
pub fn an_address_of_another_user_is_not_found(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    let email = insert_email(store, ada, "second@example.com");
    read(store, |tx| {
        assert_eq!(tx.emails().find(bob, email.id)?, None);
        assert_eq!(tx.emails().find(ada, EmailId(i64::MAX))?, None);
        Ok(())
    });
}

/// See [`Emails::holder`](hexforge_domain::user::port::Emails::holder).
pub fn an_address_leads_to_its_holder_and_its_role(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    insert_email(store, bob, "second@example.com");
    assert_eq!(find_holder(store, "ada@example.com"), Some((ada, EmailRole::Primary)));
    assert_eq!(find_holder(store, "bob@example.com"), Some((bob, EmailRole::Primary)));
    assert_eq!(find_holder(store, "second@example.com"), Some((bob, EmailRole::Secondary)));
    assert_eq!(find_holder(store, "third@example.com"), None);
}

/// See [`Emails::insert`](hexforge_domain::user::port::Emails::insert).
pub fn an_address_that_anyone_has_cannot_be_added(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    insert_email(store, ada, "second@example.com");
    for taken in ["ada@example.com", "bob@example.com", "second@example.com"] {
        for user in [ada, bob] {
            assert_duplicate(store, "email", |tx| tx.emails().insert(user, &an_address(taken)));
        }
    }
}

/// See [`Emails::delete`](hexforge_domain::user::port::Emails::delete).
pub fn a_deleted_address_is_gone_and_may_be_claimed_again(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")).id, insert(store, a_user("bob")).id);
    let (one, two) =
        (insert_email(store, ada, "one@example.com"), insert_email(store, ada, "two@example.com"));
    write(store, |tx| tx.emails().delete(one.id));
    assert_pages(store, &[two], |tx, page| tx.emails().list(ada, page));
    assert_eq!(read(store, |tx| tx.emails().find(ada, one.id)), None);
    assert_eq!(find_holder(store, "one@example.com"), None);
    insert_email(store, bob, "one@example.com");
    assert_eq!(find_holder(store, "one@example.com"), Some((bob, EmailRole::Secondary)));
}

/// See [`Emails::make_primary`](hexforge_domain::user::port::Emails::make_primary).
pub fn a_secondary_address_changes_places_with_the_primary(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    insert_email(store, ada.id, "one@example.com");
    let id_of_two = insert_email(store, ada.id, "two@example.com").id;
    insert_email(store, ada.id, "three@example.com");
    let two = an_address("two@example.com");
    write(store, |tx| tx.emails().make_primary(ada.id, &two));
    assert_eq!(user(store, ada.id), User { email: two, ..ada.clone() });
    let expected = ["ada@example.com", "one@example.com", "three@example.com"];
    assert_eq!(secondary_addresses(store, ada.id), expected);
    assert_eq!(find_holder(store, "two@example.com"), Some((ada.id, EmailRole::Primary)));
    assert_eq!(find_holder(store, "ada@example.com"), Some((ada.id, EmailRole::Secondary)));
    // The old id does not refer to another address.
    assert_eq!(read(store, |tx| tx.emails().find(ada.id, id_of_two)), None);

    // The exchange can be reversed.
    write(store, |tx| tx.emails().make_primary(ada.id, &ada.email));
    assert_eq!(user(store, ada.id), ada);
    assert_eq!(
        secondary_addresses(store, ada.id),
        ["one@example.com", "three@example.com", "two@example.com"]
    );
}

/// See [`Emails::make_primary`](hexforge_domain::user::port::Emails::make_primary).
pub fn a_new_primary_address_gives_up_the_old_one(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    insert_email(store, ada.id, "second@example.com");
    let new = an_address("new@example.com");
    write(store, |tx| tx.emails().make_primary(ada.id, &new));
    assert_eq!(user(store, ada.id), User { email: new, ..ada.clone() });
    assert_eq!(secondary_addresses(store, ada.id), ["second@example.com"]);
    assert_eq!(find_holder(store, "new@example.com"), Some((ada.id, EmailRole::Primary)));
    assert_eq!(find_holder(store, "ada@example.com"), None);
    let heir = insert(store, a_user("heir").email("ada@example.com"));
    assert_eq!(find_holder(store, "ada@example.com"), Some((heir.id, EmailRole::Primary)));
}

/// Making the primary address primary changes nothing.
pub fn the_primary_address_may_be_made_primary(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    insert_email(store, ada.id, "second@example.com");
    write(store, |tx| tx.emails().make_primary(ada.id, &ada.email));
    assert_eq!(user(store, ada.id), ada);
    assert_eq!(secondary_addresses(store, ada.id), ["second@example.com"]);
    assert_eq!(find_holder(store, "ada@example.com"), Some((ada.id, EmailRole::Primary)));
}

/// See [`Emails::make_primary`](hexforge_domain::user::port::Emails::make_primary).
pub fn an_address_of_somebody_else_cannot_become_primary(store: &dyn Store) {
    let (ada, bob) = (insert(store, a_user("ada")), insert(store, a_user("bob")));
    insert_email(store, bob.id, "second@example.com");
    for taken in ["bob@example.com", "second@example.com"] {
        assert_duplicate(store, "email", |tx| tx.emails().make_primary(ada.id, &an_address(taken)));
    }
    assert_eq!(user(store, ada.id), ada);
    assert_eq!(find_holder(store, "ada@example.com"), Some((ada.id, EmailRole::Primary)));
}
