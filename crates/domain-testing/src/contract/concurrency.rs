//! Concurrent transactions.

use super::check::{insert, read, user, write};
use crate::builders::{a_moment, a_user, an_address};
use hexforge_domain::id::UserId;
use hexforge_domain::namespace::NamespacePath;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::sign_in::Failures;
use hexforge_domain::user::{ProjectsLimit, User, UserFilter};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::Duration;

pub(super) const THREADS: usize = 4;

fn count_users(tx: &mut dyn Tx) -> Result<u64, StoreError> {
    Ok(tx.users().list(&UserFilter::default(), Page::Whole)?.total)
}

fn raise_limit(tx: &mut dyn Tx, id: UserId) -> Result<(), StoreError> {
    let mut user = tx.users().lock(id)?.expect("the account exists");
    user.privileges.projects_limit.0 += 1;
    tx.users().update(&user)
}

/// Runs the attempts concurrently: exactly one must succeed, and the others must find the field
/// taken.
pub(super) fn assert_one_wins(store: &dyn Store, field: &str, attempts: &[Attempt<'_>]) {
    let start = Barrier::new(attempts.len());
    let outcomes: Vec<Result<(), StoreError>> = thread::scope(|scope| {
        let attempt = |work| {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                store.write(work)
            })
        };
        let threads: Vec<_> = attempts.iter().map(attempt).collect();
        threads.into_iter().map(|t| t.join().expect("no attempt panics")).collect()
    });
    assert_eq!(outcomes.iter().filter(|outcome| outcome.is_ok()).count(), 1, "{outcomes:?}");
    let taken = |outcome: &Result<(), StoreError>| match outcome {
        Ok(()) => true,
        Err(error) => matches!(error, StoreError::Duplicate(duplicate) if *duplicate == field),
    };
    assert!(outcomes.iter().all(taken), "{outcomes:?}");
}

pub(super) type Attempt<'a> = Box<dyn Fn(&mut dyn Tx) -> Result<(), StoreError> + Sync + 'a>;

/// See [`Users::lock`](hexforge_domain::user::port::Users::lock): a transaction that reads under
/// the lock and then writes loses no update of another one.
pub fn no_update_under_a_lock_is_lost(store: &dyn Store) {
    const ROUNDS: usize = 5;
    let ada = insert(store, a_user("ada").projects_limit(0));
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    write(store, |tx| raise_limit(tx, ada.id));
                }
            });
        }
    });
    let raised = i32::try_from(THREADS * ROUNDS).expect("a small number");
    assert_eq!(user(store, ada.id).privileges.projects_limit, ProjectsLimit(raised));
}

/// See [`Users::lock`](hexforge_domain::user::port::Users::lock): the update of another transaction
/// waits for the lock, so it is applied last.
pub fn a_locked_user_is_not_changed_by_others(store: &dyn Store) {
    let ada = insert(store, a_user("ada").projects_limit(0));
    let mut late = ada.clone();
    late.privileges.projects_limit = ProjectsLimit(100);
    let (locked, when_locked) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || {
            when_locked.recv().expect("the other thread says that it has the lock");
            write(store, |tx| tx.users().update(&late));
        });
        write(store, |tx| {
            tx.users().lock(ada.id)?;
            locked.send(()).expect("the other thread waits for the lock");
            // Gives the update time to run if it does not wait for the lock.
            thread::sleep(Duration::from_millis(50));
            raise_limit(tx, ada.id)
        });
    });
    assert_eq!(user(store, ada.id).privileges.projects_limit, ProjectsLimit(100));
}

/// See [`Mode::Read`](hexforge_domain::ports::store::Mode::Read): a reader neither waits for a
/// writer nor sees uncommitted changes.
pub fn a_reader_does_not_wait_for_a_writer(store: &dyn Store) {
    write(store, |tx| {
        a_user("ada").insert(tx)?;
        assert_eq!(read(store, count_users), 0);
        Ok(())
    });
    assert_eq!(read(store, count_users), 1);
}

