//! Expired memberships.

use super::check::read;
use crate::builders::{a_day, a_group, a_project, a_user, day, join_group, join_project};
use hexforge_domain::id::UserId;
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::ports::store::Store;

fn member_until(user: UserId, days: Option<i64>) -> Membership {
    Membership::new(user, AccessLevel::Guest, days.map(day))
}

/// See [`GroupMembers::expired`](hexforge_domain::member::port::GroupMembers::expired).
pub fn expired_members_of_groups_come_by_their_day(store: &dyn Store) {
    let [ada, bob, cid, dan] = ["ada", "bob", "cid", "dan"].map(|n| a_user(n).stored_in(store).id);
    let [one, two] = ["one", "two"].map(|path| a_group(path).stored_in(store).id);
    for (group, member) in [
        (two, member_until(bob, Some(-1))),
        (two, member_until(ada, Some(-1))),
        (one, member_until(cid, Some(-1))),
        (one, member_until(ada, Some(0))),
        (one, member_until(bob, Some(1))),
        (one, member_until(dan, None)),
        (two, member_until(cid, Some(-400))),
    ] {
        join_group(store, group, member);
    }
    let expected = [
        (two, member_until(cid, Some(-400))),
        (one, member_until(cid, Some(-1))),
        (two, member_until(ada, Some(-1))),
        (two, member_until(bob, Some(-1))),
        (one, member_until(ada, Some(0))),
    ];
    read(store, |tx| {
        for limit in [0, 1, 3, 5, 100] {
            let first = &expected[..expected.len().min(limit as usize)];
            assert_eq!(tx.group_members().expired(a_day(), limit)?, first);
        }
        assert_eq!(tx.group_members().expired(day(-401), 9)?, []);
        assert_eq!(tx.project_members().expired(a_day(), 9)?, []);
        Ok(())
    });
}

/// See [`ProjectMembers::expired`](hexforge_domain::member::port::ProjectMembers::expired).
pub fn expired_members_of_projects_come_by_their_day(store: &dyn Store) {
    let [ada, bob, cid] = ["ada", "bob", "cid"].map(|name| a_user(name).stored_in(store).id);
    let group = a_group("team").stored_in(store).id;
    let [one, two] = ["one", "two"].map(|name| a_project(name, group, ada).stored_in(store).id);
    for (project, member) in [
        (two, member_until(ada, Some(-1))),
        (one, member_until(bob, Some(-1))),
        (one, member_until(cid, None)),
        (two, member_until(bob, Some(0))),
        (two, member_until(cid, Some(1))),
        (one, member_until(ada, Some(-2))),
    ] {
        join_project(store, project, member);
    }
    let expected = [
        (one, member_until(ada, Some(-2))),
        (one, member_until(bob, Some(-1))),
        (two, member_until(ada, Some(-1))),
        (two, member_until(bob, Some(0))),
    ];
    read(store, |tx| {
        for limit in [0, 2, 100] {
            let first = &expected[..expected.len().min(limit as usize)];
            assert_eq!(tx.project_members().expired(a_day(), limit)?, first);
        }
        assert_eq!(tx.project_members().expired(day(1), 100)?.len(), 5);
        assert_eq!(tx.group_members().expired(a_day(), 9)?, []);
        Ok(())
    });
}
