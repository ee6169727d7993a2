//! Lists of groups; see [`Groups::list`](hexforge_domain::group::port::Groups::list).

use super::check::{assert_pages, read, write};
use super::world::a_world;
use crate::builders::{a_day, a_group, a_project, a_share, a_user, day, join_group};
use hexforge_domain::group::{GroupFilter, GroupOrder, GroupScope};
use hexforge_domain::id::UserId;
use hexforge_domain::member::{AccessLevel, Membership};
use hexforge_domain::namespace::Namespace;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;

fn everything() -> GroupFilter {
    GroupFilter {
        scope: GroupScope::All,
        skip: Vec::new(),
        search: None,
        order: GroupOrder::Path,
        descending: false,
    }
}

/// Returns the paths of the groups that match the filter on a day.
fn paths(store: &dyn Store, filter: &GroupFilter, days: i64) -> Vec<String> {
    let page = read(store, |tx| tx.groups().list(filter, day(days), Page::Whole));
    assert_eq!(page.total, page.items.len() as u64, "{filter:?}");
    page.items.iter().map(|group| group.path.as_str().to_owned()).collect()
}

/// Groups are ordered bytewise by name or path, in both directions; personal namespaces are not
/// listed.
pub fn groups_are_listed_in_the_order_asked_for(store: &dyn Store) {
    a_user("ada").stored_in(store);
    let groups: Vec<Namespace> =
        [("b", "Zoo"), ("C", "apple"), ("a", "Äpfel"), ("_d", "Zo"), ("e.f", "2 x"), ("e-f", "_")]
            .map(|(path, name)| a_group(path).named(name).stored_in(store))
            .into();
    for (order, expected) in [
        (GroupOrder::Path, ["C", "_d", "a", "b", "e-f", "e.f"]),
        (GroupOrder::Name, ["e.f", "_d", "b", "e-f", "C", "a"]),
    ] {
        let by_path = |path: &str| groups.iter().find(|group| group.path.as_str() == path);
        let mut expected: Vec<Namespace> =
            expected.into_iter().filter_map(by_path).cloned().collect();
        assert_eq!(expected.len(), groups.len());
        for descending in [false, true] {
            let filter = GroupFilter { order, descending, ..everything() };
            assert_pages(store, &expected, |tx, page| tx.groups().list(&filter, a_day(), page));
            expected.reverse();
        }
    }
}

/// All conditions are combined with AND.
pub fn filters_of_groups_hold_together(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let [one, two, three] = ["team-one", "team-two", "crew-three"]
        .map(|path| a_group(path).private().owner(ada).stored_in(store).id);
    a_group("team-of-others").private().stored_in(store);
    let filter = |search: &str, skip: &[_]| GroupFilter {
        scope: GroupScope::MemberOf(ada),
        search: Some(search.to_owned()),
        skip: skip.to_vec(),
        ..everything()
    };
    for (search, skip, expected) in [
        ("", &[][..], &["crew-three", "team-one", "team-two"][..]),
        ("team", &[], &["team-one", "team-two"]),
        ("team", &[one], &["team-two"]),
        ("team", &[one, two, three], &[]),
        ("", &[two, two], &["crew-three", "team-one"]),
        ("others", &[], &[]),
    ] {
        assert_eq!(paths(store, &filter(search, skip), 0), expected, "{search:?} {skip:?}");
    }
}

