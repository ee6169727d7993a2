//! Members of groups; see [`GroupMembers`](hexforge_domain::member::port::GroupMembers).

use super::check::{assert_duplicate, assert_pages, read, write};
use crate::builders::{a_group, a_member, a_user, an_address, day, join_group};
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::notification::NotificationLevel;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::user::User;

/// See [`GroupMembers::insert`](hexforge_domain::member::port::GroupMembers::insert).
pub fn a_member_of_a_group_has_every_field(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store));
    let [group, other] = ["team", "other"].map(|path| a_group(path).stored_in(store).id);
    let distant = "9999-12-31".parse().ok();
    for (level, notification_level, expires_at) in [
        (AccessLevel::Guest, NotificationLevel::Global, None),
        (AccessLevel::Reporter, NotificationLevel::Disabled, Some(day(-10_000))),
        (AccessLevel::Developer, NotificationLevel::Custom, Some(day(0))),
        (AccessLevel::Master, NotificationLevel::Participating, distant),
        (AccessLevel::Owner, NotificationLevel::Watch, None),
    ] {
        let member = Membership { user: ada.id, level, notification_level, expires_at };
        write(store, |tx| tx.group_members().insert(group, member));
        read(store, |tx| {
            assert_eq!(tx.group_members().find(group, ada.id)?, Some(member));
            let listed = tx.group_members().list(group, None, Page::Whole)?.items;
            assert_eq!(listed, [(ada.clone(), member)]);
            assert_eq!(tx.group_members().find(group, bob.id)?, None);
            assert_eq!(tx.group_members().find(other, ada.id)?, None);
            Ok(())
        });
        write(store, |tx| tx.group_members().delete(group, ada.id));
        assert_eq!(read(store, |tx| tx.group_members().find(group, ada.id)), None);
    }
}

/// See [`GroupMembers::insert`](hexforge_domain::member::port::GroupMembers::insert).
pub fn nobody_is_a_member_of_a_group_twice(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let [group, other] = ["team", "other"].map(|path| a_group(path).stored_in(store).id);
    join_group(store, group, Membership::new(ada, AccessLevel::Guest, Some(day(-5))));
    assert_duplicate(store, "member", |tx| {
        tx.group_members().insert(group, a_member(ada, AccessLevel::Master))
    });
    join_group(store, group, a_member(bob, AccessLevel::Guest));
    join_group(store, other, a_member(ada, AccessLevel::Guest));
}

/// A change affects one user in one group; updating a missing membership creates none.
pub fn a_membership_in_a_group_changes_and_ends_alone(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let [group, other] = ["team", "other"].map(|path| {
        let new = a_group(path).member(ada, AccessLevel::Guest);
        new.member(bob, AccessLevel::Guest).stored_in(store).id
    });
    let level = |group, user| {
        let found = read(store, |tx| tx.group_members().find(group, user));
        found.map(|member| member.level)
    };
    let changed = Membership {
        notification_level: NotificationLevel::Mention,
        ..Membership::new(ada, AccessLevel::Owner, Some(day(1)))
    };
    write(store, |tx| tx.group_members().update(group, changed));
    assert_eq!(read(store, |tx| tx.group_members().find(group, ada)), Some(changed));
    let guest = Some(AccessLevel::Guest);
    assert_eq!((level(group, bob), level(other, ada), level(other, bob)), (guest, guest, guest));
    let endless = Membership { expires_at: None, ..changed };
    write(store, |tx| tx.group_members().update(group, endless));
    assert_eq!(read(store, |tx| tx.group_members().find(group, ada)), Some(endless));

    write(store, |tx| tx.group_members().delete(group, ada));
    assert_eq!((level(group, ada), level(group, bob), level(other, ada)), (None, guest, guest));
    write(store, |tx| {
        tx.group_members().update(group, changed)?;
        tx.group_members().delete(group, ada)?;
        tx.group_members().delete(NamespaceId(i64::MAX), ada)
    });
    assert_eq!(level(group, ada), None);
}

/// Members are ordered by user id, highest first, including expired ones.
pub fn members_of_a_group_are_listed_highest_user_id_first(store: &dyn Store) {
    let mut users = ["ada", "bob", "cid", "dan"].map(|name| a_user(name).stored_in(store));
    let group = a_group("team").stored_in(store).id;
    let elsewhere = a_user("eve").stored_in(store).id;
    a_group("other").owner(elsewhere).stored_in(store);
    let member = |user: &User| Membership::new(user.id, AccessLevel::Guest, Some(day(-1)));
    for index in [2, 0, 3, 1] {
        join_group(store, group, member(&users[index]));
    }
    users.sort_by_key(|user| std::cmp::Reverse(user.id));
    let expected = users.map(|user| (user.clone(), member(&user)));
    assert_pages(store, &expected, |tx, page| tx.group_members().list(group, None, page));
    let empty = a_group("empty").stored_in(store).id;
    assert_pages(store, &[], |tx, page| tx.group_members().list(empty, None, page));
}

