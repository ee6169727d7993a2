//! Single groups; see [`Groups`](hexforge_domain::group::port::Groups).

use super::check::{assert_duplicate, read, write};
use crate::builders::{
    a_day, a_group, a_member, a_project, a_text, a_user, at, day, home_of, join_group,
};
use hexforge_domain::group::{GroupName, GroupRef, NewGroup};
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::namespace::{Namespace, NamespacePath};
use hexforge_domain::ports::store::Store;
use hexforge_domain::project::ProjectRef;
use hexforge_domain::visibility::Visibility;

fn find_group(store: &dyn Store, named: &str) -> Option<Namespace> {
    read(store, |tx| tx.groups().find(&GroupRef::new(named)))
}

fn path(path: &str) -> NamespacePath {
    NamespacePath::parse(path).expect("tests use valid paths")
}

/// See [`Groups::insert`](hexforge_domain::group::port::Groups::insert).
pub fn a_new_group_has_every_field(store: &dyn Store) {
    let longest = "🦀".repeat(255);
    for (number, visibility, lfs_enabled, request_access_enabled, description) in [
        (1, Visibility::Private, None, false, ""),
        (2, Visibility::Internal, Some(false), true, "Don't \"quote\" \\ %_\n🦀"),
        (3, Visibility::Public, Some(true), false, longest.as_str()),
    ] {
        let new = NewGroup {
            path: path(&format!("Team.{number}")),
            name: GroupName::parse(&format!("Größe – {number}")).expect("letters make a name"),
            description: a_text(description),
            visibility,
            lfs_enabled,
            request_access_enabled,
            at: at(number),
        };
        let made = write(store, |tx| tx.groups().insert(new.clone()));
        let expected = Namespace {
            id: made.id,
            path: new.path,
            name: new.name.as_str().to_owned(),
            owner: None,
            description: description.to_owned(),
            visibility,
            lfs_enabled,
            request_access_enabled,
            share_with_group_lock: false,
            avatar: None,
            created_at: at(number),
            updated_at: at(number),
        };
        assert_eq!(made, expected);
        assert_eq!(find_group(store, &made.id.to_string()), Some(expected.clone()));
        assert_eq!(read(store, |tx| tx.namespaces().find(made.id)), Some(expected));
    }
}

/// See [`Groups::find`](hexforge_domain::group::port::Groups::find).
pub fn a_group_is_found_by_its_path_and_then_by_its_id(store: &dyn Store) {
    let team = a_group("Team_a").stored_in(store);
    for named in ["Team_a".to_owned(), team.id.to_string(), format!("00{}", team.id)] {
        assert_eq!(find_group(store, &named), Some(team.clone()), "{named}");
    }
    for named in ["team_a", "TEAM_A", "Team", "Teamxa", "Team%", "", " Team_a", "Team_a\0", "\0"] {
        assert_eq!(find_group(store, named), None, "{named:?}");
    }
    for named in ["-1", "0", "+1", "99999999999999999999", "9223372036854775807"] {
        assert_eq!(find_group(store, named), None, "{named:?}");
    }
    let named_like_it = a_group(&team.id.to_string()).stored_in(store);
    assert_eq!(find_group(store, &team.id.to_string()), Some(named_like_it));
    assert_eq!(find_group(store, "Team_a"), Some(team));
}

/// A personal namespace is never returned as a group.
pub fn a_users_namespace_is_never_found_as_a_group(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let home = home_of(store, ada);
    assert_eq!(find_group(store, "ada"), None);
    assert_eq!(find_group(store, &home.to_string()), None);
    assert_eq!(write(store, |tx| tx.groups().lock(home)), None);
    assert_eq!(read(store, |tx| tx.groups().level(home, ada, a_day())), None);
}

/// See [`Groups::lock`](hexforge_domain::group::port::Groups::lock).
pub fn locking_answers_with_the_group(store: &dyn Store) {
    let team = a_group("team").stored_in(store);
    a_group("other").stored_in(store);
    let locked = write(store, |tx| {
        tx.groups().lock(team.id)?;
        tx.groups().lock(team.id)
    });
    assert_eq!(locked, Some(team));
    assert_eq!(write(store, |tx| tx.groups().lock(NamespaceId(i64::MAX))), None);
}

/// Users and groups share one set of paths.
pub fn a_path_is_taken_once_among_users_and_groups(store: &dyn Store) {
    let ada = a_user("Ada").stored_in(store).id;
    let team = a_group("Team").stored_in(store);
    for taken in ["Ada", "ada", "ADA", "Team", "team", "TEAM"] {
        let new = a_group(taken).named("Other");
        assert_duplicate(store, "path", |tx| new.insert(tx));
    }
    for taken in ["Team", "tEAM"] {
        assert_duplicate(store, "path", |tx| {
            let bob = a_user("bob").insert(tx)?;
            tx.namespaces().insert_personal(bob.id, &path(taken), at(0))
        });
        assert_duplicate(store, "path", |tx| {
            tx.namespaces().rename_personal(ada, &path(taken), at(0))
        });
    }
    for taken in ["Ada", "aDA"] {
        let moved = Namespace { path: path(taken), ..team.clone() };
        assert_duplicate(store, "path", |tx| tx.groups().update(&moved));
    }
    assert_eq!(find_group(store, "Team"), Some(team));
}