/// The search finds substrings of name and path, ignoring case; every character is literal.
pub fn a_search_of_groups_finds_parts_of_name_and_path(store: &dyn Store) {
    a_group("percent").named("Ödön ИЛЬИЧ").described("described").stored_in(store);
    a_group("under_score").named("Dots. - x").stored_in(store);
    for (search, expected) in [
        ("", &["percent", "under_score"][..]),
        ("ERCE", &["percent"]),
        ("ödÖN", &["percent"]),
        ("ильич", &["percent"]),
        ("n и", &["percent"]),
        ("r_s", &["under_score"]),
        ("r", &["percent", "under_score"]),
        ("_", &["under_score"]),
        ("ts. - X", &["under_score"]),
        ("%", &[]),
        ("p_r", &[]),
        (r"\", &[]),
        ("'", &[]),
        ("\"", &[]),
        ("*", &[]),
        ("described", &[]),
        ("ильичpercent", &[]),
        ("ильич percent", &[]),
        ("percentödön", &[]),
        ("percent\u{1}ödön", &[]),
        ("ильич\u{1}percent", &[]),
        ("\0", &[]),
        ("percent\0", &[]),
        ("\u{fffe}", &[]),
    ] {
        let filter = GroupFilter { search: Some(search.to_owned()), ..everything() };
        assert_eq!(paths(store, &filter, 0), expected, "{search:?}");
    }
    let filter = GroupFilter { search: Some("percent".repeat(1000)), ..everything() };
    assert_eq!(paths(store, &filter, 0), Vec::<String>::new());
}

/// See [`GroupScope`].
pub fn every_scope_of_groups_lists_the_groups_of_the_user(store: &dyn Store) {
    let world = a_world(store);
    a_group("open").stored_in(store);
    let inner = a_group("inner").internal().stored_in(store);
    a_project("secret", inner.id, world.bob).stored_in(store);
    let available = |user, external| GroupScope::AvailableTo { user, external };
    for (scope, days, expected) in [
        (GroupScope::All, 0, "guild inner open past team vault"),
        (GroupScope::MemberOf(world.ada), 0, "guild team"),
        (GroupScope::MemberOf(world.ada), -1, "guild past team"),
        (GroupScope::MemberOf(world.bob), 0, "guild past team vault"),
        (GroupScope::MemberOf(world.eve), 0, ""),
        (GroupScope::MemberOf(UserId(i64::MAX)), 0, ""),
        (available(world.ada, false), 0, "guild inner open team"),
        (available(world.ada, false), -1, "guild inner open past team"),
        (available(world.ada, true), 0, "guild open team"),
        (available(world.bob, true), 0, "guild open past team vault"),
        (available(world.eve, false), 0, "inner open"),
        (available(world.eve, true), 0, "open"),
    ] {
        let filter = GroupFilter { scope, ..everything() };
        let expected: Vec<&str> = expected.split_whitespace().collect();
        assert_eq!(paths(store, &filter, days), expected, "{scope:?} on day {days}");
    }
}

/// See [`GroupScope::AvailableTo`]: users with access to a project see its group.
pub fn a_group_is_available_through_a_project_inside(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let [direct, shared, ended, open] = ["direct", "shared", "ended", "open"]
        .map(|path| a_group(path).private().stored_in(store).id);
    let team = a_group("team").private().member(ada, AccessLevel::Guest).stored_in(store).id;
    let inside = |group| a_project("site", group, bob);
    let project = inside(direct).stored_in(store).id;
    let to_share = inside(shared).stored_in(store).id;
    let to_end = inside(ended).stored_in(store).id;
    inside(open).public().stored_in(store);
    write(store, |tx| {
        tx.project_members().insert(project, Membership::new(ada, AccessLevel::Guest, None))?;
        let until = Some(day(5));
        tx.project_members().insert(to_end, Membership::new(ada, AccessLevel::Guest, until))?;
        let share = a_share(to_share, team, AccessLevel::Guest);
        tx.shares().insert(share)
    });
    let scope = GroupScope::AvailableTo { user: ada, external: true };
    let filter = GroupFilter { scope, ..everything() };
    // A public project does not make its group visible to everyone.
    assert_eq!(paths(store, &filter, 4), ["direct", "ended", "shared", "team"]);
    assert_eq!(paths(store, &filter, 5), ["direct", "shared", "team"]);
}

/// See [`Groups::owned_by`](hexforge_domain::group::port::Groups::owned_by).
pub fn owned_groups_are_listed_highest_id_first(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let owned = ["c", "a", "b"].map(|path| a_group(path).owner(ada).stored_in(store));
    a_group("of-bob").owner(bob).member(ada, AccessLevel::Master).stored_in(store);
    let ending = a_group("ending").owner(bob).stored_in(store);
    join_group(store, ending.id, Membership::new(ada, AccessLevel::Owner, Some(day(1))));
    let mut expected: Vec<Namespace> = owned.into_iter().chain([ending]).collect();
    expected.sort_by_key(|group| std::cmp::Reverse(group.id));
    assert_pages(store, &expected, |tx, page| tx.groups().owned_by(ada, day(0), page));
    expected.retain(|group| group.path.as_str() != "ending");
    assert_pages(store, &expected, |tx, page| tx.groups().owned_by(ada, day(1), page));
    assert_pages(store, &[], |tx, page| tx.groups().owned_by(UserId(i64::MAX), day(1), page));
}
