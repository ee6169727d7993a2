//! Protected branches; see [`Protections`](hexforge_domain::branch::port::Protections).

use super::check::{read, write};
use crate::builders::{a_project, a_protection, a_user, home_of};
use hexforge_domain::branch::Protection;
use hexforge_domain::branch::protection::DeveloperRights;
use hexforge_domain::id::ProjectId;
use hexforge_domain::ports::store::Store;

/// Creates two projects of a user.
fn two_projects(store: &dyn Store) -> [ProjectId; 2] {
    let ada = a_user("ada").stored_in(store).id;
    let home = home_of(store, ada);
    ["one", "two"].map(|name| a_project(name, home, ada).stored_in(store).id)
}

fn put_protection(store: &dyn Store, project: ProjectId, protection: &Protection) {
    write(store, |tx| tx.protections().put(project, protection));
}

/// Only protections of the project are listed, in bytewise order of the patterns.
pub fn protections_of_a_project_come_by_pattern(store: &dyn Store) {
    let [one, two] = two_projects(store);
    let all = ["*", "*-stable", "Master", "a/b", "a_b", "ab", "master", "ünï", "🦀"];
    let longest = "x".repeat(1000);
    for pattern in ["ünï", "ab", "master", "🦀", "*-stable", "a_b", "Master", "*", "a/b"] {
        put_protection(store, one, &a_protection(pattern));
    }
    put_protection(store, two, &a_protection(&longest));
    let patterns = |project| -> Vec<String> {
        let all = read(store, |tx| tx.protections().list(project));
        all.into_iter().map(|protection| protection.pattern).collect()
    };
    assert_eq!(patterns(one), all);
    assert_eq!(patterns(two), [longest]);
    assert_eq!(patterns(ProjectId(i64::MAX)), Vec::<String>::new());
}

/// Patterns are compared as plain text: wildcards have no meaning here.
pub fn a_protection_is_found_by_exactly_its_pattern(store: &dyn Store) {
    let [one, two] = two_projects(store);
    for (push, merge) in [(false, false), (false, true), (true, false), (true, true)] {
        let developers = DeveloperRights { push, merge };
        let protection = Protection { pattern: format!("b*_{push}{merge}"), developers };
        put_protection(store, one, &protection);
        let found = read(store, |tx| tx.protections().find(one, &protection.pattern));
        assert_eq!(found, Some(protection.clone()));
        assert_eq!(read(store, |tx| tx.protections().find(two, &protection.pattern)), None);
    }
    for pattern in ["", "*", "b", "B*_truetrue", "bx_truetrue", "b*%", "b*_truetrue\0", "\0"] {
        let found = read(store, |tx| tx.protections().find(one, pattern));
        assert_eq!(found, None, "{pattern:?}");
    }
}

/// See [`Protections::put`](hexforge_domain::branch::port::Protections::put).
pub fn a_protection_takes_the_place_of_the_one_with_its_pattern(store: &dyn Store) {
    let [one, two] = two_projects(store);
    put_protection(store, two, &a_protection("master"));
    put_protection(store, one, &a_protection("other"));
    for (push, merge) in [(true, true), (false, true), (false, false), (true, false)] {
        let developers = DeveloperRights { push, merge };
        let protection = Protection { developers, ..a_protection("master") };
        put_protection(store, one, &protection);
        let all = read(store, |tx| tx.protections().list(one));
        assert_eq!(all, [protection, a_protection("other")]);
    }
    assert_eq!(read(store, |tx| tx.protections().list(two)), [a_protection("master")]);
}

/// See [`Protections::remove`](hexforge_domain::branch::port::Protections::remove).
pub fn a_removed_protection_is_gone_alone(store: &dyn Store) {
    let [one, two] = two_projects(store);
    for (project, pattern) in [(one, "master"), (one, "mast*"), (two, "master")] {
        put_protection(store, project, &a_protection(pattern));
    }
    let remove = |pattern: &'static str| write(store, |tx| tx.protections().remove(one, pattern));
    for (pattern, was_there) in
        [("*", false), ("Master", false), ("master\0", false), ("master", true), ("master", false)]
    {
        assert_eq!(remove(pattern), was_there, "{pattern:?}");
    }
    assert_eq!(read(store, |tx| tx.protections().list(one)), [a_protection("mast*")]);
    assert_eq!(read(store, |tx| tx.protections().list(two)), [a_protection("master")]);
    put_protection(store, one, &a_protection("master"));
    assert!(remove("master"));
}