/// See [`Groups::insert`](hexforge_domain::group::port::Groups::insert): names are compared
/// case-sensitively, and only with those of other groups.
pub fn a_name_is_taken_once_among_groups(store: &dyn Store) {
    a_user("ada").stored_in(store);
    a_group("one").named("The Team").stored_in(store);
    let two = a_group("two").named("the team").stored_in(store);
    let three = a_group("three").named("ada").stored_in(store);
    assert_eq!((two.name.as_str(), three.name.as_str()), ("the team", "ada"));
    assert_duplicate(store, "name", |tx| a_group("four").named("The Team").insert(tx));
    let renamed = |name: &str| Namespace { name: name.to_owned(), ..two.clone() };
    assert_duplicate(store, "name", |tx| tx.groups().update(&renamed("The Team")));
    write(store, |tx| tx.groups().update(&renamed("The  Team")));
    assert_eq!(find_group(store, "two"), Some(renamed("The  Team")));
}

/// See [`Groups::update`](hexforge_domain::group::port::Groups::update).
pub fn updating_stores_every_field_of_a_group(store: &dyn Store) {
    let team = a_group("team").described("before").stored_in(store);
    let other = a_group("other").stored_in(store);
    let changed = Namespace {
        id: team.id,
        path: path("Crew"),
        name: "The Crew".into(),
        owner: None,
        description: "after 🦀".into(),
        visibility: Visibility::Private,
        lfs_enabled: Some(true),
        request_access_enabled: true,
        share_with_group_lock: true,
        avatar: Some("crew.png".into()),
        created_at: at(1),
        updated_at: at(2),
    };
    write(store, |tx| tx.groups().update(&changed));
    assert_eq!(find_group(store, "Crew"), Some(changed.clone()));
    assert_eq!(find_group(store, "team"), None);

    let emptied = Namespace {
        path: path("crew"),
        description: String::new(),
        visibility: Visibility::Internal,
        lfs_enabled: Some(false),
        avatar: None,
        ..changed
    };
    write(store, |tx| tx.groups().update(&emptied));
    assert_eq!(find_group(store, "crew"), Some(emptied.clone()));
    let unset = Namespace { lfs_enabled: None, request_access_enabled: false, ..emptied };
    write(store, |tx| tx.groups().update(&unset));
    assert_eq!(find_group(store, "crew"), Some(unset));
    assert_eq!(find_group(store, "other"), Some(other));
    // The old path and name are free again.
    a_group("team").stored_in(store);
}

/// See [`Groups::level`](hexforge_domain::group::port::Groups::level).
pub fn the_level_of_a_member_counts_until_its_day(store: &dyn Store) {
    let [ada, bob, eve] = ["ada", "bob", "eve"].map(|name| a_user(name).stored_in(store).id);
    let group = a_group("team").member(ada, AccessLevel::Reporter).stored_in(store).id;
    let other = a_group("other").owner(eve).stored_in(store).id;
    join_group(store, group, Membership::new(bob, AccessLevel::Owner, Some(day(3))));
    let level = |group, user, today| read(store, |tx| tx.groups().level(group, user, day(today)));
    for (user, today, expected) in [
        (ada, 0, Some(AccessLevel::Reporter)),
        (ada, 9999, Some(AccessLevel::Reporter)),
        (bob, 2, Some(AccessLevel::Owner)),
        (bob, 3, None),
        (bob, 4, None),
        (eve, 0, None),
        (UserId(i64::MAX), 0, None),
    ] {
        assert_eq!(level(group, user, today), expected, "{user} on day {today}");
    }
    assert_eq!(level(other, ada, 0), None);
    assert_eq!(level(NamespaceId(i64::MAX), ada, 0), None);
    for access in AccessLevel::ALL {
        write(store, |tx| tx.group_members().update(group, a_member(ada, access)));
        assert_eq!(level(group, ada, 0), Some(access));
    }
}

/// See [`Groups::highest_visibility_inside`](hexforge_domain::group::port::Groups::highest_visibility_inside).
pub fn a_group_knows_the_highest_visibility_inside(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let (group, other) =
        (a_group("team").stored_in(store).id, a_group("other").stored_in(store).id);
    a_project("elsewhere", other, ada).public().stored_in(store);
    let highest = || read(store, |tx| tx.groups().highest_visibility_inside(group));
    assert_eq!(highest(), None);
    for (name, visibility, expected) in [
        ("a", Visibility::Private, Visibility::Private),
        ("b", Visibility::Internal, Visibility::Internal),
        ("c", Visibility::Private, Visibility::Internal),
        ("d", Visibility::Public, Visibility::Public),
        ("e", Visibility::Internal, Visibility::Public),
    ] {
        a_project(name, group, ada).visibility(visibility).stored_in(store);
        assert_eq!(highest(), Some(expected), "{name}");
    }
}

/// See [`Groups::update`](hexforge_domain::group::port::Groups::update). The search by the new name
/// is tested in [`project_search`](super::project_search).
pub fn projects_are_found_by_the_new_path_of_their_group_at_once(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let team = a_group("team").stored_in(store);
    let site = a_project("site", team.id, ada).stored_in(store);
    let at_path = |namespace: &str| ProjectRef::Path {
        namespace: namespace.to_owned(),
        path: "site".to_owned(),
    };
    write(store, |tx| {
        tx.groups().update(&Namespace { path: path("crew"), ..team.clone() })?;
        assert_eq!(tx.projects().find(&at_path("crew"))?, Some(site.clone()));
        assert_eq!(tx.projects().find(&at_path("team"))?, None);
        Ok(())
    });
    assert_eq!(read(store, |tx| tx.projects().find(&at_path("CREW"))), Some(site));
    assert_eq!(read(store, |tx| tx.projects().find(&at_path("team"))), None);
}
