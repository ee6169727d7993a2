//! Members of projects; see [`ProjectMembers`](hexforge_domain::member::port::ProjectMembers).

use super::check::{assert_duplicate, assert_pages, read, write};
use crate::builders::{
    a_day, a_group, a_member, a_project, a_share, a_user, day, join_group, join_project, share,
};
use hexforge_domain::id::{ProjectId, UserId};
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::notification::NotificationLevel;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::share::NewShare;
use hexforge_domain::user::User;

/// Creates two projects of a group.
fn two_projects(store: &dyn Store) -> [ProjectId; 2] {
    let maker = a_user("maker").stored_in(store).id;
    let group = a_group("team").owner(maker).stored_in(store).id;
    ["site", "other"].map(|name| a_project(name, group, maker).stored_in(store).id)
}

/// See [`ProjectMembers::insert`](hexforge_domain::member::port::ProjectMembers::insert).
pub fn a_member_of_a_project_has_every_field(store: &dyn Store) {
    let [site, other] = two_projects(store);
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store));
    for (level, notification_level, expires_at) in [
        (AccessLevel::Guest, NotificationLevel::Global, None),
        (AccessLevel::Reporter, NotificationLevel::Disabled, Some(day(-10_000))),
        (AccessLevel::Developer, NotificationLevel::Custom, Some(day(0))),
        (AccessLevel::Master, NotificationLevel::Participating, Some(day(10_000))),
    ] {
        let member = Membership { user: ada.id, level, notification_level, expires_at };
        write(store, |tx| tx.project_members().insert(site, member));
        read(store, |tx| {
            assert_eq!(tx.project_members().find(site, ada.id)?, Some(member));
            let listed = tx.project_members().list(site, None, Page::Whole)?.items;
            assert_eq!(listed, [(ada.clone(), member)]);
            assert_eq!(tx.project_members().find(site, bob.id)?, None);
            assert_eq!(tx.project_members().find(other, ada.id)?, None);
            Ok(())
        });
        write(store, |tx| tx.project_members().delete(site, ada.id));
        assert_eq!(read(store, |tx| tx.project_members().find(site, ada.id)), None);
    }
}

/// See [`ProjectMembers::insert`](hexforge_domain::member::port::ProjectMembers::insert).
pub fn nobody_is_a_member_of_a_project_twice(store: &dyn Store) {
    let [site, other] = two_projects(store);
    let ada = a_user("ada").stored_in(store).id;
    join_project(store, site, Membership::new(ada, AccessLevel::Guest, Some(day(-5))));
    assert_duplicate(store, "member", |tx| {
        tx.project_members().insert(site, a_member(ada, AccessLevel::Master))
    });
    join_project(store, other, a_member(ada, AccessLevel::Guest));
}

/// A change affects one user in one project; updating a missing membership creates none.
pub fn a_membership_in_a_project_changes_and_ends_alone(store: &dyn Store) {
    let [site, other] = two_projects(store);
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    for project in [site, other] {
        join_project(store, project, a_member(ada, AccessLevel::Guest));
        join_project(store, project, a_member(bob, AccessLevel::Guest));
    }
    let level = |project, user| {
        let found = read(store, |tx| tx.project_members().find(project, user));
        found.map(|member| member.level)
    };
    let changed = Membership {
        notification_level: NotificationLevel::Mention,
        ..Membership::new(ada, AccessLevel::Master, Some(day(1)))
    };
    write(store, |tx| tx.project_members().update(site, changed));
    assert_eq!(read(store, |tx| tx.project_members().find(site, ada)), Some(changed));
    let guest = Some(AccessLevel::Guest);
    assert_eq!((level(site, bob), level(other, ada), level(other, bob)), (guest, guest, guest));

    write(store, |tx| tx.project_members().delete(site, ada));
    assert_eq!((level(site, ada), level(site, bob), level(other, ada)), (None, guest, guest));
    write(store, |tx| {
        tx.project_members().update(site, changed)?;
        tx.project_members().delete(site, ada)?;
        tx.project_members().delete(ProjectId(i64::MAX), ada)
    });
    assert_eq!(level(site, ada), None);
}

/// Direct members are ordered by user id, highest first, including expired ones and without group
/// members.
pub fn members_of_a_project_are_listed_highest_user_id_first(store: &dyn Store) {
    let [site, other] = two_projects(store);
    let mut users = ["ada", "bob", "cid", "dan"].map(|name| a_user(name).stored_in(store));
    let member = |user: &User| Membership::new(user.id, AccessLevel::Guest, Some(day(-1)));
    for index in [2, 0, 3, 1] {
        join_project(store, site, member(&users[index]));
    }
    users.sort_by_key(|user| std::cmp::Reverse(user.id));
    let expected = users.map(|user| (user.clone(), member(&user)));
    assert_pages(store, &expected, |tx, page| tx.project_members().list(site, None, page));
    assert_pages(store, &[], |tx, page| tx.project_members().list(other, None, page));
}

