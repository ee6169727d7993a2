//! Errors of a PostgreSQL server whose messages are not in English.

use std::path::Path;
use std::sync::Barrier;

use crate::support::connect;
use diesel::connection::SimpleConnection;
use hexforge_domain::id::UserId;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain_testing::builders::{a_user, an_address};
use hexforge_persistence_diesel::testing::DedicatedPostgres;
use hexforge_persistence_diesel::{DatabaseUrl, DieselStore, Options};

/// Starts a server whose messages are in German.
fn german_server(folder: &Path) -> Option<DedicatedPostgres> {
    DedicatedPostgres::start_translated(folder, "de")
}

fn as_user(postgres: &DedicatedPostgres, user: &str) -> DatabaseUrl {
    let DatabaseUrl::Postgres(url) = postgres.url() else { panic!("it is a PostgreSQL") };
    DatabaseUrl::Postgres(url.replace("hexforge@", &format!("{user}@")))
}

#[test]
fn errors_are_recognised_whatever_language_the_server_speaks() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(postgres) = german_server(folder.path()) else { return };
    let store = DieselStore::open(&postgres.url(), Options::default()).expect("it opens");
    let store: &dyn Store = &store;
    let (ada, bob) = (a_user("ada").stored_in(store).id, a_user("bob").stored_in(store).id);

    let taken: Result<_, StoreError> = store.write(|tx| tx.users().insert(a_user("ada").build()));
    assert!(matches!(taken, Err(StoreError::Duplicate("username"))), "{taken:?}");
    let nobody: Result<_, StoreError> =
        store.write(|tx| tx.emails().insert(UserId(4711), &an_address("x@example.com")));
    assert!(matches!(nobody, Err(StoreError::Gone)), "{nobody:?}");

    // A deadlock: each transaction holds the lock that the other one waits for.
    let both_hold = Barrier::new(2);
    let lock = |first, second| -> Result<(), StoreError> {
        store.write(|tx| {
            tx.users().lock(first)?;
            both_hold.wait();
            tx.users().lock(second).map(drop)
        })
    };
    let (one, other) = std::thread::scope(|scope| {
        let one = scope.spawn(|| lock(ada, bob));
        let other = lock(bob, ada);
        (one.join().expect("no thread panics"), other)
    });
    let outcome = [&one, &other];
    assert_eq!(outcome.iter().filter(|end| end.is_ok()).count(), 1, "{outcome:?}");
    assert!(outcome.iter().any(|end| matches!(end, Err(StoreError::Busy))), "{outcome:?}");

    // An administrator of the database terminates the connection during a transaction.
    let ended: Result<_, StoreError> = store.write(|tx| {
        tx.users().lock(ada)?;
        connect(&postgres.url())
            .batch_execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
            )
            .expect("it is a superuser");
        tx.users().lock(bob)
    });
    assert!(matches!(ended, Err(StoreError::Unreachable(_))), "{ended:?}");
}

#[test]
fn a_user_who_cannot_have_untranslated_messages_is_told_how_to_get_them() {
    let folder = tempfile::tempdir().expect("a folder");
    let Some(postgres) = german_server(folder.path()) else { return };
    let administer = |statement: &str| {
        connect(&postgres.url()).batch_execute(statement).expect("it is a superuser");
    };
    administer("CREATE ROLE plain LOGIN; GRANT ALL ON SCHEMA public TO plain");
    let plain = as_user(&postgres, "plain");
    let Err(refused) = DieselStore::open(&plain, Options::default()) else {
        panic!("a store opens whose errors would not be recognised")
    };
    let cause = std::error::Error::source(&refused).map(ToString::to_string).unwrap_or_default();
    assert!(cause.contains("ALTER ROLE <user> SET lc_messages = 'C'"), "{refused}: {cause}");
    administer("ALTER ROLE plain SET lc_messages = 'C'");
    DieselStore::open(&plain, Options::default()).expect("now it opens");
}