/// The search finds substrings of name, primary e-mail address and username, ignoring case.
pub fn members_of_a_group_are_found_by_parts_of_their_names(store: &dyn Store) {
    let ada = a_user("countess").named("Ada Ödön").email("al@engine.example").stored_in(store);
    let bob = a_user("bob_b").named("100% Bob").stored_in(store);
    let out = a_user("outcast").named("Ada Outside").stored_in(store);
    write(store, |tx| tx.emails().insert(ada.id, &an_address("hidden@secret.example")));
    let group = a_group("team").owner(ada.id).owner(bob.id).stored_in(store).id;
    a_group("other").owner(out.id).stored_in(store);
    let found = |query: &str| {
        let page = read(store, |tx| tx.group_members().list(group, Some(query), Page::Whole));
        assert_eq!(page.total, page.items.len() as u64);
        page.map(|(user, _)| user.username.as_str().to_owned()).items
    };
    for (query, expected) in [
        ("", &["bob_b", "countess"][..]),
        ("ADA", &["countess"]),
        ("a öDÖ", &["countess"]),
        ("NTESS", &["countess"]),
        ("al@eng", &["countess"]),
        ("0%", &["bob_b"]),
        ("b_b", &["bob_b"]),
        ("o", &["bob_b", "countess"]),
        ("%", &["bob_b"]),
        ("c_u", &[]),
        ("hidden", &[]),
        ("outside", &[]),
        ("\0", &[]),
    ] {
        assert_eq!(found(query), expected, "{query:?}");
    }
    assert_pages(store, &[(ada.clone(), a_member(ada.id, AccessLevel::Owner))], |tx, page| {
        tx.group_members().list(group, Some("countess"), page)
    });
}

/// See [`GroupMembers::of_user`](hexforge_domain::member::port::GroupMembers::of_user).
pub fn memberships_of_a_user_come_by_group(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let [one, two, three, four] =
        ["one", "two", "three", "four"].map(|path| a_group(path).stored_in(store).id);
    let ending = Membership::new(ada, AccessLevel::Owner, Some(day(-1)));
    for (group, member) in [
        (three, ending),
        (one, a_member(ada, AccessLevel::Guest)),
        (four, a_member(ada, AccessLevel::Master)),
        (two, a_member(bob, AccessLevel::Guest)),
    ] {
        join_group(store, group, member);
    }
    read(store, |tx| {
        let asked = [three, two, one, three, NamespaceId(i64::MAX)];
        let expected = [(one, a_member(ada, AccessLevel::Guest)), (three, ending)];
        assert_eq!(tx.group_members().of_user(ada, &asked)?, expected);
        assert_eq!(tx.group_members().of_user(ada, &[])?, []);
        let all = [expected[0], expected[1], (four, a_member(ada, AccessLevel::Master))];
        assert_eq!(tx.group_members().all_of_user(ada)?, all);
        assert_eq!(tx.group_members().all_of_user(UserId(i64::MAX))?, []);
        assert_eq!(tx.group_members().of_user(UserId(i64::MAX), &asked)?, []);
        Ok(())
    });
}

/// See [`GroupMembers::count_owners`](hexforge_domain::member::port::GroupMembers::count_owners).
pub fn owners_are_counted_while_their_memberships_are_in_force(store: &dyn Store) {
    let [ada, bob, cid] = ["ada", "bob", "cid"].map(|name| a_user(name).stored_in(store).id);
    let group = a_group("team").owner(ada).member(cid, AccessLevel::Master).stored_in(store).id;
    let empty = a_group("empty").stored_in(store).id;
    a_group("other").owner(cid).stored_in(store);
    join_group(store, group, Membership::new(bob, AccessLevel::Owner, Some(day(2))));
    let count = |group, days| read(store, |tx| tx.group_members().count_owners(group, day(days)));
    assert_eq!([0, 1, 2, 3].map(|days| count(group, days)), [2, 2, 1, 1]);
    assert_eq!((count(empty, 0), count(NamespaceId(i64::MAX), 0)), (0, 0));
}

/// See [`GroupMembers::solely_owned_by`](hexforge_domain::member::port::GroupMembers::solely_owned_by).
pub fn groups_with_a_single_owner_are_found(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let alone = a_group("alone").owner(ada).stored_in(store).id;
    a_group("both").owner(ada).owner(bob).stored_in(store);
    let with_master = a_group("with-master").owner(ada).member(bob, AccessLevel::Master);
    let with_master = with_master.stored_in(store).id;
    a_group("of-bob").owner(bob).member(ada, AccessLevel::Master).stored_in(store);
    let bob_ends = a_group("bob-ends").owner(ada).stored_in(store).id;
    join_group(store, bob_ends, Membership::new(bob, AccessLevel::Owner, Some(day(2))));
    let ada_ends = a_group("ada-ends").owner(bob).stored_in(store).id;
    join_group(store, ada_ends, Membership::new(ada, AccessLevel::Owner, Some(day(2))));
    let only_ada_until = a_group("only-ada-until").stored_in(store).id;
    join_group(store, only_ada_until, Membership::new(ada, AccessLevel::Owner, Some(day(2))));
    let owned = |user, days| read(store, |tx| tx.group_members().solely_owned_by(user, day(days)));
    assert_eq!(owned(ada, 1), [alone, with_master, only_ada_until]);
    assert_eq!(owned(ada, 2), [alone, with_master, bob_ends]);
    assert_eq!(owned(bob, 1).len(), 1);
    assert_eq!(owned(bob, 2).len(), 2);
    assert!(owned(bob, 2).contains(&ada_ends));
    assert_eq!(owned(UserId(i64::MAX), 0), []);
}
