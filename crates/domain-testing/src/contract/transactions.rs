//! Transactions of the store.

use super::check::{insert, read, write};
use crate::builders::{
    a_group, a_key, a_member, a_moment, a_project, a_release, a_share, a_token, a_user, home_of,
};
use hexforge_domain::id::UserId;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Mode, ReadSnapshot, Store, StoreError, Tx, Verdict};
use hexforge_domain::project::{Project, ProjectPath, ProjectRef};
use hexforge_domain::user::{User, UserFilter};

fn all_users(tx: &mut dyn Tx) -> Result<Vec<User>, StoreError> {
    Ok(tx.users().list(&UserFilter::default(), Page::Whole)?.items)
}

/// A newly opened store is ready.
pub fn an_open_store_is_ready(store: &dyn Store) {
    assert!(store.check_ready().is_ok());
}

/// See [`Store::transact`].
pub fn the_work_of_a_transaction_is_called_once(store: &dyn Store) {
    for mode in [Mode::Read, Mode::Autocommit, Mode::Write] {
        for verdict in [Verdict::Commit, Verdict::RollBack] {
            let mut calls = 0;
            let ended = store.transact(mode, &mut |_| {
                calls += 1;
                verdict
            });
            assert!(ended.is_ok(), "{mode:?} {verdict:?}: {ended:?}");
            assert_eq!(calls, 1, "{mode:?} {verdict:?}");
        }
    }
}

/// Committed changes are visible to the next transaction.
pub fn a_committed_write_is_seen_by_the_next_read(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    for seen in [read(store, all_users), write(store, all_users)] {
        assert_eq!(seen, std::slice::from_ref(&ada));
    }
}

/// A transaction sees its own uncommitted changes.
pub fn a_write_is_seen_by_its_own_transaction(store: &dyn Store) {
    write(store, |tx| {
        let ada = a_user("ada").insert(tx)?;
        assert_eq!(tx.users().find(ada.id)?, Some(ada.clone()));
        assert_eq!(all_users(tx)?, [ada]);
        Ok(())
    });
}

/// See [`Verdict::RollBack`].
pub fn rolling_back_stores_nothing(store: &dyn Store) {
    let ended = store.transact(Mode::Write, &mut |tx| {
        let ada = a_user("ada").insert(tx).expect("nobody has that name");
        tx.keys().insert(ada.id, a_key(1), a_moment()).expect("nobody has that key");
        Verdict::RollBack
    });
    assert!(ended.is_ok(), "{ended:?}");
    assert_eq!(read(store, all_users), []);
    assert_eq!(read(store, |tx| tx.keys().find_by_fingerprint(&a_key(1).fingerprint)), None);
}

/// An error of the closure rolls the transaction back.
pub fn an_error_of_the_work_rolls_back(store: &dyn Store) {
    #[derive(Debug)]
    struct Refused;
    impl From<StoreError> for Refused {
        fn from(error: StoreError) -> Self {
            panic!("only the work fails here, not the store: {error}")
        }
    }
    let outcome: Result<(), Refused> = store.write(|tx| {
        a_user("ada").insert(tx)?;
        Err(Refused)
    });
    assert!(outcome.is_err());
    assert_eq!(read(store, all_users), []);
}

/// See [`StoreError::Aborted`]: a transaction cannot commit after it ignored the error of a port.
pub fn committing_after_an_error_of_a_port_aborts(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    let outcome: Result<(), StoreError> = store.write(|tx| {
        let bob = a_user("bob").insert(tx)?;
        tx.keys().insert(bob.id, a_key(1), a_moment())?;
        let refused = a_user("ada").email("other@example.com").insert(tx);
        assert!(matches!(refused, Err(StoreError::Duplicate("username"))), "{refused:?}");
        Ok(())
    });
    assert!(matches!(outcome, Err(StoreError::Aborted)), "{outcome:?}");
    assert_eq!(read(store, all_users), [ada]);
    assert_eq!(read(store, |tx| tx.keys().find_by_fingerprint(&a_key(1).fingerprint)), None);
}

/// See [`StoreError::Aborted`]: the same holds in this mode, and the store stays usable.
pub fn autocommit_after_an_error_of_a_port_aborts(store: &dyn Store) {
    let ada = insert(store, a_user("ada"));
    let outcome: Result<(), StoreError> = store.read_autocommit(|tx| {
        assert!(a_user("ada").insert(tx).is_err());
        Ok(())
    });
    assert!(matches!(outcome, Err(StoreError::Aborted)), "{outcome:?}");
    let seen: Result<_, StoreError> = store.read_autocommit(all_users);
    assert_eq!(seen.expect("the store is there"), [ada]);
}

