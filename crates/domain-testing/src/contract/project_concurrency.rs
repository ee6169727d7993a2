//! Concurrent transactions on groups and projects.

use super::check::{project, read, write};
use super::concurrency::{Attempt, THREADS, assert_one_wins};
use crate::builders::{
    a_day, a_group, a_member, a_moment, a_project, a_share, a_user, at, home_of,
};
use hexforge_domain::change::Change;
use hexforge_domain::group::GroupRef;
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::project::star::StarCommand;
use hexforge_domain::project::{Description, Project, ProjectRef, Starred};
use std::sync::{Barrier, mpsc};
use std::thread;
use std::time::Duration;

/// Time for a change to run if it does not wait for a lock.
const LOCK_WAIT: Duration = Duration::from_millis(50);

/// Creates a user; returns it with its personal namespace.
fn a_home(store: &dyn Store) -> (UserId, NamespaceId) {
    let ada = a_user("ada").stored_in(store).id;
    (ada, home_of(store, ada))
}

/// Creates users with different names.
fn users(store: &dyn Store) -> Vec<UserId> {
    (0..THREADS).map(|n| a_user(&format!("user{n}")).stored_in(store).id).collect()
}

/// The counter equals the number of stars after concurrent changes.
pub fn stars_given_at_once_are_all_counted(store: &dyn Store) {
    const ROUNDS: usize = 6;
    let (ada, home) = a_home(store);
    let site = a_project("site", home, ada).stored_in(store).id;
    let users = users(store);
    let start = Barrier::new(users.len());
    thread::scope(|scope| {
        for (number, user) in users.iter().enumerate() {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                // Half of the users keep their star.
                for round in 0..ROUNDS + number % 2 {
                    let starred = if round % 2 == 0 { Starred::Yes } else { Starred::No };
                    write(store, |tx| tx.stars().put(site, *user, starred, a_moment()));
                }
            });
        }
    });
    let stars = |user: &&UserId| read(store, |tx| tx.stars().find(site, **user)) == Starred::Yes;
    let rows = users.iter().filter(stars).count();
    assert_eq!((rows, project(store, site).star_count as usize), (THREADS / 2, THREADS / 2));
}

/// Concurrent star requests of one user create one star and no error.
pub fn a_user_who_stars_twice_at_once_has_one_star(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let site = a_project("site", home, ada).stored_in(store).id;
    for command in [StarCommand::Star, StarCommand::Unstar, StarCommand::Star] {
        let start = Barrier::new(THREADS);
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| {
                    start.wait();
                    write(store, |tx| {
                        tx.projects().lock(site)?;
                        match tx.stars().find(site, ada)?.apply(command) {
                            Change::Applied(starred) => {
                                tx.stars().put(site, ada, starred, a_moment())
                            }
                            Change::Unchanged => Ok(()),
                        }
                    });
                });
            }
        });
        let starred = read(store, |tx| tx.stars().find(site, ada)) == Starred::Yes;
        assert_eq!(starred, command == StarCommand::Star);
        assert_eq!(project(store, site).star_count, u32::from(starred));
    }
}

/// The counter includes all concurrently created forks.
pub fn forks_made_at_once_are_all_counted(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let source = a_project("source", home, ada).stored_in(store).id;
    let users = users(store);
    let start = Barrier::new(users.len());
    thread::scope(|scope| {
        for user in users {
            let start = &start;
            scope.spawn(move || {
                let home = home_of(store, user);
                start.wait();
                let fork = a_project("fork", home, user).forked_from(source).stored_in(store);
                a_project("second", home, user).forked_from(source).stored_in(store);
                write(store, |tx| tx.projects().delete(fork.id));
            });
        }
    });
    assert_eq!(project(store, source).forks_count as usize, THREADS);
}

