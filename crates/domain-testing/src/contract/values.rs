//! Values that a database could change.

use super::check::{insert, read, user, write};
use crate::builders::{a_key, a_text, a_token, a_user, at};
use chrono::TimeDelta;
use hexforge_domain::Timestamp;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::sign_in::Failures;
use hexforge_domain::token::NewToken;
use hexforge_domain::user::key::NewSshKey;
use hexforge_domain::user::{Identity, Profile, User};

/// Moments with different fractions of a second and in distant years.
fn moments() -> Vec<Timestamp> {
    let fractions = [0, 1, 10, 123_456, 123_000, 500_000, 999_999];
    let of_a_second = fractions.map(|micros| at(0) + TimeDelta::microseconds(micros));
    let distant = ["1969-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"];
    let distant = distant.map(|text| text.parse().expect("a well-formed moment"));
    of_a_second.into_iter().chain(distant).collect()
}

/// See [`Timestamp`].
pub fn timestamps_are_stored_to_the_microsecond(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    for (number, moment) in (1..).zip(moments()) {
        let changed = User {
            confirmed_at: Some(moment),
            last_sign_in_at: Some(moment),
            current_sign_in_at: Some(moment),
            updated_at: moment,
            ..ada.clone()
        };
        let made = insert(store, a_user(&format!("user{number}")).at(moment));
        assert_eq!(user(store, made.id).created_at, moment);
        let failures = Failures { count: 1, since: moment, refused_until: Some(moment) };
        let secret = number.to_string();
        let new = NewToken { at: moment, expires_at: Some(moment), ..a_token(made.id, &secret) };
        let (key, token) = write(store, |tx| {
            tx.users().update(&changed)?;
            tx.sign_in_failures().put("ada", failures)?;
            let key = tx.keys().insert(made.id, a_key(number), moment)?;
            let token = tx.tokens().insert(new)?;
            tx.tokens().revoke(token.id, moment)?;
            Ok((key, token))
        });
        assert_eq!(user(store, ada.id), changed);
        read(store, |tx| {
            assert_eq!(tx.sign_in_failures().find("ada")?, Some(failures));
            let kept = tx.keys().find(made.id, key.id)?.map(|key| key.created_at);
            assert_eq!(kept, Some(moment));
            let kept = tx.tokens().list(made.id, Page::Whole)?.items.remove(0);
            assert_eq!((kept.id, kept.created_at), (token.id, moment));
            let life = (kept.life.expires_at, kept.life.revoked_at);
            assert_eq!(life, (Some(moment), Some(moment)));
            Ok(())
        });
    }
}

/// Texts outside the Basic Multilingual Plane, with quotes, blanks and control characters, up to
/// the maximum length.
pub fn texts_are_stored_unchanged(store: &dyn Store) {
    let longest = "🦀".repeat(255);
    for (number, text) in
        (1..).zip(["🦀 𝔸𝕕𝕒", r#"O'Hara "Q" \n %_"#, "  blanks  ", "tab\tline\nend\r\n", &longest])
    {
        let said = Some(a_text(text));
        let profile = Profile { bio: said.clone(), website_url: said, ..Profile::default() };
        let new = a_user(&format!("user{number}")).named(text).profile(profile);
        let ada = User { avatar: Some(text.into()), ..insert(store, new) };
        let identity = Identity { provider: a_text(text), extern_uid: Some(a_text(text)) };
        let (key, token) = write(store, |tx| {
            tx.users().update(&ada)?;
            tx.identities().put(ada.id, &identity)?;
            let new = NewSshKey { title: a_text(text), key: text.into(), ..a_key(number) };
            let key = tx.keys().insert(ada.id, new, at(0))?;
            let new = NewToken { name: text.into(), ..a_token(ada.id, text) };
            Ok((key, tx.tokens().insert(new)?))
        });
        assert_eq!((key.title.as_str(), key.key.as_str()), (text, text));
        assert_eq!(user(store, ada.id), ada);
        read(store, |tx| {
            assert_eq!(tx.identities().of_users(&[ada.id])?, [(ada.id, identity)]);
            assert_eq!(tx.identities().holder(text, text)?, Some(ada.id));
            assert_eq!(tx.keys().list(ada.id, Page::Whole)?.items, [key]);
            assert_eq!(tx.tokens().list(ada.id, Page::Whole)?.items, [token]);
            Ok(())
        });
    }
}
