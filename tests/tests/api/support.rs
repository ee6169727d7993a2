//! What the cases about users share: the usual refusals, and a look behind the interface.

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

/// An id that nobody has.
pub const MISSING: i64 = 987_654;

/// More digits than any id has.
pub const HUGE: &str = "99999999999999999999999999";

/// `{"message": "…"}`, the body of most refusals.
pub fn message(text: &str) -> Value {
    json!({ "message": text })
}

/// `{"message": {"field": ["…"]}}`, the body when one field is wrong.
pub fn field_error(field: &str, text: &str) -> Value {
    json!({ "message": { field: [text] } })
}

/// The body when there is no such route.
pub fn no_route() -> Value {
    json!({ "error": "404 Not Found" })
}

/// The id of whatever an answer shows.
#[track_caller]
pub fn id_of(shown: &Value) -> i64 {
    shown["id"].as_i64().expect("everything that is made has an id")
}

/// The ids of a list, in its order.
#[track_caller]
pub fn ids(list: &Value) -> Vec<i64> {
    list.as_array().expect("a list").iter().map(id_of).collect()
}

/// A user as administrators see it now.
#[track_caller]
pub fn user_now(forge: &Forge, id: i64) -> Value {
    forge.get(&format!("/users/{id}")).token(ROOT).send().expect(200)
}

/// Asserts that each call tells callers it does not know nothing but that, whatever it is about.
#[track_caller]
pub fn assert_only_for_users(forge: &Forge, calls: &[(&str, String)]) {
    for (method, path) in calls {
        let anonymous = forge.request(method, path).send().expect(401);
        assert_eq!(anonymous, message("401 Unauthorized"), "{method} {path}");
        let unknown = forge.request(method, path).token("no such token").send().expect(401);
        assert_eq!(unknown, message("401 Unauthorized"), "{method} {path}");
    }
}

/// Asserts that each call is refused to all but administrators, before it looks at anything.
#[track_caller]
pub fn assert_only_for_administrators(forge: &Forge, calls: &[(&str, String)]) {
    assert_only_for_users(forge, calls);
    let (_, normal) = forge.user("normal");
    for (method, path) in calls {
        let refused = forge.request(method, path).token(&normal).send().expect(403);
        assert_eq!(refused, message("403 Forbidden"), "{method} {path}");
    }
}

/// Reads from the store of a server.
pub fn read_store<T: Send>(
    forge: &Forge,
    work: impl FnOnce(&mut dyn Tx) -> Result<T, StoreError> + Send,
) -> T {
    forge.app.store.read(work).expect("the store of the server can be read")
}

/// Changes an account in ways for which the interface has no call.
pub fn change_account(forge: &Forge, id: i64, change: impl FnOnce(&mut User) + Send) {
    let altered: Result<(), StoreError> = forge.app.store.write(|tx| {
        let mut user = tx.users().lock(UserId(id))?.expect("the user to alter exists");
        change(&mut user);
        tx.users().update(&user)
    });
    altered.expect("the store of the server can be written");
}

/// What waits to be told to system hooks, oldest first.
pub fn queued_events(forge: &Forge) -> Vec<SystemEvent> {
    let entries = read_store(forge, |tx| tx.outbox().oldest(1000));
    entries.into_iter().map(|entry| entry.event).collect()
}

/// How many activity events a user has authored in projects that it sees.
pub fn activity_count(forge: &Forge, id: i64) -> u64 {
    let viewer = Viewer { user: UserId(id), external: false };
    read_store(forge, |tx| {
        tx.events().authored_by(UserId(id), viewer, Clearance::All, a_day(), Page::Whole)
    })
    .total
}
