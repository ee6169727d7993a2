//! Helpers of all API tests: bodies of common errors, and access to the store of the server.

use hexforge_domain::id::UserId;
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::outbox::SystemEvent;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{StoreError, Tx};
use hexforge_domain::project::query::Viewer;
use hexforge_domain::user::User;
use hexforge_domain_testing::builders::a_day;
use hexforge_tests::Forge;
use hexforge_tests::forge::ROOT;
use serde_json::{Value, json};

/// An id that no object has.
pub const MISSING: i64 = 987_654;

/// A number with more digits than any id.
pub const HUGE: &str = "99999999999999999999999999";

/// The body `{"message": "…"}` of most errors.
pub fn message(text: &str) -> Value {
    json!({ "message": text })
}

/// The body `{"message": {"field": ["…"]}}` for one invalid field.
pub fn field_error(field: &str, text: &str) -> Value {
    json!({ "message": { field: [text] } })
}

/// The body of the 404 for an unknown route.
pub fn no_route() -> Value {
    json!({ "error": "404 Not Found" })
}

/// The id of the object in a response.
#[track_caller]
pub fn id_of(shown: &Value) -> i64 {
    shown["id"].as_i64().expect("created objects have an id")
}

/// The ids of a list, in its order.
#[track_caller]
pub fn ids(list: &Value) -> Vec<i64> {
    list.as_array().expect("a list").iter().map(id_of).collect()
}

/// A user, as administrators see it.
#[track_caller]
pub fn user_now(forge: &Forge, id: i64) -> Value {
    forge.get(&format!("/users/{id}")).token(ROOT).send().expect(200)
}

/// Asserts that each call answers 401 to callers without a valid token, before any other check.
#[track_caller]
pub fn assert_only_for_users(forge: &Forge, calls: &[(&str, String)]) {
    for (method, path) in calls {
        let anonymous = forge.request(method, path).send().expect(401);
        assert_eq!(anonymous, message("401 Unauthorized"), "{method} {path}");
        let unknown = forge.request(method, path).token("no such token").send().expect(401);
        assert_eq!(unknown, message("401 Unauthorized"), "{method} {path}");
    }
}

/// Asserts that each call answers 403 to users who are not administrators, before any other check.
#[track_caller]
pub fn assert_only_for_administrators(forge: &Forge, calls: &[(&str, String)]) {
    assert_only_for_users(forge, calls);
    let (_, normal) = forge.user("normal");
    for (method, path) in calls {
        let refused = forge.request(method, path).token(&normal).send().expect(403);
        assert_eq!(refused, message("403 Forbidden"), "{method} {path}");
    }
}

/// Reads from the store of the server.
pub fn read_store<T: Send>(
    forge: &Forge,
    work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send,
) -> T {
    forge.app.store.read(work).expect("the store of the server can be read")
}

/// Changes an account in ways for which the API has no call.
pub fn change_account(forge: &Forge, id: i64, change: impl FnOnce(&mut User) + Send) {
    let altered: Result<(), StoreError> = forge.app.store.write(|tx| {
        let mut user = tx.users().lock(UserId(id))?.expect("the user to alter exists");
        change(&mut user);
        tx.users().update(&user)
    });
    altered.expect("the store of the server can be written");
}

/// The events for system hooks in the outbox, oldest first.
pub fn queued_events(forge: &Forge) -> Vec<SystemEvent> {
    let entries = read_store(forge, |tx| tx.outbox().oldest(1000));
    entries.into_iter().map(|entry| entry.event).collect()
}

/// The number of events of a user in projects that the user sees.
pub fn activity_count(forge: &Forge, id: i64) -> u64 {
    let viewer = Viewer { user: UserId(id), external: false };
    read_store(forge, |tx| {
        tx.events().authored_by(UserId(id), viewer, Clearance::All, a_day(), Page::Whole)
    })
    .total
}