/// Of several concurrent claims of a path, one succeeds, also when they differ in case.
pub fn a_project_path_claimed_at_once_goes_to_one(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let wishes = [("one", "site"), ("two", "Site"), ("three", "SITE"), ("four", "siTe")];
    let attempts = wishes.map(|(name, path)| -> Attempt<'_> {
        Box::new(move |tx| a_project(name, home, ada).path(path).insert(tx).map(|_| ()))
    });
    assert_one_wins(store, "path", &attempts);
    assert_eq!(read(store, |tx| tx.projects().count_in(home)), 1);
}

/// Of several concurrent claims of a name, one succeeds.
pub fn a_project_name_claimed_at_once_goes_to_one(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let attempts = ["one", "two", "three", "four"].map(|path| -> Attempt<'_> {
        Box::new(move |tx| a_project("Site", home, ada).path(path).insert(tx).map(|_| ()))
    });
    assert_one_wins(store, "name", &attempts);
    assert_eq!(read(store, |tx| tx.projects().count_in(home)), 1);
}

/// Of concurrent claims of a path by users and groups, one succeeds.
pub fn a_path_wanted_by_users_and_groups_goes_to_one(store: &dyn Store) {
    let bob = a_user("bob").stored_in(store).id;
    let (ada, path) = write(store, |tx| {
        let ada = a_user("ada").insert(tx)?.id;
        Ok((ada, a_group("TEAM").build().path))
    });
    let (mine, his) = (path.clone(), path);
    let attempts: [Attempt<'_>; 4] = [
        Box::new(|tx| a_group("team").named("One").insert(tx).map(|_| ())),
        Box::new(|tx| a_group("Team").named("Two").insert(tx).map(|_| ())),
        Box::new(move |tx| tx.namespaces().insert_personal(ada, &mine, a_moment())),
        Box::new(move |tx| tx.namespaces().rename_personal(bob, &his, a_moment())),
    ];
    assert_one_wins(store, "path", &attempts);
}

/// Concurrent duplicates of a membership or share are rejected.
pub fn a_membership_and_a_share_asked_for_at_once_are_made_once(store: &dyn Store) {
    let (ada, home) = a_home(store);
    let (site, group) =
        (a_project("site", home, ada).stored_in(store).id, a_group("team").stored_in(store).id);
    let guest = a_member(ada, AccessLevel::Guest);
    let of_group =
        || -> Attempt<'_> { Box::new(move |tx| tx.group_members().insert(group, guest)) };
    assert_one_wins(store, "member", &[of_group(), of_group(), of_group()]);
    let of_project =
        || -> Attempt<'_> { Box::new(move |tx| tx.project_members().insert(site, guest)) };
    assert_one_wins(store, "member", &[of_project(), of_project(), of_project()]);
    let share = || -> Attempt<'_> {
        let new = a_share(site, group, AccessLevel::Guest);
        Box::new(move |tx| tx.shares().insert(new).map(|_| ()))
    };
    assert_one_wins(store, "share", &[share(), share(), share()]);
}

/// See [`Projects::lock`](hexforge_domain::project::port::Projects::lock): a transaction that reads
/// under the lock and then writes loses no update of another one.
pub fn no_update_under_a_lock_of_a_project_is_lost(store: &dyn Store) {
    const ROUNDS: usize = 5;
    let (ada, home) = a_home(store);
    let site = a_project("site", home, ada).described("").stored_in(store).id;
    thread::scope(|scope| {
        for _ in 0..THREADS {
            scope.spawn(|| {
                for _ in 0..ROUNDS {
                    write(store, |tx| {
                        let site = tx.projects().lock(site)?.expect("the project exists");
                        let text = site.description.as_ref().map_or("", Description::as_str);
                        let description = Description::parse(&format!("{text}x")).ok();
                        tx.projects().update(&Project { description, ..site })
                    });
                }
            });
        }
    });
    let text = project(store, site).description.map(Description::into_string);
    assert_eq!(text, Some("x".repeat(THREADS * ROUNDS)));
}