/// Every port of users that finds a duplicate aborts the transaction.
pub fn every_duplicate_aborts(store: &dyn Store) {
    type Work = fn(&mut dyn Tx, &User, &User) -> Result<(), StoreError>;
    let (ada, bob) = (insert(store, a_user("ada")), insert(store, a_user("bob")));
    write(store, |tx| {
        tx.keys().insert(ada.id, a_key(1), a_moment())?;
        tx.namespaces().insert_personal(ada.id, ada.username.path(), a_moment())?;
        Ok(())
    });
    let works: [(&str, Work); 7] = [
        ("rename", |tx, ada, bob| {
            tx.users().update(&User { username: ada.username.clone(), ..bob.clone() })
        }),
        ("account", |tx, ada, _| a_user("eve").email(ada.email.as_str()).insert(tx).map(|_| ())),
        ("key", |tx, _, bob| tx.keys().insert(bob.id, a_key(1), a_moment()).map(|_| ())),
        ("address", |tx, ada, bob| tx.emails().insert(bob.id, &ada.email).map(|_| ())),
        ("primary", |tx, ada, bob| tx.emails().make_primary(bob.id, &ada.email)),
        ("path", |tx, ada, bob| {
            tx.namespaces().insert_personal(bob.id, ada.username.path(), a_moment())
        }),
        ("group", |tx, _, _| a_group("ada").insert(tx).map(|_| ())),
    ];
    for (name, work) in works {
        assert_aborts(store, bob.id, name, |tx| work(tx, &ada, &bob));
    }
}

/// Every port of groups and projects that finds a duplicate aborts the transaction.
pub fn every_duplicate_about_projects_aborts(store: &dyn Store) {
    type Work = fn(&mut dyn Tx, &Project, UserId) -> Result<(), StoreError>;
    let ada = insert(store, a_user("ada")).id;
    let site = write(store, |tx| {
        let team = a_group("team").owner(ada).insert(tx)?.id;
        let site = a_project("site", team, ada).insert(tx)?;
        tx.project_members().insert(site.id, a_member(ada, AccessLevel::Guest))?;
        tx.shares().insert(a_share(site.id, team, AccessLevel::Guest))?;
        tx.releases().insert(site.id, &a_release("v1", "text"), a_moment())?;
        a_project("other", team, ada).insert(tx)
    });
    let first = ProjectRef::Path { namespace: "team".into(), path: "site".into() };
    let first = read(store, |tx| tx.projects().find(&first)).expect("it was made");
    let works: [(&str, Work); 8] = [
        ("group name", |tx, _, _| a_group("crew").named("team").insert(tx).map(|_| ())),
        ("name", |tx, first, ada| {
            a_project("site", first.namespace, ada).path("free").insert(tx).map(|_| ())
        }),
        ("path", |tx, first, ada| {
            a_project("Free", first.namespace, ada).path("SITE").insert(tx).map(|_| ())
        }),
        ("rename", |tx, first, _| {
            let path = ProjectPath::stored("other".into());
            tx.projects().update(&Project { path, ..first.clone() })
        }),
        ("group member", |tx, first, ada| {
            tx.group_members().insert(first.namespace, a_member(ada, AccessLevel::Guest))
        }),
        ("project member", |tx, first, ada| {
            tx.project_members().insert(first.id, a_member(ada, AccessLevel::Guest))
        }),
        ("share", |tx, first, _| {
            let again = a_share(first.id, first.namespace, AccessLevel::Master);
            tx.shares().insert(again).map(|_| ())
        }),
        ("release", |tx, first, _| {
            tx.releases().insert(first.id, &a_release("v1", "again"), a_moment())
        }),
    ];
    for (name, work) in works {
        assert_aborts(store, ada, name, |tx| work(tx, &first, ada));
    }
    assert_eq!(read(store, |tx| tx.projects().count_in(site.namespace)), 2);
}

/// Checks that a transaction that ignores an error is rolled back.
#[track_caller]
fn assert_aborts(
    store: &dyn Store,
    user: UserId,
    name: &str,
    work: impl FnOnce(&mut dyn Tx) -> Result<(), StoreError> + Send,
) {
    let outcome: Result<(), StoreError> = store.write(|tx| {
        tx.tokens().insert(a_token(user, name))?;
        assert!(work(tx).is_err(), "{name}");
        Ok(())
    });
    assert!(matches!(outcome, Err(StoreError::Aborted)), "{name}: {outcome:?}");
    assert_eq!(read(store, |tx| tx.tokens().list(user, Page::Whole)).total, 0, "{name}");
}

