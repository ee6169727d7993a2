//! Look-ups and lists of namespaces of users and groups; see
//! [`Namespaces`](hexforge_domain::namespace::port::Namespaces).

use super::check::{assert_pages, read, write};
use crate::builders::{a_day, a_group, a_user, home_of};
use hexforge_domain::id::{NamespaceId, UserId};
use hexforge_domain::member::AccessLevel;
use hexforge_domain::namespace::Namespace;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;

fn namespace(store: &dyn Store, id: NamespaceId) -> Namespace {
    read(store, |tx| tx.namespaces().find(id)).expect("the namespace exists")
}

fn home(store: &dyn Store, user: UserId) -> Namespace {
    namespace(store, home_of(store, user))
}

/// See [`Namespaces::find_all`](hexforge_domain::namespace::port::Namespaces::find_all).
pub fn several_namespaces_are_found_at_once(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let (ada, bob) = (home(store, ada), home(store, bob));
    let team = a_group("team").stored_in(store);
    let found = |ids: &[NamespaceId]| {
        let mut found = read(store, |tx| tx.namespaces().find_all(ids));
        found.sort_by_key(|namespace| namespace.id);
        found
    };
    assert_eq!(found(&[]), []);
    assert_eq!(found(&[NamespaceId(i64::MAX), NamespaceId(-1)]), []);
    assert_eq!(found(&[team.id, ada.id, team.id]), [ada, team]);
    assert_eq!(found(&[bob.id]), [bob]);
}

/// See [`Namespaces::find_by_name`](hexforge_domain::namespace::port::Namespaces::find_by_name).
pub fn a_namespace_is_found_by_exactly_its_name(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let ada = home(store, ada);
    let named_alike = a_group("group-a").named("ada").stored_in(store);
    let first = a_group("group-b").named("bob").stored_in(store);
    a_user("bob").stored_in(store);
    let size = a_group("size").named("Größe _").stored_in(store);
    let found = |name: &str| read(store, |tx| tx.namespaces().find_by_name(name));
    assert_eq!(found("ada"), Some(ada));
    assert_eq!(found("bob"), Some(first));
    assert_eq!(found("Größe _"), Some(size));
    for name in ["Ada", "größe _", "Größe x", "size", "", "group-a", "\0", "ada\0"] {
        assert_eq!(found(name), None, "{name:?}");
    }
    assert_eq!(named_alike.name, "ada");
}

/// See [`Namespaces::find_target`](hexforge_domain::namespace::port::Namespaces::find_target).
pub fn a_target_is_an_id_then_a_path_then_a_name(store: &dyn Store) {
    let ada = a_user("Ada").stored_in(store).id;
    let ada = home(store, ada);
    let team = a_group("team").named("Größe Ü").stored_in(store);
    let named_like_a_path = a_group("other").named("TEAM").stored_in(store);
    let by_number = a_group(&format!("{}", i64::MAX)).named("Number").stored_in(store);
    let like_an_id = a_group(&team.id.to_string()).named("Id").stored_in(store);
    let found = |named: &str| read(store, |tx| tx.namespaces().find_target(named));
    for (named, expected) in [
        (team.id.to_string().as_str(), &team),
        (ada.id.to_string().as_str(), &ada),
        (like_an_id.id.to_string().as_str(), &like_an_id),
        (i64::MAX.to_string().as_str(), &by_number),
        ("Ada", &ada),
        ("aDA", &ada),
        ("team", &team),
        ("TEAM", &team),
        ("größe ü", &team),
        ("GRÖßE Ü", &team),
        ("other", &named_like_a_path),
        ("number", &by_number),
    ] {
        assert_eq!(found(named).as_ref(), Some(expected), "{named:?}");
    }
    for named in ["", "nobody", "te_m", "%", "-1", "99999999999999999999", "team\0", "\0", "/"] {
        assert_eq!(found(named), None, "{named:?}");
    }
}

