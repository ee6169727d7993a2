//! Single users.

use super::check::{assert_duplicate, insert, read, user, write};
use crate::builders::{a_moment, a_text, a_user, an_address, at};
use hexforge_domain::id::UserId;
use hexforge_domain::ports::store::Store;
use hexforge_domain::user::{
    Appearance, DisplayName, PasswordHash, Privileges, Profile, ProjectsLimit, User, UserState,
    Username,
};
use std::collections::BTreeSet;

fn a_profile(suffix: &str) -> Profile {
    let text = |field: &str| Some(a_text(&format!("{field} {suffix}")));
    Profile {
        bio: text("bio"),
        location: text("location"),
        organization: text("organization"),
        skype: text("skype"),
        linkedin: text("linkedin"),
        twitter: text("twitter"),
        website_url: text("website"),
    }
}

/// See [`Users::insert`](hexforge_domain::user::port::Users::insert).
pub fn a_new_account_is_active_and_has_every_field(store: &dyn Store) {
    let given = a_user("Ada.L").named("Ada Lovelace").admin().projects_limit(7).at(at(5));
    let new = given.profile(a_profile("of ada")).build();
    let made = write(store, |tx| tx.users().insert(new.clone()));
    let expected = User {
        id: made.id,
        username: new.username,
        name: new.name,
        email: new.email,
        state: UserState::Active,
        privileges: new.privileges,
        profile: new.profile,
        appearance: Appearance::default(),
        avatar: None,
        two_factor_enabled: false,
        confirmed_at: Some(a_moment()),
        last_sign_in_at: None,
        current_sign_in_at: None,
        created_at: at(5),
        updated_at: at(5),
    };
    assert_eq!(made, expected);
    assert_eq!(user(store, made.id), expected);
}

/// Missing profile fields are stored as null, not as empty texts.
pub fn missing_profile_fields_stay_missing(store: &dyn Store) {
    let empty = Profile { bio: Some(a_text("")), ..Profile::default() };
    let ada = insert(store, a_user("ada").external().unconfirmed());
    let bob = insert(store, a_user("bob").profile(empty.clone()));
    assert_eq!(ada.confirmed_at, None);
    assert_eq!(ada.profile, Profile::default());
    assert_eq!(bob.profile, empty);
    assert_eq!(user(store, ada.id), ada);
    assert_eq!(user(store, bob.id), bob);
}

/// See [`Users::find`](hexforge_domain::user::port::Users::find).
pub fn unknown_ids_and_names_find_nobody(store: &dyn Store) {
    insert(store, a_user("ada"));
    read(store, |tx| {
        assert_eq!(tx.users().find(UserId(i64::MAX))?, None);
        assert_eq!(tx.users().find(UserId(-1))?, None);
        assert_eq!(tx.users().find_by_username("ad")?, None);
        assert_eq!(tx.users().find_by_username("")?, None);
        assert_eq!(tx.users().find_by_username("ada@example.com")?, None);
        Ok(())
    });
    assert_eq!(write(store, |tx| tx.users().lock(UserId(i64::MAX))), None);
}

/// See [`Users::find_all`](hexforge_domain::user::port::Users::find_all).
pub fn several_users_are_found_highest_id_first(store: &dyn Store) {
    let [ada, bob, cid] = ["ada", "bob", "cid"].map(|name| insert(store, a_user(name)));
    let mut both = [ada.clone(), cid.clone()];
    both.sort_by_key(|user| std::cmp::Reverse(user.id));
    read(store, |tx| {
        let asked = [ada.id, cid.id, ada.id, UserId(i64::MAX)];
        assert_eq!(tx.users().find_all(&asked)?, both);
        assert_eq!(tx.users().find_all(&[bob.id])?, [bob]);
        assert_eq!(tx.users().find_all(&[])?, []);
        Ok(())
    });
}

/// See [`Users::lock`](hexforge_domain::user::port::Users::lock).
pub fn locking_answers_with_the_user(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    insert(store, a_user("bob"));
    let locked = write(store, |tx| {
        tx.users().lock(ada.id)?;
        tx.users().lock(ada.id)
    });
    assert_eq!(locked, Some(ada));
}

/// See [`Users::find_by_username`](hexforge_domain::user::port::Users::find_by_username).
pub fn usernames_are_found_in_exactly_their_case(store: &dyn Store) {
    let ada = insert(store, a_user("Ada_L"));
    read(store, |tx| {
        assert_eq!(tx.users().find_by_username("Ada_L")?, Some(ada));
        for other in ["ada_l", "ADA_L", "AdaxL", "Ada%", " Ada_L", "Ada_L "] {
            assert_eq!(tx.users().find_by_username(other)?, None, "{other:?}");
        }
        Ok(())
    });
}

