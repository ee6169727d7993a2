//! Lists of users; see [`Users::list`](hexforge_domain::user::port::Users::list).

use super::check::{assert_pages, insert, read, write};
use crate::builders::{UserBuilder, a_user};
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::Store;
use hexforge_domain::user::{User, UserFilter, UserState};

fn insert_in(store: &dyn Store, state: UserState, user: UserBuilder) -> User {
    let user = User { state, ..insert(store, user) };
    write(store, |tx| tx.users().update(&user));
    user
}

/// Users are ordered by id, highest first, whatever their names.
pub fn users_are_listed_highest_id_first(store: &dyn Store) {
    let mut users = ["bob", "ada", "eve", "cid", "Dan"].map(|name| insert(store, a_user(name)));
    users.sort_by_key(|user| std::cmp::Reverse(user.id));
    assert_pages(store, &users, |tx, page| tx.users().list(&UserFilter::default(), page));
}

/// An empty list is not an error.
pub fn an_empty_store_lists_no_users(store: &dyn Store) {
    assert_pages(store, &[], |tx, page| tx.users().list(&UserFilter::default(), page));
}

/// All conditions of a filter are combined with AND, and the total counts only matching users.
pub fn filters_of_users_hold_together(store: &dyn Store) {
    let mut users = [
        insert_in(store, UserState::Active, a_user("ada")),
        insert_in(store, UserState::Blocked, a_user("bob")),
        insert_in(store, UserState::DirectoryBlocked, a_user("cid")),
        insert_in(store, UserState::Active, a_user("dan").external()),
        insert_in(store, UserState::Blocked, a_user("eve").external()),
        insert_in(store, UserState::Active, a_user("fay").external().admin()),
    ];
    users.sort_by_key(|user| std::cmp::Reverse(user.id));
    for (active, blocked, external, search, names) in [
        (false, false, false, None, "fay eve dan cid bob ada"),
        (true, false, false, None, "fay dan ada"),
        (false, true, false, None, "eve cid bob"),
        (false, false, true, None, "fay eve dan"),
        (true, false, true, None, "fay dan"),
        (false, true, true, None, "eve"),
        (true, true, false, None, ""),
        (true, true, true, None, ""),
        (false, false, false, Some("A@EXAMPLE"), "ada"),
        (true, false, false, Some("da"), "dan ada"),
        (false, true, false, Some("da"), ""),
        (false, true, false, Some("example"), "eve cid bob"),
        (false, false, true, Some("e@"), "eve"),
        (true, false, true, Some("y"), "fay"),
        (true, false, true, Some("eve"), ""),
        (false, false, false, Some("nobody"), ""),
    ] {
        let filter = UserFilter { active, blocked, external, search: search.map(str::to_owned) };
        let expected: Vec<User> = (users.iter())
            .filter(|user| names.split(' ').any(|name| name == user.username.as_str()))
            .cloned()
            .collect();
        assert_pages(store, &expected, |tx, page| tx.users().list(&filter, page));
    }
}

/// Pagination applies to the filtered list.
pub fn pages_are_cut_after_filtering(store: &dyn Store) {
    for name in ["ada1", "bob1", "ada2", "bob2", "ada3", "bob3"] {
        insert(store, a_user(name));
    }
    let filter = UserFilter { search: Some("ada".into()), ..UserFilter::default() };
    let second = read(store, |tx| tx.users().list(&filter, Page::Numbered { number: 2, size: 2 }));
    assert_eq!(second.total, 3);
    let names: Vec<&str> = second.items.iter().map(|user| user.username.as_str()).collect();
    assert_eq!(names, ["ada1"]);
}