/// See [`Namespaces::find_target`](hexforge_domain::namespace::port::Namespaces::find_target).
pub fn of_targets_with_the_same_name_the_oldest_is_found(store: &dyn Store) {
    let first = a_group("b-first").named("Shared Name").stored_in(store);
    a_group("a-second").named("shared name").stored_in(store);
    a_group("c-third").named("SHARED NAME").stored_in(store);
    for named in ["Shared Name", "shared name", "SHARED NAME"] {
        let found = read(store, |tx| tx.namespaces().find_target(named));
        assert_eq!(found.as_ref(), Some(&first), "{named:?}");
    }
}

/// See [`Namespaces::personal`](hexforge_domain::namespace::port::Namespaces::personal).
pub fn the_namespace_of_a_user_is_found_by_the_user(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    let homeless = write(store, |tx| a_user("bob").insert(tx)).id;
    a_group("team").owner(homeless).stored_in(store);
    let personal = |user| read(store, |tx| tx.namespaces().personal(user));
    assert_eq!(personal(ada).map(|home| (home.owner, home.name)), Some((Some(ada), "ada".into())));
    assert_eq!(personal(homeless), None);
    assert_eq!(personal(UserId(i64::MAX)), None);
}

/// Namespaces of users and groups are listed together, highest id first.
pub fn namespaces_are_listed_highest_id_first(store: &dyn Store) {
    assert_pages(store, &[], |tx, page| tx.namespaces().list(None, None, page));
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let groups = ["zoo", "ant"].map(|path| a_group(path).private().stored_in(store));
    let mut all = vec![home(store, ada), home(store, bob)];
    all.extend(groups);
    all.sort_by_key(|namespace| std::cmp::Reverse(namespace.id));
    assert_pages(store, &all, |tx, page| tx.namespaces().list(None, None, page));
}

/// With a user, the personal namespace and the groups of the user are listed, at any access level.
pub fn namespaces_of_a_user_are_its_own_and_those_of_its_groups(store: &dyn Store) {
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    let owned = a_group("owned").owner(ada).stored_in(store);
    a_group("of-bob").owner(bob).stored_in(store);
    let joined =
        a_group("joined").owner(bob).member(ada, AccessLevel::Guest).private().stored_in(store);
    let mut all = vec![home(store, ada), owned, joined];
    all.sort_by_key(|namespace| std::cmp::Reverse(namespace.id));
    assert_pages(store, &all, |tx, page| tx.namespaces().list(Some((ada, a_day())), None, page));
    let searched: Vec<_> =
        all.into_iter().filter(|namespace| namespace.name.contains('o')).collect();
    assert_pages(store, &searched, |tx, page| {
        tx.namespaces().list(Some((ada, a_day())), Some("O"), page)
    });
    assert_pages(store, &[], |tx, page| {
        tx.namespaces().list(Some((UserId(i64::MAX), a_day())), None, page)
    });
}

/// The search finds substrings of name and path, ignoring case; every character is literal.
pub fn a_search_of_namespaces_finds_parts_of_name_and_path(store: &dyn Store) {
    a_user("Ada_L").named("Countess").stored_in(store);
    a_group("crew").named("Größe. ИЛЬИЧ").stored_in(store);
    let found = |search: &str| {
        let page = read(store, |tx| tx.namespaces().list(None, Some(search), Page::Whole));
        assert_eq!(page.total, page.items.len() as u64, "{search:?}");
        page.map(|namespace| namespace.path.as_str().to_owned()).items
    };
    for (search, expected) in [
        ("", &["crew", "Ada_L"][..]),
        ("aDA", &["Ada_L"]),
        ("a_l", &["Ada_L"]),
        ("REW", &["crew"]),
        ("GRÖ", &["crew"]),
        ("ильич", &["crew"]),
        (". и", &["crew"]),
        ("e", &["crew"]),
        ("_", &["Ada_L"]),
        ("%", &[]),
        ("countess", &[]),
        ("adaxl", &[]),
        ("crewgröße", &[]),
        ("ильичcrew", &[]),
        ("\0", &[]),
        ("crew\0", &[]),
    ] {
        assert_eq!(found(search), expected, "{search:?}");
    }
    assert_eq!(found(&"crew".repeat(1000)), Vec::<String>::new());
}
