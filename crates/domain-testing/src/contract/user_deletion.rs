//! Deletion of users; see [`Users::delete`](hexforge_domain::user::port::Users::delete).

use super::check::{insider, read, write};
use crate::builders::{
    a_browser_session, a_day, a_group, a_key, a_member, a_moment, a_project, a_text, a_token,
    a_user, an_address, an_event, an_import,
};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::issue::query::Clearance;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::outbox::{SystemEvent, UserFacts};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError, Tx};
use hexforge_domain::project::{ProjectRef, Starred};
use hexforge_domain::user::{Identity, User, UserFilter};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

/// Time for a change to run if it does not wait for a lock.
const LOCK_WAIT: Duration = Duration::from_millis(50);

/// Creates a user with one row of each kind. The number makes the rows of two users different.
fn insert_rows_of_each_kind(tx: &mut dyn Tx, name: &str, number: u32) -> Result<User, StoreError> {
    let user = a_user(name).insert(tx)?;
    tx.namespaces().insert_personal(user.id, user.username.path(), a_moment())?;
    tx.keys().insert(user.id, a_key(number), a_moment())?;
    tx.emails().insert(user.id, &an_address(&format!("second-{name}@example.com")))?;
    tx.tokens().insert(a_token(user.id, name))?;
    tx.browser_sessions().insert(a_browser_session(user.id, name))?;
    tx.sign_in_addresses().remember(user.id, name, a_moment(), a_moment())?;
    tx.identities().put(user.id, &an_identity(name))?;
    let home = tx.namespaces().personal(user.id)?.expect("it was just made");
    let project = a_project("site", home.id, user.id).insert(tx)?;
    tx.project_members().insert(project.id, a_member(user.id, AccessLevel::Master))?;
    tx.events().insert(an_event(project.id, user.id))?;
    Ok(user)
}

fn an_identity(name: &str) -> Identity {
    Identity { provider: a_text("directory"), extern_uid: Some(a_text(name)) }
}

/// The project that [`insert_rows_of_each_kind`] creates.
fn site_of(name: &str) -> ProjectRef {
    ProjectRef::Path { namespace: name.to_owned(), path: "site".into() }
}

/// Returns the number of rows of each kind that belong to a user.
fn count_rows(
    tx: &mut dyn Tx,
    id: UserId,
    name: &str,
    number: u32,
) -> Result<Vec<u64>, StoreError> {
    let path = a_user(name).build().username;
    let fingerprint = a_key(number).fingerprint;
    let (primary, secondary) =
        (format!("{name}@example.com"), format!("second-{name}@example.com"));
    Ok(vec![
        tx.users().find(id)?.into_iter().count() as u64,
        tx.users().find_by_username(name)?.into_iter().count() as u64,
        tx.users().find_by_login(name)?.into_iter().count() as u64,
        tx.namespaces().find_by_path(path.path())?.into_iter().count() as u64,
        tx.namespaces().personal(id)?.into_iter().count() as u64,
        tx.keys().list(id, Page::Whole)?.total,
        tx.keys().find_by_fingerprint(&fingerprint)?.into_iter().count() as u64,
        tx.emails().list(id, Page::Whole)?.total,
        tx.emails().holder(&an_address(&primary))?.into_iter().count() as u64,
        tx.emails().holder(&an_address(&secondary))?.into_iter().count() as u64,
        tx.tokens().list(id, Page::Whole)?.total,
        tx.tokens().holder(&a_token(id, name).hash)?.into_iter().count() as u64,
        tx.browser_sessions().list(id)?.len() as u64,
        tx.browser_sessions().holder(&a_browser_session(id, name).hash)?.into_iter().count() as u64,
        u64::from(tx.sign_in_addresses().is_known(id, name, a_moment())?),
        tx.identities().of_users(&[id])?.len() as u64,
        tx.identities().holder("directory", name)?.into_iter().count() as u64,
        tx.projects().find(&site_of(name))?.into_iter().count() as u64,
        tx.events().authored_by(id, insider(id), Clearance::All, a_day(), Page::Whole)?.total,
    ])
}

/// A user is deleted with all its rows, and rows of other users are kept.
pub fn deleting_a_user_takes_everything_along_and_nothing_of_others(store: &dyn Store) {
    let (ada, bob) = write(store, |tx| {
        Ok((insert_rows_of_each_kind(tx, "ada", 1)?, insert_rows_of_each_kind(tx, "bob", 2)?))
    });
    let whole = read(store, |tx| count_rows(tx, ada.id, "ada", 1));
    assert!(whole.iter().all(|rows| *rows == 1), "{whole:?}");

    write(store, |tx| tx.users().delete(ada.id));
    let left = read(store, |tx| count_rows(tx, ada.id, "ada", 1));
    assert!(left.iter().all(|rows| *rows == 0), "{left:?}");
    assert_eq!(read(store, |tx| count_rows(tx, bob.id, "bob", 2)), whole);
    let listed = read(store, |tx| tx.users().list(&UserFilter::default(), Page::Whole));
    assert_eq!((listed.items, listed.total), (vec![bob], 1));
}