/// See [`GroupMembers::list`](hexforge_domain::member::port::GroupMembers::list).
pub fn members_of_a_project_are_found_by_parts_of_their_names(store: &dyn Store) {
    let [site, other] = two_projects(store);
    let ada = a_user("countess").named("Ada Ödön").email("al@engine.example").stored_in(store);
    let bob = a_user("bob_b").named("100% Bob").stored_in(store);
    let out = a_user("outcast").named("Ada Outside").stored_in(store);
    for (project, user) in [(site, &ada), (site, &bob), (other, &out)] {
        join_project(store, project, a_member(user.id, AccessLevel::Guest));
    }
    let found = |query: &str| {
        let page = read(store, |tx| tx.project_members().list(site, Some(query), Page::Whole));
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
        ("o", &["bob_b", "countess"]),
        ("%", &["bob_b"]),
        ("c_u", &[]),
        ("outside", &[]),
        ("maker", &[]),
        ("\0", &[]),
    ] {
        assert_eq!(found(query), expected, "{query:?}");
    }
}

/// See [`ProjectMembers::of_user`](hexforge_domain::member::port::ProjectMembers::of_user).
pub fn memberships_of_a_user_come_by_project(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let group = a_group("group").stored_in(store).id;
    let [one, two, three, four] =
        ["one", "two", "three", "four"].map(|name| a_project(name, group, ada).stored_in(store).id);
    let ending = Membership::new(ada, AccessLevel::Master, Some(day(-1)));
    for (project, member) in [
        (three, ending),
        (one, a_member(ada, AccessLevel::Guest)),
        (four, a_member(ada, AccessLevel::Master)),
        (two, a_member(bob, AccessLevel::Guest)),
    ] {
        join_project(store, project, member);
    }
    read(store, |tx| {
        let asked = [three, two, one, three, ProjectId(i64::MAX)];
        let expected = [(one, a_member(ada, AccessLevel::Guest)), (three, ending)];
        assert_eq!(tx.project_members().of_user(ada, &asked)?, expected);
        assert_eq!(tx.project_members().of_user(ada, &[])?, []);
        let all = [expected[0], expected[1], (four, a_member(ada, AccessLevel::Master))];
        assert_eq!(tx.project_members().all_of_user(ada)?, all);
        assert_eq!(tx.project_members().all_of_user(UserId(i64::MAX))?, []);
        assert_eq!(tx.project_members().of_user(UserId(i64::MAX), &asked)?, []);
        Ok(())
    });
}

/// See [`ProjectMembers::team`](hexforge_domain::member::port::ProjectMembers::team).
pub fn the_team_of_a_project_is_everybody_with_a_level_once(store: &dyn Store) {
    let names = ["own", "of-group", "of-share", "both", "ended", "share-ended", "in-ended", "out"];
    let users = names.map(|name| a_user(name).stored_in(store));
    let [own, of_group, of_share, both, ended, share_ended, in_ended, out] =
        users.each_ref().map(|user| user.id);
    let home = a_group("home").stored_in(store).id;
    let [friends, former, empty] =
        ["friends", "former", "empty"].map(|path| a_group(path).stored_in(store).id);
    let site = a_project("site", home, out).stored_in(store).id;
    let other = a_project("other", home, out).stored_in(store).id;
    let guest = |user| a_member(user, AccessLevel::Guest);
    let past = |user| Membership::new(user, AccessLevel::Master, Some(a_day()));
    for member in [guest(own), guest(both), past(ended)] {
        join_project(store, site, member);
    }
    join_project(store, other, guest(out));
    for (group, member) in [
        (home, guest(of_group)),
        (home, guest(both)),
        (friends, guest(of_share)),
        (friends, guest(both)),
        (friends, past(in_ended)),
        (former, guest(share_ended)),
        (empty, guest(out)),
    ] {
        join_group(store, group, member);
    }
    share(store, a_share(site, friends, AccessLevel::Guest));
    let ended = NewShare { expires_at: Some(a_day()), ..a_share(site, former, AccessLevel::Guest) };
    share(store, ended);

    let team = |query: Option<&str>, expected: &[&str]| {
        let mut expected: Vec<User> = users
            .iter()
            .filter(|user| expected.contains(&user.username.as_str()))
            .cloned()
            .collect();
        expected.sort_by_key(|user| std::cmp::Reverse(user.id));
        assert_pages(store, &expected, |tx, page| {
            tx.project_members().team(site, query, a_day(), page)
        });
    };
    team(None, &["own", "of-group", "of-share", "both"]);
    team(Some("OF-"), &["of-group", "of-share"]);
    team(Some("bo"), &["both"]);
    team(Some("ended"), &[]);
    // Shares no longer count when the group of the project forbids sharing.
    write(store, |tx| {
        let group = tx.groups().lock(home)?.expect("the group exists");
        tx.groups().update(&Namespace { share_with_group_lock: true, ..group })
    });
    team(None, &["own", "of-group", "both"]);
    let missing = ProjectId(i64::MAX);
    assert_pages(store, &[], |tx, page| tx.project_members().team(missing, None, a_day(), page));
}
