//! `GET /version`.

use hexforge_tests::forge::ROOT;
use hexforge_tests::{Forge, on_every_store};
use serde_json::json;

on_every_store!(the_version_is_for_users_only);

fn the_version_is_for_users_only(forge: &Forge) {
    let version = forge.get("/version").token(ROOT).send().expect(200);
    assert_eq!(version, json!({"version": "8.14.10", "revision": "hexforge-0.1.0"}));
    let anonymous = forge.get("/version").send().expect(401);
    assert_eq!(anonymous, json!({"message": "401 Unauthorized"}));
}