/// A failed transaction does not affect later ones.
pub fn a_store_works_on_after_an_aborted_transaction(store: &dyn Store) {
    insert(store, a_user("ada"));
    for round in 0..3 {
        let outcome: Result<User, StoreError> = store.write(|tx| a_user("ada").insert(tx));
        assert!(matches!(outcome, Err(StoreError::Duplicate(_))), "{round}: {outcome:?}");
    }
    insert(store, a_user("bob"));
    assert_eq!(read(store, all_users).len(), 2);
}

/// See [`Mode::Read`]: a store may reject or drop the change, but never stores it.
pub fn a_reading_transaction_changes_nothing(store: &dyn Store) {
    let _refused_or_dropped: Result<User, StoreError> = store.read(|tx| a_user("ada").insert(tx));
    assert_eq!(read(store, all_users), []);
    let _refused_or_dropped: Result<User, StoreError> =
        store.read_autocommit(|tx| a_user("ada").insert(tx));
    assert_eq!(read(store, all_users), []);
    insert(store, a_user("ada"));
}

/// All reads of a snapshot see the state that the first one saw, however they look things up.
pub fn a_snapshot_sees_one_state(store: &dyn Store) {
    let open = || store.snapshot().expect("the store has snapshots");
    let look = |snapshot: &mut Box<dyn ReadSnapshot>, id: UserId| {
        let mut seen = None;
        let read = snapshot.read(&mut |tx| {
            let all = all_users(tx).expect("it can be read");
            let one = tx.users().find(id).expect("it can be read");
            let same = tx.users().find_all(&[id, id]).expect("it can be read");
            assert_eq!(same, one.iter().cloned().collect::<Vec<_>>());
            seen = Some((all.len(), one));
            Verdict::Commit
        });
        assert!(read.is_ok(), "{read:?}");
        seen.expect("the work is called")
    };
    let ada = insert(store, a_user("ada"));
    let mut before = open();
    assert_eq!(look(&mut before, ada.id), (1, Some(ada.clone())));
    let changed = User { avatar: Some("a.png".to_owned()), ..ada.clone() };
    write(store, |tx| tx.users().update(&changed));
    let bob = insert(store, a_user("bob"));
    assert_eq!(look(&mut before, ada.id), (1, Some(ada.clone())));
    assert_eq!(look(&mut before, bob.id), (1, None));
    let mut after = open();
    assert_eq!(look(&mut after, ada.id), (2, Some(changed)));
    assert_eq!(look(&mut after, bob.id), (2, Some(bob.clone())));
    assert_eq!(look(&mut before, ada.id), (1, Some(ada)));
    before.release();
    assert_eq!(look(&mut before, bob.id).0, 2, "the newest state");
    insert(store, a_user("cyd"));
    assert_eq!(look(&mut before, bob.id).0, 3, "each read sees the newest state");
}

/// A snapshot answers a second look-up of a project by any of its names.
pub fn a_snapshot_finds_a_project_by_any_name(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store);
    let home = home_of(store, ada.id);
    let site = a_project("site", home, ada.id).stored_in(store);
    let path = |path: &str| ProjectRef::Path { namespace: "Ada".to_owned(), path: path.to_owned() };
    let mut snapshot = store.snapshot().expect("the store has snapshots");
    for named in [path("site"), ProjectRef::Id(site.id), path("Site"), path("site"), path("other")]
    {
        let expected = (named != path("other")).then(|| site.clone());
        for _ in 0..2 {
            let mut seen = (None, None, None);
            let read = snapshot.read(&mut |tx| {
                let projects = tx.projects();
                let placed = projects.find_with_namespace(&named, None).expect("it can be read");
                let header = projects.header(&named).expect("it can be read");
                let found = projects.find(&named).expect("it can be read");
                seen = (placed.map(|(one, _)| one.project), header.map(|one| one.id), found);
                Verdict::Commit
            });
            assert!(read.is_ok(), "{read:?}");
            let id = expected.as_ref().map(|one| one.id);
            assert_eq!(seen, (expected.clone(), id, expected.clone()), "{named:?}");
        }
    }
}