/// See [`Groups::lock`](hexforge_domain::group::port::Groups::lock): of two owners who leave
/// concurrently, the second sees that it is the last owner.
pub fn of_owners_who_leave_at_once_one_stays(store: &dyn Store) {
    let users = users(store);
    let group = write(store, |tx| {
        let new = users.iter().fold(a_group("team"), |group, user| group.owner(*user));
        new.insert(tx)
    });
    let start = Barrier::new(users.len());
    thread::scope(|scope| {
        for user in users {
            let (start, group) = (&start, group.id);
            scope.spawn(move || {
                start.wait();
                write(store, |tx| {
                    tx.groups().lock(group)?;
                    if tx.group_members().count_owners(group, a_day())? > 1 {
                        tx.group_members().delete(group, user)?;
                    }
                    Ok(())
                });
            });
        }
    });
    assert_eq!(read(store, |tx| tx.group_members().count_owners(group.id, a_day())), 1);
}

/// See [`Groups::lock`](hexforge_domain::group::port::Groups::lock): the concurrent creation of a
/// project in the group waits, and then finds no group.
pub fn a_locked_group_gets_no_project(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let group = a_group("team").stored_in(store).id;
    let (locked, when_locked) = mpsc::channel();
    let outcome = thread::scope(|scope| {
        let late = scope.spawn(move || {
            when_locked.recv().expect("the other thread says that it has the lock");
            store.write(|tx| a_project("late", group, ada).insert(tx).map(|_| ()))
        });
        write(store, |tx| {
            tx.groups().lock(group)?;
            locked.send(()).expect("the other thread waits for the lock");
            thread::sleep(LOCK_WAIT);
            assert_eq!(tx.projects().count_in(group)?, 0);
            tx.groups().delete(group)
        });
        late.join().expect("the other thread does not panic")
    });
    assert!(matches!(outcome, Err(StoreError::Gone)), "{outcome:?}");
    assert_eq!(read(store, |tx| tx.projects().count_in(group)), 0);
}

/// A project that is created while its group is deleted is deleted with the group, or not created.
pub fn a_project_made_while_its_group_goes_is_not_left_behind(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    for round in 0..10 {
        let group = a_group("team").stored_in(store).id;
        let start = Barrier::new(2);
        let made = thread::scope(|scope| {
            let maker = scope.spawn(|| {
                start.wait();
                store.write(|tx| a_project("site", group, ada).insert(tx).map(|made| made.id))
            });
            start.wait();
            write(store, |tx| tx.groups().delete(group));
            maker.join().expect("the other thread does not panic")
        });
        let left = match &made {
            Ok(id) => read(store, |tx| tx.projects().find(&ProjectRef::Id(*id))),
            Err(StoreError::Gone) => None,
            Err(error) => panic!("round {round}: {error}"),
        };
        assert_eq!(left, None, "round {round}");
        assert_eq!(read(store, |tx| tx.groups().find(&GroupRef::new("team"))), None);
    }
}

/// A star that is given while the project is deleted is deleted or rejected, never left behind.
pub fn a_star_given_while_its_project_goes_is_not_left_behind(store: &dyn Store) {
    let (ada, home) = a_home(store);
    for round in 0..10 {
        let site = a_project("site", home, ada).stored_in(store).id;
        let start = Barrier::new(2);
        let outcome = thread::scope(|scope| {
            let fan = scope.spawn(|| {
                start.wait();
                store.write(|tx| tx.stars().put(site, ada, Starred::Yes, at(1)))
            });
            start.wait();
            write(store, |tx| tx.projects().delete(site));
            fan.join().expect("the other thread does not panic")
        });
        assert!(matches!(outcome, Ok(()) | Err(StoreError::Gone)), "round {round}: {outcome:?}");
        assert_eq!(read(store, |tx| tx.stars().find(site, ada)), Starred::No, "round {round}");
    }
}
