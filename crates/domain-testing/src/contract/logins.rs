//! Sign-in by username or e-mail address; see
//! [`Users::find_by_login`](hexforge_domain::user::port::Users::find_by_login).
//!
//! The users have personal namespaces, as all users of the service have. A store may look there for
//! a username in any case.

use super::check::{read, write};
use crate::builders::{a_user, an_address};
use hexforge_domain::ports::store::Store;
use hexforge_domain::user::{PasswordHash, User};

fn find_by_login(store: &dyn Store, login: &str) -> Option<User> {
    read(store, |tx| tx.users().find_by_login(login)).map(|(user, _)| user)
}

/// The password hash is returned with the user, so that one query is enough.
pub fn a_login_finds_the_user_with_the_password(store: &dyn Store) {
    let ada = a_user("ada").password("secret of ada").stored_in(store);
    a_user("bob").stored_in(store);
    let found = read(store, |tx| tx.users().find_by_login("ada"));
    assert_eq!(found, Some((ada, PasswordHash::new("fake$secret of ada"))));
}

/// Usernames are matched ignoring case.
pub fn a_username_signs_in_in_any_case(store: &dyn Store) {
    let ada = a_user("Ada_L").email("countess@example.com").stored_in(store);
    for login in ["Ada_L", "ada_l", "ADA_L"] {
        assert_eq!(find_by_login(store, login).as_ref(), Some(&ada), "{login:?}");
    }
    for login in ["Ada", "AdaxL", "Ada%", "", "%", "countess"] {
        assert_eq!(find_by_login(store, login), None, "{login:?}");
    }
}

/// Primary e-mail addresses are matched ignoring case.
pub fn a_primary_address_signs_in_in_any_case(store: &dyn Store) {
    let ada = a_user("ada").email("Countess_1@Example.com").stored_in(store);
    let eva = a_user("eva").email("Éva@example.com").stored_in(store);
    for (login, user) in [
        ("countess_1@example.com", &ada),
        ("COUNTESS_1@EXAMPLE.COM", &ada),
        ("éva@example.com", &eva),
        ("ÉVA@Example.com", &eva),
    ] {
        assert_eq!(find_by_login(store, login).as_ref(), Some(user), "{login:?}");
    }
    for login in ["countessx1@example.com", "%@example.com", "@", "ada@example.com", "eva"] {
        let expected = (login == "eva").then_some(&eva);
        assert_eq!(find_by_login(store, login).as_ref(), expected, "{login:?}");
    }
}

/// Secondary addresses do not sign in.
pub fn a_secondary_address_does_not_sign_in(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store);
    let second = an_address("second@example.com");
    write(store, |tx| tx.emails().insert(ada.id, &second));
    assert_eq!(find_by_login(store, second.as_str()), None);

    write(store, |tx| tx.emails().make_primary(ada.id, &second));
    assert_eq!(find_by_login(store, second.as_str()), Some(User { email: second, ..ada.clone() }));
    assert_eq!(find_by_login(store, ada.email.as_str()), None);
}

/// After a rename, the new username signs in and the old one does not.
pub fn a_login_follows_a_renaming(store: &dyn Store) {
    let ada = a_user("ada").email("countess@example.com").stored_in(store);
    let renamed = User { username: a_user("Lovelace").build().username, ..ada };
    write(store, |tx| {
        tx.users().update(&renamed)?;
        tx.namespaces().rename_personal(renamed.id, renamed.username.path(), renamed.updated_at)
    });
    assert_eq!(find_by_login(store, "lovelace"), Some(renamed));
    assert_eq!(find_by_login(store, "ada"), None);
}

/// No input makes a look-up fail, not even text that a database cannot store.
pub fn unusual_texts_find_no_user(store: &dyn Store) {
    a_user("ada").stored_in(store);
    for text in ["ada\0", "\0", "a\0@example.com", "'; --", "🦀", "\u{fffe}", "ada\n"] {
        assert_eq!(find_by_login(store, text), None, "{text:?}");
        assert_eq!(read(store, |tx| tx.users().find_by_username(text)), None, "{text:?}");
    }
}
