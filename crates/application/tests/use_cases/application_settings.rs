//! The cache of the settings of the service.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use hexforge_application::app::App;
use hexforge_application::application_settings::SettingsCache;
use hexforge_domain::application_settings::ApplicationSettings;
use hexforge_domain::application_settings::rule::SettingValue;

use crate::support::World;

/// The names that were reported.
static REPORTED: Mutex<Vec<String>> = Mutex::new(Vec::new());

#[test]
fn a_stored_value_that_does_not_fit_is_reported_once() {
    let world = World::new();
    let cache = SettingsCache::new(ApplicationSettings::default()).reporting(|name| {
        REPORTED.lock().expect("no test panics while it holds this").push(name.to_owned());
    });
    let app = App { application_settings: Arc::new(cache), ..world.app.clone() };
    let stored = BTreeMap::from([
        ("max_attachment_size".to_owned(), SettingValue::Integer(0)),
        ("signup_enabled".to_owned(), SettingValue::Switch(false)),
        ("of_a_later_release".to_owned(), SettingValue::Integer(1)),
    ]);
    let now = app.clock.now();
    world.write(|tx| tx.application_settings().update(&stored, now));
    for _ in 0..3 {
        let settings = world.read(|tx| app.current_settings(tx));
        assert_eq!((settings.max_attachment_size, settings.signup_enabled), (10, false));
    }
    let reported = REPORTED.lock().expect("no test panics while it holds this").clone();
    assert_eq!(reported, ["max_attachment_size"]);
}