/// Rows of the user in groups and projects of others are deleted; the groups and projects are kept.
pub fn deleting_a_user_takes_it_out_of_what_others_have(store: &dyn Store) {
    let (ada, bob) = write(store, |tx| {
        Ok((insert_rows_of_each_kind(tx, "ada", 1)?, insert_rows_of_each_kind(tx, "bob", 2)?))
    });
    let (group, made, starred) = write(store, |tx| {
        let group = a_group("team").owner(ada.id).owner(bob.id).insert(tx)?;
        let made = a_project("made", group.id, ada.id).insert(tx)?;
        let starred = tx.projects().find(&site_of("bob"))?.expect("it was made");
        tx.project_members().insert(starred.id, a_member(ada.id, AccessLevel::Guest))?;
        for user in [ada.id, bob.id] {
            tx.stars().put(starred.id, user, Starred::Yes, a_moment())?;
            tx.events().insert(an_event(made.id, user))?;
        }
        Ok((group, made, starred))
    });
    write(store, |tx| tx.users().delete(ada.id));
    read(store, |tx| {
        let made_now = tx.projects().find(&ProjectRef::Id(made.id))?.expect("it is not ada's");
        assert_eq!((made_now.creator, made_now.namespace), (None, group.id));
        let starred_now = tx.projects().find(&ProjectRef::Id(starred.id))?.expect("it is bob's");
        assert_eq!((starred_now.star_count, starred_now.creator), (1, Some(bob.id)));
        assert_eq!(tx.stars().find(starred.id, ada.id)?, Starred::No);
        assert_eq!(tx.stars().find(starred.id, bob.id)?, Starred::Yes);
        let members = tx.project_members().list(starred.id, None, Page::Whole)?;
        assert_eq!(members.map(|(user, _)| user.id).items, [bob.id]);
        assert_eq!(tx.project_members().find(starred.id, ada.id)?, None);
        let members = tx.group_members().list(group.id, None, Page::Whole)?;
        assert_eq!(members.map(|(user, _)| user.id).items, [bob.id]);
        assert_eq!(tx.group_members().count_owners(group.id, a_day())?, 1);
        let events = tx.events().of_project(made.id, Clearance::All, a_day(), Page::Whole)?;
        assert_eq!(events.map(|event| event.author).items, [bob.id]);
        Ok(())
    });
}

/// Forks of the user's projects are kept without a source, and projects that the user had forked
/// have one fork less.
pub fn deleting_a_user_lets_go_of_forks_and_sources(store: &dyn Store) {
    let (ada, bob) = write(store, |tx| {
        Ok((insert_rows_of_each_kind(tx, "ada", 1)?, insert_rows_of_each_kind(tx, "bob", 2)?))
    });
    let (source, fork) = write(store, |tx| {
        let source = tx.projects().find(&site_of("bob"))?.expect("it was made");
        let site = tx.projects().find(&site_of("ada"))?.expect("it was made");
        a_project("fork", site.namespace, ada.id).forked_from(source.id).insert(tx)?;
        let fork = a_project("fork", source.namespace, bob.id).forked_from(site.id).insert(tx)?;
        Ok((source, fork))
    });
    let forks = |id: ProjectId| {
        let found = read(store, |tx| tx.projects().find(&ProjectRef::Id(id)));
        found.map(|project| (project.forks_count, project.forked_from.is_some()))
    };
    assert_eq!((forks(source.id), forks(fork.id)), (Some((1, false)), Some((0, true))));
    write(store, |tx| tx.users().delete(ada.id));
    assert_eq!((forks(source.id), forks(fork.id)), (Some((0, false)), Some((0, false))));
}

/// Usernames, e-mail addresses, keys and paths of a deleted user are free again.
pub fn what_a_deleted_user_had_is_free_again(store: &dyn Store) {
    let first = write(store, |tx| insert_rows_of_each_kind(tx, "ada", 1));
    write(store, |tx| tx.users().delete(first.id));
    let second = write(store, |tx| insert_rows_of_each_kind(tx, "ada", 1));
    assert_ne!(first.id, second.id);

    // The same holds within one transaction, also with primary and secondary address exchanged.
    let third = write(store, |tx| {
        tx.users().delete(second.id)?;
        let third = a_user("ada").email("second-ada@example.com").insert(tx)?;
        tx.emails().insert(third.id, &second.email)?;
        tx.keys().insert(third.id, a_key(1), a_moment())?;
        tx.namespaces().insert_personal(third.id, third.username.path(), a_moment())?;
        Ok(third)
    });
    assert_ne!(second.id, third.id);
}

