//! Access requests; see [`AccessRequests`](hexforge_domain::member::port::AccessRequests).

use super::check::{assert_duplicate, assert_pages, insider, read, write};
use crate::builders::{a_day, a_group, a_project, a_user, at};
use hexforge_domain::id::{NamespaceId, ProjectId, UserId};
use hexforge_domain::member::request::RequestSource;
use hexforge_domain::paging::Page;
use hexforge_domain::ports::store::{Store, StoreError};
use hexforge_domain::project::query::{ProjectFilter, ProjectScope};
use hexforge_domain::user::User;

/// Creates a group and a project, as targets of access requests.
fn a_group_and_a_project(store: &dyn Store) -> [RequestSource; 2] {
    let maker = a_user("maker").stored_in(store).id;
    let group = a_group("team").private().owner(maker).stored_in(store).id;
    let project = a_project("site", group, maker).stored_in(store).id;
    [RequestSource::Group(group), RequestSource::Project(project)]
}

fn insert_request(store: &dyn Store, source: RequestSource, user: UserId, seconds: i64) {
    write(store, |tx| tx.access_requests().insert(source, user, at(seconds)));
}

/// A request belongs to one user and one group or project, and stores its time.
pub fn a_request_is_found_until_it_is_removed(store: &dyn Store) {
    let [group, project] = a_group_and_a_project(store);
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    insert_request(store, group, ada, 5);
    insert_request(store, project, ada, 6);
    insert_request(store, group, bob, 7);
    let found = |source, user| read(store, |tx| tx.access_requests().find(source, user));
    assert_eq!((found(group, ada), found(project, ada)), (Some(at(5)), Some(at(6))));
    assert_eq!((found(group, bob), found(project, bob)), (Some(at(7)), None));
    write(store, |tx| tx.access_requests().delete(group, ada));
    assert_eq!((found(group, ada), found(project, ada)), (None, Some(at(6))));
    assert_eq!(found(group, bob), Some(at(7)));
    write(store, |tx| tx.access_requests().delete(project, bob));
    insert_request(store, group, ada, 8);
    assert_eq!(found(group, ada), Some(at(8)));
}

/// See [`AccessRequests::insert`](hexforge_domain::member::port::AccessRequests::insert).
pub fn a_user_requests_access_once(store: &dyn Store) {
    let ada = a_user("ada").stored_in(store).id;
    for source in a_group_and_a_project(store) {
        insert_request(store, source, ada, 0);
        assert_duplicate(store, "access request", |tx| {
            tx.access_requests().insert(source, ada, at(1))
        });
        assert_eq!(read(store, |tx| tx.access_requests().find(source, ada)), Some(at(0)));
    }
}

/// Requests are ordered by user id, highest first, whatever their times.
pub fn requests_are_listed_highest_user_id_first(store: &dyn Store) {
    let [group, project] = a_group_and_a_project(store);
    let mut users = ["ada", "bob", "cid"].map(|name| a_user(name).stored_in(store));
    for (number, index) in [1, 0, 2].into_iter().enumerate() {
        insert_request(store, group, users[index].id, i64::try_from(number).expect("small"));
    }
    let since = |user: &User| read(store, |tx| tx.access_requests().find(group, user.id));
    users.sort_by_key(|user| std::cmp::Reverse(user.id));
    let expected = users.map(|user| {
        let since = since(&user).expect("it asked");
        (user, since)
    });
    assert_pages(store, &expected, |tx, page| tx.access_requests().list(group, page));
    assert_pages(store, &[], |tx, page| tx.access_requests().list(project, page));
}

/// A user with a pending request is not a member and has no access.
pub fn a_request_gives_no_access(store: &dyn Store) {
    let [group, project] = a_group_and_a_project(store);
    let ada = a_user("ada").stored_in(store).id;
    insert_request(store, group, ada, 0);
    insert_request(store, project, ada, 0);
    let (RequestSource::Group(group), RequestSource::Project(project)) = (group, project) else {
        panic!("one of each")
    };
    read(store, |tx| {
        assert_eq!(tx.groups().level(group, ada, a_day())?, None);
        let role = tx.projects().role(project, ada, a_day())?;
        assert_eq!((role.level, role.owner), (None, false));
        let scope = ProjectScope::VisibleTo(insider(ada));
        let seen = tx.projects().list(&ProjectFilter::newest_first(scope, a_day()), Page::Whole)?;
        assert_eq!(seen.items, []);
        assert_eq!(tx.project_members().find(project, ada)?, None);
        assert_eq!(tx.group_members().find(group, ada)?, None);
        let team = tx.project_members().team(project, None, a_day(), Page::Whole)?.items;
        assert!(team.iter().all(|user| user.id != ada));
        Ok(())
    });
}

/// Requests are deleted with their user, group or project.
pub fn a_request_is_deleted_with_its_user_group_or_project(store: &dyn Store) {
    let [group, project] = a_group_and_a_project(store);
    let [ada, bob] = ["ada", "bob"].map(|name| a_user(name).stored_in(store).id);
    for user in [ada, bob] {
        insert_request(store, group, user, 0);
        insert_request(store, project, user, 0);
    }
    let all = |source| read(store, |tx| tx.access_requests().list(source, Page::Whole)).total;
    write(store, |tx| tx.users().delete(ada));
    assert_eq!((all(group), all(project)), (1, 1));
    let (RequestSource::Group(of_group), RequestSource::Project(of_project)) = (group, project)
    else {
        panic!("one of each")
    };
    write(store, |tx| tx.projects().delete(of_project));
    assert_eq!((all(group), all(project)), (1, 0));
    write(store, |tx| tx.groups().delete(of_group));
    assert_eq!((all(group), all(project)), (0, 0));
    for (source, user) in [
        (group, bob),
        (project, bob),
        (RequestSource::Group(NamespaceId(i64::MAX)), bob),
        (RequestSource::Project(ProjectId(i64::MAX)), bob),
    ] {
        let outcome = store.write(|tx| tx.access_requests().insert(source, user, at(0)));
        assert!(matches!(outcome, Err(StoreError::Gone)), "{outcome:?}");
    }
    let team = a_group("another").stored_in(store).id;
    let outcome =
        store.write(|tx| tx.access_requests().insert(RequestSource::Group(team), ada, at(0)));
    assert!(matches!(outcome, Err(StoreError::Gone)), "{outcome:?}");
}
