//! Shares; see [`Shares`](hexforge_domain::project::port::Shares).

use super::check::{assert_duplicate, read, write};
use crate::builders::{a_group, a_project, a_share, a_user, day, home_of, share};
use hexforge_domain::id::ProjectId;
use hexforge_domain::member::AccessLevel;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::share::{NewShare, Share};

/// Creates three projects of a user.
fn three_projects(store: &dyn Store) -> [ProjectId; 3] {
    let ada = a_user("ada").stored_in(store).id;
    let home = home_of(store, ada);
    ["one", "two", "three"].map(|name| a_project(name, home, ada).stored_in(store).id)
}

/// See [`Shares::insert`](hexforge_domain::project::port::Shares::insert).
pub fn a_share_has_every_field(store: &dyn Store) {
    let [project, ..] = three_projects(store);
    for (path, access, expires_at) in [
        ("g10", AccessLevel::Guest, None),
        ("g20", AccessLevel::Reporter, Some(day(-10_000))),
        ("g30", AccessLevel::Developer, Some(day(0))),
        ("g40", AccessLevel::Master, Some(day(10_000))),
    ] {
        let group = a_group(path).named(&format!("Größe {path}")).stored_in(store);
        let new = NewShare { project, group: group.id, access, expires_at };
        let made = write(store, |tx| tx.shares().insert(new));
        assert_eq!(made, Share { id: made.id, share: new, group_name: group.name });
        let kept = read(store, |tx| tx.shares().of_projects(&[project]));
        assert_eq!(kept.last(), Some(&made));
    }
}

/// Shares of the requested projects are ordered by project, then by id, including expired ones.
pub fn shares_come_by_project_and_then_in_their_order(store: &dyn Store) {
    let [one, two, three] = three_projects(store);
    let [a, b] = ["a", "b"].map(|path| a_group(path).stored_in(store).id);
    let new = |project, group| a_share(project, group, AccessLevel::Guest);
    let two_b = share(store, new(two, b));
    let one_b = share(store, NewShare { expires_at: Some(day(-1)), ..new(one, b) });
    let three_a = share(store, new(three, a));
    let two_a = share(store, new(two, a));
    let one_a = share(store, new(one, a));
    read(store, |tx| {
        let expected = [&one_b, &one_a, &two_b, &two_a].map(Clone::clone);
        assert_eq!(tx.shares().of_projects(&[two, one, two, ProjectId(i64::MAX)])?, expected);
        assert_eq!(tx.shares().of_projects(&[three])?, [three_a]);
        assert_eq!(tx.shares().of_projects(&[])?, []);
        assert_eq!(tx.shares().of_projects(&[ProjectId(i64::MAX)])?, []);
        Ok(())
    });
}

/// See [`Shares::insert`](hexforge_domain::project::port::Shares::insert).
pub fn a_project_is_shared_with_a_group_once(store: &dyn Store) {
    let [one, two, _] = three_projects(store);
    let [a, b] = ["a", "b"].map(|path| a_group(path).stored_in(store).id);
    let expired = NewShare { expires_at: Some(day(-9)), ..a_share(one, a, AccessLevel::Guest) };
    share(store, expired);
    assert_duplicate(store, "share", |tx| tx.shares().insert(a_share(one, a, AccessLevel::Master)));
    share(store, a_share(one, b, AccessLevel::Guest));
    share(store, a_share(two, a, AccessLevel::Guest));
}

/// A share has the current name of its group.
pub fn a_share_follows_the_name_of_its_group(store: &dyn Store) {
    let [project, ..] = three_projects(store);
    let group = a_group("team").named("Before").stored_in(store);
    let made = share(store, a_share(project, group.id, AccessLevel::Guest));
    write(store, |tx| tx.groups().update(&Namespace { name: "After".into(), ..group }));
    let expected = Share { group_name: "After".into(), ..made };
    assert_eq!(read(store, |tx| tx.shares().of_projects(&[project])), [expected]);
}

/// See [`Shares::delete`](hexforge_domain::project::port::Shares::delete).
pub fn a_share_ends_alone(store: &dyn Store) {
    let [one, two, _] = three_projects(store);
    let [a, b] = ["a", "b"].map(|path| a_group(path).stored_in(store).id);
    let new = |project, group| share(store, a_share(project, group, AccessLevel::Guest));
    let [_, one_b, two_a] = [new(one, a), new(one, b), new(two, a)];
    for _ in 0..2 {
        write(store, |tx| tx.shares().delete(one, a));
        let left = read(store, |tx| tx.shares().of_projects(&[one, two]));
        assert_eq!(left, [one_b.clone(), two_a.clone()]);
    }
    new(one, a);
}