/// Events about deleted users stay in the outbox.
pub fn deleting_a_user_leaves_the_outbox_alone(store: &dyn Store) {
    let ada = write(store, |tx| insert_rows_of_each_kind(tx, "ada", 1));
    let event = SystemEvent::UserDestroyed(UserFacts::from(&ada));
    write(store, |tx| {
        tx.outbox().record(&event, a_moment())?;
        tx.users().delete(ada.id)
    });
    let waiting = read(store, |tx| tx.outbox().oldest(10));
    assert_eq!(waiting.into_iter().map(|entry| entry.event).collect::<Vec<_>>(), [event]);
}

/// See [`StoreError::Gone`].
pub fn rows_cannot_be_added_to_a_deleted_user(store: &dyn Store) {
    type Work = fn(&mut dyn Tx, UserId, &KeptRows) -> Result<(), StoreError>;
    /// The rows that are kept.
    struct KeptRows {
        group: hexforge_domain::id::NamespaceId,
        project: ProjectId,
    }
    let (ada, rest) = write(store, |tx| {
        let (ada, bob) =
            (insert_rows_of_each_kind(tx, "ada", 1)?, insert_rows_of_each_kind(tx, "bob", 2)?);
        let group = a_group("team").insert(tx)?.id;
        let project = a_project("site", group, bob.id).insert(tx)?.id;
        tx.users().delete(ada.id)?;
        Ok((ada, KeptRows { group, project }))
    });
    let works: [(&str, Work); 12] = [
        ("namespace", |tx, ada, _| {
            tx.namespaces().insert_personal(ada, a_user("ada").build().username.path(), a_moment())
        }),
        ("key", |tx, ada, _| tx.keys().insert(ada, a_key(1), a_moment()).map(|_| ())),
        ("address", |tx, ada, _| {
            tx.emails().insert(ada, &an_address("ada@example.com")).map(|_| ())
        }),
        ("token", |tx, ada, _| tx.tokens().insert(a_token(ada, "ada")).map(|_| ())),
        ("session", |tx, ada, _| {
            tx.browser_sessions().insert(a_browser_session(ada, "ada")).map(|_| ())
        }),
        ("identity", |tx, ada, _| tx.identities().put(ada, &an_identity("ada"))),
        ("event", |tx, ada, rest| tx.events().insert(an_event(rest.project, ada)).map(|_| ())),
        ("task", |tx, ada, rest| {
            tx.repository_tasks().insert(rest.project, &an_import(ada), a_moment()).map(|_| ())
        }),
        ("project", |tx, ada, rest| a_project("new", rest.group, ada).insert(tx).map(|_| ())),
        ("star", |tx, ada, rest| tx.stars().put(rest.project, ada, Starred::Yes, a_moment())),
        ("project member", |tx, ada, rest| {
            tx.project_members().insert(rest.project, a_member(ada, AccessLevel::Guest))
        }),
        ("group member", |tx, ada, rest| {
            tx.group_members().insert(rest.group, a_member(ada, AccessLevel::Guest))
        }),
    ];
    for (name, work) in works {
        let outcome = store.write(|tx| work(tx, ada.id, &rest));
        assert!(matches!(outcome, Err(StoreError::Gone)), "{name}: {outcome:?}");
    }
    let left = read(store, |tx| count_rows(tx, ada.id, "ada", 1));
    assert!(left.iter().all(|rows| *rows == 0), "{left:?}");
}

/// See [`Users::lock_to_delete`](hexforge_domain::user::port::Users::lock_to_delete): the
/// concurrent creation of a membership waits, and then finds no user.
pub fn a_user_locked_for_deletion_gets_no_membership(store: &dyn Store) {
    let [ada, maker] = ["ada", "maker"].map(|name| a_user(name).stored_in(store).id);
    let group = a_group("team").owner(maker).stored_in(store).id;
    let site = a_project("site", group, maker).stored_in(store).id;
    let (locked, when_locked) = mpsc::channel();
    let outcome = thread::scope(|scope| {
        let late = scope.spawn(move || {
            when_locked.recv().expect("the other thread says that it has the lock");
            store.write(|tx| {
                tx.group_members().insert(group, a_member(ada, AccessLevel::Guest))?;
                tx.project_members().insert(site, a_member(ada, AccessLevel::Guest))
            })
        });
        write(store, |tx| {
            tx.users().lock(ada)?;
            tx.users().lock_to_delete(ada)?;
            locked.send(()).expect("the other thread waits for the lock");
            thread::sleep(LOCK_WAIT);
            assert_eq!(tx.group_members().all_of_user(ada)?, []);
            assert_eq!(tx.project_members().all_of_user(ada)?, []);
            tx.users().delete(ada)
        });
        late.join().expect("the other thread does not panic")
    });
    assert!(matches!(outcome, Err(StoreError::Gone)), "{outcome:?}");
}