/// See [`Mode::Read`](hexforge_domain::ports::store::Mode::Read): concurrent commits are not
/// visible to a reader.
pub fn a_reader_sees_one_consistent_state(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    read(store, |tx| {
        assert_eq!(count_users(tx)?, 1);
        write(store, |tx| {
            a_user("bob").insert(tx)?;
            tx.users().delete(ada.id)
        });
        assert_eq!(tx.users().find(ada.id)?, Some(ada.clone()));
        assert_eq!(tx.users().find_by_username("bob")?, None);
        assert_eq!(count_users(tx)?, 1);
        Ok(())
    });
    assert_eq!(read(store, |tx| tx.users().find(ada.id)), None);
}

/// See [`Mode::Autocommit`](hexforge_domain::ports::store::Mode::Autocommit): such a read sees committed
/// changes, does not wait, and does not see uncommitted ones.
pub fn autocommit_sees_committed_rows(store: &dyn Store) {
    let autocommit = |work: fn(&mut dyn Tx) -> Result<u64, StoreError>| {
        store.read_autocommit(work).expect("the store is there")
    };
    write(store, |tx| {
        a_user("ada").insert(tx)?;
        assert_eq!(autocommit(count_users), 0);
        Ok(())
    });
    assert_eq!(autocommit(count_users), 1);
}

/// Of several concurrent inserts with the same username, one succeeds.
pub fn a_username_claimed_at_once_goes_to_one(store: &dyn Store) {
    let attempt = |n: usize| -> Attempt<'_> {
        let new = a_user("ada").email(&format!("ada{n}@example.com"));
        Box::new(move |tx| new.clone().insert(tx).map(|_| ()))
    };
    let attempts: Vec<_> = (0..THREADS).map(attempt).collect();
    assert_one_wins(store, "username", &attempts);
    assert_eq!(read(store, count_users), 1);
}

/// Of several concurrent claims of an e-mail address, one succeeds, be it for a new user, as a
/// primary or as a secondary address.
pub fn an_address_claimed_at_once_goes_to_one(store: &dyn Store) {
    let users = ["ada", "bob", "cid", "dan"].map(|name| insert(store, a_user(name)));
    let wanted = &an_address("wanted@example.com");
    let secondary = |user: &User| -> Attempt<'_> {
        let id = user.id;
        Box::new(move |tx| tx.emails().insert(id, wanted).map(|_| ()))
    };
    let primary = |user: &User| -> Attempt<'_> {
        let id = user.id;
        Box::new(move |tx| tx.emails().make_primary(id, wanted))
    };
    let account: Attempt<'_> =
        Box::new(|tx| a_user("eve").email(wanted.as_str()).insert(tx).map(|_| ()));
    let [ada, bob, cid, dan] = &users;
    let attempts = [secondary(ada), primary(bob), secondary(cid), primary(dan), account];
    assert_one_wins(store, "email", &attempts);
    assert!(read(store, |tx| tx.emails().holder(wanted)).is_some());
}

/// Of several concurrent claims of a path, one succeeds, also when they differ in case.
pub fn a_path_claimed_at_once_goes_to_one(store: &dyn Store) {
    let wishes = [("ada", "team"), ("bob", "Team"), ("cid", "TEAM"), ("dan", "teAm")];
    let attempts: Vec<Attempt<'_>> = wishes
        .into_iter()
        .map(|(name, path)| -> Attempt<'_> {
            let owner = insert(store, a_user(name)).id;
            let path = NamespacePath::parse(path).expect("letters make a path");
            Box::new(move |tx| tx.namespaces().insert_personal(owner, &path, a_moment()))
        })
        .collect();
    assert_one_wins(store, "path", &attempts);
}

/// See [`SignInFailures::find`](hexforge_domain::sign_in::port::SignInFailures::find): write
/// transactions lock the subject.
pub fn no_failed_sign_in_is_lost(store: &dyn Store) {
    let start = Barrier::new(2 * THREADS);
    thread::scope(|scope| {
        for _ in 0..2 * THREADS {
            scope.spawn(|| {
                start.wait();
                write(store, |tx| {
                    let known = tx.sign_in_failures().find("user:1")?;
                    tx.sign_in_failures().put("user:1", Failures::count_failure(known, a_moment()))
                });
            });
        }
    });
    let known = read(store, |tx| tx.sign_in_failures().find("user:1"));
    assert_eq!(known.map(|failures| failures.count), Some(2 * THREADS as u32));
}