/// See [`Users::insert`](hexforge_domain::user::port::Users::insert). Usernames that differ in case
/// are different for this port; their namespaces collide.
pub fn exactly_the_same_username_is_taken_once(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    assert_duplicate(store, "username", |tx| a_user("ada").email("b@example.com").insert(tx));
    let upper = insert(store, a_user("ADA").email("c@example.com"));
    read(store, |tx| {
        assert_eq!(tx.users().find_by_username("ada")?, Some(ada));
        assert_eq!(tx.users().find_by_username("ADA")?, Some(upper));
        Ok(())
    });
}

/// See [`Users::insert`](hexforge_domain::user::port::Users::insert).
pub fn a_new_account_needs_an_address_that_nobody_has(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    write(store, |tx| tx.emails().insert(ada.id, &an_address("second@example.com")));
    for taken in ["ada@example.com", "ADA@example.com", "second@example.com"] {
        assert_duplicate(store, "email", |tx| a_user("bob").email(taken).insert(tx));
    }
    insert(store, a_user("bob"));
}

/// See [`User::id`].
pub fn ids_of_deleted_users_are_not_used_again(store: &dyn Store) {
    let mut ids = BTreeSet::new();
    for round in 0..3 {
        let ada = insert(store, a_user("ada"));
        write(store, |tx| tx.users().delete(ada.id));
        assert!(ids.insert(ada.id), "round {round}: {} was used before", ada.id);
    }
}

/// See [`Users::update`](hexforge_domain::user::port::Users::update).
pub fn updating_stores_every_field_but_the_address(store: &dyn Store) {
    let ada = insert(store, a_user("ada").profile(a_profile("of ada")));
    let bob = insert(store, a_user("bob"));
    let changed = User {
        id: ada.id,
        username: Username::parse("countess").expect("letters make a name"),
        name: DisplayName::parse("Countess").expect("not blank"),
        email: ada.email.clone(),
        state: UserState::DirectoryBlocked,
        privileges: Privileges {
            admin: true,
            external: true,
            can_create_group: false,
            projects_limit: ProjectsLimit(i32::MAX),
        },
        profile: a_profile("of the countess"),
        appearance: Appearance { theme_id: 5, color_scheme_id: 4 },
        avatar: Some("portrait.png".into()),
        two_factor_enabled: true,
        confirmed_at: Some(at(1)),
        last_sign_in_at: Some(at(2)),
        current_sign_in_at: Some(at(3)),
        created_at: at(4),
        updated_at: at(5),
    };
    let asked = User { email: an_address("ignored@example.com"), ..changed.clone() };
    write(store, |tx| tx.users().update(&asked));
    assert_eq!(user(store, ada.id), changed);
    assert_eq!(read(store, |tx| tx.emails().holder(&asked.email)), None);

    let emptied = User {
        state: UserState::Blocked,
        profile: Profile::default(),
        avatar: None,
        confirmed_at: None,
        last_sign_in_at: None,
        current_sign_in_at: None,
        ..changed
    };
    write(store, |tx| tx.users().update(&emptied));
    assert_eq!(user(store, ada.id), emptied);
    assert_eq!(user(store, bob.id), bob);
}

/// See [`Users::update`](hexforge_domain::user::port::Users::update).
pub fn renaming_to_the_name_of_another_user_is_refused(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    let bob = insert(store, a_user("bob"));
    let renamed = |name: &str| User { username: Username::stored(name.into()), ..bob.clone() };
    assert_duplicate(store, "username", |tx| tx.users().update(&renamed("ada")));
    for free in ["bob", "Bob", "robert"] {
        write(store, |tx| tx.users().update(&renamed(free)));
        assert_eq!(user(store, bob.id), renamed(free));
    }
    assert_eq!(read(store, |tx| tx.users().find_by_username("bob")), None);
    assert_eq!(user(store, ada.id), ada);
}

/// See [`Users::set_password`](hexforge_domain::user::port::Users::set_password).
pub fn another_password_takes_the_place_of_the_first(store: &dyn Store) {
    let ada = a_user("ada").password("first password").stored_in(store);
    let bob = a_user("bob").password("password of bob").stored_in(store);
    write(store, |tx| tx.users().set_password(ada.id, &PasswordHash::new("fake$second")));
    read(store, |tx| {
        let hash_of_ada = PasswordHash::new("fake$second");
        assert_eq!(tx.users().find_by_login("ada")?, Some((ada, hash_of_ada)));
        let hash_of_bob = PasswordHash::new("fake$password of bob");
        assert_eq!(tx.users().find_by_login("bob")?, Some((bob, hash_of_bob)));
        Ok(())
    });
}
