//! The settings of the service; see [`SettingsStore`](hexforge_domain::application_settings::port::SettingsStore).

use super::check::{insert, read, write};
use crate::builders::{a_token, a_user, at};
use hexforge_domain::application_settings::StoredSettings;
use hexforge_domain::application_settings::rule::SettingValue;
use hexforge_domain::browser_session::NewBrowserSession;
use hexforge_domain::ports::store::Store;
use hexforge_domain::token::TokenHash;
use std::collections::BTreeMap;

fn get(store: &dyn Store) -> StoredSettings {
    read(store, |tx| tx.application_settings().get())
}

/// A new store has no changed settings. Values of every type are read back, and replace all earlier ones.
pub fn settings_are_replaced_as_a_whole(store: &dyn Store) {
    let installed = get(store);
    assert_eq!((installed.version, installed.changed.len()), (0, 0));
    assert_eq!(installed.created_at, installed.updated_at);
    let text = |text: &str| SettingValue::Text(text.to_owned());
    let first = BTreeMap::from([
        ("text".to_owned(), text("a 🦀 'text' \"\\")),
        ("number".to_owned(), SettingValue::Integer(-7)),
        ("switch".to_owned(), SettingValue::Switch(false)),
        ("nothing".to_owned(), SettingValue::Null),
        ("list".to_owned(), SettingValue::List(vec![text("a"), SettingValue::Integer(20)])),
        ("empty".to_owned(), SettingValue::List(vec![])),
    ]);
    let second = BTreeMap::from([("text".to_owned(), text("b"))]);
    for (version, changed, moment) in [(1, first, at(7)), (2, second, at(9))] {
        write(store, |tx| {
            let locked = tx.application_settings().lock()?;
            assert_eq!(locked.version, version - 1);
            tx.application_settings().update(&changed, moment)
        });
        let created_at = installed.created_at;
        let expected = StoredSettings { version, changed, created_at, updated_at: moment };
        assert_eq!(get(store), expected);
        assert_eq!(read(store, |tx| tx.application_settings().version()), version);
    }
}

/// The look-ups of a token and of a session tell the version of the settings.
pub fn tokens_tell_the_version_of_the_settings(store: &dyn Store) {
    let ada = insert(store, a_user("ada")).id;
    let token = a_token(ada, "any");
    write(store, |tx| tx.tokens().insert(token.clone()));
    let session = NewBrowserSession {
        user: ada,
        hash: TokenHash([7; 32]),
        address: None,
        browser: String::new(),
        remembered: false,
        at: at(0),
    };
    write(store, |tx| tx.browser_sessions().insert(session.clone()));
    for version in 0..3 {
        let holder = read(store, |tx| tx.tokens().holder(&token.hash)).expect("a token");
        assert_eq!(holder.settings_version, version);
        let holder = read(store, |tx| tx.browser_sessions().holder(&session.hash));
        assert_eq!(holder.map(|holder| holder.settings_version), Some(version));
        write(store, |tx| tx.application_settings().update(&BTreeMap::new(), at(version)));
    }
}
